//! Importing a session of the older layout and giving it back: nothing is lost, nothing is half done.

// The allowance for tests does not reach the functions that tests share.
#![allow(clippy::unwrap_used)]

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use ambient_engine::export::{self, JsonlFiles};
use ambient_engine::jsonl::{Imported, JsonlImport, JsonlImportError};
use ambient_engine::session::{Directory, SessionDirectory, SessionId};
use ambient_engine::view::{self, ReadingQuery, SessionReading};
use ambient_engine::{
    Change, Edit, Event, Kept, KeptFile, Log, Mapping, MetaChange, Options, Reader, Recorded, SystemClock,
};
use proptest::prelude::*;
use tempfile::TempDir;

const ID: &str = "2026-09-05T1412-weekly-sync";

const DESCRIPTION: &str = r#"{
  "id": "2026-09-05T1412-weekly-sync",
  "name": "Weekly sync",
  "started_at": "2026-09-05T14:12:03+02:00",
  "ended_at": "2026-09-05T14:31:47+02:00",
  "duration_s": 1184.0417,
  "device_hz": 48000,
  "mic_hz": 44100,
  "channels": 2,
  "mic_channels": 1,
  "apps": [
    "us.zoom.xos"
  ],
  "model": "parakeet",
  "warnings": ["the room was silent"],
  "tags": ["a", "b"],
  "unknown": {"z": 1, "a": 1.10},
  "notes": "two\nlines",
  "pinned": true
}"#;

/// A place with a session of the older layout outside, and a root.
struct Place {
    place: TempDir,
}

impl Place {
    fn new(raw: &[u8], edits: &[u8]) -> Self {
        let place = tempfile::tempdir().unwrap();
        let session = place.path().join("elsewhere").join(ID);
        fs::create_dir_all(&session).unwrap();
        fs::create_dir(place.path().join("root")).unwrap();
        fs::write(session.join("session.json"), DESCRIPTION).unwrap();
        fs::write(session.join("raw.jsonl"), raw).unwrap();
        fs::write(session.join("edits.jsonl"), edits).unwrap();
        fs::write(session.join("transcript.md"), "").unwrap();
        Self { place }
    }

    fn elsewhere(&self) -> PathBuf {
        self.place.path().join("elsewhere")
    }

    fn source(&self) -> PathBuf {
        self.elsewhere().join(ID)
    }

    fn root(&self) -> PathBuf {
        self.place.path().join("root")
    }

    fn elsewhere_to_root(&self) -> Result<Imported, JsonlImportError> {
        let root = Directory::open(&self.root()).unwrap();
        import(|import| import.into_root(&open(&self.elsewhere(), ID), root))
    }

    fn in_place(&self) -> Result<Imported, JsonlImportError> {
        import(|import| import.in_place(&open(&self.elsewhere(), ID)))
    }
}

fn import<T>(run: impl FnOnce(JsonlImport<'_>) -> T) -> T {
    run(JsonlImport {
        program: "a test",
        clock: &SystemClock,
        on_progress: &mut |done, all| assert!(done <= all),
    })
}

fn open(root: &Path, id: &str) -> SessionDirectory {
    let root = Directory::open(root).unwrap();
    SessionDirectory::open(&root, &SessionId::new(id).unwrap()).unwrap().unwrap()
}

fn exported(root: &Path, id: &str) -> JsonlFiles {
    export::jsonl(&open(root, id)).unwrap()
}

fn reading(root: &Path, id: &str) -> SessionReading {
    view::reading(root, id, &ReadingQuery::default(), &SystemClock).unwrap()
}

fn events(root: &Path, id: &str) -> Vec<Recorded> {
    let mut reader = Reader::open(&root.join(id), Mapping::On).unwrap();
    reader.snapshot().unwrap().events().unwrap()
}

fn kept_bytes(root: &Path, file: KeptFile) -> usize {
    let kept = events(root, ID).into_iter().filter_map(|recorded| match recorded.event {
        Event::Kept(Kept { file: of, bytes, .. }) if of == file => Some(bytes.len()),
        _ => None,
    });
    kept.sum()
}

/// What is in a directory and below, with its bytes.
fn contents(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(contents(&path));
        } else {
            found.push((path.clone(), fs::read(path).unwrap()));
        }
    }
    found.sort();
    found
}

