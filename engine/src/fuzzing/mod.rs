//! What a fuzzer calls: for every kind of bytes that come from outside, a plain function that takes any bytes
//! and panics when a law is broken.
//!
//! Here only in tests, which drive the bodies over the checked-in corpus and seeded mutations of it, and under
//! a fuzzer (`fuzz/`), which finds its own bytes. Checksums keep random bytes out, so most inputs begin with a
//! byte of [`Input::flags`] that lets a body put them right first: what is looked at is the code behind them.

// A broken law ends the run.
#![allow(clippy::unwrap_used, clippy::panic, clippy::missing_panics_doc)]

mod blocks;
mod caches;
mod directory;
mod jsonl_files;
mod operations;
#[cfg(test)]
mod tests;

pub use blocks::{cursor, frame, segment};
pub use caches::{head, index};
pub use directory::session_directory;
pub use jsonl_files::jsonl;
pub use operations::operations;

/// A name and what it calls.
pub type Target = (&'static str, fn(&[u8]));

/// Every target, by the name of its folder in `fuzz/corpus/`.
pub const TARGETS: [Target; 8] = [
    ("frame", frame),
    ("segment", segment),
    ("session_directory", session_directory),
    ("head", head),
    ("index", index),
    ("cursor", cursor),
    ("jsonl", jsonl),
    ("operations", operations),
];

/// Bytes that are taken from the front.
#[derive(Clone, Copy, Debug)]
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// A byte of choices; zero when nothing is left.
    fn flags(&mut self) -> u8 {
        self.byte().unwrap_or_default()
    }

    /// Up to `len_bytes` bytes.
    fn take(&mut self, len_bytes: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(len_bytes.min(self.0.len()));
        self.0 = rest;
        taken
    }
}
