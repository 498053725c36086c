//! The payload codec: bincode 2.0.1, little endian, variable-length integers.
//!
//! The frame around a payload is coded by hand (see `format`), and the segment header names this codec
//! by number, so it can be replaced without a new format. Two payloads do not use it, because they are
//! read without decoding: an edit begins with the position of its line's previous edit as eight plain
//! bytes, and [`Closed`] has a fixed size.

use bincode::config::{Configuration, Limit, LittleEndian, Varint};
use bincode::enc::write::Writer;
use bincode::error::EncodeError;
use serde::{Deserialize, Serialize};

use super::line_payload::{read_plain, write_plain};
use super::{Change, Edit, Event, Kind, LineView};
use crate::format::PAYLOAD_LEN_MAX_BYTES;
use crate::format::little_endian::{u32_at, u64_at};

/// Version of the payload layouts below; stored in each frame.
pub const PAYLOAD_SCHEMA: u16 = 1;

/// Bytes of an edit's payload before the coded part: the previous edit's position.
const PREVIOUS_EDIT_LEN_BYTES: usize = 8;

/// What decoding may claim for each byte of a payload. The codec counts an integer with its full size though
/// it may take one byte, so an honest payload claims up to eight times its length.
const CLAIM_FACTOR: usize = 9;

const CLAIM_MAX_BYTES: usize = CLAIM_FACTOR * PAYLOAD_LEN_MAX_BYTES as usize;

type Codec<const CLAIM_MAX_BYTES: usize> = Configuration<LittleEndian, Varint, Limit<CLAIM_MAX_BYTES>>;

const CODEC: Codec<CLAIM_MAX_BYTES> = bincode::config::standard().with_limit::<CLAIM_MAX_BYTES>();

/// A payload that could not be coded or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PayloadError {
    /// The value could not be written.
    #[error("the event could not be encoded: {0}")]
    Encode(#[from] bincode::error::EncodeError),
    /// The bytes are not a payload of this kind.
    #[error("the payload could not be decoded: {0}")]
    Decode(#[from] bincode::error::DecodeError),
    /// Bytes are left over after the value: not what a writer of this version makes.
    #[error("the payload has {0} bytes too many")]
    Trailing(usize),
    /// The payload is shorter than its fixed part.
    #[error("the payload is too short: {0} bytes")]
    Short(usize),
    /// The payload's layout is of a version this program does not know.
    #[error("payload layout {0} is not known to this version; use a newer one")]
    Schema(u16),
    /// The kind has no event of its own.
    #[error("a frame of kind {0:?} holds no event")]
    NoEvent(Kind),
}

/// What the `closed` frame says: how far the log goes, and the checksum of its whole index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed {
    /// Lines in the log.
    pub lines: u64,
    /// Logical position of the end of the batch before this frame.
    pub end: u64,
    /// crc32 over every index entry, in order.
    pub index_crc: u32,
}

impl Closed {
    /// Size of the payload.
    pub const LEN_BYTES: u32 = 24;

    pub(crate) fn to_bytes(self) -> [u8; Self::LEN_BYTES as usize] {
        let mut bytes = [0; Self::LEN_BYTES as usize];
        bytes[0..8].copy_from_slice(&self.lines.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.end.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.index_crc.to_le_bytes());
        bytes
    }

    pub(crate) fn from_bytes(payload: &[u8]) -> Result<Self, PayloadError> {
        let bytes: &[u8; Self::LEN_BYTES as usize] =
            payload.try_into().map_err(|_| PayloadError::Short(payload.len()))?;
        Ok(Self { lines: u64_at(bytes, 0), end: u64_at(bytes, 8), index_crc: u32_at(bytes, 16) })
    }
}

/// What of an edit is coded behind the previous edit's position: borrowed for writing, owned when read.
#[derive(serde::Serialize, serde::Deserialize)]
struct EditBody<By, What> {
    by: By,
    change: What,
}

/// Adds to the end of a buffer. The codec writes a field at a time, and its own way to a `Vec` goes through
/// [`std::io::Write`], whose checks cost more than the few bytes they are about.
struct Appending<'buffer>(&'buffer mut Vec<u8>);

impl Writer for Appending<'_> {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> Result<(), EncodeError> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}

pub(super) fn write<T: Serialize>(value: &T, into: &mut Vec<u8>) -> Result<(), PayloadError> {
    bincode::serde::encode_into_writer(value, Appending(into), CODEC)?;
    Ok(())
}

