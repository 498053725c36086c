//! Models end to end: converted, fetched, taken in, and the real small ones.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod convert;
mod ct2_model;
mod fetch;
mod import;
mod real;
