//! The line index: a 4096-byte header, then two words a line.
//!
//! Entry n says where line n's frame is and where the newest edit of that line is, so "lines since n" is
//! one multiplication. An entry is derived from the log and is never evidence about it.

use super::SessionUuid;
use super::little_endian::{array_at, put, u32_at, u64_at};

/// Size of the header.
pub(crate) const INDEX_HEADER_LEN_BYTES: u64 = 4096;
/// Size of one line's entry.
pub(crate) const INDEX_ENTRY_LEN_BYTES: u64 = 16;
/// Bytes of the header that mean something.
pub(crate) const INDEX_HEADER_USED_LEN_BYTES: usize = 40;

const MAGIC: [u8; 8] = *b"AMBLIDX\x01";
const UUID: usize = 8;
const NONCE: usize = 24;
const CRC: usize = 32;

/// Which log, and which making of its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IndexHeader {
    pub(crate) uuid: SessionUuid,
    /// Random; a rebuilt index has another.
    pub(crate) nonce: u64,
}

impl IndexHeader {
    pub(crate) fn encode(self) -> [u8; INDEX_HEADER_USED_LEN_BYTES] {
        let mut block = [0; INDEX_HEADER_USED_LEN_BYTES];
        put(&mut block, 0, &MAGIC);
        put(&mut block, UUID, &self.uuid);
        put(&mut block, NONCE, &self.nonce.to_le_bytes());
        let crc = crc32fast::hash(&block[..CRC]);
        put(&mut block, CRC, &crc.to_le_bytes());
        block
    }

    /// The header in `block`, or none when it is not a whole one.
    pub(crate) fn decode(block: &[u8; INDEX_HEADER_USED_LEN_BYTES]) -> Option<Self> {
        let whole = array_at(block, 0) == MAGIC && u32_at(block, CRC) == crc32fast::hash(&block[..CRC]);
        whole.then(|| Self { uuid: array_at(block, UUID), nonce: u64_at(block, NONCE) })
    }
}

/// Place of the word that says where `line` is, for its check (see `sealed_word`).
pub(crate) const fn position_place(line: u64) -> u64 {
    line << 1
}

/// Place of the word that says where the newest edit of `line` is, for its check.
pub(crate) const fn newest_edit_place(line: u64) -> u64 {
    line << 1 | 1
}

/// Where a line is, and where its newest edit is; 0 for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct IndexEntry {
    pub(crate) position: u64,
    pub(crate) newest_edit: u64,
}

/// Positions that are added to a checksum at a time.
const ADDED_POSITIONS: usize = 512;

/// The checksum over entries that a `closed` frame carries.
#[derive(Default)]
pub(crate) struct IndexChecksum(crc32fast::Hasher);

impl IndexChecksum {
    /// Adds positions: of each line in turn, and behind it that of its newest edit.
    pub(crate) fn add(&mut self, positions: &[u64]) {
        for block in positions.chunks(ADDED_POSITIONS) {
            let mut bytes = [0; ADDED_POSITIONS * 8];
            for (place, position) in bytes.chunks_exact_mut(8).zip(block) {
                place.copy_from_slice(&position.to_le_bytes());
            }
            self.0.update(&bytes[..block.len() * 8]);
        }
    }

    pub(crate) fn finish(self) -> u32 {
        self.0.finalize()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_comes_back_and_zeros_are_none() {
        let header = IndexHeader { uuid: [9; 16], nonce: 77 };
        assert_eq!(IndexHeader::decode(&header.encode()), Some(header));
        assert_eq!(IndexHeader::decode(&[0; INDEX_HEADER_USED_LEN_BYTES]), None);
    }
}
