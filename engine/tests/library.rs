//! A library answers as a fresh look would, whatever it has kept: pages add up, a client that follows with a
//! cursor knows how everything reads, and what is kept is used for nothing but what it came from.

// The allowance for tests does not reach the functions that tests share.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use ambient_engine::session::{Directory, SessionDirectory, SessionId, Work, WorkLock};
use ambient_engine::view::{
    Library, LiveSession, PageLine, ReadFrom, SessionState, SessionsQuery, Transcript, TranscriptQuery,
    ViewError, Wording,
};
use ambient_engine::{
    Change, Durability, Edit, Event, Finished, FixedClock, Line, Log, MetaChange, Opened, Options, Origin,
    SystemClock, Track,
};
use proptest::prelude::*;
use tempfile::TempDir;

const ID: &str = "2026-09-05T1200";

/// A session that grows, in either layout.
trait Growing {
    fn add_line(&mut self, text: &str, start_ms: u64);
    fn add_name(&mut self, start_ms: u64, line: u64, name: &str);
    /// Not every layout can; false if it cannot.
    fn hide(&mut self, line: u64) -> bool;
}

struct InLog(Log);

impl InLog {
    fn begin(root: &Path, id: &str) -> Self {
        fs::create_dir(root.join(id)).unwrap();
        let mut log = Log::create(&root.join(id), Options::with_durability(Durability::Os)).unwrap();
        log.append(&[opened(id)]).unwrap();
        Self(log)
    }

    fn append(&mut self, event: Event) {
        self.0.append(&[event]).unwrap();
        self.0.flush().unwrap();
    }
}

impl Growing for InLog {
    fn add_line(&mut self, text: &str, start_ms: u64) {
        self.append(line(text, start_ms));
    }

    fn add_name(&mut self, _: u64, line: u64, name: &str) {
        let change = Change::Speaker { name: name.to_owned() };
        self.append(Event::Edit(Edit { line, by: Edit::PERSON.to_owned(), change }));
    }

    fn hide(&mut self, line: u64) -> bool {
        let change = Change::Hide { reason: "bleed".to_owned() };
        self.append(Event::Edit(Edit { line, by: "bleed".to_owned(), change }));
        true
    }
}

struct InFiles(PathBuf);

impl InFiles {
    fn begin(root: &Path, id: &str) -> Self {
        fs::create_dir(root.join(id)).unwrap();
        fs::write(root.join(id).join("session.json"), format!("{{\"id\":\"{id}\"}}")).unwrap();
        Self(root.join(id))
    }

    fn append(&self, name: &str, record: &str) {
        let mut file = OpenOptions::new().append(true).create(true).open(self.0.join(name)).unwrap();
        writeln!(file, "{record}").unwrap();
    }
}

impl Growing for InFiles {
    fn add_line(&mut self, text: &str, start_ms: u64) {
        let end_ms = start_ms + 900;
        let record = format!(
            r#"{{"track":"room","start_ms":{start_ms},"end_ms":{end_ms},"text":"{text}","confidence":0.9}}"#
        );
        self.append("raw.jsonl", &record);
    }

