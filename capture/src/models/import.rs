//! Takes in a model the user has: a ggml file, or a CTranslate2 (faster-whisper) folder, which is converted.
//!
//! The source is only read. What gets the model's name has been looked over, loaded by whisper.cpp and, where a
//! [`KnownSentence`] is given, has heard it right.

use super::catalogue::{self, Purpose};
use super::ct2::convert::{Conversion, ConvertError, Folder};
use super::cursor::ReadError;
use super::directory::{DirectoryError, ModelDirectory};
use super::inspect::{self, Kind};
use super::placement::{Placement, PlacementError};
use super::progress::{Progress, Stage};
use super::trial::{self, KnownSentence, TrialError};
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes copied at a time.
const BUFFER_BYTES: usize = 256 << 10;

/// Why a model was not taken in.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// There is nothing to take in, or it cannot be read.
    #[error("{}: {source}", path.display())]
    Source {
        /// What was given.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It has no name that could be a model's.
    #[error("{}: no model name can be made of this; give one: ambient models import PATH --name NAME", path.display())]
    Nameless {
        /// What was given.
        path: PathBuf,
    },
    /// The name belongs to a model for something else.
    #[error("`{name}` is the name of a model for {known}, and this is one for {found}; give another name")]
    OtherPurpose {
        /// The name.
        name: String,
        /// What the known model is for.
        known: &'static str,
        /// What this one is for.
        found: &'static str,
    },
    /// A model of that name is there.
    #[error(
        "a model `{name}` is there already; to replace it: ambient models remove {name}, then import again"
    )]
    Occupied {
        /// The name.
        name: String,
    },
    /// The model directory cannot be used, or the name is none.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// It cannot be put in its place.
    #[error(transparent)]
    Placement(#[from] PlacementError),
    /// The ggml file is damaged or none.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The folder cannot be converted.
    #[error(transparent)]
    Convert(ConvertError),
    /// It does not work.
    #[error(transparent)]
    Trial(#[from] TrialError),
    /// Someone asked to stop.
    #[error("stopped; nothing was taken in")]
    Interrupted,
}

/// A model that was taken in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// What it is called now.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// What it is.
    pub kind: Kind,
    /// What it heard of the known sentence, where it was asked.
    pub heard: Option<String>,
}

/// Takes models into one directory.
#[derive(Debug)]
pub struct Importer<'a> {
    /// Where they go.
    pub directory: &'a ModelDirectory,
    /// What a recogniser must hear right; without one it must only load.
    pub sentence: Option<KnownSentence<'a>>,
    /// Once set, the import ends soon with [`ImportError::Interrupted`].
    pub stop: &'a AtomicBool,
}

