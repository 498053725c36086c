//! Making a session's directory so that no two sessions ever share one.
//!
//! A recording claims its final name at once. A session that is built from something else is built under
//! a hidden name and renamed when it is complete, so that no reader meets half of it. The name of either
//! is written inside its log, so it is settled first: each maker announces its name by making a
//! directory, then looks whether the other kind of maker announced the same one, and gives way if so.

use std::ffi::OsStr;
use std::thread;
use std::time::Duration;

use jiff::civil::DateTime;

use super::id::{CLAIMS_MAX, candidates, claim_base, numbered};
use super::{Directory, DirectoryError, SessionDirectory, SessionId};

/// How often finishing looks again while another maker gives way.
const FINISH_TRIES: u32 = 50;
/// Between two such looks.
const FINISH_PAUSE: Duration = Duration::from_millis(20);

/// A session's directory could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CreateError {
    /// Every name of that minute is taken.
    #[error("{root} already holds {CLAIMS_MAX} sessions claimed as {base}; wait a minute or give a name")]
    Full {
        /// The root.
        root: String,
        /// What the names begin with.
        base: String,
    },
    /// The system refused.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
}

/// Makes the directory of a session begun at the local time `started`, readable by its owner alone, under
/// a name no other session has.
///
/// # Errors
/// All 99 names of that minute are taken, or the directory cannot be made.
pub fn claim(
    root: &Directory,
    started: DateTime,
    name: Option<&str>,
) -> Result<SessionDirectory, CreateError> {
    first_free(root, started, name, |id| {
        let made = root.create_subdirectory(id)?;
        if root.holds(id.partial_name())? {
            // Only ever our own empty directory: the name is given back.
            root.remove_empty_subdirectory(id.as_ref())?;
            return Ok(None);
        }
        Ok(Some(SessionDirectory::new(id.clone(), made)))
    })
}

/// Calls `make` with each candidate until one is made; a name that is taken leads to the next.
fn first_free<T>(
    root: &Directory,
    started: DateTime,
    name: Option<&str>,
    make: impl FnMut(&SessionId) -> Result<Option<T>, DirectoryError>,
) -> Result<T, CreateError> {
    first_of(root, &claim_base(started, name), candidates(started, name), make)
}

fn first_of<T>(
    root: &Directory,
    base: &str,
    candidates: impl Iterator<Item = SessionId>,
    mut make: impl FnMut(&SessionId) -> Result<Option<T>, DirectoryError>,
) -> Result<T, CreateError> {
    for id in candidates {
        match make(&id) {
            Ok(Some(session)) => return Ok(session),
            Ok(None) => {}
            Err(error) if error.is_taken() => {}
            Err(error) => return Err(error.into()),
        }
    }
    let root = root.path().display().to_string();
    Err(CreateError::Full { root, base: base.to_owned() })
}

/// The hidden directory of a session that will be called `id`; none when that name is taken.
fn begin_hidden(root: &Directory, id: &SessionId) -> Result<Option<SessionDirectory>, DirectoryError> {
    let hidden = id.partial_name();
    let Some(made) = root.hold_hidden(OsStr::new(&hidden))? else { return Ok(None) };
    if root.holds(id)? {
        root.remove_empty_subdirectory(OsStr::new(&hidden))?;
        return Ok(None);
    }
    Ok(Some(SessionDirectory::new(id.clone(), made)))
}

/// A session being built where no reader looks. It becomes visible by [`finish`](Self::finish) alone;
/// dropped without, its hidden directory stays and is never listed. The directory is locked while it is
/// being built, so that whoever comes next can tell one that is left over, and begin it anew.
#[derive(Debug)]
pub struct PartialSession {
    root: Directory,
    session: SessionDirectory,
}

impl PartialSession {
    /// Settles the name of a session begun at the local time `started` and makes its hidden directory.
    ///
    /// # Errors
    /// All 99 names of that minute are taken, or the directory cannot be made.
    pub fn begin(root: Directory, started: DateTime, name: Option<&str>) -> Result<Self, CreateError> {
        let session = first_free(&root, started, name, |id| begin_hidden(&root, id))?;
        Ok(Self { root, session })
    }

    /// Makes the hidden directory of a session that is to be called `id`, or `id` with a number from
    /// `-02` on when that name is taken.
    ///
    /// # Errors
    /// As [`begin`](Self::begin).
    pub fn begin_as(root: Directory, id: &SessionId) -> Result<Self, CreateError> {
        let session = first_of(&root, id.as_str(), numbered(id), |id| begin_hidden(&root, id))?;
        Ok(Self { root, session })
    }

    /// The directory to build in; its id is the final one.
    pub fn session(&self) -> &SessionDirectory {
        &self.session
    }

    /// Shows the session under its final name.
    ///
    /// # Errors
    /// Something else took the name, or the system refuses; the hidden directory is still there.
    pub fn finish(self) -> Result<SessionDirectory, CreateError> {
        let id = self.session.id().clone();
        let hidden = id.partial_name();
        let mut tries = 0;
        // A recording that meets our announcement makes and removes the name within microseconds.
        while let Err(error) = self.root.rename_new(OsStr::new(&hidden), id.as_ref()) {
            tries += 1;
            if tries == FINISH_TRIES || !error.is_taken() {
                return Err(error.into());
            }
            thread::sleep(FINISH_PAUSE);
        }
        let shown = self.root.subdirectory(&id)?.ok_or_else(|| gone(&self.root, &id))?;
        Ok(SessionDirectory::new(id, shown))
    }

    /// Deletes what was built.
    ///
    /// # Errors
    /// Something in it cannot be deleted.
    pub fn discard(self) -> Result<(), CreateError> {
        Ok(self.root.delete(OsStr::new(&self.session.id().partial_name()))?)
    }
}

fn gone(root: &Directory, id: &SessionId) -> DirectoryError {
    DirectoryError::Io {
        action: "open",
        path: root.path().join(id.as_str()),
        source: std::io::ErrorKind::NotFound.into(),
    }
}
