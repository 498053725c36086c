//! What is measured: three traits, and the ways to keep a conversation.
//!
//! Every peer gets the same events, gives back the same folded lines, and lies on the same disk. Where a
//! peer could be used in more than one way, the way that is fastest for it is taken. A writer and a reader
//! know nothing of each other but what is on disk or in shared memory; of the peers that one process keeps
//! to itself, both halves use one handle.

mod ambient;
mod fjall;
mod jsonl;
mod keyed;
mod lmdb;
mod redb;
mod sqlite;

#[cfg(test)]
mod tests;

use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use ambient_engine::{Event, FoldedLine, Line};
use anyhow::{Result, bail};

use crate::key::{Reading, Subject};

pub(crate) use self::ambient::{Ambient, options};
pub(crate) use self::fjall::Fjall;
pub(crate) use self::jsonl::{Jsonl, JsonlCursor};
pub(crate) use self::lmdb::Lmdb;
pub(crate) use self::redb::Redb;
pub(crate) use self::sqlite::{Sqlite, sqlite_version};

/// The time after which [`Sync::Interval`] forces bytes to the disk.
pub(crate) const INTERVAL: Duration = Duration::from_millis(100);

/// When the bytes of a batch are forced to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sync {
    /// Whenever the system likes.
    Os,
    /// By the append that finds [`INTERVAL`] elapsed.
    Interval,
    /// Before the append returns.
    Each,
}

impl fmt::Display for Sync {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Os => "os",
            Self::Interval => "interval",
            Self::Each => "each",
        })
    }
}

/// Tells the appends of a store without a clock of its own when to sync.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    sync: Sync,
    last_sync: Instant,
}

impl Pace {
    pub(crate) fn new(sync: Sync) -> Self {
        Self { sync, last_sync: Instant::now() }
    }

    /// Whether the append at hand is to sync.
    pub(crate) fn is_due(&mut self) -> bool {
        match self.sync {
            Sync::Os => false,
            Sync::Each => true,
            Sync::Interval => {
                let is_due = self.last_sync.elapsed() >= INTERVAL;
                if is_due {
                    self.last_sync = Instant::now();
                }
                is_due
            }
        }
    }
}

/// Lines that are new, and older ones that read differently; both folded, in the order of their numbers.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Changed {
    pub(crate) new: Vec<FoldedLine>,
    pub(crate) older: Vec<FoldedLine>,
}

/// The half of a store that appends.
pub(crate) trait Appends {
    /// Appends a batch: all of it or none.
    fn append(&mut self, events: &[Event]) -> Result<()>;

    /// Makes what [`Reads::changes`] needs where that is not there anyway.
    fn index_changes(&mut self) -> Result<()> {
        Ok(())
    }
}

/// The half of a store that reads.
pub(crate) trait Reads {
    /// Whether anything was appended since it was last asked. A peer may take any other reading for having
    /// asked.
    fn has_news(&mut self) -> Result<bool>;

    /// Does `reading` in the peer's second way (see [`Peer::SECOND_WAYS`]), and gives what was seen in a
    /// number: texts' lengths in bytes, or a count. What news is, reading alone makes old then.
    fn otherwise(&mut self, reading: Reading) -> Result<u64> {
        bail!("this peer has one way to do this: {reading:?}")
    }

    /// The lines appended since the last poll, folded.
    fn poll(&mut self) -> Result<Vec<FoldedLine>>;

    /// The last `count` lines, folded.
    fn last(&mut self, count: u64) -> Result<Vec<FoldedLine>>;

    /// The lines with these numbers, folded.
    fn at(&mut self, numbers: &[u64]) -> Result<Vec<FoldedLine>>;

    /// Every line as it was heard.
    fn verbatim(&mut self) -> Result<Vec<Line>>;

    /// Every line, folded.
    fn fold_all(&mut self) -> Result<Vec<FoldedLine>>;

    /// What changed since it was last asked; at first, since the store was opened.
    fn changes(&mut self) -> Result<Changed> {
        bail!("this peer cannot tell which older lines changed")
    }
}

/// A way to keep one conversation.
pub(crate) trait Peer {
    type Writer: Appends;
    type Reader: Reads;

    /// Whether [`Reads::changes`] answers.
    const TELLS_CHANGES: bool;

    /// What [`Reads::otherwise`] does, and as whom it is shown.
    const SECOND_WAYS: &'static [(Reading, Subject)] = &[];

    /// Makes an empty store in the empty directory `directory`.
    fn create(directory: &Path, sync: Sync) -> Result<(Self::Writer, Self::Reader)>;
}

/// A way to keep a conversation that another process can follow.
pub(crate) trait Shared: Peer {
    /// Opens the store in `directory`, which somebody else writes, for reading.
    fn follow(directory: &Path) -> Result<Self::Reader>;
}
