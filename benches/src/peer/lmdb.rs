//! LMDB, through heed. Without syncs it may lose more than the last batches in a power failure: the
//! whole file may be damaged then. Our log and SQLite promise more.

#![allow(unsafe_code)]

use std::ops::{Bound, Range};
use std::path::Path;

use anyhow::Result;
use heed::types::Bytes;
use heed::{CommitOrAbort, Database, Env, EnvFlags, EnvOpenOptions, PutFlags, RoTxn, WithTls};

use super::Sync;
use super::keyed::{EditKey, Keyed, LineKey, OrderedStore, Records, Take, View, line_number};

/// The peer.
pub(crate) type Lmdb = Keyed<Environment>;

/// Address space for the file, which is only as long as it is filled.
const MAP_LEN_BYTES: usize = 16 << 30;

/// An open environment with its two tables.
#[derive(Clone)]
pub(crate) struct Environment {
    handle: Env,
    lines: Database<'static, Bytes, Bytes>,
    edits: Database<'static, Bytes, Bytes>,
    /// Whether a commit leaves syncing to [`OrderedStore::write`].
    syncs_apart: bool,
}

impl OrderedStore for Environment {
    fn create(directory: &Path, sync: Sync) -> Result<Self> {
        let syncs_apart = sync != Sync::Each;
        let mut options = EnvOpenOptions::new();
        options.map_size(MAP_LEN_BYTES).max_dbs(2);
        // SAFETY: the file is made by this program in a directory of its own and touched by nobody but
        // LMDB, and no page of it is used after its transaction.
        let handle = unsafe {
            if syncs_apart {
                options.flags(EnvFlags::NO_SYNC);
            }
            options.open(directory)?
        };
        let transaction = handle.write_txn()?;
        let tables = handle.create_databases_and_commit(transaction, |opener, transaction| {
            let lines = opener.create_database(transaction, Some("lines"))?;
            let edits = opener.create_database(transaction, Some("edits"))?;
            heed::Result::Ok(CommitOrAbort::<_, ()>::Commit((lines, edits)))
        })?;
        let (lines, edits) = tables.unwrap_commit();
        Ok(Self { handle, lines, edits, syncs_apart })
    }

    fn write(&self, records: &Records, is_due: bool) -> Result<()> {
        let mut transaction = self.handle.write_txn()?;
        for (key, value) in &records.lines {
            // Keys only grow, so that no place has to be looked for.
            self.lines.put_with_flags(&mut transaction, PutFlags::APPEND, key, value)?;
        }
        for (key, value) in &records.edits {
            self.edits.put(&mut transaction, key, value)?;
        }
        transaction.commit()?;
        if is_due && self.syncs_apart {
            self.handle.force_sync()?;
        }
        Ok(())
    }

    /// A read transaction, begun and ended: what a reader does that wants to know and then to read.
    fn version(&self) -> Result<u64> {
        Ok(self.handle.read_txn()?.id() as u64)
    }

    const HAS_OTHER_VERSION: bool = true;

    /// The number of the last transaction, from the newest meta page: no transaction is begun.
    fn version_otherwise(&self) -> Result<u64> {
        Ok(self.handle.info().last_txn_id as u64)
    }

    fn read<T>(&self, read: impl FnOnce(&dyn View) -> Result<T>) -> Result<T> {
        read(&Transaction { tables: self, transaction: self.handle.read_txn()? })
    }
}

struct Transaction<'store> {
    tables: &'store Environment,
    transaction: RoTxn<'store, WithTls>,
}

impl View for Transaction<'_> {
    fn line_count(&self) -> Result<u64> {
        let last = self.tables.lines.last(&self.transaction)?;
        last.map_or(Ok(0), |(key, _)| Ok(line_number(key)? + 1))
    }

    fn line(&self, key: LineKey, take: Take<'_>) -> Result<()> {
        let value = self.tables.lines.get(&self.transaction, &key)?;
        value.map_or(Ok(()), |value| take(&key, value))
    }

    fn lines(&self, from: LineKey, take: Take<'_>) -> Result<()> {
        let range = (Bound::Included(&from[..]), Bound::Unbounded);
        for record in self.tables.lines.range(&self.transaction, &range)? {
            let (key, value) = record?;
            take(key, value)?;
        }
        Ok(())
    }

    fn edits(&self, range: Range<EditKey>, take: Take<'_>) -> Result<()> {
        let range = (Bound::Included(&range.start[..]), Bound::Excluded(&range.end[..]));
        for record in self.tables.edits.range(&self.transaction, &range)? {
            let (key, value) = record?;
            take(key, value)?;
        }
        Ok(())
    }
}
