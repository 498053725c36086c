//! What can go wrong with a log: one enum for opening, one for appending, one for reading.
//!
//! Every message says what happened, in which file and at which position, and what to do next.

use std::path::PathBuf;

use super::disk::DiskError;
use super::lock::LockError;
use crate::event::PayloadError;
use crate::format::HeaderError;

/// A log that cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The file system refused something.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// Another writer holds the lock.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// There is no segment in the directory.
    #[error("{} holds no log", .0.display())]
    Empty(PathBuf),
    /// A log is already there.
    #[error("{} holds a log already", .0.display())]
    Exists(PathBuf),
    /// A segment's header cannot be used.
    #[error("{}: {source}", path.display())]
    Header {
        /// The segment's file.
        path: PathBuf,
        /// Why.
        #[source]
        source: HeaderError,
    },
    /// Segments do not follow each other.
    #[error("{}: {what}; a segment was lost, cut or replaced: restore it from a copy", path.display())]
    Hole {
        /// The segment's file.
        path: PathBuf,
        /// What does not fit.
        what: String,
    },
    /// Bytes that had been durable are damaged. Reading what stands before them goes on.
    #[error(
        "{}: damaged at position {position} ({why}); {survivors} whole events stand behind it. \
         Nothing will be written; what stands before it can still be read. Restore the file from a copy",
        path.display()
    )]
    Corrupt {
        /// The segment's file.
        path: PathBuf,
        /// Logical position of the first bad frame.
        position: u64,
        /// What proves that it is damage and not a torn tail.
        why: String,
        /// Whole frames found behind it.
        survivors: u64,
    },
    /// Whether the tail is torn or damaged could not be found out with bounded work.
    #[error(
        "{}: the bytes from position {position} on are neither a torn tail nor damage for certain; \
         nothing will be written. Copy the session and ask for help",
        path.display()
    )]
    Undecided {
        /// The segment's file.
        path: PathBuf,
        /// Logical position of the first bad frame.
        position: u64,
    },
    /// The log uses features that only a newer version may write with.
    #[error("{}: may be read but not written by this version; use a newer one", .0.display())]
    ReadOnlyFeatures(PathBuf),
    /// The log could be opened but its beginning could not be written or read.
    #[error(transparent)]
    Read(#[from] Box<ReadError>),
    /// The system gave no random bytes.
    #[error("the system gave no random bytes: {0}")]
    Random(String),
}

/// A batch that was not appended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppendError {
    /// There is nothing to append.
    #[error("a batch needs at least one event")]
    EmptyBatch,
    /// The batch is larger than a segment.
    #[error("the batch takes {len_bytes} bytes; at most {max_bytes} fit into one segment. Split it")]
    TooLarge {
        /// Size of the batch.
        len_bytes: u64,
        /// What fits.
        max_bytes: u64,
    },
    /// One event's payload is larger than a frame may be.
    #[error("event {index} of the batch takes {len_bytes} bytes; a frame holds at most {max_bytes}")]
    EventTooLarge {
        /// Which event of the batch, from 0.
        index: usize,
        /// Size of its payload.
        len_bytes: u64,
        /// What fits.
        max_bytes: u64,
    },
    /// An edit names a line that is not there.
    #[error("there is no line {line}; the log has {lines}")]
    NoSuchLine {
        /// The line.
        line: u64,
        /// Lines in the log, this batch's earlier ones included.
        lines: u64,
    },
    /// An edit that would mean nothing.
    #[error("line {line}: {why}")]
    Meaningless {
        /// The line.
        line: u64,
        /// Why.
        why: &'static str,
    },
    /// The event could not be encoded.
    #[error(transparent)]
    Payload(#[from] PayloadError),
    /// Another writer holds the lock.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The file system refused something; nothing of the batch was published.
    #[error("nothing was appended: {0}")]
    Disk(#[from] DiskError),
    /// The batch is written, but syncing or publishing it failed: whether it is in the log is known only
    /// when the log is opened anew. After a failed sync nobody appends until then.
    #[error("the batch was written, but its outcome is unknown ({0}); open the log anew to find out")]
    OutcomeUnknown(#[source] DiskError),
    /// An earlier sync failed, here or in another process.
    #[error("an earlier sync of {} failed; open the log anew before appending", .0.display())]
    Poisoned(PathBuf),
    /// The log changed under this writer in a way it cannot follow.
    #[error(transparent)]
    Open(#[from] OpenError),
}

/// Something that could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file system refused something. Never the same as the end of the log.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The log could not be opened again after it changed.
    #[error(transparent)]
    Open(#[from] Box<OpenError>),
    /// Bytes that were published are not a frame.
    #[error("{}: damaged at position {position}: {why}. Restore the file from a copy", path.display())]
    Damaged {
        /// The segment's file.
        path: PathBuf,
        /// Logical position of the frame.
        position: u64,
        /// What is wrong.
        why: String,
    },
    /// A payload could not be decoded.
    #[error("{}: event {seq} at position {position}: {source}", path.display())]
    Payload {
        /// The segment's file.
        path: PathBuf,
        /// Logical position of the frame.
        position: u64,
        /// Number of the event.
        seq: u64,
        /// Why.
        #[source]
        source: PayloadError,
    },
    /// An event that the fold needs is of a kind this version does not know.
    #[error(
        "event {seq} at position {position} is of kind {kind}, which this version does not know; \
         use a newer one, or read verbatim"
    )]
    UnknownKind {
        /// The kind's number.
        kind: u8,
        /// Number of the event.
        seq: u64,
        /// Logical position of the frame.
        position: u64,
    },
    /// The position lies in no segment.
    #[error("position {position} lies in no segment of {}", path.display())]
    NoSuchPosition {
        /// The log.
        path: PathBuf,
        /// The position.
        position: u64,
    },
    /// There is no such line.
    #[error("{} has no line {line}; it has {lines}", path.display())]
    NoSuchLine {
        /// The log.
        path: PathBuf,
        /// The line.
        line: u64,
        /// Lines in the log.
        lines: u64,
    },
    /// A kept cursor does not name a frame of this log.
    #[error("cursor lost: {0}; read again from the start")]
    CursorLost(&'static str),
}

impl From<OpenError> for ReadError {
    fn from(error: OpenError) -> Self {
        Self::Open(Box::new(error))
    }
}

impl From<ReadError> for OpenError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Disk(error) => Self::Disk(error),
            ReadError::Open(error) => *error,
            other => Self::Read(Box::new(other)),
        }
    }
}
