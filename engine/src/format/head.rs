//! The 4096-byte head page: four words, each on a cache line of its own, and whose they are.
//!
//! Words are stored and loaded one at a time and each may change at any moment. The identity is written
//! before the page is believed by anyone and not changed while it is; its checksum tells a whole one.

use super::SessionUuid;
use super::little_endian::{put, u64_at};

/// Size of the page.
pub(crate) const HEAD_LEN_BYTES: u64 = 4096;

/// Index of the word (8 bytes) that publishes: where the last visible batch ends.
pub(crate) const END_WORD: usize = 64 / 8;
/// Index of the word that says up to where the bytes are known to be on the disk.
pub(crate) const DURABLE_WORD: usize = 128 / 8;
/// Index of the word that counts lines; may run ahead of `end`.
pub(crate) const LINES_WORD: usize = 192 / 8;
/// Index of the word that holds [`STATE_OK`] or [`STATE_SYNC_FAILED`].
pub(crate) const STATE_WORD: usize = 256 / 8;
/// Index of the word that is rewritten at each append where there is no futex.
pub(crate) const BELL_WORD: usize = 320 / 8;
/// Index of the first word of the identity.
pub(crate) const IDENTITY_WORD: usize = 384 / 8;

/// Appending is allowed.
pub(crate) const STATE_OK: u64 = 0;
/// A sync failed: nobody appends until someone has opened the log anew. Any other word than
/// [`STATE_OK`] means it too, so that no single bit takes it back.
pub(crate) const STATE_SYNC_FAILED: u64 = u64::MAX;

/// Place of `end` for its check (see `sealed_word`).
pub(crate) const END_PLACE: u64 = END_WORD as u64;
/// Place of `durable` for its check.
pub(crate) const DURABLE_PLACE: u64 = DURABLE_WORD as u64;

/// Index of the word of the identity that says which `lines.idx` belongs to the page.
pub(crate) const NONCE_WORD: usize = IDENTITY_WORD + 8;

/// Words of the identity.
pub(crate) const IDENTITY_WORDS: usize = 10;
const IDENTITY_LEN_BYTES: usize = IDENTITY_WORDS * 8;

const MAGIC: u64 = u64::from_le_bytes(*b"AMBHEAD\x01");

/// Whose head a page is. A copied, restored or old one does not fit the place where it is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HeadIdentity {
    pub(crate) boot: [u8; 16],
    pub(crate) device: u64,
    pub(crate) inode: u64,
    /// Birth of the head's inode in nanoseconds since 1970; 0 where the file system does not tell.
    pub(crate) birth_ns: u64,
    pub(crate) uuid: SessionUuid,
    /// Which `lines.idx` belongs to it.
    pub(crate) index_nonce: u64,
}

impl HeadIdentity {
    pub(crate) fn to_words(self) -> [u64; IDENTITY_WORDS] {
        let mut block = [0_u8; IDENTITY_LEN_BYTES];
        put(&mut block, 0, &MAGIC.to_le_bytes());
        put(&mut block, 8, &self.boot);
        put(&mut block, 24, &self.device.to_le_bytes());
        put(&mut block, 32, &self.inode.to_le_bytes());
        put(&mut block, 40, &self.birth_ns.to_le_bytes());
        put(&mut block, 48, &self.uuid);
        put(&mut block, 64, &self.index_nonce.to_le_bytes());
        let crc = crc32fast::hash(&block[..72]);
        put(&mut block, 72, &u64::from(crc).to_le_bytes());
        std::array::from_fn(|word| u64_at(&block, word * 8))
    }

    /// The identity in `words`, or none when they are not a whole one.
    pub(crate) fn from_words(words: &[u64; IDENTITY_WORDS]) -> Option<Self> {
        let mut block = [0_u8; IDENTITY_LEN_BYTES];
        for (word, bytes) in words.iter().zip(block.chunks_exact_mut(8)) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        let whole =
            u64_at(&block, 0) == MAGIC && u64_at(&block, 72) == u64::from(crc32fast::hash(&block[..72]));
        whole.then(|| Self {
            boot: super::little_endian::array_at(&block, 8),
            device: u64_at(&block, 24),
            inode: u64_at(&block, 32),
            birth_ns: u64_at(&block, 40),
            uuid: super::little_endian::array_at(&block, 48),
            index_nonce: u64_at(&block, 64),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_comes_back_and_every_flipped_bit_is_noticed() {
        let identity =
            HeadIdentity { boot: [1; 16], device: 2, inode: 3, birth_ns: 4, uuid: [5; 16], index_nonce: 6 };
        let words = identity.to_words();
        assert_eq!(HeadIdentity::from_words(&words), Some(identity));
        for bit in 0..IDENTITY_WORDS * 64 {
            let mut damaged = words;
            damaged[bit / 64] ^= 1 << (bit % 64);
            assert_ne!(HeadIdentity::from_words(&damaged), Some(identity), "bit {bit}");
        }
        assert_eq!(HeadIdentity::from_words(&[0; IDENTITY_WORDS]), None);
    }
}
