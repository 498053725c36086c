//! The thing people write first: lines and edits as JSON, one record a line, all of it read again and
//! folded again at every poll.
//!
//! Kinder than usual in two ways: records are parsed into types, not into maps, and edits find their lines
//! by a hash map instead of by a search for each.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use ambient_engine::{Change, Clock, Edit, Event, FoldedLine, Line, PlacedEdit, SystemClock, fold};
use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

use super::{Peer, Sync};

/// An edit as its file holds it.
#[derive(Serialize, Deserialize)]
struct EditRecord {
    line: u64,
    by: String,
    change: Change,
    at_us: i64,
}

/// Two files, and how much of them was seen last.
pub(crate) struct Jsonl {
    lines: Records,
    edits: Records,
    /// Lines and edits when news was last asked for.
    seen: (usize, usize),
    /// Lines that [`Peer::poll`] has handed out.
    polled: usize,
}

/// One file of records, open for appending.
struct Records {
    path: PathBuf,
    file: File,
    sync: Sync,
}

impl Records {
    fn create(path: PathBuf, sync: Sync) -> Result<Self> {
        let file = File::options().append(true).create_new(true).open(&path)?;
        Ok(Self { path, file, sync })
    }

    fn append(&mut self, records: &[u8]) -> Result<()> {
        if records.is_empty() {
            return Ok(());
        }
        self.file.write_all(records)?;
        if self.sync == Sync::Each {
            self.file.sync_data()?;
        }
        Ok(())
    }

    fn read<T: for<'record> Deserialize<'record>>(&self) -> Result<Vec<T>> {
        let bytes = fs::read(&self.path)?;
        let records = bytes.split(|byte| *byte == b'\n').filter(|record| !record.is_empty());
        records.map(|record| Ok(serde_json::from_slice(record)?)).collect()
    }
}

impl Jsonl {
    /// Reads and folds everything; with the number of edits.
    fn read(&self) -> Result<(Vec<FoldedLine>, usize)> {
        let lines: Vec<Line> = self.lines.read()?;
        let records: Vec<EditRecord> = self.edits.read()?;
        let edit_count = records.len();
        let mut edits: HashMap<u64, Vec<PlacedEdit>> = HashMap::new();
        for (seq, record) in (0..).zip(records) {
            let EditRecord { line, by, change, at_us } = record;
            let edit = Edit { line, by, change };
            edits.entry(line).or_default().push(PlacedEdit { position: seq, seq, ts_us: at_us, edit });
        }
        let folded = (0..).zip(lines).map(|(index, line)| {
            let edits = edits.remove(&index).unwrap_or_default();
            fold(index, line, &edits)
        });
        Ok((folded.collect(), edit_count))
    }
}

impl Peer for Jsonl {
    fn create(directory: &Path, sync: Sync) -> Result<Self> {
        let lines = Records::create(directory.join("raw.jsonl"), sync)?;
        let edits = Records::create(directory.join("edits.jsonl"), sync)?;
        Ok(Self { lines, edits, seen: (0, 0), polled: 0 })
    }

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
        self.lines.append(&lines)?;
        self.edits.append(&edits)
    }

    fn has_news(&mut self) -> Result<bool> {
        let (lines, edit_count) = self.read()?;
        let now = (lines.len(), edit_count);
        Ok(std::mem::replace(&mut self.seen, now) != now)
    }

    fn poll(&mut self) -> Result<Vec<FoldedLine>> {
        let (mut lines, _) = self.read()?;
        let new = lines.split_off(self.polled);
        self.polled += new.len();
        Ok(new)
    }

    fn last(&mut self, count: u64) -> Result<Vec<FoldedLine>> {
        let (mut lines, _) = self.read()?;
        let from = lines.len().saturating_sub(usize::try_from(count)?);
        Ok(lines.split_off(from))
    }

    fn fold_all(&mut self) -> Result<Vec<FoldedLine>> {
        Ok(self.read()?.0)
    }
}