    fn add_name(&mut self, start_ms: u64, _: u64, name: &str) {
        let target = format!(r#"{{"track":"room","start_ms":{start_ms}}}"#);
        self.append(
            "edits.jsonl",
            &format!(r#"{{"kind":"speaker","target":{target},"name":"{name}","by":"user"}}"#),
        );
    }

    fn hide(&mut self, _: u64) -> bool {
        false
    }
}

fn opened(id: &str) -> Event {
    Event::Opened(Opened {
        id: id.to_owned(),
        name: Some("Weekly sync".to_owned()),
        started_at: "2026-09-05T12:00:00Z".to_owned(),
        origin: Origin::Recorded,
        program: "test".to_owned(),
        tracks: vec![],
    })
}

fn line(text: &str, start_ms: u64) -> Event {
    Event::Line(Line {
        track: Track::Room,
        start_ms,
        end_ms: start_ms + 900,
        text: text.to_owned(),
        confidence: 0.9,
        language: None,
        generation: 0,
        audio: None,
        overlap: false,
    })
}

fn finished() -> Event {
    Event::Finished(Finished { at: "2026-09-05T13:00:00Z".to_owned(), warnings: vec![] })
}

fn ask(library: &Library, query: TranscriptQuery<'_>) -> Result<Transcript, ViewError> {
    library.open(ID)?.transcript(query, &SystemClock)
}

fn since(library: &Library, since: u64) -> Transcript {
    ask(library, TranscriptQuery { from: ReadFrom::Line(since), ..TranscriptQuery::default() }).unwrap()
}

fn behind(library: &Library, cursor: &str) -> Result<Transcript, ViewError> {
    ask(library, TranscriptQuery { from: ReadFrom::Cursor(cursor), ..TranscriptQuery::default() })
}

/// What a client knows that follows with a cursor.
#[derive(Default)]
struct Client {
    cursor: String,
    lines: BTreeMap<u64, PageLine>,
    has_more: bool,
}

impl Client {
    fn poll(&mut self, library: &Library, limit: Option<u64>, max_chars: Option<u64>) {
        let from = ReadFrom::Cursor(&self.cursor);
        let query = TranscriptQuery { from, limit, max_chars, ..TranscriptQuery::default() };
        let reply = ask(library, query).unwrap();
        let changed = reply.changed.unwrap();
        let told = reply.lines.len() + changed.len();
        assert!(limit.is_none_or(|limit| told as u64 <= limit));
        let chars: usize = reply.lines.iter().chain(&changed).map(|line| line.text.chars().count()).sum();
        assert!(max_chars.is_none_or(|max_chars| chars as u64 <= max_chars));
        for line in changed {
            match line.hidden {
                Some(true) => drop(self.lines.remove(&line.line.unwrap())),
                _ => drop(self.lines.insert(line.line.unwrap(), PageLine { hidden: None, ..line })),
            }
        }
        for line in reply.lines {
            assert!(self.lines.insert(line.line.unwrap(), line).is_none(), "a new line comes once");
        }
        self.has_more = reply.more.unwrap_or(false);
        self.cursor = reply.cursor.unwrap();
    }
}

#[derive(Clone, Debug)]
enum Step {
    Line(String),
    Name(prop::sample::Index, char),
    Hide(prop::sample::Index),
    Poll(Option<u64>, Option<u64>),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => "[a-cé]{1,9}".prop_map(Step::Line),
        2 => (any::<prop::sample::Index>(), prop::char::range('X', 'Z')).prop_map(|(at, name)| Step::Name(at, name)),
        2 => any::<prop::sample::Index>().prop_map(Step::Hide),
        2 => (prop::option::of(1_u64..4), prop::option::of(10_u64..30)).prop_map(|(limit, chars)| Step::Poll(limit, chars)),
    ];
    prop::collection::vec(step, 0..40)
}

fn follow(root: &TempDir, session: &mut dyn Growing, steps: &[Step]) {
    let library = Library::new(root.path());
    let mut client = Client::default();
    let mut lines = 0_u64;
    let one_of = |at: &prop::sample::Index, lines: u64| at.index(usize::try_from(lines).unwrap()) as u64;
    for step in steps {
        match step {
            Step::Line(text) => {
                session.add_line(text, 1000 * lines);
                lines += 1;
            }
            Step::Name(at, name) if lines > 0 => {
                let line = one_of(at, lines);
                session.add_name(1000 * line, line, &name.to_string());
            }
            Step::Hide(at) if lines > 0 => {
                session.hide(one_of(at, lines));
            }
            Step::Poll(limit, max_chars) => client.poll(&library, *limit, *max_chars),
            Step::Name(..) | Step::Hide(_) => {}
        }
    }
    client.poll(&library, Some(2), None);
    while client.has_more {
        client.poll(&library, Some(2), None);
    }
    let known: Vec<_> = client.lines.into_values().map(|line| PageLine { line: None, ..line }).collect();
    for library in [&library, &Library::new(root.path())] {
        assert_eq!(since(library, 0).lines, known);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn who_follows_a_log_with_a_cursor_knows_how_everything_reads(steps in steps()) {
        let root = tempfile::tempdir().unwrap();
        follow(&root, &mut InLog::begin(root.path(), ID), &steps);
    }

    #[test]
    fn who_follows_files_with_a_cursor_knows_how_everything_reads(steps in steps()) {
        let root = tempfile::tempdir().unwrap();
        follow(&root, &mut InFiles::begin(root.path(), ID), &steps);
    }

    /// Whatever the limits, parts read one after the other are the whole.
    #[test]
    fn parts_add_up_to_the_whole(
        texts in prop::collection::vec("[a-cé]{1,9}", 0..30),
        hidden in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        limit in prop::option::of(1_u64..5),
        max_chars in prop::option::of(9_u64..40),
        is_verbatim: bool,
    ) {
        let root = tempfile::tempdir().unwrap();
        let mut session = InLog::begin(root.path(), ID);
        (0..).zip(&texts).for_each(|(index, text)| session.add_line(text, 1000 * index));
        for at in hidden.iter().filter(|_| !texts.is_empty()) {
            session.hide(at.index(texts.len()) as u64);
        }
        let library = Library::new(root.path());
        let wording = if is_verbatim { Wording::Heard } else { Wording::Now };
        let whole = TranscriptQuery { wording, ..TranscriptQuery::default() };
        let whole = ask(&library, whole).unwrap();
        prop_assert_eq!((whole.more, whole.next), (None, texts.len() as u64));
        let (mut lines, mut next) = (Vec::new(), 0);
        loop {
            let from = ReadFrom::Line(next);
            let part = TranscriptQuery { from, wording, limit, max_chars, ..TranscriptQuery::default() };
            let part = ask(&library, part).unwrap();
            prop_assert!(limit.is_none_or(|limit| part.lines.len() as u64 <= limit));
            lines.extend(part.lines);
            let has_more = part.more.unwrap_or(false);
            prop_assert!(!has_more || part.next > next, "each part gets on");
            next = part.next;
            if !has_more {
                break;
            }
        }
        prop_assert_eq!(lines, whole.lines);
        prop_assert_eq!(next, whole.next);
    }
}

#[test]
fn a_hidden_line_is_told_as_changed_without_its_words() {
    let root = tempfile::tempdir().unwrap();
    let mut session = InLog::begin(root.path(), ID);
    session.add_line("secret", 0);
    let library = Library::new(root.path());
    let cursor = behind(&library, "").unwrap().cursor.unwrap();
    session.add_name(0, 0, "Priya");
    session.hide(0);
    let reply = behind(&library, &cursor).unwrap();
    let changed = &reply.changed.unwrap()[0];
    assert_eq!((changed.line, changed.hidden, changed.text.as_str()), (Some(0), Some(true), ""));
    assert_eq!(changed.speaker, None);
    assert_eq!((reply.lines, reply.next), (vec![], 1));
}

#[test]
fn a_cursor_that_names_nothing_here_is_lost_in_either_layout() {
    for is_log in [true, false] {
        let root = tempfile::tempdir().unwrap();
        let begin = |root: &Path| -> Box<dyn Growing> {
            if is_log { Box::new(InLog::begin(root, ID)) } else { Box::new(InFiles::begin(root, ID)) }
        };
        let mut session = begin(root.path());
        session.add_line("one", 0);
        session.add_line("two", 1000);
        let library = Library::new(root.path());
        let cursor = behind(&library, "").unwrap().cursor.unwrap();
        let short = cursor[1..].to_owned();
        let other = {
            let elsewhere = tempfile::tempdir().unwrap();
            let mut session = begin(elsewhere.path());
            session.add_line("other", 0);
            behind(&Library::new(elsewhere.path()), "").unwrap().cursor.unwrap()
        };
        for lost in [short.as_str(), &other, "x", "é", "j", &"0".repeat(56), &"f".repeat(49)] {
            let refused = behind(&library, lost).unwrap_err();
            assert!(matches!(refused, ViewError::CursorLost(_)), "{lost}: {refused}");
            assert!(refused.to_string().starts_with("cursor lost"));
        }
        drop(session);
        fs::remove_dir_all(root.path().join(ID)).unwrap();
        let mut session = begin(root.path());
        session.add_line("one", 0);
        session.add_line("three", 1000);
        assert!(matches!(behind(&library, &cursor), Err(ViewError::CursorLost(_))));
        assert_eq!(since(&library, 1).lines[0].text, "three");
    }
}

#[test]
fn a_poll_of_files_reads_only_what_is_new() {
    let root = tempfile::tempdir().unwrap();
    let mut session = InFiles::begin(root.path(), ID);
    (0..1000).for_each(|index| session.add_line("some words", 1000 * index));
    let library = Library::new(root.path());
    assert_eq!(since(&library, 1000).next, 1000);
    // Whoever reads this again notices that it is no record any more.
    let raw = OpenOptions::new().write(true).open(root.path().join(ID).join("raw.jsonl")).unwrap();
    raw.write_all_at(b"xxxx", 0).unwrap();
    session.add_line("more", 1_000_000);
    assert_eq!(since(&library, 1000).lines[0].text, "more");
    assert_eq!(behind(&library, "").unwrap().next, 1001);
    let fresh = Library::new(root.path());
    assert!(matches!(
        fresh.open(ID).unwrap().transcript(TranscriptQuery::default(), &SystemClock),
        Err(ViewError::Damaged(_))
    ));
}

#[test]
fn a_session_that_took_another_ones_place_is_read_anew() {
    let root = tempfile::tempdir().unwrap();
    let mut log = InLog::begin(root.path(), ID);
    log.add_line("in a log", 0);
    let library = Library::new(root.path());
    assert_eq!(since(&library, 0).lines[0].text, "in a log");
    fs::rename(root.path().join(ID), root.path().join("aside")).unwrap();
    let mut files = InFiles::begin(root.path(), ID);
    files.add_line("in files", 0);
    assert_eq!(since(&library, 0).lines[0].text, "in files");
    fs::rename(root.path().join(ID), root.path().join("aside-too")).unwrap();
    InLog::begin(root.path(), ID).add_line("in another log", 0);
    assert_eq!(since(&library, 0).lines[0].text, "in another log");
    fs::remove_dir_all(root.path().join(ID)).unwrap();
    assert!(matches!(library.open(ID), Err(ViewError::NoSession(_))));
}

#[test]
fn what_is_kept_tells_no_old_state() {
    let root = tempfile::tempdir().unwrap();
    let mut session = InLog::begin(root.path(), ID);
    let library = Library::new(root.path());
    let state = |awaiting: u64| {
        let status = library.status(&SystemClock).unwrap();
        assert_eq!((status.sessions, status.awaiting_transcript), (1, awaiting));
        since(&library, 0).state
    };
    for _ in 0..2 {
        assert_eq!(state(1), SessionState::Pending);
    }
    session.append(finished());
    for _ in 0..2 {
        assert_eq!(state(0), SessionState::Done);
    }
    session.append(Event::Meta(MetaChange::Notes("later".to_owned())));
    assert_eq!(state(0), SessionState::Done);
}

/// Long after anything that a test does to a directory.
fn much_later() -> FixedClock {
    FixedClock(SystemTime::now() + Duration::from_secs(3600))
}

#[test]
fn what_is_done_is_not_opened_again_until_its_directory_changes() {
    let root = tempfile::tempdir().unwrap();
    let mut session = InLog::begin(root.path(), ID);
    session.append(finished());
    drop(session);
    let files = InFiles::begin(root.path(), "2026-09-05T1300");
    fs::write(files.0.join("transcript.md"), "").unwrap();
    let (library, clock) = (Library::new(root.path()), much_later());
    let counts = || {
        let status = library.status(&clock).unwrap();
        (status.sessions, status.awaiting_transcript)
    };
    assert_eq!(counts(), (2, 0));
    // Nothing in the session's own directory: whoever looked again would not find the log.
    let segment = root.path().join(ID).join("log/0000000000.seg");
    let bytes = fs::read(&segment).unwrap();
    fs::write(&segment, b"no log").unwrap();
    assert_eq!(counts(), (2, 0));
    fs::write(&segment, bytes).unwrap();
    fs::create_dir(files.0.join("audio")).unwrap();
    fs::write(files.0.join("audio/room.wav"), "").unwrap();
    fs::remove_file(files.0.join("transcript.md")).unwrap();
    assert_eq!(counts(), (2, 1));
    fs::remove_dir_all(root.path().join(ID)).unwrap();
    assert_eq!(counts(), (1, 1));
}

#[test]
fn a_recording_is_told_of_only_while_it_lives() {
    let root = tempfile::tempdir().unwrap();
    let session = InLog::begin(root.path(), ID);
    let library = Library::new(root.path());
    let said = r#"{"phase":"recording","tracks":[
        {"track":"room","captured_ms":61500,"padded_ms":0,"silent_ms":1500,"done_ms":60000,"new":1},
        {"track":"call","captured_ms":61000,"done_ms":61000}],"warnings":["the call is silent"]}"#;
    fs::write(root.path().join(ID).join("recording.json"), said).unwrap();
    assert_eq!(library.status(&SystemClock).unwrap().recording, None);
    let directory = Directory::open(root.path()).unwrap();
    let directory = SessionDirectory::open(&directory, &SessionId::new(ID).unwrap()).unwrap().unwrap();
    let recording = WorkLock::hold(&directory, Work::Recording).unwrap();
    let status = library.status(&SystemClock).unwrap();
    assert_eq!(status.live, Some(LiveSession { id: ID.to_owned() }));
    let told = serde_json::to_value(status.recording.unwrap()).unwrap();
    let expected = serde_json::json!({
        "tracks": [
            {"track": "room", "captured_s": 61.5, "silent_s": 1.5, "padded_s": 0.0, "lag_s": 1.5},
            {"track": "call", "captured_s": 61.0, "silent_s": 0.0, "padded_s": 0.0, "lag_s": 0.0},
        ],
        "lag_s": 1.5,
        "warnings": ["the call is silent"],
    });
    assert_eq!(told, expected);
    for broken in ["", "[]", "{\"tracks\":[{}]}"] {
        fs::write(root.path().join(ID).join("recording.json"), broken).unwrap();
        assert_eq!(library.status(&SystemClock).unwrap().recording, None, "{broken}");
    }
    drop(recording);
    assert_eq!(library.status(&SystemClock).unwrap().live, None);
    drop(session);
}

