//! `log/LOCK` and `log/WRITERS`.
//!
//! LOCK is held for one batch, never for a run, so that a speaker can be named while a recorder records.
//! A lock belongs to an open file and dies with its process: no process numbers, no time-outs that force.
//! Waiting blocks in a thread of its own instead of trying and sleeping, so that waiters get their turn
//! in the order the system keeps; a lock that arrives after its caller has given up is let go unused.

use std::io;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::disk::{DiskError, LogDirectory, LogFile};
use crate::storage::{LockStep, OpenMode};

const LOCK_NAME: &str = "LOCK";
const WRITERS_NAME: &str = "WRITERS";

/// Locking failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// Somebody else kept the lock for too long.
    #[error("{} has been locked by another writer for {waited_ms} ms; try again", path.display())]
    Busy {
        /// The lock's file.
        path: std::path::PathBuf,
        /// How long it was waited for.
        waited_ms: u64,
    },
    /// The system could not lock.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// The lock under which batches are written.
#[derive(Debug)]
pub(crate) struct BatchLock {
    directory: LogDirectory,
    file: LogFile,
}

/// Holds the lock until dropped.
#[derive(Debug)]
pub(crate) enum BatchGuard<'lock> {
    /// Taken at once, on the lock's own open file.
    Own(&'lock LogFile),
    /// Taken by the waiting thread, on an open file of its own.
    Waited(LogFile),
}

impl Drop for BatchGuard<'_> {
    fn drop(&mut self) {
        let file = match self {
            Self::Own(file) => *file,
            Self::Waited(file) => &*file,
        };
        // Unlocked by name and not by closing: a child process may still hold a copy of the open file.
        // A failure has no one to go to; closing the file is what remains.
        let _ = file.lock(LockStep::Unlock);
    }
}

impl BatchLock {
    pub(crate) fn open(directory: &LogDirectory) -> Result<Self, DiskError> {
        Ok(Self {
            directory: directory.clone(),
            file: directory.open_file(LOCK_NAME, OpenMode::WriteOrCreate)?,
        })
    }

    /// Takes the lock, waiting for at most `timeout`.
    pub(crate) fn take(&self, timeout: Duration) -> Result<BatchGuard<'_>, LockError> {
        if self.file.lock(LockStep::TryExclusive)? {
            return Ok(BatchGuard::Own(&self.file));
        }
        self.wait(timeout)
    }

    fn wait(&self, timeout: Duration) -> Result<BatchGuard<'_>, LockError> {
        let file = self.directory.open_file(LOCK_NAME, OpenMode::WriteOrCreate)?;
        let (sender, receiver) = mpsc::channel();
        let waiter = thread::Builder::new().name("log lock".to_owned()).spawn(move || {
            let taken = file.lock(LockStep::Exclusive).map(|_| BatchGuard::Waited(file));
            // Nobody there any more: the guard comes back in the error and is dropped, which unlocks.
            drop(sender.send(taken));
        });
        waiter.map_err(|source| self.busy_thread(source))?;
        match receiver.recv_timeout(timeout) {
            Ok(taken) => Ok(taken?),
            Err(_) => Err(LockError::Busy {
                path: self.file.path().to_owned(),
                waited_ms: u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX),
            }),
        }
    }

    fn busy_thread(&self, source: io::Error) -> DiskError {
        DiskError { action: "start a thread to wait for", path: self.file.path().to_owned(), source }
    }
}

/// The lock that every open writer shares, so that the last one out knows to close the log.
#[derive(Debug)]
pub(crate) struct WritersLock(LogFile);

impl WritersLock {
    /// Joins the writers. Called under the batch lock, so that it cannot meet a closer.
    pub(crate) fn join(directory: &LogDirectory) -> Result<Self, DiskError> {
        let file = directory.open_file(WRITERS_NAME, OpenMode::WriteOrCreate)?;
        file.lock(LockStep::Shared)?;
        Ok(Self(file))
    }

    /// Whether no other writer is left. Called under the batch lock.
    pub(crate) fn is_last(&self) -> bool {
        self.0.lock(LockStep::TryExclusive).unwrap_or(false)
    }
}

impl Drop for WritersLock {
    fn drop(&mut self) {
        let _ = self.0.lock(LockStep::Unlock);
    }
}
