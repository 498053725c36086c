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

/// CRC-16 with the polynomial 0x1021 (CCITT), the most significant bit first.
const CRC16: [u16; 256] = {
    let mut table = [0; 256];
    let mut byte: u16 = 0;
    while byte < 256 {
        let mut crc = byte << 8;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ 0x1021 };
            bit += 1;
        }
        table[byte as usize] = crc;
        byte += 1;
    }
    table
};

/// The check over `position` for the place numbered `place`.
fn check(position: u64, place: u64) -> u16 {
    let place = place.to_le_bytes();
    let parts = place.chunks_exact(2).map(|part| u16::from_le_bytes([part[0], part[1]]));
    let start = parts.fold(0, |start, part| start ^ part);
    let bytes = position.to_le_bytes();
    bytes[..6].iter().fold(!start, |crc, byte| (crc << 8) ^ CRC16[usize::from((crc >> 8) as u8 ^ byte)])
}

/// The word that holds `position` at the place numbered `place`.
pub(crate) fn seal(position: u64, place: u64) -> u64 {
    let position = position & POSITION_MAX;
    position | u64::from(check(position, place)) << POSITION_BITS
}

/// The position in a word at the place numbered `place`; none when the word is not whole.
pub(crate) fn open(word: u64, place: u64) -> Option<u64> {
    let position = word & POSITION_MAX;
    (word >> POSITION_BITS == u64::from(check(position, place))).then_some(position)
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
        let digits = |crc: u16, byte: &u8| (crc << 8) ^ CRC16[usize::from((crc >> 8) as u8 ^ byte)];
        assert_eq!(b"123456789".iter().fold(0xFFFF, digits), 0x29B1);
    }
}
