//! Appending: [`Log`].
//!
//! A batch is all or nothing. The order in which it becomes visible is the whole argument: room in the
//! index, then the frames in one write, then (durability `Each`) the sync, then the index, and last the
//! one word that publishes. A reader that sees the word sees everything before it; a process that dies in
//! between leaves bytes that nobody counts.

use std::path::Path;
use std::time::Instant;

use super::attach::{
    Attached, IndexTrust, RecoveryCause, RecoveryReport, attach, begin_behind, first_header, store_changes,
};
use super::batch::{Batch, Place, Room, lay_out, lay_out_closed};
use super::cursor::Cursor;
use super::disk::{DiskError, LogDirectory};
use super::error::{AppendError, OpenError};
use super::lock::{BatchLock, WritersLock};
use super::options::{Durability, Options};
use super::segments::Segments;
use crate::event::{Closed, Event};
use crate::format::SEGMENT_LEN_MAX_BYTES;
use crate::format::sealed_word::NO_POSITION;
use crate::format::segment::{FIRST_FRAME_OFFSET, Reason};
use crate::planted::{Defect, is_planted};

/// A log that can be appended to. Many may be open on one log, in one process or in several; they take
/// turns, one batch at a time.
///
/// ```
/// use ambient_engine::{Event, Finished, Log, Options};
///
/// let session = tempfile::tempdir()?;
/// let mut log = Log::create(session.path(), Options::default())?;
/// log.append(&[Event::Finished(Finished { at: "2026-11-30T12:00:00Z".into(), warnings: vec![] })])?;
/// log.close()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Log {
    lock: BatchLock,
    writer: Writer,
}

impl Log {
    /// Makes a log in the session directory at `session`, which must not have one.
    ///
    /// # Errors
    /// There is one already, or the disk refuses.
    pub fn create(session: &Path, options: Options) -> Result<Self, OpenError> {
        Self::create_in(LogDirectory::create(session)?, options)
    }

    /// Makes a log in an empty log directory.
    ///
    /// # Errors
    /// There is one already, or the disk refuses.
    pub fn create_in(directory: LogDirectory, options: Options) -> Result<Self, OpenError> {
        directory.refuse_network_file_system()?;
        let lock = BatchLock::open(&directory)?;
        let guard = lock.take(options.lock_timeout)?;
        Segments::create(&directory, &first_header(&options)?)?;
        let mut writer = Writer::attach(directory, options)?;
        writer.attached.report.cause = RecoveryCause::None;
        drop(guard);
        Ok(Self { lock, writer })
    }

    /// Opens the log in the session directory at `session` for appending, and mends what a dead writer
    /// left; [`Log::recovery`] says what that was.
    ///
    /// # Errors
    /// There is none, it is damaged, it is of a newer format, or another writer holds it for too long.
    pub fn open(session: &Path, options: Options) -> Result<Self, OpenError> {
        Self::open_in(LogDirectory::open(session)?, options)
    }

    /// Opens the log in a log directory; see [`Log::open`].
    ///
    /// # Errors
    /// As [`Log::open`].
    pub fn open_in(directory: LogDirectory, options: Options) -> Result<Self, OpenError> {
        let lock = BatchLock::open(&directory)?;
        let guard = lock.take(options.lock_timeout)?;
        let writer = Writer::attach(directory, options)?;
        drop(guard);
        Ok(Self { lock, writer })
    }

    /// What opening found and mended.
    pub fn recovery(&self) -> RecoveryReport {
        self.writer.attached.report
    }

    /// Lines in the log as of the last batch seen here.
    pub fn lines(&self) -> u64 {
        self.writer.attached.at.lines
    }

    /// Appends `events` as one batch: all of them or none, visible to every reader at once. Gives the
    /// place behind them.
    ///
    /// # Errors
    /// The batch is empty, too large, or names a line that is not there; another writer holds the log for
    /// too long; the disk is full or refuses. Nothing was appended then, but for
    /// [`AppendError::OutcomeUnknown`].
    pub fn append(&mut self, events: &[Event]) -> Result<Cursor, AppendError> {
        if events.is_empty() {
            return Err(AppendError::EmptyBatch);
        }
        let _guard = self.lock.take(self.writer.options.lock_timeout)?;
        self.writer.append(events)
    }

