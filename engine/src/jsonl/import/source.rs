//! The session that is imported, held open.
//!
//! What it held when the import began is what is imported. If somebody writes to it meanwhile the import
//! is given up: half of a session must not pass for all of it.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::time::SystemTime;

use jiff::tz::Offset;

use super::{JsonlImportError, busy};
use crate::Clock;
use crate::jsonl::reader::{EDITS_FILE, RAW_FILE};
use crate::jsonl::session::refuse_links;
use crate::jsonl::state::{FileSigns, TRANSCRIPT_FILE, is_any_track_growing};
use crate::jsonl::written::offset_of;
use crate::session::metadata::{METADATA_FILE, METADATA_LEN_MAX_BYTES};
use crate::session::{Directory, DirectoryError, SessionDirectory, SessionMetadata};

/// By what a change of a file is noticed: device, inode, length, and when it was written to last.
type Stamp = Option<(u64, u64, u64, i64, i64)>;

/// The source of an import.
pub(super) struct Source<'a> {
    pub(super) session: &'a SessionDirectory,
    /// `session.json` as it stands.
    pub(super) description: Option<Vec<u8>>,
    /// What it says; the default when it says nothing.
    pub(super) metadata: SessionMetadata,
    /// Why it cannot be read, when it cannot.
    pub(super) unreadable_description: Option<String>,
    pub(super) raw: Option<File>,
    pub(super) edits: Option<File>,
    /// When the session was finished, for one that is.
    pub(super) finished_at: Option<SystemTime>,
    stamps: [Stamp; 2],
}

impl<'a> Source<'a> {
    pub(super) fn open(session: &'a SessionDirectory, clock: &dyn Clock) -> Result<Self, JsonlImportError> {
        let directory = session.directory();
        refuse_links(session)?;
        refuse_live(session, clock)?;
        let description = directory.read(METADATA_FILE, METADATA_LEN_MAX_BYTES)?;
        let parsed = description.as_deref().map(serde_json::from_slice).transpose();
        let (metadata, unreadable_description) = match parsed {
            Ok(metadata) => (metadata.unwrap_or_default(), None),
            Err(error) => {
                let path = directory.path().join(METADATA_FILE);
                (SessionMetadata::default(), Some(format!("{}: {error}", path.display())))
            }
        };
        let raw = directory.open_file(RAW_FILE)?;
        let edits = directory.open_file(EDITS_FILE)?;
        Ok(Self {
            session,
            description,
            metadata,
            unreadable_description,
            raw,
            edits,
            finished_at: directory.modified_at(TRANSCRIPT_FILE)?,
            stamps: stamps(directory)?,
        })
    }

    pub(super) fn directory(&self) -> &Directory {
        self.session.directory()
    }

    /// The offset from UTC of the session's times.
    pub(super) fn offset(&self) -> Offset {
        self.metadata.started_at.as_deref().map_or(Offset::UTC, offset_of)
    }

    /// Bytes of both JSONL files.
    pub(super) fn text_len_bytes(&self) -> u64 {
        self.stamps.iter().flatten().map(|stamp| stamp.2).sum()
    }

    /// Refuses to go on when somebody has begun to work on the session.
    pub(super) fn require_unchanged(&self, clock: &dyn Clock) -> Result<(), JsonlImportError> {
        refuse_live(self.session, clock)?;
        if stamps(self.directory())? == self.stamps {
            Ok(())
        } else {
            Err(busy(self.session, "being written to by another program"))
        }
    }
}

fn refuse_live(session: &SessionDirectory, clock: &dyn Clock) -> Result<(), JsonlImportError> {
    let directory = session.directory();
    let signs = FileSigns::read(directory, clock)?;
    if is_any_track_growing(directory, clock)? {
        return Err(busy(session, "being recorded"));
    }
    if signs.is_transcribing {
        return Err(busy(session, "being transcribed by another program"));
    }
    Ok(())
}

fn stamps(directory: &Directory) -> Result<[Stamp; 2], DirectoryError> {
    Ok([stamp(directory, RAW_FILE)?, stamp(directory, EDITS_FILE)?])
}

fn stamp(directory: &Directory, name: &str) -> Result<Stamp, DirectoryError> {
    let Some(file) = directory.open_file(name)? else { return Ok(None) };
    match file.metadata() {
        Ok(found) => Ok(Some((found.dev(), found.ino(), found.len(), found.mtime(), found.mtime_nsec()))),
        Err(source) => {
            Err(DirectoryError::Io { action: "look at", path: directory.path().join(name), source })
        }
    }
}
