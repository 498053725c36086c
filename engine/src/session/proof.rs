//! What there is of each track of a recording, to be held against what was said: sound, lines, refusals, delay.
//!
//! All of it is counted from the events of the log, so that it says the same whoever asks, and whenever.

use serde::{Deserialize, Serialize};

use crate::event::TrackSource;
use crate::{Captured, Dropped, Event, Recorded, Track};

/// The sound of a recording is at most this much shorter than the time that it took, in milliseconds. A session whose
/// capture was written down later than that was interrupted, and its lines came when it was resumed.
const CAPTURE_TOLERANCE_MS: u64 = 60_000;

/// What there is of one track.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrackProof {
    /// The track.
    pub track: Track,
    /// The device it came from.
    pub source: String,
    /// Sound on disk, in seconds.
    pub captured_s: f64,
    /// How much of that was put there because the device delivered nothing, in seconds.
    pub padded_s: f64,
    /// How much of it was silence, padding included, in seconds.
    pub silent_s: f64,
    /// How many lines came of it.
    pub lines: u64,
    /// What was recognised and refused.
    pub dropped: Vec<Refusals>,
    /// The longest it took from the end of a turn until its line was there, in seconds; while it was recorded.
    pub worst_lag_s: f64,
}

/// How often recognitions were refused for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusals {
    /// The reason.
    pub reason: String,
    /// How often.
    pub count: u64,
}

/// Counts while the events of a log go by.
#[derive(Debug, Default)]
pub(super) struct Proofs {
    began_us: Option<i64>,
    tracks: Vec<TrackProof>,
    /// Whether lines come at the pace of what is said.
    is_live: bool,
    is_captured: bool,
}

impl Proofs {
    /// Takes in the next event.
    pub(super) fn note(&mut self, recorded: &Recorded) {
        match &recorded.event {
            Event::Opened(opened) => {
                self.began_us = Some(recorded.ts_us);
                self.is_live = true;
                self.tracks = opened.tracks.iter().map(TrackProof::of).collect();
            }
            Event::Line(line) => {
                let lag_ms = self.elapsed_ms(recorded).saturating_sub(line.end_ms);
                let is_live = self.is_live;
                if let Some(track) = self.track(line.track) {
                    track.lines += 1;
                    if is_live {
                        track.worst_lag_s = track.worst_lag_s.max(seconds(lag_ms));
                    }
                }
            }
            Event::Dropped(dropped) => self.note_dropped(dropped),
            Event::Captured(captured) => self.note_captured(captured, self.elapsed_ms(recorded)),
            _ => {}
        }
    }

    /// What was counted; none before the capture has ended.
    pub(super) fn finish(self) -> Option<Vec<TrackProof>> {
        (self.is_captured && !self.tracks.is_empty()).then_some(self.tracks)
    }

    fn note_captured(&mut self, captured: &Captured, elapsed_ms: u64) {
        self.is_captured = true;
        for told in &captured.tracks {
            let len_ms = told.samples.saturating_mul(1_000) / u64::from(told.rate_hz.max(1));
            self.is_live &= elapsed_ms <= len_ms + CAPTURE_TOLERANCE_MS;
            if let Some(track) = self.track(told.track) {
                track.captured_s = seconds(len_ms);
                track.padded_s = seconds(told.padded_ms);
                track.silent_s = seconds(told.silent_ms);
            }
        }
    }

    fn note_dropped(&mut self, dropped: &Dropped) {
        let Some(track) = self.track(dropped.track) else { return };
        match track.dropped.iter_mut().find(|refusals| refusals.reason == dropped.reason) {
            Some(refusals) => refusals.count += 1,
            None => track.dropped.push(Refusals { reason: dropped.reason.clone(), count: 1 }),
        }
    }

    fn elapsed_ms(&self, recorded: &Recorded) -> u64 {
        let began_us = self.began_us.unwrap_or(recorded.ts_us);
        u64::try_from(recorded.ts_us.saturating_sub(began_us) / 1_000).unwrap_or(0)
    }

    fn track(&mut self, track: Track) -> Option<&mut TrackProof> {
        self.tracks.iter_mut().find(|proof| proof.track == track)
    }
}