#[test]
fn a_listing_is_narrowed_without_changing_its_order() {
    let root = tempfile::tempdir().unwrap();
    for (hour, name, notes) in [(9, "Budget", "with Priya"), (10, "Release", ""), (11, "Budget two", "")] {
        let id = format!("2026-09-05T{hour:02}00");
        let mut session = InLog::begin(root.path(), &id);
        session.append(Event::Opened(Opened {
            started_at: format!("2026-09-05T{hour:02}:00:00Z"),
            ..match opened(&id) {
                Event::Opened(opened) => opened,
                _ => return,
            }
        }));
        session.append(Event::Meta(MetaChange::Name(Some(name.to_owned()))));
        session.append(Event::Meta(MetaChange::Notes(notes.to_owned())));
        session.append(Event::Meta(MetaChange::Tag("Quarter".to_owned())));
        session.append(Event::Meta(MetaChange::Pin(hour == 9)));
    }
    let library = Library::new(root.path());
    let listed = |limit, before, query| {
        let rows = library.sessions(&SessionsQuery { limit, before, query }, &SystemClock);
        rows.map(|rows| rows.into_iter().filter_map(|row| row.name).collect::<Vec<_>>())
    };
    let all = ["Budget two", "Release", "Budget"];
    assert_eq!(listed(None, None, None).unwrap(), all);
    assert_eq!(listed(None, None, Some(" ")).unwrap(), all);
    assert_eq!(listed(Some(2), None, None).unwrap(), all[..2]);
    assert_eq!(listed(Some(0), None, None).unwrap(), all[..0]);
    assert_eq!(listed(Some(1), Some("2026-09-05T1100"), None).unwrap(), ["Release"]);
    assert_eq!(listed(None, Some("2026-09-05T11:00:00+01:00"), None).unwrap(), ["Budget"]);
    assert_eq!(listed(None, Some("2026-09-05"), None).unwrap(), all[..0]);
    assert_eq!(listed(None, None, Some("BUDGET")).unwrap(), ["Budget two", "Budget"]);
    assert_eq!(listed(None, None, Some("priya budget")).unwrap(), ["Budget"]);
    assert_eq!(listed(None, None, Some("quarter release")).unwrap(), ["Release"]);
    assert_eq!(listed(None, None, Some("morning")).unwrap(), all[..0]);
    assert!(matches!(listed(None, Some("nothing"), None), Err(ViewError::NoSession(_))));
}
