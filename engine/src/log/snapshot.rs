//! The log at one moment: [`Snapshot`], and how it finds frames.
//!
//! Everything is answered as of the snapshot's end. An edit behind it is skipped, so a reader never sees
//! half a batch, however fast the writer goes on. Each frame is checked, and must be the line that was
//! asked for, or an edit of it: an index that names another makes the reader walk, and
//! [`Reader::is_walking`](super::Reader::is_walking) says so. What cannot be noticed is an index that names
//! an older edit of the same line; only the checksum of a closed log's index covers that.
//!
//! What is answered stands beside: lines in `lines`, what is new in `changes`, an earlier moment in
//! `moment`, events and edits in `history`.

use std::ops::ControlFlow;
use std::path::PathBuf;

use super::error::ReadError;
use super::reader::Reader;
use super::segments::Segments;
use super::walk::{Mark, Walk};
use super::window::{Frame, SCATTERED_LEN_BYTES, SEQUENTIAL_LEN_BYTES, Window};
use crate::PayloadError;
use crate::event::{Kind, LineView, decode_edit, decode_line, previous_edit};
use crate::fold::PlacedEdit;
use crate::format::sealed_word::NO_POSITION;
use crate::planted::{Defect, is_planted};

/// The log at one moment.
#[derive(Debug)]
pub struct Snapshot<'reader> {
    pub(super) reader: &'reader mut Reader,
    pub(super) end: u64,
    pub(super) lines: u64,
}

impl<'reader> Snapshot<'reader> {
    pub(super) fn new(reader: &'reader mut Reader) -> Self {
        let (end, lines) = (reader.seen.end, reader.seen.lines);
        Self { reader, end, lines }
    }

    /// Lines in the log, hidden ones included.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Lines that a power failure cannot take any more: a cursor counted in lines goes no further. All of
    /// them where nobody can tell.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn durable_lines(&self) -> Result<u64, ReadError> {
        match self.reader.seen.durable.filter(|durable| *durable < self.end) {
            Some(durable) => self.lines_before(durable),
            None => Ok(self.lines),
        }
    }

    /// How many lines lie before `position`. Positions rise with the lines.
    pub(super) fn lines_before(&self, position: u64) -> Result<u64, ReadError> {
        let (mut low, mut high) = (0, self.lines);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.line_position(middle)? < position { low = middle + 1 } else { high = middle }
        }
        Ok(low)
    }

    /// Reads, and if the index turns out to have named a wrong frame, walks the log and reads again.
    pub(super) fn or_by_walking<T>(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Result<T, ReadError>,
    ) -> Result<T, ReadError> {
        let result = read(self);
        let is_suspect = matches!(result, Err(ReadError::Damaged { .. } | ReadError::NoSuchPosition { .. }));
        if !is_suspect || !self.reader.walk_instead()? {
            return result;
        }
        self.lines = self.reader.seen.lines;
        self.lines = self.lines_before(self.end)?;
        read(self)
    }

    /// Hands every frame between `from` and the snapshot's end to `see`, until it has seen enough.
    pub(super) fn walk(
        &mut self,
        from: Mark,
        mut see: impl FnMut(&Frame<'_>) -> Result<ControlFlow<()>, PayloadError>,
    ) -> Result<Mark, ReadError> {
        self.reach_end()?;
        let segments = &self.reader.segments;
        let mut walk = Walk::new(segments, from, self.end)?;
        let path = |number| segments.get(number).unwrap_or(segments.last()).file.path().to_owned();
        while let Some(step) = walk.next()? {
            match step {
                Ok(frame) => {
                    let seen = see(&frame).map_err(|source| {
                        let Frame { position, header, .. } = frame;
                        let segment = segments.find(position).unwrap_or(usize::MAX);
                        ReadError::Payload { path: path(segment), position, seq: header.seq, source }
                    })?;
                    if seen.is_break() {
                        break;
                    }
                }
                Err(stop) => {
                    let why = stop.fault.to_string();
                    return Err(ReadError::Damaged {
                        path: path(stop.segment),
                        position: stop.position,
                        why,
                    });
                }
            }
        }
        Ok(walk.mark())
    }

    /// Opens segments that were begun since the reader last looked, if the snapshot goes that far.
    pub(super) fn reach_end(&mut self) -> Result<(), ReadError> {
        let segments = &mut self.reader.segments;
        if self.end > segments.last().file_end()? {
            segments.follow()?;
        }
        Ok(())
    }

    /// The edits of `line`, oldest first.
    pub(super) fn follow_edits(&mut self, line: u64) -> Result<Vec<PlacedEdit>, ReadError> {
        let mut edits = Vec::new();
        let mut position = self.newest_edit(line)?;
        while position != 0 {
            let end = self.end;
            let frame = self.frame(position)?;
            let previous = match Kind::try_from(frame.header.kind) {
                Ok(kind) if kind.is_edit() && frame.header.line == line => previous_edit(frame.payload),
                Ok(_) => return Err(self.damaged(position, format!("line {line}'s edit was expected there"))),
                Err(_) => return Err(unknown_kind(&frame)),
            };
            let counts = position < end || is_planted(Defect::EditPastSnapshot);
            let placed = counts.then(|| placed_edit(&frame)).transpose();
            let seq = frame.header.seq;
            let (previous, placed) = previous
                .and_then(|previous| placed.map(|placed| (previous, placed)))
                .map_err(|source| self.undecodable(position, seq, source))?;
            edits.extend(placed);
            if previous >= position {
                return Err(self.damaged(position, "an edit names a later one as the one before".to_owned()));
            }
            position = previous;
        }
        edits.reverse();
        Ok(edits)
    }

    /// Hands `line` as it was heard to `see`. `reach` is a position up to which it is worth reading ahead:
    /// nothing is read that nobody asked for.
    pub(super) fn with_line<T>(
        &mut self,
        line: u64,
        reach: u64,
        see: impl FnOnce(LineView<'_>) -> T,
    ) -> Result<T, ReadError> {
        let position = self.line_position(line)?;
        let span = usize::try_from(reach.saturating_sub(position)).unwrap_or(usize::MAX);
        let read_ahead = span.saturating_add(SCATTERED_LEN_BYTES).min(SEQUENTIAL_LEN_BYTES);
        let Reader { segments, line_window, seen, .. } = &mut *self.reader;
        let frame = frame_at(segments, line_window, position, seen.end, |_, _| read_ahead)?;
        if frame.header.kind != Kind::Line.number() || frame.header.line != line {
            return Err(self.damaged(position, format!("line {line} was expected there")));
        }
        let seq = frame.header.seq;
        match decode_line(frame.header.schema, frame.payload) {
            Ok(heard) => Ok(see(heard)),
            Err(source) => Err(self.undecodable(position, seq, source)),
        }
    }

    /// The frame at `position`, read without moving the window over the lines away.
    pub(super) fn frame(&mut self, position: u64) -> Result<Frame<'_>, ReadError> {
        let Reader { segments, line_window, edit_window, seen, .. } = &mut *self.reader;
        // Where an edit is that came after what was seen, nothing says how far the file goes.
        let end = if position < seen.end { seen.end } else { u64::MAX };
        let is_here = line_window.holds(segments.find(position)?, position, end);
        let window = if is_here { line_window } else { edit_window };
        frame_at(segments, window, position, end, |window, segment| {
            window.scattered_len_bytes(segment, position)
        })
    }

    pub(super) fn line_position(&self, line: u64) -> Result<u64, ReadError> {
        if line >= self.lines {
            let path = self.reader.segments.path().to_owned();
            return Err(ReadError::NoSuchLine { path, line, lines: self.lines });
        }
        match self.reader.source.line_position(line)? {
            NO_POSITION => Err(self.damaged(0, format!("the index does not tell where line {line} is"))),
            position => Ok(position),
        }
    }

    fn newest_edit(&self, line: u64) -> Result<u64, ReadError> {
        Ok(self.reader.source.newest_edit(line)?)
    }

    pub(super) fn damaged(&self, position: u64, why: String) -> ReadError {
        ReadError::Damaged { path: path_at(&self.reader.segments, position), position, why }
    }

    pub(super) fn undecodable(&self, position: u64, seq: u64, source: PayloadError) -> ReadError {
        ReadError::Payload { path: path_at(&self.reader.segments, position), position, seq, source }
    }
}

