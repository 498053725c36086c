//! From audio files to the events of a session.
//!
//! The log is the journal: every turn's words and the progress that accounts for them are one batch. So
//! a run that ended anywhere, by Ctrl-C or by a dead machine, is taken up again from the log alone, and
//! what comes out is what an undisturbed run would have written: no turn twice, none lost. The tracks
//! are worked through together in the order of their times, so that a reader sees the conversation grow.

mod history;
mod journal;
mod sources;
mod transcription;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use ambient_engine::session::DirectoryError;
use ambient_engine::{Captured, CapturedTrack, Clock, Event, ModelReference, Opened, Origin, Track};
use jiff::Timestamp;
use jiff::tz::TimeZone;

pub use history::{History, TrackHistory};
pub use journal::Sink;
pub use sources::{AudioSource, native_path};

use crate::audio::{AudioFileError, NativeAudioError, NativeReader, millis};
use crate::progress::{DecodingProgress, ProgressReport};
use crate::recognizer::{RecognizeError, RecognizeOptions, Recognizer};
use crate::track_reader::ListenError;
use crate::voice_activity::VoiceActivity;
pub(crate) use journal::Journal;
use sources::Ingested;
pub(crate) use transcription::Feed;

/// A run that did not come to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PipelineError {
    /// It was told to stop. The session can be taken up again.
    #[error("interrupted; what was done so far is kept")]
    Interrupted,
    /// A source gives no sound.
    #[error(transparent)]
    Source(#[from] AudioFileError),
    /// Native audio could not be written or read.
    #[error(transparent)]
    Native(#[from] NativeAudioError),
    /// A track could not be listened to.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// Recognition failed, or cannot do what was asked.
    #[error(transparent)]
    Recognize(RecognizeError),
    /// The log did not take the events.
    #[error("the session's log could not be written: {0}")]
    Log(Box<dyn Error + Send + Sync>),
    /// A file beside the sound could not be made.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// There is nothing to make a session from.
    #[error("no audio was given: name a file for the room track, the call track or both")]
    NoSources,
    /// Two sources were named for one track.
    #[error("two files are named for the {0} track; a track has one")]
    TrackTwice(Track),
    /// The log does not say how the session began.
    #[error("the session's log does not say what it was made from, so it cannot be taken up again")]
    NotOpened,
    /// Neither a track's native audio nor its source is there any more.
    #[error("the sound of the {track} track is gone: there is no {native}, and {change}", native = native.display())]
    AudioGone {
        /// The track.
        track: Track,
        /// Where its native audio should be.
        native: PathBuf,
        /// What is wrong with the source.
        change: String,
    },
    /// The session was begun with another model; lines of two models would be mixed.
    #[error("the session was begun with the model {begun}; take it up with the same one, not {given}")]
    OtherModel {
        /// Name of the model it was begun with.
        begun: String,
        /// Name of the model that was given.
        given: String,
    },
}

impl From<RecognizeError> for PipelineError {
    fn from(error: RecognizeError) -> Self {
        match error {
            RecognizeError::Interrupted => Self::Interrupted,
            other => Self::Recognize(other),
        }
    }
}

/// What came of a run that reached its end.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// What was captured.
    pub tracks: Vec<CapturedTrack>,
    /// Lines and refused recognitions of each track, in the same order.
    pub lines: Vec<TrackHistory>,
    /// What a person should know.
    pub warnings: Vec<String>,
}

/// All that a run works with.
pub struct Pipeline<'a> {
    /// The session's folder for audio. It must exist.
    pub audio_folder: &'a Path,
    /// Turns sound into words; serves every track.
    pub recognizer: &'a mut dyn Recognizer,
    /// Tells speech from other sound; serves every track.
    pub voice_activity: &'a mut dyn VoiceActivity,
    /// What to listen for. A session that is taken up again keeps the language it was begun with.
    pub options: RecognizeOptions,
    /// Tells the time for the log.
    pub clock: &'a dyn Clock,
    /// When raised, the run ends soon and can be taken up again.
    pub interrupted: &'a AtomicBool,
    /// Told how far the work is, several times a second at most speeds.
    pub on_progress: &'a mut dyn FnMut(&ProgressReport<'_>),
}

