//! What the views answer about sessions of the predecessor's layout, on real directories: every rule
//! its clients rely on.

// The allowance for tests does not reach the functions that tests share.
#![allow(clippy::unwrap_used)]

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use ambient_engine::session::{PersonState, SessionPlace};
use ambient_engine::view::{
    LiveSession, ReadingQuery, SessionState, SessionSummary, Status, Transcript, ViewError, reading, rows,
    sessions, status, transcript,
};
use ambient_engine::{FixedClock, Track};
use serde_json::json;
use tempfile::TempDir;

const ROOM_0: &str = r#"{"track":"room","start_ms":0,"end_ms":1000,"text":"hello","confidence":0.9}"#;
const ROOM_5000: &str = r#"{"track":"room","start_ms":5000,"end_ms":6000,"text":"later","confidence":0.9}"#;
const CALL_0: &str = r#"{"track":"call","start_ms":0,"end_ms":1000,"text":"hi","confidence":0.9}"#;
/// A process number that no system gives out.
const DEAD_PID: &str = "2147483646";

/// A root with sessions made by hand, and a clock that stands still.
struct Root {
    place: TempDir,
    clock: FixedClock,
}

impl Root {
    fn new() -> Self {
        Self { place: tempfile::tempdir().unwrap(), clock: FixedClock(SystemTime::now()) }
    }

    fn path(&self) -> &Path {
        self.place.path()
    }

    /// Writes files below session `id`; a name may hold one folder.
    fn session(&self, id: &str, files: &[(&str, &str)]) -> PathBuf {
        let directory = self.path().join(id);
        fs::create_dir_all(&directory).unwrap();
        for (name, content) in files {
            let file = directory.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, content).unwrap();
        }
        directory
    }

    /// A session whose sound was last written `age` ago; later than now when `age` is negative.
    fn sounding(&self, id: &str, written_at: SystemTime) {
        let directory = self.session(id, &[("audio/room.native.wav", "RIFF")]);
        let file = File::options().write(true).open(directory.join("audio/room.native.wav")).unwrap();
        file.set_modified(written_at).unwrap();
    }

    fn now(&self) -> SystemTime {
        self.clock.0
    }

    fn status(&self) -> Status {
        status(self.path(), &self.clock).unwrap()
    }

    fn sessions(&self) -> Vec<SessionSummary> {
        sessions(self.path(), &self.clock).unwrap()
    }

    fn ids(&self) -> Vec<String> {
        self.sessions().into_iter().map(|summary| summary.id).collect()
    }

    fn summary(&self, id: &str) -> SessionSummary {
        self.sessions().into_iter().find(|summary| summary.id == id).unwrap()
    }

    fn transcript(&self, id: &str, since: u64) -> Result<Transcript, ViewError> {
        transcript(self.path(), id, since, false, &self.clock)
    }

    fn state(&self, id: &str) -> SessionState {
        let transcript = self.transcript(id, 0).unwrap();
        assert_eq!((transcript.lines.len(), transcript.next), (0, 0));
        transcript.state
    }

    fn person_state(&self, id: &str) -> PersonState {
        let rows = rows(self.path(), &self.clock).unwrap();
        rows.into_iter().find(|row| row.summary.id == id).unwrap().state
    }

    fn resolve(&self, word: &str) -> Result<String, ViewError> {
        SessionPlace::resolve(self.path(), word, &self.clock).map(|place| place.id)
    }
}

fn description(id: &str, started_at: &str) -> String {
    json!({"id": id, "name": null, "started_at": started_at, "ended_at": started_at, "duration_s": 12.5,
        "device_hz": 48000.0, "mic_hz": 44100, "channels": 2, "mic_channels": 1, "apps": [], "model": "m",
        "future": {"unknown": true}})
    .to_string()
}

fn finished(root: &Root, id: &str) -> PathBuf {
    let raw = format!("{ROOM_0}\n{ROOM_5000}\n");
    root.session(
        id,
        &[
            ("session.json", &description(id, "2026-09-05T12:00:00Z")),
            ("raw.jsonl", &raw),
            ("transcript.md", "# x"),
        ],
    )
}

