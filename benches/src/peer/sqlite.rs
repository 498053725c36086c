//! SQLite with a write-ahead log, as someone who knows it would use it: statements prepared once, edits
//! clustered by line, the fold in code. Its page cache keeps its default size: each commit by another
//! connection empties the cache, and a large one makes that, and so every poll, several times slower.
//!
//! News is told by `data_version`, the cheapest question SQLite answers. A poll asks for the new rows at
//! once, in one statement, which needs no transaction around it.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use ambient_engine::{
    AudioSpan, Change, Clock, Edit, Event, FoldedLine, Line, PlacedEdit, SystemClock, Track, fold,
};
use anyhow::{Context, Result, bail, ensure};
use rusqlite::{Connection, OptionalExtension, Row, Rows, Statement, params};

use super::{Appends, Changed, Peer, Reads, Shared, Sync};

/// Versions before this one can lose a commit in a rare race of checkpoints.
const VERSION_MIN: i32 = 3_051_003;

const TABLES: &str = "
    CREATE TABLE line (
        number INTEGER PRIMARY KEY, track INTEGER NOT NULL, start_ms INTEGER NOT NULL,
        end_ms INTEGER NOT NULL, text TEXT NOT NULL, confidence REAL NOT NULL, language TEXT,
        generation INTEGER NOT NULL, start_sample INTEGER, end_sample INTEGER, rate_hz INTEGER,
        overlap INTEGER NOT NULL
    );
    CREATE TABLE edit (
        line INTEGER NOT NULL, seq INTEGER NOT NULL, ts_us INTEGER NOT NULL, by TEXT NOT NULL,
        kind INTEGER NOT NULL, first TEXT NOT NULL, second TEXT, PRIMARY KEY (line, seq)
    ) WITHOUT ROWID;";
/// What [`Reads::changes`] needs; made for the stores that are asked for it.
const INDEX_OF_CHANGES: &str = "CREATE INDEX edit_by_seq ON edit (seq)";
const INSERT_LINE: &str = "INSERT INTO line VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
const INSERT_EDIT: &str = "INSERT INTO edit VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
const LINES_SINCE: &str = "SELECT * FROM line WHERE number >= ?1 ORDER BY number";
const EDITS_SINCE: &str = "SELECT * FROM edit WHERE line >= ?1 ORDER BY line, seq";
const NEW_LINES: &str =
    "SELECT * FROM line LEFT JOIN edit ON edit.line = number WHERE number >= ?1 ORDER BY number, seq";
const ONE_LINE: &str =
    "SELECT * FROM line LEFT JOIN edit ON edit.line = number WHERE number = ?1 ORDER BY seq";
const LAST_NUMBER: &str = "SELECT max(number) FROM line";
const EDITED_SINCE: &str = "SELECT seq, line FROM edit WHERE seq > ?1";
/// Where the columns of `edit` begin in a row of [`NEW_LINES`].
const EDIT_COLUMNS: usize = 12;

const REPAIR: i64 = 0;
const SPEAKER: i64 = 1;
const HIDE: i64 = 2;

const FILE_NAME: &str = "conversation.sqlite";

/// The version of SQLite that is linked in.
pub(crate) fn sqlite_version() -> &'static str {
    rusqlite::version()
}

/// One database, and two connections to it that know nothing of each other.
pub(crate) struct Sqlite;

/// The connection that appends.
pub(crate) struct Writer {
    connection: &'static Connection,
    begin: Statement<'static>,
    commit: Statement<'static>,
    insert_line: Statement<'static>,
    insert_edit: Statement<'static>,
    lines: u64,
    events: u64,
}

/// The connection that reads.
pub(crate) struct Reader {
    connection: &'static Connection,
    begin: Statement<'static>,
    commit: Statement<'static>,
    data_version: Statement<'static>,
    lines_since: Statement<'static>,
    edits_since: Statement<'static>,
    new_lines: Statement<'static>,
    one_line: Statement<'static>,
    last_number: Statement<'static>,
    /// What `data_version` said last.
    seen_version: i64,
    /// Lines that [`Reads::poll`] has handed out.
    polled: u64,
    told: Told,
}

