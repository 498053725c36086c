//! The 40-byte header of a frame, and the checksum over the whole frame.
//!
//! The checksum's start value is the segment's salt XOR the low half of the frame's position. For fixed
//! bytes a crc32 is a bijection of its start value, so a frame that is moved within its segment never
//! validates; in another segment only with a chance of 2^-32, where its number must fit as well.

use super::PAYLOAD_LEN_MAX_BYTES;
use super::little_endian::{i64_at, put, u16_at, u32_at, u64_at};
use crate::planted::{Defect, is_planted};

/// Size of a frame's header.
pub(crate) const FRAME_HEADER_LEN_BYTES: usize = 40;
/// Frames begin at multiples of this.
pub(crate) const FRAME_ALIGNMENT_BYTES: u64 = 8;
/// The same as a length in memory.
pub(crate) const FRAME_ALIGNMENT: usize = 8;
/// The last frame of a batch carries this flag.
pub(crate) const FLAG_BATCH_END: u8 = 1;
/// A reader that does not know the kind may skip the frame.
pub(crate) const FLAG_IGNORABLE: u8 = 2;
/// `unsynced` when the distance is unknown or too large.
pub(crate) const UNSYNCED_UNKNOWN: u32 = u32::MAX;

const LEN: usize = 0;
const CRC: usize = 4;
const SEQ: usize = 8;
const LINE: usize = 16;
const TS_US: usize = 24;
const KIND: usize = 32;
const FLAGS: usize = 33;
const SCHEMA: usize = 34;
const UNSYNCED: usize = 36;

/// What a frame's header says. The checksum is kept, since a cursor names its frame by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameHeader {
    pub(crate) payload_len_bytes: u32,
    pub(crate) crc: u32,
    /// Number of the event in the log, without gaps.
    pub(crate) seq: u64,
    /// The line created or edited; for other kinds the lines so far.
    pub(crate) line: u64,
    /// Wall clock when it was appended, in microseconds since 1970, as the clock gave it.
    pub(crate) ts_us: i64,
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) schema: u16,
    /// Distance back to the last position known durable, in units of the alignment.
    pub(crate) unsynced: u32,
}

/// Why bytes are not a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FrameFault {
    #[error("the bytes end within a frame")]
    Short,
    #[error("a frame of {0} payload bytes is larger than allowed")]
    TooLarge(u32),
    #[error("kind 0 is never written")]
    KindZero,
    #[error("the checksum does not fit")]
    Crc,
    #[error("the padding is not zero")]
    Padding,
    #[error("event {found} stands where event {expected} belongs")]
    Seq { expected: u64, found: u64 },
    #[error("line {found} stands where line {expected} belongs")]
    Line { expected: u64, found: u64 },
}

/// Bytes a frame takes in the file, padding included.
pub(crate) const fn frame_len_bytes(payload_len_bytes: u32) -> u64 {
    (FRAME_HEADER_LEN_BYTES as u64 + payload_len_bytes as u64).next_multiple_of(FRAME_ALIGNMENT_BYTES)
}

/// The distance from `position` back to `durable` as a frame carries it.
pub(crate) fn unsynced_distance(position: u64, durable: u64) -> u32 {
    position
        .checked_sub(durable)
        .and_then(|distance| u32::try_from(distance / FRAME_ALIGNMENT_BYTES).ok())
        .unwrap_or(UNSYNCED_UNKNOWN)
}

impl FrameHeader {
    pub(crate) const fn is_batch_end(&self) -> bool {
        self.flags & FLAG_BATCH_END != 0
    }

    pub(crate) const fn is_ignorable(&self) -> bool {
        self.flags & FLAG_IGNORABLE != 0
    }

    pub(crate) const fn len_bytes(&self) -> u64 {
        frame_len_bytes(self.payload_len_bytes)
    }

    /// Reads the fields without believing any of them.
    pub(crate) fn parse(block: &[u8; FRAME_HEADER_LEN_BYTES]) -> Self {
        Self {
            payload_len_bytes: u32_at(block, LEN),
            crc: u32_at(block, CRC),
            seq: u64_at(block, SEQ),
            line: u64_at(block, LINE),
            ts_us: i64_at(block, TS_US),
            kind: block[KIND],
            flags: block[FLAGS],
            schema: u16_at(block, SCHEMA),
            unsynced: u32_at(block, UNSYNCED),
        }
    }

    /// Reads the header at the start of `bytes`, which may go on behind the frame, and checks all that can
    /// be known without the checksum.
    pub(crate) fn peek(bytes: &[u8]) -> Result<Self, FrameFault> {
        let header = Self::parse(bytes.first_chunk().ok_or(FrameFault::Short)?);
        if header.kind == 0 {
            return Err(FrameFault::KindZero);
        }
        if header.payload_len_bytes > PAYLOAD_LEN_MAX_BYTES {
            return Err(FrameFault::TooLarge(header.payload_len_bytes));
        }
        Ok(header)
    }

