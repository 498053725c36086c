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

/// Where reads go in memory, as a multiple. On some processors the kernel's copy into an address shortly
/// behind the beginning of a page, which is where large pieces of memory begin, takes three times as long.
const READ_ALIGNMENT: usize = 64;

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
    /// Room that has been made; only `filled` bytes from `first` on mean something.
    bytes: Vec<u8>,
    /// Aligned in memory.
    first: usize,
    filled: usize,
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
        self.load(segments, segment, position, end, read_ahead_len_bytes)?;
        let Some(file) = segments.get(segment) else { return Ok(Err(FrameFault::Short)) };
        Ok(FrameHeader::check(self.bytes_before(segment, position, end), file.header.salt, position)
            .map(|(header, payload)| Frame { position, header, payload }))
    }

    /// Makes sure that the whole frame at `position` is here, by one read when that much is read ahead.
    /// False: there are not that many bytes.
    pub(crate) fn load(
        &mut self,
        segments: &Segments,
        segment: usize,
        position: u64,
        end: u64,
        read_ahead_len_bytes: usize,
    ) -> Result<bool, DiskError> {
        if self.holds(segment, position, end) {
            return Ok(true);
        }
        self.cover(segments, segment, position, FRAME_HEADER_LEN_BYTES, end, read_ahead_len_bytes)?;
        let need_len_bytes = match FrameHeader::peek(self.bytes_before(segment, position, end)) {
            Ok(header) => usize::try_from(header.len_bytes()).unwrap_or(usize::MAX),
            // Whoever checks the frame meets it again.
            Err(fault) => return Ok(fault != FrameFault::Short),
        };
        self.cover(segments, segment, position, need_len_bytes, end, read_ahead_len_bytes)?;
        Ok(self.bytes_before(segment, position, end).len() >= need_len_bytes)
    }

    /// Whether the whole frame at `position` is here already.
    pub(crate) fn holds(&self, segment: usize, position: u64, end: u64) -> bool {
        let bytes = self.bytes_before(segment, position, end);
        FrameHeader::peek(bytes).is_ok_and(|header| header.len_bytes() <= bytes.len() as u64)
    }

    /// How much to read for a frame at `position` that is read on its own: more each time when reading goes
    /// on behind what is here, little when it went elsewhere.
    pub(crate) fn scattered_len_bytes(&self, segment: usize, position: u64) -> usize {
        let goes_on = self.segment == segment
            && position >= self.start
            && position - self.start <= (self.filled + SCATTERED_LEN_BYTES) as u64;
        let doubled = if goes_on { self.filled * 2 } else { 0 };
        doubled.clamp(SCATTERED_LEN_BYTES, SEQUENTIAL_LEN_BYTES)
    }

    /// The bytes from `position` on that are here, but none at or behind `end`: what was read earlier may
    /// reach further than what counts now.
    fn bytes_before(&self, segment: usize, position: u64, end: u64) -> &[u8] {
        let here = position.checked_sub(self.start).and_then(|here| usize::try_from(here).ok());
        let filled = self.bytes.get(self.first..self.first + self.filled).unwrap_or_default();
        let bytes = here.and_then(|here| filled.get(here..)).unwrap_or_default();
        let allowed = usize::try_from(end.saturating_sub(position)).unwrap_or(usize::MAX);
        if self.segment == segment { &bytes[..allowed.min(bytes.len())] } else { &[] }
    }

    /// Makes sure that `need_len_bytes` from `position` on are here, or as many as there are before the end.
    fn cover(
        &mut self,
        segments: &Segments,
        segment: usize,
        position: u64,
        need_len_bytes: usize,
        end: u64,
        read_ahead_len_bytes: usize,
    ) -> Result<(), DiskError> {
        let available = usize::try_from(end.saturating_sub(position)).unwrap_or(usize::MAX);
        if self.bytes_before(segment, position, end).len() >= need_len_bytes.min(available) {
            return Ok(());
        }
        self.clear();
        let Some(file) = segments.get(segment) else { return Ok(()) };
        let len_bytes = need_len_bytes.max(read_ahead_len_bytes).min(available);
        let offset = position.saturating_sub(file.base());
        self.filled = file.file.read_at(self.room_for(len_bytes), offset)?;
        self.segment = segment;
        self.start = position;
        Ok(())
    }

    /// Room for `len_bytes`, aligned.
    fn room_for(&mut self, len_bytes: usize) -> &mut [u8] {
        if self.bytes.len() < self.first + len_bytes {
            self.bytes = vec![0; len_bytes + READ_ALIGNMENT];
            // Promised to be possible for bytes, but where it is not the reads are only slower.
            self.first = self.bytes.as_ptr().align_offset(READ_ALIGNMENT).min(READ_ALIGNMENT);
        }
        &mut self.bytes[self.first..self.first + len_bytes]
    }

    /// Forgets the bytes, so that the next frame is read from the file.
    pub(crate) fn clear(&mut self) {
        self.filled = 0;
    }
}
