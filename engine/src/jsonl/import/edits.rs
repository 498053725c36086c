//! `edits.jsonl` as events.
//!
//! An edit is appended to the line it means; one that means none, or that the log would not take, is kept
//! as it stands and changes nothing, as it changed nothing before. Edits that one run of one maker wrote
//! together become one batch, at the time that they name, so that undo takes them back together.

use std::collections::HashMap;

use jiff::tz::Offset;
use serde::Deserialize;
use serde_json::Value;

use super::JsonlImportError;
use super::builder::LogBuilder;
use super::lines::Lines;
use super::source::Source;
use super::text::{Stopped, Text, is_same};
use crate::jsonl::reader::{EDITS_FILE, parsed};
use crate::jsonl::record::{EditRecord, Place, parse_edit};
use crate::jsonl::tail::RawLine;
use crate::jsonl::written::{WrittenEdit, edit_record, micros, moment};
use crate::jsonl::{Damage, SkippedLine};
use crate::session::SessionDirectory;
use crate::view::ViewError;
use crate::{Change, Cursor, Edit, EditTarget, Event, KeptFile, Mapping, Reader};

/// Who made an edit that does not say.
const MAKER_UNKNOWN: &str = "unknown";

/// What became of the edits.
#[derive(Default)]
pub(super) struct Edits {
    /// How many are in the log.
    pub(super) count: u64,
    /// What could not be read.
    pub(super) damage: Damage,
}

/// Only the moment of an edit, whatever it is.
#[derive(Deserialize)]
struct Moment {
    #[serde(default)]
    at: Value,
}

/// So many edits at the most are written before it is read where they are; a batch counts whole.
const EDITS_UNREAD_MAX: usize = 10_000;

/// An edit in the log: by it a revert finds what it takes back.
#[derive(Clone, Copy)]
struct Appended {
    line: u64,
    /// How many edits are before it in the log.
    earlier: usize,
}

/// Writes every edit, and keeps the bytes of what is none or would be written in another way.
pub(super) fn write(
    source: &Source<'_>,
    lines: &Lines,
    session: &SessionDirectory,
    log: &mut LogBuilder,
) -> Result<Edits, JsonlImportError> {
    let mut edits = Edits::default();
    let Some(file) = &source.edits else { return Ok(edits) };
    let path = source.directory().path().join(EDITS_FILE);
    let text = Text { file, path: path.clone(), kind: KeptFile::Edits };
    let mut writing = Writing {
        offset: source.offset(),
        first_lines: &lines.first,
        text: &text,
        appended: Vec::new(),
        count: 0,
        places: Places { session, reader: None, read: log.written(), known: Vec::new() },
        batch: None,
    };
    text.each_line(log, |log, number, raw| match parsed(&raw, parse_edit) {
        None => text.keep(log, &raw, false),
        Some(Ok(record)) => writing.write(log, &raw, record),
        Some(Err(reason)) => {
            edits.damage.add(SkippedLine { path: path.clone(), number, reason });
            writing.pass_over(log, &raw)
        }
    })?;
    log.flush()?;
    edits.count = writing.count as u64;
    Ok(edits)
}

impl EditRecord {
    /// The same edit, by somebody: the log takes none by nobody.
    fn by_somebody(mut self) -> Self {
        let (Self::Repair { by, .. } | Self::Speaker { by, .. } | Self::Revert { by, .. }) = &mut self;
        if by.trim().is_empty() {
            MAKER_UNKNOWN.clone_into(by);
        }
        self
    }
}

struct Writing<'a> {
    offset: Offset,
    first_lines: &'a HashMap<Place, u64>,
    text: &'a Text<'a>,
    /// By their numbers; none for reverts, and for what is not in the log.
    appended: Vec<Option<Appended>>,
    /// How many edits are in the log or on their way, reverts included.
    count: usize,
    places: Places<'a>,
    /// The moment and the maker of the edits that are being written together.
    batch: Option<(String, String)>,
}

