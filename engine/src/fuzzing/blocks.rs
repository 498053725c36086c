//! Single blocks: a frame with its payload, a segment, a cursor.

use super::Input;
use super::directory::{mend_segment, use_log};
use crate::event::{PAYLOAD_SCHEMA, decode, encode, previous_edit};
use crate::format::frame::{FRAME_HEADER_LEN_BYTES, FrameHeader, seal_frame};
use crate::format::segment::{SEGMENT_HEADER_LEN_BYTES, SegmentHeader};
use crate::{Cursor, Kind};

/// A frame that is accepted seals to the same bytes, and a payload that is decoded encodes to one that decodes
/// to the same.
pub fn frame(data: &[u8]) {
    let mut input = Input(data);
    let is_mended = input.flags() & 1 == 1;
    let (salt, position) = (0x5A17, 256);
    let mut bytes = input.0.to_vec();
    if is_mended && let_seal(&mut bytes, salt, position).is_none() {
        return;
    }
    let Ok((header, payload)) = FrameHeader::check(&bytes, salt, position) else { return };
    let len_bytes = usize::try_from(header.len_bytes()).unwrap();
    let mut sealed = bytes[..len_bytes].to_vec();
    sealed[..FRAME_HEADER_LEN_BYTES].fill(0);
    assert_eq!(seal_frame(&mut sealed, &header, salt, position), header.crc);
    assert_eq!(sealed, bytes[..len_bytes]);

    let Ok(kind) = Kind::try_from(header.kind) else { return };
    let Ok(event) = decode(kind, PAYLOAD_SCHEMA, header.line, payload) else { return };
    let previous = if kind.is_edit() { previous_edit(payload).unwrap() } else { 0 };
    let mut first = Vec::new();
    encode(&event, previous, &mut first).unwrap();
    // By bytes, since a confidence may be no number.
    let again = decode(event.kind(), PAYLOAD_SCHEMA, header.line, &first).unwrap();
    let mut second = Vec::new();
    encode(&again, previous, &mut second).unwrap();
    assert_eq!(first, second);
}

/// Puts padding and checksum of the frame at the start of `bytes` right, if there is one.
pub(super) fn let_seal(bytes: &mut [u8], salt: u32, position: u64) -> Option<usize> {
    let header = FrameHeader::peek(bytes).ok()?;
    let len_bytes = usize::try_from(header.len_bytes()).ok()?;
    let frame = bytes.get_mut(..len_bytes)?;
    frame[FRAME_HEADER_LEN_BYTES + header.payload_len_bytes as usize..].fill(0);
    seal_frame(frame, &header, salt, position);
    Some(len_bytes)
}

/// A header that is accepted comes back, and a log of that one segment keeps the laws of every log.
pub fn segment(data: &[u8]) {
    let mut input = Input(data);
    let is_mended = input.flags() & 1 == 1;
    let mut bytes = input.0.to_vec();
    if is_mended {
        mend_segment(&mut bytes);
    }
    let header = bytes.first_chunk::<SEGMENT_HEADER_LEN_BYTES>().map(SegmentHeader::decode);
    if let Some(Ok(header)) = header.filter(|header| header.as_ref().is_ok_and(|header| header.writable)) {
        assert_eq!(SegmentHeader::decode(&header.encode()), Ok(header));
    }
    use_log(&[("0000000000.seg", bytes)]);
}

/// A cursor that is read is written as it was, but for the case of its letters.
pub fn cursor(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Ok(cursor) = text.parse::<Cursor>() {
        assert_eq!(cursor.to_string(), text.to_lowercase());
    }
    super::caches::keep_cursor(data);
}
