//! Turns a session of the predecessor's layout into one with a log.
//!
//! The log is built where no reader looks and shown by one rename, so at every moment the session is as it
//! was before or wholly imported, and a run that was killed can simply be done again. The source is only
//! read. What the log's events cannot give back byte for byte is kept in it (`Event::Kept`), so that an
//! export gives back every line as it was, also those nobody can read.

mod again;
mod builder;
mod description;
mod edits;
mod files;
mod lines;
mod source;
mod text;

use std::ffi::OsStr;
use std::path::PathBuf;

use crate::export::ExportError;
use crate::session::native::holds_log;
use crate::session::{
    CreateError, Directory, DirectoryError, PartialSession, SessionDirectory, write_derived_files,
};
use crate::view::ViewError;
use crate::{AppendError, Clock, DiskError, LogDirectory, OpenError};

use builder::LogBuilder;
use source::Source;

/// Where a log is built inside the session it will belong to.
const HIDDEN_LOG: &str = ".log.partial";

/// A session could not be imported. It is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JsonlImportError {
    /// Somebody else is at it.
    #[error("{id} is {doing}; import it once that has ended")]
    Busy {
        /// The session.
        id: String,
        /// What is being done with it.
        doing: &'static str,
    },
    /// Something of the source cannot be used, or something cannot be made in its new place.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// No name for it, or its directory cannot be made.
    #[error(transparent)]
    Create(#[from] CreateError),
    /// The log cannot be made.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The log cannot be written.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// What was written cannot be read back.
    #[error(transparent)]
    View(#[from] ViewError),
    /// `transcript.md` cannot be written.
    #[error(transparent)]
    Export(#[from] ExportError),
}

impl From<DiskError> for JsonlImportError {
    fn from(error: DiskError) -> Self {
        Self::Open(error.into())
    }
}

/// What importing came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The session's id, which is another one than before only when that was taken.
    pub id: String,
    /// Where it is.
    pub directory: PathBuf,
    /// Whether it had a log already, and nothing was done.
    pub was_native: bool,
    /// Lines in the log.
    pub lines: u64,
    /// Edits in the log, reverts included.
    pub edits: u64,
    /// What could not be read or taken along, one sentence each. Lines among it are in the log as they
    /// stood.
    pub warnings: Vec<String>,
}

/// How an import is done.
pub struct JsonlImport<'a> {
    /// The program and version that imports, as the log will name it.
    pub program: &'a str,
    /// Tells what is being written to now, and the time.
    pub clock: &'a dyn Clock,
    /// Is told from time to time how many bytes are done, and of how many.
    pub on_progress: &'a mut dyn FnMut(u64, u64),
}

