//! Files by handle, never by path.
//!
//! A directory is opened once; everything in it is then opened relative to that handle, one segment at a
//! time, without following links and without waiting. So a link planted inside a session leads nowhere,
//! a FIFO blocks nobody, and a directory that is moved or replaced meanwhile cannot make two opens of one
//! operation hit two places. What was opened is looked at afterwards: only regular files are read.

mod placing;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

pub use placing::Existing;

/// Permissions of a new directory: its owner's alone.
const DIRECTORY_MODE: Mode = Mode::RWXU;
/// Permissions of a new file: its owner's alone.
const FILE_MODE: Mode = Mode::RUSR.union(Mode::WUSR);
/// Flags of every open below a handle.
const GUARDED: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// Something in a directory could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DirectoryError {
    /// A link where a file or directory was expected; it is never followed.
    #[error("refusing symlink {}", .0.display())]
    Symlink(PathBuf),
    /// Something else that is not a regular file. It begins with the words clients already look for.
    #[error("refusing symlink {}: it is {found}, not a regular file", .path.display())]
    NotAFile {
        /// Where.
        path: PathBuf,
        /// What it is instead.
        found: &'static str,
    },
    /// Something else where a directory was expected.
    #[error("{} is {found}, not a directory", .path.display())]
    NotADirectory {
        /// Where.
        path: PathBuf,
        /// What it is instead.
        found: &'static str,
    },
    /// Longer than anything that belongs there.
    #[error("{} is {len_bytes} bytes long; more than {limit_bytes} are not read", .path.display())]
    TooLong {
        /// Where.
        path: PathBuf,
        /// How long it is.
        len_bytes: u64,
        /// How much is read at most.
        limit_bytes: u64,
    },
    /// The system refused.
    #[error("could not {action} {}: {source}", .path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// Where.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

impl DirectoryError {
    /// Whether the reason is that there is nothing at that place.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    /// Whether the reason is that something is there already.
    pub fn is_taken(&self) -> bool {
        matches!(self, Self::Io { source, .. }
            if matches!(source.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty))
    }
}

/// A directory held open, and the path it was opened under, which serves messages only.
#[derive(Debug)]
pub struct Directory {
    handle: OwnedFd,
    path: PathBuf,
}

impl AsFd for Directory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