    /// Appends the batch that `decide` returns, and lets no other writer append in between: what `decide`
    /// reads from the log is still so when its events are in. It must be quick, for everyone waits for it.
    ///
    /// ```
    /// use ambient_engine::{AppendError, Event, Finished, Log, Mapping, Options, Reader};
    ///
    /// let session = tempfile::tempdir()?;
    /// let mut log = Log::create(session.path(), Options::default())?;
    /// let mut reader = Reader::open(session.path(), Mapping::On)?;
    /// log.append_decided(|| {
    ///     let events = reader.snapshot()?.events_behind(None)?;
    ///     assert!(events.is_empty());
    ///     let finished = Finished { at: "2026-11-30T12:00:00Z".into(), warnings: vec![] };
    ///     Ok::<_, Box<dyn std::error::Error>>(vec![Event::Finished(finished)])
    /// })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `decide` gives one, and nothing was appended; or as [`Log::append`].
    pub fn append_decided<E: From<AppendError>>(
        &mut self,
        decide: impl FnOnce() -> Result<Vec<Event>, E>,
    ) -> Result<Cursor, E> {
        let _guard = self.lock.take(self.writer.options.lock_timeout).map_err(AppendError::from)?;
        // First, so that what a dead writer left is decided before anyone reads.
        self.writer.catch_up()?;
        let events = decide()?;
        if events.is_empty() {
            return Err(AppendError::EmptyBatch.into());
        }
        Ok(self.writer.append(&events)?)
    }

    /// Makes everything that is in the log durable.
    ///
    /// # Errors
    /// Another writer holds the log for too long, or the disk refuses.
    pub fn flush(&mut self) -> Result<(), AppendError> {
        let _guard = self.lock.take(self.writer.options.lock_timeout)?;
        self.writer.catch_up()?;
        self.writer.sync_all()
    }

    /// Leaves the log. The last writer out closes it, so that the next one to open it need not walk it.
    ///
    /// # Errors
    /// The disk refuses; the log is whole all the same and is walked when it is opened next.
    pub fn close(mut self) -> Result<(), AppendError> {
        self.leave()
    }

    fn leave(&mut self) -> Result<(), AppendError> {
        let Some(writers) = self.writer.writers.take() else { return Ok(()) };
        let _guard = self.lock.take(self.writer.options.lock_timeout)?;
        let closed = if writers.is_last() { self.writer.append_closed() } else { Ok(()) };
        // Before the batch lock is let go, so that whoever comes next never meets a closer.
        drop(writers);
        closed
    }
}

impl Drop for Log {
    /// Leaves the log as [`Log::close`] does, unless writing has failed: then it does nothing more.
    fn drop(&mut self) {
        if !self.writer.has_failed {
            // No one to tell; an unclosed log is walked when it is opened next.
            let _ = self.leave();
        }
    }
}

/// All that is used under the batch lock.
#[derive(Debug)]
struct Writer {
    directory: LogDirectory,
    options: Options,
    /// None once the log has been left.
    writers: Option<WritersLock>,
    attached: Attached,
    room: Room,
    last_sync: Instant,
    /// A write or a sync has failed; nothing is done on drop.
    has_failed: bool,
    /// A sync has failed and could not be written down for everyone: this writer appends no more.
    is_out: bool,
}

impl Writer {
    fn attach(directory: LogDirectory, options: Options) -> Result<Self, OpenError> {
        let attached = attach(&directory, &options, IndexTrust::Checked)?;
        let writers = Some(WritersLock::join(&directory)?);
        let last_sync = Instant::now();
        let room = Room::default();
        Ok(Self { directory, options, writers, attached, room, last_sync, has_failed: false, is_out: false })
    }

