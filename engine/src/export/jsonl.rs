//! A session in the predecessor's layout: `session.json`, `raw.jsonl`, `edits.jsonl`.
//!
//! What was imported comes back byte for byte. Later events are written as the predecessor writes its own:
//! its programs read them. What it has no words for is left out and counted: lines taken out of the fold,
//! second voices, and what a log says of a line beside its times, text and confidence.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use jiff::tz::Offset;

use crate::jsonl::record::Place;
use crate::jsonl::state::TRANSCRIPT_FILE;
use crate::jsonl::written::{WrittenEdit, edit_record, line_record, moment, offset_of};
use crate::jsonl::{EDITS_FILE, RAW_FILE};
use crate::session::metadata::METADATA_FILE;
use crate::session::native::holds_log;
use crate::session::{
    Directory, DirectoryError, SessionDirectory, SessionMetadata, describe, write_document,
};
use crate::view::ViewError;
use crate::{Change, Edit, Event, Kept, KeptFile, Mapping, Recorded};

use super::{ExportError, description};

/// The files of a session in that layout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JsonlFiles {
    /// `session.json`; empty when there is none.
    pub description: Vec<u8>,
    /// `raw.jsonl`.
    pub lines: Vec<u8>,
    /// `edits.jsonl`.
    pub edits: Vec<u8>,
    /// `transcript.md`, by which the layout tells that a session is complete; none when it is not.
    pub transcript: Option<Vec<u8>>,
    /// What has no place in the layout, one sentence each.
    pub left_out: Vec<String>,
}

/// Writes `session` in the predecessor's layout. One that is in that layout is given as it is.
///
/// # Errors
/// It cannot be read.
pub fn jsonl(session: &SessionDirectory) -> Result<JsonlFiles, ExportError> {
    if !holds_log(session.directory())? {
        return Ok(as_it_is(session)?);
    }
    let mut reader = session.read_log(Mapping::On)?;
    let metadata = describe(session, &mut reader)?;
    let mut files = Files::default();
    reader.snapshot()?.each_event(|recorded| files.note(&recorded))?;
    let transcript = match metadata.finished_at {
        Some(_) => {
            let mut document = Vec::new();
            write_document(&mut reader, &metadata, &mut document)?;
            Some(document)
        }
        None => None,
    };
    Ok(JsonlFiles { transcript, ..files.finish(&metadata) })
}

fn as_it_is(session: &SessionDirectory) -> Result<JsonlFiles, ViewError> {
    let read = |name: &str| session.directory().read(name, u64::MAX);
    Ok(JsonlFiles {
        description: read(METADATA_FILE)?.unwrap_or_default(),
        lines: read(RAW_FILE)?.unwrap_or_default(),
        edits: read(EDITS_FILE)?.unwrap_or_default(),
        transcript: read(TRANSCRIPT_FILE)?,
        left_out: Vec::new(),
    })
}

/// A directory of these files could not be written. Nothing is left of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JsonlWriteError {
    /// Something is there, and it is not for this to replace.
    #[error("{} is there already; name another directory", .0.display())]
    Taken(PathBuf),
    /// Another process is writing it.
    #[error("{} is being written by another process", .0.display())]
    Busy(PathBuf),
    /// The system refused.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
}

impl JsonlFiles {
    /// The names of all files that can be written.
    const NAMES: [&str; 4] = [METADATA_FILE, RAW_FILE, EDITS_FILE, TRANSCRIPT_FILE];

    /// Writes the files as the directory `name` below `parent`, all of them or none. With `may_replace`, a
    /// directory that holds such files and nothing else is replaced.
    ///
    /// # Errors
    /// Something else is there, or the disk refuses; what was there is as it was.
    pub fn write(&self, parent: &Directory, name: &OsStr, may_replace: bool) -> Result<(), JsonlWriteError> {
        let mut hidden = OsString::from(".");
        hidden.push(name);
        hidden.push(".partial");
        let held = parent.hold_hidden(&hidden)?;
        let directory = held.ok_or_else(|| JsonlWriteError::Busy(parent.path().join(name)))?;
        let written = self.write_all(&directory).and_then(|()| show(parent, &hidden, name, may_replace));
        // After an exchange the old files are there. Best effort: the next export empties it.
        let _ = parent.delete(&hidden);
        written
    }

    fn write_all(&self, directory: &Directory) -> Result<(), JsonlWriteError> {
        let description = Some(&self.description).filter(|bytes| !bytes.is_empty());
        let files = [description, Some(&self.lines), Some(&self.edits), self.transcript.as_ref()];
        for (name, bytes) in Self::NAMES.iter().zip(files) {
            if let Some(bytes) = bytes {
                directory.replace(name, bytes)?;
            }
        }
        Ok(())
    }
}

