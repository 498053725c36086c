//! What is new behind a cursor.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use super::cursor::Cursor;
use super::error::ReadError;
use super::snapshot::{Snapshot, note_unknown};
use super::walk::{LastFrame, Mark, mark_at};
use super::window::Frame;
use crate::event::Kind;
use crate::fold::FoldedLine;

/// What happened since a cursor.
#[derive(Clone, Debug, PartialEq)]
pub struct Changes {
    /// Lines that are new, as they read now.
    pub new: Vec<FoldedLine>,
    /// Older lines whose reading may have changed, as they read now.
    pub changed: Vec<FoldedLine>,
    /// Where to go on; none while the log is empty.
    pub cursor: Option<Cursor>,
}

/// Something that happened behind a cursor to one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewsItem {
    /// Number of the line.
    pub line: u64,
    /// It is new. Otherwise an edit of it came, and it may read differently.
    pub is_new: bool,
    /// Where to go on behind this.
    pub cursor: Cursor,
}

/// What happened to lines behind a cursor, as far as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct News {
    /// What happened, in the order of the log. Edits of lines that were new behind the same cursor are none.
    pub items: Vec<NewsItem>,
    /// Where to go on; none while the log is empty.
    pub cursor: Option<Cursor>,
    /// How many lines stand before the cursor that was given.
    pub lines_before: u64,
    /// There may be more behind the last item.
    pub has_more: bool,
}

