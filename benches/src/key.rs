//! What is measured, by name: an operation on a workload, and who does it.

use std::fmt;

use crate::peer::Sync;
use crate::workload::Workload;

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Reading a conversation.
    Read(Reading),
    /// Appending a batch of events.
    Append { sync: Sync, batch: usize },
    /// Appending a batch of ten while this many readers poll.
    AppendWatched { readers: usize },
    /// From the beginning of an append until another process has read the line.
    Seen,
    /// Opening a conversation in a new process.
    Open(Opening),
}

/// What of a conversation is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Whether there is news, when there is none.
    NoNews,
    /// The one line that is new, folded.
    OneNewLine,
    /// The last 100 lines, folded, again.
    Last100,
    /// The last 100 lines, folded, right after one was appended.
    Last100AfterNews,
    /// A hundred lines from all over, folded.
    Random100,
    /// The line that all edits are about, folded.
    HotLine,
    /// One new line, and an older one that reads differently now.
    Changes,
    /// Every line as it was heard.
    Verbatim,
    /// Every line, folded.
    FullFold,
}

impl Reading {
    /// In the order in which they are measured and shown.
    pub(crate) const ALL: [Self; 9] = [
        Self::NoNews,
        Self::OneNewLine,
        Self::Last100,
        Self::Last100AfterNews,
        Self::Random100,
        Self::HotLine,
        Self::Changes,
        Self::Verbatim,
        Self::FullFold,
    ];

    /// Whether it can be done any number of times in a row: it needs no new line each time.
    pub(crate) const fn is_repeatable(self) -> bool {
        !matches!(self, Self::OneNewLine | Self::Last100AfterNews | Self::Changes)
    }
}

/// What a log is opened after, and for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// It was closed: for reading.
    Closed,
    /// It was closed before the machine was started: for reading.
    ClosedOnOtherBoot,
    /// Its writer was killed: for appending.
    Killed,
    /// Its writer was killed within a batch: for appending.
    KilledWithinBatch,
    /// The machine went down: for appending.
    PowerLoss,
}

impl Opening {
    pub(crate) const ALL: [Self; 5] =
        [Self::Closed, Self::ClosedOnOtherBoot, Self::Killed, Self::KilledWithinBatch, Self::PowerLoss];
}

impl fmt::Display for Operation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(reading) => formatter.write_str(match reading {
                Reading::NoNews => "no-news poll",
                Reading::OneNewLine => "one-new-line poll, folded",
                Reading::Last100 => "last 100 lines, folded",
                Reading::Last100AfterNews => "last 100 lines after news, folded",
                Reading::Random100 => "random 100 lines, folded",
                Reading::HotLine => "the one line that all edits are about, folded",
                Reading::Changes => "changes: a new line and an older one",
                Reading::Verbatim => "full verbatim scan",
                Reading::FullFold => "full fold",
            }),
            Self::Append { sync, batch } => write!(formatter, "append {sync}, batch {batch}"),
            Self::AppendWatched { readers } => {
                write!(formatter, "append os, batch 10, {readers} polling readers")
            }
            Self::Seen => formatter.write_str("append, until read by another process"),
            Self::Open(opening) => formatter.write_str(match opening {
                Opening::Closed => "open to read, in a new process, after a clean close",
                Opening::ClosedOnOtherBoot => "open to read, after a clean close and a restart",
                Opening::Killed => "open to append, after kill -9",
                Opening::KilledWithinBatch => "open to append, after kill -9 within a batch",
                Opening::PowerLoss => "open to append, after power loss",
            }),
        }
    }
}

/// Who does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// The engine.
    Ambient,
    /// The engine's other way to ask for news: a snapshot.
    AmbientSnapshot,
    /// The engine, lending lines instead of handing them out.
    AmbientLent,
    /// The engine's reader asleep in `wait` until it is woken.
    AmbientWaiting,
    /// SQLite with a write-ahead log.
    Sqlite,
    /// LMDB.
    Lmdb,
    /// LMDB's other way to ask for news: its environment's last transaction.
    LmdbLastTransaction,
    /// redb, within one process.
    Redb,
    /// fjall, within one process.
    Fjall,
    /// JSONL read and folded anew each time.
    Jsonl,
    /// JSONL parsed anew each time and not folded.
    JsonlParsed,
    /// JSONL read from where the last reading ended.
    JsonlCursor,
    /// The least that the machine asks for the same bytes.
    Floor(Floor),
}

