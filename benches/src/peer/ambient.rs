//! The engine of this project, through its public interface alone.

use std::fs;
use std::path::{Path, PathBuf};

use ambient_engine::{Cursor, Durability, Event, FoldedLine, Line, Log, Mapping, Options, Reader};
use anyhow::{Context, Result};

use super::{Appends, Changed, INTERVAL, Peer, Reads, Shared, Sync};
use crate::key::{Reading, Subject};

/// A log and readers that follow it.
pub(crate) struct Ambient;

/// A reader, and how far it has read.
pub(crate) struct AmbientReader {
    reader: Reader,
    /// Lines that [`Reads::poll`] has handed out.
    polled: u64,
    cursor: Option<Cursor>,
}

/// How the log is written under `sync`.
pub(crate) fn options(sync: Sync) -> Options {
    Options::with_durability(match sync {
        Sync::Os => Durability::Os,
        Sync::Interval => Durability::Interval(INTERVAL),
        Sync::Each => Durability::Each,
    })
}

impl Ambient {
    /// The files that hold the events of the log in `directory`, oldest first.
    pub(crate) fn segment_paths(directory: &Path) -> Result<Vec<PathBuf>> {
        let mut paths = Vec::new();
        for entry in fs::read_dir(directory.join("log"))? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "seg") {
                paths.push(path);
            }
        }
        paths.sort();
        Ok(paths)
    }

    /// Bytes of all events so far, headers of segments included.
    pub(crate) fn len_bytes(directory: &Path) -> Result<u64> {
        Self::segment_paths(directory)?.iter().map(|path| Ok(fs::metadata(path)?.len())).sum()
    }

    /// The bytes that one batch of `events` adds to a new log in `directory`.
    pub(crate) fn bytes_of(directory: &Path, events: &[Event]) -> Result<Vec<u8>> {
        let (mut log, _) = Self::create(directory, Sync::Os)?;
        let before = usize::try_from(Self::len_bytes(directory)?)?;
        Appends::append(&mut log, events)?;
        let paths = Self::segment_paths(directory)?;
        Ok(fs::read(paths.first().context("the log has no segment")?)?.split_off(before))
    }
}

impl Peer for Ambient {
    type Writer = Log;
    type Reader = AmbientReader;

    const TELLS_CHANGES: bool = true;
    const SECOND_WAYS: &'static [(Reading, Subject)] = &[
        (Reading::NoNews, Subject::AmbientSnapshot),
        (Reading::Last100, Subject::AmbientLent),
        (Reading::Last100AfterNews, Subject::AmbientLent),
        (Reading::FullFold, Subject::AmbientLent),
    ];

    fn create(directory: &Path, sync: Sync) -> Result<(Self::Writer, Self::Reader)> {
        Ok((Log::create(directory, options(sync))?, Self::follow(directory)?))
    }
}

impl Shared for Ambient {
    fn follow(directory: &Path) -> Result<Self::Reader> {
        let mut reader = Reader::open(directory, Mapping::On)?;
        let cursor = reader.snapshot()?.cursor()?;
        Ok(AmbientReader { reader, polled: 0, cursor })
    }
}

impl Appends for Log {
    fn append(&mut self, events: &[Event]) -> Result<()> {
        Self::append(self, events)?;
        Ok(())
    }
}

impl Reads for AmbientReader {
    fn has_news(&mut self) -> Result<bool> {
        let has_news = self.reader.has_news()?;
        if has_news {
            self.reader.snapshot()?;
        }
        Ok(has_news)
    }

    /// No news: a snapshot, and how many lines it has. Else lines that are lent and not handed out.
    fn otherwise(&mut self, reading: Reading) -> Result<u64> {
        let mut snapshot = self.reader.snapshot()?;
        let lines = snapshot.lines();
        let mut seen = 0;
        match reading {
            Reading::NoNews => seen = lines,
            Reading::FullFold => snapshot.each(.., |line| seen += line.text.len() as u64)?,
            _ => snapshot.each(lines.saturating_sub(100).., |line| seen += line.text.len() as u64)?,
        }
        Ok(seen)
    }

    fn poll(&mut self) -> Result<Vec<FoldedLine>> {
        let mut snapshot = self.reader.snapshot()?;
        let lines = snapshot.since(self.polled)?;
        self.polled += lines.len() as u64;
        Ok(lines)
    }

    fn last(&mut self, count: u64) -> Result<Vec<FoldedLine>> {
        let mut snapshot = self.reader.snapshot()?;
        let from = snapshot.lines().saturating_sub(count);
        Ok(snapshot.since(from)?)
    }

    fn at(&mut self, numbers: &[u64]) -> Result<Vec<FoldedLine>> {
        let mut snapshot = self.reader.snapshot()?;
        Ok(numbers.iter().map(|number| snapshot.folded(*number)).collect::<Result<_, _>>()?)
    }

    fn verbatim(&mut self) -> Result<Vec<Line>> {
        let heard = self.reader.snapshot()?.verbatim(..)?;
        Ok(heard.into_iter().map(|heard| heard.line).collect())
    }

    fn fold_all(&mut self) -> Result<Vec<FoldedLine>> {
        Ok(self.reader.snapshot()?.since(0)?)
    }

    fn changes(&mut self) -> Result<Changed> {
        let changes = self.reader.snapshot()?.changes(self.cursor.as_ref())?;
        self.cursor = changes.cursor;
        Ok(Changed { new: changes.new, older: changes.changed })
    }
}
