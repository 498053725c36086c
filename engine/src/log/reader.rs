//! Reading a log that someone else may be writing: [`Reader`].
//!
//! A reader takes no lock and no slot, needs no write permission, and cannot slow the writer. Three ways
//! in, in this order: `head` fits, and a poll without news is one load; the log was closed, and its index
//! is the one it was closed with; or everything is walked once, and the walk goes on from there. An index
//! is only a way to find frames: when it is caught naming a wrong one, the reader walks.

use std::path::Path;
use std::time::{Duration, Instant};

use super::attach::apply;
use super::closed::closed_end;
use super::disk::{DiskError, LogDirectory};
use super::error::{OpenError, ReadError};
use super::head_page::{HeadPage, end_word};
use super::line_index::LineIndex;
use super::options::Mapping;
use super::segments::Segments;
use super::snapshot::Snapshot;
use super::walk::{Mark, Stop, mark_at, survey};
use super::window::Window;
use crate::format::index::IndexEntry;

/// How often a reader that is polled looks whether `head` is still the file it has open.
pub(super) const LOOK_AROUND_EVERY: Duration = Duration::from_secs(1);

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

impl Source {
    /// Where `line` is.
    pub(super) fn line_position(&self, line: u64) -> Result<u64, DiskError> {
        match self {
            Self::Head { index, .. } | Self::Closed { index } => index.position(line),
            Self::Walked { entries, .. } => Ok(entry_of(entries, line).position),
        }
    }

    /// Where the newest edit of `line` is; 0 for none.
    pub(super) fn newest_edit(&self, line: u64) -> Result<u64, DiskError> {
        match self {
            Self::Head { index, .. } | Self::Closed { index } => index.newest_edit(line),
            Self::Walked { entries, .. } => Ok(entry_of(entries, line).newest_edit),
        }
    }
}

