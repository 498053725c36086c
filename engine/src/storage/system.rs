//! The real file system.
//!
//! Every open is relative to the directory's handle and follows no link; what was opened is checked to be
//! a regular file afterwards, so nothing can be swapped in between.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;

use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags, RenameFlags, SeekFrom};

use super::mapped_page::MappedPage;
use super::{Directory, FileIdentity, FileSystem, LockStep, OpenMode, SharedPage, StoredFile};

const NEVER_FOLLOW: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);
const PRIVATE_FILE: Mode = Mode::RUSR.union(Mode::WUSR);

/// An open directory.
#[derive(Debug)]
pub(crate) struct SystemDirectory(OwnedFd);

impl SystemDirectory {
    /// `handle` is a directory, open for reading.
    pub(crate) fn new(handle: OwnedFd) -> Self {
        Self(handle)
    }
}

impl Directory for SystemDirectory {
    fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.0)? {
            if let Ok(name) = entry?.file_name().to_str() {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    fn open(&self, name: &str, mode: OpenMode) -> io::Result<Box<dyn StoredFile>> {
        let flags = match mode {
            OpenMode::Read => OFlags::RDONLY,
            OpenMode::Write => OFlags::RDWR,
            OpenMode::WriteOrCreate => OFlags::RDWR | OFlags::CREATE,
            OpenMode::CreateNew => OFlags::RDWR | OFlags::CREATE | OFlags::EXCL,
        };
        let handle = rustix::fs::openat(&self.0, name, flags | NEVER_FOLLOW, PRIVATE_FILE)?;
        let stat = rustix::fs::fstat(&handle)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
        }
        Ok(Box::new(SystemFile(File::from(handle))))
    }

    fn rename(&self, from: &str, to: &str, replacing: bool) -> io::Result<()> {
        if replacing {
            rustix::fs::renameat(&self.0, from, &self.0, to)?;
        } else {
            rustix::fs::renameat_with(&self.0, from, &self.0, to, RenameFlags::NOREPLACE)?;
        }
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.0)?)
    }

    fn identity_of(&self, name: &str) -> io::Result<FileIdentity> {
        Ok(identity(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    fn file_system(&self) -> io::Result<FileSystem> {
        Ok(file_system(self.0.as_fd())?)
    }

    fn boot_id(&self) -> Option<[u8; 16]> {
        static BOOT: OnceLock<Option<[u8; 16]>> = OnceLock::new();
        *BOOT.get_or_init(|| parse_boot(&read_boot()?))
    }
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
const FILE_SYSTEMS: [(i128, FileSystem); 8] = [
    (0x6969, FileSystem::Network("NFS")),
    (0x517B, FileSystem::Network("SMB")),
    (0xFF53_4D42, FileSystem::Network("CIFS")),
    (0xFE53_4D42, FileSystem::Network("SMB2")),
    (0x0102_1997, FileSystem::Network("9p")),
    (0x9123_683E, FileSystem::CopiesOnWrite), // btrfs
    (0x2FC1_2FC1, FileSystem::CopiesOnWrite), // ZFS
    (0xCA45_1A4E, FileSystem::CopiesOnWrite), // bcachefs
];

#[cfg(target_os = "linux")]
fn file_system(handle: BorrowedFd<'_>) -> rustix::io::Result<FileSystem> {
    let magic = i128::from(rustix::fs::fstatfs(handle)?.f_type) & 0xFFFF_FFFF;
    let known = FILE_SYSTEMS.iter().find(|(known, _)| *known == magic);
    Ok(known.map_or(FileSystem::Local, |(_, kind)| *kind))
}

#[cfg(not(target_os = "linux"))]
fn file_system(_handle: BorrowedFd<'_>) -> rustix::io::Result<FileSystem> {
    Ok(FileSystem::Local)
}

#[cfg(target_os = "linux")]
fn read_boot() -> Option<String> {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()
}

#[cfg(not(target_os = "linux"))]
fn read_boot() -> Option<String> {
    // The system's own program, by its full path: the value has no safe interface of its own.
    let output =
        std::process::Command::new("/usr/sbin/sysctl").args(["-n", "kern.bootsessionuuid"]).output().ok()?;
    String::from_utf8(output.stdout).ok()
}

/// Sixteen bytes from a UUID in its usual spelling.
fn parse_boot(text: &str) -> Option<[u8; 16]> {
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    u128::from_str_radix(&digits, 16).ok().filter(|_| digits.len() == 32).map(u128::to_be_bytes)
}

/// An open file.
#[derive(Debug)]
struct SystemFile(File);

impl StoredFile for SystemFile {
    fn len_bytes(&self) -> io::Result<u64> {
        // The cheapest way to ask; no read or write here goes by the place this leaves behind.
        Ok(rustix::fs::seek(&self.0, SeekFrom::End(0))?)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        self.0.write_at(bytes, offset)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    fn allocate(&self, from: u64, to: u64) -> io::Result<()> {
        match rustix::fs::fallocate(&self.0, rustix::fs::FallocateFlags::empty(), from, to - from) {
            Ok(()) => Ok(()),
            // Some file systems cannot reserve: write the zeros, which takes the room just as well.
            Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => write_zeros(&self.0, from, to),
            Err(errno) => Err(errno.into()),
        }
    }

    #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
    fn allocate(&self, from: u64, to: u64) -> io::Result<()> {
        write_zeros(&self.0, from, to)
    }

    fn forget_cached_pages(&self) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        rustix::fs::fadvise(&self.0, 0, None, rustix::fs::Advice::DontNeed)?;
        Ok(())
    }

    fn lock(&self, step: LockStep) -> io::Result<bool> {
        let operation = match step {
            LockStep::Exclusive => FlockOperation::LockExclusive,
            LockStep::TryExclusive => FlockOperation::NonBlockingLockExclusive,
            LockStep::Shared => FlockOperation::LockShared,
            LockStep::Unlock => FlockOperation::Unlock,
        };
        loop {
            match rustix::fs::flock(&self.0, operation) {
                Ok(()) => return Ok(true),
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::WOULDBLOCK) => return Ok(false),
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    fn map(&self, writable: bool) -> io::Result<Box<dyn SharedPage>> {
        Ok(Box::new(MappedPage::new(&self.0, writable)?))
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_boot_id_is_a_uuid_or_nothing() {
        assert_eq!(
            parse_boot("00000000-0000-0000-0000-0000000000ff\n"),
            Some([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF])
        );
        assert_eq!(parse_boot(""), None);
        assert_eq!(parse_boot("ff"), None);
    }
}