impl TrackProof {
    fn of(source: &TrackSource) -> Self {
        Self {
            track: source.track,
            source: source.name.clone(),
            captured_s: 0.0,
            padded_s: 0.0,
            silent_s: 0.0,
            lines: 0,
            dropped: Vec::new(),
            worst_lag_s: 0.0,
        }
    }
}

fn seconds(milliseconds: u64) -> f64 {
    std::time::Duration::from_millis(milliseconds).as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CapturedTrack, Line, Opened, Origin};

    fn line(track: Track, end_ms: u64) -> Event {
        Event::Line(Line {
            track,
            start_ms: end_ms - 500,
            end_ms,
            text: "yes".to_owned(),
            confidence: 0.9,
            language: None,
            generation: 0,
            audio: None,
            overlap: false,
        })
    }

    fn dropped(reason: &str) -> Event {
        Event::Dropped(Dropped {
            track: Track::Room,
            start_ms: 0,
            end_ms: 1,
            text: "thank you".to_owned(),
            reason: reason.to_owned(),
            generation: 0,
            audio: None,
        })
    }

    fn captured(samples: u64) -> Event {
        Event::Captured(Captured {
            ended_at: "2026-09-05T14:12:10+02:00".to_owned(),
            tracks: vec![CapturedTrack {
                track: Track::Room,
                rate_hz: 1_000,
                channels: 1,
                samples,
                silent_ms: 2_000,
                padded_ms: 1_500,
            }],
            warnings: Vec::new(),
        })
    }

    fn counted(events: &[(i64, Event)]) -> Option<Vec<TrackProof>> {
        let opened = Event::Opened(Opened {
            id: "s".to_owned(),
            name: None,
            started_at: "2026-09-05T14:12:00+02:00".to_owned(),
            origin: Origin::Recorded,
            program: "ambient".to_owned(),
            tracks: vec![TrackSource {
                track: Track::Room,
                name: "a microphone".to_owned(),
                len_bytes: None,
            }],
        });
        let mut proofs = Proofs::default();
        for (at_ms, event) in std::iter::once((0, opened)).chain(events.iter().cloned()) {
            proofs.note(&Recorded { position: 0, seq: 0, ts_us: 7_000_000 + at_ms * 1_000, event });
        }
        proofs.finish()
    }

    #[test]
    fn what_there_is_of_a_track_is_counted_and_lines_after_the_last_sound_too() {
        let proof = counted(&[
            (2_800, line(Track::Room, 2_000)),
            (3_000, dropped("a loop")),
            (3_100, dropped("silence")),
            (3_200, dropped("a loop")),
            (10_000, captured(10_000)),
            (11_500, line(Track::Room, 9_500)),
        ]);
        let proof = &proof.unwrap()[0];
        assert_eq!((proof.source.as_str(), proof.lines), ("a microphone", 2));
        let told_ms = [proof.captured_s, proof.silent_s, proof.padded_s].map(|told_s| (told_s * 1e3).round());
        assert_eq!(told_ms.map(|told_ms| format!("{told_ms}")), ["10000", "2000", "1500"]);
        assert!((proof.worst_lag_s - 2.0).abs() < 1e-9, "{proof:?}");
        let counts: Vec<_> = proof.dropped.iter().map(|told| (told.reason.as_str(), told.count)).collect();
        assert_eq!(counts, [("a loop", 2), ("silence", 1)]);
    }

    #[test]
    fn lines_that_came_when_an_interrupted_recording_was_resumed_are_not_late() {
        let proof = counted(&[
            (2_800, line(Track::Room, 2_000)),
            (900_000, captured(10_000)),
            (901_000, line(Track::Room, 9_500)),
        ]);
        let proof = &proof.unwrap()[0];
        assert_eq!(proof.lines, 2);
        assert!((proof.worst_lag_s - 0.8).abs() < 1e-9, "{proof:?}");
    }

    #[test]
    fn nothing_is_proved_before_the_capture_has_ended() {
        assert_eq!(counted(&[(2_800, line(Track::Room, 2_000))]), None);
    }
}
