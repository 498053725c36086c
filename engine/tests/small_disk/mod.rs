//! A small file system in memory: a disk that can run full, or be made one that may only be read.

use std::path::Path;
use std::process::{Command, Stdio};

/// A mounted file system, unmounted when dropped.
pub(crate) struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// One of `size_kib`; none where the system refuses, which is said.
    pub(crate) fn mount(size_kib: u64) -> Option<Self> {
        let place = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size_kib}k"), "tmpfs"])
            .arg(place.path())
            .stderr(Stdio::null())
            .status();
        if mounted.is_ok_and(|status| status.success()) {
            return Some(Self(place));
        }
        println!("skipped: this system does not let a test mount a file system in memory");
        None
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// From now on it may only be read.
    pub(crate) fn make_read_only(&self) {
        let remounted = Command::new("mount").args(["-o", "remount,ro"]).arg(self.path()).status().unwrap();
        assert!(remounted.success());
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(self.path()).status();
    }
}
