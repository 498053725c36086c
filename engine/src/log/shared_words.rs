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
//! the system ends the process with a signal. [`Mapping::Off`](super::Mapping) avoids the mapping.
#![allow(unsafe_code)]
// Mappings are page aligned and words are counted from their start.
#![allow(clippy::cast_ptr_alignment)]

use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

use memmap2::{MmapOptions, MmapRaw};

use super::disk::{DiskError, LogFile};

/// How the words are reached.
#[derive(Debug)]
enum Access {
    Mapped(MmapRaw),
    /// By aligned reads and writes of 8 bytes.
    Plain,
}

/// A file seen as words of 8 bytes.
#[derive(Debug)]
pub(crate) struct SharedWords {
    file: LogFile,
    access: Access,
    len_words: usize,
    writable: bool,
}

impl SharedWords {
    /// Opens the words of `file` as it is long now. `mapped` chooses the way; `writable` must agree with
    /// how the file was opened.
    pub(crate) fn new(file: LogFile, mapped: bool, writable: bool) -> Result<Self, DiskError> {
        let mut words = Self { file, access: Access::Plain, len_words: 0, writable };
        if mapped {
            words.access = Access::Mapped(words.map()?.0);
        }
        words.len_words = words.file_len_words()?;
        if let Access::Mapped(mapping) = &words.access {
            words.len_words = words.len_words.min(mapping.len() / 8);
        }
        Ok(words)
    }

    pub(crate) fn file(&self) -> &LogFile {
        &self.file
    }

    /// Words that can be reached.
    pub(crate) fn len_words(&self) -> usize {
        self.len_words
    }

    fn file_len_words(&self) -> Result<usize, DiskError> {
        Ok(usize::try_from(self.file.len_bytes()? / 8).unwrap_or(usize::MAX / 8))
    }

    fn map(&self) -> Result<(MmapRaw, usize), DiskError> {
        let len_words = self.file_len_words()?;
        let mut options = MmapOptions::new();
        options.len(len_words * 8);
        let mapped = if self.writable {
            options.map_raw(self.file.file())
        } else {
            options.map_raw_read_only(self.file.file())
        };
        let mapping = mapped.map_err(|source| DiskError {
            action: "map",
            path: self.file.path().to_owned(),
            source,
        })?;
        Ok((mapping, len_words))
    }

    /// Reaches what the file has grown to since.
    pub(crate) fn follow_growth(&mut self) -> Result<(), DiskError> {
        if matches!(self.access, Access::Mapped(_)) {
            let (mapping, len_words) = self.map()?;
            self.access = Access::Mapped(mapping);
            self.len_words = len_words;
        } else {
            self.len_words = self.file_len_words()?;
        }
        Ok(())
    }

    fn outside(&self, word: usize) -> DiskError {
        DiskError {
            action: "use",
            path: self.file.path().to_owned(),
            source: io::Error::new(
                io::ErrorKind::UnexpectedEof,
                format!("word {word} lies behind its end ({} words)", self.len_words),
            ),
        }
    }

    /// The atomic at `word`, when mapped.
    fn atomic(&self, mapping: &MmapRaw, word: usize) -> Option<&AtomicU64> {
        if word >= self.len_words || (word + 1) * 8 > mapping.len() {
            return None;
        }
        // SAFETY: inside the mapping by the check above, aligned because mappings are page aligned, and
        // alive as long as `self`; see the argument at the top.
        Some(unsafe { AtomicU64::from_ptr(mapping.as_mut_ptr().cast::<u64>().add(word)) })
    }

    /// Loads one word; everything its writer stored before it is visible afterwards.
    pub(crate) fn load(&self, word: usize) -> Result<u64, DiskError> {
        match &self.access {
            Access::Mapped(mapping) => {
                let atomic = self.atomic(mapping, word).ok_or_else(|| self.outside(word))?;
                let value = atomic.load(Ordering::Relaxed);
                fence(Ordering::Acquire);
                Ok(u64::from_le(value))
            }
            Access::Plain => self.load_plain(word),
        }
    }

    /// Reads until two reads agree: a read of 8 aligned bytes is not promised to be one step.
    fn load_plain(&self, word: usize) -> Result<u64, DiskError> {
        let read = || {
            let mut bytes = [0; 8];
            match self.file.read_at(&mut bytes, word as u64 * 8)? {
                8 => Ok(u64::from_le_bytes(bytes)),
                _ => Err(self.outside(word)),
            }
        };
        let mut before = read()?;
        loop {
            let after = read()?;
            if after == before {
                return Ok(after);
            }
            before = after;
        }
    }

    /// Stores one word; whoever loads it sees everything stored before.
    pub(crate) fn store(&self, word: usize, value: u64) -> Result<(), DiskError> {
        match &self.access {
            Access::Mapped(mapping) if self.writable => {
                let atomic = self.atomic(mapping, word).ok_or_else(|| self.outside(word))?;
                atomic.store(value.to_le(), Ordering::Release);
                Ok(())
            }
            _ => self.file.write_all_at(&value.to_le_bytes(), word as u64 * 8),
        }
    }

    /// The low half of a mapped word, on which processes can sleep.
    pub(crate) fn low_half(&self, word: usize) -> Option<&AtomicU32> {
        let Access::Mapped(mapping) = &self.access else { return None };
        if cfg!(target_endian = "big") || word >= self.len_words || (word + 1) * 8 > mapping.len() {
            return None;
        }
        // SAFETY: as in `atomic`; the low half of a little-endian word is its first four bytes. It is only
        // handed to the kernel, never loaded or stored here, so no two sizes of access meet.
        Some(unsafe { AtomicU32::from_ptr(mapping.as_mut_ptr().cast::<u32>().add(word * 2)) })
    }
}
