//! The bytes on disk, and nothing else: no I/O here.
//!
//! Every field is little endian and stands in a table of `docs/design/FORMAT.md`. Nothing is believed
//! before it is checked: a length against the bytes that are there, a header against its checksum.

pub(crate) mod frame;
pub(crate) mod head;
pub(crate) mod index;
pub(crate) mod little_endian;
pub(crate) mod sealed_word;
pub(crate) mod segment;

pub use segment::HeaderError;

/// Largest payload of one frame: 16 MiB, checked before anything is allocated.
pub const PAYLOAD_LEN_MAX_BYTES: u32 = 16 << 20;

/// Largest segment file: 64 MiB, header included.
pub const SEGMENT_LEN_MAX_BYTES: u64 = 64 << 20;

/// The identity of a session's log: 16 random bytes, the same in each of its files.
pub type SessionUuid = [u8; 16];

#[cfg(test)]
mod tests;
