//! The frame with which the last writer out closes a log.
//!
//! It has a fixed size, so it can be found from the end of the file, and it carries the checksum of the
//! whole index: a log that ends with it needs no walk.

use super::error::ReadError;
use super::segments::Segments;
use super::walk::{LastFrame, Mark};
use super::window::{SCATTERED_LEN_BYTES, Window};
use crate::event::{Closed, Kind};
use crate::format::frame::frame_len_bytes;

const CLOSED_FRAME_LEN_BYTES: u64 = frame_len_bytes(Closed::LEN_BYTES);

/// What the closing frame says and the mark behind it, when the log's last bytes are one.
pub(crate) fn closed_end(segments: &Segments) -> Result<Option<(Closed, Mark)>, ReadError> {
    let last = segments.last();
    let end = last.file_end()?;
    let Some(position) =
        end.checked_sub(CLOSED_FRAME_LEN_BYTES).filter(|position| *position >= last.first_frame())
    else {
        return Ok(None);
    };
    let mut window = Window::default();
    let segment = segments.find(position)?;
    let Ok(frame) = window.frame(segments, segment, position, end, SCATTERED_LEN_BYTES)? else {
        return Ok(None);
    };
    let is_closing = frame.header.kind == Kind::Closed.number() && frame.end() == end;
    let Some(closed) = Closed::from_bytes(frame.payload).ok().filter(|_| is_closing) else {
        return Ok(None);
    };
    if closed.end != position || closed.lines != frame.header.line {
        return Ok(None);
    }
    let last_frame =
        LastFrame { position, crc: frame.header.crc, kind: frame.header.kind, is_batch_end: true };
    let mark = Mark {
        position: end,
        next_seq: frame.header.seq + 1,
        lines: closed.lines,
        last_frame: Some(last_frame),
    };
    Ok(Some((closed, mark)))
}
