//! Reading a log that someone else may be writing: [`Reader`].
//!
//! A reader takes no lock and no slot, needs no write permission, and cannot slow the writer. Three ways
//! in, in this order: `head` fits, and a poll without news is one load; the log was closed, and its index
//! is the one it was closed with; or everything is walked once, and the walk goes on from there.

use std::path::Path;
use std::time::{Duration, Instant};

use super::attach::apply;
use super::closed::closed_end;
use super::disk::{DiskError, LogDirectory};
use super::error::{OpenError, ReadError};
use super::head_page::HeadPage;
use super::line_index::LineIndex;
use super::options::Mapping;
use super::segments::Segments;
use super::snapshot::Snapshot;
use super::walk::{Mark, Stop, mark_at, survey};
use super::window::Window;
use crate::format::index::IndexEntry;

/// How often a reader that is polled looks whether `head` is still the file it has open.
const LOOK_AROUND_EVERY: Duration = Duration::from_secs(1);

/// Where a reader learns how far the log goes and where its lines are.
#[derive(Debug)]
pub(super) enum Source {
    /// From a writer's head page and index.
    Head { head: HeadPage, index: LineIndex, nonce: u64 },
    /// From the index of a closed log.
    Closed { index: LineIndex },
    /// From the reader's own walk.
    Walked {
        entries: Vec<IndexEntry>,
        at: Mark,
        stop: Option<Stop>,
        /// Where the last segment's file ended when it was walked.
        file_end: u64,
    },
}

/// How far the log goes, as a reader last saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) end: u64,
    pub(super) lines: u64,
    /// Up to where the bytes are known to be on the disk; none when nobody says.
    pub(super) durable: Option<u64>,
}

/// Reads one log, also while it is being written.
///
/// ```
/// use ambient_engine::{Event, Finished, Log, Mapping, Options, Reader};
///
/// let session = tempfile::tempdir()?;
/// let mut log = Log::create(session.path(), Options::default())?;
/// let mut reader = Reader::open(session.path(), Mapping::On)?;
/// assert!(!reader.has_news()?);
/// log.append(&[Event::Finished(Finished { at: "2026-11-30T12:00:00Z".into(), warnings: vec![] })])?;
/// assert!(reader.has_news()?);
/// assert_eq!(reader.snapshot()?.lines(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Reader {
    directory: LogDirectory,
    mapping: Mapping,
    pub(super) segments: Segments,
    pub(super) source: Source,
    pub(super) seen: Seen,
    pub(super) window: Window,
    looked_around: Instant,
}

impl Reader {
    /// Opens the log in the session directory at `session`.
    ///
    /// # Errors
    /// There is none, it is of a newer format, or the disk refuses. Damage is no error here: what stands
    /// before it is read, and [`Reader::damage`] tells of it.
    pub fn open(session: &Path, mapping: Mapping) -> Result<Self, OpenError> {
        Self::open_in(LogDirectory::open(session)?, mapping)
    }

    /// Opens the log in a log directory.
    ///
    /// # Errors
    /// As [`Reader::open`].
    pub fn open_in(directory: LogDirectory, mapping: Mapping) -> Result<Self, OpenError> {
        let (segments, source, seen) = find_source(&directory, mapping)?;
        let window = Window::default();
        Ok(Self { directory, mapping, segments, source, seen, window, looked_around: Instant::now() })
    }

