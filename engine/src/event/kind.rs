//! The numbers of the event kinds, and which of them a reader may skip.
//!
//! A kind that the fold needs is not ignorable: a reader that does not know it must stop folding rather
//! than show a text that is wrong. Everything else is skipped by older readers.

/// The number under which an event is stored in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// The session began.
    Opened = 1,
    /// A turn of speech.
    Line = 2,
    /// Words of a line replaced.
    Repair = 3,
    /// A line given a speaker.
    Speaker = 4,
    /// A line taken out of the fold.
    Hide = 5,
    /// A second voice within a line.
    Split = 6,
    /// An earlier edit taken back.
    Revert = 7,
    /// Name, notes, tags or pin of the session.
    Meta = 8,
    /// How far a track has been turned into lines.
    Progress = 9,
    /// What was captured.
    Captured = 10,
    /// Every track has been turned into lines.
    Finished = 11,
    /// A device changed, was lost or came back.
    Device = 12,
    /// A run of recognition began.
    Generation = 13,
    /// The live assistant acted.
    Assistant = 14,
    /// The guard refused a recognition.
    Dropped = 15,
    /// The log was closed; fixed-size payload.
    Closed = 16,
    /// Bytes of an imported session that no other event says.
    Kept = 17,
}

/// A kind number this version does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown event kind {0}")]
pub struct UnknownKind(pub u8);

impl Kind {
    /// Every kind, in the order of its number.
    pub const ALL: [Self; 17] = [
        Self::Opened,
        Self::Line,
        Self::Repair,
        Self::Speaker,
        Self::Hide,
        Self::Split,
        Self::Revert,
        Self::Meta,
        Self::Progress,
        Self::Captured,
        Self::Finished,
        Self::Device,
        Self::Generation,
        Self::Assistant,
        Self::Dropped,
        Self::Closed,
        Self::Kept,
    ];

    /// The number stored in the frame.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// Whether a reader that does not know this kind may skip it and still fold.
    pub const fn is_ignorable(self) -> bool {
        match self {
            Self::Opened
            | Self::Line
            | Self::Repair
            | Self::Speaker
            | Self::Hide
            | Self::Split
            | Self::Revert
            | Self::Generation => false,
            Self::Meta
            | Self::Progress
            | Self::Captured
            | Self::Finished
            | Self::Device
            | Self::Assistant
            | Self::Dropped
            | Self::Closed
            | Self::Kept => true,
        }
    }

    /// Whether this kind changes how an earlier line reads.
    pub const fn is_edit(self) -> bool {
        matches!(self, Self::Repair | Self::Speaker | Self::Hide | Self::Split | Self::Revert)
    }
}

impl TryFrom<u8> for Kind {
    type Error = UnknownKind;

    fn try_from(number: u8) -> Result<Self, UnknownKind> {
        Self::ALL.into_iter().find(|kind| kind.number() == number).ok_or(UnknownKind(number))
    }
}
