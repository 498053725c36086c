//! Replacing a file in one step.
//!
//! A reader sees the old content or the new, never a part; after a crash one of the two is there. What
//! stands at the path is replaced and never written through: a link in its place is not followed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Makes `bytes` the content of the file at `path`, readable by its owner unless an older file there had
/// other permissions. It is on disk when this returns.
///
/// # Errors
/// The folder does not exist or may not be written, or the disk is full: the old file is untouched.
///
/// ```
/// let dir = tempfile::tempdir()?;
/// let path = dir.path().join("note.txt");
/// ambient_engine::atomic_file::replace(&path, b"first")?;
/// ambient_engine::atomic_file::replace(&path, b"second")?;
/// assert_eq!(std::fs::read(&path)?, b"second");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let (file, temporary) = create_beside(path)?;
    fill(&file, bytes, path).and_then(|()| fs::rename(&temporary, path)).inspect_err(|_| {
        let _ = fs::remove_file(&temporary);
    })?;
    File::open(folder_of(path))?.sync_all()
}

/// Gives `file` its content and the permissions of the one it is to replace.
fn fill(mut file: &File, bytes: &[u8], path: &Path) -> io::Result<()> {
    file.write_all(bytes)?;
    match fs::symlink_metadata(path) {
        Ok(old) if old.is_file() => file.set_permissions(old.permissions())?,
        _ => {}
    }
    file.sync_all()
}

/// The folder `path` lies in; the current one for a bare name.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// A new, empty, hidden file in the same folder: `rename` works within one file system only.
fn create_beside(path: &Path) -> io::Result<(File, PathBuf)> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    loop {
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.{}.tmp", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
        let temporary = folder_of(path).join(hidden);
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary) {
            Ok(file) => return Ok((file, temporary)),
            // Left over by a process that had the same number and died.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_replaced_and_its_target_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let (target, link) = (dir.path().join("target"), dir.path().join("link"));
        fs::write(&target, "mine").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        replace(&link, b"new").unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"mine");
        assert!(fs::symlink_metadata(&link).unwrap().is_file());
    }

    #[test]
    fn a_failure_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("is-a-folder");
        fs::create_dir(&folder).unwrap();
        assert!(replace(&folder, b"x").is_err());
        assert!(replace(&dir.path().join("absent/file"), b"x").is_err());
        let names: Vec<_> =
            fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["is-a-folder"]);
    }
}