impl Pipeline<'_> {
    /// Makes a new session: `opened`, with `sources` as its tracks, is the first event of its log.
    ///
    /// # Errors
    /// When there is no source or one is unusable, before anything is written to the log; else what
    /// stopped the run.
    pub fn transcribe(
        &mut self,
        mut opened: Opened,
        sources: &[AudioSource],
        sink: &mut dyn Sink,
    ) -> Result<Summary, PipelineError> {
        check_sources(sources)?;
        self.recognizer.check(&self.options)?;
        opened.tracks = sources.iter().map(AudioSource::to_track_source).collect();
        let mut journal = Journal::new(History::default(), sink);
        journal.append(&[Event::Opened(opened)])?;
        self.run(journal, sources)
    }

    /// Takes up a session again whose log says `history`. One that is finished stays as it is.
    ///
    /// # Errors
    /// When the log does not say what the session was made from, its sound is gone, or it was begun with
    /// another model; else what stopped the run.
    pub fn resume(&mut self, history: History, sink: &mut dyn Sink) -> Result<Summary, PipelineError> {
        let opened = history.opened.as_ref().ok_or(PipelineError::NotOpened)?;
        let is_recorded = opened.origin == Origin::Recorded;
        let sources = AudioSource::from_opened(opened);
        check_sources(&sources)?;
        if let Some(begun) = &history.generation {
            check_model(&begun.model, self.recognizer.model())?;
            self.options.language.clone_from(&begun.language);
        }
        if let (true, Some(captured)) = (history.is_finished, &history.captured) {
            return Ok(summary(&captured.tracks, &history, captured.warnings.clone()));
        }
        self.recognizer.check(&self.options)?;
        let journal = Journal::new(history, sink);
        if is_recorded { self.finish_recording(journal, &sources) } else { self.run(journal, &sources) }
    }

    /// Turns into lines what is left of a recording that came to no end: the sound that is on disk.
    fn finish_recording(
        &mut self,
        mut journal: Journal<'_>,
        sources: &[AudioSource],
    ) -> Result<Summary, PipelineError> {
        let captured = if let Some(captured) = journal.history.captured.clone() {
            captured
        } else {
            let captured = sources::take_recording(self.audio_folder, sources, &journal.history)?;
            journal.append(&[Event::Captured(captured.clone())])?;
            captured
        };
        self.transcribe_tracks(&mut journal, &captured.tracks, &captured.warnings)?;
        Ok(summary(&captured.tracks, &journal.history, captured.warnings))
    }

    fn run(&mut self, mut journal: Journal<'_>, sources: &[AudioSource]) -> Result<Summary, PipelineError> {
        let (tracks, warnings) = self.capture(&mut journal, sources)?;
        self.transcribe_tracks(&mut journal, &tracks, &warnings)?;
        Ok(summary(&tracks, &journal.history, warnings))
    }

    /// Sees to it that every track's native audio is there, and that the log says so.
    fn capture(
        &mut self,
        journal: &mut Journal<'_>,
        sources: &[AudioSource],
    ) -> Result<(Vec<CapturedTrack>, Vec<String>), PipelineError> {
        let known = journal.history.captured.clone();
        let mut warnings = known.as_ref().map(|known| known.warnings.clone()).unwrap_or_default();
        let mut tracks = Vec::new();
        let mut decoding = DecodingProgress::start(sources.iter().map(|source| source.track));
        for source in sources {
            let is_of_source = |track: &&CapturedTrack| track.track == source.track;
            let before = known.as_ref().and_then(|known| known.tracks.iter().find(is_of_source));
            let ingested = self.ingest(source, before, &mut decoding)?;
            tracks.push(ingested.track);
            for warning in ingested.warnings {
                if !warnings.contains(&warning) {
                    warnings.push(warning);
                }
            }
        }
        if known.is_none() {
            let (tracks, warnings) = (tracks.clone(), warnings.clone());
            journal.append(&[Event::Captured(Captured {
                ended_at: rfc3339(self.clock),
                tracks,
                warnings,
            })])?;
        }
        Ok((tracks, warnings))
    }

    /// Native audio for one track: what is there if it is whole, else from the source, else what is left.
    fn ingest(
        &mut self,
        source: &AudioSource,
        before: Option<&CapturedTrack>,
        decoding: &mut DecodingProgress,
    ) -> Result<Ingested, PipelineError> {
        let native = native_path(self.audio_folder, source.track);
        let present = NativeReader::open(&native).and_then(|reader| reader.samples());
        if let (Some(before), Ok(samples)) = (before, &present)
            && *samples >= before.samples
        {
            return Ok(Ingested { track: before.clone(), warnings: Vec::new() });
        }
        let Some(change) = source.change() else {
            return sources::decode_to_native(source, &native, self.interrupted, &mut |done_ms, total_ms| {
                decoding.note(source.track, done_ms, total_ms);
                decoding.report(self.on_progress);
            });
        };
        if present.is_err() {
            return Err(PipelineError::AudioGone { track: source.track, native, change });
        }
        let mut ingested = sources::take_native(source.track, &native)?;
        let len_s = millis(ingested.track.samples, ingested.track.rate_hz) / 1_000;
        ingested.warnings.push(format!("{}: only the first {len_s} s are there: {change}", source.track));
        Ok(ingested)
    }

    fn check_interrupted(&self) -> Result<(), PipelineError> {
        if self.interrupted.load(Ordering::Relaxed) { Err(PipelineError::Interrupted) } else { Ok(()) }
    }
}

/// The present moment as RFC 3339 with the local offset.
pub(crate) fn rfc3339(clock: &dyn Clock) -> String {
    local(Timestamp::from_microsecond(clock.now_us()).unwrap_or_default())
}

fn local(moment: Timestamp) -> String {
    moment.to_zoned_datetime(TimeZone::system()).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

fn check_sources(sources: &[AudioSource]) -> Result<(), PipelineError> {
    if sources.is_empty() {
        return Err(PipelineError::NoSources);
    }
    let twice = |track: &Track| sources.iter().filter(|source| source.track == *track).count() > 1;
    Track::ALL.into_iter().find(twice).map_or(Ok(()), |track| Err(PipelineError::TrackTwice(track)))
}

fn check_model(begun: &ModelReference, given: &ModelReference) -> Result<(), PipelineError> {
    let both_known = !begun.sha256.is_empty() && !given.sha256.is_empty();
    let is_same = if both_known { begun.sha256 == given.sha256 } else { begun.name == given.name };
    if is_same {
        return Ok(());
    }
    Err(PipelineError::OtherModel { begun: begun.name.clone(), given: given.name.clone() })
}

fn summary(tracks: &[CapturedTrack], history: &History, warnings: Vec<String>) -> Summary {
    let lines = tracks.iter().map(|track| *history.track(track.track)).collect();
    Summary { tracks: tracks.to_vec(), lines, warnings }
}
