//! `ambient export`: transcripts as files, or whole sessions in the older layout.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};

use ambient_engine::SystemClock;
use ambient_engine::archive::{ARCHIVE_EXTENSION, write_archive};
use ambient_engine::export::{self, ExportFormat, ExportSource, Title, file_name};
use ambient_engine::session::{
    Directory, DirectoryError, Existing, PersonState, SessionDirectory, refuse_guarded,
};
use anyhow::Context as _;

use crate::arguments::{Export, ExportForm};
use crate::exit::{self, Exit, Refusal};
use crate::output;
use crate::session_name;

/// Where a session in the older layout goes without being told.
const JSONL_DIRECTORY: &str = "jsonl";

pub(crate) fn run(export: &Export) -> anyhow::Result<Exit> {
    let forms = export.forms();
    let mut exporting =
        Exporting { place: Place::of(export, &forms)?, force: export.force, made: HashSet::new() };
    let sessions: Vec<SessionDirectory> = export
        .sessions
        .iter()
        .map(|word| session_name::open(&session_name::find(word)?))
        .collect::<anyhow::Result<_>>()?;
    let mut exit = Exit::Done;
    let mut failure = None;
    for session in &sessions {
        for form in &forms {
            match exporting.export(session, *form) {
                Ok(warnings) => {
                    for warning in &warnings {
                        output::warning(warning);
                        exit = Exit::Warnings;
                    }
                }
                // One that cannot be read keeps no other from being written.
                Err(error) => {
                    if let Some(before) = failure.replace(error) {
                        output::error(&exit::explanation(&before));
                    }
                }
            }
        }
    }
    failure.map_or(Ok(exit), Err)
}

/// Where the documents go.
enum Place {
    /// Each into its session.
    Sessions,
    Stdout,
    File(PathBuf),
    /// Under their sessions' names.
    Folder(PathBuf),
}

impl Place {
    fn of(export: &Export, forms: &[ExportForm]) -> anyhow::Result<Self> {
        let Some(out) = &export.out else {
            // Within the session it would be a part of the next archive.
            return Ok(if export.archive { Self::Folder(std::env::current_dir()?) } else { Self::Sessions });
        };
        let is_one = export.sessions.len() == 1 && forms.len() == 1;
        if out.as_os_str() == "-" {
            let text = "stdout takes one document; name one session and one format, or a folder with --out";
            return if is_one { Ok(Self::Stdout) } else { Err(Refusal::new(Exit::Usage, text).into()) };
        }
        let path = std::path::absolute(out).with_context(|| format!("{} is not a path", out.display()))?;
        let means_folder = out.as_os_str().as_encoded_bytes().ends_with(b"/");
        let is_jsonl = forms == [ExportForm::Jsonl];
        if !is_one || means_folder || (path.is_dir() && !is_jsonl) {
            return Ok(Self::Folder(path));
        }
        Ok(Self::File(path))
    }
}

struct Exporting {
    place: Place,
    force: bool,
    /// The names that were written to a folder, as a file system that takes no notice of case has them.
    made: HashSet<String>,
}

impl Exporting {
    /// What a person should know of it.
    fn export(&mut self, session: &SessionDirectory, form: ExportForm) -> anyhow::Result<Vec<String>> {
        match form {
            ExportForm::File(format) => self.as_file(session, format),
            ExportForm::Jsonl => self.as_directory(session),
            ExportForm::Archive { with_audio } => self.as_archive(session, with_audio),
        }
    }

    fn as_file(&mut self, session: &SessionDirectory, format: ExportFormat) -> anyhow::Result<Vec<String>> {
        let mut source = ExportSource::open(session, &SystemClock)?;
        let (id, metadata) = (source.id.clone(), source.metadata.clone());
        let title = Title { id: &id, metadata: metadata.as_ref() };
        let path = match &self.place {
            Place::Stdout => {
                let mut lines = source.lines()?;
                output::stream(|out| export::write(format, title, &mut lines, out))?;
                drop(lines);
                return Ok(source.warnings);
            }
            Place::Sessions => in_session(session, &source, format)?,
            Place::File(path) => path.clone(),
            Place::Folder(folder) => folder.join(free_name(&mut self.made, &id, format.extension())?),
        };
        let existing = self.existing();
        let mut lines = source.lines()?;
        put(&path, existing, |out| Ok(export::write(format, title, &mut lines, out)?))?;
        drop(lines);
        print_path(&path)?;
        Ok(source.warnings)
    }

    fn existing(&self) -> Existing {
        match self.place {
            // Whatever stands under these names in a session was made of it, and is now of an earlier day.
            Place::Sessions => Existing::Replaced,
            _ if self.force => Existing::Replaced,
            _ => Existing::Kept,
        }
    }

