//! The 256-byte header of a segment.
//!
//! A position is logical: the segment's base plus the offset in its file, header included. A segment's
//! base is the previous segment's base plus that file's whole length, discarded bytes included, so a
//! position is never used twice.

use super::little_endian::{array_at, i64_at, put, u16_at, u32_at, u64_at};
use super::{SEGMENT_LEN_MAX_BYTES, SessionUuid};

/// Size of the header; the first frame begins behind it.
pub(crate) const SEGMENT_HEADER_LEN_BYTES: usize = 256;
/// The same as a file offset.
pub(crate) const FIRST_FRAME_OFFSET: u64 = SEGMENT_HEADER_LEN_BYTES as u64;

/// First bytes of every segment. As in PNG: a high bit, a name, and the line ends that a transfer in
/// text mode would change.
pub(crate) const SEGMENT_MAGIC: [u8; 8] = [0x89, b'A', b'M', b'B', 0x0D, 0x0A, 0x1A, 0x0A];

/// Newest layout this version reads and the one it writes.
pub(crate) const FORMAT_MAJOR: u16 = 1;
/// Newest addition to that layout.
pub(crate) const FORMAT_MINOR: u16 = 0;

/// Codec number of bincode 2.0.1, standard configuration.
pub(crate) const CODEC_BINCODE_2: u16 = 1;
/// Checksum number of crc32 (IEEE) with a start value.
pub(crate) const CHECKSUM_CRC32: u16 = 1;

const MAGIC: usize = 0;
const MAJOR: usize = 8;
const MINOR: usize = 10;
const COMPAT: usize = 12;
const RO_COMPAT: usize = 16;
const INCOMPAT: usize = 20;
const UUID: usize = 24;
const ORDINAL: usize = 40;
const FIRST_SEQ: usize = 48;
const FIRST_LINE: usize = 56;
const BASE: usize = 64;
const SALT: usize = 72;
const CODEC: usize = 76;
const CHECKSUM: usize = 78;
const PREVIOUS_END: usize = 80;
const DISCARDED: usize = 88;
const REASON: usize = 96;
const CREATED_US: usize = 104;
const CRC: usize = 252;

/// Why a segment was begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Reason {
    /// It is the log's first.
    First = 1,
    /// The next batch did not fit into the one before.
    Full = 2,
    /// The one before ended in bytes that were never acknowledged.
    TornTail = 3,
    /// The machine went down while the one before was open.
    MachineDied = 4,
    /// The system could not sync the one before.
    SyncFailed = 5,
}

impl Reason {
    pub(super) const ALL: [Self; 5] =
        [Self::First, Self::Full, Self::TornTail, Self::MachineDied, Self::SyncFailed];

    fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| *reason as u8 == number)
    }
}

/// What a segment's header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SegmentHeader {
    pub(crate) uuid: SessionUuid,
    /// Number of the segment, from 0; also its file's name.
    pub(crate) ordinal: u64,
    /// Number of the first event in it.
    pub(crate) first_seq: u64,
    /// Lines in the log before it.
    pub(crate) first_line: u64,
    /// Logical position of its first byte.
    pub(crate) base: u64,
    /// Random part of every checksum in it; differs from the previous segment's.
    pub(crate) salt: u32,
    /// Logical position where the previous segment's proved bytes end.
    pub(crate) previous_proved_end: u64,
    /// Bytes of the previous segment behind that end.
    pub(crate) discarded_len_bytes: u64,
    pub(crate) reason: Reason,
    pub(crate) created_us: i64,
    /// Whether every feature that a writer must know is known.
    pub(crate) writable: bool,
}

/// A segment header that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HeaderError {
    /// Fewer bytes than a header.
    #[error("the file is shorter than a segment header ({0} bytes)")]
    Short(u64),
    /// Not a segment, or damaged by a transfer in text mode.
    #[error("the file does not begin as a segment does; was it copied in text mode?")]
    Magic,
    /// The checksum does not fit.
    #[error("the segment header's checksum does not fit")]
    Crc,
    /// Written by a newer layout.
    #[error("the segment's format is {0}.x; this version reads up to {FORMAT_MAJOR}.x: use a newer one")]
    NewerMajor(u16),
    /// Written with features this version must not ignore.
    #[error("the segment needs features {0:#x} that this version does not know: use a newer one")]
    Features(u32),
    /// A payload codec this version does not know.
    #[error("payload codec {0} is not known to this version: use a newer one")]
    Codec(u16),
    /// A checksum this version does not know.
    #[error("checksum {0} is not known to this version: use a newer one")]
    Checksum(u16),
    /// Values that contradict each other.
    #[error("the segment header contradicts itself: {0}")]
    Contradiction(&'static str),
}

