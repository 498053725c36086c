//! The log at one moment: [`Snapshot`].
//!
//! Everything is answered as of the snapshot's end. An edit behind it is skipped, so a reader never sees
//! half a batch, however fast the writer goes on. Each frame is checked, and must be the line that was
//! asked for, or an edit of it: an index that names another makes the reader walk, and
//! [`Reader::is_walking`](super::Reader::is_walking) says so. What cannot be noticed is an index that names
//! an older edit of the same line; only the checksum of a closed log's index covers that.

use std::collections::{BTreeSet, HashMap};

use super::cursor::Cursor;
use super::error::ReadError;
use super::reader::{Reader, Source};
use super::segments::Segments;
use super::walk::{Mark, Walk, mark_at};
use super::window::{Frame, SCATTERED_LEN_BYTES, SEQUENTIAL_LEN_BYTES, Window};
use crate::event::{Event, Kind, Line, decode, decode_edit, decode_line, previous_edit};
use crate::fold::{FoldedLine, PlacedEdit, fold};
use crate::format::sealed_word::NO_POSITION;
use crate::planted::{Defect, is_planted};

/// When at least this part of all lines is asked for, one pass over the log costs less than following
/// each line's edits: one in four.
const FORWARD_PASS_FROM_ONE_IN: u64 = 4;

/// A line as it was heard.
#[derive(Clone, Debug, PartialEq)]
pub struct HeardLine {
    /// Number of the line, from 0 in log order.
    pub index: u64,
    /// The line.
    pub line: Line,
}

/// An event where it stands in the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// Logical position of its frame.
    pub position: u64,
    /// Its number.
    pub seq: u64,
    /// When it was appended, in microseconds since 1970.
    pub ts_us: i64,
    /// The event.
    pub event: Event,
}

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

