//! Every byte of every file, changed: exact data, a shorter exact log, or an error that names the place.
//! Never another line, never a panic.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::super::{Log, Mapping, Reader};
use super::{die, edit, line, segment, speaker, texts, unsynced};
use crate::{Change, Edit, FoldedLine};

/// How a log is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    /// By a writer that died: head and index are believed.
    Dead,
    /// Closed, and the head still fits.
    Closed,
    /// Closed and moved to another machine.
    ClosedWithoutHead,
}

/// In memory where the system has such a place: thousands of logs are made here, and none is to be kept.
fn fast_directory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// A small log in two segments, and how it read after each batch.
fn small_log(session: &Path, left: Left) -> Vec<Vec<FoldedLine>> {
    let mut log = Log::create(session, unsynced()).unwrap();
    let mut readings = vec![Vec::new()];
    let repair = Change::Repair { from: "one".to_owned(), to: "won".to_owned() };
    for (number, batch) in [
        vec![line("one"), line("two")],
        vec![speaker(0, "Ana"), line("three")],
        vec![edit(0, Edit::PERSON, repair), speaker(2, "Bo")],
        vec![line("four"), speaker(0, "Cy")],
    ]
    .iter()
    .enumerate()
    {
        if number == 2 {
            log.begin_segment();
        }
        log.append(batch).unwrap();
        let mut reader = Reader::open(session, Mapping::On).unwrap();
        readings.push(reader.snapshot().unwrap().since(0).unwrap());
    }
    match left {
        Left::Dead => die(log),
        Left::Closed | Left::ClosedWithoutHead => log.close().unwrap(),
    }
    if left == Left::ClosedWithoutHead {
        std::fs::remove_file(session.join("log/head")).unwrap();
    }
    readings
}

/// Changes one byte where it is: the file stays the same one, so that a head goes on fitting.
fn change(path: &Path, offset: u64, mask: u8) {
    let file = OpenOptions::new().read(true).write(true).open(path).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, offset).unwrap();
    file.write_all_at(&[byte[0] ^ mask], offset).unwrap();
}

/// What a reader makes of the log; none when it says what is wrong.
fn reading(session: &Path, mapping: Mapping) -> Option<Vec<FoldedLine>> {
    let mut reader = Reader::open(session, mapping).ok()?;
    let mut snapshot = reader.snapshot().ok()?;
    let _ = (snapshot.events(), snapshot.verbatim(..), snapshot.cursor(), snapshot.durable_lines());
    let changes = snapshot.changes(None);
    let lines = snapshot.since(0).ok()?;
    if let Ok(changes) = changes {
        assert_eq!(changes.new, lines);
    }
    if let Ok(edits) = snapshot.edits() {
        assert!(edits.iter().all(|edit| edit.placed.edit.line < snapshot.lines()));
    }
    Some(lines)
}

/// What happens to the log at `session` after one byte of it was changed.
fn judge(session: &Path, readings: &[Vec<FoldedLine>], what: &str) {
    for mapping in [Mapping::On, Mapping::Off] {
        if let Some(lines) = reading(session, mapping) {
            assert!(readings.contains(&lines), "{what}: {lines:?}");
        }
    }
    let Ok(mut log) = Log::open(session, unsynced()) else { return };
    if log.append(&[line("after")]).is_err() {
        return;
    }
    drop(log);
    let after = reading(session, Mapping::On);
    // A head that still fits lets a writer go on behind damage that it does not look at.
    let Some(after) = after.or_else(|| what.contains(".seg").then(Vec::new)) else {
        panic!("{what}: cannot be read any more");
    };
    if after.is_empty() {
        return;
    }
    let mut after: Vec<&str> = texts(&after);
    assert_eq!(after.pop(), Some("after"), "{what}");
    let is_known = readings.iter().any(|lines| texts(lines) == after);
    assert!(is_known, "{what}: {after:?}");
}

fn every_byte(name: &str, offsets: impl Iterator<Item = u64>, left: Left) {
    for offset in offsets {
        let mask = if offset % 3 == 0 { 0xFF } else { 1 << (offset % 8) };
        let session = fast_directory();
        let readings = small_log(session.path(), left);
        change(&session.path().join("log").join(name), offset, mask);
        judge(session.path(), &readings, &format!("{left:?} {name} byte {offset} mask {mask:#x}"));
    }
}

#[test]
fn every_byte_of_a_segment() {
    let session = tempfile::tempdir().unwrap();
    small_log(session.path(), Left::Closed);
    for (ordinal, left) in [(0, Left::Dead), (1, Left::Dead), (1, Left::ClosedWithoutHead)] {
        let path = segment(session.path(), ordinal);
        let len_bytes = std::fs::metadata(&path).unwrap().len();
        // A closing frame is there only when the log was closed.
        let end = if left == Left::Dead && ordinal == 1 { len_bytes - 64 } else { len_bytes };
        let from = if left == Left::Dead { 250 } else { 256 };
        every_byte(&format!("{ordinal:010}.seg"), from..end, left);
    }
}

#[test]
fn every_byte_of_the_head() {
    for left in [Left::Dead, Left::Closed] {
        let words = (64..72).chain(128..136).chain(192..200).chain(256..264).chain(384..464);
        every_byte("head", words, left);
    }
}

#[test]
fn every_byte_of_the_index() {
    for left in [Left::Dead, Left::ClosedWithoutHead] {
        every_byte("lines.idx", (0..36).chain(4096..4096 + 5 * 16), left);
    }
}

#[test]
fn every_length_of_head_and_index() {
    for name in ["head", "lines.idx"] {
        for len_bytes in [0, 1, 39, 40, 4095, 4096, 4097, 4103, 4104, 4112, 4135, 4136, 4144, 8192, 1 << 34] {
            for left in [Left::Dead, Left::ClosedWithoutHead] {
                let session = fast_directory();
                let readings = small_log(session.path(), left);
                let path = session.path().join("log").join(name);
                let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path).unwrap();
                file.set_len(len_bytes).unwrap();
                let complete = readings.last().cloned();
                for mapping in [Mapping::On, Mapping::Off] {
                    assert_eq!(reading(session.path(), mapping), complete, "{left:?} {name} {len_bytes}");
                }
                judge(session.path(), &readings, &format!("{left:?} {name} of {len_bytes} bytes"));
            }
        }
    }
}

#[test]
fn index_entries_that_name_other_frames_never_show_another_line() {
    let entry = |line: u64| 4096 + line * 16;
    for (from, to) in [(0, 1), (1, 0), (3, 2), (2, 3), (0, 3)] {
        for (word, is_position) in [(0, true), (8, false)] {
            let session = tempfile::tempdir().unwrap();
            let readings = small_log(session.path(), Left::Dead);
            let path = session.path().join("log/lines.idx");
            let file = OpenOptions::new().read(true).write(true).open(&path).unwrap();
            let mut other = [0; 8];
            file.read_exact_at(&mut other, entry(from) + word).unwrap();
            if !is_position && other == [0; 8] {
                continue;
            }
            file.write_all_at(&other, entry(to) + word).unwrap();
            let what = format!("line {to} has the entry of line {from}, word {word}");
            assert_eq!(reading(session.path(), Mapping::On), readings.last().cloned(), "{what}");
            judge(session.path(), &readings, &what);
        }
    }
}