impl SegmentHeader {
    pub(crate) fn encode(&self) -> [u8; SEGMENT_HEADER_LEN_BYTES] {
        let mut block = [0; SEGMENT_HEADER_LEN_BYTES];
        put(&mut block, MAGIC, &SEGMENT_MAGIC);
        put(&mut block, MAJOR, &FORMAT_MAJOR.to_le_bytes());
        put(&mut block, MINOR, &FORMAT_MINOR.to_le_bytes());
        put(&mut block, UUID, &self.uuid);
        put(&mut block, ORDINAL, &self.ordinal.to_le_bytes());
        put(&mut block, FIRST_SEQ, &self.first_seq.to_le_bytes());
        put(&mut block, FIRST_LINE, &self.first_line.to_le_bytes());
        put(&mut block, BASE, &self.base.to_le_bytes());
        put(&mut block, SALT, &self.salt.to_le_bytes());
        put(&mut block, CODEC, &CODEC_BINCODE_2.to_le_bytes());
        put(&mut block, CHECKSUM, &CHECKSUM_CRC32.to_le_bytes());
        put(&mut block, PREVIOUS_END, &self.previous_proved_end.to_le_bytes());
        put(&mut block, DISCARDED, &self.discarded_len_bytes.to_le_bytes());
        put(&mut block, REASON, &[self.reason as u8]);
        put(&mut block, CREATED_US, &self.created_us.to_le_bytes());
        let crc = crc32fast::hash(&block[..CRC]);
        put(&mut block, CRC, &crc.to_le_bytes());
        block
    }

    pub(crate) fn decode(block: &[u8; SEGMENT_HEADER_LEN_BYTES]) -> Result<Self, HeaderError> {
        if array_at(block, MAGIC) != SEGMENT_MAGIC {
            return Err(HeaderError::Magic);
        }
        // The version comes before the checksum: a newer layout may keep its checksum elsewhere.
        let major = u16_at(block, MAJOR);
        if major > FORMAT_MAJOR {
            return Err(HeaderError::NewerMajor(major));
        }
        if crc32fast::hash(&block[..CRC]) != u32_at(block, CRC) {
            return Err(HeaderError::Crc);
        }
        let (codec, checksum) = (u16_at(block, CODEC), u16_at(block, CHECKSUM));
        match (u32_at(block, INCOMPAT), codec, checksum) {
            (0, CODEC_BINCODE_2, CHECKSUM_CRC32) => {}
            (0, CODEC_BINCODE_2, _) => return Err(HeaderError::Checksum(checksum)),
            (0, _, _) => return Err(HeaderError::Codec(codec)),
            (features, _, _) => return Err(HeaderError::Features(features)),
        }
        let header = Self {
            uuid: array_at(block, UUID),
            ordinal: u64_at(block, ORDINAL),
            first_seq: u64_at(block, FIRST_SEQ),
            first_line: u64_at(block, FIRST_LINE),
            base: u64_at(block, BASE),
            salt: u32_at(block, SALT),
            previous_proved_end: u64_at(block, PREVIOUS_END),
            discarded_len_bytes: u64_at(block, DISCARDED),
            reason: Reason::from_number(block[REASON])
                .ok_or(HeaderError::Contradiction("its reason is not one of the known ones"))?,
            created_us: i64_at(block, CREATED_US),
            // Unknown bits of the first word (at COMPAT) may be ignored by readers and writers alike.
            writable: u32_at(block, RO_COMPAT) == 0,
        };
        header.check()?;
        Ok(header)
    }

    fn check(&self) -> Result<(), HeaderError> {
        if self.previous_proved_end.checked_add(self.discarded_len_bytes) != Some(self.base) {
            return Err(HeaderError::Contradiction("its base does not follow the segment before it"));
        }
        if self.base.checked_add(SEGMENT_LEN_MAX_BYTES).is_none() {
            return Err(HeaderError::Contradiction("its base leaves no room for positions"));
        }
        if (self.ordinal == 0) != (self.base == 0) {
            return Err(HeaderError::Contradiction("only the first segment has base 0"));
        }
        Ok(())
    }
}

// COMPAT is written as zero and read by nobody: named so that the table has no hole.
const _: () = assert!(COMPAT + 4 == RO_COMPAT);

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> SegmentHeader {
        SegmentHeader {
            uuid: [7; 16],
            ordinal: 3,
            first_seq: 40,
            first_line: 12,
            base: 9_000,
            salt: 0xDEAD_BEEF,
            previous_proved_end: 8_900,
            discarded_len_bytes: 100,
            reason: Reason::TornTail,
            created_us: -5,
            writable: true,
        }
    }

    #[test]
    fn a_header_comes_back_as_it_was_written() {
        assert_eq!(SegmentHeader::decode(&header().encode()), Ok(header()));
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let block = header().encode();
        for bit in 0..SEGMENT_HEADER_LEN_BYTES * 8 {
            let mut damaged = block;
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(SegmentHeader::decode(&damaged).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn newer_layouts_and_unknown_features_are_refused_by_name() {
        let mut block = header().encode();
        put(&mut block, MAJOR, &2_u16.to_le_bytes());
        assert_eq!(SegmentHeader::decode(&block), Err(HeaderError::NewerMajor(2)));

        let sealed = |mut block: [u8; 256]| {
            let crc = crc32fast::hash(&block[..CRC]);
            put(&mut block, CRC, &crc.to_le_bytes());
            block
        };
        let mut incompat = header().encode();
        put(&mut incompat, INCOMPAT, &4_u32.to_le_bytes());
        assert_eq!(SegmentHeader::decode(&sealed(incompat)), Err(HeaderError::Features(4)));

        let mut read_only = header().encode();
        put(&mut read_only, RO_COMPAT, &1_u32.to_le_bytes());
        assert!(!SegmentHeader::decode(&sealed(read_only)).unwrap().writable);

        let mut compatible = header().encode();
        put(&mut compatible, COMPAT, &1_u32.to_le_bytes());
        put(&mut compatible, MINOR, &9_u16.to_le_bytes());
        assert_eq!(SegmentHeader::decode(&sealed(compatible)), Ok(header()));
    }
}
