//! The three tools over sessions in the native layout: the same questions, the same answers.

use ambient_engine::session::Work;
use ambient_engine::{Change, Track};
use serde_json::{Value, json};

use crate::client::{answer, call, failure};
use crate::jsonl_session::{Sessions, line};
use crate::native_session::{NativeSession, captured, edit, finished, heard};

const ID: &str = "2026-09-05T1200";
const STARTED_AT: &str = "2026-09-05T12:00:00+02:00";

fn transcript(sessions: &Sessions, arguments: &Value) -> Value {
    answer(&call(&sessions.server(), "transcript", arguments))
}

fn rows(sessions: &Sessions) -> Value {
    answer(&call(&sessions.server(), "sessions", &json!({})))
}

fn status(sessions: &Sessions) -> Value {
    answer(&call(&sessions.server(), "status", &json!({})))
}

/// One finished session: a room line that was written before an earlier call line.
fn finished_session(sessions: &Sessions) {
    let lines = [heard(Track::Room, 5000), heard(Track::Call, 0)];
    NativeSession::begin(sessions.root(), ID, STARTED_AT)
        .with(&lines)
        .with(&[captured(1184), finished()])
        .close();
}

#[test]
fn both_layouts_read_alike_from_every_line_on() {
    const JSONL_ID: &str = "2026-09-05T1200-02";
    let sessions = Sessions::new();
    finished_session(&sessions);
    let jsonl = sessions.directory(JSONL_ID).summary(STARTED_AT);
    jsonl.heard(&[("room", 5000), ("call", 0)]).transcribed();
    let read = |id: &str, since: u64, verbatim: bool| {
        let mut reply = transcript(&sessions, &json!({"session": id, "since": since, "verbatim": verbatim}));
        assert_eq!(reply["session"].take(), id);
        reply
    };
    for since in [0, 1, 2, 9, u64::MAX] {
        for verbatim in [false, true] {
            assert_eq!(read(ID, since, verbatim), read(JSONL_ID, since, verbatim), "{since} {verbatim}");
        }
    }
    let spoken = json!([line("room", 5000), line("call", 0)]);
    let whole = json!({"session": null, "state": "done", "next": 2, "lines": spoken});
    assert_eq!(read(ID, 0, false), whole);
}

#[test]
fn a_row_has_its_nine_keys() {
    let sessions = Sessions::new();
    finished_session(&sessions);
    let row = json!({
        "id": ID,
        "dir": sessions.root().join(ID),
        "name": "Roadmap sync",
        "started_at": STARTED_AT,
        "duration_s": 1184.0,
        "transcribed": true,
        "live": false,
        "transcribing": false,
        "error": null,
    });
    assert_eq!(rows(&sessions), json!([row]));
}

#[test]
fn the_state_is_told_by_locks_and_by_the_log() {
    let sessions = Sessions::new();
    let session = NativeSession::begin(sessions.root(), ID, STARTED_AT);
    let state = || transcript(&sessions, &json!({"session": ID}))["state"].clone();
    let recording = session.hold(Work::Recording);
    assert_eq!(state(), "live");
    assert_eq!(status(&sessions), json!({"live": {"id": ID}, "awaiting_transcript": 0, "sessions": 1}));
    drop(recording);
    assert_eq!(state(), "pending");
    assert_eq!(status(&sessions), json!({"live": null, "awaiting_transcript": 1, "sessions": 1}));
    let mut session = session.with(&[captured(60)]);
    let transcribing = session.hold(Work::Transcribing);
    assert_eq!(state(), "transcribing");
    assert_eq!(status(&sessions), json!({"live": null, "awaiting_transcript": 0, "sessions": 1}));
    session.append(&[finished()]);
    drop(transcribing);
    assert_eq!(state(), "done");
    session.close();
    assert_eq!(state(), "done");
    assert_eq!(status(&sessions), json!({"live": null, "awaiting_transcript": 0, "sessions": 1}));
}

#[test]
fn following_with_next_while_it_is_written_gives_every_line_once() {
    let sessions = Sessions::new();
    let mut session = NativeSession::begin(sessions.root(), ID, STARTED_AT);
    let recording = session.hold(Work::Recording);
    let mut seen = Vec::new();
    let mut next = json!(0);
    for round in 0..6 {
        let reply = transcript(&sessions, &json!({"session": ID, "since": next}));
        assert_eq!(reply["state"], "live");
        seen.extend(reply["lines"].as_array().unwrap().clone());
        next = reply["next"].clone();
        assert_eq!((seen.len(), &next), (2 * round, &json!(2 * round)));
        let start_ms = 1000 * round as u64;
        session.append(&[heard(Track::Room, start_ms), heard(Track::Call, start_ms)]);
    }
    session.append(&[captured(6), finished()]);
    drop(recording);
    session.close();
    let last = transcript(&sessions, &json!({"session": ID, "since": next}));
    assert_eq!(last["state"], "done");
    seen.extend(last["lines"].as_array().unwrap().clone());
    let spoken = (0..6).flat_map(|round| [line("room", 1000 * round), line("call", 1000 * round)]);
    assert_eq!(seen, spoken.collect::<Vec<_>>());
}

#[test]
fn edits_are_folded_over_what_was_heard_unless_it_is_asked_for_verbatim() {
    let sessions = Sessions::new();
    NativeSession::begin(sessions.root(), ID, STARTED_AT)
        .with(&[heard(Track::Room, 0), heard(Track::Call, 0), heard(Track::Call, 2000)])
        .with(&[
            edit(0, Change::Repair { from: "room at".to_owned(), to: "here at".to_owned() }),
            edit(1, Change::Hide { reason: "bleed".to_owned() }),
            edit(2, Change::Speaker { name: "Priya".to_owned() }),
        ])
        .close();
    let folded = transcript(&sessions, &json!({"session": ID}));
    let told: Vec<_> = folded["lines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| json!([line["speaker"], line["text"]]))
        .collect();
    assert_eq!(json!(told), json!([[null, "here at 0"], ["Priya", "call at 2000"]]));
    assert_eq!(folded["next"], 3, "a hidden line has been passed over, not left out of the count");
    let verbatim = transcript(&sessions, &json!({"session": ID, "verbatim": true}));
    assert_eq!(verbatim["lines"], json!([line("room", 0), line("call", 0), line("call", 2000)]));
}

#[test]
fn a_log_behind_a_link_is_not_read() {
    let sessions = Sessions::new();
    let outside = sessions.outside("outside");
    NativeSession::begin(outside.path(), ID, STARTED_AT).with(&[heard(Track::Room, 0)]).close();
    let leak = sessions.directory("leak").summary(STARTED_AT);
    let _leak = leak.link("log", &outside.path().join(ID).join("log"));
    let reply = call(&sessions.server(), "transcript", &json!({"session": "leak"}));
    assert!(failure(&reply).contains("refusing symlink"), "{reply}");
    assert!(rows(&sessions)[0]["error"].as_str().unwrap().contains("refusing symlink"));
}
