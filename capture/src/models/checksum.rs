//! SHA-256 of a file, streamed.

use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes read at a time.
const BUFFER_BYTES: usize = 256 << 10;

/// The SHA-256 of what `source` gives, in lower-case hexadecimal. `on_progress` is told the bytes read so far.
///
/// # Errors
/// What the source reports, and `Interrupted` once `stop` is set.
///
/// ```
/// use std::sync::atomic::AtomicBool;
/// let stop = AtomicBool::new(false);
/// let sum = ambient_capture::models::checksum::sha256(&mut &b"abc"[..], &stop, &mut |_| ()).unwrap();
/// assert_eq!(sum, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
/// ```
pub fn sha256(
    source: &mut impl Read,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(u64),
) -> io::Result<String> {
    let mut digest = Sha256::new();
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut read_bytes = 0;
    loop {
        if stop.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let len = match source.read(&mut buffer) {
            Ok(0) => break,
            Ok(len) => len,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        };
        digest.update(&buffer[..len]);
        read_bytes += len as u64;
        on_progress(read_bytes);
    }
    let mut hexadecimal = String::new();
    for byte in digest.finalize() {
        // Writing to a String cannot fail.
        let _ = write!(hexadecimal, "{byte:02x}");
    }
    Ok(hexadecimal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_stop_ends_it() {
        let stopped = AtomicBool::new(true);
        let error = sha256(&mut io::repeat(0), &stopped, &mut |_| ()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::Interrupted);
    }

    #[test]
    fn progress_ends_at_the_length() {
        let mut seen = 0;
        sha256(&mut io::repeat(7).take(600_000), &AtomicBool::new(false), &mut |n| seen = n).unwrap();
        assert_eq!(seen, 600_000);
    }
}
