//! The engine of this project, through its public interface alone.

use std::fs;
use std::path::{Path, PathBuf};

use ambient_engine::{Durability, Event, FoldedLine, Log, Mapping, Options, Reader};
use anyhow::{Context, Result};

use super::{Peer, Sync};

/// A log and a reader that follows it.
pub(crate) struct Ambient {
    log: Log,
    reader: Reader,
    /// Lines that [`Peer::poll`] has handed out.
    polled: u64,
    directory: PathBuf,
}

impl Ambient {
    /// The other public call that a poll without news may be: a snapshot, and how many lines it has.
    pub(crate) fn snapshot_lines(&mut self) -> Result<u64> {
        Ok(self.reader.snapshot()?.lines())
    }

    /// The files that hold the events, oldest first.
    pub(crate) fn segment_paths(&self) -> Result<Vec<PathBuf>> {
        let mut paths = Vec::new();
        for entry in fs::read_dir(self.directory.join("log"))? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "seg") {
                paths.push(path);
            }
        }
        paths.sort();
        Ok(paths)
    }

    /// Bytes of all events so far, headers of segments included.
    pub(crate) fn len_bytes(&self) -> Result<u64> {
        self.segment_paths()?.iter().map(|path| Ok(fs::metadata(path)?.len())).sum()
    }

    /// The bytes that one batch of `events` adds to a new log.
    pub(crate) fn len_bytes_of(directory: &Path, events: &[Event]) -> Result<usize> {
        let mut store = Self::create(directory, Sync::Os)?;
        let before = store.len_bytes()?;
        store.append(events)?;
        usize::try_from(store.len_bytes()? - before).context("a batch larger than memory")
    }
}

impl Peer for Ambient {
    fn create(directory: &Path, sync: Sync) -> Result<Self> {
        let durability = match sync {
            Sync::Os => Durability::Os,
            Sync::Each => Durability::Each,
        };
        let log = Log::create(directory, Options::with_durability(durability))?;
        let reader = Reader::open(directory, Mapping::On)?;
        Ok(Self { log, reader, polled: 0, directory: directory.to_owned() })
    }

    fn append(&mut self, events: &[Event]) -> Result<()> {
        self.log.append(events)?;
        Ok(())
    }

    fn has_news(&mut self) -> Result<bool> {
        let has_news = self.reader.has_news()?;
        if has_news {
            self.reader.snapshot()?;
        }
        Ok(has_news)
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

    fn fold_all(&mut self) -> Result<Vec<FoldedLine>> {
        Ok(self.reader.snapshot()?.since(0)?)
    }
}