    /// Whether anything was appended since the last [`Reader::snapshot`]. With a live writer on the same
    /// machine this is one load from memory.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn has_news(&self) -> Result<bool, ReadError> {
        let end = match &self.source {
            Source::Head { head, .. } => head.end()?,
            Source::Closed { .. } => return self.file_ends_elsewhere(self.seen.end),
            Source::Walked { file_end, .. } => return self.file_ends_elsewhere(*file_end),
        };
        Ok(end != self.seen.end)
    }

    /// Whether the last segment's file no longer ends at `known`, or is no longer the last.
    fn file_ends_elsewhere(&self, known: u64) -> Result<bool, ReadError> {
        Ok(self.segments.last().file_end()? != known || self.segments.has_next()?)
    }

    /// The log as it is now. It does not change while it is held.
    ///
    /// # Errors
    /// The disk refuses, or the log changed in a way that cannot be followed.
    pub fn snapshot(&mut self) -> Result<Snapshot<'_>, ReadError> {
        if self.looked_around.elapsed() >= LOOK_AROUND_EVERY {
            self.look_around()?;
        }
        if self.has_news()? {
            self.follow()?;
        }
        Ok(Snapshot::new(self))
    }

    /// What keeps the reader from going further than it does, when that is damage or an unfinished batch.
    /// Only a reader that walked the log itself can tell.
    pub fn damage(&self) -> Option<String> {
        let Source::Walked { stop: Some(stop), .. } = &self.source else { return None };
        let path = self.segments.get(stop.segment)?.file.path();
        Some(format!("{}: unreadable from position {} on: {}", path.display(), stop.position, stop.fault))
    }

    /// Whether the reader had to walk the log, so that what it gives may not be on the disk yet.
    pub fn is_walking(&self) -> bool {
        matches!(self.source, Source::Walked { .. })
    }

    /// Looks whether there is a better way in than the one that is used.
    fn look_around(&mut self) -> Result<(), ReadError> {
        self.looked_around = Instant::now();
        let is_good = match &self.source {
            Source::Head { head, nonce, .. } => {
                let is_same = |head: &HeadPage| -> Result<bool, DiskError> {
                    let identity = head.fitting_identity(self.segments.uuid())?;
                    Ok(identity.is_some_and(|identity| identity.index_nonce == *nonce))
                };
                head.is_in_place(&self.directory)? && is_same(head)?
            }
            Source::Closed { .. } => true,
            Source::Walked { .. } => {
                let head = HeadPage::open(&self.directory, false)?;
                !matches!(head.map(|head| head.fitting_identity(self.segments.uuid())), Some(Ok(Some(_))))
            }
        };
        if is_good { Ok(()) } else { self.reopen() }
    }

    fn reopen(&mut self) -> Result<(), ReadError> {
        let (segments, source, seen) = find_source(&self.directory, self.mapping)?;
        self.segments = segments;
        self.source = source;
        self.seen = seen;
        self.window.clear();
        Ok(())
    }

    /// Takes in what was appended.
    fn follow(&mut self) -> Result<(), ReadError> {
        self.window.clear();
        match &mut self.source {
            Source::Head { head, index, .. } => {
                self.seen = look_at_head(head, index)?;
                // After the words were loaded: whatever they publish is in a segment that is there now.
                if self.seen.end > self.segments.last().file_end()? {
                    self.segments.follow()?;
                }
                Ok(())
            }
            // Somebody has opened the closed log: there is a head now.
            Source::Closed { .. } => self.reopen(),
            Source::Walked { entries, at, stop, file_end } => {
                self.segments.follow()?;
                let limit = self.segments.last().file_end()?;
                let found = survey(&self.segments, *at, limit, |change| apply(entries, change))?;
                *at = found.accepted;
                *stop = found.stop;
                *file_end = limit;
                self.seen = Seen { end: at.position, lines: at.lines, durable: None };
                Ok(())
            }
        }
    }
}

/// Chooses the best way in.
fn find_source(directory: &LogDirectory, mapping: Mapping) -> Result<(Segments, Source, Seen), OpenError> {
    let mapped = mapping == Mapping::On;
    let mut segments = Segments::open(directory, false)?;
    let index = LineIndex::open(directory, segments.uuid(), mapped, false)?;
    let head = HeadPage::open(directory, mapped)?;
    let mut index = match (head, index) {
        (Some(head), Some(mut index)) => {
            if let Some((nonce, seen)) = believe(&head, &mut index, &mut segments)? {
                return Ok((segments, Source::Head { head, index, nonce }, seen));
            }
            Some(index)
        }
        (_, index) => index,
    };
    if let Some((closed, at)) = closed_end(&segments)?
        && let Some(index) = index.take()
        && index.checksum(closed.lines)? == Some(closed.index_crc)
    {
        let seen = Seen { end: at.position, lines: at.lines, durable: Some(at.position) };
        return Ok((segments, Source::Closed { index }, seen));
    }
    let mut entries = Vec::new();
    let limit = segments.last().file_end()?;
    let found = survey(&segments, Mark::START, limit, |change| apply(&mut entries, change))?;
    let at = found.accepted;
    let seen = Seen { end: at.position, lines: at.lines, durable: None };
    Ok((segments, Source::Walked { entries, at, stop: found.stop, file_end: limit }, seen))
}

/// Whether head and index may be believed: they are of this boot, this file and this log, they belong
/// together, the file is as long as they say, and a batch ends where they say.
fn believe(
    head: &HeadPage,
    index: &mut LineIndex,
    segments: &mut Segments,
) -> Result<Option<(u64, Seen)>, OpenError> {
    let Some(identity) = head.fitting_identity(segments.uuid())? else { return Ok(None) };
    if identity.index_nonce != index.nonce() {
        return Ok(None);
    }
    let seen = look_at_head(head, index)?;
    segments.follow()?;
    if segments.last().file_end()? < seen.end || seen.lines > index.capacity_lines() {
        return Ok(None);
    }
    let mark = mark_at(segments, seen.lines, seen.end, |line| index.position(line))?;
    Ok(mark.map(|_| (identity.index_nonce, seen)))
}

/// The head's words, and the lines that lie before its end.
fn look_at_head(head: &HeadPage, index: &mut LineIndex) -> Result<Seen, DiskError> {
    let words = head.load()?;
    index.follow(words.lines)?;
    let mut lines = words.lines.min(index.capacity_lines());
    while lines > 0 && index.position(lines - 1)? >= words.end {
        lines -= 1;
    }
    Ok(Seen { end: words.end, lines, durable: Some(words.durable) })
}