impl Importer<'_> {
    /// Takes in the file or folder `from`, under `name` or one made of the file's.
    ///
    /// # Errors
    /// [`ImportError`]; then nothing was changed.
    ///
    /// ```no_run
    /// use ambient_capture::models::{directory::ModelDirectory, import::Importer};
    /// use std::{path::Path, sync::atomic::AtomicBool};
    /// let directory = ModelDirectory::at("/tmp/models");
    /// let importer = Importer { directory: &directory, sentence: None, stop: &AtomicBool::new(false) };
    /// let imported = importer.import(Path::new("faster-whisper-small"), None, &mut |_| ())?;
    /// assert_eq!(imported.name, "small");
    /// # Ok::<(), ambient_capture::models::import::ImportError>(())
    /// ```
    pub fn import(
        &self,
        from: &Path,
        name: Option<&str>,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<Imported, ImportError> {
        let metadata = std::fs::metadata(from)
            .map_err(|source| ImportError::Source { path: from.to_owned(), source })?;
        let name = match name {
            Some(name) => name.to_owned(),
            None => name_of(from).ok_or_else(|| ImportError::Nameless { path: from.to_owned() })?,
        };
        let target = self.directory.place(&name)?;
        let waiting = Progress::beginning(Stage::Waiting);
        let placement =
            Placement::begin(&target, self.stop, &mut || on_progress(waiting)).map_err(not_placed(&name))?;
        if std::fs::symlink_metadata(&target).is_ok() {
            return Err(ImportError::Occupied { name });
        }
        let made = placement.scratch().map_err(not_placed(&name))?.join("model.bin");
        if metadata.is_dir() {
            self.convert(from, &made, on_progress)?;
        } else {
            inspect::inspect(from)?;
            self.copy(from, &made, on_progress)?;
        }
        // The copy is looked over, not the source: that may have changed meanwhile.
        let kind = inspect::inspect(&made)?;
        check_purpose(&name, kind.purpose())?;
        on_progress(Progress::beginning(Stage::Trying));
        let heard = match (kind, &self.sentence) {
            (Kind::Whisper(_), Some(sentence)) => Some(trial::listen(&made, sentence)?),
            _ => trial::load(&made, kind.purpose()).map(|()| None)?,
        };
        let path = placement.commit(&made).map_err(not_placed(&name))?;
        Ok(Imported { name, path, kind, heard })
    }

    fn convert(
        &self,
        folder: &Path,
        to: &Path,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<(), ImportError> {
        let conversion =
            Folder::find(folder).and_then(|f| Conversion::plan(&f)).map_err(ImportError::Convert)?;
        let total_bytes = conversion.size_bytes();
        let file = File::create(to).map_err(|e| PlacementError::io(to, e))?;
        let written = conversion.write(&mut BufWriter::new(file), self.stop, &mut |done_bytes| {
            on_progress(Progress { stage: Stage::Converting, done_bytes, total_bytes });
        });
        written.map_err(|error| match error {
            ConvertError::Interrupted => ImportError::Interrupted,
            ConvertError::Write(e) => PlacementError::io(to, e).into(),
            error => ImportError::Convert(error),
        })
    }

    fn copy(&self, from: &Path, to: &Path, on_progress: &mut dyn FnMut(Progress)) -> Result<(), ImportError> {
        let unreadable = |source| ImportError::Source { path: from.to_owned(), source };
        let mut source = File::open(from).map_err(unreadable)?;
        let total_bytes = source.metadata().map_err(unreadable)?.len();
        let mut copy = File::create(to).map_err(|e| PlacementError::io(to, e))?;
        let mut buffer = vec![0; BUFFER_BYTES];
        let mut done_bytes = 0;
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Err(ImportError::Interrupted);
            }
            let len = source.read(&mut buffer).map_err(unreadable)?;
            if len == 0 {
                return Ok(());
            }
            copy.write_all(&buffer[..len]).map_err(|e| PlacementError::io(to, e))?;
            done_bytes += len as u64;
            on_progress(Progress { stage: Stage::Copying, done_bytes, total_bytes });
        }
    }
}

/// The name of a model in a file `ggml-small.bin` or a folder `faster-whisper-small`.
fn name_of(path: &Path) -> Option<String> {
    let file_name = path.file_name()?.to_str()?;
    let name = file_name.strip_suffix(".bin").unwrap_or(file_name);
    let prefix = ["ggml-", "faster-whisper-", "whisper-"].into_iter().find(|p| name.starts_with(p));
    let name = prefix.and_then(|p| name.strip_prefix(p)).unwrap_or(name);
    ModelDirectory::at("").place(name).is_ok().then(|| name.to_owned())
}

fn check_purpose(name: &str, found: Purpose) -> Result<(), ImportError> {
    let words = |purpose| match purpose {
        Purpose::Recognition => "recognition",
        Purpose::VoiceActivity => "voice activity",
    };
    match catalogue::find(name) {
        Some(known) if known.purpose != found => Err(ImportError::OtherPurpose {
            name: name.to_owned(),
            known: words(known.purpose),
            found: words(found),
        }),
        _ => Ok(()),
    }
}

/// What a failed placement means for an import.
fn not_placed(name: &str) -> impl Fn(PlacementError) -> ImportError {
    move |error| match error {
        PlacementError::Interrupted => ImportError::Interrupted,
        PlacementError::Occupied { .. } => ImportError::Occupied { name: name.to_owned() },
        error @ PlacementError::Io { .. } => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_files_and_folders() {
        let name = |path: &str| name_of(Path::new(path));
        assert_eq!(name("/x/ggml-small.en-q5_1.bin").as_deref(), Some("small.en-q5_1"));
        assert_eq!(name("models/faster-whisper-large-v3/").as_deref(), Some("large-v3"));
        assert_eq!(name("mine.bin").as_deref(), Some("mine"));
        assert_eq!(name("my model.bin"), None);
        assert_eq!(name(".."), None);
    }

    #[test]
    fn a_known_name_keeps_its_purpose() {
        assert!(check_purpose("tiny.en", Purpose::VoiceActivity).is_err());
        assert!(check_purpose("tiny.en", Purpose::Recognition).is_ok());
        assert!(check_purpose("mine", Purpose::VoiceActivity).is_ok());
    }
}
