//! What the views answer about sessions that have a log: states by locks and events, derived files that
//! are never believed against the log, and the same answers as for the other layout.

// The allowance for tests does not reach the functions that tests share.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use ambient_engine::session::{
    Directory, PersonState, SessionDirectory, SessionId, SessionMetadata, Work, WorkLock, write_derived_files,
};
use ambient_engine::view::{
    LiveSession, ReadingQuery, SessionState, SessionSummary, Status, Transcript, ViewError, reading, rows,
    sessions, status, transcript,
};
use ambient_engine::{
    Captured, CapturedTrack, Change, DeviceChange, DeviceNote, Durability, Edit, EditTarget, Event, Finished,
    Generation, Line, Mapping, MetaChange, ModelReference, Opened, Options, Origin, SystemClock, Track,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

struct Root(TempDir);

impl Root {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn directory(&self, id: &str) -> PathBuf {
        self.path().join(id)
    }

    /// A session with a log of these batches, closed.
    fn session(&self, id: &str, batches: &[Vec<Event>]) -> SessionDirectory {
        fs::create_dir(self.directory(id)).unwrap();
        let session = self.open(id);
        let mut log = session.create_log(Options::with_durability(Durability::Os)).unwrap();
        for batch in batches {
            log.append(batch).unwrap();
        }
        log.close().unwrap();
        session
    }

    fn append(&self, id: &str, events: &[Event]) {
        let mut log = self.open(id).open_log(Options::default()).unwrap();
        log.append(events).unwrap();
        log.close().unwrap();
    }

    fn open(&self, id: &str) -> SessionDirectory {
        let root = Directory::open(self.path()).unwrap();
        SessionDirectory::open(&root, &SessionId::new(id).unwrap()).unwrap().unwrap()
    }

    fn transcript(&self, id: &str, since: u64) -> Result<Transcript, ViewError> {
        transcript(self.path(), id, since, false, &SystemClock)
    }

    fn texts(&self, id: &str, since: u64) -> Vec<String> {
        self.transcript(id, since).unwrap().lines.into_iter().map(|line| line.text).collect()
    }

    fn summary(&self, id: &str) -> SessionSummary {
        let all = sessions(self.path(), &SystemClock).unwrap();
        all.into_iter().find(|summary| summary.id == id).unwrap()
    }

    /// The word for programs and the word for people.
    fn states(&self, id: &str) -> (SessionState, PersonState) {
        let rows = rows(self.path(), &SystemClock).unwrap();
        let row = rows.into_iter().find(|row| row.summary.id == id).unwrap();
        (self.transcript(id, 0).unwrap().state, row.state)
    }

    fn status(&self) -> Status {
        status(self.path(), &SystemClock).unwrap()
    }
}

fn opened(id: &str, started_at: &str) -> Event {
    Event::Opened(Opened {
        id: id.into(),
        name: Some("Roadmap sync".into()),
        started_at: started_at.into(),
        origin: Origin::Transcribed,
        program: "ambient 0.1.0".into(),
        tracks: vec![],
    })
}

fn captured() -> Event {
    let track = |track, rate_hz, samples| CapturedTrack {
        track,
        rate_hz,
        channels: 2,
        samples,
        silent_ms: 0,
        padded_ms: 0,
    };
    Event::Captured(Captured {
        ended_at: "2026-09-05T14:31:47+02:00".into(),
        tracks: vec![track(Track::Room, 48_000, 24_000), track(Track::Call, 16_000, 200_000)],
        warnings: vec!["the room is silent".into()],
    })
}

fn generation(number: u32) -> Event {
    Event::Generation(Generation {
        number,
        recognizer: "whisper".into(),
        model: ModelReference { name: "tiny.en".into(), sha256: String::new() },
        voice_activity: "silero".into(),
        language: None,
    })
}

fn finished() -> Event {
    Event::Finished(Finished { at: "2026-09-05T14:40:00+02:00".into(), warnings: vec![] })
}

fn line(track: Track, start_ms: u64, text: &str) -> Event {
    Event::Line(Line {
        track,
        start_ms,
        end_ms: start_ms + 1000,
        text: text.into(),
        confidence: 0.5,
        language: None,
        generation: 0,
        audio: None,
        overlap: false,
    })
}

fn edit(line: u64, by: &str, change: Change) -> Event {
    Event::Edit(Edit { line, by: by.into(), change })
}

fn speaker(line: u64, by: &str, name: &str) -> Event {
    edit(line, by, Change::Speaker { name: name.into() })
}

fn whole(id: &str) -> Vec<Vec<Event>> {
    vec![
        vec![opened(id, "2026-09-05T14:12:03+02:00"), captured(), generation(0)],
        vec![line(Track::Room, 5000, "later"), line(Track::Call, 0, "first")],
        vec![finished()],
    ]
}

#[test]
fn a_session_is_listed_from_its_log_alone() {
    let root = Root::new();
    root.session("s", &whole("s"));
    assert_eq!(
        root.summary("s"),
        SessionSummary {
            id: "s".into(),
            dir: root.directory("s"),
            name: Some("Roadmap sync".into()),
            started_at: Some("2026-09-05T14:12:03+02:00".into()),
            duration_s: Some(12.5),
            transcribed: true,
            live: false,
            transcribing: false,
            error: None,
            proof: None,
        }
    );
    assert_eq!(root.states("s"), (SessionState::Done, PersonState::Done));
}

#[test]
fn derived_files_can_be_deleted_and_come_back_the_same() {
    let root = Root::new();
    let session = root.session("s", &whole("s"));
    let before = root.summary("s");
    write_derived_files(&session).unwrap();
    assert_eq!(root.summary("s"), before);
    let files = ["session.json", "transcript.md"].map(|name| root.directory("s").join(name));
    let derived = files.clone().map(|file| fs::read_to_string(file).unwrap());
    for file in &files {
        fs::remove_file(file).unwrap();
    }
    assert_eq!(root.summary("s"), before);
    assert_eq!(root.texts("s", 0), ["later", "first"]);
    write_derived_files(&session).unwrap();
    assert_eq!(files.map(|file| fs::read_to_string(file).unwrap()), derived);
    assert!(derived[1].contains("# Roadmap sync\n\n**[00:00] call**\nfirst\n\n**[00:05] room**\nlater\n"));
}

#[test]
fn the_description_has_the_known_keys_in_their_order() {
    let root = Root::new();
    let session = root.session("s", &whole("s"));
    write_derived_files(&session).unwrap();
    let text = fs::read_to_string(root.directory("s").join("session.json")).unwrap();
    let keys: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("  \"")?.split_once("\": ").map(|(key, _)| key))
        .collect();
    assert_eq!(
        keys[..15],
        [
            "id",
            "name",
            "started_at",
            "ended_at",
            "duration_s",
            "device_hz",
            "mic_hz",
            "channels",
            "mic_channels",
            "apps",
            "model",
            "warnings",
            "tags",
            "notes",
            "pinned",
        ]
    );
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&value["device_hz"], &value["mic_hz"]), (&json!(16_000), &json!(48_000)));
    assert_eq!((&value["model"], &value["warnings"]), (&json!("tiny.en"), &json!(["the room is silent"])));
    assert!(!text.ends_with('\n'));
}

