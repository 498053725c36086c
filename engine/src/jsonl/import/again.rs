//! Sessions that were imported before, and what an import would do.
//!
//! A session was imported when there is one, under its id or that with a number, whose log gives its files back: all
//! of `raw.jsonl`, and `edits.jsonl` as the beginning, since it may have been edited here.

use std::fs::File;
use std::io::Read;

use super::{Imported, JsonlImportError};
use crate::export;
use crate::jsonl::{EDITS_FILE, JsonlReader, RAW_FILE};
use crate::session::id::numbered;
use crate::session::native::holds_log;
use crate::session::{Directory, SessionDirectory, SessionId, SessionMetadata};

/// The session's own id, where its directory is called otherwise: that of an export is `jsonl`, or whatever its maker
/// chose.
pub(super) fn id_of(source: &SessionDirectory, metadata: &SessionMetadata) -> SessionId {
    let said = SessionId::new(&metadata.id).ok().filter(|id| id.local_minute().is_some());
    match said {
        Some(said) if source.id().local_minute().is_none() => said,
        _ => source.id().clone(),
    }
}

/// The session below `root` that `source` became, if it was imported before.
pub(super) fn imported_before(
    source: &SessionDirectory,
    id: &SessionId,
    root: &Directory,
) -> Result<Option<Imported>, JsonlImportError> {
    for candidate in numbered(id) {
        let Some(session) = SessionDirectory::open(root, &candidate)? else { return Ok(None) };
        if !holds_log(session.directory())? {
            continue;
        }
        // One that cannot be read is not known to be this one.
        let Ok(files) = export::jsonl(&session) else { continue };
        if is_file(source, RAW_FILE, &files.lines, true)? && is_file(source, EDITS_FILE, &files.edits, false)?
        {
            return Ok(Some(Imported {
                id: candidate.to_string(),
                directory: session.directory().path().to_owned(),
                was_native: true,
                lines: 0,
                edits: 0,
                warnings: Vec::new(),
            }));
        }
    }
    Ok(None)
}

/// Whether the file `name` of `source` is what `bytes` are, or, unless `whole`, what they begin with.
fn is_file(
    source: &SessionDirectory,
    name: &str,
    bytes: &[u8],
    whole: bool,
) -> Result<bool, JsonlImportError> {
    let Some(file) = source.directory().open_file(name)? else { return Ok(!whole || bytes.is_empty()) };
    let same = |mut file: File| -> std::io::Result<bool> {
        let len_bytes = file.metadata()?.len();
        if len_bytes > bytes.len() as u64 || (whole && len_bytes != bytes.len() as u64) {
            return Ok(false);
        }
        let mut found = Vec::new();
        file.read_to_end(&mut found)?;
        Ok(bytes.starts_with(&found))
    };
    let read = same(file);
    Ok(read.map_err(|source_error| source.directory().failed("read", name, source_error))?)
}

/// What importing `source` would come to.
pub(super) fn preview(source: &SessionDirectory) -> Result<Imported, JsonlImportError> {
    let reader = JsonlReader::open(source.directory())?;
    let mut warnings: Vec<_> = reader.line_damage().report().collect();
    warnings.extend(reader.edit_damage().report());
    Ok(Imported {
        id: source.id().to_string(),
        directory: source.directory().path().to_owned(),
        was_native: false,
        lines: reader.len() as u64,
        edits: reader.edits() as u64 - reader.edit_damage().count(),
        warnings,
    })
}