#[test]
fn a_root_that_is_not_there_yet_has_no_sessions() {
    let root = Root::new();
    let missing = root.path().join("missing");
    assert_eq!(sessions(&missing, &root.clock).unwrap(), []);
    assert_eq!(
        status(&missing, &root.clock).unwrap(),
        Status { live: None, awaiting_transcript: 0, sessions: 0, recording: None }
    );
    let error = transcript(&missing, "nope", 0, false, &root.clock).unwrap_err();
    assert_eq!(error.to_string(), "no session nope");
}

#[test]
fn status_counts_what_a_listing_shows() {
    let root = Root::new();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("session.json"), "{}").unwrap();
    root.session("2026-09-05-1200", &[("session.json", "{}"), ("transcript.md", "")]);
    root.session("notes", &[("todo.txt", "")]);
    symlink(outside.path(), root.path().join("outside")).unwrap();
    fs::write(root.path().join("app.log"), "").unwrap();
    root.sounding("live", root.now());
    let live = Some(LiveSession { id: "live".into() });
    assert_eq!(root.status(), Status { live, awaiting_transcript: 0, sessions: 2, recording: None });
    assert_eq!(root.sessions().len(), 2);
}

#[test]
fn a_link_to_a_session_is_no_session() {
    let root = Root::new();
    finished(&root, "2026-09-05-1200");
    symlink("2026-09-05-1200", root.path().join("link")).unwrap();
    let recorded = Root::new();
    recorded.sounding("x", root.now());
    symlink(recorded.path().join("x"), root.path().join("seems-live")).unwrap();
    assert_eq!(root.ids(), ["2026-09-05-1200"]);
    assert_eq!(root.status().live, None);
    assert_eq!(root.transcript("link", 0).unwrap_err().to_string(), "no session link");
}

#[test]
fn a_finished_session_is_listed_and_read_from_any_line_on() {
    let root = Root::new();
    let directory = finished(&root, "2026-09-05-1200");
    assert_eq!(
        root.sessions(),
        [SessionSummary {
            id: "2026-09-05-1200".into(),
            dir: directory,
            name: None,
            started_at: Some("2026-09-05T12:00:00Z".into()),
            duration_s: Some(12.5),
            transcribed: true,
            live: false,
            transcribing: false,
            error: None,
            proof: None,
        }]
    );
    for (since, starts) in [(0, vec![0, 5000]), (1, vec![5000]), (2, vec![]), (9, vec![]), (u64::MAX, vec![])]
    {
        let reply = root.transcript("2026-09-05-1200", since).unwrap();
        let got: Vec<_> = reply.lines.iter().map(|line| line.start_ms).collect();
        assert_eq!((got, reply.next, reply.state), (starts, 2, SessionState::Done), "since {since}");
    }
}

#[test]
fn the_cursor_counts_lines_as_they_were_written() {
    let root = Root::new();
    root.session("s", &[("session.json", "{}"), ("raw.jsonl", &format!("{ROOM_5000}\n{CALL_0}\n"))]);
    let reply = root.transcript("s", 1).unwrap();
    assert_eq!((reply.lines[0].track, reply.lines[0].start_ms, reply.next), (Track::Call, 0, 2));
    let by_the_clock: Vec<_> = reading(root.path(), "s", &ReadingQuery::default(), &root.clock)
        .unwrap()
        .lines
        .iter()
        .map(|numbered| (numbered.index, numbered.line.start_ms))
        .collect();
    assert_eq!(by_the_clock, [(1, 0), (0, 5000)]);
}

#[test]
fn replies_have_the_keys_that_clients_know() {
    let root = Root::new();
    let edits =
        r#"{"kind":"speaker","target":{"track":"room","start_ms":0},"name":"Ana","by":"user","at":"x"}"#;
    root.session(
        "s",
        &[
            ("session.json", "{}"),
            ("raw.jsonl", &format!("{ROOM_0}\n")),
            ("edits.jsonl", &format!("{edits}\n")),
        ],
    );
    assert_eq!(
        serde_json::to_value(root.transcript("s", 0).unwrap()).unwrap(),
        json!({"session": "s", "state": "pending", "next": 1, "lines": [
            {"track": "room", "start_ms": 0, "end_ms": 1000, "speaker": "Ana", "text": "hello"}]})
    );
    assert_eq!(
        serde_json::to_value(root.sessions()).unwrap(),
        json!([{"id": "s", "dir": root.path().join("s"), "name": null, "started_at": null,
            "duration_s": null, "transcribed": false, "live": false, "transcribing": false, "error": null}])
    );
    assert_eq!(
        serde_json::to_value(root.status()).unwrap(),
        json!({"live": null, "awaiting_transcript": 0, "sessions": 1})
    );
}