/// Reads a value that takes up all of `payload`. The codec makes room for a text before it looks whether the
/// bytes are there, and its limit is a constant: so there are several, and a short payload cannot claim much.
pub(super) fn read<'payload, T: Deserialize<'payload>>(payload: &'payload [u8]) -> Result<T, PayloadError> {
    match payload.len() {
        0..=0x400 => read_within::<T, { CLAIM_FACTOR * 0x400 }>(payload),
        0x401..=0x4000 => read_within::<T, { CLAIM_FACTOR * 0x4000 }>(payload),
        0x4001..=0x4_0000 => read_within::<T, { CLAIM_FACTOR * 0x4_0000 }>(payload),
        0x4_0001..=0x40_0000 => read_within::<T, { CLAIM_FACTOR * 0x40_0000 }>(payload),
        _ => read_within::<T, CLAIM_MAX_BYTES>(payload),
    }
}

fn read_within<'payload, T: Deserialize<'payload>, const CLAIM_MAX_BYTES: usize>(
    payload: &'payload [u8],
) -> Result<T, PayloadError> {
    let codec: Codec<CLAIM_MAX_BYTES> = bincode::config::standard().with_limit::<CLAIM_MAX_BYTES>();
    let (value, len_bytes) = bincode::serde::borrow_decode_from_slice(payload, codec)?;
    match payload.len() - len_bytes {
        0 => Ok(value),
        trailing => Err(PayloadError::Trailing(trailing)),
    }
}

/// Appends the payload of `event` to `into`. `previous_edit` is used by edits only.
pub(crate) fn encode(event: &Event, previous_edit: u64, into: &mut Vec<u8>) -> Result<(), PayloadError> {
    match event {
        Event::Opened(value) => write(value, into),
        Event::Line(value) => {
            write_plain(value, into);
            Ok(())
        }
        Event::Edit(Edit { by, change, .. }) => {
            into.extend_from_slice(&previous_edit.to_le_bytes());
            write(&EditBody { by: by.as_str(), change }, into)
        }
        Event::Meta(value) => write(value, into),
        Event::Progress(value) => write(value, into),
        Event::Captured(value) => write(value, into),
        Event::Finished(value) => write(value, into),
        Event::Device(value) => write(value, into),
        Event::Generation(value) => write(value, into),
        Event::Assistant(value) => write(value, into),
        Event::Dropped(value) => write(value, into),
        Event::Kept(value) => write(value, into),
    }
}

/// Reads the event in a frame of `kind` about `line`.
pub(crate) fn decode(kind: Kind, schema: u16, line: u64, payload: &[u8]) -> Result<Event, PayloadError> {
    if schema != PAYLOAD_SCHEMA {
        return Err(PayloadError::Schema(schema));
    }
    Ok(match kind {
        Kind::Opened => Event::Opened(read(payload)?),
        Kind::Line => Event::Line(decode_line(schema, payload)?.to_line()),
        Kind::Repair | Kind::Speaker | Kind::Hide | Kind::Split | Kind::Revert => {
            Event::Edit(decode_edit(schema, line, payload)?)
        }
        Kind::Meta => Event::Meta(read(payload)?),
        Kind::Progress => Event::Progress(read(payload)?),
        Kind::Captured => Event::Captured(read(payload)?),
        Kind::Finished => Event::Finished(read(payload)?),
        Kind::Device => Event::Device(read(payload)?),
        Kind::Generation => Event::Generation(read(payload)?),
        Kind::Assistant => Event::Assistant(read(payload)?),
        Kind::Dropped => Event::Dropped(read(payload)?),
        Kind::Kept => Event::Kept(read(payload)?),
        Kind::Closed => return Err(PayloadError::NoEvent(kind)),
    })
}

/// Reads a line's payload; its texts stay where they are.
pub(crate) fn decode_line(schema: u16, payload: &[u8]) -> Result<LineView<'_>, PayloadError> {
    if schema != PAYLOAD_SCHEMA {
        return Err(PayloadError::Schema(schema));
    }
    read_plain(payload).map_or_else(|| read(payload), Ok)
}

/// Reads an edit's payload.
pub(crate) fn decode_edit(schema: u16, line: u64, payload: &[u8]) -> Result<Edit, PayloadError> {
    if schema != PAYLOAD_SCHEMA {
        return Err(PayloadError::Schema(schema));
    }
    let coded = payload.get(PREVIOUS_EDIT_LEN_BYTES..).ok_or(PayloadError::Short(payload.len()))?;
    let EditBody::<String, Change> { by, change } = read(coded)?;
    Ok(Edit { line, by, change })
}

/// The position of the previous edit of the same line, with which an edit's payload begins; 0 is none.
pub(crate) fn previous_edit(payload: &[u8]) -> Result<u64, PayloadError> {
    let bytes = payload.first_chunk().ok_or(PayloadError::Short(payload.len()))?;
    Ok(u64::from_le_bytes(*bytes))
}
