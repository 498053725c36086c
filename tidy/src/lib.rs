//! The house rules of this repository, as tests: what no compiler and no lint checks, and what would
//! otherwise depend on someone remembering it.
//!
//! The rules themselves are in `tests/`, one file a subject; each says why it is there. This library only
//! reads the repository for them: its files, the anchors and links of its pages, and what its crates
//! depend on. Nothing here needs a network.

pub mod manifest;
pub mod markdown;
pub mod tree;