fn line(track: &str, start_ms: u64, text: &str) -> String {
    let (text, end_ms) = (serde_json::to_string(text).unwrap(), start_ms + 1000);
    format!(
        r#"{{"track":"{track}","start_ms":{start_ms},"end_ms":{end_ms},"text":{text},"confidence":0.93}}"#
    ) + "\n"
}

const AT: &str = "2026-09-05T15:00:00+02:00";

fn speaker(track: &str, start_ms: u64, name: &str, by: &str, at: &str) -> String {
    let name = serde_json::to_string(name).unwrap();
    format!(
        r#"{{"kind":"speaker","target":{{"track":"{track}","start_ms":{start_ms}}},"name":{name},"by":"{by}","at":"{at}"}}"#
    ) + "\n"
}

fn repair(start_ms: u64, from: &str, to: &str) -> String {
    format!(
        r#"{{"kind":"repair","target":{{"track":"room","start_ms":{start_ms}}},"from":"{from}","to":"{to}","by":"user","at":"{AT}"}}"#
    ) + "\n"
}

fn revert(seq: u64, by: &str, at: &str) -> String {
    format!(r#"{{"kind":"revert","target_seq":{seq},"by":"{by}","at":"{at}"}}"#) + "\n"
}

fn sample() -> (String, String) {
    let raw = line("room", 5000, "one cat") + &line("call", 0, "two \"é\"\n") + &line("room", 9000, "three");
    let edits = speaker("room", 5000, "room-1", "diarize", AT)
        + &speaker("call", 0, "call-1", "diarize", AT)
        + &speaker("room", 5000, "Ana", "user", "2026-09-05T15:01:00.25+02:00")
        + &repair(5000, "cat", "dog")
        + &revert(1, "diarize", "2026-09-05T15:02:00+02:00")
        + &speaker("call", 0, "call-2", "diarize", "2026-09-05T15:02:00+02:00");
    (raw, edits)
}

#[test]
fn an_import_reads_as_the_source_and_is_given_back_to_the_byte() {
    let (raw, edits) = sample();
    let place = Place::new(raw.as_bytes(), edits.as_bytes());
    let before = contents(&place.source());
    let imported = place.elsewhere_to_root().unwrap();
    assert_eq!((imported.id.as_str(), imported.lines, imported.edits), (ID, 3, 6));
    assert_eq!((imported.was_native, imported.warnings.len()), (false, 0));
    assert_eq!(contents(&place.source()), before, "the source is only read");
    let (then, now) = (reading(&place.elsewhere(), ID), reading(&place.root(), ID));
    assert_eq!(then.lines, now.lines);
    assert_eq!(then.state, now.state);
    let files = exported(&place.root(), ID);
    assert_eq!(String::from_utf8(files.lines).unwrap(), raw);
    assert_eq!(String::from_utf8(files.edits).unwrap(), edits);
    assert_eq!(String::from_utf8(files.description).unwrap(), DESCRIPTION);
    assert!(files.transcript.is_some() && files.left_out.is_empty());
    // The events say it all: nothing of canonical records is carried along as bytes.
    assert_eq!(kept_bytes(&place.root(), KeptFile::Lines) + kept_bytes(&place.root(), KeptFile::Edits), 0);
}

#[test]
fn the_description_is_what_it_was() {
    let place = Place::new(b"", b"");
    place.elsewhere_to_root().unwrap();
    let metadata = reading(&place.root(), ID).metadata.unwrap();
    let then = reading(&place.elsewhere(), ID).metadata.unwrap();
    assert_eq!((&metadata.name, &metadata.started_at), (&then.name, &then.started_at));
    assert_eq!((&metadata.ended_at, metadata.duration_s), (&then.ended_at, then.duration_s));
    assert_eq!((&metadata.apps, &metadata.model, &metadata.tags), (&then.apps, &then.model, &then.tags));
    assert_eq!((&metadata.warnings, &metadata.notes, metadata.pinned), (&then.warnings, &then.notes, true));
    assert_eq!((metadata.mic_hz, metadata.device_hz), (44_100, 48_000));
    assert_eq!(view::sessions(&place.root(), &SystemClock).unwrap()[0].duration_s, Some(1184.0417));
}

#[test]
fn edits_that_were_made_together_are_one_batch_at_their_own_time() {
    let (raw, edits) = sample();
    let place = Place::new(raw.as_bytes(), edits.as_bytes());
    place.elsewhere_to_root().unwrap();
    let times: Vec<_> = events(&place.root(), ID)
        .into_iter()
        .filter(|recorded| recorded.event.kind().is_edit())
        .map(|recorded| recorded.ts_us / 1_000 % 1_000_000)
        .collect();
    let first = times[0];
    assert_eq!(times, [0, 0, 60_250, 0, 120_000, 120_000].map(|later| first + later));
}

#[test]
fn in_its_own_place_a_session_gains_a_log_and_keeps_everything_else() {
    let (raw, edits) = sample();
    let place = Place::new(raw.as_bytes(), edits.as_bytes());
    let before = contents(&place.source());
    let then = reading(&place.elsewhere(), ID);
    let imported = place.in_place().unwrap();
    assert_eq!((imported.id.as_str(), &imported.directory), (ID, &place.source()));
    let after: Vec<_> = contents(&place.source())
        .into_iter()
        .filter(|(path, _)| !path.starts_with(place.source().join("log")))
        .collect();
    assert_eq!(after, before);
    assert_eq!(reading(&place.elsewhere(), ID).lines, then.lines);
    assert_eq!(exported(&place.elsewhere(), ID).edits, edits.as_bytes());
    assert!(!place.source().join(".log.partial").exists());
    let again = place.in_place().unwrap();
    assert!(again.was_native);
    assert!(place.elsewhere_to_root().unwrap().was_native);
}

#[test]
fn a_name_that_is_taken_gets_a_number() {
    let place = Place::new(b"", b"");
    let ids = [ID.to_owned(), format!("{ID}-02"), format!("{ID}-03")];
    for (number, id) in (0..).zip(&ids) {
        // Another session each time; the same one again is there already.
        fs::write(place.source().join("raw.jsonl"), line("room", number, "x")).unwrap();
        for is_there in [false, true] {
            let imported = place.elsewhere_to_root().unwrap();
            assert_eq!((&imported.id, imported.was_native), (id, is_there));
        }
    }
    let second = exported(&place.root(), &format!("{ID}-02")).description;
    assert!(String::from_utf8(second).unwrap().contains("\"id\": \"2026-09-05T1412-weekly-sync-02\""));
}

#[test]
fn what_a_killed_import_left_is_begun_anew_and_never_listed() {
    let place = Place::new(line("room", 0, "x").as_bytes(), b"");
    let hidden = place.root().join(format!(".{ID}.partial"));
    fs::create_dir_all(hidden.join("log")).unwrap();
    fs::write(hidden.join("log/0000000000.seg"), "half").unwrap();
    assert!(view::sessions(&place.root(), &SystemClock).unwrap().is_empty());
    assert_eq!(place.elsewhere_to_root().unwrap().id, ID);
    assert!(!hidden.exists());
    let hidden = place.source().join(".log.partial");
    fs::create_dir_all(hidden.join("log")).unwrap();
    fs::write(hidden.join("log/0000000000.seg"), "half").unwrap();
    assert_eq!(reading(&place.elsewhere(), ID).lines.len(), 1);
    place.in_place().unwrap();
    assert_eq!(reading(&place.elsewhere(), ID).lines.len(), 1);
    assert!(!hidden.exists());
}

#[test]
fn a_session_that_somebody_works_on_is_busy() {
    let place = Place::new(b"", b"");
    let audio = place.source().join("audio");
    fs::create_dir(&audio).unwrap();
    for name in ["room.native.wav", "call.native.wav"] {
        fs::write(audio.join(name), "").unwrap();
        assert!(matches!(place.elsewhere_to_root(), Err(JsonlImportError::Busy { .. })), "{name}");
        assert!(matches!(place.in_place(), Err(JsonlImportError::Busy { .. })), "{name}");
        let long_ago = SystemTime::now() - Duration::from_secs(60);
        File::options().write(true).open(audio.join(name)).unwrap().set_modified(long_ago).unwrap();
    }
    let lock = place.source().join("transcribing.lock");
    fs::write(&lock, std::process::id().to_string()).unwrap();
    assert!(matches!(place.elsewhere_to_root(), Err(JsonlImportError::Busy { .. })));
    assert_eq!(fs::read_dir(place.root()).unwrap().count(), 0);
    fs::write(&lock, "").unwrap();
    place.elsewhere_to_root().unwrap();
    place.in_place().unwrap();
}

#[test]
fn a_file_that_is_written_to_meanwhile_ends_the_import() {
    let (raw, edits) = sample();
    let place = Place::new(raw.repeat(1_000).as_bytes(), edits.as_bytes());
    let file = place.source().join("raw.jsonl");
    let mut write = |_, _| {
        use std::io::Write as _;
        File::options().append(true).open(&file).unwrap().write_all(b"\n").unwrap();
    };
    let running = JsonlImport { program: "a test", clock: &SystemClock, on_progress: &mut write };
    let refused = running.into_root(&open(&place.elsewhere(), ID), Directory::open(&place.root()).unwrap());
    assert!(matches!(refused, Err(JsonlImportError::Busy { .. })), "{refused:?}");
    assert_eq!(fs::read_dir(place.root()).unwrap().count(), 0);
}

#[test]
fn sound_and_what_else_is_there_comes_along_and_signs_between_processes_do_not() {
    let place = Place::new(b"", b"");
    let (source, outside) = (place.source(), place.place.path().join("secret"));
    fs::create_dir(source.join("audio")).unwrap();
    fs::write(source.join("audio/room.wav"), vec![7; 3 << 20]).unwrap();
    fs::write(source.join("assistant.jsonl"), "{}\n").unwrap();
    for name in ["STOP", "status", "transcribing.lock", "transcribing.lock.7", "session.json.7.1.tmp"] {
        fs::write(source.join(name), "0").unwrap();
    }
    fs::write(&outside, "secret").unwrap();
    symlink(&outside, source.join("audio/call.wav")).unwrap();
    fs::create_dir(source.join("folder")).unwrap();
    let old = SystemTime::now() - Duration::from_secs(86_400);
    File::options().write(true).open(source.join("audio/room.wav")).unwrap().set_modified(old).unwrap();
    let imported = place.elsewhere_to_root().unwrap();
    let session = place.root().join(ID);
    assert_eq!(fs::read(session.join("audio/room.wav")).unwrap(), vec![7; 3 << 20]);
    assert_eq!(fs::metadata(session.join("audio/room.wav")).unwrap().modified().unwrap(), old);
    let mut names: Vec<_> = fs::read_dir(&session)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["assistant.jsonl", "audio", "log", "session.json", "transcript.md"]);
    assert_eq!(imported.warnings.len(), 2, "{:?}", imported.warnings);
    assert!(imported.warnings.iter().any(|text| text.contains("refusing symlink")));
}

