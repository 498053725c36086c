//! What people have besides one file for each track: both sides in one file, a folder, a pipe.
//!
//! On real speech, with the small recogniser, as `first_light` is.

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use ambient_capture::audio::AudioFile;

use crate::first_light::with_models;
use crate::sandbox::{Run, Sandbox};

/// Of the samples as much as one turn on each track takes.
const LEN_S: usize = 14;

/// The first seconds of a sample, 16 bit, and how many of them come in a second.
fn sample(name: &str) -> (Vec<i16>, u32) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/meeting").join(name);
    let mut file = AudioFile::open(&path).unwrap();
    let rate_hz = file.rate_hz();
    let mut samples = Vec::new();
    while let Some(block) = file.next_block().unwrap() {
        #[allow(clippy::cast_possible_truncation, reason = "a sample lies between -1 and 1")]
        samples.extend(block.iter().map(|sample| (sample * 32_767.0) as i16));
    }
    samples.truncate(LEN_S * rate_hz as usize);
    (samples, rate_hz)
}

fn bytes(samples: impl IntoIterator<Item = i16>) -> Vec<u8> {
    samples.into_iter().flat_map(i16::to_le_bytes).collect()
}

/// Runs the program with `input` on stdin.
fn with_sound(sandbox: &Sandbox, arguments: &[&str], input: &[u8]) -> Run {
    let mut command = sandbox.command(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap().into()
}

fn said(sandbox: &Sandbox, session: &str, track: &str) -> String {
    let shown = sandbox.run(&["show", session, "--json"]).expect(0).json();
    let lines = shown.as_array().unwrap();
    let texts = lines.iter().filter(|line| line["track"] == track).map(|line| line["text"].as_str().unwrap());
    texts.collect::<Vec<_>>().join(" ").to_lowercase()
}

#[test]
fn bare_samples_from_a_pipe_are_taken_apart_into_room_and_call() {
    let Some(sandbox) = with_models() else { return };
    let ((room, rate_hz), (call, call_rate_hz)) = (sample("room.flac"), sample("call.flac"));
    assert_eq!(rate_hz, call_rate_hz);
    let both = bytes(room.iter().zip(&call).flat_map(|(room, call)| [*room, *call]));
    let rate = rate_hz.to_string();
    let arguments = [
        "transcribe",
        "-",
        "--rate",
        &rate,
        "--channels",
        "2",
        "--split-channels",
        "--model",
        "tiny.en",
        "-q",
    ];
    let run = with_sound(&sandbox, &arguments, &both).expect(0);
    let session = run.stdout.trim_end();
    let (room, call) = (said(&sandbox, session, "room"), said(&sandbox, session, "call"));
    assert!(room.contains("leisure to consider"), "{room}");
    assert!(call.contains("fellow americans"), "{call}");
    assert!(!room.contains("americans") && !call.contains("leisure"), "each on its own track");
    let left: Vec<_> = std::fs::read_dir(sandbox.root().join(".cache")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    let listed = sandbox.run(&["sessions", "--json"]).expect(0).json();
    assert_eq!(listed.as_array().unwrap().len(), 1, "the folder for what is piped in is no session");
}

#[test]
fn a_folder_is_a_session_of_each_file_and_a_bad_one_costs_itself() {
    let Some(sandbox) = with_models() else { return };
    let folder = sandbox.folder().join("recordings");
    std::fs::create_dir(&folder).unwrap();
    let (room, rate_hz) = sample("room.flac");
    let format = wav_header(rate_hz, room.len());
    std::fs::write(folder.join("monday.wav"), [format, bytes(room)].concat()).unwrap();
    std::fs::write(folder.join("broken.mp3"), "this is no sound").unwrap();
    std::fs::write(folder.join("notes.txt"), "not looked at").unwrap();
    let run = sandbox.run(&["transcribe", "recordings", "--model", "tiny.en"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("broken.mp3"), "{}", run.stderr);
    assert!(run.stderr.contains("1 of 2 files could not be transcribed"), "{}", run.stderr);
    let sessions: Vec<_> = run.stdout.lines().collect();
    assert_eq!(sessions.len(), 1, "{run:?}");
    assert!(sessions[0].ends_with("-monday"), "{run:?}");
    assert!(said(&sandbox, sessions[0], "room").contains("leisure to consider"));
}

/// The header of a WAV file with one channel.
fn wav_header(rate_hz: u32, samples: usize) -> Vec<u8> {
    let len_bytes = u32::try_from(samples * 2).unwrap();
    let mut header = b"RIFF".to_vec();
    header.extend((36 + len_bytes).to_le_bytes());
    header.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    header.extend(rate_hz.to_le_bytes());
    header.extend((rate_hz * 2).to_le_bytes());
    header.extend(b"\x02\0\x10\0data");
    header.extend(len_bytes.to_le_bytes());
    header
}
