//! From events to the bytes of one batch.
//!
//! Everything is checked and laid out before the first byte is written, so that a batch is written by one
//! call or not at all. Only the last frame carries `BATCH_END`.

use std::collections::HashMap;

use super::error::{AppendError, ReadError};
use super::walk::{IndexChange, LastFrame, Mark};
use crate::event::{Change, Closed, Edit, Event, Kind, PAYLOAD_SCHEMA, encode};
use crate::format::PAYLOAD_LEN_MAX_BYTES;
use crate::format::frame::{
    FLAG_BATCH_END, FLAG_IGNORABLE, FRAME_ALIGNMENT, FRAME_HEADER_LEN_BYTES, FrameHeader, seal_frame,
    unsynced_distance,
};

/// About how long a frame is: a spoken sentence with its header.
const USUAL_FRAME_LEN_BYTES: usize = 256;
/// Room larger than this is given back after a batch.
const KEPT_ROOM_LEN_BYTES: usize = 1 << 20;

/// Where a batch will stand, and what its frames carry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) at: Mark,
    pub(crate) salt: u32,
    pub(crate) durable: u64,
    pub(crate) ts_us: i64,
}

/// A batch, laid out.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) bytes: Vec<u8>,
    pub(crate) changes: Vec<IndexChange>,
    /// Behind its last frame.
    pub(crate) after: Mark,
}

/// The room in which batches are laid out, kept from one batch to the next: memory that is asked for anew
/// each time has to be cleared by the system anew each time.
#[derive(Debug, Default)]
pub(crate) struct Room {
    bytes: Vec<u8>,
    changes: Vec<IndexChange>,
}

impl Room {
    /// Takes back the room of a batch that is not needed any more.
    pub(crate) fn keep(&mut self, batch: Batch) {
        if batch.bytes.capacity() <= KEPT_ROOM_LEN_BYTES {
            self.bytes = batch.bytes;
            self.changes = batch.changes;
        }
    }
}

/// Lays `events` out at `place`, in `room`, which is empty afterwards. `newest_edit` tells where the newest edit of a line in the log is.
pub(crate) fn lay_out(
    events: &[Event],
    place: Place,
    room: &mut Room,
    newest_edit: impl Fn(u64) -> Result<u64, super::disk::DiskError>,
) -> Result<Batch, AppendError> {
    let mut layout = Layout::new(place, room, events.len());
    for (index, event) in events.iter().enumerate() {
        let is_last = index + 1 == events.len();
        let line = layout.line_of(event)?;
        let previous = match event {
            Event::Edit(edit) => match layout.newest_edits.get(&edit.line) {
                Some(position) => *position,
                None if edit.line < place.at.lines => newest_edit(edit.line)?,
                None => 0,
            },
            _ => 0,
        };
        let start = layout.begin_frame();
        encode(event, previous, &mut layout.bytes)?;
        layout.end_frame(start, event.kind(), line, is_last).map_err(|len_bytes| {
            let max_bytes = u64::from(PAYLOAD_LEN_MAX_BYTES);
            AppendError::EventTooLarge { index, len_bytes, max_bytes }
        })?;
    }
    Ok(layout.finish())
}

/// Lays the closing frame out.
pub(crate) fn lay_out_closed(closed: Closed, place: Place) -> Batch {
    let mut layout = Layout::new(place, &mut Room::default(), 1);
    let start = layout.begin_frame();
    layout.bytes.extend_from_slice(&closed.to_bytes());
    // A fixed, small size: it cannot be too large.
    let _ = layout.end_frame(start, Kind::Closed, place.at.lines, true);
    layout.finish()
}

struct Layout {
    place: Place,
    bytes: Vec<u8>,
    changes: Vec<IndexChange>,
    /// Where the newest edit of a line within this batch is.
    newest_edits: HashMap<u64, u64>,
    after: Mark,
}

impl Layout {
    /// With room for `count` events of usual size, so that what was laid out is seldom moved.
    fn new(place: Place, room: &mut Room, count: usize) -> Self {
        let Room { mut bytes, mut changes } = std::mem::take(room);
        bytes.clear();
        bytes.reserve(count.saturating_mul(USUAL_FRAME_LEN_BYTES));
        changes.clear();
        changes.reserve(count);
        Self { place, bytes, changes, newest_edits: HashMap::new(), after: place.at }
    }

    /// Which line the frame of `event` names, if the event makes sense here.
    fn line_of(&self, event: &Event) -> Result<u64, AppendError> {
        match event {
            Event::Edit(edit) if edit.line >= self.after.lines => {
                Err(AppendError::NoSuchLine { line: edit.line, lines: self.after.lines })
            }
            Event::Edit(edit) => match meaningless(edit) {
                Some(why) => Err(AppendError::Meaningless { line: edit.line, why }),
                None => Ok(edit.line),
            },
            _ => Ok(self.after.lines),
        }
    }

    fn begin_frame(&mut self) -> usize {
        let start = self.bytes.len();
        self.bytes.resize(start + FRAME_HEADER_LEN_BYTES, 0);
        start
    }

    /// Pads and seals the frame that began at `start`. Err: its payload's length, which is too large.
    fn end_frame(&mut self, start: usize, kind: Kind, line: u64, is_last: bool) -> Result<(), u64> {
        let payload_len = self.bytes.len() - start - FRAME_HEADER_LEN_BYTES;
        let payload_len_bytes =
            u32::try_from(payload_len).ok().filter(|len_bytes| *len_bytes <= PAYLOAD_LEN_MAX_BYTES);
        let Some(payload_len_bytes) = payload_len_bytes else { return Err(payload_len as u64) };
        self.bytes.resize(self.bytes.len().next_multiple_of(FRAME_ALIGNMENT), 0);
        let position = self.after.position;
        let ignorable = if kind.is_ignorable() { FLAG_IGNORABLE } else { 0 };
        let header = FrameHeader {
            payload_len_bytes,
            crc: 0,
            seq: self.after.next_seq,
            line,
            ts_us: self.place.ts_us,
            kind: kind.number(),
            flags: ignorable | if is_last { FLAG_BATCH_END } else { 0 },
            schema: PAYLOAD_SCHEMA,
            unsynced: unsynced_distance(position, self.place.durable),
        };
        let frame = &mut self.bytes[start..];
        let crc = seal_frame(frame, &header, self.place.salt, position);
        let is_new_line = kind == Kind::Line;
        if kind.is_edit() {
            self.newest_edits.insert(line, position);
        }
        if is_new_line || kind.is_edit() {
            self.changes.push(IndexChange { line, position, is_new_line });
        }
        self.after = Mark {
            position: position + header.len_bytes(),
            next_seq: header.seq + 1,
            lines: self.after.lines + u64::from(is_new_line),
            last_frame: Some(LastFrame { position, crc, kind: kind.number(), is_batch_end: is_last }),
        };
        Ok(())
    }

    fn finish(self) -> Batch {
        Batch { bytes: self.bytes, changes: self.changes, after: self.after }
    }
}

/// Why an edit would mean nothing, if so.
fn meaningless(edit: &Edit) -> Option<&'static str> {
    match &edit.change {
        _ if edit.by.trim().is_empty() => Some("an edit says who made it"),
        Change::Repair { from, .. } if from.is_empty() => Some("a repair needs words to replace"),
        Change::Speaker { name } if name.trim().is_empty() => Some("a speaker needs a name"),
        Change::Revert { target } if target.position == 0 => Some("a revert names an edit"),
        _ => None,
    }
}

impl From<ReadError> for AppendError {
    fn from(error: ReadError) -> Self {
        Self::Open(error.into())
    }
}
