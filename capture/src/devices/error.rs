//! What keeps a device from being recorded, and what to do about it.

use super::DeviceKind;

/// A device could not be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// No sound system answers.
    #[error(
        "no sound system was found ({reason}); looked for a PulseAudio or PipeWire server (PULSE_SERVER, \
         PULSE_RUNTIME_PATH, XDG_RUNTIME_DIR), then for the system's own devices"
    )]
    NoHost {
        /// What the system said.
        reason: String,
    },
    /// There is no default of the kind.
    #[error("there is no {kind} among {count} devices; `ambient devices` lists them", kind = word(*.kind))]
    NoDefault {
        /// The kind.
        kind: DeviceKind,
        /// How many devices there are.
        count: usize,
    },
    /// No device is called that.
    #[error("no {kind} is called {wanted:?}; there is: {there}", kind = word(*.kind), there = listed(.there))]
    NotFound {
        /// The kind.
        kind: DeviceKind,
        /// What was asked for.
        wanted: String,
        /// Ids of those there are.
        there: Vec<String>,
    },
    /// Several devices are called that.
    #[error("several devices fit {wanted:?}; name one: {there}", there = listed(.there))]
    Ambiguous {
        /// What was asked for.
        wanted: String,
        /// Ids of those that fit.
        there: Vec<String>,
    },
    /// It is there and cannot be used.
    #[error("{name} cannot be recorded: {reason}")]
    Unusable {
        /// The device.
        name: String,
        /// What the system said.
        reason: String,
    },
}

impl DeviceError {
    /// Whether what was looked for is not there, rather than refused.
    pub fn is_missing(&self) -> bool {
        !matches!(self, Self::Unusable { .. })
    }
}

fn word(kind: DeviceKind) -> &'static str {
    match kind {
        DeviceKind::Input => "microphone",
        DeviceKind::Loopback => "source of the system's sound",
    }
}

fn listed(ids: &[String]) -> String {
    if ids.is_empty() { "none".to_owned() } else { ids.join(", ") }
}
