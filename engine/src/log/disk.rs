//! The log's files: what [`storage`](crate::storage) does, with errors that say what was tried and where.
//!
//! Data moves by read and write, where an error is a value (case M of `docs/design/RECOVERY.md`). A read or write that the system cuts short or
//! interrupts goes on here, and nowhere else.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{CWD, Mode, OFlags};

use crate::planted::{Defect, is_planted};
use crate::storage::{
    Directory, FileIdentity, FileSystem, LockStep, OpenMode, SharedPage, StoredFile, SystemDirectory,
};

/// A call to the file system that failed.
#[derive(Debug, thiserror::Error)]
#[error("could not {action} {}: {source}", path.display())]
pub struct DiskError {
    /// What was tried.
    pub action: &'static str,
    /// On which file or directory.
    pub path: PathBuf,
    /// What the system said.
    #[source]
    pub source: io::Error,
}

impl DiskError {
    /// Whether there is no such file.
    pub fn is_missing(&self) -> bool {
        self.source.kind() == io::ErrorKind::NotFound
    }

    /// Whether the disk, the quota or the largest file size is exhausted.
    pub fn is_full(&self) -> bool {
        matches!(
            self.source.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
        )
    }
}

/// A session's `log/` directory.
#[derive(Clone, Debug)]
pub struct LogDirectory {
    storage: Arc<dyn Directory>,
    path: PathBuf,
}

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

impl LogDirectory {
    /// Name of the directory within a session.
    pub const NAME: &str = "log";

    /// Opens the log directory of the session directory at `session`.
    ///
    /// # Errors
    /// There is none, it is a link, or it cannot be opened.
    pub fn open(session: &Path) -> Result<Self, DiskError> {
        Self::open_at(&open_session(session)?, session)
    }

    /// Opens the log directory below a session directory that is already open; `session` is its path, for
    /// messages.
    ///
    /// # Errors
    /// There is none, it is a link, or it cannot be opened.
    pub fn open_at(handle: impl AsFd, session: &Path) -> Result<Self, DiskError> {
        let path = session.join(Self::NAME);
        let handle = rustix::fs::openat(handle, Self::NAME, DIRECTORY, Mode::empty())
            .map_err(|errno| failed("open", &path, errno.into()))?;
        Ok(Self { storage: Arc::new(SystemDirectory::new(handle)), path })
    }

    /// Makes the log directory of the session directory at `session`, which must not have one yet, and
    /// opens it.
    ///
    /// # Errors
    /// There is one already, or it cannot be made.
    pub fn create(session: &Path) -> Result<Self, DiskError> {
        Self::create_at(&open_session(session)?, session)
    }

    /// Makes the log directory below a session directory that is already open; `session` is its path, for
    /// messages.
    ///
    /// # Errors
    /// There is one already, or it cannot be made.
    pub fn create_at(handle: impl AsFd, session: &Path) -> Result<Self, DiskError> {
        let path = session.join(Self::NAME);
        rustix::fs::mkdirat(&handle, Self::NAME, Mode::RWXU)
            .map_err(|errno| failed("make", &path, errno.into()))?;
        rustix::fs::fsync(&handle).map_err(|errno| failed("sync", session, errno.into()))?;
        Self::open_at(handle, session)
    }

    /// A directory that is not on a real disk.
    #[cfg(any(test, fuzzing))]
    pub(crate) fn stored_in(storage: Arc<dyn Directory>) -> Self {
        Self { storage, path: PathBuf::from("memory/log") }
    }

    /// Path of the directory, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The names in the directory.
    pub(crate) fn names(&self) -> Result<Vec<String>, DiskError> {
        self.storage.names().map_err(|source| failed("list", &self.path, source))
    }

