//! Logs written frame by frame: any content, with the right checksums, and the same bytes each time.

use std::fs;
use std::path::Path;

use super::segment;
use crate::Event;
use crate::event::{Closed, Kind, PAYLOAD_SCHEMA, encode};
use crate::format::frame::{
    FLAG_BATCH_END, FLAG_IGNORABLE, FRAME_HEADER_LEN_BYTES, FrameHeader, UNSYNCED_UNKNOWN, frame_len_bytes,
    seal_frame,
};
use crate::format::index::{IndexChecksum, IndexEntry, IndexHeader, newest_edit_place, position_place};
use crate::format::sealed_word::seal;
use crate::format::segment::{Reason, SEGMENT_HEADER_LEN_BYTES, SegmentHeader};

const UUID: [u8; 16] = [3; 16];
const FIRST_SALT: u32 = 77;

/// A log in the making; the last segment is the one that grows.
#[derive(Clone)]
pub(in crate::log) struct Crafted {
    /// The files, in order.
    segments: Vec<Vec<u8>>,
    /// Position of the last segment's first byte.
    base: u64,
    pub(in crate::log) next_seq: u64,
    /// What the next frames say of the distance to the durable position.
    pub(in crate::log) unsynced: u32,
}

impl Crafted {
    pub(in crate::log) fn new() -> Self {
        let header = header(0, 0, 0, 0, Reason::First);
        Self { segments: vec![header.encode().to_vec()], base: 0, next_seq: 0, unsynced: UNSYNCED_UNKNOWN }
    }

    /// Where the next frame will be.
    pub(in crate::log) fn position(&self) -> u64 {
        self.base + self.bytes().len() as u64
    }

    /// The bytes of the last segment.
    pub(in crate::log) fn bytes(&self) -> &[u8] {
        self.segments.last().unwrap()
    }

    pub(in crate::log) fn bytes_mut(&mut self) -> &mut Vec<u8> {
        self.segments.last_mut().unwrap()
    }

    /// Adds a frame that is a batch of its own, and gives its position.
    pub(in crate::log) fn frame(&mut self, kind: u8, line: u64, payload: &[u8]) -> u64 {
        self.sealed(kind, FLAG_BATCH_END, PAYLOAD_SCHEMA, line, payload)
    }

    pub(in crate::log) fn sealed(
        &mut self,
        kind: u8,
        flags: u8,
        schema: u16,
        line: u64,
        payload: &[u8],
    ) -> u64 {
        let position = self.position();
        let payload_len_bytes = u32::try_from(payload.len()).unwrap();
        let mut frame = vec![0; usize::try_from(frame_len_bytes(payload_len_bytes)).unwrap()];
        frame[FRAME_HEADER_LEN_BYTES..][..payload.len()].copy_from_slice(payload);
        let (seq, unsynced) = (self.next_seq, self.unsynced);
        let header =
            FrameHeader { payload_len_bytes, crc: 0, seq, line, ts_us: 0, kind, flags, schema, unsynced };
        seal_frame(&mut frame, &header, salt(self.segments.len() - 1), position);
        self.bytes_mut().extend_from_slice(&frame);
        self.next_seq += 1;
        position
    }

    /// Adds an event that is a batch of its own.
    pub(in crate::log) fn event(&mut self, line: u64, event: &Event, previous: u64) -> u64 {
        self.event_of_batch(line, event, previous, true)
    }

    /// Adds an event that ends its batch or not.
    pub(in crate::log) fn event_of_batch(
        &mut self,
        line: u64,
        event: &Event,
        previous: u64,
        is_last: bool,
    ) -> u64 {
        let mut payload = Vec::new();
        encode(event, previous, &mut payload).unwrap();
        let mut flags = if is_last { FLAG_BATCH_END } else { 0 };
        if event.kind().is_ignorable() {
            flags |= FLAG_IGNORABLE;
        }
        self.sealed(event.kind().number(), flags, PAYLOAD_SCHEMA, line, &payload)
    }

    /// Begins a segment behind the last one, all of which counts.
    pub(in crate::log) fn begin_segment(&mut self, first_line: u64) {
        let base = self.position();
        let ordinal = self.segments.len() as u64;
        let header = header(ordinal, base, self.next_seq, first_line, Reason::Full);
        self.segments.push(header.encode().to_vec());
        self.base = base;
    }

    /// Changes bytes of the last segment's header and puts its checksum right.
    pub(in crate::log) fn change_header(&mut self, offset: usize, field: &[u8]) {
        let bytes = self.bytes_mut();
        bytes[offset..offset + field.len()].copy_from_slice(field);
        let crc_place = SEGMENT_HEADER_LEN_BYTES - 4;
        let crc = crc32fast::hash(&bytes[..crc_place]);
        bytes[crc_place..SEGMENT_HEADER_LEN_BYTES].copy_from_slice(&crc.to_le_bytes());
    }

    /// Writes the segments into the session directory at `session`.
    pub(in crate::log) fn write_to(&self, session: &Path) {
        fs::create_dir_all(session.join("log")).unwrap();
        for (ordinal, bytes) in (0..).zip(&self.segments) {
            fs::write(segment(session, ordinal), bytes).unwrap();
        }
    }

    pub(in crate::log) fn place(&self) -> tempfile::TempDir {
        let session = tempfile::tempdir().unwrap();
        self.write_to(session.path());
        session
    }

    /// Ends the log with a closing frame that vouches for an index of `entries`, and writes that index.
    pub(in crate::log) fn close_with(mut self, entries: &[IndexEntry]) -> tempfile::TempDir {
        let mut checksum = IndexChecksum::default();
        let mut index = IndexHeader { uuid: UUID, nonce: 9 }.encode().to_vec();
        index.resize(4096, 0);
        for (line, entry) in (0..).zip(entries) {
            checksum.add(&[entry.position, entry.newest_edit]);
            index.extend(seal(entry.position, position_place(line)).to_le_bytes());
            index.extend(seal(entry.newest_edit, newest_edit_place(line)).to_le_bytes());
        }
        let lines = entries.len() as u64;
        let closed = Closed { lines, end: self.position(), index_crc: checksum.finish() };
        let flags = FLAG_BATCH_END | FLAG_IGNORABLE;
        self.sealed(Kind::Closed.number(), flags, PAYLOAD_SCHEMA, lines, &closed.to_bytes());
        let session = self.place();
        fs::write(session.path().join("log/lines.idx"), index).unwrap();
        session
    }
}

fn salt(segment: usize) -> u32 {
    FIRST_SALT + u32::try_from(segment).unwrap()
}

fn header(ordinal: u64, base: u64, first_seq: u64, first_line: u64, reason: Reason) -> SegmentHeader {
    SegmentHeader {
        uuid: UUID,
        ordinal,
        first_seq,
        first_line,
        base,
        salt: salt(usize::try_from(ordinal).unwrap()),
        previous_proved_end: base,
        discarded_len_bytes: 0,
        reason,
        created_us: 0,
        writable: true,
    }
}