impl Writing<'_> {
    fn write(&mut self, log: &mut LogBuilder, raw: &RawLine<'_>, record: EditRecord) -> Result<(), Stopped> {
        let record = record.by_somebody();
        let target_line = |target: &Place| self.first_lines.get(target).copied();
        match record {
            EditRecord::Repair { target, from, to, by } if !from.is_empty() => {
                let Some(line) = target_line(&target) else { return self.pass_over(log, raw) };
                let at = self.begin(log, raw, &by)?;
                let record = WrittenEdit::Repair { target, from: &from, to: &to, by: &by, at: &at };
                let is_same = is_same(raw, &edit_record(&record));
                self.append(log, raw, is_same, line, by, Change::Repair { from, to })
            }
            EditRecord::Speaker { target, name, by } if !name.trim().is_empty() => {
                let Some(line) = target_line(&target) else { return self.pass_over(log, raw) };
                let at = self.begin(log, raw, &by)?;
                let record = WrittenEdit::Speaker { target, name: &name, by: &by, at: &at };
                let is_same = is_same(raw, &edit_record(&record));
                self.append(log, raw, is_same, line, by, Change::Speaker { name })
            }
            EditRecord::Revert { target_seq, by } => {
                let at = self.begin(log, raw, &by)?;
                let Some((line, target)) = self.target(log, target_seq)? else {
                    return self.pass_over(log, raw);
                };
                let is_same =
                    is_same(raw, &edit_record(&WrittenEdit::Revert { target_seq, by: &by, at: &at }));
                self.append(log, raw, is_same, line, by, Change::Revert { target })
            }
            EditRecord::Repair { .. } | EditRecord::Speaker { .. } => self.pass_over(log, raw),
        }
    }

    /// Keeps an edit that changes nothing: its number counts.
    fn pass_over(&mut self, log: &mut LogBuilder, raw: &RawLine<'_>) -> Result<(), Stopped> {
        self.appended.push(None);
        self.text.keep(log, raw, false)
    }

    fn append(
        &mut self,
        log: &mut LogBuilder,
        raw: &RawLine<'_>,
        is_same: bool,
        line: u64,
        by: String,
        change: Change,
    ) -> Result<(), Stopped> {
        if !is_same {
            self.text.keep(log, raw, true)?;
        }
        let appended = Appended { line, earlier: self.count };
        self.count += 1;
        let can_be_reverted = !matches!(change, Change::Revert { .. });
        self.appended.push(can_be_reverted.then_some(appended));
        let len_bytes = match raw {
            RawLine::Whole(bytes) => bytes.len(),
            RawLine::TooLong { .. } => 0,
        };
        Ok(log.push(Event::Edit(Edit { line, by, change }), len_bytes)?)
    }

    /// Begins a batch, unless this edit belongs to the one before. Gives the moment as an export would
    /// write it.
    fn begin(&mut self, log: &mut LogBuilder, raw: &RawLine<'_>, by: &str) -> Result<String, Stopped> {
        let moment_of = |bytes: &[u8]| serde_json::from_slice::<Moment>(bytes).ok();
        let said = match raw {
            RawLine::Whole(bytes) => moment_of(bytes).and_then(|said| said.at.as_str().map(str::to_owned)),
            RawLine::TooLong { .. } => None,
        };
        let batch = (said.unwrap_or_default(), by.to_owned());
        if self.batch.as_ref() != Some(&batch) {
            log.flush()?;
            if self.count - self.places.known.len() >= EDITS_UNREAD_MAX {
                self.places.read_on(log.written()).map_err(JsonlImportError::from)?;
            }
            if let Some(us) = micros(&batch.0) {
                log.move_to(us)?;
            }
            self.batch = Some(batch);
        }
        Ok(moment(log.moment_us(), self.offset))
    }

    /// The line and the place of the edit with a number; none when it is not in the log, or is a revert.
    fn target(&mut self, log: &mut LogBuilder, seq: u64) -> Result<Option<(u64, EditTarget)>, Stopped> {
        let appended = usize::try_from(seq).ok().and_then(|seq| self.appended.get(seq).copied()).flatten();
        let Some(Appended { line, earlier }) = appended else { return Ok(None) };
        if self.places.known.len() <= earlier {
            log.flush()?;
            self.places.read_on(log.written()).map_err(JsonlImportError::from)?;
        }
        Ok(self.places.known.get(earlier).map(|target| (line, *target)))
    }
}

/// Where the edits are in the log. Only the log knows, so they are read back: each once, since a line may be
/// edited and the edit taken back any number of times.
struct Places<'a> {
    session: &'a SessionDirectory,
    reader: Option<Reader>,
    /// How far it was read.
    read: Option<Cursor>,
    /// In log order.
    known: Vec<EditTarget>,
}

impl Places<'_> {
    /// Reads what was written since, which ends at `written`: nobody else writes.
    fn read_on(&mut self, written: Option<Cursor>) -> Result<(), ViewError> {
        let reader = match &mut self.reader {
            Some(reader) => reader,
            none => none.insert(self.session.read_log(Mapping::On)?),
        };
        for recorded in reader.snapshot()?.events_behind(self.read.as_ref())? {
            if matches!(recorded.event, Event::Edit(_)) {
                self.known.push(EditTarget { position: recorded.position, seq: recorded.seq });
            }
        }
        self.read = written;
        Ok(())
    }
}