#[test]
fn a_description_is_not_believed_against_the_log() {
    let root = Root::new();
    let unfinished = &whole("s")[..2];
    let session = root.session("s", unfinished);
    let lies = [
        json!({"id": "s", "name": "lie", "finished_at": "2026-09-05T14:40:00+02:00"}).to_string(),
        json!({"name": "lie", "finished_at": "x", "log": "1-0000"}).to_string(),
        "{\"id\":".to_owned(),
        String::new(),
    ];
    for lie in lies {
        fs::write(root.directory("s").join("session.json"), lie).unwrap();
        fs::write(root.directory("s").join("transcript.md"), "# done").unwrap();
        assert_eq!(root.summary("s").name.as_deref(), Some("Roadmap sync"));
        assert_eq!(root.states("s").0, SessionState::Pending);
    }
    // What held once does not hold after another event.
    write_derived_files(&session).unwrap();
    root.append("s", &[Event::Meta(MetaChange::Name(Some("Renamed".into()))), finished()]);
    assert_eq!(root.summary("s").name.as_deref(), Some("Renamed"));
    assert_eq!(root.states("s").0, SessionState::Done);
}

#[test]
fn a_description_of_another_log_is_not_believed() {
    let root = Root::new();
    write_derived_files(&root.session("done", &whole("done"))).unwrap();
    root.session("open", &whole("open")[..2]);
    fs::copy(root.directory("done").join("session.json"), root.directory("open").join("session.json"))
        .unwrap();
    assert_eq!(root.states("open").0, SessionState::Pending);
}

