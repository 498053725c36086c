//! The log's door to the file system.
//!
//! Every open is relative to the log's directory handle and follows no link; what was opened is checked
//! to be a regular file afterwards, so nothing can be swapped in between. Data moves by read and write,
//! where an error is a value.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RenameFlags};

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

/// Where a file is: enough to notice that a path now names another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileIdentity {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    /// Nanoseconds since 1970; 0 where the file system does not tell.
    pub(crate) birth_ns: u64,
}

/// A session's `log/` directory.
#[derive(Debug)]
pub struct LogDirectory {
    handle: OwnedFd,
    path: PathBuf,
}

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const NEVER_FOLLOW: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);
const PRIVATE_FILE: Mode = Mode::RUSR.union(Mode::WUSR);

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
            .map_err(|errno| failed("open", &path, errno))?;
        Ok(Self { handle, path })
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
        rustix::fs::mkdirat(&handle, Self::NAME, Mode::RWXU).map_err(|errno| failed("make", &path, errno))?;
        rustix::fs::fsync(&handle).map_err(|errno| failed("sync", session, errno))?;
        Self::open_at(handle, session)
    }

    /// Path of the directory, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn duplicate(&self) -> Result<Self, DiskError> {
        let handle = self.handle.try_clone().map_err(|source| DiskError {
            action: "open again",
            path: self.path.clone(),
            source,
        })?;
        Ok(Self { handle, path: self.path.clone() })
    }

    /// The names in the directory.
    pub(crate) fn names(&self) -> Result<Vec<String>, DiskError> {
        let listed = || -> rustix::io::Result<Vec<String>> {
            let mut names = Vec::new();
            for entry in rustix::fs::Dir::read_from(&self.handle)? {
                if let Ok(name) = entry?.file_name().to_str() {
                    names.push(name.to_owned());
                }
            }
            Ok(names)
        };
        listed().map_err(|errno| failed("list", &self.path, errno))
    }

    /// Whether `name` exists, whatever it is.
    pub(crate) fn exists(&self, name: &str) -> Result<bool, DiskError> {
        match rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) => Ok(true),
            Err(rustix::io::Errno::NOENT) => Ok(false),
            Err(errno) => Err(failed("look at", &self.path.join(name), errno)),
        }
    }

    pub(crate) fn open_for_reading(&self, name: &str) -> Result<LogFile, DiskError> {
        self.open_file(name, OFlags::RDONLY)
    }

    pub(crate) fn open_for_writing(&self, name: &str) -> Result<LogFile, DiskError> {
        self.open_file(name, OFlags::RDWR)
    }

    /// Opens `name` for writing and makes it, empty, if it is not there.
    pub(crate) fn open_or_create(&self, name: &str) -> Result<LogFile, DiskError> {
        self.open_file(name, OFlags::RDWR | OFlags::CREATE)
    }

    /// Makes `name`, which must not exist.
    pub(crate) fn create_new(&self, name: &str) -> Result<LogFile, DiskError> {
        self.open_file(name, OFlags::RDWR | OFlags::CREATE | OFlags::EXCL)
    }

    fn open_file(&self, name: &str, flags: OFlags) -> Result<LogFile, DiskError> {
        let path = self.path.join(name);
        let handle = rustix::fs::openat(&self.handle, name, flags | NEVER_FOLLOW, PRIVATE_FILE)
            .map_err(|errno| failed("open", &path, errno))?;
        let stat = rustix::fs::fstat(&handle).map_err(|errno| failed("look at", &path, errno))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            let source = io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file");
            return Err(DiskError { action: "open", path, source });
        }
        Ok(LogFile { file: File::from(handle), path })
    }

    /// Gives `from` the name `to`, which must not exist, and makes that durable. False: `to` exists.
    pub(crate) fn rename_without_replacing(&self, from: &str, to: &str) -> Result<bool, DiskError> {
        match rustix::fs::renameat_with(&self.handle, from, &self.handle, to, RenameFlags::NOREPLACE) {
            Ok(()) => self.sync().map(|()| true),
            Err(rustix::io::Errno::EXIST) => Ok(false),
            Err(errno) => Err(failed("rename a new file to", &self.path.join(to), errno)),
        }
    }

    /// Gives `from` the name `to`, in the place of whatever has it, and makes that durable.
    pub(crate) fn rename_replacing(&self, from: &str, to: &str) -> Result<(), DiskError> {
        rustix::fs::renameat(&self.handle, from, &self.handle, to)
            .map_err(|errno| failed("rename a new file to", &self.path.join(to), errno))?;
        self.sync()
    }

    /// Removes a temporary file; one that is not there is fine.
    pub(crate) fn remove(&self, name: &str) -> Result<(), DiskError> {
        match rustix::fs::unlinkat(&self.handle, name, AtFlags::empty()) {
            Ok(()) | Err(rustix::io::Errno::NOENT) => Ok(()),
            Err(errno) => Err(failed("remove", &self.path.join(name), errno)),
        }
    }

    pub(crate) fn sync(&self) -> Result<(), DiskError> {
        rustix::fs::fsync(&self.handle).map_err(|errno| failed("sync", &self.path, errno))
    }

    /// Identity of the file that `name` names now.
    pub(crate) fn identity_of(&self, name: &str) -> Result<FileIdentity, DiskError> {
        identity(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|errno| failed("look at", &self.path.join(name), errno))
    }

    /// Device and inode of the file that `name` names now: the cheap half of its identity.
    pub(crate) fn place_of(&self, name: &str) -> Result<(u64, u64), DiskError> {
        let stat = rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|errno| failed("look at", &self.path.join(name), errno))?;
        Ok((stat.st_dev as u64, stat.st_ino as u64))
    }

    /// Refuses file systems on which locks or mappings are not shared between machines.
    pub(crate) fn refuse_network_file_system(&self) -> Result<(), DiskError> {
        match file_system_among(self.handle.as_fd(), &NETWORK_FILE_SYSTEMS) {
            Ok(None) => Ok(()),
            Ok(Some(kind)) => Err(DiskError {
                action: "write a log in",
                path: self.path.clone(),
                source: io::Error::new(
                    io::ErrorKind::Unsupported,
                    format!(
                        "{kind} does not keep locks and mappings true between machines; use a local disk"
                    ),
                ),
            }),
            Err(errno) => Err(failed("look at the file system of", &self.path, errno)),
        }
    }

    /// Whether storing into a mapped page may need new room, which on a full disk ends the process.
    pub(crate) fn copies_on_write(&self) -> Result<bool, DiskError> {
        file_system_among(self.handle.as_fd(), &COPYING_FILE_SYSTEMS)
            .map(|kind| kind.is_some())
            .map_err(|errno| failed("look at the file system of", &self.path, errno))
    }
}

