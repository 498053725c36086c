//! Every target over its corpus, as it is and changed in ways that are the same each time.
//!
//! The corpus is in `fuzz/corpus/<target>/`; with `AMBIENT_WRITE_GOLDEN=1` a folder that is missing is made
//! from the frozen logs.

use std::fs;
use std::path::{Path, PathBuf};

use super::directory::is_segment;
use super::{TARGETS, Target};
use crate::format::frame::FrameHeader;
use crate::format::segment::SEGMENT_HEADER_LEN_BYTES;

/// Mutations of each file of the corpus; a hundred times as many when all is asked for.
const MUTATIONS: u64 = 150;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn corpus(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = root().join("fuzz/corpus").join(target);
    if std::env::var_os("AMBIENT_WRITE_GOLDEN").is_some() && !folder.exists() {
        fs::create_dir_all(&folder).unwrap();
        for (name, bytes) in seeds(target) {
            fs::write(folder.join(name), bytes).unwrap();
        }
    }
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut corpus: Vec<(String, Vec<u8>)> = entries
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(path).unwrap()))
        .collect();
    corpus.sort();
    assert!(!corpus.is_empty(), "{target} has a corpus");
    corpus
}

/// The files of the frozen logs: name of the log, name of the file, bytes.
fn frozen() -> Vec<(String, String, Vec<u8>)> {
    let golden = root().join("engine/tests/golden");
    let mut files = Vec::new();
    for log in fs::read_dir(golden).unwrap() {
        let log = log.unwrap();
        for file in fs::read_dir(log.path().join("log")).unwrap() {
            let file = file.unwrap();
            let name = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
            files.push((name(&log), name(&file), fs::read(file.path()).unwrap()));
        }
    }
    files.sort();
    files
}

/// With a first byte that asks for the checksums to be put right.
fn flagged(flags: u8, bytes: &[u8]) -> Vec<u8> {
    [&[flags], bytes].concat()
}

fn seeds(target: &str) -> Vec<(String, Vec<u8>)> {
    let frozen = frozen();
    let segments = || frozen.iter().filter(|(_, name, _)| is_segment(name));
    match target {
        "frame" => {
            let every_kind = segments().find(|(log, ..)| log == "every-kind").unwrap();
            let mut rest = &every_kind.2[SEGMENT_HEADER_LEN_BYTES..];
            let mut frames = Vec::new();
            while let Ok(header) = FrameHeader::peek(rest) {
                let (frame, behind) = rest.split_at(usize::try_from(header.len_bytes()).unwrap());
                frames.push((format!("event-{}", header.seq), flagged(1, frame)));
                rest = behind;
            }
            frames
        }
        "segment" => segments()
            .filter(|(_, name, _)| name.starts_with("0000000000"))
            .map(|(log, _, bytes)| (log.clone(), flagged(1, bytes)))
            .collect(),
        "session_directory" => {
            let mut logs: std::collections::BTreeMap<String, Vec<u8>> = std::collections::BTreeMap::new();
            for (log, name, bytes) in &frozen {
                let number = match name.as_str() {
                    "lines.idx" => 4,
                    name if name < "0000000003" => name.as_bytes()[9] - b'0',
                    _ => continue,
                };
                let bytes = &bytes[..bytes.len().min(4096 + 64)];
                let packed = logs.entry(log.clone()).or_insert_with(|| vec![1]);
                packed.push(number);
                packed.extend_from_slice(&u16::try_from(bytes.len()).unwrap().to_le_bytes());
                packed.extend_from_slice(bytes);
            }
            logs.into_iter().collect()
        }
        "head" => vec![
            ("zeros".to_owned(), vec![0; 465]),
            ("words".to_owned(), flagged(1, &[0x11; 330])),
            ("end".to_owned(), flagged(1, &[[0; 64], [1; 64]].concat())),
        ],
        "index" => {
            let entries: Vec<u8> = (0..8).flat_map(|entry: u64| (256 + entry * 64).to_le_bytes()).collect();
            let bytes = [&[0; 40], &entries[..]].concat();
            (0..4).map(|flags| (format!("flags-{flags}"), flagged(flags, &bytes))).collect()
        }
        "cursor" => vec![
            ("text".to_owned(), b"00112233445566778899aabbccddeeff000000000000010089abcdef".to_vec()),
            ("own".to_owned(), vec![1]),
            ("moved".to_owned(), vec![0x41, 1, 0]),
            ("other".to_owned(), vec![0xC2, 1, 0x48, 1, 2, 3, 4]),
        ],
        "jsonl" => jsonl_seeds(),
        "operations" => vec![
            ("appends".to_owned(), (0..120).map(|number: u8| number.wrapping_mul(37)).collect()),
            ("all".to_owned(), (0..240).map(|number: u8| number.wrapping_mul(101) ^ 0x55).collect()),
            (
                "crashes".to_owned(),
                b"\0\x01\0\x03abc\x07\0\x02\0\x04abcd\x01\x04\x02XY\x0B\x06\x0A\x09\x08\x06".to_vec(),
            ),
            (
                "edits".to_owned(),
                b"\0\x03\0\x04abcd\x03\x02abba\x04\x02Xy\x07\x01\x01\x03\x07\x02\x05\x00\x07\x03\x06\x09\x06"
                    .to_vec(),
            ),
        ],
        other => panic!("no seeds for {other}"),
    }
}

