//! What is new behind a cursor.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use super::cursor::Cursor;
use super::error::ReadError;
use super::snapshot::{Snapshot, note_unknown};
use super::walk::{LastFrame, Mark, mark_at};
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

impl Snapshot<'_> {
    /// What happened since `cursor`, or since the start without one: new lines, and older lines that may
    /// now read differently.
    ///
    /// # Errors
    /// As [`Snapshot::each`], and [`ReadError::CursorLost`] when the cursor's frame is not there.
    pub fn changes(&mut self, cursor: Option<&Cursor>) -> Result<Changes, ReadError> {
        self.or_by_walking(|snapshot| snapshot.changes_behind(cursor))
    }

    fn changes_behind(&mut self, cursor: Option<&Cursor>) -> Result<Changes, ReadError> {
        let from = match cursor {
            Some(cursor) => self.mark_behind(cursor)?,
            None => Mark::START,
        };
        let mut touched = BTreeSet::new();
        let mut unknown = None;
        let reached = self.walk(from, |frame| {
            note_unknown(frame, &mut unknown);
            if frame.is_edit() && frame.header.line < from.lines {
                touched.insert(frame.header.line);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        if let Some(error) = unknown {
            return Err(error);
        }
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
