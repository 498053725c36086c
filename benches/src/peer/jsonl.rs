//! The thing people write first: lines and edits as JSON, one record a line, in two files.
//!
//! It is read in two ways: all of it again and folded again at every poll ([`Jsonl`]), and with everything
//! kept in memory and only the bytes read that are new ([`JsonlCursor`]). Kinder than usual in two ways:
//! records are parsed into types, not into maps, and edits find their lines by a hash map instead of by a
//! search for each.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;

use ambient_engine::{Change, Clock, Edit, Event, FoldedLine, Line, PlacedEdit, SystemClock, fold};
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::{Appends, Changed, Pace, Peer, Reads, Shared, Sync};
use crate::key::{Reading, Subject};

const LINES_NAME: &str = "raw.jsonl";
const EDITS_NAME: &str = "edits.jsonl";

/// Read and folded anew each time.
pub(crate) struct Jsonl;

/// Read from where the last reading ended.
pub(crate) struct JsonlCursor;

/// An edit as its file holds it.
#[derive(Serialize, Deserialize)]
struct EditRecord {
    line: u64,
    by: String,
    change: Change,
    at_us: i64,
}

/// Appends to both files.
pub(crate) struct JsonlWriter {
    lines: File,
    edits: File,
    pace: Pace,
}

impl JsonlWriter {
    fn create(directory: &Path, sync: Sync) -> Result<Self> {
        let create = |name| File::options().append(true).create_new(true).open(directory.join(name));
        Ok(Self { lines: create(LINES_NAME)?, edits: create(EDITS_NAME)?, pace: Pace::new(sync) })
    }
}

impl Appends for JsonlWriter {
    fn append(&mut self, events: &[Event]) -> Result<()> {
        let at_us = SystemClock.now_us();
        let (mut lines, mut edits) = (Vec::new(), Vec::new());
        for event in events {
            let into = match event {
                Event::Line(line) => {
                    serde_json::to_writer(&mut lines, line)?;
                    &mut lines
                }
                Event::Edit(Edit { line, by, change }) => {
                    let (by, change) = (by.clone(), change.clone());
                    serde_json::to_writer(&mut edits, &EditRecord { line: *line, by, change, at_us })?;
                    &mut edits
                }
                other => bail!("no place for {other:?} in these files"),
            };
            into.push(b'\n');
        }
        let is_due = self.pace.is_due();
        for (file, records) in [(&mut self.lines, lines), (&mut self.edits, edits)] {
            if !records.is_empty() {
                file.write_all(&records)?;
                if is_due {
                    file.sync_data()?;
                }
            }
        }
        Ok(())
    }
}

/// A file of records, and how far it was read.
struct Records {
    file: File,
    offset: u64,
}

impl Records {
    fn open(directory: &Path, name: &str) -> Result<Self> {
        Ok(Self { file: File::open(directory.join(name))?, offset: 0 })
    }

    fn has_news(&self) -> Result<bool> {
        Ok(self.file.metadata()?.len() != self.offset)
    }

    /// Hands every whole record that is new to `take`.
    fn read<T: for<'record> Deserialize<'record>>(&mut self, mut take: impl FnMut(T)) -> Result<()> {
        let new = usize::try_from(self.file.metadata()?.len() - self.offset)?;
        let mut bytes = vec![0; new];
        self.file.read_exact_at(&mut bytes, self.offset)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        for record in bytes[..whole].split(|byte| *byte == b'\n').filter(|record| !record.is_empty()) {
            take(serde_json::from_slice(record)?);
        }
        self.offset += whole as u64;
        Ok(())
    }
}

/// All that was read so far.
struct Known {
    line_records: Records,
    edit_records: Records,
    lines: Vec<Line>,
    edits: HashMap<u64, Vec<PlacedEdit>>,
    edit_count: u64,
    /// Lines that an edit read since they were last taken is about.
    touched: BTreeSet<u64>,
}

impl Known {
    fn open(directory: &Path) -> Result<Self> {
        Ok(Self {
            line_records: Records::open(directory, LINES_NAME)?,
            edit_records: Records::open(directory, EDITS_NAME)?,
            lines: Vec::new(),
            edits: HashMap::new(),
            edit_count: 0,
            touched: BTreeSet::new(),
        })
    }

    /// Forgets everything, so that the next reading begins at the first byte.
    fn forget(&mut self) {
        self.line_records.offset = 0;
        self.edit_records.offset = 0;
        self.lines.clear();
        self.edits.clear();
        self.edit_count = 0;
    }

    fn has_news(&self) -> Result<bool> {
        Ok(self.line_records.has_news()? || self.edit_records.has_news()?)
    }

    fn read_lines(&mut self) -> Result<()> {
        self.line_records.read(|line| self.lines.push(line))
    }

    fn read(&mut self) -> Result<()> {
        self.read_lines()?;
        self.edit_records.read(|EditRecord { line, by, change, at_us }| {
            let edit = Edit { line, by, change };
            let seq = self.edit_count;
            let placed = PlacedEdit { position: seq, seq, ts_us: at_us, edit };
            self.edits.entry(line).or_default().push(placed);
            self.touched.insert(line);
            self.edit_count += 1;
        })
    }

    fn folded(&self, number: u64) -> Result<FoldedLine> {
        let line = usize::try_from(number).ok().and_then(|number| self.lines.get(number));
        let line = line.with_context(|| format!("there is no line {number}"))?.clone();
        Ok(fold(number, line, self.edits.get(&number).map_or(&[], Vec::as_slice)))
    }

