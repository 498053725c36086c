//! Head and index are caches, and a cursor is kept by strangers: whatever they say, the log reads as it did at
//! some moment, or an error says why not.

use super::Input;
use super::directory::{directory_of, line, options};
use crate::format::head::{IDENTITY_WORD, IDENTITY_WORDS};
use crate::format::index::INDEX_HEADER_USED_LEN_BYTES;
use crate::storage::memory::{Image, MemoryDirectory};
use crate::{Change, Cursor, Edit, Event, FoldedLine, Log, Mapping, ReadError, Reader};

fn speaker(line: u64, name: &str) -> Event {
    let change = Change::Speaker { name: name.to_owned() };
    Event::Edit(Edit { line, by: Edit::PERSON.to_owned(), change })
}

/// A small log, how it read after each of its batches, and the cursor behind each.
struct Known {
    image: Image,
    readings: Vec<Vec<FoldedLine>>,
    cursors: Vec<Cursor>,
}

fn read(memory: &MemoryDirectory) -> Result<Vec<FoldedLine>, ReadError> {
    let mut reader = Reader::open_in(directory_of(memory), Mapping::On)?;
    reader.snapshot()?.since(0)
}

/// Left by a process that died, or closed and without its head.
fn known(is_closed: bool) -> Known {
    let memory = MemoryDirectory::default();
    let mut log = Log::create_in(directory_of(&memory), options()).unwrap();
    let mut readings = vec![Vec::new()];
    let mut cursors = Vec::new();
    for batch in [
        vec![line("one"), line("two")],
        vec![speaker(0, "Ana"), line("three")],
        vec![speaker(0, "Bo"), speaker(2, "Cy")],
    ] {
        cursors.push(log.append(&batch).unwrap());
        readings.push(read(&memory).unwrap());
    }
    if is_closed {
        log.close().unwrap();
        let mut image = memory.image();
        image.names.remove("head");
        return Known { image, readings, cursors };
    }
    // What closing it changes afterwards is not in the image.
    Known { image: memory.image(), readings, cursors }
}

/// Lays `bytes` over the start of the file `name`, but for what lies in `kept`.
fn lay_over(image: &mut Image, name: &str, bytes: &[u8], kept: std::ops::Range<usize>) {
    let file = image.bytes_mut(name).unwrap();
    for (offset, byte) in bytes.iter().enumerate().filter(|(offset, _)| !kept.contains(offset)) {
        if let Some(there) = file.get_mut(offset) {
            *there = *byte;
        }
    }
}

/// After a first byte of flags (1: keep whose head it is) the bytes of a head.
pub fn head(data: &[u8]) {
    let mut input = Input(data);
    let keeps_identity = input.flags() & 1 == 1;
    let Known { mut image, readings, .. } = known(false);
    let identity = IDENTITY_WORD * 8..(IDENTITY_WORD + IDENTITY_WORDS) * 8;
    lay_over(&mut image, "head", input.0, if keeps_identity { identity } else { 0..0 });
    let memory = MemoryDirectory::holding(image, 0);
    if let Ok(lines) = read(&memory) {
        assert!(readings.contains(&lines), "{lines:?}");
    }
    let Ok(mut log) = Log::open_in(directory_of(&memory), options()) else { return };
    if log.append(&[line("after")]).is_ok() {
        let mut lines = read(&memory).unwrap();
        assert_eq!(lines.pop().unwrap().text(), "after");
        assert_eq!(Some(&lines), readings.last(), "whole batches are never lost to a head");
    }
}

/// After a first byte of flags (1: keep whose index it is; 2: the log was closed) the bytes of an index.
pub fn index(data: &[u8]) {
    let mut input = Input(data);
    let flags = input.flags();
    let Known { mut image, readings, .. } = known(flags & 2 == 2);
    let header = 0..INDEX_HEADER_USED_LEN_BYTES;
    // Entries stand far behind the header: what comes after it is laid over them.
    let mut bytes = input.take(INDEX_HEADER_USED_LEN_BYTES).to_vec();
    bytes.resize(4096, 0);
    bytes.extend_from_slice(input.0);
    lay_over(&mut image, "lines.idx", &bytes, if flags & 1 == 1 { header } else { 0..0 });
    let memory = MemoryDirectory::holding(image, 0);
    let judge = |lines: &[FoldedLine], what: &str| {
        let newest = readings.last().unwrap();
        assert!(lines.len() >= newest.len(), "{what}: a line is lost");
        for (index, line) in lines.iter().take(newest.len()).enumerate() {
            // An entry that names an older edit of its own line cannot be told from a right one.
            let was_so = readings.iter().any(|reading| reading.get(index) == Some(line));
            assert!(was_so, "{what}: {line:?} never read so");
        }
    };
    judge(&read(&memory).unwrap(), "reader");
    let Ok(mut log) = Log::open_in(directory_of(&memory), options()) else { return };
    if log.append(&[line("after")]).is_ok() {
        let lines = read(&memory).unwrap();
        judge(&lines, "behind a writer");
        assert_eq!(lines.last().unwrap().text(), "after");
    }
}

/// A cursor made of the bytes is lost, or names a frame that is there.
pub(super) fn keep_cursor(data: &[u8]) {
    let mut input = Input(data);
    let flags = usize::from(input.flags());
    let Known { image, readings, cursors } = known(false);
    let real = cursors[flags % cursors.len()];
    let number = |bytes: &[u8]| bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
    let kept = Cursor {
        position: if flags & 0x40 == 0 { real.position } else { number(input.take(2)) },
        crc: if flags & 0x80 == 0 { real.crc } else { u32::try_from(number(input.take(4))).unwrap() },
        ..real
    };
    let memory = MemoryDirectory::holding(image, 0);
    let mut reader = Reader::open_in(directory_of(&memory), Mapping::On).unwrap();
    match reader.snapshot().unwrap().changes(Some(&kept)) {
        Ok(changes) => {
            let batch = cursors.iter().position(|real| *real == kept);
            let lines_before = batch.map(|batch| readings[batch + 1].len());
            // A frame within a batch has a cursor too, when its checksum is guessed.
            let new = readings.last().unwrap().len() - lines_before.unwrap_or(0);
            assert!(batch.is_none() || changes.new.len() == new);
        }
        Err(ReadError::CursorLost(_)) => assert!(!cursors.contains(&kept)),
        Err(error) => panic!("{error}"),
    }
}
