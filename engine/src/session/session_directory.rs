//! A session as a directory held open.
//!
//! Everything about a session is reached through this handle. An id is looked up below the root without
//! following a link, so no file outside the root is ever read in its name.

use super::{Directory, DirectoryError, SessionId};
use crate::{Log, LogDirectory, Mapping, OpenError, Options, Reader};

/// The directory of one session, held open.
#[derive(Debug)]
pub struct SessionDirectory {
    id: SessionId,
    directory: Directory,
}

impl SessionDirectory {
    pub(crate) fn new(id: SessionId, directory: Directory) -> Self {
        Self { id, directory }
    }

    /// Opens the session `id` below `root`; none when no directory of that name is there. A link is not
    /// a session.
    ///
    /// # Errors
    /// The directory is there and cannot be opened.
    pub fn open(root: &Directory, id: &SessionId) -> Result<Option<Self>, DirectoryError> {
        match root.subdirectory(id) {
            Ok(directory) => Ok(directory.map(|directory| Self::new(id.clone(), directory))),
            Err(DirectoryError::Symlink(_) | DirectoryError::NotADirectory { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The session's id: its directory's name.
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// Its directory.
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// Makes the session's log.
    ///
    /// # Errors
    /// It has one already, or the disk refuses.
    pub fn create_log(&self, options: Options) -> Result<Log, OpenError> {
        Log::create_in(LogDirectory::create_at(&self.directory, self.directory.path())?, options)
    }

    /// Opens the session's log for appending.
    ///
    /// # Errors
    /// It has none, or as [`Log::open`].
    pub fn open_log(&self, options: Options) -> Result<Log, OpenError> {
        Log::open_in(LogDirectory::open_at(&self.directory, self.directory.path())?, options)
    }

    /// Opens the session's log for reading.
    ///
    /// # Errors
    /// It has none, or as [`Reader::open`].
    pub fn read_log(&self, mapping: Mapping) -> Result<Reader, OpenError> {
        Reader::open_in(LogDirectory::open_at(&self.directory, self.directory.path())?, mapping)
    }
}