/// The whole, checked frame at a position that was published. `read_ahead` says how much to read from the
/// segment with the number it is given when the frame is not in the window yet.
fn frame_at<'window>(
    segments: &mut Segments,
    window: &'window mut Window,
    position: u64,
    end: u64,
    read_ahead: impl Fn(&Window, usize) -> usize,
) -> Result<Frame<'window>, ReadError> {
    let mut segment = segments.find(position)?;
    let mut readable_end = segments.proved_end(segment).unwrap_or(end);
    let mut read_ahead_len_bytes = read_ahead(window, segment);
    let is_whole = window.load(segments, segment, position, readable_end, read_ahead_len_bytes)?;
    // It may lie in a segment that was begun since: a position never lies in two.
    if !is_whole && segments.follow()? {
        segment = segments.find(position)?;
        readable_end = segments.proved_end(segment).unwrap_or(end);
        read_ahead_len_bytes = read_ahead(window, segment);
    }
    window.frame(segments, segment, position, readable_end, read_ahead_len_bytes)?.map_err(|fault| {
        ReadError::Damaged { path: path_at(segments, position), position, why: fault.to_string() }
    })
}

/// The file in which `position` lies.
pub(super) fn path_at(segments: &Segments, position: u64) -> PathBuf {
    let number = segments.find(position).unwrap_or(usize::MAX);
    segments.get(number).unwrap_or(segments.last()).file.path().to_owned()
}

pub(super) fn placed_edit(frame: &Frame<'_>) -> Result<PlacedEdit, PayloadError> {
    let header = &frame.header;
    let edit = decode_edit(header.schema, header.line, frame.payload)?;
    Ok(PlacedEdit { position: frame.position, seq: header.seq, ts_us: header.ts_us, edit })
}

/// Keeps the first frame that the fold would need and that this version does not know.
pub(super) fn note_unknown(frame: &Frame<'_>, first: &mut Option<ReadError>) {
    if first.is_none() && Kind::try_from(frame.header.kind).is_err() && !frame.header.is_ignorable() {
        *first = Some(unknown_kind(frame));
    }
}

fn unknown_kind(frame: &Frame<'_>) -> ReadError {
    ReadError::UnknownKind { kind: frame.header.kind, seq: frame.header.seq, position: frame.position }
}