    /// Checks the whole frame at the start of `bytes` and gives its header and payload.
    pub(crate) fn check(bytes: &[u8], salt: u32, position: u64) -> Result<(Self, &[u8]), FrameFault> {
        let header = Self::peek(bytes)?;
        let len_bytes = usize::try_from(header.len_bytes()).map_err(|_| FrameFault::Short)?;
        let frame = bytes.get(..len_bytes).ok_or(FrameFault::Short)?;
        let (payload, padding) = frame[FRAME_HEADER_LEN_BYTES..].split_at(header.payload_len_bytes as usize);
        if padding.iter().any(|byte| *byte != 0) {
            return Err(FrameFault::Padding);
        }
        if frame_crc(frame, salt, position) != header.crc {
            return Err(FrameFault::Crc);
        }
        Ok((header, payload))
    }
}

/// Puts the header and the checksum around a payload that already stands at `frame[40..]`, and gives the
/// checksum; `frame` ends with the payload's padding.
pub(crate) fn seal_frame(frame: &mut [u8], header: &FrameHeader, salt: u32, position: u64) -> u32 {
    put(frame, LEN, &header.payload_len_bytes.to_le_bytes());
    put(frame, SEQ, &header.seq.to_le_bytes());
    put(frame, LINE, &header.line.to_le_bytes());
    put(frame, TS_US, &header.ts_us.to_le_bytes());
    put(frame, KIND, &[header.kind, header.flags]);
    put(frame, SCHEMA, &header.schema.to_le_bytes());
    put(frame, UNSYNCED, &header.unsynced.to_le_bytes());
    let crc = frame_crc(frame, salt, position);
    put(frame, CRC, &crc.to_le_bytes());
    crc
}

/// The checksum over everything in the frame but itself.
fn frame_crc(frame: &[u8], salt: u32, position: u64) -> u32 {
    // A segment is far below 4 GiB, so the low half of the position tells every place in it apart.
    let [a, b, c, d, ..] = position.to_le_bytes();
    let start = salt ^ u32::from_le_bytes([a, b, c, d]);
    let start = if is_planted(Defect::NoSalt) { 0 } else { start };
    let mut hasher = crc32fast::Hasher::new_with_initial(start);
    hasher.update(&frame[LEN..CRC]);
    hasher.update(&frame[SEQ..]);
    hasher.finalize()
}

// FLAGS is written together with KIND.
const _: () = assert!(FLAGS == KIND + 1);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn frame(payload: &[u8], salt: u32, position: u64) -> Vec<u8> {
        let payload_len_bytes = u32::try_from(payload.len()).unwrap();
        let mut bytes = vec![0; usize::try_from(frame_len_bytes(payload_len_bytes)).unwrap()];
        bytes[FRAME_HEADER_LEN_BYTES..][..payload.len()].copy_from_slice(payload);
        let header = FrameHeader {
            payload_len_bytes,
            crc: 0,
            seq: 5,
            line: 2,
            ts_us: 77,
            kind: 2,
            flags: FLAG_BATCH_END,
            schema: 1,
            unsynced: 9,
        };
        seal_frame(&mut bytes, &header, salt, position);
        bytes
    }

    proptest! {
        #[test]
        fn a_frame_validates_at_its_own_place_only(
            payload in proptest::collection::vec(any::<u8>(), 0..200),
            salt: u32,
            place in 0_u64..1 << 40,
            shift in 1_u64..1 << 26,
        ) {
            let position = place * 8;
            let bytes = frame(&payload, salt, position);
            let (header, read) = FrameHeader::check(&bytes, salt, position).unwrap();
            prop_assert_eq!(read, &payload[..]);
            prop_assert_eq!(header.seq, 5);
            prop_assert!(FrameHeader::check(&bytes, salt, position + shift * 8 % (1 << 26)).is_err() || shift * 8 % (1 << 26) == 0);
        }

        #[test]
        fn every_flipped_bit_is_noticed(
            payload in proptest::collection::vec(any::<u8>(), 0..60),
            bit: prop::sample::Index,
        ) {
            let mut bytes = frame(&payload, 3, 256);
            let bit = bit.index(bytes.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(FrameHeader::check(&bytes, 3, 256).is_err());
        }

        #[test]
        fn any_bytes_are_judged_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = FrameHeader::check(&bytes, 0, 256);
        }
    }

    #[test]
    fn zeros_are_never_a_frame() {
        assert_eq!(FrameHeader::check(&[0; 4096], 0, 256), Err(FrameFault::KindZero));
    }

    #[test]
    fn a_huge_length_is_refused_before_anything_else() {
        let mut bytes = frame(b"x", 0, 256);
        put(&mut bytes, LEN, &u32::MAX.to_le_bytes());
        assert_eq!(FrameHeader::check(&bytes, 0, 256), Err(FrameFault::TooLarge(u32::MAX)));
    }

    #[test]
    fn the_distance_to_the_durable_position_is_counted_in_alignments() {
        assert_eq!(unsynced_distance(256, 256), 0);
        assert_eq!(unsynced_distance(1_256, 256), 125);
        assert_eq!(unsynced_distance(256, 512), UNSYNCED_UNKNOWN);
        assert_eq!(unsynced_distance(u64::MAX, 0), UNSYNCED_UNKNOWN);
    }
}
