//! Coming to a log as its writer: finding out where it ends, and mending what a dead writer left.
//!
//! Runs under the batch lock. Where to write is never taken from `head`: it is the end of the last
//! segment's file, and if that is not where the last published batch ends, the writer before died or
//! failed. Whole batches it left are synced and published; anything else stays where it is and a new
//! segment begins behind it. Not one byte of the log is cut off or overwritten. The letters are the rows of
//! `docs/design/RECOVERY.md`.

use super::closed::closed_end;
use super::disk::{DiskError, LogDirectory};
use super::error::{OpenError, ReadError};
use super::head_page::{HeadPage, HeadWords};
use super::line_index::LineIndex;
use super::options::{Mapping, Options};
use super::segments::Segments;
use super::tail::{TornTail, judge};
use super::walk::{IndexChange, Mark, Survey, Walk, mark_at, survey};
use crate::event::previous_edit;
use crate::format::index::{IndexEntry, IndexHeader};
use crate::format::segment::{Reason, SegmentHeader};
use crate::planted::{Defect, is_planted};

/// Why a log had to be looked at before it could be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryCause {
    /// Nothing was wrong: it had been closed, or another writer is at work.
    None,
    /// A writer died since the machine started.
    WriterDied,
    /// The machine went down, or the log came from elsewhere, without having been closed.
    NotClosed,
    /// A sync had failed.
    SyncFailed,
}

/// What coming to a log found and did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecoveryReport {
    /// Why it was looked at.
    pub cause: RecoveryCause,
    /// Events in whole batches that had been written but not published, and now are.
    pub recovered_events: u64,
    /// Bytes of a batch that was never finished; they stay in the file.
    pub discarded_len_bytes: u64,
    /// Whole events among those bytes.
    pub lost_events: u64,
    /// Whether the line index was made anew.
    pub rebuilt_index: bool,
}

/// A log ready to be appended to. Behind `at` the last segment's file ends.
#[derive(Debug)]
pub(crate) struct Attached {
    pub(crate) segments: Segments,
    pub(crate) head: HeadPage,
    pub(crate) index: LineIndex,
    pub(crate) at: Mark,
    pub(crate) durable: u64,
    pub(crate) report: RecoveryReport,
}

/// What is known before the tail is looked at.
struct Start {
    cause: RecoveryCause,
    /// What the head says, when it fits.
    words: Option<HeadWords>,
    /// An index that can be trusted up to the mark.
    trusted: Option<(LineIndex, Mark)>,
}

/// Whether an index that is there may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IndexTrust {
    /// As far as head or closing frame vouch for it.
    Checked,
    /// It was caught with a damaged word.
    None,
}

pub(crate) fn attach(
    directory: &LogDirectory,
    options: &Options,
    trust: IndexTrust,
) -> Result<Attached, OpenError> {
    directory.refuse_network_file_system()?;
    let segments = Segments::open(directory, true)?;
    if let Some(refusing) = segments.iter().find(|segment| !segment.header.writable) {
        return Err(OpenError::ReadOnlyFeatures(refusing.file.path().to_owned()));
    }
    let mapped = options.mapping == Mapping::On && !directory.copies_on_write()?;
    if segments.last().is_empty()? {
        // Case H. Whoever made it may have died before its name was durable.
        directory.sync()?;
    }
    let head = HeadPage::open_or_create(directory, mapped)?;
    let start = find_start(directory, &segments, &head, mapped, trust)?;
    let limit = segments.last().file_end()?;
    if let Some((index, mark)) = start.trusted {
        let mut changes = Vec::new();
        let survey = survey(&segments, mark, limit, |change| changes.push(change))?;
        let found = Found { cause: start.cause, words: start.words, known: mark, survey };
        return found.keep_index(segments, head, index, &changes, options);
    }
    let mut entries = Vec::new();
    let survey = survey(&segments, Mark::START, limit, |change| apply(&mut entries, change))?;
    // Without a trusted index nothing tells which events had been published.
    let known = survey.accepted;
    let found = Found { cause: start.cause, words: start.words, known, survey };
    found.rebuild_index(directory, segments, head, mapped, &entries, options)
}

