//! Where models live.
//!
//! `AMBIENT_MODELS`, else the platform's data folder under HOME; nothing else is asked, so that a program started with
//! a bare environment finds what the terminal finds. A model is named by one path segment; nothing outside
//! the directory can be reached by a name.

use super::catalogue::{self, Model};
use super::checksum;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// The longest name a model may have.
const NAME_CEILING: usize = 100;

/// What can go wrong in the model directory.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// Neither variable says where models live.
    #[error("neither AMBIENT_MODELS nor HOME is set, so there is no place for models; set one of them")]
    Nowhere,
    /// A name that can name no model.
    #[error(
        "{name:?} is no model name: letters, digits, '.', '_' and '-' only, not starting with '.' or '-'"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// The model is not there.
    #[error("no model `{name}` in {}; {}", directory.display(), advice(name))]
    Missing {
        /// The model.
        name: String,
        /// Where it was looked for.
        directory: PathBuf,
    },
    /// There is something by that name, but no file that may be treated as a model.
    #[error("{} is not a regular file; it is left alone", path.display())]
    NotAFile {
        /// What was found.
        path: PathBuf,
    },
    /// The system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// What to do about a missing model.
///
/// ```
/// use ambient_capture::models::directory::advice;
/// assert_eq!(advice("tiny.en"), "run: ambient models fetch tiny.en");
/// ```
pub fn advice(name: &str) -> String {
    if catalogue::find(name).is_some() {
        format!("run: ambient models fetch {name}")
    } else {
        format!(
            "`ambient models list` shows the known ones; to use a file you have: ambient models import FILE --name {name}"
        )
    }
}

/// What is known about a model file's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Its length and checksum are the published ones.
    Verified,
    /// Its length is the published one; the checksum was not computed.
    SizeFits,
    /// It is not the published file: damaged, or imported from elsewhere.
    Differs,
    /// There is no published file of this name to compare it with.
    Unlisted,
}

/// A model file that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// What it is called.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// How long it is.
    pub size_bytes: u64,
    /// What is known about its content.
    pub state: State,
}

/// A directory of models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelDirectory {
    path: PathBuf,
}

impl ModelDirectory {
    /// A directory of the caller's choice. It need not exist yet.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The directory that the values of `AMBIENT_MODELS` and `HOME` lead to; an empty value counts as none.
    ///
    /// # Errors
    /// [`DirectoryError::Nowhere`].
    ///
    /// ```
    /// use ambient_capture::models::directory::ModelDirectory;
    /// let chosen = ModelDirectory::from_environment(Some("/srv/models".into()), None).unwrap();
    /// assert_eq!(chosen.path(), std::path::Path::new("/srv/models"));
    /// ```
    pub fn from_environment(
        ambient_models: Option<OsString>,
        home: Option<OsString>,
    ) -> Result<Self, DirectoryError> {
        let given = |value: Option<OsString>| value.filter(|v| !v.is_empty()).map(PathBuf::from);
        if let Some(path) = given(ambient_models) {
            return Ok(Self { path });
        }
        let data = if cfg!(target_os = "macos") {
            "Library/Application Support/Ambient"
        } else {
            ".local/share/ambient"
        };
        let home = given(home).ok_or(DirectoryError::Nowhere)?;
        Ok(Self { path: home.join(data).join("models") })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the model of this name is or would be.
    ///
    /// # Errors
    /// [`DirectoryError::Name`].
    pub fn place(&self, name: &str) -> Result<PathBuf, DirectoryError> {
        let letters = name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
        if !letters || name.is_empty() || name.len() > NAME_CEILING || name.starts_with(['.', '-']) {
            return Err(DirectoryError::Name { name: name.to_owned() });
        }
        Ok(self.path.join(format!("ggml-{name}.bin")))
    }

    /// The file of the model with this name; its content is not looked at. A link to a file is followed.
    ///
    /// # Errors
    /// [`DirectoryError::Missing`], which says how to get it, and the other reasons it cannot be used.
    pub fn find(&self, name: &str) -> Result<PathBuf, DirectoryError> {
        let path = self.place(name)?;
        match fs::metadata(&path) {
            Ok(found) if found.is_file() => Ok(path),
            Ok(_) => Err(DirectoryError::NotAFile { path }),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                Err(DirectoryError::Missing { name: name.to_owned(), directory: self.path.clone() })
            }
            Err(source) => Err(DirectoryError::Io { path, source }),
        }
    }

    /// Every model that is there, by name. Checksums are not computed: see [`ModelDirectory::verify`].
    ///
    /// # Errors
    /// When the directory cannot be read; one that does not exist is empty.
    pub fn installed(&self) -> Result<Vec<Installed>, DirectoryError> {
        let io = |source| DirectoryError::Io { path: self.path.clone(), source };
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(io(e)),
        };
        let mut found = Vec::new();
        for entry in entries {
            let file_name = entry.map_err(io)?.file_name();
            let name =
                file_name.to_str().and_then(|f| f.strip_prefix("ggml-")).and_then(|f| f.strip_suffix(".bin"));
            // A file that vanishes or cannot be looked at meanwhile is not a model that is there.
            if let Some(path) = name.and_then(|name| self.find(name).ok())
                && let Ok(metadata) = fs::metadata(&path)
            {
                let name = name.unwrap_or_default().to_owned();
                let size_bytes = metadata.len();
                let state = match catalogue::find(&name) {
                    None => State::Unlisted,
                    Some(model) if model.size_bytes == size_bytes => State::SizeFits,
                    Some(_) => State::Differs,
                };
                found.push(Installed { name, path, size_bytes, state });
            }
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    }

