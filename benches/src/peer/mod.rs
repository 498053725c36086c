//! What is measured: one trait, and three ways to keep a conversation.
//!
//! Every peer gets the same events, gives back the same folded lines, and lies on the same disk. Where a
//! peer could be used in more than one way, the way that is fastest for it is taken. A store has one
//! writer and one reader that know nothing of each other but what is on disk or in shared memory.

mod ambient;
mod jsonl;
mod sqlite;

#[cfg(test)]
mod tests;

use std::path::Path;

use ambient_engine::{Event, FoldedLine};
use anyhow::Result;

pub(crate) use ambient::Ambient;
pub(crate) use jsonl::Jsonl;
pub(crate) use sqlite::{Sqlite, sqlite_version};

/// When the bytes of a batch are forced to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sync {
    /// Whenever the system likes.
    Os,
    /// Before the append returns.
    Each,
}

/// A store of one conversation, with its writer and its reader.
pub(crate) trait Peer: Sized {
    /// Makes an empty store in the empty directory `directory`.
    fn create(directory: &Path, sync: Sync) -> Result<Self>;

    /// Appends a batch: all of it or none.
    fn append(&mut self, events: &[Event]) -> Result<()>;

    /// Whether anything was appended since it was last asked. A peer may take any other reading for having
    /// asked.
    fn has_news(&mut self) -> Result<bool>;

    /// The lines appended since the last poll, folded.
    fn poll(&mut self) -> Result<Vec<FoldedLine>>;

    /// The last `count` lines, folded.
    fn last(&mut self, count: u64) -> Result<Vec<FoldedLine>>;

    /// Every line, folded.
    fn fold_all(&mut self) -> Result<Vec<FoldedLine>>;
}
