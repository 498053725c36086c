//! What can happen in a session.
//!
//! An [`Event`] is what a writer appends and what a walk of the log gives back. Every kind has a number
//! that never changes meaning; `docs/design/FORMAT.md` lists them with their payloads. Lines are never
//! altered: an [`Edit`] is a later event about an earlier line.

mod facts;
mod kind;
mod line;
mod line_payload;
mod payload;

pub use facts::{
    AssistantAct, Captured, CapturedTrack, DeviceChange, DeviceNote, Dropped, Finished, Generation, Kept,
    KeptFile, MetaChange, ModelReference, Opened, Origin, Progress, TrackSource,
};
pub use kind::{Kind, UnknownKind};
pub use line::{AudioSpan, Change, Edit, EditTarget, Line, LineView};
pub use payload::{Closed, PAYLOAD_SCHEMA, PayloadError};
pub(crate) use payload::{decode, decode_edit, decode_line, encode, previous_edit};

/// One thing that happened in a session.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The session began.
    Opened(Opened),
    /// A turn of speech was heard.
    Line(Line),
    /// An earlier line reads differently from now on.
    Edit(Edit),
    /// The session's own description changed.
    Meta(MetaChange),
    /// A track has been turned into lines up to a point.
    Progress(Progress),
    /// Capture ended; what was captured.
    Captured(Captured),
    /// Every track has been turned into lines.
    Finished(Finished),
    /// Something happened to a sound device.
    Device(DeviceNote),
    /// A run of recognition began; lines name it by number.
    Generation(Generation),
    /// The live assistant did something.
    Assistant(AssistantAct),
    /// The guard refused a recognition.
    Dropped(Dropped),
    /// The session was imported, and this is what its files held that the other events do not say.
    Kept(Kept),
}

impl Event {
    /// The kind under which this event is stored.
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Opened(_) => Kind::Opened,
            Self::Line(_) => Kind::Line,
            Self::Edit(edit) => edit.change.kind(),
            Self::Meta(_) => Kind::Meta,
            Self::Progress(_) => Kind::Progress,
            Self::Captured(_) => Kind::Captured,
            Self::Finished(_) => Kind::Finished,
            Self::Device(_) => Kind::Device,
            Self::Generation(_) => Kind::Generation,
            Self::Assistant(_) => Kind::Assistant,
            Self::Dropped(_) => Kind::Dropped,
            Self::Kept(_) => Kind::Kept,
        }
    }
}
