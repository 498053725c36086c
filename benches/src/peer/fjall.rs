//! fjall, the newest that the compiler this workspace asks for can build. One process keeps it to itself, so
//! that both halves use one handle.

use std::ops::Range;
use std::path::Path;

use anyhow::Result;
use fjall::{Config, Keyspace, PartitionCreateOptions, PartitionHandle, PersistMode, Snapshot};

use super::Sync;
use super::keyed::{EditKey, Keyed, LineKey, OrderedStore, Records, Take, View, line_number};

/// The peer.
pub(crate) type Fjall = Keyed<Store>;

/// An open keyspace with its two partitions.
#[derive(Clone)]
pub(crate) struct Store {
    keyspace: Keyspace,
    lines: PartitionHandle,
    edits: PartitionHandle,
}

impl OrderedStore for Store {
    fn create(directory: &Path, _sync: Sync) -> Result<Self> {
        let keyspace = Config::new(directory).open()?;
        let lines = keyspace.open_partition("lines", PartitionCreateOptions::default())?;
        let edits = keyspace.open_partition("edits", PartitionCreateOptions::default())?;
        Ok(Self { keyspace, lines, edits })
    }

    fn write(&self, records: &Records, is_due: bool) -> Result<()> {
        let mode = if is_due { PersistMode::SyncData } else { PersistMode::Buffer };
        let mut batch = self.keyspace.batch().durability(Some(mode));
        for (key, value) in &records.lines {
            batch.insert(&self.lines, &key[..], &value[..]);
        }
        for (key, value) in &records.edits {
            batch.insert(&self.edits, &key[..], &value[..]);
        }
        Ok(batch.commit()?)
    }

    fn version(&self) -> Result<u64> {
        Ok(self.keyspace.instant())
    }

    fn read<T>(&self, read: impl FnOnce(&dyn View) -> Result<T>) -> Result<T> {
        let instant = self.keyspace.instant();
        read(&Seen { lines: self.lines.snapshot_at(instant), edits: self.edits.snapshot_at(instant) })
    }
}

struct Seen {
    lines: Snapshot,
    edits: Snapshot,
}

impl View for Seen {
    fn line_count(&self) -> Result<u64> {
        self.lines.last_key_value()?.map_or(Ok(0), |(key, _)| Ok(line_number(&key)? + 1))
    }

    fn line(&self, key: LineKey, take: Take<'_>) -> Result<()> {
        self.lines.get(key)?.map_or(Ok(()), |value| take(&key, &value))
    }

    fn lines(&self, from: LineKey, take: Take<'_>) -> Result<()> {
        for record in self.lines.range(from..) {
            let (key, value) = record?;
            take(&key, &value)?;
        }
        Ok(())
    }

    fn edits(&self, range: Range<EditKey>, take: Take<'_>) -> Result<()> {
        for record in self.edits.range(range) {
            let (key, value) = record?;
            take(&key, &value)?;
        }
        Ok(())
    }
}