fn open_session(session: &Path) -> Result<OwnedFd, DiskError> {
    rustix::fs::openat(CWD, session, DIRECTORY, Mode::empty()).map_err(|errno| failed("open", session, errno))
}

fn failed(action: &'static str, path: &Path, errno: rustix::io::Errno) -> DiskError {
    DiskError { action, path: path.to_owned(), source: errno.into() }
}

#[cfg(target_os = "linux")]
fn identity(directory: impl AsFd, name: &str, flags: AtFlags) -> rustix::io::Result<FileIdentity> {
    use rustix::fs::StatxFlags;
    let wanted = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
    let stat = rustix::fs::statx(directory, name, flags, wanted)?;
    let has_birth = StatxFlags::from_bits_retain(stat.stx_mask).contains(StatxFlags::BTIME);
    let birth_ns = u64::try_from(stat.stx_btime.tv_sec)
        .ok()
        .filter(|_| has_birth)
        .and_then(|seconds| seconds.checked_mul(1_000_000_000))
        .map_or(0, |nanoseconds| nanoseconds.saturating_add(u64::from(stat.stx_btime.tv_nsec)));
    Ok(FileIdentity {
        device: rustix::fs::makedev(stat.stx_dev_major, stat.stx_dev_minor),
        inode: stat.stx_ino,
        birth_ns,
    })
}

#[cfg(not(target_os = "linux"))]
fn identity(directory: impl AsFd, name: &str, flags: AtFlags) -> rustix::io::Result<FileIdentity> {
    let stat = rustix::fs::statat(directory, name, flags)?;
    Ok(FileIdentity { device: stat.st_dev as u64, inode: stat.st_ino as u64, birth_ns: 0 })
}