/// How far [`Reads::changes`] has told.
#[derive(Default)]
struct Told {
    lines: u64,
    /// The newest edit's number; none before the first.
    seq: i64,
}

/// Opens the database. The connection is never closed: statements borrow it for as long as the program
/// runs, which is what preparing them once means.
fn connect(path: &Path, sync: Sync) -> Result<&'static Connection> {
    let connection = Connection::open(path)?;
    let mode: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    ensure!(mode == "wal", "SQLite refuses its write-ahead log here: {mode}");
    let synchronous = match sync {
        Sync::Os => "OFF",
        Sync::Interval => "NORMAL",
        Sync::Each => "FULL",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    Ok(Box::leak(Box::new(connection)))
}

impl Writer {
    fn new(connection: &'static Connection) -> Result<Self> {
        Ok(Self {
            connection,
            begin: connection.prepare("BEGIN IMMEDIATE")?,
            commit: connection.prepare("COMMIT")?,
            insert_line: connection.prepare(INSERT_LINE)?,
            insert_edit: connection.prepare(INSERT_EDIT)?,
            lines: 0,
            events: 0,
        })
    }

    fn insert(&mut self, event: &Event, ts_us: i64) -> Result<()> {
        match event {
            Event::Line(line) => self.insert_line(line)?,
            Event::Edit(edit) => self.insert_edit(edit, ts_us)?,
            other => bail!("no table for {other:?}"),
        }
        self.events += 1;
        Ok(())
    }

    fn insert_line(&mut self, line: &Line) -> Result<()> {
        let audio = line.audio;
        self.insert_line.execute(params![
            self.lines.cast_signed(),
            i64::from(line.track == Track::Call),
            line.start_ms.cast_signed(),
            line.end_ms.cast_signed(),
            line.text,
            line.confidence,
            line.language,
            line.generation,
            audio.map(|audio| audio.start_sample.cast_signed()),
            audio.map(|audio| audio.end_sample.cast_signed()),
            audio.map(|audio| audio.rate_hz),
            line.overlap,
        ])?;
        self.lines += 1;
        Ok(())
    }

    fn insert_edit(&mut self, edit: &Edit, ts_us: i64) -> Result<()> {
        let (kind, first, second) = match &edit.change {
            Change::Repair { from, to } => (REPAIR, from, Some(to)),
            Change::Speaker { name } => (SPEAKER, name, None),
            Change::Hide { reason } => (HIDE, reason, None),
            other => bail!("no columns for {other:?}"),
        };
        let (line, seq) = (edit.line.cast_signed(), self.events.cast_signed());
        self.insert_edit.execute(params![line, seq, ts_us, edit.by, kind, first, second])?;
        Ok(())
    }
}

impl Reader {
    fn new(connection: &'static Connection) -> Result<Self> {
        let mut reader = Self {
            connection,
            begin: connection.prepare("BEGIN")?,
            commit: connection.prepare("COMMIT")?,
            data_version: connection.prepare("PRAGMA data_version")?,
            lines_since: connection.prepare(LINES_SINCE)?,
            edits_since: connection.prepare(EDITS_SINCE)?,
            new_lines: connection.prepare(NEW_LINES)?,
            one_line: connection.prepare(ONE_LINE)?,
            last_number: connection.prepare(LAST_NUMBER)?,
            seen_version: 0,
            polled: 0,
            told: Told { lines: 0, seq: -1 },
        };
        reader.seen_version = reader.data_version()?;
        Ok(reader)
    }

    fn data_version(&mut self) -> Result<i64> {
        Ok(self.data_version.query_row([], |row| row.get(0))?)
    }

