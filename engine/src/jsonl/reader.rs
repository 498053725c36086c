//! Reads `raw.jsonl` and `edits.jsonl` where they lie, and follows them as they grow.

use std::fs::File;
use std::path::Path;

use crc32fast::Hasher;

use super::damage::{Damage, SkipReason, SkippedLine};
use super::fold::Filed;
use super::record::{parse_edit, parse_line};
use super::tail::{RawLine, Tail};
use crate::session::{Directory, DirectoryError};
use crate::view::TranscriptLine;

/// The lines as they were heard.
pub(crate) const RAW_FILE: &str = "raw.jsonl";
/// The edits.
pub(crate) const EDITS_FILE: &str = "edits.jsonl";

/// Everything read so far of one session's two files.
#[derive(Debug, Default)]
pub struct JsonlReader {
    raw: Tail,
    edits: Tail,
    filed: Filed,
    line_damage: Damage,
    edit_damage: Damage,
    line_checksums: Checksums,
    edit_checksums: Checksums,
}

/// Over the bytes of all records up to each one, so that one number names everything before it.
#[derive(Debug, Default)]
struct Checksums(Vec<u32>);

impl Checksums {
    fn add(&mut self, line: &RawLine<'_>) {
        let mut hasher = Hasher::new_with_initial(self.of(self.0.len()));
        match line {
            RawLine::Whole(bytes) => hasher.update(bytes),
            RawLine::TooLong { len_bytes, .. } => hasher.update(&len_bytes.to_le_bytes()),
        }
        self.0.push(hasher.finalize());
    }

    /// Of the first `count` records.
    fn of(&self, count: usize) -> u32 {
        count.checked_sub(1).and_then(|last| self.0.get(last)).copied().unwrap_or(0)
    }
}

impl JsonlReader {
    /// Reads what `session` holds now. A file that is missing is an empty one.
    ///
    /// # Errors
    /// A file is a link or not a regular file, or cannot be read. Damaged lines are no error here: see
    /// [`line_damage`](Self::line_damage) and [`edit_damage`](Self::edit_damage).
    pub fn open(session: &Directory) -> Result<Self, DirectoryError> {
        let mut reader = Self::default();
        reader.refresh(session)?;
        Ok(reader)
    }

    /// Reads what was appended since. Costs what is new; a file that was replaced or shortened is read
    /// again from its start.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn refresh(&mut self, session: &Directory) -> Result<(), DirectoryError> {
        let outcome = self.read_new(session);
        if outcome.is_err() {
            // Half of a reading must not be added to: the next one begins anew.
            *self = Self::default();
        }
        outcome
    }

    fn read_new(&mut self, session: &Directory) -> Result<(), DirectoryError> {
        let raw = session.open_file(RAW_FILE)?;
        let edits = session.open_file(EDITS_FILE)?;
        let failed = |name: &str| {
            let path = session.path().join(name);
            move |source| DirectoryError::Io { action: "read", path, source }
        };
        if is_other(&self.raw, raw.as_ref()).map_err(failed(RAW_FILE))?
            || is_other(&self.edits, edits.as_ref()).map_err(failed(EDITS_FILE))?
        {
            *self = Self::default();
        }
        if let Some(file) = raw {
            let path = session.path().join(RAW_FILE);
            let mut tail = std::mem::take(&mut self.raw);
            tail.read(&file, |number, line| {
                self.add_line(&path, number, &line);
                Ok(())
            })
            .map_err(failed(RAW_FILE))?;
            self.raw = tail;
        }
        if let Some(file) = edits {
            let path = session.path().join(EDITS_FILE);
            let mut tail = std::mem::take(&mut self.edits);
            tail.read(&file, |number, line| {
                self.add_edit(&path, number, &line);
                Ok(())
            })
            .map_err(failed(EDITS_FILE))?;
            self.edits = tail;
        }
        Ok(())
    }

    fn add_line(&mut self, path: &Path, number: u64, line: &RawLine<'_>) {
        match parsed(line, parse_line) {
            None => {}
            Some(Ok(heard)) => {
                self.filed.add_line(heard);
                self.line_checksums.add(line);
            }
            Some(Err(reason)) => self.line_damage.add(SkippedLine { path: path.to_owned(), number, reason }),
        }
    }

    fn add_edit(&mut self, path: &Path, number: u64, line: &RawLine<'_>) {
        let parsed = parsed(line, parse_edit);
        if parsed.is_some() {
            self.edit_checksums.add(line);
        }
        match parsed {
            None => {}
            Some(Ok(record)) => self.filed.add_edit(record),
            Some(Err(reason)) => {
                self.filed.skip_edit();
                self.edit_damage.add(SkippedLine { path: path.to_owned(), number, reason });
            }
        }
    }

    /// What of `raw.jsonl` was passed over, and where.
    pub fn line_damage(&self) -> &Damage {
        &self.line_damage
    }

    /// What of `edits.jsonl` was passed over, and where.
    pub fn edit_damage(&self) -> &Damage {
        &self.edit_damage
    }

    /// How many lines there are.
    pub fn len(&self) -> usize {
        self.filed.lines().len()
    }

    /// Whether there is no line.
    pub fn is_empty(&self) -> bool {
        self.filed.lines().is_empty()
    }

    /// How many edits there are, with those that could not be used.
    pub(crate) fn edits(&self) -> usize {
        self.filed.edits()
    }

    /// For each edit from number `from` on, which line it changes; none where it changes none.
    pub(crate) fn touched_lines(&self, from: usize) -> impl Iterator<Item = Option<usize>> + use<'_> {
        self.filed.touched_lines(from)
    }

    /// Names the bytes of the first `count` lines.
    pub(crate) fn lines_checksum(&self, count: usize) -> u32 {
        self.line_checksums.of(count)
    }

    /// Names the bytes of the first `count` edits.
    pub(crate) fn edits_checksum(&self, count: usize) -> u32 {
        self.edit_checksums.of(count)
    }

    /// How many bytes of its files it has read, which is about what it keeps in memory.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.raw.offset() + self.edits.offset()
    }

    /// The lines from index `since` on, in the order they were written, each with the recogniser's
    /// confidence: as they read now, or as they were heard when `is_verbatim`.
    pub fn since(
        &self,
        since: usize,
        is_verbatim: bool,
    ) -> impl Iterator<Item = (TranscriptLine, f32)> + use<'_> {
        self.filed
            .lines()
            .iter()
            .enumerate()
            .skip(since)
            .map(move |(index, line)| (self.filed.reading(index, line, is_verbatim), line.confidence))
    }
}

/// Whether what lies under the name now is not the file that `tail` was reading.
fn is_other(tail: &Tail, file: Option<&File>) -> std::io::Result<bool> {
    match file {
        Some(file) => tail.is_other(file),
        None => Ok(*tail != Tail::default()),
    }
}

/// The record in a line; none when the line is blank.
pub(super) fn parsed<T>(
    line: &RawLine<'_>,
    parse: impl FnOnce(&[u8]) -> Result<T, SkipReason>,
) -> Option<Result<T, SkipReason>> {
    match line {
        RawLine::TooLong { .. } => Some(Err(SkipReason::TooLong)),
        RawLine::Whole(bytes) if bytes.trim_ascii().is_empty() => None,
        RawLine::Whole(bytes) => Some(parse(bytes)),
    }
}