#[test]
fn what_is_no_id_is_refused_before_the_disk_is_touched() {
    let root = Root::new();
    finished(&root, "x");
    for id in ["../x", "", ".", "..", "a/b", "/etc", "x/", "./x", "x\0"] {
        assert!(matches!(root.transcript(id, 0), Err(ViewError::NotAnId(_))), "{id:?}");
    }
    assert_eq!(root.transcript("../x", 0).unwrap_err().to_string(), "\"../x\" is not a session id");
    assert!(root.transcript("nope", 0).unwrap_err().to_string().contains("no session nope"));
    fs::write(root.path().join("file"), "").unwrap();
    assert!(matches!(root.transcript("file", 0), Err(ViewError::NoSession(_))));
    assert!(matches!(
        root.transcript(&"n".repeat(5000), 0),
        Err(ViewError::NoSession(_) | ViewError::Directory(_))
    ));
}

#[test]
fn links_inside_a_session_are_refused_by_name_wherever_they_are_planted() {
    for name in ["raw.jsonl", "edits.jsonl", "session.json"] {
        let root = Root::new();
        let directory =
            root.session("leak", &[("session.json", &description("leak", "2026-09-05T12:00:00Z"))]);
        let outside = root.path().join("outside.jsonl");
        fs::write(&outside, format!("{ROOM_0}\n")).unwrap();
        let _ = fs::remove_file(directory.join(name));
        symlink(&outside, directory.join(name)).unwrap();
        let refusal = format!("refusing symlink {}", directory.join(name).display());
        assert_eq!(root.transcript("leak", 0).unwrap_err().to_string(), refusal);
        let summary = root.summary("leak");
        assert_eq!(summary.error.as_deref(), Some(refusal.as_str()));
        assert_eq!((summary.name, summary.started_at, summary.duration_s), (None, None, None));
        assert_eq!(root.person_state("leak"), PersonState::Broken);
    }
}

#[test]
fn fifos_inside_a_session_block_nobody() {
    let root = Root::new();
    for name in ["raw.jsonl", "edits.jsonl", "session.json", "transcript.md", "transcribing.lock"] {
        let directory = root.session(name, &[("session.json", "{}")]);
        let _ = fs::remove_file(directory.join(name));
        assert!(Command::new("mkfifo").arg(directory.join(name)).status().unwrap().success());
        let reply = root.transcript(name, 0);
        if name.contains(".json") {
            assert!(reply.unwrap_err().to_string().contains("refusing symlink"), "{name}");
            assert!(root.summary(name).error.is_some(), "{name}");
        } else {
            assert_eq!(reply.unwrap().state, SessionState::Pending, "{name}");
        }
    }
    assert_eq!(root.status().sessions, 5);
}

#[test]
fn sound_behind_a_link_is_not_looked_at() {
    let root = Root::new();
    root.sounding("real", root.now());
    let directory = root.session("s", &[("session.json", "{}")]);
    symlink(root.path().join("real/audio"), directory.join("audio")).unwrap();
    assert_eq!(root.state("s"), SessionState::Pending);
    let linked_file = root.session("t", &[("session.json", "{}"), ("audio/x", "")]);
    symlink(root.path().join("real/audio/room.native.wav"), linked_file.join("audio/room.native.wav"))
        .unwrap();
    assert_eq!(root.state("t"), SessionState::Pending);
}

#[test]
fn sound_counts_as_growing_for_ten_seconds_and_never_from_the_future() {
    let root = Root::new();
    let second = Duration::from_secs(1);
    for (id, written_at, is_live) in [
        ("now", root.now(), true),
        ("nine", root.now() - 9 * second, true),
        ("ten", root.now() - 10 * second, false),
        ("future", root.now() + second, false),
    ] {
        root.sounding(id, written_at);
        assert_eq!(root.state(id) == SessionState::Live, is_live, "{id}");
        assert_eq!(root.ids().contains(&id.to_owned()), is_live, "{id}: only growing sound makes a session");
    }
}