/// What the machine itself asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Floor {
    AtomicLoad,
    /// Reading the clock twice, which is in every operation that is timed alone.
    Clock,
    /// Reading as many bytes as the log holds for the answer, again and again.
    Pread,
    /// Reading the bytes of one line right after they were appended, timed alone as a poll is.
    PreadAfterAppend,
    /// Copying as many bytes within memory.
    Copy,
    /// The checksum of as many bytes.
    Crc,
    /// Writing as many bytes as the log writes.
    Pwrite,
}

impl Subject {
    /// The name under which this is shown at `operation`.
    pub(crate) fn name_at(self, operation: Operation) -> String {
        let is_no_news = operation == Operation::Read(Reading::NoNews);
        let name = match self {
            Self::Ambient if is_no_news => "ambient, has_news",
            Self::Ambient => "ambient",
            Self::AmbientSnapshot => "ambient, snapshot",
            Self::AmbientLent => "ambient, lent",
            Self::AmbientWaiting => "ambient, asleep in wait",
            Self::Sqlite if is_no_news => "SQLite WAL, data_version",
            Self::Sqlite => "SQLite WAL",
            Self::Lmdb if is_no_news => "LMDB, read transaction",
            Self::Lmdb => "LMDB",
            Self::LmdbLastTransaction => "LMDB, last_txn_id",
            Self::Redb => "in one process: redb",
            Self::Fjall => "in one process: fjall",
            Self::Jsonl if matches!(operation, Operation::Append { .. }) => "JSONL",
            Self::Jsonl => "JSONL, read and folded again",
            Self::JsonlParsed => "JSONL, parsed and not folded",
            Self::JsonlCursor => "JSONL with a byte cursor",
            Self::Floor(Floor::AtomicLoad) => "floor: atomic load",
            Self::Floor(Floor::Clock) => "floor: the clock itself",
            Self::Floor(Floor::Pread) => "floor: pread of the bytes",
            Self::Floor(Floor::PreadAfterAppend) => "floor: one pread after the append",
            Self::Floor(Floor::Copy) => "floor: memcpy of the bytes",
            Self::Floor(Floor::Crc) => "floor: crc of the bytes",
            Self::Floor(Floor::Pwrite) => "floor: pwrite of the bytes",
        };
        match operation {
            Operation::Append { sync, .. } => format!("{name}{}", self.syncing(sync)),
            _ => name.to_owned(),
        }
    }

    /// How this syncs where it appends, when it is not the engine, whose word for it is the operation's.
    fn syncing(self, sync: Sync) -> &'static str {
        match (self, sync) {
            (Self::Sqlite, Sync::Os) => ", synchronous=OFF",
            (Self::Sqlite, Sync::Interval) => ", synchronous=NORMAL",
            (Self::Sqlite, Sync::Each) => ", synchronous=FULL",
            (Self::Lmdb, Sync::Os) => ", NOSYNC",
            (Self::Lmdb, Sync::Interval) => ", NOSYNC and a sync every 100 ms",
            (Self::Jsonl | Self::Floor(_), Sync::Interval) => " + fdatasync every 100 ms",
            (Self::Jsonl | Self::Floor(_), Sync::Each) => " + fdatasync",
            _ => "",
        }
    }
}

/// Names one case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) operation: Operation,
    /// What is in the store at the start; none where it does not matter.
    pub(crate) workload: Option<Workload>,
    pub(crate) subject: Subject,
}

impl fmt::Display for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.operation)?;
        if let Some(workload) = self.workload {
            write!(formatter, " ({workload})")?;
        }
        write!(formatter, ": {}", self.subject.name_at(self.operation))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_peer_is_called_by_what_it_does() {
        let named = |subject: Subject, operation| subject.name_at(operation);
        let poll = Operation::Read(Reading::NoNews);
        assert_eq!(named(Subject::Sqlite, poll), "SQLite WAL, data_version");
        assert_eq!(named(Subject::Sqlite, Operation::Read(Reading::FullFold)), "SQLite WAL");
        let each = Operation::Append { sync: Sync::Each, batch: 1 };
        assert_eq!(named(Subject::Sqlite, each), "SQLite WAL, synchronous=FULL");
        assert_eq!(named(Subject::Floor(Floor::Pwrite), each), "floor: pwrite of the bytes + fdatasync");
    }
}