#[test]
fn what_nobody_can_read_is_told_and_given_back() {
    let mut raw = b"\xEF\xBB\xBF".to_vec();
    raw.extend(line("room", 0, "behind a mark").as_bytes());
    raw.extend(b"\xFF\xFE not text\n\n  \r\n[1,2]\n{\"track\":\"both\"}\n");
    raw.extend(line("room", 1, "windows").trim_end().as_bytes());
    raw.extend(b"\r\n{ \"text\": \"other order\", \"track\": \"call\", \"end_ms\": 9, \"start_ms\": 8, \"x\": [1] }\n");
    raw.extend(line("room", 1, "the same place").as_bytes());
    raw.extend(b"{\"text\":\"");
    raw.extend(vec![b'x'; 17 << 20]);
    raw.extend(b"\"}\n{\"track\":\"room\",\"torn");
    let edits = "nonsense\n".to_owned()
        + &speaker("room", 1, "Ana", "user", "whenever")
        + "{\"kind\":\"merge\",\"target\":7}\n"
        + &speaker("room", 777, "nobody", "user", AT)
        + &speaker("room", 1, " ", "user", AT)
        + &repair(1, "", "boom")
        + &revert(1, "user", AT)
        + &revert(6, "user", AT)
        + &revert(99, "user", AT)
        + &speaker("call", 8, "Bo", "", AT)
        + "{\"kind\":\"revert\"";
    let place = Place::new(&raw, edits.as_bytes());
    let imported = place.elsewhere_to_root().unwrap();
    assert_eq!((imported.lines, imported.edits), (3, 3));
    let told = imported.warnings.join("\n");
    assert_eq!(imported.warnings.len(), 7, "{told}");
    for place in
        ["raw.jsonl, line 1: ", "raw.jsonl, line 2: ", "raw.jsonl, line 10: longer", "edits.jsonl, line 1: "]
    {
        assert!(told.contains(place), "{place} {told}");
    }
    let files = exported(&place.root(), ID);
    assert!(files.lines == raw, "raw.jsonl comes back to the byte");
    assert_eq!(String::from_utf8(files.edits).unwrap(), edits);
    assert_eq!(reading(&place.root(), ID).lines, reading(&place.elsewhere(), ID).lines);
}