/// Three ways in: the head fits this boot; the log was closed and its index is the one that was closed
/// with it; or everything is walked.
fn find_start(
    directory: &LogDirectory,
    segments: &Segments,
    head: &HeadPage,
    mapped: bool,
    trust: IndexTrust,
) -> Result<Start, OpenError> {
    let open_index = || match trust {
        IndexTrust::Checked => LineIndex::open(directory, segments.uuid(), mapped, true),
        IndexTrust::None => Ok(None),
    };
    let Some(identity) = head.fitting_identity(segments.uuid())? else {
        let closed = closed_end(segments)?;
        let trusted = match (closed, open_index()?) {
            // Case D.
            (Some((closed, mark)), Some(index))
                if index.checksum(closed.lines)? == Some(closed.index_crc) =>
            {
                Some((index, mark))
            }
            // Case E, or F without a closing frame.
            _ => None,
        };
        let cause = if closed.is_some() { RecoveryCause::None } else { RecoveryCause::NotClosed };
        if cause == RecoveryCause::NotClosed {
            // What the cache holds may not be what the disk holds; from here on the disk is asked.
            sync_last(segments, head)?;
            segments.last().file.forget_cached_pages()?;
        }
        return Ok(Start { cause, words: None, trusted });
    };
    let words = head.load()?;
    if head.has_failed_sync()? {
        // Case G.
        if !is_planted(Defect::CacheBelievedAfterFailedSync) {
            segments.last().file.forget_cached_pages()?;
        }
        return Ok(Start { cause: RecoveryCause::SyncFailed, words: Some(words), trusted: None });
    }
    let index = open_index()?.filter(|index| index.nonce() == identity.index_nonce);
    let trusted = match index {
        Some(index) if words.lines <= index.capacity_lines() => {
            mark_at(segments, words.lines, words.end, |line| index.position(line))?.map(|mark| (index, mark))
        }
        _ => None,
    };
    // Case A; else B, and C when bytes are left behind the last whole batch.
    let is_whole = segments.last().file_end()? == words.end;
    let cause = if is_whole { RecoveryCause::None } else { RecoveryCause::WriterDied };
    Ok(Start { cause, words: Some(words), trusted })
}

/// Adds a change to an index that is being made in memory.
pub(crate) fn apply(entries: &mut Vec<IndexEntry>, change: IndexChange) {
    if change.is_new_line {
        entries.push(IndexEntry { position: change.position, newest_edit: 0 });
    } else if let Some(entry) = usize::try_from(change.line).ok().and_then(|line| entries.get_mut(line)) {
        entry.newest_edit = change.position;
    }
}

/// What the walk found, before anything is mended.
struct Found {
    cause: RecoveryCause,
    words: Option<HeadWords>,
    /// Up to where events had been published before.
    known: Mark,
    survey: Survey,
}

impl Found {
    fn torn_tail(&self, segments: &Segments) -> Result<TornTail, OpenError> {
        let proved = self.words.map(|words| match self.cause {
            // Case G: after a failed sync only what was durable before is certain to be there.
            RecoveryCause::SyncFailed => (words.durable, "the disk had confirmed everything"),
            _ => (words.end, "whole batches had been published"),
        });
        if is_planted(Defect::PositionFromHead) {
            return Ok(TornTail::default());
        }
        judge(segments, &self.survey, proved)
    }

    fn report(&self, torn: TornTail, rebuilt_index: bool) -> RecoveryReport {
        RecoveryReport {
            cause: self.cause,
            recovered_events: self.survey.accepted.next_seq - self.known.next_seq,
            discarded_len_bytes: torn.discarded_len_bytes,
            lost_events: torn.lost_events,
            rebuilt_index,
        }
    }

    /// The index is right up to what was published: add what was found behind it.
    fn keep_index(
        self,
        mut segments: Segments,
        head: HeadPage,
        mut index: LineIndex,
        changes: &[IndexChange],
        options: &Options,
    ) -> Result<Attached, OpenError> {
        let torn = self.torn_tail(&segments)?;
        let accepted = self.survey.accepted;
        let words = self.words.unwrap_or(HeadWords {
            end: accepted.position,
            durable: accepted.position,
            lines: accepted.lines,
        });
        let mut durable = words.durable.min(accepted.position);
        if accepted.position > self.known.position {
            if !is_planted(Defect::RecoveredUnsynced) {
                sync_last(&segments, &head)?;
            }
            durable = accepted.position;
        }
        index.reserve(accepted.lines)?;
        store_changes(&index, changes)?;
        if torn.discarded_len_bytes > 0 {
            put_back_newest_edits(&segments, &index, accepted)?;
        }
        let mut at = accepted;
        if torn.discarded_len_bytes > 0 {
            at = begin_behind(&mut segments, accepted, Reason::TornTail, options)?;
            durable = at.position;
        }
        if self.words.is_some() {
            head.set_durable(durable)?;
            head.publish(at.position, at.lines)?;
        } else {
            let words = HeadWords { end: at.position, durable, lines: at.lines };
            head.initialise(segments.uuid(), index.nonce(), words)?;
        }
        let report = self.report(torn, false);
        Ok(Attached { segments, head, index, at, durable, report })
    }

