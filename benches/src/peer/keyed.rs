//! Ordered stores of keys and values, all used in the same way: lines by number, edits by line and number,
//! both as the engine's own codec writes them, folded in code.

use std::collections::HashMap;
use std::marker::PhantomData;
use std::ops::Range;
use std::path::Path;

use ambient_engine::{Change, Clock, Edit, Event, FoldedLine, Line, PlacedEdit, SystemClock, fold};
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::{Appends, Pace, Peer, Reads, Shared, Sync};
use crate::key::{Reading, Subject};

/// A line's key: its number, so that keys sort as numbers do.
pub(crate) type LineKey = [u8; 8];
/// An edit's key: its line's number, then its own.
pub(crate) type EditKey = [u8; 16];
/// Takes a key and its value.
pub(crate) type Take<'caller> = &'caller mut dyn FnMut(&[u8], &[u8]) -> Result<()>;

/// What one batch adds.
#[derive(Default)]
pub(crate) struct Records {
    pub(crate) lines: Vec<(LineKey, Vec<u8>)>,
    pub(crate) edits: Vec<(EditKey, Vec<u8>)>,
}

/// An ordered store with two tables. A clone is another handle to the same store.
pub(crate) trait OrderedStore: Clone {
    fn create(directory: &Path, sync: Sync) -> Result<Self>;

    /// Writes a batch in one transaction. `is_due`: it is on the disk before this returns.
    fn write(&self, records: &Records, is_due: bool) -> Result<()>;

    /// A number that changes with every batch.
    fn version(&self) -> Result<u64>;

    /// The same number found at less cost, where the store has such a way.
    fn version_otherwise(&self) -> Result<u64> {
        bail!("this store has one way to tell its version")
    }

    /// Whether [`OrderedStore::version_otherwise`] answers.
    const HAS_OTHER_VERSION: bool = false;

    /// Reads in one transaction.
    fn read<T>(&self, read: impl FnOnce(&dyn View) -> Result<T>) -> Result<T>;
}

/// What one transaction sees.
pub(crate) trait View {
    /// How many lines there are.
    fn line_count(&self) -> Result<u64>;

