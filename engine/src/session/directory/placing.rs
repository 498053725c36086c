//! Putting whole files into a directory.
//!
//! A file is written beside its place under a hidden name and moved there once it is complete: a reader sees what
//! was there before or all of what is new.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufWriter, Write};

use rustix::fs::{AtFlags, OFlags, RenameFlags};
use rustix::io::Errno;

use super::{Directory, DirectoryError};

/// Bytes that are gathered before they are written.
const BUFFER_LEN_BYTES: usize = 256 << 10;

/// What becomes of a file that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It is replaced.
    Replaced,
    /// It stays, and nothing is written in its place ([`DirectoryError::is_taken`]).
    Kept,
}

impl Directory {
    /// Puts `bytes` in the place of the file `name`, whole or not at all: a reader sees the old bytes or
    /// the new ones, also after a loss of power. Replaces a link instead of writing through it.
    ///
    /// # Errors
    /// Nothing was replaced, because the new file could not be written or moved into place.
    pub fn replace(&self, name: impl AsRef<OsStr>, bytes: &[u8]) -> Result<(), DirectoryError> {
        self.put_in_place(name.as_ref(), bytes, File::sync_all)?;
        self.sync()
    }

    /// As [`replace`](Self::replace), without waiting for the disk: for what is stale after a loss of power
    /// anyway.
    ///
    /// # Errors
    /// Nothing was replaced, because the new file could not be written or moved into place.
    pub fn refresh(&self, name: impl AsRef<OsStr>, bytes: &[u8]) -> Result<(), DirectoryError> {
        self.put_in_place(name.as_ref(), bytes, |_| Ok(()))
    }

    /// Puts what `write` writes in the place of the file `name`, whole or not at all, as
    /// [`replace`](Self::replace) does, without holding it in memory.
    ///
    /// ```
    /// use std::io::Write;
    /// use ambient_engine::session::{Directory, DirectoryError, Existing};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let directory = Directory::open(folder.path())?;
    /// let write = |out: &mut dyn Write| out.write_all(b"hello").map_err(|error| directory.failed("write", "a", error));
    /// directory.replace_with("a", Existing::Kept, write)?;
    /// let again = directory.replace_with("a", Existing::Kept, write);
    /// assert!(again.is_err_and(|error| error.is_taken()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `write` failed, or the file could not be written or moved into place; nothing was replaced.
    pub fn replace_with<E: From<DirectoryError>>(
        &self,
        name: impl AsRef<OsStr>,
        existing: Existing,
        write: impl FnOnce(&mut dyn Write) -> Result<(), E>,
    ) -> Result<(), E> {
        let name = name.as_ref();
        if existing == Existing::Kept && self.holds(name)? {
            return Err(self.failed("write", name, io::ErrorKind::AlreadyExists.into()).into());
        }
        let (file, staged) = self.stage(name)?;
        let mut file = BufWriter::with_capacity(BUFFER_LEN_BYTES, file);
        let written = write(&mut file).and_then(|()| {
            let settled = file.flush().and_then(|()| file.get_ref().sync_all());
            settled.map_err(|source| self.failed("write", name, source))?;
            Ok(self.move_there(&staged, name, existing)?)
        });
        if written.is_err() {
            self.drop_staged(&staged);
        }
        written?;
        Ok(self.sync()?)
    }

    /// That something could not be done to `name` in this directory.
    pub fn failed(&self, action: &'static str, name: impl AsRef<OsStr>, source: io::Error) -> DirectoryError {
        DirectoryError::Io { action, path: self.child_path(name.as_ref()), source }
    }

    fn put_in_place(
        &self,
        name: &OsStr,
        bytes: &[u8],
        settle: impl FnOnce(&File) -> io::Result<()>,
    ) -> Result<(), DirectoryError> {
        let (mut file, staged) = self.stage(name)?;
        let written = file.write_all(bytes).and_then(|()| settle(&file));
        let written = written.map_err(|source| self.failed("replace", name, source));
        let moved = written.and_then(|()| self.move_there(&staged, name, Existing::Replaced));
        if moved.is_err() {
            self.drop_staged(&staged);
        }
        moved
    }

    fn move_there(&self, staged: &OsStr, name: &OsStr, existing: Existing) -> Result<(), DirectoryError> {
        let here = &self.handle;
        let moved = match existing {
            Existing::Replaced => rustix::fs::renameat(here, staged, here, name),
            Existing::Kept => {
                match rustix::fs::renameat_with(here, staged, here, name, RenameFlags::NOREPLACE) {
                    // Not every file system knows the flag; a second name is as exclusive.
                    Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                        rustix::fs::linkat(here, staged, here, name, AtFlags::empty())
                            .and_then(|()| rustix::fs::unlinkat(here, staged, AtFlags::empty()))
                    }
                    moved => moved,
                }
            }
        };
        moved.map_err(|errno| self.failed("replace", name, errno.into()))
    }

    /// Best effort: a stray hidden file is ignored by every reader.
    fn drop_staged(&self, staged: &OsStr) {
        let _ = rustix::fs::unlinkat(&self.handle, staged, AtFlags::empty());
    }

    /// A new hidden file next to `name` that nobody else can have made.
    fn stage(&self, name: &OsStr) -> Result<(File, OsString), DirectoryError> {
        let number = getrandom::u64().map_err(|error| self.failed("stage", name, io::Error::other(error)))?;
        let mut staged = OsString::from(".");
        staged.push(name);
        staged.push(format!(".{number:016x}.tmp"));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        match self.open_file_with(&staged, flags)? {
            Some(file) => Ok((file, staged)),
            None => Err(self.error("create", &staged, Errno::NOENT)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_leaves_what_was_there_and_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let directory = Directory::open(folder.path()).unwrap();
        directory.replace("a", b"before").unwrap();
        let fail = |out: &mut dyn Write| {
            out.write_all(&vec![0; BUFFER_LEN_BYTES * 2]).unwrap();
            Err(directory.failed("write", "a", io::ErrorKind::StorageFull.into()))
        };
        assert!(directory.replace_with("a", Existing::Replaced, fail).is_err());
        let kept: Result<(), DirectoryError> =
            directory.replace_with("a", Existing::Kept, |_| unreachable!("it is there already"));
        assert!(kept.unwrap_err().is_taken());
        assert_eq!(std::fs::read(folder.path().join("a")).unwrap(), b"before");
        assert_eq!(directory.names().unwrap().len(), 1);
    }
}