#[test]
fn missing_files_are_no_reason_to_refuse() {
    let place = Place::new(line("room", 0, "x").as_bytes(), b"");
    for name in ["session.json", "edits.jsonl", "transcript.md"] {
        fs::remove_file(place.source().join(name)).unwrap();
    }
    let imported = place.elsewhere_to_root().unwrap();
    assert_eq!((imported.lines, imported.warnings.len()), (1, 0));
    let row = &view::sessions(&place.root(), &SystemClock).unwrap()[0];
    assert!(!row.transcribed && row.error.is_none());
    assert!(exported(&place.root(), ID).transcript.is_none());
    fs::remove_file(place.source().join("raw.jsonl")).unwrap();
    fs::write(place.source().join("session.json"), "{").unwrap();
    let imported = place.elsewhere_to_root().unwrap();
    assert_eq!((imported.lines, imported.warnings.len()), (0, 1));
    assert_eq!(exported(&place.root(), &imported.id).description, b"{");
}

#[test]
fn links_and_fifos_in_place_of_the_files_are_refused_at_once() {
    for name in ["session.json", "raw.jsonl", "edits.jsonl"] {
        for kind in ["link", "fifo", "folder"] {
            let place = Place::new(b"", b"");
            let file = place.source().join(name);
            fs::rename(&file, place.place.path().join("moved")).unwrap();
            match kind {
                "link" => symlink(place.place.path().join("moved"), &file).unwrap(),
                "fifo" => assert!(Command::new("mkfifo").arg(&file).status().unwrap().success()),
                _ => fs::create_dir(&file).unwrap(),
            }
            let error = place.elsewhere_to_root().unwrap_err();
            assert!(error.to_string().contains("refusing symlink"), "{error}");
            assert!(matches!(place.in_place(), Err(JsonlImportError::Directory(_))));
            assert_eq!(fs::read_dir(place.root()).unwrap().count(), 0);
            assert!(!place.source().join(".log.partial").exists());
        }
    }
}

