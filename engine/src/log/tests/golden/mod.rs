//! Frozen logs: what a version wrote must be read by every later one, byte for byte.
//!
//! `engine/tests/golden/<name>/` holds a log directory and what it says. To add one, write the history
//! here or in `found` and run the tests once with `AMBIENT_WRITE_GOLDEN=1`; one that exists is never written
//! again.

mod found;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use super::super::walk::{Mark, Walk};
use super::super::{Log, Mapping, Options, Reader, Snapshot};
use super::{edit, heard, line, speaker, unsynced};
use crate::event::{decode, encode, previous_edit};
use crate::{
    AssistantAct, AudioSpan, Captured, CapturedTrack, Change, DeviceChange, DeviceNote, Dropped, Edit,
    EditTarget, Event, Finished, FixedClock, FoldedLine, Generation, Kept, KeptFile, Kind, Line, MetaChange,
    ModelReference, Opened, Origin, Progress, Track, TrackSource,
};

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

const SPAN: AudioSpan = AudioSpan { start_sample: 480, end_sample: 48_000, rate_hz: 48_000 };

fn spoken() -> Line {
    Line {
        track: Track::Call,
        start_ms: 10,
        end_ms: 1_000,
        text: "ask Crea about it, naïve café 会議".to_owned(),
        confidence: 0.75,
        language: Some("en".to_owned()),
        generation: 0,
        audio: Some(SPAN),
        overlap: true,
    }
}

fn captured() -> Captured {
    let track = CapturedTrack {
        track: Track::Call,
        rate_hz: 48_000,
        channels: 2,
        samples: 2_880_000,
        silent_ms: 5,
        padded_ms: 0,
    };
    Captured {
        ended_at: "2026-11-30T12:01:00+01:00".to_owned(),
        tracks: vec![track],
        warnings: vec!["the room was silent".to_owned()],
    }
}

/// One of each kind, and edits that answer each other.
fn every_kind() -> Vec<Vec<Event>> {
    let opened = Opened {
        id: "2026-11-30T1200-golden".to_owned(),
        name: Some("Golden".to_owned()),
        started_at: "2026-11-30T12:00:00+01:00".to_owned(),
        origin: Origin::Transcribed,
        program: "ambient 0.1.0".to_owned(),
        tracks: vec![TrackSource { track: Track::Call, name: "call.flac".to_owned(), len_bytes: Some(9) }],
    };
    let generation = Generation {
        number: 0,
        recognizer: "whisper.cpp".to_owned(),
        model: ModelReference { name: "tiny.en".to_owned(), sha256: "ab".repeat(32) },
        voice_activity: "silero".to_owned(),
        language: None,
    };
    let dropped = Dropped {
        track: Track::Call,
        start_ms: 2_000,
        end_ms: 2_500,
        text: "[BLANK_AUDIO]".to_owned(),
        reason: "not speech".to_owned(),
        generation: 0,
        audio: Some(SPAN),
    };
    let progress = Progress { track: Track::Call, generation: 0, done_samples: 48_000, complete: false };
    let device = DeviceNote { track: Track::Call, at_ms: 70, change: DeviceChange::Gap { len_ms: 30 } };
    let spoke = AssistantAct::Spoke {
        text: "Yes.".to_owned(),
        emotion: "warm".to_owned(),
        first_audio_ms: 1,
        audio_ms: 2,
        took_ms: 3,
    };
    let repair = |from: &str, to: &str| Change::Repair { from: from.to_owned(), to: to.to_owned() };
    vec![
        vec![Event::Opened(opened), Event::Generation(generation)],
        vec![Event::Line(spoken()), Event::Progress(progress)],
        vec![line("yeah"), Event::Dropped(dropped)],
        vec![edit(0, Edit::PERSON, repair("Crea", "Priya")), speaker(0, "Ana")],
        vec![edit(0, "diarize", Change::Speaker { name: "call-1".to_owned() })],
        vec![edit(1, "bleed", Change::Hide { reason: "bleed".to_owned() })],
        vec![edit(
            0,
            "diarize",
            Change::Split { at_ms: 500, at_character: 4, name: Some("call-2".to_owned()) },
        )],
        vec![
            Event::Meta(MetaChange::Tag("budget".to_owned())),
            Event::Device(device),
            Event::Assistant(spoke),
        ],
        vec![Event::Captured(captured())],
        vec![Event::Finished(Finished { at: "2026-11-30T12:02:00+01:00".to_owned(), warnings: vec![] })],
        vec![Event::Line(heard("last"))],
    ]
}

/// An imported session with a line that was kept as it stood.
fn kept() -> Vec<Vec<Event>> {
    let bytes = b"{\"track\": \"room\", \"unknown\": 1}\n".to_vec();
    let of = |file, stands_for_next| Event::Kept(Kept { file, bytes: bytes.clone(), stands_for_next });
    vec![
        vec![of(KeptFile::Description, false), of(KeptFile::Lines, true), line("heard")],
        vec![of(KeptFile::Edits, true), speaker(0, "Ana"), of(KeptFile::Edits, false)],
    ]
}

/// What the log at `session` says, in a form that is easy to compare and to read.
fn told(session: &Path) -> Value {
    let mut reader = Reader::open(session, Mapping::Off).unwrap();
    let mut snapshot = reader.snapshot().unwrap();
    json!({ "lines": folded(snapshot.since(0).unwrap()), "events": events(&mut snapshot) })
}

