//! Who is at work on a session, told by locks that end with their process.
//!
//! A recorder holds `recording.lock` for as long as it lives, whoever turns audio into lines holds
//! `transcribing.lock`. The kernel releases both when a process dies, however it dies, so neither a
//! process number that is used again nor a time stamp can lie. The files are never removed: a lock on a
//! removed file protects nothing.

use std::fs::File;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, OFlags};
use rustix::io::Errno;

use super::{DirectoryError, SessionDirectory};

/// How long a taker tries: a probe of another process holds the lock for microseconds.
const HOLD_TIMEOUT: Duration = Duration::from_secs(1);
/// Between two tries.
const HOLD_PAUSE: Duration = Duration::from_millis(10);

/// What a lock says its holder is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Recording the session.
    Recording,
    /// Turning its audio into lines.
    Transcribing,
}

impl Work {
    const fn file_name(self) -> &'static str {
        match self {
            Self::Recording => "recording.lock",
            Self::Transcribing => "transcribing.lock",
        }
    }

    const fn as_participle(self) -> &'static str {
        match self {
            Self::Recording => "recorded",
            Self::Transcribing => "transcribed",
        }
    }
}

/// A lock could not be taken or looked at.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkLockError {
    /// Another process holds it.
    #[error("{id} is being {} by another process; wait for it or stop it first", .work.as_participle())]
    Busy {
        /// The session.
        id: String,
        /// What the other process is doing.
        work: Work,
    },
    /// The lock file cannot be used.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
}

/// A lock held until this is dropped or the process ends.
#[derive(Debug)]
pub struct WorkLock {
    _file: File,
}

impl WorkLock {
    /// Takes the lock of `work` on `session`, trying for one second.
    ///
    /// # Errors
    /// Another process holds it, or the lock file cannot be made.
    pub fn hold(session: &SessionDirectory, work: Work) -> Result<Self, WorkLockError> {
        let directory = session.directory();
        let flags = OFlags::RDWR | OFlags::CREATE;
        let busy = || WorkLockError::Busy { id: session.id().to_string(), work };
        let Some(file) = directory.open_file_with(work.file_name(), flags)? else { return Err(busy()) };
        let started = Instant::now();
        loop {
            match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Self { _file: file }),
                Err(Errno::WOULDBLOCK | Errno::INTR) if started.elapsed() < HOLD_TIMEOUT => {
                    thread::sleep(HOLD_PAUSE);
                }
                Err(Errno::WOULDBLOCK | Errno::INTR) => return Err(busy()),
                Err(errno) => return Err(lock_failed(session, work, errno)),
            }
        }
    }

    /// Whether some process holds the lock of `work` on `session`. Takes nothing away from it: a shared
    /// lock on a read-only handle, released at once.
    ///
    /// # Errors
    /// The lock file is a link or something else, or cannot be read.
    pub fn is_held(session: &SessionDirectory, work: Work) -> Result<bool, WorkLockError> {
        let Some(file) = session.directory().open_file(work.file_name())? else { return Ok(false) };
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared) {
            Ok(()) => Ok(false),
            Err(Errno::WOULDBLOCK) => Ok(true),
            Err(errno) => Err(lock_failed(session, work, errno)),
        }
    }
}

fn lock_failed(session: &SessionDirectory, work: Work, errno: Errno) -> WorkLockError {
    WorkLockError::Directory(DirectoryError::Io {
        action: "lock",
        path: session.directory().path().join(work.file_name()),
        source: errno.into(),
    })
}