impl Snapshot<'_> {
    /// What happened to lines since `cursor`, or since the start without one: `items_max` at most, so that a
    /// long absence can be read in parts. No line is read; a new one is read as it is now by
    /// [`Snapshot::each`] or [`Snapshot::folded`].
    ///
    /// ```
    /// # use ambient_engine::{Event, Line, Log, Mapping, Options, Reader, Track};
    /// # let session = tempfile::tempdir()?;
    /// # let mut log = Log::create(session.path(), Options::default())?;
    /// # let line = || Event::Line(Line {
    /// #     track: Track::Room, start_ms: 0, end_ms: 900, text: "good morning".into(), confidence: 0.9,
    /// #     language: None, generation: 0, audio: None, overlap: false,
    /// # });
    /// log.append(&[line(), line(), line()])?;
    /// let mut reader = Reader::open(session.path(), Mapping::On)?;
    /// let mut snapshot = reader.snapshot()?;
    /// let first = snapshot.news(None, 2)?;
    /// assert_eq!((first.items.len(), first.has_more), (2, true));
    /// let rest = snapshot.news(first.cursor.as_ref(), 2)?;
    /// assert_eq!((rest.items[0].line, rest.has_more), (2, false));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Snapshot::changes`].
    pub fn news(&mut self, cursor: Option<&Cursor>, items_max: usize) -> Result<News, ReadError> {
        self.or_by_walking(|snapshot| snapshot.news_behind(cursor, items_max))
    }

    fn news_behind(&mut self, cursor: Option<&Cursor>, items_max: usize) -> Result<News, ReadError> {
        let from = self.mark_behind_or_start(cursor)?;
        let uuid = self.reader.segments.uuid();
        let mut items = Vec::new();
        let mut has_more = false;
        let reached = self.walk_news(from, |frame, is_new| {
            if items.len() == items_max {
                has_more = true;
                return ControlFlow::Break(());
            }
            let cursor = Cursor { uuid, position: frame.position, crc: frame.header.crc };
            items.push(NewsItem { line: frame.header.line, is_new, cursor });
            ControlFlow::Continue(())
        })?;
        let cursor = if has_more {
            items.last().map(|item| item.cursor).or(cursor.copied())
        } else {
            let last = reached.last_frame.or(from.last_frame);
            last.map(|frame| self.cursor_at(frame))
        };
        Ok(News { items, cursor, lines_before: from.lines, has_more })
    }

    /// Hands every new line behind `from`, and every edit of an earlier line, to `see`, which is also told
    /// whether it is a new line.
    fn walk_news(
        &mut self,
        from: Mark,
        mut see: impl FnMut(&Frame<'_>, bool) -> ControlFlow<()>,
    ) -> Result<Mark, ReadError> {
        let mut unknown = None;
        let reached = self.walk(from, |frame| {
            note_unknown(frame, &mut unknown);
            let is_new = frame.header.kind == Kind::Line.number();
            let is_news = is_new || frame.is_edit() && frame.header.line < from.lines;
            Ok(if is_news { see(frame, is_new) } else { ControlFlow::Continue(()) })
        })?;
        unknown.map_or(Ok(reached), Err)
    }

    fn mark_behind_or_start(&mut self, cursor: Option<&Cursor>) -> Result<Mark, ReadError> {
        cursor.map_or(Ok(Mark::START), |cursor| self.mark_behind(cursor))
    }

    /// What happened since `cursor`, or since the start without one: new lines, and older lines that may
    /// now read differently.
    ///
    /// # Errors
    /// As [`Snapshot::each`], and [`ReadError::CursorLost`] when the cursor's frame is not there.
    pub fn changes(&mut self, cursor: Option<&Cursor>) -> Result<Changes, ReadError> {
        self.or_by_walking(|snapshot| snapshot.changes_behind(cursor))
    }

    fn changes_behind(&mut self, cursor: Option<&Cursor>) -> Result<Changes, ReadError> {
        let from = self.mark_behind_or_start(cursor)?;
        let mut touched = BTreeSet::new();
        let reached = self.walk_news(from, |frame, is_new| {
            if !is_new {
                touched.insert(frame.header.line);
            }
            ControlFlow::Continue(())
        })?;
        let new = self.since(from.lines)?;
        let changed = touched.into_iter().map(|line| self.fold_line(line)).collect::<Result<_, _>>()?;
        let last = reached.last_frame.or(from.last_frame);
        Ok(Changes { new, changed, cursor: last.map(|frame| self.cursor_at(frame)) })
    }

    /// Whether any event stands behind the one that `cursor` names.
    pub(super) fn has_events_behind(&mut self, cursor: &Cursor) -> Result<bool, ReadError> {
        let from = self.or_by_walking(|snapshot| snapshot.mark_behind(cursor))?;
        let reached = self.walk(from, |_| Ok(ControlFlow::Break(())))?;
        Ok(reached.next_seq > from.next_seq)
    }

    /// The cursor behind the last event of this snapshot; none while the log is empty.
    ///
    /// # Errors
    /// The disk refuses, or published bytes are damaged.
    pub fn cursor(&mut self) -> Result<Option<Cursor>, ReadError> {
        self.reach_end()?;
        let position = |line| self.reader.source.line_position(line);
        let mark = match mark_at(&self.reader.segments, self.lines, self.end, position)? {
            Some(mark) => mark,
            None => self.walk(Mark::START, |_| Ok(ControlFlow::Continue(())))?,
        };
        Ok(mark.last_frame.map(|frame| self.cursor_at(frame)))
    }

    fn cursor_at(&self, frame: LastFrame) -> Cursor {
        Cursor { uuid: self.reader.segments.uuid(), position: frame.position, crc: frame.crc }
    }

    /// The mark behind the frame that `cursor` names.
    pub(super) fn mark_behind(&mut self, cursor: &Cursor) -> Result<Mark, ReadError> {
        if cursor.uuid != self.reader.segments.uuid() {
            return Err(ReadError::CursorLost("it belongs to another session"));
        }
        if cursor.position >= self.end {
            return Err(ReadError::CursorLost("its event is not there"));
        }
        let frame = match self.frame(cursor.position) {
            Ok(frame) if frame.header.crc == cursor.crc => frame,
            Err(error @ (ReadError::Disk(_) | ReadError::Open(_))) => return Err(error),
            _ => return Err(ReadError::CursorLost("its event is no longer there")),
        };
        let (position, next_seq) = (frame.end(), frame.header.seq + 1);
        let last_frame = Some(LastFrame {
            position: cursor.position,
            crc: cursor.crc,
            kind: frame.header.kind,
            is_batch_end: frame.header.is_batch_end(),
        });
        // The frame itself need not name the count: an edit's names the edited line.
        let lines = self.lines_before(position)?;
        Ok(Mark { position, next_seq, lines, last_frame })
    }
}
