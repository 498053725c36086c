//! How a recording is doing, for whoever shows it: this process, or another one by way of
//! `recording.json`.

use ambient_engine::Track;
use serde::{Deserialize, Serialize};

/// What a recording is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Taking in sound.
    #[default]
    Recording,
    /// Not listening until it is told to again.
    Paused,
    /// It was stopped, and the rest of the sound is being turned into lines.
    Finishing,
}

/// How a recording is doing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// What it is doing.
    pub phase: Phase,
    /// Milliseconds since it began.
    pub elapsed_ms: u64,
    /// Each track, the room first.
    pub tracks: Vec<TrackStatus>,
    /// The newest line.
    pub last_line: Option<LastLine>,
    /// Bytes that are free where the session is kept, when that is known.
    pub free_bytes: Option<u64>,
    /// What a person should look at now.
    pub warnings: Vec<String>,
}

/// How one track is doing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrackStatus {
    /// The track.
    pub track: Track,
    /// The device.
    pub source: String,
    /// Samples a second of its audio.
    pub rate_hz: u32,
    /// Milliseconds of audio on disk.
    pub captured_ms: u64,
    /// How much of that is silence because the device delivered nothing.
    pub padded_ms: u64,
    /// How much of it is zeros, padding included.
    pub silent_ms: u64,
    /// Level of the last moments in decibels of full scale.
    pub level_db: f32,
    /// Highest sample of the last seconds in decibels of full scale.
    pub peak_db: f32,
    /// Milliseconds of audio that have been listened to.
    pub done_ms: u64,
    /// Lines so far.
    pub lines: u64,
    /// Recognitions that were refused, by reason.
    pub dropped: Vec<Refused>,
    /// The longest it took from the end of a turn to its line, in milliseconds.
    pub worst_lag_ms: u64,
}

impl TrackStatus {
    /// Milliseconds of audio that wait to be listened to.
    pub fn lag_ms(&self) -> u64 {
        self.captured_ms.saturating_sub(self.done_ms)
    }
}

/// How often recognitions were refused for a reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// The reason.
    pub reason: String,
    /// How often.
    pub count: u64,
}

/// The newest line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastLine {
    /// Its track.
    pub track: Track,
    /// Its words.
    pub text: String,
}

impl Status {
    /// The longest that any track's audio waits.
    pub fn lag_ms(&self) -> u64 {
        self.tracks.iter().map(TrackStatus::lag_ms).max().unwrap_or(0)
    }

    /// Lines of all tracks.
    pub fn lines(&self) -> u64 {
        self.tracks.iter().map(|track| track.lines).sum()
    }
}
