//! How a model file gets to its place: complete or not at all, and by one process at a time.
//!
//! Whoever brings a model holds a lock on `.<file name>.partial` beside its place. A download grows in that file and is kept
//! when it breaks off, so the next one goes on; everything else happens in the scratch directory
//! `.<file name>.scratch`, which never outlives its maker for long: the next one to hold the lock removes it.
//! The finished file is synced, renamed to its place, and the directory synced.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// How often a waiting process asks for the lock again.
const ASK_AGAIN: Duration = Duration::from_millis(200);

/// Why a file did not get to its place.
#[derive(Debug, thiserror::Error)]
pub enum PlacementError {
    /// The system refused.
    #[error("{}: {source}{}", path.display(), if source.kind() == io::ErrorKind::StorageFull { "; make room there, or set AMBIENT_MODELS to a directory on a larger disk" } else { "" })]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Something already has the name.
    #[error("{} is there already and is left as it is", path.display())]
    Occupied {
        /// What is there.
        path: PathBuf,
    },
    /// Someone asked to stop.
    #[error("stopped before the file was in its place")]
    Interrupted,
}

impl PlacementError {
    /// Wraps what the system said about `path`.
    pub fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }
}

/// The right to bring one file to its place, held until dropped.
#[derive(Debug)]
pub struct Placement {
    target: PathBuf,
    partial_path: PathBuf,
    scratch: PathBuf,
    partial: File,
}

impl Placement {
    /// Takes the right to put a file at `target`, whose directory is made if need be. While another process has it,
    /// `on_wait` is called again and again.
    ///
    /// # Errors
    /// [`PlacementError`]; `Interrupted` once `stop` is set.
    pub fn begin(
        target: &Path,
        stop: &AtomicBool,
        on_wait: &mut dyn FnMut(),
    ) -> Result<Self, PlacementError> {
        let directory = target.parent().unwrap_or(Path::new("."));
        let file_name = target.file_name().unwrap_or_default().to_string_lossy();
        let beside = |ending: &str| directory.join(format!(".{file_name}.{ending}"));
        fs::create_dir_all(directory).map_err(|e| PlacementError::io(directory, e))?;
        let partial_path = beside("partial");
        let partial = loop {
            let partial = open_regular(&partial_path).map_err(|e| PlacementError::io(&partial_path, e))?;
            lock(&partial, &partial_path, stop, on_wait)?;
            // Meanwhile the file may have become the model, or been removed: then the lock is on the wrong file.
            if is_same(&partial, &partial_path) {
                break partial;
            }
        };
        let placement = Self { target: target.to_owned(), partial_path, scratch: beside("scratch"), partial };
        placement.clear_scratch();
        Ok(placement)
    }

    /// Where the file is to be.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// What was downloaded so far.
    pub fn partial(&mut self) -> &mut File {
        &mut self.partial
    }

    /// Where that is.
    pub fn partial_path(&self) -> &Path {
        &self.partial_path
    }

    /// An empty directory on the same file system, for this placement only.
    ///
    /// # Errors
    /// [`PlacementError`], when it cannot be made.
    pub fn scratch(&self) -> Result<&Path, PlacementError> {
        self.clear_scratch();
        fs::create_dir(&self.scratch).map_err(|e| PlacementError::io(&self.scratch, e))?;
        Ok(&self.scratch)
    }

    /// Puts the downloaded file in its place.
    ///
    /// # Errors
    /// [`PlacementError`]; `Occupied` when something has the name by now.
    pub fn commit_partial(self) -> Result<PathBuf, PlacementError> {
        self.put(&self.partial_path, &self.partial)
    }

    /// Puts a file from the scratch directory in the place.
    ///
    /// # Errors
    /// As [`Placement::commit_partial`].
    pub fn commit(self, finished: &Path) -> Result<PathBuf, PlacementError> {
        let file = File::open(finished).map_err(|e| PlacementError::io(finished, e))?;
        let path = self.put(finished, &file)?;
        // What was downloaded before is of no use now; when it cannot be removed it only takes space.
        let _ = fs::remove_file(&self.partial_path);
        Ok(path)
    }

    fn put(&self, from: &Path, file: &File) -> Result<PathBuf, PlacementError> {
        if fs::symlink_metadata(&self.target).is_ok() {
            return Err(PlacementError::Occupied { path: self.target.clone() });
        }
        file.sync_all().map_err(|e| PlacementError::io(from, e))?;
        fs::rename(from, &self.target).map_err(|e| PlacementError::io(&self.target, e))?;
        let directory = self.target.parent().unwrap_or(Path::new("."));
        File::open(directory).and_then(|d| d.sync_all()).map_err(|e| PlacementError::io(directory, e))?;
        Ok(self.target.clone())
    }

