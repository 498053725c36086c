//! Words of a file that several processes load and store: the only `unsafe` of the engine.
//!
//! Rule: no reference to bytes is ever made from the mapping, only atomics, because another process may
//! write them at any moment.
//!
//! Why each `unsafe` here is sound:
//! - The pointer comes from a mapping that lives as long as `self`, is page aligned, and is at least
//!   `len_words * 8` bytes long; the index is checked against that on every access.
//! - Every access in this process goes through an atomic of the same size, and other processes only do
//!   the same, so there is no data race in the sense of the language.
//! - A mapping made read-only is only loaded from, by relaxed loads of 8 bytes, which the standard
//!   library documents to be plain loads on every 64-bit target (module `std::sync::atomic`, "Atomic
//!   accesses to read-only memory"); ordering comes from a fence behind them.
//!
//! What remains: if an outsider truncates a mapped file, or the disk fails while a page of it is read,
//! the system ends the process with a signal. [`Mapping::Off`](crate::Mapping) avoids the mapping.
#![allow(unsafe_code)]
// Mappings are page aligned and words are counted from their start.
#![allow(clippy::cast_ptr_alignment)]

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use std::time::Duration;

use memmap2::{MmapOptions, MmapRaw};

use super::SharedPage;

/// A mapped file, as long as it was when it was mapped.
#[derive(Debug)]
pub(super) struct MappedPage {
    mapping: MmapRaw,
    writable: bool,
}

impl MappedPage {
    pub(super) fn new(file: &File, writable: bool) -> io::Result<Self> {
        let len_bytes = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX) / 8 * 8;
        let mut options = MmapOptions::new();
        options.len(len_bytes);
        let mapping = if writable { options.map_raw(file) } else { options.map_raw_read_only(file) }?;
        Ok(Self { mapping, writable })
    }

    fn atomic(&self, word: usize) -> Option<&AtomicU64> {
        if word >= self.len_words() {
            return None;
        }
        // SAFETY: inside the mapping by the check above, aligned because mappings are page aligned, and
        // alive as long as `self`; see the argument at the top.
        Some(unsafe { AtomicU64::from_ptr(self.mapping.as_mut_ptr().cast::<u64>().add(word)) })
    }

    /// The low half of a word, on which processes can sleep.
    fn low_half(&self, word: usize) -> Option<&AtomicU32> {
        if cfg!(target_endian = "big") || word >= self.len_words() {
            return None;
        }
        // SAFETY: as in `atomic`; the low half of a little-endian word is its first four bytes. It is only
        // handed to the kernel, never loaded or stored here, so no two sizes of access meet.
        Some(unsafe { AtomicU32::from_ptr(self.mapping.as_mut_ptr().cast::<u32>().add(word * 2)) })
    }
}

impl SharedPage for MappedPage {
    fn len_words(&self) -> usize {
        self.mapping.len() / 8
    }

    #[inline]
    fn load(&self, word: usize) -> Option<u64> {
        let value = self.atomic(word)?.load(Ordering::Relaxed);
        fence(Ordering::Acquire);
        Some(u64::from_le(value))
    }

    #[inline]
    fn store(&self, word: usize, value: u64) -> Option<()> {
        if !self.writable {
            return None;
        }
        self.atomic(word)?.store(value.to_le(), Ordering::Release);
        Some(())
    }

    #[cfg(target_os = "linux")]
    fn wake(&self, word: usize) -> bool {
        use rustix::thread::futex::{Flags, wake};
        let Some(low_half) = self.low_half(word) else { return false };
        // Nobody waiting is the common case, and a failure only means that a sleeper sees the news at the
        // end of its time-out.
        let _ = wake(low_half, Flags::empty(), u32::MAX >> 1);
        true
    }

    #[cfg(target_os = "linux")]
    fn sleep(&self, word: usize, seen: u64, timeout: Duration) -> bool {
        use rustix::thread::futex::{Flags, Timespec, wait};
        let Some(low_half) = self.low_half(word) else { return false };
        let timeout = Timespec {
            tv_sec: i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: timeout.subsec_nanos().into(),
        };
        // The low half of what was seen, on purpose. Woken, changed already, interrupted or out of time:
        // the caller looks at the word again in any case.
        #[allow(clippy::cast_possible_truncation)]
        let _ = wait(low_half, Flags::empty(), seen as u32, Some(&timeout));
        true
    }

    #[cfg(not(target_os = "linux"))]
    fn wake(&self, word: usize) -> bool {
        let _ = self.low_half(word);
        false
    }

    #[cfg(not(target_os = "linux"))]
    fn sleep(&self, _word: usize, _seen: u64, _timeout: Duration) -> bool {
        false
    }
}
