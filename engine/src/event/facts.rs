//! Facts about the session that are not lines: how it began, what was captured, what was refused.

use serde::{Deserialize, Serialize};

use super::AudioSpan;
use crate::Track;

/// How a session came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Origin {
    /// Recorded from devices.
    Recorded,
    /// Made from audio files.
    Transcribed,
    /// Taken over from another layout.
    Imported,
}

/// Where a track's sound comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrackSource {
    /// The track.
    pub track: Track,
    /// Name of the device, or path of the file as it was given.
    pub name: String,
    /// Length of the file in bytes, for a file.
    pub len_bytes: Option<u64>,
}

/// The session began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    /// The session's id: its directory's name.
    pub id: String,
    /// The name it was given at the start.
    pub name: Option<String>,
    /// When it started, RFC 3339 with the local offset.
    pub started_at: String,
    /// How it came to be.
    pub origin: Origin,
    /// The program and version that opened it.
    pub program: String,
    /// The tracks it will have.
    pub tracks: Vec<TrackSource>,
}

/// A change to the session's own description.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MetaChange {
    /// The name, or none.
    Name(Option<String>),
    /// The notes, replaced whole.
    Notes(String),
    /// A tag added.
    Tag(String),
    /// A tag removed.
    Untag(String),
    /// Pinned or not.
    Pin(bool),
}

/// How far a track has been turned into lines. Written in the same batch as those lines, so that a
/// restart neither doubles nor loses a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The track.
    pub track: Track,
    /// The run of recognition.
    pub generation: u32,
    /// Native samples from the start that need not be looked at again.
    pub done_samples: u64,
    /// Whether the track is finished.
    pub complete: bool,
}

/// What was captured on one track.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapturedTrack {
    /// The track.
    pub track: Track,
    /// Samples a second of the native audio.
    pub rate_hz: u32,
    /// Channels of the source before they were mixed to one.
    pub channels: u16,
    /// Native samples on disk.
    pub samples: u64,
    /// Milliseconds that were digital silence.
    pub silent_ms: u64,
    /// Milliseconds filled in because the source delivered nothing.
    pub padded_ms: u64,
}

/// Capture ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Captured {
    /// When it ended, RFC 3339 with the local offset.
    pub ended_at: String,
    /// What each track holds.
    pub tracks: Vec<CapturedTrack>,
    /// What a person should know: a dead track, a broken file.
    pub warnings: Vec<String>,
}

/// Every track has been turned into lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finished {
    /// When, RFC 3339 with the local offset.
    pub at: String,
    /// What a person should know about the transcription.
    pub warnings: Vec<String>,
}

/// What happened to a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeviceChange {
    /// It delivered nothing for this long; silence stands in its place.
    Gap {
        /// Length of the gap in milliseconds.
        len_ms: u64,
    },
    /// It is gone.
    Lost,
    /// It came back.
    Back,
    /// It now delivers at another rate.
    Rate {
        /// Samples a second from now on.
        rate_hz: u32,
    },
    /// Another device took its place.
    Source {
        /// The device's name.
        name: String,
    },
}

/// Something happened to a sound device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceNote {
    /// The track it feeds.
    pub track: Track,
    /// When, in milliseconds from the start of the session.
    pub at_ms: u64,
    /// What happened.
    pub change: DeviceChange,
}

/// Names a model beyond doubt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelReference {
    /// The model's short name, such as `tiny.en`.
    pub name: String,
    /// SHA-256 of its file in lower-case hexadecimal, empty when unknown.
    pub sha256: String,
}

/// A run of recognition began. The first has number 0; a later one is a new transcription of the same
/// audio, whose lines take the place of the older ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Generation {
    /// Number by which lines name this run.
    pub number: u32,
    /// The recogniser and its version.
    pub recognizer: String,
    /// The recogniser's model.
    pub model: ModelReference,
    /// What found the speech: voice activity detector and its model.
    pub voice_activity: String,
    /// The language asked for, or none for the recogniser's choice.
    pub language: Option<String>,
}

/// The live assistant did something.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum AssistantAct {
    /// It began to listen.
    Joined {
        /// The notice that was spoken.
        notice: String,
    },
    /// It spoke what `Began` announced; without one before it, the notice.
    Spoke {
        /// The words.
        text: String,
        /// The tone.
        emotion: String,
        /// Milliseconds until the first sound.
        first_audio_ms: u64,
        /// Milliseconds of sound.
        audio_ms: u64,
        /// Milliseconds in all.
        took_ms: u64,
    },
    /// It could not speak.
    Failed {
        /// `notice` or `voice`.
        stage: String,
        /// Why.
        message: String,
        /// The words that were not said, when there were any.
        text: Option<String>,
    },
    /// It stopped listening.
    Left {
        /// Why.
        why: String,
        /// How often it had spoken.
        spoke: u32,
    },
    /// It is about to speak. Appended before the first sound, by whoever was allowed to under the log's
    /// lock, and so what its limits count; `Spoke` or `Failed` then tells how it went.
    Began {
        /// The words.
        text: String,
        /// The tone.
        emotion: String,
    },
}

/// The guard refused a recognition: what it was, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dropped {
    /// The track.
    pub track: Track,
    /// Start in milliseconds from the start of the session.
    pub start_ms: u64,
    /// End in milliseconds from the start of the session.
    pub end_ms: u64,
    /// The words that were refused.
    pub text: String,
    /// Why.
    pub reason: String,
    /// The run of recognition.
    pub generation: u32,
    /// Where the sound is.
    pub audio: Option<AudioSpan>,
}

/// A file of the JSONL layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum KeptFile {
    /// `session.json`.
    Description,
    /// `raw.jsonl`.
    Lines,
    /// `edits.jsonl`.
    Edits,
}

/// Bytes of an imported session's file, kept where the other events cannot give them back: a line that
/// does not parse or has fields of its own, the whole description. Written in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// Where they were.
    pub file: KeptFile,
    /// The bytes, line ends included. A long stretch is kept in pieces.
    pub bytes: Vec<u8>,
    /// Whether the next event that has a line of its own in that file is what these bytes say.
    pub stands_for_next: bool,
}