impl JsonlImport<'_> {
    /// Gives `source`, which lies directly below `root`, a log in its own directory. Its `raw.jsonl`,
    /// `edits.jsonl` and all else stay as they are.
    ///
    /// # Errors
    /// It is being recorded, transcribed or imported, it cannot be read, or its log cannot be written.
    pub fn in_place(mut self, source: &SessionDirectory) -> Result<Imported, JsonlImportError> {
        if let Some(imported) = native(source)? {
            return Ok(imported);
        }
        let opened = Source::open(source, self.clock)?;
        let directory = source.directory();
        let held = directory.hold_hidden(OsStr::new(HIDDEN_LOG))?;
        let hidden = held.ok_or_else(|| busy(source, "being imported by another process"))?;
        let hidden = SessionDirectory::new(source.id().clone(), hidden);
        let built = self.build(&opened, &hidden, opened.text_len_bytes()).and_then(|imported| {
            opened.require_unchanged(self.clock)?;
            let log = OsStr::new(LogDirectory::NAME);
            directory.take_from(hidden.directory(), log, log)?;
            Ok(imported)
        });
        // Best effort: a stray hidden directory is ignored by every reader, and emptied by the next import.
        let _ = directory.delete(OsStr::new(HIDDEN_LOG));
        Ok(Imported { directory: directory.path().to_owned(), ..built? })
    }

    /// Makes a session below `root` of `source`, which lies elsewhere and stays as it is. Sound and what
    /// else is there come along. One that was imported before is left as it is.
    ///
    /// # Errors
    /// As [`in_place`](Self::in_place).
    pub fn into_root(
        mut self,
        source: &SessionDirectory,
        root: Directory,
    ) -> Result<Imported, JsonlImportError> {
        if let Some(imported) = native(source)? {
            return Ok(imported);
        }
        let opened = Source::open(source, self.clock)?;
        let id = again::id_of(source, &opened.metadata);
        if let Some(imported) = again::imported_before(source, &id, &root)? {
            return Ok(imported);
        }
        let partial = PartialSession::begin_as(root, &id)?;
        let built = self.build_whole(&opened, partial.session());
        match built {
            Ok(imported) => {
                let shown = partial.finish()?;
                Ok(Imported { directory: shown.directory().path().to_owned(), ..imported })
            }
            Err(error) => {
                // Best effort: what is left is never listed, and begun anew by the next import.
                let _ = partial.discard();
                Err(error)
            }
        }
    }

    /// Tells what [`into_root`](Self::into_root), or without a root [`in_place`](Self::in_place), would do, and
    /// does nothing.
    ///
    /// # Errors
    /// It is being recorded, transcribed or imported, or cannot be read.
    pub fn preview(
        self,
        source: &SessionDirectory,
        root: Option<&Directory>,
    ) -> Result<Imported, JsonlImportError> {
        if let Some(imported) = native(source)? {
            return Ok(imported);
        }
        let opened = Source::open(source, self.clock)?;
        let id = again::id_of(source, &opened.metadata);
        if let Some(root) = root {
            if let Some(imported) = again::imported_before(source, &id, root)? {
                return Ok(imported);
            }
        }
        let mut would_be = again::preview(source)?;
        would_be.warnings.extend(opened.unreadable_description.clone());
        if let Some(root) = root {
            would_be.directory = root.path().join(id.as_str());
            would_be.id = id.to_string();
        }
        Ok(would_be)
    }

    fn build_whole(
        &mut self,
        source: &Source<'_>,
        session: &SessionDirectory,
    ) -> Result<Imported, JsonlImportError> {
        let mut files = files::Along::of(source)?;
        let text_len_bytes = source.text_len_bytes();
        let all_bytes = text_len_bytes + files.len_bytes();
        let mut imported = self.build(source, session, all_bytes)?;
        files.copy(source.directory(), session.directory(), &mut |copied_bytes| {
            (self.on_progress)(text_len_bytes + copied_bytes, all_bytes);
        })?;
        imported.warnings.append(&mut files.left_out);
        write_derived_files(session)?;
        source.require_unchanged(self.clock)?;
        Ok(imported)
    }

    /// Writes the log of `source` into `session`.
    fn build(
        &mut self,
        source: &Source<'_>,
        session: &SessionDirectory,
        all_bytes: u64,
    ) -> Result<Imported, JsonlImportError> {
        let mut log = LogBuilder::begin(session, source, self.clock)?;
        let mut warnings = Vec::new();
        description::write(source, session, self.program, &mut log, &mut warnings)?;
        let progress = &mut *self.on_progress;
        let lines = lines::write(source, &mut log, &mut |done_bytes| progress(done_bytes, all_bytes))?;
        warnings.extend(lines.damage.report());
        let edits = edits::write(source, &lines, session, &mut log)?;
        warnings.extend(edits.damage.report());
        progress(source.text_len_bytes(), all_bytes);
        description::write_end(source, &mut log)?;
        log.close()?;
        Ok(Imported {
            id: session.id().to_string(),
            directory: PathBuf::new(),
            was_native: false,
            lines: lines.count,
            edits: edits.count,
            warnings,
        })
    }
}

/// What there is to say when `source` has a log already.
fn native(source: &SessionDirectory) -> Result<Option<Imported>, JsonlImportError> {
    if !holds_log(source.directory())? {
        return Ok(None);
    }
    Ok(Some(Imported {
        id: source.id().to_string(),
        directory: source.directory().path().to_owned(),
        was_native: true,
        lines: 0,
        edits: 0,
        warnings: Vec::new(),
    }))
}

fn busy(source: &SessionDirectory, doing: &'static str) -> JsonlImportError {
    JsonlImportError::Busy { id: source.id().to_string(), doing }
}