    /// Removes what a killed predecessor left; without it there is nothing to do, and a failure shows when the
    /// directory is made.
    fn clear_scratch(&self) {
        let _ = fs::remove_dir_all(&self.scratch);
    }
}

impl Drop for Placement {
    fn drop(&mut self) {
        self.clear_scratch();
        let empty = self.partial.metadata().is_ok_and(|m| m.len() == 0);
        if empty && is_same(&self.partial, &self.partial_path) {
            let _ = fs::remove_file(&self.partial_path);
        }
    }
}

/// Opens or makes a regular file; anything else by that name is refused before it is opened.
fn open_regular(path: &Path) -> io::Result<File> {
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => Err(io::Error::other("not a regular file")),
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path),
    }
}

fn lock(
    file: &File,
    path: &Path,
    stop: &AtomicBool,
    on_wait: &mut dyn FnMut(),
) -> Result<(), PlacementError> {
    loop {
        if stop.load(Ordering::Relaxed) {
            return Err(PlacementError::Interrupted);
        }
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) => {
                on_wait();
                thread::sleep(ASK_AGAIN);
            }
            Err(TryLockError::Error(source)) => return Err(PlacementError::io(path, source)),
        }
    }
}

/// Whether `path` still names the open file.
fn is_same(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(open), Ok(named)) => (open.dev(), open.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::sync::mpsc;

    static GO_ON: AtomicBool = AtomicBool::new(false);

    #[test]
    fn an_empty_attempt_leaves_nothing_a_broken_download_leaves_its_bytes() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("deep").join("model.bin");
        let placement = Placement::begin(&target, &GO_ON, &mut || ()).unwrap();
        fs::write(placement.scratch().unwrap().join("x"), "x").unwrap();
        drop(placement);
        assert_eq!(fs::read_dir(target.parent().unwrap()).unwrap().count(), 0);
        let mut placement = Placement::begin(&target, &GO_ON, &mut || ()).unwrap();
        placement.partial().write_all(b"half").unwrap();
        drop(placement);
        let mut placement = Placement::begin(&target, &GO_ON, &mut || ()).unwrap();
        assert_eq!(placement.partial().metadata().unwrap().len(), 4);
        placement.commit_partial().unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"half");
        assert_eq!(fs::read_dir(target.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_there_is_not_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("model.bin");
        fs::write(&target, "old").unwrap();
        let placement = Placement::begin(&target, &GO_ON, &mut || ()).unwrap();
        let made = placement.scratch().unwrap().join("new");
        fs::write(&made, "new").unwrap();
        assert!(matches!(placement.commit(&made), Err(PlacementError::Occupied { .. })));
        assert_eq!(fs::read(&target).unwrap(), b"old");
    }

    #[test]
    fn the_second_waits_for_the_first_and_does_not_take_its_finished_file_for_a_partial_one() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("model.bin");
        let mut first = Placement::begin(&target, &GO_ON, &mut || ()).unwrap();
        first.partial().write_all(b"whole").unwrap();
        let (waits, waiting) = mpsc::channel();
        thread::scope(|scope| {
            let second = scope.spawn(|| {
                let mut placement =
                    Placement::begin(&target, &GO_ON, &mut || waits.send(()).unwrap()).unwrap();
                placement.partial().metadata().unwrap().len()
            });
            waiting.recv().unwrap();
            first.commit_partial().unwrap();
            assert_eq!(second.join().unwrap(), 0);
        });
        assert_eq!(fs::read(&target).unwrap(), b"whole");
    }

    #[test]
    fn waiting_ends_when_asked_to_stop() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("model.bin");
        let _first = Placement::begin(&target, &GO_ON, &mut || ()).unwrap();
        let stop = AtomicBool::new(false);
        let result = Placement::begin(&target, &stop, &mut || stop.store(true, Ordering::Relaxed));
        assert!(matches!(result, Err(PlacementError::Interrupted)));
    }

    #[test]
    fn a_link_in_the_place_of_the_partial_file_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/dev/null", dir.path().join(".model.bin.partial")).unwrap();
        let result = Placement::begin(&dir.path().join("model.bin"), &GO_ON, &mut || ());
        assert!(result.unwrap_err().to_string().contains("not a regular file"));
    }
}