#[test]
fn a_link_in_the_place_of_a_derived_file_is_neither_read_nor_written_through() {
    let root = Root::new();
    let session = root.session("s", &whole("s"));
    let outside = root.path().join("outside");
    fs::write(&outside, "{\"name\":\"outside\"}").unwrap();
    for name in ["session.json", "transcript.md"] {
        symlink(&outside, root.directory("s").join(name)).unwrap();
    }
    assert_eq!(root.summary("s").name.as_deref(), Some("Roadmap sync"));
    write_derived_files(&session).unwrap();
    assert_eq!(fs::read_to_string(&outside).unwrap(), "{\"name\":\"outside\"}");
}

#[test]
fn what_is_going_on_is_told_by_locks_and_events() {
    let root = Root::new();
    let begun = root.session("begun", &whole("begun")[..2]);
    root.session("taken-in", &whole("taken-in")[..1]);
    let mut recorded = whole("captured")[..1].to_vec();
    for batch in &mut recorded {
        // Nobody has begun to recognise what was said.
        batch.retain(|event| !matches!(event, Event::Generation(_)));
        for event in batch {
            if let Event::Opened(opened) = event {
                opened.origin = Origin::Recorded;
            }
        }
    }
    let captured = root.session("captured", &recorded);
    root.session("cut-off", &[vec![opened("cut-off", "2026-09-05T14:12:03+02:00")]]);
    root.session("done", &whole("done"));
    assert_eq!(root.states("begun"), (SessionState::Pending, PersonState::Interrupted));
    assert_eq!(root.states("taken-in"), (SessionState::Pending, PersonState::Interrupted));
    assert_eq!(root.states("captured"), (SessionState::Pending, PersonState::Pending));
    assert_eq!(root.states("cut-off"), (SessionState::Pending, PersonState::Interrupted));
    assert_eq!(root.status(), Status { live: None, awaiting_transcript: 4, sessions: 5, recording: None });

    let recording = WorkLock::hold(&begun, Work::Recording).unwrap();
    let transcribing = WorkLock::hold(&captured, Work::Transcribing).unwrap();
    assert_eq!(root.states("begun"), (SessionState::Live, PersonState::Live));
    assert_eq!(root.states("captured"), (SessionState::Transcribing, PersonState::Transcribing));
    assert!(root.summary("begun").live && root.summary("captured").transcribing);
    let live = Some(LiveSession { id: "begun".into() });
    assert_eq!(root.status(), Status { live, awaiting_transcript: 2, sessions: 5, recording: None });
    drop((recording, transcribing));
    assert_eq!(root.states("begun").1, PersonState::Interrupted);
}

#[test]
fn a_later_run_of_recognition_makes_a_finished_session_unfinished() {
    let root = Root::new();
    root.session("s", &whole("s"));
    root.append("s", &[generation(1)]);
    assert_eq!(root.states("s"), (SessionState::Pending, PersonState::Interrupted));
}

#[test]
fn lines_are_counted_as_written_and_hidden_ones_too() {
    let root = Root::new();
    root.session("s", &whole("s"));
    root.append(
        "s",
        &[
            line(Track::Room, 7000, "copy"),
            edit(2, "bleed", Change::Hide { reason: "bleed".into() }),
            speaker(0, Edit::PERSON, "Ana"),
            speaker(0, "diarize", "room-1"),
        ],
    );
    for (since, texts) in [(0, vec!["later", "first"]), (1, vec!["first"]), (2, vec![]), (9, vec![])] {
        let reply = root.transcript("s", since).unwrap();
        let got: Vec<_> = reply.lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!((got, reply.next), (texts, 3), "since {since}");
    }
    assert_eq!(root.transcript("s", u64::MAX).unwrap().next, 3);
    assert_eq!(root.transcript("s", 0).unwrap().lines[0].speaker.as_deref(), Some("Ana"));
    let verbatim = transcript(root.path(), "s", 0, true, &SystemClock).unwrap();
    assert_eq!(verbatim.lines.len(), 3);
    assert!(verbatim.lines.iter().all(|line| line.speaker.is_none()));
}

#[test]
fn a_person_reads_by_the_clock_with_confidence() {
    let root = Root::new();
    root.session("s", &whole("s"));
    let reading = reading(root.path(), "s", &ReadingQuery::default(), &SystemClock).unwrap();
    let lines: Vec<_> = reading.lines.iter().map(|line| (line.index, line.line.start_ms)).collect();
    assert_eq!(lines, [(1, 0), (0, 5000)]);
    assert!(reading.lines.iter().all(|line| (line.confidence - 0.5).abs() < f32::EPSILON));
    let SessionMetadata { name, model, ended_at, lines, .. } = reading.metadata.unwrap();
    assert_eq!((name.as_deref(), model.as_str(), lines), (Some("Roadmap sync"), "tiny.en", Some(2)));
    assert_eq!(ended_at.as_deref(), Some("2026-09-05T14:31:47+02:00"));
}

