//! The list of what is in an archive.

use serde::{Deserialize, Serialize};

use super::ArchiveError;
use crate::LogDirectory;
use crate::session::SessionId;

/// What this version reads and writes.
const FORMAT: u32 = 1;
/// The directories below a session of which files are taken.
pub(super) const FOLDERS: [&str; 2] = [LogDirectory::NAME, "audio"];
/// The longest name that a header holds.
pub(super) const PATH_LEN_MAX_BYTES: usize = 100;

/// The list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    /// Of the list.
    pub(super) format: u32,
    /// The session's id.
    pub(super) session: String,
    /// Every other member, in the order of the archive.
    pub(super) files: Vec<Member>,
}

/// A file of the session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Member {
    /// Its name, behind `log/` or `audio/` for those that lie there.
    pub(super) path: String,
    pub(super) len_bytes: u64,
    pub(super) sha256: String,
    /// When it was last written to, in seconds since 1970.
    pub(super) modified_s: u64,
}

impl Manifest {
    pub(super) fn new(session: &str, files: Vec<Member>) -> Self {
        Self { format: FORMAT, session: session.to_owned(), files }
    }

    pub(super) fn to_json(&self) -> Vec<u8> {
        // Strings and numbers: there is no value of these types that cannot be written.
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// Reads a list and refuses one whose names lead anywhere but into a session.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, ArchiveError> {
        let wrong = |why: String| ArchiveError::NotAnArchive(why);
        let manifest: Self = serde_json::from_slice(bytes).map_err(|error| wrong(error.to_string()))?;
        if manifest.format != FORMAT {
            return Err(wrong(format!("its format is {}, and this version knows {FORMAT}", manifest.format)));
        }
        SessionId::new(&manifest.session).map_err(|error| wrong(error.to_string()))?;
        let mut paths: Vec<_> = manifest.files.iter().map(|member| member.path.as_str()).collect();
        if let Some(path) = paths.iter().find(|path| !is_plain(path)) {
            return Err(wrong(format!("{path:?} is no name within a session")));
        }
        paths.sort_unstable();
        match paths.windows(2).find(|two| two[0] == two[1]) {
            Some(two) => Err(wrong(format!("{:?} is in it twice", two[0]))),
            None => Ok(manifest),
        }
    }
}

/// Whether `path` names a file in a session, or in a folder of it that is taken.
pub(super) fn is_plain(path: &str) -> bool {
    let name = match path.split_once('/') {
        Some((folder, name)) if FOLDERS.contains(&folder) => name,
        Some(_) => return false,
        None => path,
    };
    let is_folder = FOLDERS.contains(&path);
    !name.is_empty()
        && !name.starts_with('.')
        && !name.contains(['/', '\\'])
        && !name.chars().any(char::is_control)
        && path.len() <= PATH_LEN_MAX_BYTES
        && !is_folder
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_into_the_session_and_nowhere_else() {
        for path in ["raw.jsonl", "log/0000000000.seg", "audio/room.native.wav", "会議.txt"] {
            assert!(is_plain(path), "{path}");
        }
        let long = "a".repeat(101);
        for path in [
            "",
            ".",
            "..",
            "../x",
            "/etc/passwd",
            "log/",
            "log/../x",
            "log/a/b",
            "other/x",
            "log",
            "audio",
            ".x",
            "a\\b",
            "a\nb",
            "log/.hidden",
            "a/../../b",
            long.as_str(),
        ] {
            assert!(!is_plain(path), "{path}");
        }
    }

    #[test]
    fn a_list_that_is_odd_is_refused() {
        let member =
            |path: &str| Member { path: path.into(), len_bytes: 1, sha256: "x".into(), modified_s: 0 };
        let read = |manifest: &Manifest| Manifest::read(&manifest.to_json());
        let good = Manifest::new("2026-09-05T1412", vec![member("a"), member("log/a")]);
        assert_eq!(read(&good).unwrap(), good);
        let mut newer = good.clone();
        newer.format = 2;
        for bad in [
            newer,
            Manifest::new("../x", vec![]),
            Manifest::new("s", vec![member("a"), member("a")]),
            Manifest::new("s", vec![member("../a")]),
        ] {
            assert!(matches!(read(&bad), Err(ArchiveError::NotAnArchive(_))), "{bad:?}");
        }
        assert!(Manifest::read(b"{}").is_err() && Manifest::read(b"\xff").is_err());
    }
}