    /// Gives one line.
    fn line(&self, key: LineKey, take: Take<'_>) -> Result<()>;

    /// Gives the lines from `from` on.
    fn lines(&self, from: LineKey, take: Take<'_>) -> Result<()>;

    /// Gives the edits in `range`.
    fn edits(&self, range: Range<EditKey>, take: Take<'_>) -> Result<()>;
}

/// The peer that keeps a conversation in a store of kind `S`.
pub(crate) struct Keyed<S>(PhantomData<S>);

/// An edit as its value holds it; its line and number are in the key.
#[derive(Serialize, Deserialize)]
struct EditRecord {
    by: String,
    change: Change,
    ts_us: i64,
}

fn to_bytes<T: Serialize>(value: &T) -> Result<Vec<u8>> {
    Ok(bincode::serde::encode_to_vec(value, bincode::config::standard())?)
}

fn from_bytes<T: for<'bytes> Deserialize<'bytes>>(bytes: &[u8]) -> Result<T> {
    Ok(bincode::serde::decode_from_slice(bytes, bincode::config::standard())?.0)
}

fn edit_key(line: u64, number: u64) -> EditKey {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&line.to_be_bytes());
    key[8..].copy_from_slice(&number.to_be_bytes());
    key
}

fn number_in(key: &[u8], offset: usize) -> Result<u64> {
    let bytes = key.get(offset..).and_then(<[u8]>::first_chunk).context("a key is too short")?;
    Ok(u64::from_be_bytes(*bytes))
}

/// The line number with which a key begins.
pub(crate) fn line_number(key: &[u8]) -> Result<u64> {
    number_in(key, 0)
}

/// Appends, and counts what it appended.
pub(crate) struct KeyedWriter<S> {
    store: S,
    pace: Pace,
    lines: u64,
    edits: u64,
}

impl<S: OrderedStore> Appends for KeyedWriter<S> {
    fn append(&mut self, events: &[Event]) -> Result<()> {
        let ts_us = SystemClock.now_us();
        let mut records = Records::default();
        for event in events {
            match event {
                Event::Line(line) => {
                    records.lines.push((self.lines.to_be_bytes(), to_bytes(line)?));
                    self.lines += 1;
                }
                Event::Edit(Edit { line, by, change }) => {
                    let record = EditRecord { by: by.clone(), change: change.clone(), ts_us };
                    records.edits.push((edit_key(*line, self.edits), to_bytes(&record)?));
                    self.edits += 1;
                }
                other => bail!("no table for {other:?}"),
            }
        }
        self.store.write(&records, self.pace.is_due())
    }
}

/// Reads, each time in one transaction.
pub(crate) struct KeyedReader<S> {
    store: S,
    seen_version: u64,
    polled: u64,
}

impl<S: OrderedStore> KeyedReader<S> {
    fn open(store: S) -> Result<Self> {
        let seen_version = store.version()?;
        Ok(Self { store, seen_version, polled: 0 })
    }
}

fn edits_in(view: &dyn View, lines: Range<u64>) -> Result<HashMap<u64, Vec<PlacedEdit>>> {
    let mut edits: HashMap<u64, Vec<PlacedEdit>> = HashMap::new();
    view.edits(edit_key(lines.start, 0)..edit_key(lines.end, 0), &mut |key, value| {
        let (line, seq) = (number_in(key, 0)?, number_in(key, 8)?);
        let EditRecord { by, change, ts_us } = from_bytes(value)?;
        let edit = Edit { line, by, change };
        edits.entry(line).or_default().push(PlacedEdit { position: seq, seq, ts_us, edit });
        Ok(())
    })?;
    Ok(edits)
}

fn folded_since(view: &dyn View, since: u64) -> Result<Vec<FoldedLine>> {
    let mut edits = edits_in(view, since..u64::MAX)?;
    let mut folded = Vec::new();
    view.lines(since.to_be_bytes(), &mut |key, value| {
        let number = number_in(key, 0)?;
        folded.push(fold(number, from_bytes(value)?, &edits.remove(&number).unwrap_or_default()));
        Ok(())
    })?;
    Ok(folded)
}

fn folded_at(view: &dyn View, number: u64) -> Result<FoldedLine> {
    let edits = edits_in(view, number..number + 1)?;
    let mut folded = None;
    view.line(number.to_be_bytes(), &mut |_, value| {
        folded = Some(fold(number, from_bytes(value)?, edits.get(&number).map_or(&[], Vec::as_slice)));
        Ok(())
    })?;
    folded.with_context(|| format!("there is no line {number}"))
}

impl<S: OrderedStore> Reads for KeyedReader<S> {
    fn has_news(&mut self) -> Result<bool> {
        let version = self.store.version()?;
        Ok(std::mem::replace(&mut self.seen_version, version) != version)
    }

    /// No news, by the store's second way to tell its version.
    fn otherwise(&mut self, _: Reading) -> Result<u64> {
        self.store.version_otherwise()
    }

    fn poll(&mut self) -> Result<Vec<FoldedLine>> {
        let new = self.store.read(|view| folded_since(view, self.polled))?;
        self.polled += new.len() as u64;
        Ok(new)
    }

    fn last(&mut self, count: u64) -> Result<Vec<FoldedLine>> {
        self.store.read(|view| folded_since(view, view.line_count()?.saturating_sub(count)))
    }

    fn at(&mut self, numbers: &[u64]) -> Result<Vec<FoldedLine>> {
        self.store.read(|view| numbers.iter().map(|number| folded_at(view, *number)).collect())
    }

    fn verbatim(&mut self) -> Result<Vec<Line>> {
        self.store.read(|view| {
            let mut lines = Vec::new();
            view.lines(0u64.to_be_bytes(), &mut |_, value| {
                lines.push(from_bytes(value)?);
                Ok(())
            })?;
            Ok(lines)
        })
    }

    fn fold_all(&mut self) -> Result<Vec<FoldedLine>> {
        self.store.read(|view| folded_since(view, 0))
    }
}

impl<S: OrderedStore> Peer for Keyed<S> {
    type Writer = KeyedWriter<S>;
    type Reader = KeyedReader<S>;

    const TELLS_CHANGES: bool = false;
    const SECOND_WAYS: &'static [(Reading, Subject)] =
        if S::HAS_OTHER_VERSION { &[(Reading::NoNews, Subject::LmdbLastTransaction)] } else { &[] };

    fn create(directory: &Path, sync: Sync) -> Result<(Self::Writer, Self::Reader)> {
        let store = S::create(directory, sync)?;
        let reader = KeyedReader::open(store.clone())?;
        Ok((KeyedWriter { store, pace: Pace::new(sync), lines: 0, edits: 0 }, reader))
    }
}

impl Shared for Keyed<super::lmdb::Environment> {
    fn follow(directory: &Path) -> Result<Self::Reader> {
        KeyedReader::open(super::lmdb::Environment::create(directory, Sync::Os)?)
    }
}
