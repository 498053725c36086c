//! A whole log directory: any files with any bytes.

use std::sync::Arc;

use super::Input;
use super::blocks::let_seal;
use crate::format::segment::SEGMENT_HEADER_LEN_BYTES;
use crate::storage::memory::{Image, MemoryDirectory};
use crate::{Durability, Event, Line, Log, LogDirectory, Mapping, Options, ReadError, Reader, Track};

/// The files that a log directory may hold.
const NAMES: [&str; 7] =
    ["0000000000.seg", "0000000001.seg", "0000000002.seg", "head", "lines.idx", "next.seg.new", "LOCK"];

const SALT: usize = 72;
const BASE: usize = 64;
const CRC: usize = SEGMENT_HEADER_LEN_BYTES - 4;

/// Any files: a byte of flags (1: put the checksums right), then for each file a byte for its name, its length
/// in two bytes, and its bytes.
pub fn session_directory(data: &[u8]) {
    let mut input = Input(data);
    let is_mended = input.flags() & 1 == 1;
    let mut files = Vec::new();
    while let Some(name) = input.byte() {
        let len_bytes = u16::from_le_bytes([input.flags(), input.flags()]);
        let mut bytes = input.take(len_bytes.into()).to_vec();
        let name = NAMES[usize::from(name) % NAMES.len()];
        if is_mended && is_segment(name) {
            mend_segment(&mut bytes);
        }
        files.push((name, bytes));
    }
    use_log(&files);
}

pub(super) fn is_segment(name: &str) -> bool {
    name.contains(".seg") && !name.contains(".new")
}

/// Puts the checksums of a segment's header and of its frames right, as far as they stand in a row.
pub(super) fn mend_segment(bytes: &mut [u8]) {
    if bytes.len() < SEGMENT_HEADER_LEN_BYTES {
        return;
    }
    let crc = crc32fast::hash(&bytes[..CRC]);
    bytes[CRC..SEGMENT_HEADER_LEN_BYTES].copy_from_slice(&crc.to_le_bytes());
    let salt = u32::from_le_bytes(*bytes[SALT..].first_chunk().unwrap());
    let base = u64::from_le_bytes(*bytes[BASE..].first_chunk().unwrap());
    let mut offset = SEGMENT_HEADER_LEN_BYTES;
    while let Some(len_bytes) = let_seal(&mut bytes[offset..], salt, base.wrapping_add(offset as u64)) {
        offset += len_bytes;
    }
}

pub(super) fn options() -> Options {
    Options::with_durability(Durability::Os)
}

pub(super) fn line(text: &str) -> Event {
    Event::Line(Line {
        track: Track::Room,
        start_ms: 10,
        end_ms: 20,
        text: text.to_owned(),
        confidence: 0.5,
        language: None,
        generation: 0,
        audio: None,
        overlap: false,
    })
}

pub(super) fn directory_of(memory: &MemoryDirectory) -> LogDirectory {
    LogDirectory::stored_in(Arc::new(memory.clone()))
}

/// The words of every line as they were heard.
fn heard(memory: &MemoryDirectory, mapping: Mapping) -> Option<Result<Vec<String>, ReadError>> {
    let mut reader = Reader::open_in(directory_of(memory), mapping).ok()?;
    let mut snapshot = reader.snapshot().ok()?;
    let lines = snapshot.lines();
    // Whatever is asked, an answer or an error comes back.
    let _ = (snapshot.events(), snapshot.cursor(), snapshot.changes(None), snapshot.durable_lines());
    let _ = (snapshot.since(0), snapshot.folded(lines / 2), snapshot.edits_of(lines / 2));
    let heard = snapshot.verbatim(..);
    Some(heard.map(|lines| lines.into_iter().map(|heard| heard.line.text).collect()))
}

/// Both ways of reaching the words read the same; a writer that accepts the log changes no byte that is there and adds its
/// line behind what a reader was shown.
pub(super) fn use_log(files: &[(&str, Vec<u8>)]) {
    let mut image = Image::default();
    for (name, bytes) in files {
        if let Some(there) = image.bytes_mut(name) {
            there.clone_from(bytes);
        } else {
            image.names.insert((*name).to_owned(), image.files.len());
            image.files.push(bytes.clone());
        }
    }
    let memory = MemoryDirectory::holding(image.clone(), 1);
    let before = heard(&memory, Mapping::On);
    match (&before, heard(&memory, Mapping::Off)) {
        (Some(Ok(mapped)), Some(Ok(read))) => assert_eq!(*mapped, read),
        (None, None) | (Some(Err(_)), Some(Err(_))) => {}
        (mapped, read) => panic!("mapped {mapped:?}, by calls {read:?}"),
    }
    let appended = Log::open_in(directory_of(&memory), options())
        .ok()
        .is_some_and(|mut log| log.append(&[line("after")]).is_ok());
    let now = memory.image();
    for (name, file) in image.names.iter().filter(|(name, _)| is_segment(name)) {
        let bytes = now.bytes(name).unwrap();
        assert!(bytes.starts_with(&image.files[*file]), "{name}: a byte of the log was changed");
    }
    let Some(Ok(mut expected)) = before.filter(|_| appended) else { return };
    expected.push("after".to_owned());
    let after = heard(&memory, Mapping::On).unwrap().unwrap();
    assert_eq!(after, expected);
}