    fn line_count(&mut self) -> Result<u64> {
        let last: Option<i64> = self.last_number.query_row([], |row| row.get(0)).optional()?.flatten();
        Ok(last.map_or(0, |last| last.cast_unsigned() + 1))
    }

    /// The lines from number `since` on, in one statement: best for few lines.
    fn new_lines(&mut self, since: u64) -> Result<Vec<FoldedLine>> {
        fold_rows(self.new_lines.query([since.cast_signed()])?)
    }

    fn one_line(&mut self, number: u64) -> Result<FoldedLine> {
        let found = fold_rows(self.one_line.query([number.cast_signed()])?)?.pop();
        found.with_context(|| format!("there is no line {number}"))
    }

    /// The lines from number `since` on, in two range scans under one transaction: best for many lines.
    fn lines_since(&mut self, since: u64) -> Result<Vec<FoldedLine>> {
        let mut edits: HashMap<u64, Vec<PlacedEdit>> = HashMap::new();
        let mut rows = self.edits_since.query([since.cast_signed()])?;
        while let Some(row) = rows.next()? {
            let placed = edit_in(row, 0)?;
            edits.entry(placed.edit.line).or_default().push(placed);
        }
        drop(rows);
        let mut folded = Vec::new();
        let mut rows = self.lines_since.query([since.cast_signed()])?;
        while let Some(row) = rows.next()? {
            let index = number_at(row, 0)?;
            let edits = edits.remove(&index).unwrap_or_default();
            folded.push(fold(index, line_in(row)?, &edits));
        }
        Ok(folded)
    }

    fn changes_in_transaction(&mut self) -> Result<Changed> {
        let Told { lines, seq } = self.told;
        let mut touched = BTreeSet::new();
        // Prepared when it is first needed: the index it uses is not made for every store.
        let mut edited = self.connection.prepare_cached(EDITED_SINCE)?;
        let mut rows = edited.query([seq])?;
        while let Some(row) = rows.next()? {
            self.told.seq = self.told.seq.max(row.get(0)?);
            touched.insert(number_at(row, 1)?);
        }
        let older = touched.range(..lines).map(|number| self.one_line(*number)).collect::<Result<_>>()?;
        let new = self.new_lines(lines)?;
        self.told.lines += new.len() as u64;
        Ok(Changed { new, older })
    }

    fn in_transaction<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.begin.execute([])?;
        let value = read(self);
        self.commit.execute([])?;
        value
    }
}

/// Folds rows of lines, each beside one of its edits.
fn fold_rows(mut rows: Rows<'_>) -> Result<Vec<FoldedLine>> {
    let mut folded = Vec::new();
    let mut pending: Option<(u64, Line, Vec<PlacedEdit>)> = None;
    while let Some(row) = rows.next()? {
        let number = number_at(row, 0)?;
        if pending.as_ref().is_none_or(|(index, _, _)| *index != number) {
            let next = (number, line_in(row)?, Vec::new());
            if let Some((index, line, edits)) = pending.replace(next) {
                folded.push(fold(index, line, &edits));
            }
        }
        if let (Some((_, _, edits)), Some(_)) = (&mut pending, row.get::<_, Option<i64>>(EDIT_COLUMNS)?) {
            edits.push(edit_in(row, EDIT_COLUMNS)?);
        }
    }
    folded.extend(pending.map(|(index, line, edits)| fold(index, line, &edits)));
    Ok(folded)
}

fn number_at(row: &Row<'_>, column: usize) -> Result<u64> {
    Ok(row.get::<_, i64>(column)?.cast_unsigned())
}

fn line_in(row: &Row<'_>) -> Result<Line> {
    let audio = match row.get::<_, Option<i64>>(8)? {
        Some(start_sample) => Some(AudioSpan {
            start_sample: start_sample.cast_unsigned(),
            end_sample: number_at(row, 9)?,
            rate_hz: row.get(10)?,
        }),
        None => None,
    };
    Ok(Line {
        track: if row.get::<_, i64>(1)? == 0 { Track::Room } else { Track::Call },
        start_ms: number_at(row, 2)?,
        end_ms: number_at(row, 3)?,
        text: row.get(4)?,
        confidence: row.get(5)?,
        language: row.get(6)?,
        generation: row.get(7)?,
        audio,
        overlap: row.get(11)?,
    })
}