    /// Writes all of it as one file.
    fn as_archive(&mut self, session: &SessionDirectory, with_audio: bool) -> anyhow::Result<Vec<String>> {
        let id = session.id().to_string();
        let path = match &self.place {
            Place::Stdout => {
                let text = "an archive is no text; name a file or a folder with --out";
                return Err(Refusal::new(Exit::Usage, text).into());
            }
            Place::Sessions => session.directory().path().join(file_name(&id, ARCHIVE_EXTENSION)),
            Place::File(path) => path.clone(),
            Place::Folder(folder) => folder.join(free_name(&mut self.made, &id, ARCHIVE_EXTENSION)?),
        };
        let mut left_out = Vec::new();
        put(&path, self.existing(), |out| {
            left_out = write_archive(session, with_audio, out)?.left_out;
            Ok(())
        })?;
        print_path(&path)?;
        Ok(left_out)
    }

    /// Makes a directory of its own; only the one in the session is replaced when it is there.
    fn as_directory(&mut self, session: &SessionDirectory) -> anyhow::Result<Vec<String>> {
        let id = session.id().to_string();
        let path = match &self.place {
            Place::Stdout => {
                let text = "jsonl is a directory of files and cannot go to stdout";
                return Err(Refusal::new(Exit::Usage, text).into());
            }
            Place::Sessions => session.directory().path().join(JSONL_DIRECTORY),
            Place::File(path) => path.clone(),
            Place::Folder(folder) => folder.join(free_name(&mut self.made, &id, JSONL_DIRECTORY)?),
        };
        let (parent, name) = folder_and_name(&path)?;
        let is_ours = matches!(self.place, Place::Sessions);
        if !is_ours {
            refuse_guarded(&parent, name)?;
        }
        let files = export::jsonl(session)?;
        files.write(&parent, name, is_ours || self.force)?;
        print_path(&path)?;
        Ok(files.left_out)
    }
}

/// The name of a file for the session `id`. Two sessions never share one.
fn free_name(made: &mut HashSet<String>, id: &str, extension: &str) -> anyhow::Result<OsString> {
    let name = file_name(id, extension);
    if made.insert(name.to_lowercase()) {
        return Ok(name.into());
    }
    let text = format!("{id} would be written to {name}, where another session was; export it by itself");
    Err(Refusal::new(Exit::Failed, text).into())
}

fn print_path(path: &Path) -> anyhow::Result<()> {
    Ok(output::line(&path.display().to_string())?)
}

/// Where the file goes without being told. In the predecessor's layout a `transcript.md` says that the
/// session is complete, so one that is not gets none.
fn in_session(
    session: &SessionDirectory,
    source: &ExportSource,
    format: ExportFormat,
) -> anyhow::Result<PathBuf> {
    if format == ExportFormat::Markdown && source.state != PersonState::Done {
        let text = format!(
            "{} is not complete ({}), and transcript.md in it would say that it is; name a file with --out",
            source.id, source.state
        );
        return Err(Refusal::new(Exit::Failed, text).into());
    }
    Ok(session.directory().path().join(format!("transcript.{}", format.extension())))
}

/// Why a file was not put in place.
struct PutError(anyhow::Error);

impl<E: Into<anyhow::Error>> From<E> for PutError {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

fn folder_and_name(path: &Path) -> anyhow::Result<(Directory, &OsStr)> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(Refusal::new(Exit::Usage, format!("{} is not a file to write", path.display())).into());
    };
    Ok((Directory::open(folder)?, name))
}

/// Puts the file at `path` in place in one step; what is there and is no file is left alone.
fn put(
    path: &Path,
    existing: Existing,
    write: impl FnOnce(&mut dyn Write) -> Result<(), PutError>,
) -> anyhow::Result<()> {
    let (folder, name) = folder_and_name(path)?;
    refuse_guarded(&folder, name)?;
    match folder.require_file(name) {
        Err(error @ DirectoryError::Symlink(_)) => {
            return Err(error).context("the file to write is a link, which is not followed");
        }
        Err(error) => return Err(error).context("the file to write is something else; --out - is stdout"),
        Ok(()) => {}
    }
    match folder.replace_with(name, existing, write) {
        Err(PutError(error))
            if error.downcast_ref::<DirectoryError>().is_some_and(DirectoryError::is_taken) =>
        {
            let text = format!("{} is there already; --force replaces it", path.display());
            Err(Refusal::new(Exit::Failed, text).into())
        }
        written => written.map_err(|PutError(error)| error),
    }
}