    fn folded_since(&self, since: u64) -> Result<Vec<FoldedLine>> {
        (since..self.lines.len() as u64).map(|number| self.folded(number)).collect()
    }

    /// Folds everything without keeping it.
    fn fold_away(&mut self) -> Vec<FoldedLine> {
        let lines = std::mem::take(&mut self.lines);
        let folded = (0..)
            .zip(lines)
            .map(|(number, line)| fold(number, line, self.edits.get(&number).map_or(&[], Vec::as_slice)));
        folded.collect()
    }
}

/// Reads everything again at every poll.
pub(crate) struct JsonlReader {
    known: Known,
    /// Lines and edits when news was last asked for.
    seen: (u64, u64),
    polled: usize,
}

impl JsonlReader {
    fn read_and_fold(&mut self) -> Result<Vec<FoldedLine>> {
        self.known.forget();
        self.known.read()?;
        Ok(self.known.fold_away())
    }
}

impl Reads for JsonlReader {
    fn has_news(&mut self) -> Result<bool> {
        let lines = self.read_and_fold()?.len() as u64;
        let now = (lines, self.known.edit_count);
        Ok(std::mem::replace(&mut self.seen, now) != now)
    }

    fn poll(&mut self) -> Result<Vec<FoldedLine>> {
        let new = self.read_and_fold()?.split_off(self.polled);
        self.polled += new.len();
        Ok(new)
    }

    fn last(&mut self, count: u64) -> Result<Vec<FoldedLine>> {
        let mut lines = self.read_and_fold()?;
        let from = lines.len().saturating_sub(usize::try_from(count)?);
        Ok(lines.split_off(from))
    }

    fn at(&mut self, numbers: &[u64]) -> Result<Vec<FoldedLine>> {
        self.known.forget();
        self.known.read()?;
        numbers.iter().map(|number| self.known.folded(*number)).collect()
    }

    fn verbatim(&mut self) -> Result<Vec<Line>> {
        self.known.forget();
        self.known.read_lines()?;
        Ok(std::mem::take(&mut self.known.lines))
    }

    fn fold_all(&mut self) -> Result<Vec<FoldedLine>> {
        self.read_and_fold()
    }

    /// Everything parsed into types, and nothing folded.
    fn otherwise(&mut self, _: Reading) -> Result<u64> {
        self.known.forget();
        self.known.read()?;
        Ok(self.known.lines.iter().map(|line| line.text.len() as u64).sum())
    }
}

impl Peer for Jsonl {
    type Writer = JsonlWriter;
    type Reader = JsonlReader;

    const TELLS_CHANGES: bool = false;
    const SECOND_WAYS: &'static [(Reading, Subject)] = &[(Reading::FullFold, Subject::JsonlParsed)];

    fn create(directory: &Path, sync: Sync) -> Result<(Self::Writer, Self::Reader)> {
        let writer = JsonlWriter::create(directory, sync)?;
        Ok((writer, JsonlReader { known: Known::open(directory)?, seen: (0, 0), polled: 0 }))
    }
}

/// Keeps everything, and reads what is new.
pub(crate) struct JsonlCursorReader {
    known: Known,
    polled: u64,
    told: u64,
}

impl Reads for JsonlCursorReader {
    fn has_news(&mut self) -> Result<bool> {
        let has_news = self.known.has_news()?;
        if has_news {
            self.known.read()?;
        }
        Ok(has_news)
    }

    fn poll(&mut self) -> Result<Vec<FoldedLine>> {
        self.known.read()?;
        let new = self.known.folded_since(self.polled)?;
        self.polled += new.len() as u64;
        Ok(new)
    }

    fn last(&mut self, count: u64) -> Result<Vec<FoldedLine>> {
        self.known.read()?;
        self.known.folded_since((self.known.lines.len() as u64).saturating_sub(count))
    }

    fn at(&mut self, numbers: &[u64]) -> Result<Vec<FoldedLine>> {
        self.known.read()?;
        numbers.iter().map(|number| self.known.folded(*number)).collect()
    }

    fn verbatim(&mut self) -> Result<Vec<Line>> {
        self.known.read()?;
        Ok(self.known.lines.clone())
    }

    fn fold_all(&mut self) -> Result<Vec<FoldedLine>> {
        self.known.read()?;
        self.known.folded_since(0)
    }

    fn changes(&mut self) -> Result<Changed> {
        self.known.read()?;
        let touched = std::mem::take(&mut self.known.touched);
        let older =
            touched.range(..self.told).map(|number| self.known.folded(*number)).collect::<Result<_>>()?;
        let new = self.known.folded_since(self.told)?;
        self.told += new.len() as u64;
        Ok(Changed { new, older })
    }
}

impl Peer for JsonlCursor {
    type Writer = JsonlWriter;
    type Reader = JsonlCursorReader;

    const TELLS_CHANGES: bool = true;

    fn create(directory: &Path, sync: Sync) -> Result<(Self::Writer, Self::Reader)> {
        let writer = JsonlWriter::create(directory, sync)?;
        Ok((writer, Self::follow(directory)?))
    }
}

impl Shared for JsonlCursor {
    fn follow(directory: &Path) -> Result<Self::Reader> {
        Ok(JsonlCursorReader { known: Known::open(directory)?, polled: 0, told: 0 })
    }
}