#[test]
fn what_happened_after_the_import_is_given_back_too() {
    let (raw, edits) = sample();
    let place = Place::new(raw.as_bytes(), edits.as_bytes());
    place.elsewhere_to_root().unwrap();
    let by_user = |line, change| Event::Edit(Edit { line, by: Edit::PERSON.to_owned(), change });
    let mut log = Log::open(&place.root().join(ID), Options::default()).unwrap();
    log.append(&[by_user(2, Change::Speaker { name: "Bo".to_owned() })]).unwrap();
    log.append(&[by_user(1, Change::Hide { reason: "private".to_owned() })]).unwrap();
    log.append(&[
        Event::Meta(MetaChange::Name(Some("New".to_owned()))),
        Event::Meta(MetaChange::Untag("a".to_owned())),
    ])
    .unwrap();
    log.close().unwrap();
    let files = exported(&place.root(), ID);
    assert_eq!(files.lines, raw.as_bytes());
    let later = String::from_utf8(files.edits).unwrap();
    let added = later.strip_prefix(&edits).unwrap();
    assert!(added.starts_with(
        r#"{"kind":"speaker","target":{"track":"room","start_ms":9000},"name":"Bo","by":"user""#
    ));
    assert_eq!(added.lines().count(), 1);
    assert_eq!(files.left_out.len(), 1, "a line taken out has no word in that layout");
    let description = String::from_utf8(files.description).unwrap();
    let expected = DESCRIPTION.replace("Weekly sync", "New").replace(r#"["a", "b"]"#, r#"["b"]"#);
    assert_eq!(description, expected);
}

#[test]
fn a_hundred_thousand_lines_come_and_go() {
    let raw: String = (0..100_000).map(|number| line("room", number, "a turn of speech")).collect();
    let edits: String =
        (0..2_500).map(|number| speaker("room", number * 7, "Ana", "user", AT)).collect::<String>()
            + &(0..1_000).map(|seq| revert(seq, "user", "2026-09-05T16:00:00+02:00")).collect::<String>();
    let place = Place::new(raw.as_bytes(), edits.as_bytes());
    let imported = place.elsewhere_to_root().unwrap();
    assert_eq!((imported.lines, imported.edits), (100_000, 3_500));
    let files = exported(&place.root(), ID);
    assert!(files.lines == raw.as_bytes() && files.edits == edits.as_bytes());
    assert!(reading(&place.root(), ID).lines == reading(&place.elsewhere(), ID).lines);
}

#[test]
fn a_line_that_is_edited_and_edited_back_ten_thousand_times_costs_each_of_them_once() {
    // Reading the edits of the line again for each revert took minutes.
    let edits: String = (0..10_000)
        .map(|number| speaker("room", 0, "Ana", "user", AT) + &revert(2 * number, "user", AT))
        .chain([speaker("room", 0, "Bo", "user", AT), revert(0, "user", AT), revert(20_000, "user", AT)])
        .collect();
    let place = Place::new(line("room", 0, "hello").as_bytes(), edits.as_bytes());
    assert_eq!(place.elsewhere_to_root().unwrap().edits, 20_003);
    assert!(exported(&place.root(), ID).edits == edits.as_bytes());
    assert_eq!(reading(&place.root(), ID).lines, reading(&place.elsewhere(), ID).lines);
}

/// Records as the predecessor writes them.
fn canonical_raw() -> impl Strategy<Value = String> {
    let track = prop_oneof![Just("room"), Just("call")];
    let record = (track, 0_u64..6, 0_u64..u64::MAX, any::<String>(), 0.0_f32..=1.0);
    proptest::collection::vec(record, 0..12).prop_map(|records| {
        let records = records.into_iter().map(|(track, start_ms, end_ms, text, confidence)| {
            let text = serde_json::to_string(&text).unwrap();
            let confidence = serde_json::to_string(&confidence).unwrap();
            format!(
                r#"{{"track":"{track}","start_ms":{start_ms},"end_ms":{end_ms},"text":{text},"confidence":{confidence}}}"#
            ) + "\n"
        });
        records.collect()
    })
}

fn canonical_edits() -> impl Strategy<Value = String> {
    let track = prop_oneof![Just("room"), Just("call")];
    let by = prop_oneof![Just("user"), Just("diarize"), Just("somebody")];
    let at = (0_u32..4).prop_map(|minute| format!("2026-09-05T15:0{minute}:00+02:00"));
    let record = (0_u8..3, track, 0_u64..6, "[a-z]{1,3}", by, at, 0_u64..12);
    proptest::collection::vec(record, 0..16).prop_map(|records| {
        let records = records.into_iter().map(|(kind, track, start_ms, word, by, at, seq)| match kind {
            0 => speaker(track, start_ms, &word, by, &at),
            1 => repair(start_ms, &word, "!"),
            _ => revert(seq, by, &at),
        });
        records.collect()
    })
}

/// Anything that can be in such a file.
fn any_text(canonical: impl Strategy<Value = String>) -> impl Strategy<Value = Vec<u8>> {
    let other = prop_oneof![
        Just(b"\n".to_vec()),
        Just(b"{\"track\": \"room\", \"start_ms\": 1, \"end_ms\": 2, \"text\": \"spaced\", \"x\": 1}\r\n".to_vec()),
        Just(b"{\"kind\": \"speaker\", \"target\": {\"track\": \"room\", \"start_ms\": 1}, \"name\": \"A\", \"by\": \"u\"}\n".to_vec()),
        proptest::collection::vec(any::<u8>(), 0..12),
    ];
    let canonical = canonical.prop_map(String::into_bytes);
    (canonical, proptest::collection::vec(other, 0..4), any::<prop::sample::Index>()).prop_map(
        |(canonical, others, at)| {
            let mut lines: Vec<Vec<u8>> =
                canonical.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
            let at = at.index(lines.len() + 1);
            lines.splice(at..at, others);
            lines.concat()
        },
    )
}

fn there_and_back(raw: &[u8], edits: &[u8]) -> Result<(), TestCaseError> {
    let place = Place::new(raw, edits);
    let then = reading(&place.elsewhere(), ID);
    let imported = place.elsewhere_to_root().unwrap();
    let now = reading(&place.root(), ID);
    prop_assert_eq!(&then.lines, &now.lines, "it reads as before");
    prop_assert_eq!(then.lines.len() as u64, imported.lines);
    let files = exported(&place.root(), ID);
    prop_assert_eq!(files.lines, raw);
    prop_assert_eq!(files.edits, edits);
    prop_assert_eq!(files.description, DESCRIPTION.as_bytes());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn exporting_an_import_gives_the_same_bytes(raw in canonical_raw(), edits in canonical_edits()) {
        there_and_back(raw.as_bytes(), edits.as_bytes())?;
    }

    #[test]
    fn exporting_an_import_gives_the_same_bytes_whatever_they_are(
        raw in any_text(canonical_raw()), edits in any_text(canonical_edits())
    ) {
        there_and_back(&raw, &edits)?;
    }
}