/// The log at one moment.
#[derive(Debug)]
pub struct Snapshot<'reader> {
    reader: &'reader mut Reader,
    end: u64,
    lines: u64,
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
        let Some(durable) = self.reader.seen.durable.filter(|durable| *durable < self.end) else {
            return Ok(self.lines);
        };
        // Positions rise with the lines.
        let (mut low, mut high) = (0, self.lines);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.line_position(middle)? < durable { low = middle + 1 } else { high = middle }
        }
        Ok(low)
    }

    /// The lines from number `since` on as they read now, hidden ones included. What it costs depends on
    /// how many lines come back and how often they were edited, not on how long the session is.
    ///
    /// # Errors
    /// The disk refuses, published bytes are damaged, or an edit is of a kind this version does not know.
    pub fn since(&mut self, since: u64) -> Result<Vec<FoldedLine>, ReadError> {
        self.or_by_walking(|snapshot| snapshot.fold_since(since))
    }

    fn fold_since(&mut self, since: u64) -> Result<Vec<FoldedLine>, ReadError> {
        let wanted = self.lines.saturating_sub(since);
        if wanted.saturating_mul(FORWARD_PASS_FROM_ONE_IN) >= self.lines && wanted > 16 {
            return self.fold_forward(since);
        }
        let last = self.lines.saturating_sub(1);
        (since..self.lines).map(|line| self.fold_line(line, last)).collect()
    }

    /// The lines from number `since` on as they were heard.
    ///
    /// # Errors
    /// The disk refuses, or published bytes are damaged.
    pub fn verbatim(&mut self, since: u64) -> Result<Vec<HeardLine>, ReadError> {
        self.or_by_walking(|snapshot| {
            let last = snapshot.lines.saturating_sub(1);
            (since..snapshot.lines)
                .map(|index| Ok(HeardLine { index, line: snapshot.heard(index, last)? }))
                .collect()
        })
    }

    /// One line as it was heard.
    ///
    /// # Errors
    /// As [`Snapshot::verbatim`]; there is no such line.
    pub fn heard_line(&mut self, line: u64) -> Result<HeardLine, ReadError> {
        Ok(HeardLine { index: line, line: self.heard(line, line)? })
    }

    /// One line as it reads now.
    ///
    /// # Errors
    /// As [`Snapshot::since`]; there is no such line.
    pub fn folded(&mut self, line: u64) -> Result<FoldedLine, ReadError> {
        self.or_by_walking(|snapshot| snapshot.fold_line(line, line))
    }

    /// `last` is the last line that will be asked for in a row.
    fn fold_line(&mut self, line: u64, last: u64) -> Result<FoldedLine, ReadError> {
        let heard = self.heard(line, last)?;
        let edits = self.follow_edits(line)?;
        Ok(fold(line, heard, &edits))
    }

    /// The edits of one line, oldest first.
    ///
    /// # Errors
    /// As [`Snapshot::since`].
    pub fn edits_of(&mut self, line: u64) -> Result<Vec<PlacedEdit>, ReadError> {
        self.or_by_walking(|snapshot| snapshot.follow_edits(line))
    }

    fn follow_edits(&mut self, line: u64) -> Result<Vec<PlacedEdit>, ReadError> {
        let mut edits = Vec::new();
        let mut position = self.newest_edit(line)?;
        if position >= self.end {
            // It came after this snapshot, perhaps in a segment that was begun after it.
            self.reader.segments.follow()?;
        }
        while position != 0 {
            let end = self.end;
            let frame = self.edit_frame(position)?;
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

    /// Every event, in log order; kinds this version does not know are left out.
    ///
    /// # Errors
    /// The disk refuses, or published bytes are damaged.
    pub fn events(&mut self) -> Result<Vec<Recorded>, ReadError> {
        let mut events = Vec::new();
        self.walk(Mark::START, |frame| {
            let kind = Kind::try_from(frame.header.kind).ok().filter(|kind| *kind != Kind::Closed);
            if let Some(kind) = kind {
                let header = &frame.header;
                let event = decode(kind, header.schema, header.line, frame.payload)?;
                let Frame { position, .. } = *frame;
                events.push(Recorded { position, seq: header.seq, ts_us: header.ts_us, event });
            }
            Ok(())
        })?;
        Ok(events)
    }

    /// What happened since `cursor`, or since the start without one: new lines, and older lines that may
    /// now read differently.
    ///
    /// # Errors
    /// As [`Snapshot::since`], and [`ReadError::CursorLost`] when the cursor's frame is not there.
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
            Ok(())
        })?;
        if let Some(error) = unknown {
            return Err(error);
        }
        let new = self.fold_since(from.lines)?;
        let changed = touched.into_iter().map(|line| self.fold_line(line, line)).collect::<Result<_, _>>()?;
        let uuid = self.reader.segments.uuid();
        let last = reached.last_frame.or(from.last_frame);
        let cursor = last.map(|frame| Cursor { uuid, position: frame.position, crc: frame.crc });
        Ok(Changes { new, changed, cursor })
    }

    /// The cursor behind the last event of this snapshot; none while the log is empty.
    ///
    /// # Errors
    /// The disk refuses, or published bytes are damaged.
    pub fn cursor(&mut self) -> Result<Option<Cursor>, ReadError> {
        let mark =
            mark_at(&self.reader.segments, self.lines, self.end, |line| position_in(self.reader, line))?;
        let mark = match mark {
            Some(mark) => mark,
            None => self.walk(Mark::START, |_| Ok(()))?,
        };
        let uuid = self.reader.segments.uuid();
        Ok(mark.last_frame.map(|frame| Cursor { uuid, position: frame.position, crc: frame.crc }))
    }

    /// Reads, and if the index turns out to have named a wrong frame, walks the log and reads again.
    fn or_by_walking<T>(&mut self, read: impl Fn(&mut Self) -> Result<T, ReadError>) -> Result<T, ReadError> {
        let result = read(self);
        let is_index_wrong =
            matches!(result, Err(ReadError::Damaged { .. } | ReadError::NoSuchPosition { .. }))
                && self.reader.seen.end == self.end
                && self.reader.walk_instead()?;
        if !is_index_wrong {
            return result;
        }
        self.lines = self.reader.seen.lines;
        read(self)
    }

    /// The same log as it was when `end` was its end. `lines` are counted from the index.
    #[cfg(test)]
    pub(super) fn rewound_to(mut self, end: u64) -> Result<Self, ReadError> {
        while self.lines > 0 && self.line_position(self.lines - 1)? >= end {
            self.lines -= 1;
        }
        self.end = end;
        Ok(self)
    }

    /// Folds the lines from `since` on in one pass over the log.
    pub(super) fn fold_forward(&mut self, since: u64) -> Result<Vec<FoldedLine>, ReadError> {
        let mut heard = Vec::new();
        let mut edits: HashMap<u64, Vec<PlacedEdit>> = HashMap::new();
        let lines = self.lines;
        let mut unknown = None;
        let reached = self.walk(Mark::START, |frame| {
            note_unknown(frame, &mut unknown);
            match Kind::try_from(frame.header.kind) {
                Ok(Kind::Line) if frame.header.line >= since => {
                    heard.push(decode_line(frame.header.schema, frame.payload)?);
                }
                Ok(kind) if kind.is_edit() && frame.header.line >= since => {
                    edits.entry(frame.header.line).or_default().push(placed_edit(frame)?);
                }
                _ => {}
            }
            Ok(())
        })?;
        if let Some(error) = unknown {
            return Err(error);
        }
        if reached.lines != lines {
            return Err(
                self.damaged(self.end, format!("{} lines stand before it, not {lines}", reached.lines))
            );
        }
        let folded = (since..lines).zip(heard).map(|(index, line)| {
            let edits = edits.remove(&index).unwrap_or_default();
            fold(index, line, &edits)
        });
        Ok(folded.collect())
    }

    /// Hands every frame between `from` and the snapshot's end to `see`.
    fn walk(
        &mut self,
        from: Mark,
        mut see: impl FnMut(&Frame<'_>) -> Result<(), crate::PayloadError>,
    ) -> Result<Mark, ReadError> {
        let segments = &self.reader.segments;
        let mut walk = Walk::new(segments, from, self.end)?;
        let path = |number| segments.get(number).unwrap_or(segments.last()).file.path().to_owned();
        while let Some(step) = walk.next()? {
            match step {
                Ok(frame) => see(&frame).map_err(|source| {
                    let Frame { position, header, .. } = frame;
                    let segment = segments.find(position).unwrap_or(usize::MAX);
                    ReadError::Payload { path: path(segment), position, seq: header.seq, source }
                })?,
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

    /// The mark behind the frame that `cursor` names.
    fn mark_behind(&mut self, cursor: &Cursor) -> Result<Mark, ReadError> {
        if cursor.uuid != self.reader.segments.uuid() {
            return Err(ReadError::CursorLost("it belongs to another session"));
        }
        let lost = ReadError::CursorLost("its event is no longer there");
        if cursor.position >= self.end {
            return Err(lost);
        }
        let frame = match self.edit_frame(cursor.position) {
            Ok(frame) if frame.header.crc == cursor.crc => frame,
            Err(error @ ReadError::Disk(_)) => return Err(error),
            _ => return Err(lost),
        };
        let (position, next_seq) = (frame.end(), frame.header.seq + 1);
        let last_frame = Some(super::walk::LastFrame {
            position: cursor.position,
            crc: cursor.crc,
            kind: frame.header.kind,
            is_batch_end: frame.header.is_batch_end(),
        });
        // The frame itself need not name the count: an edit's names the edited line.
        let lines = self.lines_before(position)?;
        Ok(Mark { position, next_seq, lines, last_frame })
    }

    /// How many lines lie before `position`.
    fn lines_before(&self, position: u64) -> Result<u64, ReadError> {
        let (mut low, mut high) = (0, self.lines);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.line_position(middle)? < position { low = middle + 1 } else { high = middle }
        }
        Ok(low)
    }

    fn heard(&mut self, line: u64, last: u64) -> Result<Line, ReadError> {
        let position = self.line_position(line)?;
        // One read for all that are asked for, but none for what nobody asked for.
        let span = usize::try_from(self.line_position(last)?.saturating_sub(position)).unwrap_or(usize::MAX);
        let read_ahead = span.saturating_add(SCATTERED_LEN_BYTES).min(SEQUENTIAL_LEN_BYTES);
        let Reader { segments, line_window, .. } = &mut *self.reader;
        let frame = frame_at(segments, line_window, position, read_ahead)?;
        if frame.header.kind != Kind::Line.number() || frame.header.line != line {
            return Err(self.damaged(position, format!("line {line} was expected there")));
        }
        let seq = frame.header.seq;
        decode_line(frame.header.schema, frame.payload)
            .map_err(|source| self.undecodable(position, seq, source))
    }

    /// The frame at `position`, read without moving the window over the lines away.
    fn edit_frame(&mut self, position: u64) -> Result<Frame<'_>, ReadError> {
        let Reader { segments, edit_window, .. } = &mut *self.reader;
        frame_at(segments, edit_window, position, SCATTERED_LEN_BYTES)
    }

    fn line_position(&self, line: u64) -> Result<u64, ReadError> {
        if line >= self.lines {
            let path = self.reader.segments.path().to_owned();
            return Err(ReadError::NoSuchLine { path, line, lines: self.lines });
        }
        match position_in(self.reader, line)? {
            NO_POSITION => Err(self.damaged(0, format!("the index does not tell where line {line} is"))),
            position => Ok(position),
        }
    }

    fn newest_edit(&self, line: u64) -> Result<u64, ReadError> {
        match &self.reader.source {
            Source::Head { index, .. } | Source::Closed { index, .. } => Ok(index.newest_edit(line)?),
            Source::Walked { entries, .. } => Ok(entry_of(entries, line).newest_edit),
        }
    }

    fn damaged(&self, position: u64, why: String) -> ReadError {
        ReadError::Damaged { path: self.path_at(position), position, why }
    }

    fn undecodable(&self, position: u64, seq: u64, source: crate::PayloadError) -> ReadError {
        ReadError::Payload { path: self.path_at(position), position, seq, source }
    }

    fn path_at(&self, position: u64) -> std::path::PathBuf {
        let segments = &self.reader.segments;
        let number = segments.find(position).unwrap_or(usize::MAX);
        segments.get(number).unwrap_or(segments.last()).file.path().to_owned()
    }
}

/// The whole, checked frame at a position that was published.
fn frame_at<'window>(
    segments: &Segments,
    window: &'window mut Window,
    position: u64,
    read_ahead_len_bytes: usize,
) -> Result<Frame<'window>, ReadError> {
    let segment = segments.find(position)?;
    let end = segments.proved_end(segment).unwrap_or(u64::MAX);
    window.frame(segments, segment, position, end, read_ahead_len_bytes)?.map_err(|fault| {
        let path = segments.get(segment).unwrap_or(segments.last()).file.path().to_owned();
        ReadError::Damaged { path, position, why: fault.to_string() }
    })
}

