//! How a person names a session: by id, by a beginning only one has, by path, or as `latest`.

use std::path::{Path, PathBuf};

use super::listing::is_session;
use super::{Directory, PersonState, SessionId};
use crate::Clock;
use crate::jsonl::RAW_FILE;
use crate::view::{ViewError, rows};

/// How many ids an ambiguous beginning is answered with.
const CANDIDATES_MAX: usize = 10;

/// Where a session is: what the views ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionPlace {
    /// The directory it lies in.
    pub root: PathBuf,
    /// Its id.
    pub id: String,
}

impl SessionPlace {
    /// Finds the session that `word` names: an id below `root`, a path to a session anywhere, `latest`
    /// for the newest that can be read, or a beginning that only one id has, tried in that order.
    ///
    /// # Errors
    /// Nothing has that name, several ids begin so, or the root cannot be read.
    pub fn resolve(root: &Path, word: &str, clock: &dyn Clock) -> Result<Self, ViewError> {
        let here = |id: &str| Self { root: root.to_owned(), id: id.to_owned() };
        if SessionId::new(word).is_ok() && is_real_directory(&root.join(word)) {
            return Ok(here(word));
        }
        if word.contains('/') || matches!(word, "." | "..") {
            return Self::at_path(Path::new(word), clock);
        }
        if word.is_empty() {
            return Err(ViewError::NotAnId(String::new()));
        }
        let rows = rows(root, clock)?;
        if word == "latest" {
            let newest = rows.iter().find(|row| row.state != PersonState::Broken);
            return newest.map_or(Err(no_session(word)), |row| Ok(here(&row.summary.id)));
        }
        let ids = rows.into_iter().map(|row| row.summary.id);
        let mut candidates: Vec<_> = ids.filter(|id| id.starts_with(word)).collect();
        match candidates.as_slice() {
            [] => Err(no_session(word)),
            [only] => Ok(here(only)),
            _ => {
                candidates.truncate(CANDIDATES_MAX);
                Err(ViewError::Ambiguous { prefix: word.to_owned(), candidates })
            }
        }
    }

    /// The session whose directory is at `path`.
    fn at_path(path: &Path, clock: &dyn Clock) -> Result<Self, ViewError> {
        let word = || path.display().to_string();
        // A slash at the end would follow a link; without it the last segment is looked at itself.
        let path: PathBuf = path.components().collect();
        match std::fs::symlink_metadata(&path) {
            Ok(found) if found.is_symlink() => return Err(ViewError::Symlink(path)),
            Ok(found) if found.is_dir() => {}
            _ => return Err(no_session(&word())),
        }
        let path = path.canonicalize().map_err(|_| no_session(&word()))?;
        let directory = Directory::open(&path)?;
        // Lines without a description are what is left of a capture that was killed.
        if !is_session(&directory, clock) && !directory.holds_file(RAW_FILE)? {
            return Err(no_session(&word()));
        }
        match (path.parent(), path.file_name().and_then(|name| name.to_str())) {
            (Some(root), Some(id)) => Ok(Self { root: root.to_owned(), id: id.to_owned() }),
            _ => Err(no_session(&word())),
        }
    }
}

fn is_real_directory(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

fn no_session(word: &str) -> ViewError {
    ViewError::NoSession(word.to_owned())
}