#[test]
fn a_cursor_is_handed_out_for_durable_lines_only() {
    let root = Root::new();
    fs::create_dir(root.directory("s")).unwrap();
    let mut log = root.open("s").create_log(Options::with_durability(Durability::Os)).unwrap();
    log.append(&[opened("s", "2026-09-05T14:12:03+02:00")]).unwrap();
    log.flush().unwrap();
    log.append(&[line(Track::Room, 0, "not yet on the disk")]).unwrap();
    let reply = root.transcript("s", 0).unwrap();
    assert_eq!((reply.next, reply.lines.len()), (0, 0));
    log.flush().unwrap();
    let reply = root.transcript("s", reply.next).unwrap();
    assert_eq!((reply.next, reply.lines.len()), (1, 1));
}

#[test]
fn what_a_person_wrote_about_a_session_is_described() {
    let root = Root::new();
    let session = root.session("s", &whole("s"));
    root.append(
        "s",
        &[
            Event::Meta(MetaChange::Tag("1:1".into())),
            Event::Meta(MetaChange::Tag("budget".into())),
            Event::Meta(MetaChange::Tag("budget".into())),
            Event::Meta(MetaChange::Untag("1:1".into())),
            Event::Meta(MetaChange::Untag("absent".into())),
            Event::Meta(MetaChange::Notes("ask Ana".into())),
            Event::Meta(MetaChange::Pin(true)),
            Event::Meta(MetaChange::Name(None)),
        ],
    );
    write_derived_files(&session).unwrap();
    let metadata =
        reading(root.path(), "s", &ReadingQuery::default(), &SystemClock).unwrap().metadata.unwrap();
    assert_eq!((metadata.tags, metadata.notes.as_str()), (vec!["budget".to_owned()], "ask Ana"));
    assert!(metadata.pinned && metadata.name.is_none());
}

#[test]
fn a_damaged_log_is_listed_with_its_error_and_refused() {
    let root = Root::new();
    root.session("s", &whole("s"));
    root.session("sound", &whole("sound"));
    let segment = root.directory("s").join("log/0000000000.seg");
    fs::write(&segment, b"not a segment").unwrap();
    let summary = root.summary("s");
    assert!(summary.error.unwrap().contains("0000000000.seg"));
    assert!(root.transcript("s", 0).is_err());
    assert_eq!(rows(root.path(), &SystemClock).unwrap()[0].state, PersonState::Broken);
    assert_eq!(root.status(), Status { live: None, awaiting_transcript: 0, sessions: 2, recording: None });
}

#[test]
fn links_in_the_place_of_the_log_lead_nowhere() {
    let root = Root::new();
    root.session("real", &whole("real"));
    fs::create_dir(root.directory("linked")).unwrap();
    fs::write(root.directory("linked").join("session.json"), "{}").unwrap();
    symlink(root.directory("real").join("log"), root.directory("linked").join("log")).unwrap();
    root.session("segment", &whole("segment"));
    let segment = root.directory("segment").join("log/0000000000.seg");
    fs::remove_file(&segment).unwrap();
    symlink(root.directory("real").join("log/0000000000.seg"), &segment).unwrap();
    for (id, link) in [("linked", root.directory("linked").join("log")), ("segment", segment)] {
        let refusal = format!("refusing symlink {}", link.display());
        assert_eq!(root.transcript(id, 0).unwrap_err().to_string(), refusal);
        assert_eq!(root.summary(id).error, Some(refusal));
    }
}

#[test]
fn fifos_in_the_place_of_any_file_block_nobody() {
    let root = Root::new();
    for name in [
        "log/0000000000.seg",
        "log/head",
        "log/lines.idx",
        "recording.lock",
        "transcribing.lock",
        "session.json",
    ] {
        let id = name.replace('/', "-");
        root.session(&id, &whole(&id));
        let planted = root.directory(&id).join(name);
        let _ = fs::remove_file(&planted);
        assert!(Command::new("mkfifo").arg(&planted).status().unwrap().success());
        let answer = root.transcript(&id, 0);
        assert_eq!(answer.is_ok(), root.summary(&id).error.is_none(), "{name}: {answer:?}");
    }
    assert_eq!(root.status().sessions, 6);
}

#[test]
fn a_folder_that_happens_to_be_called_log_is_no_session() {
    let root = Root::new();
    fs::create_dir_all(root.directory("project/log")).unwrap();
    fs::write(root.directory("project/log/today.txt"), "x").unwrap();
    fs::create_dir_all(root.directory("other")).unwrap();
    fs::write(root.directory("other/log"), "x").unwrap();
    assert_eq!(root.status().sessions, 0);
}