fn folded(lines: Vec<FoldedLine>) -> Vec<Value> {
    let lines = lines.into_iter().map(|line| {
        let voices: Vec<Value> =
            line.voices.iter().map(|voice| json!([voice.at_ms, voice.at_character, voice.name])).collect();
        json!({
            "index": line.index, "heard": line.heard, "text": line.text(), "speaker": line.speaker,
            "hidden": line.hidden, "voices": voices,
        })
    });
    lines.collect()
}

fn events(snapshot: &mut Snapshot<'_>) -> Vec<Value> {
    let events = snapshot.events().unwrap().into_iter().map(|recorded| {
        json!([recorded.position, recorded.seq, recorded.ts_us, format!("{:?}", recorded.event.kind())])
    });
    events.collect()
}

fn is_to_be_written(directory: &Path) -> bool {
    std::env::var_os("AMBIENT_WRITE_GOLDEN").is_some() && !directory.exists()
}

fn write_expected(directory: &Path, expected: &Value) {
    let text = serde_json::to_string_pretty(expected).unwrap();
    fs::write(directory.join("expected.json"), text + "\n").unwrap();
}

fn expected(name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(golden(name).join("expected.json")).unwrap()).unwrap()
}

fn write_golden(name: &str, history: &[Vec<Event>]) {
    let directory = golden(name);
    if !is_to_be_written(&directory) {
        return;
    }
    fs::create_dir_all(&directory).unwrap();
    let clock = Arc::new(FixedClock::at_us(1_796_036_400_000_000));
    let mut log = Log::create(&directory, Options { clock, ..unsynced() }).unwrap();
    let mut target = None;
    for batch in history {
        log.append(batch).unwrap();
        let mut reader = Reader::open(&directory, Mapping::On).unwrap();
        let events = reader.snapshot().unwrap().events().unwrap();
        target = target.or_else(|| {
            let hide = events.iter().find(|recorded| recorded.event.kind() == Kind::Hide)?;
            Some(EditTarget { position: hide.position, seq: hide.seq })
        });
    }
    if let Some(target) = target {
        log.append(&[edit(1, Edit::PERSON, Change::Revert { target })]).unwrap();
    }
    log.close().unwrap();
    for cache in ["head", "LOCK", "WRITERS"] {
        fs::remove_file(directory.join("log").join(cache)).unwrap();
    }
    write_expected(&directory, &told(&directory));
}

/// A copy of a golden log that may be written to.
fn copy_of(name: &str) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    fs::create_dir(copy.path().join("log")).unwrap();
    for entry in fs::read_dir(golden(name).join("log")).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), copy.path().join("log").join(entry.file_name())).unwrap();
    }
    copy
}

#[test]
fn a_log_with_every_kind_of_event_reads_as_it_did() {
    reads_as_it_did("every-kind", &every_kind());
}

#[test]
fn a_log_that_keeps_bytes_of_an_imported_session_reads_as_it_did() {
    reads_as_it_did("kept", &kept());
}

fn reads_as_it_did(name: &str, history: &[Vec<Event>]) {
    write_golden(name, history);
    let expected = expected(name);
    assert_eq!(told(&golden(name)), expected);
    let copy = copy_of(name);
    fs::remove_file(copy.path().join("log/lines.idx")).unwrap();
    assert_eq!(told(copy.path()), expected, "by a walk as by the index");
}

#[test]
fn a_frozen_log_can_be_appended_to() {
    let copy = copy_of("every-kind");
    let mut log = Log::open(copy.path(), unsynced()).unwrap();
    assert!(!log.recovery().rebuilt_index);
    log.append(&[line("more"), speaker(1, "Bo")]).unwrap();
    let mut reader = Reader::open(copy.path(), Mapping::On).unwrap();
    assert_eq!(reader.snapshot().unwrap().folded(1).unwrap().speaker.as_deref(), Some("Bo"));
}

#[test]
fn every_payload_is_written_today_as_it_was_frozen() {
    let mut kinds = HashSet::new();
    for name in ["every-kind", "kept"] {
        written_as_frozen(name, &mut kinds);
    }
    assert_eq!(kinds.len(), Kind::ALL.len(), "every kind is in a frozen log");
}

fn written_as_frozen(name: &str, kinds: &mut HashSet<Kind>) {
    let copy = copy_of(name);
    let log = Log::open(copy.path(), unsynced()).unwrap();
    let segments = log.segments();
    let mut walk = Walk::new(segments, Mark::START, segments.last().file_end().unwrap()).unwrap();
    while let Some(frame) = walk.next().unwrap() {
        let frame = frame.unwrap();
        let kind = Kind::try_from(frame.header.kind).unwrap();
        kinds.insert(kind);
        if kind == Kind::Closed {
            continue;
        }
        let event = decode(kind, frame.header.schema, frame.header.line, frame.payload).unwrap();
        let previous = if kind.is_edit() { previous_edit(frame.payload).unwrap() } else { 0 };
        let mut written = Vec::new();
        encode(&event, previous, &mut written).unwrap();
        assert_eq!(written, frame.payload, "{kind:?}");
        assert_eq!(frame.header.is_ignorable(), kind.is_ignorable(), "{kind:?}");
    }
}
