//! Native audio to lines: the tracks' turns in the order of their times, one batch for each.
//!
//! Sound that is on disk as a whole and sound that is still coming in go the same way. Of the latter, the
//! earliest turn that is known is dealt with, so that neither track waits for the other.

use ambient_engine::{AudioSpan, CapturedTrack, Dropped, Event, Finished, Generation, Line, Progress, Track};

use super::journal::Journal;
use super::{History, Pipeline, PipelineError, native_path, rfc3339};
use crate::guard::{Evidence, Refusal, judge};
use crate::progress::{Phase, ProgressReport, SpeedMeter, TrackProgress};
use crate::recognizer::{Recognition, RecognizeOptions};
use crate::track_reader::{Advance, HeardTurn, TrackReader};

/// A track at work.
struct ListenedTrack {
    track: Track,
    reader: TrackReader,
    /// The next turn, which waits until it is its time.
    pending: Option<HeardTurn>,
    is_at_end: bool,
    /// End of the last turn that was dealt with, in milliseconds.
    last_end_ms: u64,
}

/// What was recognised in a turn: the words to keep, or why not.
struct Heard {
    recognition: Recognition,
    verdict: Result<String, Refusal>,
}

impl ListenedTrack {
    fn progress(&self) -> TrackProgress {
        let done_ms = self.pending.as_ref().map_or_else(|| self.reader.looked_at_ms(), |turn| turn.start_ms);
        TrackProgress { track: self.track, done_ms, total_ms: Some(self.reader.len_ms()) }
    }

    /// Whether this track speaks between `start_ms` and `end_ms`, as far as its turns are known.
    fn speaks_within(&self, start_ms: u64, end_ms: u64) -> bool {
        let next_ms = self.pending.as_ref().map(|turn| turn.start_ms).or(self.reader.speaking_since_ms());
        self.last_end_ms > start_ms || next_ms.is_some_and(|next_ms| next_ms < end_ms)
    }
}

/// Sound that is still coming in.
pub(crate) trait Feed {
    /// Whether more may come. Once this says no, all of it can be read.
    fn is_growing(&self) -> bool;

    /// Waits a moment for more.
    fn rest(&self);
}

/// Sound that is there as a whole.
pub(super) struct Whole;

impl Feed for Whole {
    fn is_growing(&self) -> bool {
        false
    }

    fn rest(&self) {}
}

