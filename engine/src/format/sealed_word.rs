//! A position in a word that is shared or derived: the low 48 bits, and above them a check.
//!
//! Segments have their checksums; the words of `head` and of the index have nothing around them, are
//! stored one at a time, and a single wrong bit in one could name another frame that reads well, or none.
//! So each carries a CRC-16 over its position that starts from the place where the word stands: a flipped
//! bit, a word of another line and a stretch of zeros are noticed.

/// Largest position a word can hold: 256 TiB.
pub(crate) const POSITION_MAX: u64 = (1 << POSITION_BITS) - 1;
const POSITION_BITS: u32 = 48;

/// What stands for a position in a word that is not whole: behind every end there can be.
pub(crate) const NO_POSITION: u64 = u64::MAX;

/// Bytes of a position.
const POSITION_LEN_BYTES: usize = 6;

/// CRC-16 with the polynomial 0x1021 (CCITT), the most significant bit first: what a byte becomes when as
/// many zero bytes as the table's number follow it. All bytes of a position are looked up at once instead
/// of one after the other, as an index of a million lines is two million words.
const CRC16: [[u16; 256]; POSITION_LEN_BYTES] = {
    let mut tables = [[0; 256]; POSITION_LEN_BYTES];
    let mut byte: u16 = 0;
    while byte < 256 {
        let mut crc = byte << 8;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ 0x1021 };
            bit += 1;
        }
        tables[0][byte as usize] = crc;
        byte += 1;
    }
    let mut zeros = 1;
    while zeros < POSITION_LEN_BYTES {
        let mut byte = 0;
        while byte < 256 {
            let crc = tables[zeros - 1][byte];
            tables[zeros][byte] = (crc << 8) ^ tables[0][(crc >> 8) as usize];
            byte += 1;
        }
        zeros += 1;
    }
    tables
};

/// The check over `position` for the place numbered `place`.
#[inline]
fn check(position: u64, place: u64) -> u16 {
    let halves = place ^ (place >> 32);
    let [low, high, ..] = (halves ^ (halves >> 16)).to_le_bytes();
    let bytes = position.to_le_bytes();
    CRC16[5][usize::from(bytes[0] ^ !high)]
        ^ CRC16[4][usize::from(bytes[1] ^ !low)]
        ^ CRC16[3][usize::from(bytes[2])]
        ^ CRC16[2][usize::from(bytes[3])]
        ^ CRC16[1][usize::from(bytes[4])]
        ^ CRC16[0][usize::from(bytes[5])]
}

/// The word that holds `position` at the place numbered `place`.
#[inline]
pub(crate) fn seal(position: u64, place: u64) -> u64 {
    let position = position & POSITION_MAX;
    position | u64::from(check(position, place)) << POSITION_BITS
}

/// The position in a word at the place numbered `place`; none when the word is not whole.
#[inline]
pub(crate) fn open(word: u64, place: u64) -> Option<u64> {
    let position = word & POSITION_MAX;
    (word >> POSITION_BITS == u64::from(check(position, place))).then_some(position)
}

/// The position in a word for which something else vouches.
#[inline]
pub(crate) fn open_unchecked(word: u64) -> u64 {
    word & POSITION_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_comes_back_and_every_flipped_pair_of_bits_is_noticed() {
        for position in [0, 256, 512, 0x1234_5678, POSITION_MAX] {
            let word = seal(position, 7);
            assert_eq!(open(word, 7), Some(position));
            for first in 0..64 {
                assert_eq!(open(word ^ 1 << first, 7), None, "bit {first}");
                for second in 0..first {
                    assert_eq!(open(word ^ 1 << first ^ 1 << second, 7), None, "bits {first} and {second}");
                }
            }
        }
    }

    #[test]
    fn a_word_of_another_place_is_noticed() {
        for place in 1..2000 {
            assert_eq!(open(seal(512, 0), place), None, "place {place}");
        }
    }

    #[test]
    fn zeros_are_no_position() {
        assert!((0..2000).all(|place| open(0, place).is_none()));
    }

    /// The published check value of the algorithm (CRC-16/CCITT-FALSE would give 0x29B1 for nine digits).
    #[test]
    fn the_check_is_the_well_known_one() {
        assert_eq!(one_by_one(0xFFFF, b"123456789"), 0x29B1);
    }

    fn one_by_one(start: u16, bytes: &[u8]) -> u16 {
        bytes.iter().fold(start, |crc, byte| (crc << 8) ^ CRC16[0][usize::from((crc >> 8) as u8 ^ byte)])
    }

    #[test]
    fn looking_all_bytes_up_at_once_gives_what_one_after_the_other_gives() {
        for position in [0, 1, 256, 0x1234_5678_9ABC, POSITION_MAX] {
            for place in [0, 1, 7, 0xFFFF, 0x1_0000, 0x1234_5678_9ABC_DEF0, u64::MAX] {
                let start = !(0..4).fold(0, |start, part| start ^ (place >> (16 * part)) & 0xFFFF) & 0xFFFF;
                let start = u16::try_from(start).unwrap();
                assert_eq!(check(position, place), one_by_one(start, &position.to_le_bytes()[..6]));
            }
        }
    }
}
