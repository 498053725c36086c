//! Sound devices: which there are, and their sound as a [`Source`](crate::live::Source).
//!
//! A microphone is an input. What the other side of a call says is taken where the system plays it: on
//! Linux the monitor of a sink (PulseAudio, or PipeWire by the same protocol), on Windows and macOS the
//! output itself, opened as a loopback. A machine without any sound is no fault until someone wants to
//! record on it.

mod catalogue;
mod error;
mod open;
mod samples;

use serde::Serialize;

pub use catalogue::list;
pub use error::DeviceError;
pub use open::{DeviceSource, Start};

/// What a device hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceKind {
    /// A microphone or another input.
    Input,
    /// What the machine plays.
    Loopback,
}

impl DeviceKind {
    /// What a person calls one, with its article.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Input => "a microphone",
            Self::Loopback => "a source of the system's sound",
        }
    }
}

/// A device that can be recorded from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Device {
    /// What the system calls it.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// The sound system it belongs to.
    pub host: String,
    /// What it hears.
    pub kind: DeviceKind,
    /// Whether it is the one that is used when none is named.
    pub is_default: bool,
    /// Samples a second.
    pub rate_hz: u32,
    /// Channels; they are mixed to one.
    pub channels: u16,
}

/// Which device is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Whatever is the default, also when that changes.
    Default,
    /// The one with this id, or the only one whose id or name holds these letters.
    Named(String),
}
