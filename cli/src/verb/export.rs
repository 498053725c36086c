//! `ambient export`: a session's transcript as a file, or all of it in the older layout.

use std::path::{Path, PathBuf};

use ambient_engine::SystemClock;
use ambient_engine::export::{self, ExportFormat};
use ambient_engine::session::{Directory, DirectoryError, PersonState, SessionPlace};
use ambient_engine::view::{self, ReadingQuery, SessionReading, TranscriptLine};
use anyhow::Context as _;

use crate::arguments::{Export, ExportForm};
use crate::exit::{Exit, Refusal};
use crate::output;
use crate::session_name;

/// Where a session in the older layout goes without being told.
const JSONL_DIRECTORY: &str = "jsonl";

pub(crate) fn run(export: &Export) -> anyhow::Result<Exit> {
    let place = session_name::find(&export.session)?;
    let warnings = match export.format {
        ExportForm::File(format) => as_file(&place, format, export.out.as_deref())?,
        ExportForm::Jsonl => as_directory(&place, export.out.as_deref())?,
    };
    for warning in &warnings {
        output::warning(warning);
    }
    Ok(if warnings.is_empty() { Exit::Done } else { Exit::Warnings })
}

fn as_file(place: &SessionPlace, format: ExportFormat, out: Option<&Path>) -> anyhow::Result<Vec<String>> {
    let reading = view::reading(&place.root, &place.id, &ReadingQuery::default(), &SystemClock)?;
    let lines: Vec<TranscriptLine> = reading.lines.iter().map(|numbered| numbered.line.clone()).collect();
    let text = export::export(format, &lines, reading.metadata.as_ref());
    match out {
        Some(path) if path.as_os_str() == "-" => output::document(&text)?,
        Some(path) => print_path(&write(path, &text)?)?,
        None => print_path(&write(&in_session(place, &reading, format)?, &text)?)?,
    }
    Ok(reading.warnings)
}

/// Makes a directory of its own; only the one in the session is replaced when it is there.
fn as_directory(place: &SessionPlace, out: Option<&Path>) -> anyhow::Result<Vec<String>> {
    if out.is_some_and(|path| path.as_os_str() == "-") {
        return Err(Refusal::new(Exit::Usage, "jsonl is a directory of files and cannot go to stdout").into());
    }
    let session = session_name::open(place)?;
    let path = match out {
        Some(path) => {
            std::path::absolute(path).with_context(|| format!("{} is not a path", path.display()))?
        }
        None => session.directory().path().join(JSONL_DIRECTORY),
    };
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(
            Refusal::new(Exit::Usage, format!("{} is not a directory to make", path.display())).into()
        );
    };
    let files = export::jsonl(&session)?;
    files.write(&Directory::open(parent)?, name, out.is_none())?;
    print_path(&path)?;
    Ok(files.left_out)
}

fn print_path(path: &Path) -> anyhow::Result<()> {
    Ok(output::line(&path.display().to_string())?)
}

/// Where the file goes without being told. In the predecessor's layout a `transcript.md` says that the
/// session is complete, so one that is not gets none.
fn in_session(
    place: &SessionPlace,
    reading: &SessionReading,
    format: ExportFormat,
) -> anyhow::Result<PathBuf> {
    if format == ExportFormat::Markdown && reading.state != PersonState::Done {
        let text = format!(
            "{} is not complete ({}), and transcript.md in it would say that it is; name a file with --out",
            place.id, reading.state
        );
        return Err(Refusal::new(Exit::Failed, text).into());
    }
    Ok(place.root.join(&place.id).join(format!("transcript.{}", format.extension())))
}

/// Replaces the file at `path` in one step; what is there and is no file is left alone.
fn write(path: &Path, text: &str) -> anyhow::Result<PathBuf> {
    let path = std::path::absolute(path).with_context(|| format!("{} is not a path", path.display()))?;
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(Refusal::new(Exit::Usage, format!("{} is not a file", path.display())).into());
    };
    let folder = Directory::open(folder)?;
    match folder.require_file(name) {
        Err(error @ DirectoryError::Symlink(_)) => {
            return Err(error).context("the file to write is a link, which is not followed");
        }
        Err(error) => return Err(error).context("the file to write is something else; --out - is stdout"),
        Ok(()) => folder.replace(name, text.as_bytes())?,
    }
    Ok(path)
}
