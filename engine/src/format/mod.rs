//! The bytes on disk.

/// Largest payload of one frame: 16 MiB, checked before anything is allocated.
pub const PAYLOAD_LEN_MAX_BYTES: u32 = 16 << 20;