    /// Compares the file of a known model with the published length and checksum.
    ///
    /// # Errors
    /// As [`ModelDirectory::find`], and when the file cannot be read or `stop` is set.
    pub fn verify(
        &self,
        model: &Model,
        stop: &AtomicBool,
        on_progress: &mut dyn FnMut(u64),
    ) -> Result<State, DirectoryError> {
        let path = self.find(model.name)?;
        let io = |source| DirectoryError::Io { path: path.clone(), source };
        let mut file = fs::File::open(&path).map_err(io)?;
        if file.metadata().map_err(io)?.len() != model.size_bytes {
            return Ok(State::Differs);
        }
        let sum = checksum::sha256(&mut file, stop, on_progress).map_err(io)?;
        Ok(if sum == model.sha256 { State::Verified } else { State::Differs })
    }

    /// Removes the model of this name and gives back where it was. Only a regular file goes: a link is left
    /// alone, and what it points to all the more.
    ///
    /// # Errors
    /// [`DirectoryError::Missing`] and the other reasons it was not removed.
    pub fn remove(&self, name: &str) -> Result<PathBuf, DirectoryError> {
        let path = self.place(name)?;
        let removed = match fs::symlink_metadata(&path) {
            Ok(found) if found.is_file() => fs::remove_file(&path),
            Ok(_) => return Err(DirectoryError::NotAFile { path }),
            Err(e) => Err(e),
        };
        match removed {
            Ok(()) => Ok(path),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                Err(DirectoryError::Missing { name: name.to_owned(), directory: self.path.clone() })
            }
            Err(source) => Err(DirectoryError::Io { path, source }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn directory() -> (tempfile::TempDir, ModelDirectory) {
        let temporary = tempfile::tempdir().unwrap();
        let models = ModelDirectory::at(temporary.path().join("models"));
        fs::create_dir(models.path()).unwrap();
        (temporary, models)
    }

    #[test]
    fn the_variable_comes_first_then_home_then_nothing() {
        let from = |models: Option<&str>, home: Option<&str>| {
            ModelDirectory::from_environment(models.map(Into::into), home.map(Into::into))
        };
        assert_eq!(from(Some("/m"), Some("/h")).unwrap().path(), Path::new("/m"));
        let under_home = from(Some(""), Some("/h")).unwrap();
        assert!(under_home.path().starts_with("/h") && under_home.path().ends_with("models"));
        assert!(matches!(from(None, Some("")), Err(DirectoryError::Nowhere)));
    }

    #[test]
    fn a_missing_model_comes_with_the_command_that_gets_it() {
        let (_keep, models) = directory();
        let message = models.find("tiny.en").unwrap_err().to_string();
        assert!(message.starts_with("no model `tiny.en` in "), "{message}");
        assert!(message.ends_with("run: ambient models fetch tiny.en"), "{message}");
        assert!(models.find("mine").unwrap_err().to_string().contains("--name mine"));
    }

    #[test]
    fn no_name_leads_out_of_the_directory() {
        let (_keep, models) = directory();
        let long = "x".repeat(101);
        for name in ["", ".", "..", "../x", "a/b", "a\\b", "-x", ".x", "a b", "ä", "a\0b", long.as_str()] {
            assert!(matches!(models.remove(name), Err(DirectoryError::Name { .. })), "{name:?}");
            assert!(matches!(models.find(name), Err(DirectoryError::Name { .. })), "{name:?}");
        }
    }

    #[test]
    fn the_list_tells_fitting_differing_and_unlisted_files_apart() {
        let (_keep, models) = directory();
        let silero = catalogue::find("silero-v6.2.0").unwrap();
        let file = fs::File::create(models.place(silero.name).unwrap()).unwrap();
        file.set_len(silero.size_bytes).unwrap();
        fs::write(models.place("tiny").unwrap(), "short").unwrap();
        fs::write(models.place("mine").unwrap(), "").unwrap();
        fs::write(models.path().join(".ggml-base.bin.partial"), "").unwrap();
        fs::create_dir(models.path().join("ggml-folder.bin")).unwrap();
        let states: Vec<_> = models.installed().unwrap().into_iter().map(|m| (m.name, m.state)).collect();
        let expected =
            [("mine", State::Unlisted), ("silero-v6.2.0", State::SizeFits), ("tiny", State::Differs)];
        assert_eq!(states, expected.map(|(name, state)| (name.to_owned(), state)));
        let verified = models.verify(silero, &AtomicBool::new(false), &mut |_| ()).unwrap();
        assert_eq!(verified, State::Differs, "zeros of the right length are found out");
    }

    #[test]
    fn a_directory_that_is_not_there_is_empty() {
        assert_eq!(ModelDirectory::at("/nonexistent/models").installed().unwrap(), []);
    }

    #[test]
    fn removing_takes_the_file_and_never_follows_a_link() {
        let (keep, models) = directory();
        let elsewhere = keep.path().join("precious");
        fs::write(&elsewhere, "weights").unwrap();
        symlink(&elsewhere, models.place("linked").unwrap()).unwrap();
        assert!(matches!(models.remove("linked"), Err(DirectoryError::NotAFile { .. })));
        assert!(models.find("linked").is_ok(), "a linked model can be used");
        assert_eq!(fs::read(&elsewhere).unwrap(), b"weights");
        fs::write(models.place("own").unwrap(), "").unwrap();
        let path = models.remove("own").unwrap();
        assert!(!path.exists());
        assert!(matches!(models.remove("own"), Err(DirectoryError::Missing { .. })));
    }
}