#[test]
fn states_follow_the_files_in_their_order() {
    let root = Root::new();
    let own_pid = std::process::id().to_string();
    let all = [("session.json", "{}"), ("transcript.md", ""), ("transcribing.lock", own_pid.as_str())];
    root.session("live", &all);
    root.sounding("live", root.now());
    root.session("transcribing", &all);
    root.session("done", &[("session.json", "{}"), ("transcript.md", ""), ("transcribing.lock", DEAD_PID)]);
    root.session("pending", &[("session.json", "{}")]);
    for (id, state) in [
        ("live", SessionState::Live),
        ("transcribing", SessionState::Transcribing),
        ("done", SessionState::Done),
        ("pending", SessionState::Pending),
    ] {
        assert_eq!(root.state(id), state, "{id}");
        assert_eq!(root.person_state(id), state.into(), "{id}");
        let summary = root.summary(id);
        assert_eq!((summary.live, summary.transcribing), (id == "live", id == "transcribing"));
    }
}

#[test]
fn a_lock_that_names_nobody_is_no_lock() {
    let root = Root::new();
    for (id, content) in [
        ("a", DEAD_PID),
        ("b", ""),
        ("c", "0"),
        ("d", "-1"),
        ("e", "99999999999999"),
        ("f", "x"),
        ("g", "\u{fffd}"),
    ] {
        root.session(id, &[("session.json", "{}"), ("transcribing.lock", content)]);
        assert_eq!(root.state(id), SessionState::Pending, "{content:?}");
    }
    root.session("long", &[("session.json", "{}"), ("transcribing.lock", &" ".repeat(100))]);
    assert_eq!(root.state("long"), SessionState::Pending);
}

#[test]
fn awaiting_is_captured_sound_that_nobody_has_transcribed() {
    let root = Root::new();
    let own_pid = std::process::id().to_string();
    let wav = ("audio/room.wav", "RIFF");
    let json = ("session.json", "{}");
    root.session("in-1", &[wav, json]);
    root.session("in-2", &[("audio/call.wav", "RIFF"), json, ("raw.jsonl", &format!("{ROOM_0}\n"))]);
    root.session("in-3", &[wav, json, ("transcribing.lock", DEAD_PID)]);
    root.session("out-1", &[json, ("raw.jsonl", ""), ("transcript.md", "")]);
    root.session("out-2", &[wav]);
    root.session("out-3", &[wav, json, ("transcribing.lock", &own_pid)]);
    root.session("out-4", &[wav, json, ("transcript.md", "")]);
    root.session("out-5", &[wav, json]);
    root.sounding("out-5", root.now());
    assert_eq!(root.status().awaiting_transcript, 3);
}

#[test]
fn a_line_that_does_not_parse_is_refused_to_an_assistant_and_reported_to_a_person() {
    let root = Root::new();
    root.session("s", &[("session.json", "{}"), ("raw.jsonl", &format!("{ROOM_0}\nnot-json\n{CALL_0}\n"))]);
    let error = root.transcript("s", 0).unwrap_err().to_string();
    assert!(error.contains("raw.jsonl, line 2: "), "{error}");
    let reading = reading(root.path(), "s", &ReadingQuery::default(), &root.clock).unwrap();
    assert_eq!((reading.lines.len(), reading.warnings.len()), (2, 1));
    assert!(reading.warnings[0].contains("raw.jsonl, line 2: "));
}

#[test]
fn a_damaged_edit_keeps_nobody_from_the_verbatim() {
    let root = Root::new();
    root.session("s", &[("raw.jsonl", &format!("{ROOM_0}\n")), ("edits.jsonl", "nonsense\n")]);
    assert!(root.transcript("s", 0).unwrap_err().to_string().contains("edits.jsonl, line 1: "));
    assert_eq!(transcript(root.path(), "s", 0, true, &root.clock).unwrap().lines.len(), 1);
}

