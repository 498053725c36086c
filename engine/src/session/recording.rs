//! How a recording is doing, as its recorder says in `recording.json`.
//!
//! The file is a courtesy and decides nothing: whether a session is being recorded is told by its lock. What
//! cannot be read is not there, and fields that are not known are passed over.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Directory;
use crate::Track;

const RECORDING_FILE: &str = "recording.json";
/// A longer file is something else.
const RECORDING_LEN_MAX_BYTES: u64 = 1 << 20;

/// How a recording is doing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecordingStatus {
    /// Each track.
    pub tracks: Vec<RecordingTrack>,
    /// How much sound of any track waits to become text, in seconds.
    pub lag_s: f64,
    /// What a person should look at now.
    pub warnings: Vec<String>,
    /// When it said so: milliseconds since it began. For programs that watch it closely; replies do not tell it.
    #[serde(skip)]
    pub elapsed_ms: u64,
}

/// How one track of a recording is doing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecordingTrack {
    /// The track.
    pub track: Track,
    /// Sound on disk, in seconds.
    pub captured_s: f64,
    /// How much of that was silence, in seconds.
    pub silent_s: f64,
    /// How much of that was put there because the device delivered nothing, in seconds.
    pub padded_s: f64,
    /// Sound that waits to become text, in seconds.
    pub lag_s: f64,
    /// How loud the last moments were, in decibels of full scale, where the recorder says. For programs that
    /// watch it closely; replies do not tell it.
    #[serde(skip)]
    pub level_db: Option<f32>,
}

#[derive(Deserialize)]
struct Published {
    #[serde(default)]
    elapsed_ms: u64,
    tracks: Vec<PublishedTrack>,
    #[serde(default)]
    warnings: Vec<String>,
}

#[derive(Deserialize)]
struct PublishedTrack {
    track: Track,
    #[serde(default)]
    captured_ms: u64,
    #[serde(default)]
    silent_ms: u64,
    #[serde(default)]
    padded_ms: u64,
    #[serde(default)]
    done_ms: u64,
    level_db: Option<f32>,
}

impl RecordingStatus {
    /// What the recorder of `session` said last; none when it says nothing that can be understood.
    pub fn read(session: &Directory) -> Option<Self> {
        let bytes = session.read(RECORDING_FILE, RECORDING_LEN_MAX_BYTES).ok()??;
        let Published { elapsed_ms, tracks, warnings } = serde_json::from_slice(&bytes).ok()?;
        let lag_ms = |track: &PublishedTrack| track.captured_ms.saturating_sub(track.done_ms);
        let longest_ms = tracks.iter().map(lag_ms).max().unwrap_or(0);
        let tracks = tracks.iter().map(|track| RecordingTrack {
            track: track.track,
            captured_s: seconds(track.captured_ms),
            silent_s: seconds(track.silent_ms),
            padded_s: seconds(track.padded_ms),
            lag_s: seconds(lag_ms(track)),
            level_db: track.level_db,
        });
        Some(Self { tracks: tracks.collect(), lag_s: seconds(longest_ms), warnings, elapsed_ms })
    }
}

fn seconds(milliseconds: u64) -> f64 {
    Duration::from_millis(milliseconds).as_secs_f64()
}