/// Gives the complete directory `hidden` its `name`.
fn show(parent: &Directory, hidden: &OsStr, name: &OsStr, may_replace: bool) -> Result<(), JsonlWriteError> {
    let taken = || JsonlWriteError::Taken(parent.path().join(name));
    match parent.subdirectory(name) {
        Ok(None) => match parent.rename_new(hidden, name) {
            Err(error) if error.is_taken() => Err(taken()),
            renamed => Ok(renamed?),
        },
        Ok(Some(there)) => {
            let names = there.names()?;
            let is_ours = names.iter().all(|name| JsonlFiles::NAMES.iter().any(|known| name == known));
            if names.is_empty() {
                parent.remove_empty_subdirectory(name)?;
                Ok(parent.rename_new(hidden, name)?)
            } else if may_replace && is_ours {
                Ok(parent.exchange(hidden, name)?)
            } else {
                Err(taken())
            }
        }
        Err(DirectoryError::Symlink(_) | DirectoryError::NotADirectory { .. }) => Err(taken()),
        Err(error) => Err(error.into()),
    }
}

#[derive(Default)]
struct Files {
    offset: Option<Offset>,
    kept_description: Vec<u8>,
    lines: Text,
    edits: Text,
    /// Where each line begins, by its number.
    places: Vec<Place>,
    /// Which line edits mean that name a place: the first that begins there.
    first_lines: HashMap<Place, u64>,
    /// The numbers under which edits stand in the file, by their positions in the log.
    numbers: HashMap<u64, u64>,
    hidden: u64,
    split: u64,
    unreachable: u64,
}

impl Files {
    fn note(&mut self, recorded: &Recorded) {
        match &recorded.event {
            Event::Opened(opened) => self.offset = Some(offset_of(&opened.started_at)),
            Event::Kept(kept) => self.note_kept(kept),
            Event::Line(line) => {
                let place = Place { track: line.track, start_ms: line.start_ms };
                self.first_lines.entry(place).or_insert(self.places.len() as u64);
                self.places.push(place);
                self.lines.write(|| line_record(line));
            }
            Event::Edit(edit) => self.note_edit(recorded, edit),
            _ => {}
        }
    }

    fn note_kept(&mut self, kept: &Kept) {
        match kept.file {
            KeptFile::Description => self.kept_description.extend_from_slice(&kept.bytes),
            KeptFile::Lines => self.lines.give_back(kept),
            KeptFile::Edits => self.edits.give_back(kept),
        }
    }

    fn note_edit(&mut self, recorded: &Recorded, edit: &Edit) {
        let at = moment(recorded.ts_us, self.offset.unwrap_or(Offset::UTC));
        let (by, at) = (edit.by.as_str(), at.as_str());
        let target = usize::try_from(edit.line).ok().and_then(|line| self.places.get(line).copied());
        let target = target.filter(|place| self.first_lines.get(place) == Some(&edit.line));
        let number = match (&edit.change, target) {
            (Change::Repair { from, to }, Some(target)) => {
                self.edits.write(|| edit_record(&WrittenEdit::Repair { target, from, to, by, at }))
            }
            (Change::Speaker { name }, Some(target)) => {
                self.edits.write(|| edit_record(&WrittenEdit::Speaker { target, name, by, at }))
            }
            (Change::Revert { target }, _) => {
                // Of what is left out the revert is left out too.
                let Some(&target_seq) = self.numbers.get(&target.position) else { return };
                self.edits.write(|| edit_record(&WrittenEdit::Revert { target_seq, by, at }))
            }
            (Change::Hide { .. }, _) => return self.hidden += 1,
            (Change::Split { .. }, _) => return self.split += 1,
            (Change::Repair { .. } | Change::Speaker { .. }, None) => return self.unreachable += 1,
        };
        self.numbers.insert(recorded.position, number);
    }

    fn finish(self, metadata: &SessionMetadata) -> JsonlFiles {
        let counted = [
            (self.hidden, "times a line was taken out: this layout shows it"),
            (self.split, "second voices within a line"),
            (self.unreachable, "edits of a line that begins together with an earlier one of its track"),
        ];
        let left_out = counted.into_iter().filter(|(count, _)| *count > 0);
        JsonlFiles {
            description: description::written(&self.kept_description, metadata),
            lines: self.lines.bytes,
            edits: self.edits.bytes,
            transcript: None,
            left_out: left_out.map(|(count, what)| format!("left out: {count} {what}")).collect(),
        }
    }
}

/// One of the two files, as far as it is written.
#[derive(Default)]
struct Text {
    bytes: Vec<u8>,
    /// Whether the next event is what was given back last.
    is_said: bool,
    /// How many lines are not blank: what numbers edits.
    records: u64,
    line_has_content: bool,
}

impl Text {
    fn give_back(&mut self, kept: &Kept) {
        self.add(&kept.bytes);
        self.is_said = kept.stands_for_next;
    }

    /// Writes a record, unless it was given back. Its number among the records.
    fn write(&mut self, record: impl FnOnce() -> Vec<u8>) -> u64 {
        if !std::mem::take(&mut self.is_said) {
            if self.bytes.last().is_some_and(|last| *last != b'\n') {
                // The unfinished line that the file ended with stays by itself.
                self.add(b"\n");
            }
            self.add(&record());
        }
        self.records.saturating_sub(1)
    }

    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if *byte == b'\n' {
                self.records += u64::from(std::mem::take(&mut self.line_has_content));
            } else {
                self.line_has_content |= !byte.is_ascii_whitespace();
            }
        }
        self.bytes.extend_from_slice(bytes);
    }
}
