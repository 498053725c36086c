//! Places inside sessions where nothing else may be put.
//!
//! A file that somebody writes under the name of a source, or beside the segments of a log, would be taken for a
//! part of the session, or destroy it.

use std::ffi::OsStr;
use std::path::Path;

use super::metadata::METADATA_FILE;
use super::native::holds_log;
use super::{Directory, DirectoryError};
use crate::LogDirectory;
use crate::jsonl::RAW_FILE;

/// What files beside the sources begin with.
const DERIVED_PREFIX: &str = "transcript.";

/// Why a file cannot be written to a place: it belongs to a session.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GuardedPlace {
    /// It is below a directory that a session keeps for itself.
    #[error("{0} is a part of a session; choose another folder")]
    Part(String),
    /// A session keeps something else under such a name.
    #[error("in a session only names that begin with {DERIVED_PREFIX:?} are free; {0} is not")]
    Name(String),
    /// Nobody can tell.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
}

/// Refuses to have the file `name` written to `folder` where it would be taken for a part of a session.
///
/// ```
/// use ambient_engine::session::{Directory, refuse_guarded};
/// # let folder = tempfile::tempdir()?;
/// let directory = Directory::open(folder.path())?;
/// refuse_guarded(&directory, "talk.srt".as_ref())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// It would, or the folder cannot be looked at.
pub fn refuse_guarded(folder: &Directory, name: &OsStr) -> Result<(), GuardedPlace> {
    let path = folder.path().join(name);
    if is_session(folder)? {
        let is_derived = name.to_str().is_some_and(|name| name.starts_with(DERIVED_PREFIX));
        return if is_derived { Ok(()) } else { Err(GuardedPlace::Name(path.display().to_string())) };
    }
    // However the folder was named: by a link or from inside itself.
    let Ok(real) = folder.path().canonicalize() else { return Ok(()) };
    for inside in real.ancestors() {
        let Some(above) = inside.parent() else { break };
        let belongs =
            [LogDirectory::NAME, "audio"].iter().any(|own| inside.file_name() == Some(OsStr::new(own)));
        if belongs && is_session_at(above)? {
            return Err(GuardedPlace::Part(path.display().to_string()));
        }
    }
    Ok(())
}

fn is_session_at(path: &Path) -> Result<bool, DirectoryError> {
    is_session(&Directory::open(path)?)
}

fn is_session(directory: &Directory) -> Result<bool, DirectoryError> {
    Ok(holds_log(directory)? || directory.holds(METADATA_FILE)? || directory.holds(RAW_FILE)?)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn only_what_is_derived_may_stand_in_a_session_and_nothing_in_its_folders() {
        let root = tempfile::tempdir().unwrap();
        let session = root.path().join("s");
        fs::create_dir_all(session.join("log/deeper")).unwrap();
        fs::create_dir_all(session.join("mine")).unwrap();
        fs::write(session.join("log/head"), "").unwrap();
        std::os::unix::fs::symlink(session.join("log"), root.path().join("link")).unwrap();
        let refused = |folder: &Path, name: &str| {
            refuse_guarded(&Directory::open(folder).unwrap(), name.as_ref()).is_err()
        };
        for (folder, name) in [
            ("s", "raw.jsonl"),
            ("s", "session.json"),
            ("s", "talk.srt"),
            ("s/log", "transcript.srt"),
            ("s/log/deeper", "a"),
            ("link", "a"),
        ] {
            assert!(refused(&root.path().join(folder), name), "{folder}/{name}");
        }
        for (folder, name) in [("s", "transcript.srt"), ("", "raw.jsonl"), ("s/mine", "a")] {
            assert!(!refused(&root.path().join(folder), name), "{folder}/{name}");
        }
    }
}