impl Directory {
    /// Opens the directory at `path`. Links in `path` are followed: where the sessions live is its
    /// owner's choice. Nothing below it is reached through a link.
    ///
    /// # Errors
    /// There is no directory at `path`, or it cannot be opened.
    pub fn open(path: &Path) -> Result<Self, DirectoryError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match rustix::fs::open(path, flags, Mode::empty()) {
            Ok(handle) => Ok(Self { handle, path: path.to_owned() }),
            Err(errno) => Err(DirectoryError::io("open", path.to_owned(), errno)),
        }
    }

    /// Opens the directory at `path`, making it and what leads to it when it is missing.
    ///
    /// # Errors
    /// It can be neither opened nor made.
    pub fn open_or_create(path: &Path) -> Result<Self, DirectoryError> {
        use std::os::unix::fs::DirBuilderExt;
        match std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path) {
            Ok(()) => Self::open(path),
            Err(source) => Err(DirectoryError::Io { action: "create", path: path.to_owned(), source }),
        }
    }

    /// The path it was opened under.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn child_path(&self, name: &OsStr) -> PathBuf {
        self.path.join(name)
    }

    fn error(&self, action: &'static str, name: &OsStr, errno: Errno) -> DirectoryError {
        DirectoryError::io(action, self.child_path(name), errno)
    }

    /// What is at `name`, itself and not what it leads to; none when nothing is.
    fn stat(&self, name: &OsStr) -> Result<Option<Stat>, DirectoryError> {
        match rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(errno) => Err(self.error("look at", name, errno)),
        }
    }

    /// Whether anything is at `name`, a dangling link included.
    ///
    /// # Errors
    /// The directory cannot be searched.
    pub fn holds(&self, name: impl AsRef<OsStr>) -> Result<bool, DirectoryError> {
        Ok(self.stat(name.as_ref())?.is_some())
    }

    /// Whether `name` is a regular file, and no link to one.
    ///
    /// # Errors
    /// The directory cannot be searched.
    pub fn holds_file(&self, name: impl AsRef<OsStr>) -> Result<bool, DirectoryError> {
        Ok(self.stat(name.as_ref())?.is_some_and(|stat| file_type(&stat) == FileType::RegularFile))
    }

    /// Whether `name` is a directory, and no link to one.
    ///
    /// # Errors
    /// The directory cannot be searched.
    pub fn holds_directory(&self, name: impl AsRef<OsStr>) -> Result<bool, DirectoryError> {
        Ok(self.stat(name.as_ref())?.is_some_and(|stat| file_type(&stat) == FileType::Directory))
    }

    /// Refuses `name` unless it is missing or a regular file, without opening it.
    ///
    /// # Errors
    /// It is a link or something else.
    pub fn require_file(&self, name: impl AsRef<OsStr>) -> Result<(), DirectoryError> {
        match self.stat(name.as_ref())? {
            Some(stat) => self.refuse_unless_file(name.as_ref(), &stat),
            None => Ok(()),
        }
    }

    /// When the regular file `name` was last written; none when it is missing or something else.
    ///
    /// # Errors
    /// The directory cannot be searched.
    pub fn modified_at(&self, name: impl AsRef<OsStr>) -> Result<Option<SystemTime>, DirectoryError> {
        let stat = self.stat(name.as_ref())?;
        Ok(stat.filter(|stat| file_type(stat) == FileType::RegularFile).and_then(|stat| modified(&stat)))
    }

    /// How long the regular file `name` is; none when it is missing or something else.
    pub(crate) fn len_bytes_of(&self, name: impl AsRef<OsStr>) -> Result<Option<u64>, DirectoryError> {
        let stat = self.stat(name.as_ref())?;
        let file = stat.filter(|stat| file_type(stat) == FileType::RegularFile);
        Ok(file.and_then(|stat| u64::try_from(stat.st_size).ok()))
    }

    /// Which directory this is.
    pub(crate) fn identity(&self) -> Result<DirectoryIdentity, DirectoryError> {
        let stat = rustix::fs::fstat(&self.handle)
            .map_err(|errno| DirectoryError::io("look at", self.path.clone(), errno))?;
        Ok(DirectoryIdentity::of(&stat))
    }

    /// Which directory stands at `name`, and when a name in it last changed; none when none does.
    pub(crate) fn glimpse(
        &self,
        name: impl AsRef<OsStr>,
    ) -> Result<Option<(DirectoryIdentity, SystemTime)>, DirectoryError> {
        let stat = self.stat(name.as_ref())?.filter(|stat| file_type(stat) == FileType::Directory);
        Ok(stat.and_then(|stat| Some((DirectoryIdentity::of(&stat), modified(&stat)?))))
    }

    fn refuse_unless_file(&self, name: &OsStr, stat: &Stat) -> Result<(), DirectoryError> {
        let path = || self.child_path(name);
        match file_type(stat) {
            FileType::RegularFile => Ok(()),
            FileType::Symlink => Err(DirectoryError::Symlink(path())),
            other => Err(DirectoryError::NotAFile { path: path(), found: describe(other) }),
        }
    }

    /// An error of an open, told by what is in the way when that is the reason.
    fn open_error(&self, name: &OsStr, errno: Errno, wanted: FileType) -> DirectoryError {
        let found = self.stat(name).ok().flatten().map(|stat| file_type(&stat));
        match found {
            Some(FileType::Symlink) => DirectoryError::Symlink(self.child_path(name)),
            Some(other) if other != wanted && wanted == FileType::Directory => {
                DirectoryError::NotADirectory { path: self.child_path(name), found: describe(other) }
            }
            Some(other) if other != wanted => {
                DirectoryError::NotAFile { path: self.child_path(name), found: describe(other) }
            }
            _ => self.error("open", name, errno),
        }
    }

    /// Opens the directory `name` below this one; none when nothing is there.
    ///
    /// # Errors
    /// It is a link, something else, or cannot be opened.
    pub fn subdirectory(&self, name: impl AsRef<OsStr>) -> Result<Option<Self>, DirectoryError> {
        let name = name.as_ref();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | GUARDED;
        match rustix::fs::openat(&self.handle, name, flags, Mode::empty()) {
            Ok(handle) => Ok(Some(Self { handle, path: self.child_path(name) })),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(self.open_error(name, errno, FileType::Directory)),
        }
    }

    /// Makes the directory `name`, readable by its owner alone; fails when anything is there.
    ///
    /// # Errors
    /// Something is there already ([`DirectoryError::is_taken`]), or the system refuses.
    pub fn create_subdirectory(&self, name: impl AsRef<OsStr>) -> Result<Self, DirectoryError> {
        let name = name.as_ref();
        rustix::fs::mkdirat(&self.handle, name, DIRECTORY_MODE)
            .map_err(|errno| self.error("create", name, errno))?;
        self.subdirectory(name)?.ok_or_else(|| self.error("open", name, Errno::NOENT))
    }

    /// Opens the directory `name`, making it when it is missing.
    ///
    /// # Errors
    /// It is a link or something else, or the system refuses.
    pub fn open_or_create_subdirectory(&self, name: impl AsRef<OsStr>) -> Result<Self, DirectoryError> {
        let name = name.as_ref();
        match self.create_subdirectory(name) {
            Err(taken) if taken.is_taken() => {
                self.subdirectory(name)?.ok_or_else(|| self.error("open", name, Errno::NOENT))
            }
            made_or_refused => made_or_refused,
        }
    }

    /// Opens the regular file `name` with `flags`, creating it only if they say so; none when nothing is
    /// there. Never follows a link, never waits.
    ///
    /// # Errors
    /// It is a link or something else, or cannot be opened.
    pub(crate) fn open_file_with(
        &self,
        name: impl AsRef<OsStr>,
        flags: OFlags,
    ) -> Result<Option<File>, DirectoryError> {
        let name = name.as_ref();
        let handle = match rustix::fs::openat(&self.handle, name, flags | GUARDED, FILE_MODE) {
            Ok(handle) => handle,
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(self.open_error(name, errno, FileType::RegularFile)),
        };
        let stat = rustix::fs::fstat(&handle).map_err(|errno| self.error("look at", name, errno))?;
        self.refuse_unless_file(name, &stat)?;
        Ok(Some(File::from(handle)))
    }

    /// Opens the regular file `name` for reading; none when nothing is there.
    ///
    /// # Errors
    /// It is a link or something else, or cannot be opened.
    pub fn open_file(&self, name: impl AsRef<OsStr>) -> Result<Option<File>, DirectoryError> {
        self.open_file_with(name, OFlags::RDONLY)
    }

    /// Reads the whole regular file `name`; none when nothing is there.
    ///
    /// # Errors
    /// It is longer than `limit_bytes`, is a link or something else, or cannot be read.
    pub fn read(&self, name: impl AsRef<OsStr>, limit_bytes: u64) -> Result<Option<Vec<u8>>, DirectoryError> {
        let name = name.as_ref();
        let Some(file) = self.open_file(name)? else { return Ok(None) };
        let failed = |source| DirectoryError::Io { action: "read", path: self.child_path(name), source };
        let len_bytes = file.metadata().map_err(failed)?.len();
        let mut bytes = Vec::new();
        // One byte past the limit tells a file that grew meanwhile from one that just fits.
        let read = file.take(limit_bytes.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
        let len_bytes = len_bytes.max(read as u64);
        if len_bytes > limit_bytes {
            return Err(DirectoryError::TooLong { path: self.child_path(name), len_bytes, limit_bytes });
        }
        Ok(Some(bytes))
    }

    /// Removes the file `name`; nothing there is fine.
    ///
    /// # Errors
    /// It is a directory, or the system refuses.
    pub fn remove_file(&self, name: impl AsRef<OsStr>) -> Result<(), DirectoryError> {
        let name = name.as_ref();
        match rustix::fs::unlinkat(&self.handle, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(self.error("remove", name, errno)),
        }
    }

    /// Makes what happened to names in this directory survive a loss of power.
    ///
    /// # Errors
    /// The system could not write it.
    pub fn sync(&self) -> Result<(), DirectoryError> {
        rustix::fs::fsync(&self.handle).map_err(|errno| DirectoryError::io("sync", self.path.clone(), errno))
    }

    /// Renames `from` to `to`, both below this directory, and fails when anything but an empty directory
    /// is at `to`.
    ///
    /// # Errors
    /// Something is there already ([`DirectoryError::is_taken`]), or the system refuses.
    pub(crate) fn rename_new(&self, from: &OsStr, to: &OsStr) -> Result<(), DirectoryError> {
        self.take_from(self, from, to)
    }

    /// Moves the directory `from` below `giver` here under the name `to`; otherwise as
    /// [`rename_new`](Self::rename_new).
    pub(crate) fn take_from(&self, giver: &Self, from: &OsStr, to: &OsStr) -> Result<(), DirectoryError> {
        use rustix::fs::RenameFlags;
        let (giver, here) = (&giver.handle, &self.handle);
        let renamed = match rustix::fs::renameat_with(giver, from, here, to, RenameFlags::NOREPLACE) {
            // Not every file system knows the flag. Renaming onto a directory made for the purpose keeps
            // the promise: it succeeds only while that one is empty.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => rustix::fs::mkdirat(here, to, DIRECTORY_MODE)
                .and_then(|()| rustix::fs::renameat(giver, from, here, to)),
            outcome => outcome,
        };
        renamed.map_err(|errno| self.error("rename to", to, errno))?;
        self.sync()
    }

    /// Has the directories `first` and `second` change names in one step.
    pub(crate) fn exchange(&self, first: &OsStr, second: &OsStr) -> Result<(), DirectoryError> {
        use rustix::fs::RenameFlags;
        rustix::fs::renameat_with(&self.handle, first, &self.handle, second, RenameFlags::EXCHANGE)
            .map_err(|errno| self.error("replace", second, errno))?;
        self.sync()
    }

    /// The empty directory `name`, held for as long as what is returned lives; none when another process
    /// holds it. What a process that died left in it is deleted: nobody but its maker has any business in
    /// a directory that is not complete.
    ///
    /// # Errors
    /// It is a link or something else, or cannot be made, locked or emptied.
    pub(crate) fn hold_hidden(&self, name: &OsStr) -> Result<Option<Self>, DirectoryError> {
        match rustix::fs::mkdirat(&self.handle, name, DIRECTORY_MODE) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(self.error("create", name, errno)),
        }
        // Another maker may have held it first and finished it or given it back since.
        let Some(made) = self.subdirectory(name)? else { return Ok(None) };
        match rustix::fs::flock(&made.handle, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Ok(None),
            Err(errno) => return Err(self.error("lock", name, errno)),
        }
        // Its maker may have finished and renamed it between the open and the lock.
        let held =
            rustix::fs::fstat(&made.handle).map_err(|errno| made.error("look at", OsStr::new(""), errno))?;
        let named = self.stat(name)?;
        if named.is_none_or(|named| (named.st_dev, named.st_ino) != (held.st_dev, held.st_ino)) {
            return Ok(None);
        }
        made.empty()?;
        Ok(Some(made))
    }

    /// Deletes everything in this directory.
    fn empty(&self) -> Result<(), DirectoryError> {
        for name in self.names()? {
            self.delete(&name)?;
        }
        Ok(())
    }

    /// Deletes `name` with all there is in it, following no link.
    pub(crate) fn delete(&self, name: &OsStr) -> Result<(), DirectoryError> {
        match self.subdirectory(name) {
            Ok(None) => Ok(()),
            Ok(Some(below)) => {
                below.empty()?;
                self.remove_empty_subdirectory(name)
            }
            Err(DirectoryError::Symlink(_) | DirectoryError::NotADirectory { .. }) => {
                rustix::fs::unlinkat(&self.handle, name, AtFlags::empty())
                    .map_err(|errno| self.error("delete", name, errno))
            }
            Err(error) => Err(error),
        }
    }

    /// Removes the directory `name` if it is empty.
    pub(crate) fn remove_empty_subdirectory(&self, name: &OsStr) -> Result<(), DirectoryError> {
        rustix::fs::unlinkat(&self.handle, name, AtFlags::REMOVEDIR)
            .map_err(|errno| self.error("remove", name, errno))
    }

    /// The names of everything in this directory, in no order.
    ///
    /// # Errors
    /// It cannot be listed.
    pub fn names(&self) -> Result<Vec<OsString>, DirectoryError> {
        let failed = |errno| DirectoryError::io("list", self.path.clone(), errno);
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.handle).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name().to_bytes().to_vec();
            if name != b"." && name != b".." {
                names.push(OsString::from_vec(name));
            }
        }
        Ok(names)
    }
}

impl DirectoryError {
    fn io(action: &'static str, path: PathBuf, errno: Errno) -> Self {
        Self::Io { action, path, source: errno.into() }
    }
}

/// Tells one directory from any other that exists at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DirectoryIdentity {
    device: u64,
    inode: u64,
}

impl DirectoryIdentity {
    fn of(stat: &Stat) -> Self {
        // Their widths differ between systems, and only their equality counts.
        #[allow(clippy::unnecessary_cast, clippy::cast_sign_loss, clippy::useless_conversion)]
        Self { device: stat.st_dev as u64, inode: stat.st_ino as u64 }
    }
}

fn file_type(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

fn modified(stat: &Stat) -> Option<SystemTime> {
    // The fields' widths and signs differ between systems.
    let seconds = u64::try_from(stat.st_mtime).ok()?;
    let nanoseconds = u32::try_from(stat.st_mtime_nsec).ok()?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanoseconds))
}

fn describe(found: FileType) -> &'static str {
    match found {
        FileType::RegularFile => "a regular file",
        FileType::Directory => "a directory",
        FileType::Symlink => "a symlink",
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Unknown => "something unknown",
    }
}
