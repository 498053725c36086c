//! Appends the events of an import, many to a batch, at the times at which they happened.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

use super::JsonlImportError;
use super::source::Source;
use crate::jsonl::written::micros;
use crate::session::SessionDirectory;
use crate::{AppendError, Clock, Cursor, Durability, Event, Kept, KeptFile, Log, Options};

/// A batch is written at the latest once it has so many bytes.
const BATCH_LEN_BYTES: usize = 16 << 20;
/// What an event takes beside its text, at least about.
const EVENT_LEN_BYTES: usize = 100;
/// Bytes are kept in pieces of this length.
pub(super) const PIECE_LEN_BYTES: usize = 1 << 20;

/// Stands at the moment the next batch is about.
#[derive(Debug)]
struct MovedClock(AtomicI64);

impl Clock for MovedClock {
    fn now(&self) -> SystemTime {
        let us = self.0.load(Ordering::Relaxed);
        let distance = Duration::from_micros(us.unsigned_abs());
        let moment = if us < 0 {
            SystemTime::UNIX_EPOCH.checked_sub(distance)
        } else {
            SystemTime::UNIX_EPOCH.checked_add(distance)
        };
        moment.unwrap_or(SystemTime::UNIX_EPOCH)
    }
}

/// The log of an imported session while it is written.
pub(super) struct LogBuilder {
    log: Log,
    clock: Arc<MovedClock>,
    begun_us: i64,
    pending: Vec<Event>,
    pending_len_bytes: usize,
    written: Option<Cursor>,
}

impl LogBuilder {
    /// Makes the log of `session`. Nothing is synced before the end: what is lost can be imported again.
    pub(super) fn begin(
        session: &SessionDirectory,
        source: &Source<'_>,
        clock: &dyn Clock,
    ) -> Result<Self, JsonlImportError> {
        let begun_us = source.metadata.started_at.as_deref().and_then(micros).unwrap_or(clock.now_us());
        let clock = Arc::new(MovedClock(AtomicI64::new(begun_us)));
        let options = Options {
            durability: Durability::Os,
            clock: Arc::<MovedClock>::clone(&clock),
            ..Options::default()
        };
        let log = session.create_log(options)?;
        Ok(Self { log, clock, begun_us, pending: Vec::new(), pending_len_bytes: 0, written: None })
    }

    /// Adds an event of `len_bytes` of text.
    pub(super) fn push(&mut self, event: Event, len_bytes: usize) -> Result<(), AppendError> {
        self.pending.push(event);
        self.pending_len_bytes += EVENT_LEN_BYTES + len_bytes;
        if self.pending_len_bytes >= BATCH_LEN_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// Keeps `bytes` of `file`; with `stands_for_next` they are what the next event says.
    pub(super) fn keep(
        &mut self,
        file: KeptFile,
        bytes: &[u8],
        stands_for_next: bool,
    ) -> Result<(), AppendError> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.len().min(PIECE_LEN_BYTES));
            rest = after;
            let stands_for_next = stands_for_next && rest.is_empty();
            self.push(Event::Kept(Kept { file, bytes: piece.to_vec(), stands_for_next }), piece.len())?;
        }
        Ok(())
    }

    /// From here on, events happened at `us`, microseconds since 1970. What was pushed before did not.
    pub(super) fn move_to(&mut self, us: i64) -> Result<(), AppendError> {
        if self.clock.0.load(Ordering::Relaxed) != us {
            self.flush()?;
            self.clock.0.store(us, Ordering::Relaxed);
        }
        Ok(())
    }

    /// The batch that is being collected ends so many milliseconds after the start of the session.
    pub(super) fn reach(&self, end_ms: u64) {
        let since_start_us = i64::try_from(end_ms.saturating_mul(1_000)).unwrap_or(i64::MAX);
        self.clock.0.fetch_max(self.begun_us.saturating_add(since_start_us), Ordering::Relaxed);
    }

    /// The moment at which the next batch will stand.
    pub(super) fn moment_us(&self) -> i64 {
        self.clock.now_us()
    }

    /// Writes what is pending as one batch.
    pub(super) fn flush(&mut self) -> Result<(), AppendError> {
        if !self.pending.is_empty() {
            self.written = Some(self.log.append(&self.pending)?);
            self.pending.clear();
            self.pending_len_bytes = 0;
        }
        Ok(())
    }

    /// The place behind everything that was written, which what is pending is not; none at the beginning.
    pub(super) fn written(&self) -> Option<Cursor> {
        self.written
    }

    /// Writes the rest and makes all of it durable.
    pub(super) fn close(mut self) -> Result<(), AppendError> {
        self.flush()?;
        self.log.flush()?;
        self.log.close()
    }
}
