//! Every crash, every flipped bit and every failing call, on a directory in memory.
//!
//! A run of the log is recorded as the changes it made (`history`). From the record come the images that a
//! death could have left (`images`); each is read, mended, written to and read again, and what comes back is
//! held against what had been promised by then (`verdict`). The outcome is always one of: the exact data;
//! a torn tail whose prefix is exact; an error with a name. Never a wrong line, never a panic, never the
//! loss of an event that had been acknowledged as durable.
//!
//! `AMBIENT_EXHAUSTIVE=1` judges every image; without it a seeded sample of them.

mod crashes;
mod damage;
mod failures;
mod history;
mod images;
mod moved;
mod planted;
mod verdict;

/// Whether every image is judged instead of a sample.
pub(super) fn is_exhaustive() -> bool {
    std::env::var_os("AMBIENT_EXHAUSTIVE").is_some_and(|value| value == "1")
}

/// A small generator of numbers (splitmix64), so that a sample is the same each time.
struct Seeded(u64);

impl Seeded {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// True once in `count` times.
    fn once_in(&mut self, count: u64) -> bool {
        self.next() % count.max(1) == 0
    }
}
