//! Room on the disk: how much there is, for how long, and a little that is kept back.
//!
//! A full disk ends a recording. The log must still be able to say so, and the lines of the last sound
//! must find room, so a file of zeros is kept beside the audio and given back at the end.

use std::path::Path;

use ambient_engine::session::{Directory, DirectoryError};

/// The file that keeps room.
const RESERVE_FILE: &str = "reserve";

/// How much it keeps: many thousands of lines.
const RESERVE_LEN_BYTES: usize = 4 << 20;

/// Bytes that are free for this user where `path` is; none when the system does not tell.
pub fn free_bytes(path: &Path) -> Option<u64> {
    let stat = rustix::fs::statvfs(path).ok()?;
    stat.f_bavail.checked_mul(stat.f_frsize)
}

/// Hours that a recording of these rates can go on in `free_bytes`.
///
/// ```
/// use ambient_capture::live::hours_left;
/// assert_eq!(hours_left(3_456_000_000, &[48_000, 48_000]), 5);
/// ```
pub fn hours_left(free_bytes: u64, rates_hz: &[u32]) -> u64 {
    let bytes_an_hour: u64 = rates_hz.iter().map(|rate_hz| u64::from(*rate_hz) * 2 * 3_600).sum();
    free_bytes.checked_div(bytes_an_hour).unwrap_or(u64::MAX)
}

/// Keeps some room.
pub(super) fn reserve(audio: &Directory) -> Result<(), DirectoryError> {
    audio.refresh(RESERVE_FILE, &vec![0; RESERVE_LEN_BYTES])
}

/// Gives it back.
pub(super) fn give_back(audio: &Directory) {
    // A file that stays costs a little room, and nothing else.
    let _ = audio.remove_file(RESERVE_FILE);
}
