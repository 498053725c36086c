//! The door to the operating system: everything the log asks of it, and nothing else.
//!
//! Three narrow traits. [`Directory`] names files, [`StoredFile`] moves bytes, where an error is a value,
//! and [`SharedPage`] is the little that several processes load and store without a call. The log knows
//! only these, so the same code runs on a real disk (`system`) and, in tests, on one in memory that
//! keeps a record of every operation and can die behind any of them (`memory`).
//!
//! Errors here are the system's own; `log/disk` says what was tried and on which path.

mod mapped_page;
mod system;

#[cfg(any(test, fuzzing))]
pub(crate) mod memory;

use std::fmt::Debug;
use std::io;
use std::time::Duration;

pub(crate) use system::SystemDirectory;

/// Where a file is: enough to notice that a name now means another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileIdentity {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    /// Nanoseconds since 1970; 0 where the file system does not tell.
    pub(crate) birth_ns: u64,
}

/// What kind of file system a directory is on, as far as the log cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileSystem {
    /// Keeps locks and mappings true for every process that reaches it.
    Local,
    /// The same, but a store into a mapped page may need new room, which on a full disk ends the process.
    CopiesOnWrite,
    /// Shared between machines that do not see each other's locks and mappings; its name.
    Network(&'static str),
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenMode {
    /// One that is there, for reading.
    Read,
    /// One that is there, for reading and writing.
    Write,
    /// For reading and writing; made, empty, if it is not there.
    WriteOrCreate,
    /// For reading and writing; must not be there.
    CreateNew,
}

/// What to do with a file's lock. A lock belongs to one opening of a file and dies with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LockStep {
    /// Take it alone, waiting for it.
    Exclusive,
    /// Take it alone if it is free.
    TryExclusive,
    /// Take it with others, waiting for it.
    Shared,
    /// Let it go.
    Unlock,
}

/// One directory: names, and the files they name.
pub(crate) trait Directory: Debug + Send + Sync {
    /// The names in it; those that are not UTF-8 are left out.
    fn names(&self) -> io::Result<Vec<String>>;

    /// Opens a regular file; a link is never followed, anything else is an error.
    fn open(&self, name: &str, mode: OpenMode) -> io::Result<Box<dyn StoredFile>>;

    /// Gives the file `from` the name `to`. With `replacing`, in the place of whatever has it; else one
    /// that is there is the error `AlreadyExists`.
    fn rename(&self, from: &str, to: &str, replacing: bool) -> io::Result<()>;

    /// Takes a name away.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Makes the names durable.
    fn sync(&self) -> io::Result<()>;

    /// Identity of the file that `name` names now, whatever it is.
    fn identity_of(&self, name: &str) -> io::Result<FileIdentity>;

    /// What it lies on.
    fn file_system(&self) -> io::Result<FileSystem>;

    /// Which start of the machine this is; none where the system does not tell.
    fn boot_id(&self) -> Option<[u8; 16]>;
}

/// One open file.
pub(crate) trait StoredFile: Debug + Send + Sync {
    /// How long it is now.
    fn len_bytes(&self) -> io::Result<u64>;

    /// Reads up to `buffer.len()` bytes; 0 at the end of the file.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Writes up to `bytes.len()` bytes.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize>;

    /// Makes its bytes and its length durable.
    fn sync(&self) -> io::Result<()>;

    /// Makes a file of `from` bytes one of `to`, zeros behind, with room on the disk for all of it.
    fn allocate(&self, from: u64, to: u64) -> io::Result<()>;

    /// Drops its clean pages from the system's cache, so that the next read asks the disk.
    fn forget_cached_pages(&self) -> io::Result<()>;

    /// Changes its lock. False: it was not free, and was not waited for.
    fn lock(&self, step: LockStep) -> io::Result<bool>;

    /// Its words, mapped as it is long now; `writable` must agree with how it was opened.
    fn map(&self, writable: bool) -> io::Result<Box<dyn SharedPage>>;
}

/// Words of 8 bytes that several processes load and store, each in one step. A word is counted from the
/// start of the file; one behind the end is none.
pub(crate) trait SharedPage: Debug + Send + Sync {
    /// Words that can be reached.
    fn len_words(&self) -> usize;

    /// Loads a word; everything its writer stored before it is visible afterwards.
    fn load(&self, word: usize) -> Option<u64>;

    /// Loads the words from `first` on into `words`; the same as loading each.
    fn load_run(&self, first: usize, words: &mut [u64]) -> Option<()> {
        for (word, value) in (first..).zip(words) {
            *value = self.load(word)?;
        }
        Some(())
    }

    /// Whether a word is `value`. All that a poll without news asks, so nothing but the answer comes back.
    fn holds(&self, word: usize, value: u64) -> bool {
        self.load(word) == Some(value)
    }

    /// Stores a word; whoever loads it sees everything stored before.
    fn store(&self, word: usize, value: u64) -> Option<()>;

    /// Wakes whoever sleeps on a word. False: there is no such thing here.
    fn wake(&self, word: usize) -> bool;

    /// Sleeps until a word is no longer `seen` and someone woke its sleepers, or `timeout` has passed; may
    /// also return early for no reason. False: there is no such thing here.
    fn sleep(&self, word: usize, seen: u64, timeout: Duration) -> bool;
}
