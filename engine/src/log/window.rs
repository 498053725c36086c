//! A stretch of one segment in memory, moved along as frames are read.
//!
//! Neighbouring frames come out of one read; a frame is checked whole before its payload is handed out.

use super::disk::DiskError;
use super::segments::Segments;
use crate::event::Kind;
use crate::format::frame::{FRAME_HEADER_LEN_BYTES, FrameFault, FrameHeader};

/// How much is read at a time when frames are read one after the other.
pub(crate) const SEQUENTIAL_LEN_BYTES: usize = 256 << 10;
/// How much is read at a time when frames are read here and there.
pub(crate) const SCATTERED_LEN_BYTES: usize = 512;

/// A frame as it stands in the log: checked, not decoded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<'window> {
    pub(crate) position: u64,
    pub(crate) header: FrameHeader,
    pub(crate) payload: &'window [u8],
}

impl Frame<'_> {
    /// Position behind the frame.
    pub(crate) fn end(&self) -> u64 {
        self.position + self.header.len_bytes()
    }

    /// Whether the frame is on the chain of edits of the line it names. One of a kind that this version
    /// neither knows nor may skip is: the format promises it.
    pub(crate) fn is_edit(&self) -> bool {
        Kind::try_from(self.header.kind).map_or(!self.header.is_ignorable(), Kind::is_edit)
    }
}

/// Bytes `start..` of the segment with number `segment`.
#[derive(Debug, Default)]
pub(crate) struct Window {
    bytes: Vec<u8>,
    segment: usize,
    start: u64,
}

impl Window {
    /// The frame at `position` of segment number `segment`, of which bytes before `end` may be read.
    /// `read_ahead_len_bytes` says how much to read at least when the bytes are not here yet.
    pub(crate) fn frame(
        &mut self,
        segments: &Segments,
        segment: usize,
        position: u64,
        end: u64,
        read_ahead_len_bytes: usize,
    ) -> Result<Result<Frame<'_>, FrameFault>, DiskError> {
        let here =
            self.cover(segments, segment, position, FRAME_HEADER_LEN_BYTES, end, read_ahead_len_bytes)?;
        let header = match FrameHeader::peek(self.bytes_before(here, position, end)) {
            Ok(header) => header,
            Err(fault) => return Ok(Err(fault)),
        };
        let Ok(len_bytes) = usize::try_from(header.len_bytes()) else { return Ok(Err(FrameFault::Short)) };
        let here = self.cover(segments, segment, position, len_bytes, end, read_ahead_len_bytes)?;
        let Some(segment) = segments.get(segment) else { return Ok(Err(FrameFault::Short)) };
        Ok(FrameHeader::check(self.bytes_before(here, position, end), segment.header.salt, position)
            .map(|(header, payload)| Frame { position, header, payload }))
    }

    /// The bytes from index `here` on, which is at `position`, but none at or behind `end`: what was read
    /// earlier may reach further than what counts now.
    fn bytes_before(&self, here: usize, position: u64, end: u64) -> &[u8] {
        let bytes = &self.bytes[here..];
        let allowed = usize::try_from(end.saturating_sub(position)).unwrap_or(usize::MAX);
        &bytes[..allowed.min(bytes.len())]
    }

    /// Makes sure that `need` bytes from `position` on are here, or as many as there are before `end`, and
    /// says at which index they begin.
    fn cover(
        &mut self,
        segments: &Segments,
        segment: usize,
        position: u64,
        need_len_bytes: usize,
        end: u64,
        read_ahead_len_bytes: usize,
    ) -> Result<usize, DiskError> {
        let need_len_bytes =
            need_len_bytes.min(usize::try_from(end.saturating_sub(position)).unwrap_or(usize::MAX));
        if self.segment == segment && position >= self.start {
            let here = usize::try_from(position - self.start).unwrap_or(usize::MAX);
            if here.saturating_add(need_len_bytes) <= self.bytes.len() {
                return Ok(here);
            }
        }
        let Some(file) = segments.get(segment) else {
            self.bytes.clear();
            return Ok(0);
        };
        let available = usize::try_from(end.saturating_sub(position)).unwrap_or(usize::MAX);
        self.bytes.resize(need_len_bytes.max(read_ahead_len_bytes).min(available), 0);
        let filled = file.file.read_at(&mut self.bytes, position.saturating_sub(file.base()))?;
        self.bytes.truncate(filled);
        self.segment = segment;
        self.start = position;
        Ok(0)
    }

    /// Forgets the bytes, so that the next frame is read from the file.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
    }
}
