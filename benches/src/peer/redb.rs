//! redb. One process keeps it to itself, so that both halves use one handle.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use redb::{
    Database, Durability, ReadOnlyTable, ReadableDatabase, ReadableTable, ReadableTableMetadata,
    TableDefinition,
};

use super::Sync;
use super::keyed::{EditKey, Keyed, LineKey, OrderedStore, Records, Take, View};

/// The peer.
pub(crate) type Redb = Keyed<Store>;

const LINES: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("lines");
const EDITS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("edits");

/// An open database.
#[derive(Clone)]
pub(crate) struct Store(Arc<Database>);

impl OrderedStore for Store {
    fn create(directory: &Path, _sync: Sync) -> Result<Self> {
        let store = Self(Arc::new(Database::create(directory.join("conversation.redb"))?));
        store.write(&Records::default(), true)?;
        Ok(store)
    }

    fn write(&self, records: &Records, is_due: bool) -> Result<()> {
        let mut transaction = self.0.begin_write()?;
        transaction.set_durability(if is_due { Durability::Immediate } else { Durability::None })?;
        let mut lines = transaction.open_table(LINES)?;
        for (key, value) in &records.lines {
            lines.insert(&key[..], &value[..])?;
        }
        drop(lines);
        let mut edits = transaction.open_table(EDITS)?;
        for (key, value) in &records.edits {
            edits.insert(&key[..], &value[..])?;
        }
        drop(edits);
        transaction.commit()?;
        Ok(())
    }

    fn version(&self) -> Result<u64> {
        let transaction = self.0.begin_read()?;
        Ok(transaction.open_table(LINES)?.len()? + transaction.open_table(EDITS)?.len()?)
    }

    fn read<T>(&self, read: impl FnOnce(&dyn View) -> Result<T>) -> Result<T> {
        let transaction = self.0.begin_read()?;
        let lines = transaction.open_table(LINES)?;
        let edits = transaction.open_table(EDITS)?;
        read(&Tables { lines, edits })
    }
}

struct Tables {
    lines: ReadOnlyTable<&'static [u8], &'static [u8]>,
    edits: ReadOnlyTable<&'static [u8], &'static [u8]>,
}

impl View for Tables {
    fn line_count(&self) -> Result<u64> {
        Ok(self.lines.len()?)
    }

    fn line(&self, key: LineKey, take: Take<'_>) -> Result<()> {
        let value = ReadableTable::get(&self.lines, &key[..])?;
        value.map_or(Ok(()), |value| take(&key, value.value()))
    }

    fn lines(&self, from: LineKey, take: Take<'_>) -> Result<()> {
        for record in self.lines.range(&from[..]..)? {
            let (key, value) = record?;
            take(key.value(), value.value())?;
        }
        Ok(())
    }

    fn edits(&self, range: Range<EditKey>, take: Take<'_>) -> Result<()> {
        for record in self.edits.range(&range.start[..]..&range.end[..])? {
            let (key, value) = record?;
            take(key.value(), value.value())?;
        }
        Ok(())
    }
}