    /// Whether `name` exists, whatever it is.
    pub(crate) fn exists(&self, name: &str) -> Result<bool, DiskError> {
        match self.identity_of(name) {
            Ok(_) => Ok(true),
            Err(error) if error.is_missing() => Ok(false),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn open_file(&self, name: &str, mode: OpenMode) -> Result<LogFile, DiskError> {
        let path = self.path.join(name);
        match self.storage.open(name, mode) {
            Ok(file) => Ok(LogFile { file, path }),
            Err(source) => Err(failed("open", &path, source)),
        }
    }

    /// Gives `from` the name `to`, which must not exist, and makes that durable. False: `to` exists.
    pub(crate) fn rename_without_replacing(&self, from: &str, to: &str) -> Result<bool, DiskError> {
        match self.storage.rename(from, to, false) {
            Ok(()) if is_planted(Defect::NoDirectorySync) => Ok(true),
            Ok(()) => self.sync().map(|()| true),
            Err(source) if source.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(source) => Err(failed("rename a new file to", &self.path.join(to), source)),
        }
    }

    /// Gives `from` the name `to`, in the place of whatever has it, and makes that durable.
    pub(crate) fn rename_replacing(&self, from: &str, to: &str) -> Result<(), DiskError> {
        self.storage
            .rename(from, to, true)
            .map_err(|source| failed("rename a new file to", &self.path.join(to), source))?;
        self.sync()
    }

    /// Removes a temporary file; one that is not there is fine.
    pub(crate) fn remove(&self, name: &str) -> Result<(), DiskError> {
        match self.storage.remove(name) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(failed("remove", &self.path.join(name), source))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn sync(&self) -> Result<(), DiskError> {
        self.storage.sync().map_err(|source| failed("sync", &self.path, source))
    }

    /// Identity of the file that `name` names now.
    pub(crate) fn identity_of(&self, name: &str) -> Result<FileIdentity, DiskError> {
        self.storage.identity_of(name).map_err(|source| failed("look at", &self.path.join(name), source))
    }

    /// Which start of the machine this is; none where the system does not tell, and then no head fits.
    pub(crate) fn boot_id(&self) -> Option<[u8; 16]> {
        self.storage.boot_id()
    }

    fn file_system(&self) -> Result<FileSystem, DiskError> {
        self.storage.file_system().map_err(|source| failed("look at the file system of", &self.path, source))
    }

    /// Refuses file systems on which locks or mappings are not shared between machines.
    pub(crate) fn refuse_network_file_system(&self) -> Result<(), DiskError> {
        let FileSystem::Network(kind) = self.file_system()? else { return Ok(()) };
        let why = format!("{kind} does not keep locks and mappings true between machines; use a local disk");
        Err(failed("write a log in", &self.path, io::Error::new(io::ErrorKind::Unsupported, why)))
    }

    /// Whether storing into a mapped page may need new room, which on a full disk ends the process.
    pub(crate) fn copies_on_write(&self) -> Result<bool, DiskError> {
        Ok(self.file_system()? == FileSystem::CopiesOnWrite)
    }
}

fn open_session(session: &Path) -> Result<OwnedFd, DiskError> {
    rustix::fs::openat(CWD, session, DIRECTORY, Mode::empty())
        .map_err(|errno| failed("open", session, errno.into()))
}

fn failed(action: &'static str, path: &Path, source: io::Error) -> DiskError {
    DiskError { action, path: path.to_owned(), source }
}

/// An open file of the log.
#[derive(Debug)]
pub(crate) struct LogFile {
    file: Box<dyn StoredFile>,
    path: PathBuf,
}

impl LogFile {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn len_bytes(&self) -> Result<u64, DiskError> {
        self.file.len_bytes().map_err(|source| failed("look at", &self.path, source))
    }

    /// Reads up to `buffer.len()` bytes; fewer only at the end of the file.
    pub(crate) fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize, DiskError> {
        if offset.saturating_add(buffer.len() as u64) > i64::MAX as u64 {
            // No file reaches there; the system would call it a wrong argument.
            return Ok(0);
        }
        let mut filled = 0;
        while filled < buffer.len() {
            match self.file.read_at(&mut buffer[filled..], offset + filled as u64) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(source) if source.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(failed("read", &self.path, source)),
            }
        }
        Ok(filled)
    }

    pub(crate) fn write_all_at(&self, bytes: &[u8], offset: u64) -> Result<(), DiskError> {
        let mut written = 0;
        while written < bytes.len() {
            match self.file.write_at(&bytes[written..], offset + written as u64) {
                Ok(0) => return Err(failed("write", &self.path, io::ErrorKind::WriteZero.into())),
                Ok(count) => written += count,
                Err(source) if source.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(failed("write", &self.path, source)),
            }
        }
        Ok(())
    }

    /// Makes the bytes durable.
    pub(crate) fn sync(&self) -> Result<(), DiskError> {
        self.file.sync().map_err(|source| failed("sync", &self.path, source))
    }

    /// Makes the file at least `len_bytes` long with room on the disk for all of it.
    pub(crate) fn grow(&self, len_bytes: u64) -> Result<(), DiskError> {
        let have = self.len_bytes()?;
        if have >= len_bytes {
            return Ok(());
        }
        self.file.allocate(have, len_bytes).map_err(|source| failed("make room in", &self.path, source))
    }

    /// Drops the file's pages from the system's cache, so that the next read comes from the disk: after a
    /// failed sync the cache may hold bytes that the disk does not.
    pub(crate) fn forget_cached_pages(&self) -> Result<(), DiskError> {
        self.file
            .forget_cached_pages()
            .map_err(|source| failed("drop the cached pages of", &self.path, source))
    }

    /// Changes the file's lock. False: it was not free, and was not waited for.
    pub(crate) fn lock(&self, step: LockStep) -> Result<bool, DiskError> {
        self.file.lock(step).map_err(|source| failed("lock", &self.path, source))
    }

    pub(crate) fn map(&self, writable: bool) -> Result<Box<dyn SharedPage>, DiskError> {
        self.file.map(writable).map_err(|source| failed("map", &self.path, source))
    }
}
