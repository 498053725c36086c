//! Where sessions live.
//!
//! Only `AMBIENT_HOME`, a setting and HOME decide, so that a client which starts the program with a
//! handful of variables finds what the terminal finds. They are handed in as values: the caller reads the
//! environment, tests do not touch it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Neither a setting nor the environment says where sessions live.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot tell where sessions live: neither AMBIENT_HOME nor HOME is set; set AMBIENT_HOME")]
pub struct NoRoot;

/// The directory whose subdirectories are sessions: `ambient_home`, else `setting`, else `Ambient` in
/// the documents folder of `home`. Empty values count as absent.
///
/// ```
/// use std::ffi::OsStr;
/// use std::path::PathBuf;
/// use ambient_engine::session::sessions_root;
/// let home = Some(OsStr::new("/home/ana"));
/// assert_eq!(sessions_root(None, None, home), Ok(PathBuf::from("/home/ana/Documents/Ambient")));
/// assert_eq!(sessions_root(Some(OsStr::new("/srv/a")), None, home), Ok(PathBuf::from("/srv/a")));
/// ```
///
/// # Errors
/// None of the three is given.
pub fn sessions_root(
    ambient_home: Option<&OsStr>,
    setting: Option<&Path>,
    home: Option<&OsStr>,
) -> Result<PathBuf, NoRoot> {
    let given = |value: &&OsStr| !value.is_empty();
    ambient_home
        .filter(given)
        .or_else(|| setting.map(Path::as_os_str).filter(given))
        .map(PathBuf::from)
        .or_else(|| home.filter(given).map(|home| Path::new(home).join("Documents").join("Ambient")))
        .ok_or(NoRoot)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_beats_the_setting_and_the_setting_beats_the_documents_folder() {
        let (env, setting, home) = (OsStr::new("/env"), Path::new("/setting"), OsStr::new("/home/a"));
        assert_eq!(sessions_root(Some(env), Some(setting), Some(home)), Ok("/env".into()));
        assert_eq!(sessions_root(None, Some(setting), Some(home)), Ok("/setting".into()));
        assert_eq!(sessions_root(None, None, Some(home)), Ok("/home/a/Documents/Ambient".into()));
    }

    #[test]
    fn empty_values_are_absent_and_nothing_is_an_error() {
        let empty = Some(OsStr::new(""));
        assert_eq!(sessions_root(empty, Some(Path::new("")), Some(OsStr::new("/h"))), {
            Ok("/h/Documents/Ambient".into())
        });
        assert_eq!(sessions_root(None, None, empty), Err(NoRoot));
    }
}