/// Two files in pieces: each a byte of file and length, then the bytes.
fn jsonl_seeds() -> Vec<(String, Vec<u8>)> {
    let raw = "{\"track\":\"room\",\"start_ms\":1,\"end_ms\":2,\"text\":\"one\"}\n{\"track\":\"call\",\"start_ms\":3,\"end_ms\":4,\"text\":\"two\",\"confidence\":0.5}\nnot json\n";
    let edits = "{\"kind\":\"repair\",\"target\":{\"track\":\"room\",\"start_ms\":1},\"from\":\"one\",\"to\":\"1\",\"by\":\"user\"}\n{\"kind\":\"speaker\",\"target\":{\"track\":\"call\",\"start_ms\":3},\"name\":\"Ana\",\"by\":\"user\"}\n{\"kind\":\"revert\",\"target_seq\":0,\"by\":\"user\"}\n";
    let pieces = |len: usize| {
        let mut packed = Vec::new();
        for (file, text) in [(0, raw), (1, edits)] {
            for piece in text.as_bytes().chunks(len) {
                packed.push(u8::try_from(piece.len() - 1).unwrap() << 1 | file);
                packed.extend_from_slice(piece);
            }
        }
        packed
    };
    [100, 17, 3].into_iter().map(|len| (format!("pieces-of-{len}"), pieces(len))).collect()
}

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap() % sides.max(1)
    }

    /// A few changes to `bytes`.
    fn mutate(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.roll(4) {
            let at = self.roll(bytes.len());
            match self.roll(6) {
                0 if at < bytes.len() => bytes[at] ^= 1 << self.roll(8),
                1 if at < bytes.len() => bytes[at] = [0, 1, 0x7F, 0x80, 0xFB, 0xFF][self.roll(6)],
                2 => bytes.truncate(at),
                3 => bytes.insert(at, u8::try_from(self.roll(256)).unwrap()),
                4 if at < bytes.len() => drop(bytes.remove(at)),
                _ => {
                    let piece = bytes[at..(at + self.roll(64)).min(bytes.len())].to_vec();
                    let to = self.roll(bytes.len());
                    bytes.splice(to..to, piece);
                }
            }
        }
    }
}

fn drive((name, body): Target) {
    let factor = if std::env::var_os("AMBIENT_EXHAUSTIVE").is_some() { 100 } else { 1 };
    for (entry, bytes) in corpus(name) {
        body(&bytes);
        for seed in 1..=MUTATIONS * factor {
            let mut mutated = bytes.clone();
            Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)).mutate(&mut mutated);
            let outcome = std::panic::catch_unwind(|| body(&mutated));
            assert!(outcome.is_ok(), "{name}: {entry} with seed {seed} breaks a law: {mutated:02x?}");
        }
    }
}

#[test]
fn frames_segments_and_cursors() {
    TARGETS.into_iter().filter(|(name, _)| ["frame", "segment", "cursor"].contains(name)).for_each(drive);
}

#[test]
fn session_directories() {
    TARGETS.into_iter().filter(|(name, _)| *name == "session_directory").for_each(drive);
}

#[test]
fn heads_and_indexes() {
    TARGETS.into_iter().filter(|(name, _)| ["head", "index"].contains(name)).for_each(drive);
}

#[test]
fn jsonl_files() {
    TARGETS.into_iter().filter(|(name, _)| *name == "jsonl").for_each(drive);
}

#[test]
fn operations_against_the_model() {
    TARGETS.into_iter().filter(|(name, _)| *name == "operations").for_each(drive);
}