impl Pipeline<'_> {
    /// Turns what is left of the tracks into lines, and finishes the session.
    pub(super) fn transcribe_tracks(
        &mut self,
        journal: &mut Journal<'_>,
        captured: &[CapturedTrack],
        warnings: &[String],
    ) -> Result<(), PipelineError> {
        let is_there = |track: &Track| captured.iter().any(|one| one.track == *track);
        let tracks: Vec<Track> = Track::ALL.into_iter().filter(is_there).collect();
        self.transcribe_from(journal, &tracks, warnings, &Whole)
    }

    /// Turns the sound of `tracks` into lines as it comes in, and finishes the session once no more comes.
    pub(crate) fn transcribe_from(
        &mut self,
        journal: &mut Journal<'_>,
        tracks: &[Track],
        warnings: &[String],
        feed: &dyn Feed,
    ) -> Result<(), PipelineError> {
        let number = self.begin_generation(journal)?;
        let mut tracks = self.open_tracks(&journal.history, tracks, feed)?;
        let meter = SpeedMeter::start(&progress_of(&tracks));
        let mut last_line: Option<(Track, String)> = None;
        loop {
            // Before the lengths: what is written before growth ends is in them.
            let is_growing = feed.is_growing();
            for index in 0..tracks.len() {
                tracks[index].reader.look_again(is_growing)?;
                self.find_turn(&mut tracks, index, &meter, last_line.as_ref())?;
            }
            let Some((index, turn)) = take_earliest(&mut tracks) else {
                if !is_growing {
                    break;
                }
                self.report(&tracks, &meter, last_line.as_ref());
                feed.rest();
                continue;
            };
            self.check_interrupted()?;
            let event = self.deal_with(&mut tracks, index, &turn, number)?;
            if let Event::Line(line) = &event {
                last_line = Some((line.track, line.text.clone()));
            }
            let done_samples = turn.done_samples;
            let track = tracks[index].track;
            let progress = Progress { track, generation: number, done_samples, complete: false };
            journal.append(&[event, Event::Progress(progress)])?;
            self.report(&tracks, &meter, last_line.as_ref());
        }
        self.finish(journal, &tracks, number, warnings)
    }

    /// Makes a line of a turn, or a refusal.
    fn deal_with(
        &mut self,
        tracks: &mut [ListenedTrack],
        index: usize,
        turn: &HeardTurn,
        generation: u32,
    ) -> Result<Event, PipelineError> {
        let overlap = tracks
            .iter()
            .enumerate()
            .any(|(other, track)| other != index && track.speaks_within(turn.start_ms, turn.end_ms));
        let heard = self.hear(turn)?;
        let track = &mut tracks[index];
        track.last_end_ms = turn.end_ms;
        Ok(event_of(track, turn, heard, overlap, generation))
    }

    /// The number of the run that is under way, or of one begun now.
    fn begin_generation(&self, journal: &mut Journal<'_>) -> Result<u32, PipelineError> {
        if let Some(generation) = &journal.history.generation {
            return Ok(generation.number);
        }
        let generation = Generation {
            number: 0,
            recognizer: self.recognizer.name().to_owned(),
            model: self.recognizer.model().clone(),
            voice_activity: self.voice_activity.name().to_owned(),
            language: self.options.language.clone(),
        };
        journal.append(&[Event::Generation(generation)])?;
        Ok(0)
    }

    fn open_tracks(
        &self,
        history: &History,
        tracks: &[Track],
        feed: &dyn Feed,
    ) -> Result<Vec<ListenedTrack>, PipelineError> {
        let mut listened = Vec::new();
        for track in tracks.iter().copied() {
            let done = history.track(track);
            let native = native_path(self.audio_folder, track);
            let reader = if feed.is_growing() {
                TrackReader::follow(&native, done.resumption())?
            } else {
                TrackReader::open(&native, done.resumption())?
            };
            let last_end_ms = done.last_end_ms;
            listened.push(ListenedTrack { track, reader, pending: None, is_at_end: false, last_end_ms });
        }
        Ok(listened)
    }

    /// Listens to one track until its next turn is known, or its end, or more has to come.
    fn find_turn(
        &mut self,
        tracks: &mut [ListenedTrack],
        index: usize,
        meter: &SpeedMeter,
        last_line: Option<&(Track, String)>,
    ) -> Result<(), PipelineError> {
        while tracks[index].pending.is_none() && !tracks[index].is_at_end {
            self.check_interrupted()?;
            let track = &mut tracks[index];
            match track.reader.advance(self.voice_activity)? {
                Advance::Turn(turn) => track.pending = Some(turn),
                Advance::Nothing => self.report(tracks, meter, last_line),
                Advance::Waiting => break,
                Advance::End => track.is_at_end = true,
            }
        }
        Ok(())
    }

    /// Recognises a turn, a second time and thoroughly where the first came out as nothing anyone said.
    fn hear(&mut self, turn: &HeardTurn) -> Result<Heard, PipelineError> {
        let evidence = Evidence {
            speech_ms: turn.end_ms - turn.start_ms,
            speech_probability: turn.turn.speech_probability,
        };
        let recognition = self.recognizer.recognize(&turn.samples, &self.options)?;
        let verdict = judge(&recognition, evidence);
        if !verdict.as_ref().is_err_and(|refusal| refusal.is_worth_another_hearing()) {
            return Ok(Heard { recognition, verdict });
        }
        self.check_interrupted()?;
        let thorough = RecognizeOptions { thorough: true, ..self.options.clone() };
        let again = self.recognizer.recognize(&turn.samples, &thorough)?;
        let second_verdict = judge(&again, evidence);
        if second_verdict.is_err() {
            return Ok(Heard { recognition, verdict });
        }
        Ok(Heard { recognition: again, verdict: second_verdict })
    }

    fn finish(
        &self,
        journal: &mut Journal<'_>,
        tracks: &[ListenedTrack],
        generation: u32,
        warnings: &[String],
    ) -> Result<(), PipelineError> {
        let known = journal.history.captured.as_ref().map_or(&[][..], |captured| &captured.warnings);
        let warnings = warnings.iter().filter(|warning| !known.contains(warning)).cloned().collect();
        let mut batch: Vec<Event> = Vec::new();
        for track in tracks {
            let done_samples = track.reader.native_samples();
            batch.push(Event::Progress(Progress {
                track: track.track,
                generation,
                done_samples,
                complete: true,
            }));
        }
        batch.push(Event::Finished(Finished { at: rfc3339(self.clock), warnings }));
        journal.append(&batch)
    }

    fn report(&mut self, tracks: &[ListenedTrack], meter: &SpeedMeter, last_line: Option<&(Track, String)>) {
        let progress = progress_of(tracks);
        let (speed, remaining) = meter.measure(&progress);
        let last_line = last_line.map(|(track, text)| (*track, text.as_str()));
        (self.on_progress)(&ProgressReport {
            phase: Phase::Transcribing,
            tracks: &progress,
            speed,
            remaining,
            last_line,
        });
    }
}

fn progress_of(tracks: &[ListenedTrack]) -> Vec<TrackProgress> {
    tracks.iter().map(ListenedTrack::progress).collect()
}

/// Takes the pending turn that begins first; of two that begin together, the first track's.
fn take_earliest(tracks: &mut [ListenedTrack]) -> Option<(usize, HeardTurn)> {
    let start_ms = |track: &ListenedTrack| track.pending.as_ref().map(|turn| turn.start_ms);
    let (index, _) = tracks
        .iter()
        .enumerate()
        .filter_map(|(index, track)| Some((index, start_ms(track)?)))
        .min_by_key(|(_, start)| *start)?;
    Some((index, tracks[index].pending.take()?))
}

/// The line a turn becomes, or the refusal.
fn event_of(track: &ListenedTrack, turn: &HeardTurn, heard: Heard, overlap: bool, generation: u32) -> Event {
    let (start_ms, end_ms) = (turn.start_ms, turn.end_ms);
    let span = AudioSpan {
        start_sample: turn.start_sample,
        end_sample: turn.end_sample,
        rate_hz: track.reader.rate_hz(),
    };
    let Heard { recognition, verdict } = heard;
    match verdict {
        Ok(text) => Event::Line(Line {
            track: track.track,
            start_ms,
            end_ms,
            text,
            confidence: recognition.confidence(),
            language: recognition.language,
            generation,
            audio: Some(span),
            overlap,
        }),
        Err(refusal) => Event::Dropped(Dropped {
            track: track.track,
            start_ms,
            end_ms,
            text: recognition.text(),
            reason: refusal.to_string(),
            generation,
            audio: Some(span),
        }),
    }
}
