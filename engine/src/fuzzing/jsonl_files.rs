//! The predecessor's two files, growing piece by piece.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use super::Input;
use crate::jsonl::JsonlReader;
use crate::session::Directory;
use crate::view::TranscriptLine;

/// A folder of this thread's own; its two files are written anew by each run.
fn folder() -> PathBuf {
    let shared = PathBuf::from("/dev/shm");
    let parent = if shared.is_dir() { shared } else { std::env::temp_dir() };
    let folder =
        parent.join(format!("ambient-fuzz-{}-{:?}", std::process::id(), std::thread::current().id()));
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn told(reader: &JsonlReader, is_verbatim: bool) -> Vec<TranscriptLine> {
    reader.since(0, is_verbatim).map(|(line, _)| line).collect()
}

/// For each piece a byte that says to which file it goes and how long it is. However the files grow, a reader
/// that follows them reads what one that opens them at the end reads.
pub fn jsonl(data: &[u8]) {
    let folder = folder();
    for name in ["raw.jsonl", "edits.jsonl"] {
        fs::write(folder.join(name), []).unwrap();
    }
    let directory = Directory::open(&folder).unwrap();
    let mut following = JsonlReader::open(&directory).unwrap();
    let mut input = Input(data);
    while let Some(choice) = input.byte() {
        let name = if choice & 1 == 0 { "raw.jsonl" } else { "edits.jsonl" };
        let piece = input.take(usize::from(choice >> 1) + 1);
        OpenOptions::new().append(true).open(folder.join(name)).unwrap().write_all(piece).unwrap();
        following.refresh(&directory).unwrap();
    }
    let fresh = JsonlReader::open(&directory).unwrap();
    for is_verbatim in [false, true] {
        assert_eq!(told(&following, is_verbatim), told(&fresh, is_verbatim));
    }
    let damage = |reader: &JsonlReader| {
        let edits = reader.edit_damage().report();
        reader.line_damage().report().chain(edits).collect::<Vec<String>>()
    };
    assert_eq!(damage(&following), damage(&fresh));
    fs::remove_dir_all(folder).unwrap();
}