/// An edit as a test says it, for either layout.
#[derive(Clone, Debug)]
enum Said {
    Speaker {
        line: u64,
        name: &'static str,
        by: &'static str,
    },
    Repair {
        line: u64,
        from: &'static str,
        to: &'static str,
        by: &'static str,
    },
    /// Takes back the edit with that number, if it is one and came before.
    Revert {
        target: usize,
        by: &'static str,
    },
}

fn any_edit(lines: u64) -> impl Strategy<Value = Said> {
    let by = || prop_oneof![Just(Edit::PERSON), Just("diarize"), Just("ana")];
    let words = || prop_oneof![Just("a"), Just("b"), Just("line"), Just("ab")];
    prop_oneof![
        (0..lines, words(), by()).prop_map(|(line, name, by)| Said::Speaker { line, name, by }),
        (0..lines, words(), words(), by()).prop_map(|(line, from, to, by)| Said::Repair {
            line,
            from,
            to,
            by
        }),
        (0..12_usize, by()).prop_map(|(target, by)| Said::Revert { target, by }),
    ]
}

/// The edits as a log has them. A revert of what is not there, or of a revert, has no place in a log.
fn append_edits(session: &SessionDirectory, said: &[Said]) {
    let mut log = session.open_log(Options::with_durability(Durability::Os)).unwrap();
    for (number, one) in said.iter().enumerate() {
        let event = match *one {
            Said::Speaker { line, name, by } => speaker(line, by, name),
            Said::Repair { line, from, to, by } => {
                edit(line, by, Change::Repair { from: from.into(), to: to.into() })
            }
            Said::Revert { target, by } => match said.get(target).filter(|_| target < number) {
                Some(Said::Speaker { line, .. } | Said::Repair { line, .. }) => {
                    let edits: Vec<_> = session
                        .read_log(Mapping::On)
                        .unwrap()
                        .snapshot()
                        .unwrap()
                        .events()
                        .unwrap()
                        .into_iter()
                        .filter(|recorded| matches!(recorded.event, Event::Edit(_) | Event::Device(_)))
                        .collect();
                    let named = &edits[target];
                    let target = EditTarget { position: named.position, seq: named.seq };
                    edit(*line, by, Change::Revert { target })
                }
                // Keeps the numbers of both layouts alike.
                _ => nothing(),
            },
        };
        log.append(&[event]).unwrap();
    }
    log.close().unwrap();
}

fn nothing() -> Event {
    Event::Device(DeviceNote { track: Track::Room, at_ms: 0, change: DeviceChange::Lost })
}

fn edit_lines(said: &[Said]) -> String {
    let place = |line: u64| json!({"track": "room", "start_ms": line * 1000});
    said.iter()
        .map(|one| {
            let record = match *one {
                Said::Speaker { line, name, by } => {
                    json!({"kind": "speaker", "target": place(line), "name": name, "by": by, "at": "x"})
                }
                Said::Repair { line, from, to, by } => json!({"kind": "repair", "target": place(line),
                    "from": from, "to": to, "by": by, "at": "x"}),
                Said::Revert { target, by } => {
                    json!({"kind": "revert", "target_seq": target, "by": by, "at": "x"})
                }
            };
            record.to_string() + "\n"
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn both_layouts_give_the_same_answer(
        said in proptest::collection::vec(any_edit(4), 0..12),
        since in 0_u64..6,
        is_verbatim: bool,
    ) {
        let root = Root::new();
        let lines: Vec<_> = (0..4).map(|number| line(Track::Room, number * 1000, "a line ab")).collect();
        let session = root.session("native", &[vec![opened("native", "x"), finished()], lines]);
        append_edits(&session, &said);

        let directory = root.directory("jsonl");
        fs::create_dir(&directory).unwrap();
        let raw: String = (0..4)
            .map(|number| json!({"track": "room", "start_ms": number * 1000, "end_ms": number * 1000 + 1000,
                "text": "a line ab"}).to_string() + "\n")
            .collect();
        fs::write(directory.join("raw.jsonl"), raw).unwrap();
        fs::write(directory.join("edits.jsonl"), edit_lines(&said)).unwrap();
        fs::write(directory.join("transcript.md"), "").unwrap();

        let answer = |id: &str| {
            let mut answer = transcript(root.path(), id, since, is_verbatim, &SystemClock).unwrap();
            answer.session = String::new();
            answer
        };
        prop_assert_eq!(answer("native"), answer("jsonl"));
    }
}