// File systems by the numbers of linux/magic.h; CIFS, SMB2 and ZFS are not in that header but in their own
// sources.
#[cfg(target_os = "linux")]
const NETWORK_FILE_SYSTEMS: [(i128, &str); 5] =
    [(0x6969, "NFS"), (0x517B, "SMB"), (0xFF53_4D42, "CIFS"), (0xFE53_4D42, "SMB2"), (0x0102_1997, "9p")];
#[cfg(target_os = "linux")]
const COPYING_FILE_SYSTEMS: [(i128, &str); 3] =
    [(0x9123_683E, "btrfs"), (0x2FC1_2FC1, "ZFS"), (0xCA45_1A4E, "bcachefs")];

/// Which of `kinds` the file system behind `handle` is.
#[cfg(target_os = "linux")]
fn file_system_among(
    handle: BorrowedFd<'_>,
    kinds: &[(i128, &'static str)],
) -> rustix::io::Result<Option<&'static str>> {
    let magic = i128::from(rustix::fs::fstatfs(handle)?.f_type) & 0xFFFF_FFFF;
    Ok(kinds.iter().find(|(known, _)| *known == magic).map(|(_, name)| *name))
}

#[cfg(not(target_os = "linux"))]
const NETWORK_FILE_SYSTEMS: [(i128, &str); 0] = [];
#[cfg(not(target_os = "linux"))]
const COPYING_FILE_SYSTEMS: [(i128, &str); 0] = [];

#[cfg(not(target_os = "linux"))]
fn file_system_among(
    _handle: BorrowedFd<'_>,
    _kinds: &[(i128, &'static str)],
) -> rustix::io::Result<Option<&'static str>> {
    Ok(None)
}

/// An open file of the log.
#[derive(Debug)]
pub(crate) struct LogFile {
    file: File,
    path: PathBuf,
}

impl LogFile {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    fn error(&self, action: &'static str, source: io::Error) -> DiskError {
        DiskError { action, path: self.path.clone(), source }
    }

    pub(crate) fn len_bytes(&self) -> Result<u64, DiskError> {
        self.file.metadata().map(|metadata| metadata.len()).map_err(|source| self.error("look at", source))
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
                Err(source) => return Err(self.error("read", source)),
            }
        }
        Ok(filled)
    }

    pub(crate) fn write_all_at(&self, bytes: &[u8], offset: u64) -> Result<(), DiskError> {
        self.file.write_all_at(bytes, offset).map_err(|source| self.error("write", source))
    }

    /// Makes the bytes durable.
    pub(crate) fn sync(&self) -> Result<(), DiskError> {
        self.file.sync_data().map_err(|source| self.error("sync", source))
    }

    /// Makes the file at least `len_bytes` long with room on the disk for all of it.
    pub(crate) fn grow(&self, len_bytes: u64) -> Result<(), DiskError> {
        let have = self.len_bytes()?;
        if have >= len_bytes {
            return Ok(());
        }
        grow(&self.file, have, len_bytes).map_err(|source| self.error("make room in", source))
    }

    /// Drops the file's pages from the system's cache, so that the next read comes from the disk: after a
    /// failed sync the cache may hold bytes that the disk does not.
    pub(crate) fn forget_cached_pages(&self) -> Result<(), DiskError> {
        #[cfg(target_os = "linux")]
        rustix::fs::fadvise(&self.file, 0, None, rustix::fs::Advice::DontNeed)
            .map_err(|errno| failed("drop the cached pages of", &self.path, errno))?;
        Ok(())
    }
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn grow(file: &File, from: u64, to: u64) -> io::Result<()> {
    match rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), from, to - from) {
        Ok(()) => Ok(()),
        // Some file systems cannot reserve: write the zeros, which takes the room just as well.
        Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => write_zeros(file, from, to),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn grow(file: &File, from: u64, to: u64) -> io::Result<()> {
    write_zeros(file, from, to)
}

fn write_zeros(file: &File, from: u64, to: u64) -> io::Result<()> {
    const ZEROS: [u8; 4096] = [0; 4096];
    let mut offset = from;
    while offset < to {
        let step = (to - offset).min(ZEROS.len() as u64);
        file.write_all_at(&ZEROS[..usize::try_from(step).unwrap_or(ZEROS.len())], offset)?;
        offset += step;
    }
    Ok(())
}