    /// Learns what other writers have done, and mends what a dead one left.
    fn catch_up(&mut self) -> Result<(), AppendError> {
        let Attached { head, index, segments, at, .. } = &self.attached;
        if self.is_out {
            return Err(AppendError::Poisoned(self.directory.path().to_owned()));
        }
        if head.is_in_place(&self.directory)? {
            if head.has_failed_sync()? {
                return Err(AppendError::Poisoned(self.directory.path().to_owned()));
            }
            // An end that is not whole is nobody's: the log is looked at anew.
            let is_unchanged = head.end().is_ok_and(|end| end == at.position)
                && head.index_nonce()? == index.nonce()
                && segments.last().file_end()? == at.position
                && !segments.has_next()?;
            if is_unchanged {
                return Ok(());
            }
        }
        self.attach_again(IndexTrust::Checked)
    }

    fn attach_again(&mut self, trust: IndexTrust) -> Result<(), AppendError> {
        let report = self.attached.report;
        self.attached = attach(&self.directory, &self.options, trust)?;
        if self.attached.report.cause == RecoveryCause::None {
            self.attached.report = report;
        }
        Ok(())
    }

    fn place(&self, ts_us: i64) -> Place {
        let Attached { segments, at, durable, .. } = &self.attached;
        Place { at: *at, salt: segments.last().header.salt, durable: *durable, ts_us }
    }

    fn append(&mut self, events: &[Event]) -> Result<Cursor, AppendError> {
        self.catch_up()?;
        if self.meets_damaged_word(events)? {
            self.attach_again(IndexTrust::None)?;
        }
        let ts_us = self.options.clock.now_us();
        let index = |line| self.attached.index.newest_edit(line);
        let place = self.place(ts_us);
        let mut batch = lay_out(events, place, &mut self.room, index)?;
        let len_bytes = batch.bytes.len() as u64;
        let max_bytes = SEGMENT_LEN_MAX_BYTES - FIRST_FRAME_OFFSET;
        if len_bytes > max_bytes {
            return Err(AppendError::TooLarge { len_bytes, max_bytes });
        }
        if self.begin_segment_for(len_bytes)? {
            let index = |line| self.attached.index.newest_edit(line);
            let place = self.place(ts_us);
            self.room.keep(batch);
            batch = lay_out(events, place, &mut self.room, index)?;
        }
        let written = self.write(&batch);
        self.room.keep(batch);
        written
    }