    /// The index cannot be trusted: make it anew from the walk, then let the head vouch for it.
    fn rebuild_index(
        self,
        directory: &LogDirectory,
        mut segments: Segments,
        head: HeadPage,
        mapped: bool,
        entries: &[IndexEntry],
        options: &Options,
    ) -> Result<Attached, OpenError> {
        let torn = self.torn_tail(&segments)?;
        let accepted = self.survey.accepted;
        sync_last(&segments, &head)?;
        let reason = match self.cause {
            RecoveryCause::SyncFailed => Some(Reason::SyncFailed),
            RecoveryCause::NotClosed => Some(Reason::MachineDied),
            RecoveryCause::WriterDied | RecoveryCause::None if torn.discarded_len_bytes > 0 => {
                Some(Reason::TornTail)
            }
            RecoveryCause::WriterDied | RecoveryCause::None => None,
        };
        // Case H: an empty last segment is used, not replaced.
        let is_empty = segments.last().is_empty()?;
        let at = match reason {
            Some(reason) if !is_empty => begin_behind(&mut segments, accepted, reason, options)?,
            _ => accepted,
        };
        let header = IndexHeader { uuid: segments.uuid(), nonce: random_u64()? };
        let index = LineIndex::rebuild(directory, header, entries, mapped)?;
        let words = HeadWords { end: at.position, durable: at.position, lines: at.lines };
        head.initialise(segments.uuid(), index.nonce(), words)?;
        let report = self.report(torn, true);
        Ok(Attached { segments, head, index, at, durable: at.position, report })
    }
}

/// Syncs the last segment. A sync that fails is written down: a second one would succeed without the bytes
/// being on the disk.
fn sync_last(segments: &Segments, head: &HeadPage) -> Result<(), DiskError> {
    segments.last().file.sync().inspect_err(|_| {
        // If even this cannot be stored, the error that is on its way says enough.
        let _ = head.set_failed_sync();
    })
}

/// Stores what new frames mean for the index: entries first, newest edits afterwards.
pub(crate) fn store_changes(index: &LineIndex, changes: &[IndexChange]) -> Result<(), DiskError> {
    for change in changes.iter().filter(|change| change.is_new_line) {
        index.set_entry(change.line, IndexEntry { position: change.position, newest_edit: 0 })?;
    }
    for change in changes.iter().filter(|change| !change.is_new_line) {
        if is_planted(Defect::LostNewestEdit) {
            continue;
        }
        index.set_newest_edit(change.line, change.position)?;
    }
    Ok(())
}

/// Case C: a dead writer may have stored newest edits of a batch that does not count. Each such word that still
/// names an abandoned frame is put back to the edit before it, newest frame first.
fn put_back_newest_edits(segments: &Segments, index: &LineIndex, accepted: Mark) -> Result<(), ReadError> {
    let mut abandoned = Vec::new();
    let mut walk = Walk::new(segments, accepted, segments.last().file_end()?)?;
    while let Some(Ok(frame)) = walk.next()? {
        if let (true, Ok(previous)) = (frame.is_edit(), previous_edit(frame.payload)) {
            abandoned.push((frame.header.line, frame.position, previous));
        }
    }
    for (line, position, previous) in abandoned.into_iter().rev() {
        if line < accepted.lines && index.newest_edit(line)? == position {
            index.set_newest_edit(line, previous)?;
        }
    }
    Ok(())
}

/// Begins a segment behind the last one, whose bytes from `proved` on are discarded.
pub(crate) fn begin_behind(
    segments: &mut Segments,
    proved: Mark,
    reason: Reason,
    options: &Options,
) -> Result<Mark, OpenError> {
    // Whatever the durability: a header that vouches for bytes must not reach the disk before them.
    segments.last().file.sync()?;
    let base = segments.last().file_end()?;
    let base = if is_planted(Defect::PositionReused) { proved.position } else { base };
    let before = &segments.last().header;
    let mut salt = random_u32()?;
    if salt == before.salt {
        salt = !salt;
    }
    let header = SegmentHeader {
        uuid: before.uuid,
        ordinal: before.ordinal + 1,
        first_seq: proved.next_seq,
        first_line: proved.lines,
        base,
        salt,
        previous_proved_end: proved.position,
        discarded_len_bytes: base - proved.position,
        reason,
        created_us: options.clock.now_us(),
        writable: true,
    };
    segments.begin_next(&header)?;
    Ok(Mark { position: segments.last().first_frame(), ..proved })
}

/// The header of a new log's first segment.
pub(crate) fn first_header(options: &Options) -> Result<SegmentHeader, OpenError> {
    let mut uuid = [0; 16];
    fill_random(&mut uuid)?;
    Ok(SegmentHeader {
        uuid,
        ordinal: 0,
        first_seq: 0,
        first_line: 0,
        base: 0,
        salt: random_u32()?,
        previous_proved_end: 0,
        discarded_len_bytes: 0,
        reason: Reason::First,
        created_us: options.clock.now_us(),
        writable: true,
    })
}

fn random_u32() -> Result<u32, OpenError> {
    let mut bytes = [0; 4];
    fill_random(&mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}

fn random_u64() -> Result<u64, OpenError> {
    let mut bytes = [0; 8];
    fill_random(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

fn fill_random(bytes: &mut [u8]) -> Result<(), OpenError> {
    getrandom::fill(bytes).map_err(|error| OpenError::Random(error.to_string()))
}