#[test]
fn broken_sessions_are_listed_with_their_error_and_live_ones_without_a_description() {
    let root = Root::new();
    root.session("a", &[("session.json", &description("a", "2026-09-05T12:00:00Z")), ("transcript.md", "")]);
    root.session("b", &[("session.json", &description("b", "2026-09-05T12:00:00Z"))]);
    root.session("c", &[("session.json", "{\"id\":")]);
    root.sounding("d", root.now());
    root.session("notes", &[]);
    fs::write(root.path().join("README"), "").unwrap();
    assert_eq!(root.ids(), ["d", "c", "b", "a"]);
    assert!(root.summary("c").error.unwrap().contains("session.json"));
    assert_eq!(root.person_state("c"), PersonState::Broken);
    let live = root.summary("d");
    assert!(live.live && live.error.is_none() && live.duration_s.is_none());
}

#[test]
fn a_session_that_may_not_be_opened_is_listed_and_a_folder_of_another_name_is_not() {
    let root = Root::new();
    for id in ["2026-09-05T1200", "private"] {
        let directory = root.session(id, &[("session.json", "{}")]);
        fs::set_permissions(&directory, Permissions::from_mode(0o000)).unwrap();
    }
    let closed = root.path().join("2026-09-05T1200");
    // The superuser may open everything.
    if fs::read_dir(&closed).is_err() {
        assert_eq!(root.ids(), ["2026-09-05T1200"]);
        assert!(root.summary("2026-09-05T1200").error.unwrap().contains("2026-09-05T1200"));
        assert_eq!(root.status().sessions, 1);
    }
    for id in ["2026-09-05T1200", "private"] {
        fs::set_permissions(root.path().join(id), Permissions::from_mode(0o700)).unwrap();
    }
}

#[test]
fn the_newest_by_start_comes_first_whatever_the_names_say() {
    let root = Root::new();
    for (id, started_at) in [
        ("2026-10-25T0230", "2026-10-25T02:30:00+02:00"),
        ("2026-10-25T0210", "2026-10-25T02:10:00+01:00"),
        ("a-name", "2026-11-01T00:00:00Z"),
        ("z-name", "2020-01-01T00:00:00Z"),
    ] {
        root.session(id, &[("session.json", &description(id, started_at))]);
    }
    assert_eq!(root.ids(), ["a-name", "2026-10-25T0210", "2026-10-25T0230", "z-name"]);
    assert_eq!(root.resolve("latest").unwrap(), "a-name");
}

#[test]
fn a_session_being_built_is_shown_nowhere() {
    let root = Root::new();
    root.session(".2026-09-05T1200.partial", &[("session.json", "{}")]);
    assert!(root.ids().is_empty());
    assert!(root.transcript(".2026-09-05T1200.partial", 0).is_err());
}

#[test]
fn a_session_is_named_by_id_beginning_path_or_latest() {
    let root = Root::new();
    for id in ["2026-09-05T1200", "2026-09-05T1200-02", "2026-09-06T0900"] {
        finished(&root, id);
    }
    assert_eq!(root.resolve("2026-09-05T1200").unwrap(), "2026-09-05T1200", "an id beats a beginning");
    assert_eq!(root.resolve("2026-09-06").unwrap(), "2026-09-06T0900");
    assert_eq!(root.resolve("latest").unwrap(), "2026-09-06T0900");
    match root.resolve("2026-09-05").unwrap_err() {
        ViewError::Ambiguous { candidates, .. } => {
            assert_eq!(candidates, ["2026-09-05T1200-02", "2026-09-05T1200"]);
        }
        other => panic!("{other}"),
    }
    assert!(matches!(root.resolve("2027"), Err(ViewError::NoSession(_))));
    assert!(matches!(root.resolve(""), Err(ViewError::NotAnId(_))));

    let path = root.path().join("2026-09-06T0900");
    let place =
        SessionPlace::resolve(Path::new("/nowhere"), &path.display().to_string(), &root.clock).unwrap();
    assert_eq!((place.root, place.id.as_str()), (root.path().canonicalize().unwrap(), "2026-09-06T0900"));
    symlink(&path, root.path().join("link")).unwrap();
    for link in ["link", "link/"] {
        let word = format!("{}/{link}", root.path().display());
        assert!(SessionPlace::resolve(Path::new("/nowhere"), &word, &root.clock).is_err(), "{word}");
    }
}