    /// Whether the index does not tell the newest edit of a line that `events` edit: the chain of edits may
    /// not be continued from a guess.
    fn meets_damaged_word(&self, events: &[Event]) -> Result<bool, AppendError> {
        let Attached { index, at, .. } = &self.attached;
        for event in events {
            if let Event::Edit(edit) = event {
                if edit.line < at.lines && index.newest_edit(edit.line)? == NO_POSITION {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Begins a new segment if `len_bytes` do not fit into the last one.
    fn begin_segment_for(&mut self, len_bytes: u64) -> Result<bool, AppendError> {
        let Attached { segments, at, .. } = &self.attached;
        if at.position - segments.last().base() + len_bytes <= SEGMENT_LEN_MAX_BYTES {
            return Ok(false);
        }
        self.sync_all()?;
        let attached = &mut self.attached;
        attached.at = begin_behind(&mut attached.segments, attached.at, Reason::Full, &self.options)?;
        attached.durable = attached.at.position;
        attached.head.set_durable(attached.durable)?;
        attached.head.publish(attached.at.position, attached.at.lines)?;
        Ok(true)
    }

    /// Writes and publishes a batch that was laid out for the end of the last segment.
    fn write(&mut self, batch: &Batch) -> Result<Cursor, AppendError> {
        let after = batch.after;
        if !is_planted(Defect::IndexRoomAfterFrames) {
            self.attached.index.reserve(after.lines)?;
        }
        if is_planted(Defect::PublishBeforeWrite) {
            self.attached.head.publish(after.position, after.lines)?;
        }
        let segment = self.attached.segments.last();
        let offset = self.attached.at.position - segment.base();
        if let Err(error) = segment.file.write_all_at(&batch.bytes, offset) {
            self.has_failed = true;
            return Err(error.into());
        }
        if is_planted(Defect::IndexRoomAfterFrames) {
            self.attached.index.reserve(after.lines)?;
        }
        if is_planted(Defect::PublishBeforeSync) {
            self.attached.head.publish(after.position, after.lines)?;
        }
        if self.options.durability == Durability::Each {
            self.sync_up_to(after.position)?;
        }
        self.attached.at = after;
        let published = store_changes(&self.attached.index, &batch.changes)
            .and_then(|()| self.attached.head.publish(after.position, after.lines));
        published.map_err(|error| self.outcome_unknown(error))?;
        match self.options.durability {
            Durability::Interval(interval) if self.last_sync.elapsed() >= interval => self.sync_all()?,
            _ => {}
        }
        let uuid = self.attached.segments.uuid();
        let (position, crc) =
            after.last_frame.map_or((after.position, 0), |frame| (frame.position, frame.crc));
        Ok(Cursor { uuid, position, crc })
    }

    fn outcome_unknown(&mut self, error: DiskError) -> AppendError {
        self.has_failed = true;
        AppendError::OutcomeUnknown(error)
    }

    /// Makes what has been published durable.
    fn sync_all(&mut self) -> Result<(), AppendError> {
        self.sync_up_to(self.attached.at.position)
    }

    /// Syncs the last segment, whose bytes before `position` are written. A sync that fails stops everyone:
    /// the system may have dropped the bytes while its cache still shows them.
    fn sync_up_to(&mut self, position: u64) -> Result<(), AppendError> {
        if let Err(error) = self.attached.segments.last().file.sync() {
            if !is_planted(Defect::FailedSyncForgotten) {
                // If even this store fails, this writer at least is out.
                self.is_out = self.attached.head.set_failed_sync().is_err();
            }
            return Err(self.outcome_unknown(error));
        }
        self.last_sync = Instant::now();
        self.attached.durable = position;
        self.attached.head.set_durable(position).map_err(|error| self.outcome_unknown(error))
    }

    /// Ends the log with the frame that vouches for its index.
    fn append_closed(&mut self) -> Result<(), AppendError> {
        self.catch_up()?;
        if self.attached.at.is_closed() {
            return Ok(());
        }
        self.sync_all()?;
        self.begin_segment_for(256)?;
        let Attached { index, at, .. } = &self.attached;
        index.sync()?;
        let Some(index_crc) = index.checksum(at.lines)? else { return Ok(()) };
        let closed = Closed { lines: at.lines, end: at.position, index_crc };
        let batch = lay_out_closed(closed, self.place(self.options.clock.now_us()));
        self.write(&batch)?;
        self.sync_all()
    }
}

/// What tests look at and break.
#[cfg(test)]
impl Log {
    pub(super) fn end(&self) -> u64 {
        self.writer.attached.at.position
    }

    pub(super) fn segments(&self) -> &Segments {
        &self.writer.attached.segments
    }

    pub(super) fn index(&self) -> &super::line_index::LineIndex {
        &self.writer.attached.index
    }

    pub(super) fn hold_lock(&self) -> super::lock::BatchGuard<'_> {
        self.lock.take(self.writer.options.lock_timeout).unwrap()
    }

    pub(super) fn begin_segment(&mut self) {
        assert!(self.try_begin_segment().unwrap());
    }

    pub(super) fn try_begin_segment(&mut self) -> Result<bool, AppendError> {
        self.writer.begin_segment_for(SEGMENT_LEN_MAX_BYTES)
    }

    pub(super) fn fail_sync(&mut self) {
        self.writer.attached.head.set_failed_sync().unwrap();
        self.writer.has_failed = true;
    }

    /// As if the last batches had been written but not published.
    pub(super) fn rewind_head_to(&mut self, end: u64, lines: u64) {
        self.writer.attached.head.publish(end, lines).unwrap();
        self.writer.has_failed = true;
    }
}