fn position_in(reader: &Reader, line: u64) -> Result<u64, super::disk::DiskError> {
    match &reader.source {
        Source::Head { index, .. } | Source::Closed { index, .. } => index.position(line),
        Source::Walked { entries, .. } => Ok(entry_of(entries, line).position),
    }
}

fn entry_of(entries: &[crate::format::index::IndexEntry], line: u64) -> crate::format::index::IndexEntry {
    usize::try_from(line).ok().and_then(|line| entries.get(line)).copied().unwrap_or_default()
}

fn placed_edit(frame: &Frame<'_>) -> Result<PlacedEdit, crate::PayloadError> {
    let header = &frame.header;
    let edit = decode_edit(header.schema, header.line, frame.payload)?;
    Ok(PlacedEdit { position: frame.position, seq: header.seq, ts_us: header.ts_us, edit })
}

/// Keeps the first frame that the fold would need and that this version does not know.
fn note_unknown(frame: &Frame<'_>, first: &mut Option<ReadError>) {
    if first.is_none() && Kind::try_from(frame.header.kind).is_err() && !frame.header.is_ignorable() {
        *first = Some(unknown_kind(frame));
    }
}

fn unknown_kind(frame: &Frame<'_>) -> ReadError {
    ReadError::UnknownKind { kind: frame.header.kind, seq: frame.header.seq, position: frame.position }
}