fn entry_of(entries: &[IndexEntry], line: u64) -> IndexEntry {
    usize::try_from(line).ok().and_then(|line| entries.get(line)).copied().unwrap_or_default()
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
    /// Where the last snapshot ended.
    shown_end: u64,
    /// The same as a head page has it.
    shown_end_word: u64,
    pub(super) line_window: Window,
    pub(super) edit_window: Window,
    /// The making of the index that was caught naming a wrong frame.
    distrusted: Option<u64>,
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
        let way = WayIn { directory: &directory, mapping, distrusted: None };
        let (segments, (source, seen)) = way.find()?;
        Ok(Self {
            directory,
            mapping,
            segments,
            source,
            seen,
            shown_end: seen.end,
            shown_end_word: end_word(seen.end),
            line_window: Window::default(),
            edit_window: Window::default(),
            distrusted: None,
            looked_around: Instant::now(),
        })
    }

    /// Whether anything was appended since the last [`Reader::snapshot`]. With a live writer on the same
    /// machine this is one load from memory.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn has_news(&self) -> Result<bool, ReadError> {
        let end = match &self.source {
            Source::Head { head, .. } if head.is_end_word(self.shown_end_word) => return Ok(false),
            Source::Head { head, .. } => head.end()?,
            _ if self.seen.end != self.shown_end => return Ok(true),
            Source::Closed { .. } => return self.file_ends_elsewhere(self.seen.end),
            Source::Walked { file_end, .. } => return self.file_ends_elsewhere(*file_end),
        };
        Ok(end != self.shown_end)
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
        self.look_around_if_due()?;
        if self.has_news()? {
            self.follow()?;
        }
        if self.shown_end != self.seen.end {
            self.shown_end = self.seen.end;
            self.shown_end_word = end_word(self.shown_end);
        }
        Ok(Snapshot::new(self))
    }

    pub(super) fn look_around_if_due(&mut self) -> Result<(), ReadError> {
        if self.looked_around.elapsed() >= LOOK_AROUND_EVERY { self.look_around() } else { Ok(()) }
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
        match &self.source {
            Source::Head { head, nonce, .. } => {
                let identity = head.fitting_identity(self.segments.uuid())?;
                let is_same = identity.is_some_and(|identity| identity.index_nonce == *nonce);
                if is_same && head.is_in_place(&self.directory)? { Ok(()) } else { self.reopen() }
            }
            Source::Closed { .. } | Source::Walked { .. } => {
                let way =
                    WayIn { directory: &self.directory, mapping: self.mapping, distrusted: self.distrusted };
                let mut segments = Segments::open(&self.directory, false)?;
                // A walk may be ahead of what is published, and what a reader has seen it keeps seeing.
                let found = way.by_head(&mut segments)?.filter(|(_, seen)| seen.end >= self.seen.end);
                if let Some(found) = found {
                    self.enter(segments, found);
                }
                Ok(())
            }
        }
    }

    fn reopen(&mut self) -> Result<(), ReadError> {
        let way = WayIn { directory: &self.directory, mapping: self.mapping, distrusted: self.distrusted };
        let (segments, found) = way.find()?;
        self.enter(segments, found);
        Ok(())
    }

    fn enter(&mut self, segments: Segments, (source, seen): (Source, Seen)) {
        self.segments = segments;
        self.source = source;
        self.seen = seen;
        self.clear_windows();
    }

    fn clear_windows(&mut self) {
        self.line_window.clear();
        self.edit_window.clear();
    }

    /// Takes in what was appended.
    fn follow(&mut self) -> Result<(), ReadError> {
        self.clear_windows();
        match &mut self.source {
            Source::Head { head, index, nonce } => {
                let Some(seen) = look_at_head(head, index, *nonce)? else { return self.reopen() };
                // A segment that was begun is opened when something is read from it.
                self.seen = seen;
                Ok(())
            }
            // Somebody has opened the closed log: there is a head now.
            Source::Closed { .. } => self.reopen(),
            Source::Walked { entries, at, stop, file_end } => {
                if self.segments.follow()? && self.segments.discard(at.position)? {
                    return self.reopen();
                }
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

    /// The index has named a frame that is not the one it should be: from here on the reader walks, and that
    /// index is not believed again. False: it is not the index that is wrong, or a walk was made already.
    pub(super) fn walk_instead(&mut self) -> Result<bool, ReadError> {
        let (Source::Head { index, .. } | Source::Closed { index }) = &self.source else { return Ok(false) };
        let nonce = Some(index.nonce());
        if self.distrusted == nonce {
            return Ok(false);
        }
        self.distrusted = nonce;
        self.segments.follow()?;
        let mut entries = Vec::new();
        let found = survey(&self.segments, Mark::START, self.seen.end, |change| apply(&mut entries, change))?;
        let (at, end) = (found.accepted, self.seen.end);
        if at.position != end {
            return Ok(false);
        }
        self.seen = Seen { end, lines: at.lines, durable: None };
        // As if the file ended there, so that what came since counts as news.
        self.source = Source::Walked { entries, at, stop: None, file_end: end };
        Ok(true)
    }
}

/// How a log is entered for reading.
struct WayIn<'reader> {
    directory: &'reader LogDirectory,
    mapping: Mapping,
    /// Which making of the index is not to be used.
    distrusted: Option<u64>,
}

impl WayIn<'_> {
    /// Chooses the best way in.
    fn find(&self) -> Result<(Segments, (Source, Seen)), OpenError> {
        let mut segments = Segments::open(self.directory, false)?;
        let found = match self.by_head(&mut segments)? {
            // Cases A to C and G of `docs/design/RECOVERY.md`.
            Some(found) => Some(found),
            // Case D.
            None => self.by_closing_frame(&segments)?,
        };
        let found = match found {
            Some(found) => found,
            // Cases E and F; I to K show here as the place where the walk stops.
            None => by_walk(&segments)?,
        };
        Ok((segments, found))
    }

    fn index(&self, segments: &Segments) -> Result<Option<LineIndex>, DiskError> {
        let index = LineIndex::open(self.directory, segments.uuid(), self.mapping == Mapping::On, false)?;
        Ok(index.filter(|index| Some(index.nonce()) != self.distrusted))
    }

    /// Head and index may be believed if they are of this boot, this file and this log, they belong
    /// together, the file is as long as they say, and a batch ends where they say.
    fn by_head(&self, segments: &mut Segments) -> Result<Option<(Source, Seen)>, OpenError> {
        let Some(mut index) = self.index(segments)? else { return Ok(None) };
        let Some(head) = HeadPage::open(self.directory, self.mapping == Mapping::On)? else {
            return Ok(None);
        };
        let Some(identity) = head.fitting_identity(segments.uuid())? else { return Ok(None) };
        let nonce = index.nonce();
        if identity.index_nonce != nonce {
            return Ok(None);
        }
        let Some(seen) = look_at_head(&head, &mut index, nonce)? else { return Ok(None) };
        segments.follow()?;
        if segments.last().file_end()? < seen.end || seen.lines > index.capacity_lines() {
            return Ok(None);
        }
        let mark = mark_at(segments, seen.lines, seen.end, |line| index.position(line))?;
        Ok(mark.map(|_| (Source::Head { head, index, nonce }, seen)))
    }

    fn by_closing_frame(&self, segments: &Segments) -> Result<Option<(Source, Seen)>, OpenError> {
        let Some((closed, at)) = closed_end(segments)? else { return Ok(None) };
        let Some(index) = self.index(segments)? else { return Ok(None) };
        if index.checksum(closed.lines)? != Some(closed.index_crc) {
            return Ok(None);
        }
        let seen = Seen { end: at.position, lines: at.lines, durable: Some(at.position) };
        Ok(Some((Source::Closed { index }, seen)))
    }
}

fn by_walk(segments: &Segments) -> Result<(Source, Seen), OpenError> {
    let mut entries = Vec::new();
    let limit = segments.last().file_end()?;
    let found = survey(segments, Mark::START, limit, |change| apply(&mut entries, change))?;
    let at = found.accepted;
    let seen = Seen { end: at.position, lines: at.lines, durable: None };
    Ok((Source::Walked { entries, at, stop: found.stop, file_end: limit }, seen))
}

/// The head's words, and the lines that lie before its end; none when they are no longer about the index
/// with `nonce`.
fn look_at_head(head: &HeadPage, index: &mut LineIndex, nonce: u64) -> Result<Option<Seen>, DiskError> {
    let words = head.load()?;
    if head.index_nonce()? != nonce {
        return Ok(None);
    }
    index.follow(words.lines)?;
    let mut lines = words.lines.min(index.capacity_lines());
    while lines > 0 && index.position(lines - 1)? >= words.end {
        lines -= 1;
    }
    Ok(Some(Seen { end: words.end, lines, durable: Some(words.durable) }))
}