/// The edit in the columns from `first_column` on.
fn edit_in(row: &Row<'_>, first_column: usize) -> Result<PlacedEdit> {
    let line = number_at(row, first_column)?;
    let seq = number_at(row, first_column + 1)?;
    let words: String = row.get(first_column + 5)?;
    let change = match row.get(first_column + 4)? {
        REPAIR => Change::Repair { from: words, to: row.get(first_column + 6)? },
        SPEAKER => Change::Speaker { name: words },
        HIDE => Change::Hide { reason: words },
        other => bail!("no edit is of kind {other}"),
    };
    let edit = Edit { line, by: row.get(first_column + 3)?, change };
    Ok(PlacedEdit { position: seq, seq, ts_us: row.get(first_column + 2)?, edit })
}

impl Peer for Sqlite {
    type Writer = Writer;
    type Reader = Reader;

    const TELLS_CHANGES: bool = true;

    fn create(directory: &Path, sync: Sync) -> Result<(Self::Writer, Self::Reader)> {
        ensure!(
            rusqlite::version_number() >= VERSION_MIN,
            "SQLite {} has a known fault in its write-ahead log; 3.51.3 or newer is needed",
            sqlite_version()
        );
        let writing = connect(&directory.join(FILE_NAME), sync)?;
        writing.execute_batch(TABLES)?;
        Ok((Writer::new(writing)?, Self::follow(directory)?))
    }
}

impl Shared for Sqlite {
    fn follow(directory: &Path) -> Result<Self::Reader> {
        Reader::new(connect(&directory.join(FILE_NAME), Sync::Os)?)
    }
}

impl Appends for Writer {
    fn append(&mut self, events: &[Event]) -> Result<()> {
        let ts_us = SystemClock.now_us();
        if let [event] = events {
            // A statement alone is its own transaction, at less cost.
            return self.insert(event, ts_us);
        }
        self.begin.execute([])?;
        events.iter().try_for_each(|event| self.insert(event, ts_us))?;
        self.commit.execute([])?;
        Ok(())
    }

    fn index_changes(&mut self) -> Result<()> {
        Ok(self.connection.execute_batch(INDEX_OF_CHANGES)?)
    }
}

impl Reads for Reader {
    fn has_news(&mut self) -> Result<bool> {
        let version = self.data_version()?;
        Ok(std::mem::replace(&mut self.seen_version, version) != version)
    }

    fn poll(&mut self) -> Result<Vec<FoldedLine>> {
        let lines = self.new_lines(self.polled)?;
        self.polled += lines.len() as u64;
        Ok(lines)
    }

    fn last(&mut self, count: u64) -> Result<Vec<FoldedLine>> {
        self.in_transaction(|reader| {
            let count_all = reader.line_count()?;
            reader.lines_since(count_all.saturating_sub(count))
        })
    }

    fn at(&mut self, numbers: &[u64]) -> Result<Vec<FoldedLine>> {
        self.in_transaction(|reader| numbers.iter().map(|number| reader.one_line(*number)).collect())
    }

    fn verbatim(&mut self) -> Result<Vec<Line>> {
        let mut lines = Vec::new();
        let mut rows = self.lines_since.query([0])?;
        while let Some(row) = rows.next()? {
            lines.push(line_in(row)?);
        }
        Ok(lines)
    }

    fn fold_all(&mut self) -> Result<Vec<FoldedLine>> {
        self.in_transaction(|reader| reader.lines_since(0))
    }

    fn changes(&mut self) -> Result<Changed> {
        self.in_transaction(Reader::changes_in_transaction)
    }
}
