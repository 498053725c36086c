//! The three tools over sessions in the predecessor's layout.

use serde_json::{Value, json};

use crate::client::{answer, call, failure};
use crate::jsonl_session::{Sessions, heard, line};

const FINISHED: &str = "2026-09-05-1200";

/// One finished session of two lines.
fn finished() -> Sessions {
    let sessions = Sessions::new();
    sessions
        .directory(FINISHED)
        .summary("2026-09-05T12:00:00+02:00")
        .heard(&[("room", 0), ("room", 5000)])
        .transcribed();
    sessions
}

fn transcript(sessions: &Sessions, arguments: &Value) -> Value {
    answer(&call(&sessions.server(), "transcript", arguments))
}

/// What `sessions` lists, after checking that `status` counts as many.
fn listed(sessions: &Sessions) -> Vec<Value> {
    let rows = answer(&call(&sessions.server(), "sessions", &json!({})));
    let rows = rows.as_array().unwrap().clone();
    let status = answer(&call(&sessions.server(), "status", &json!({})));
    assert_eq!(status["sessions"], rows.len());
    rows
}

fn ids(rows: &[Value]) -> Vec<&str> {
    rows.iter().map(|row| row["id"].as_str().unwrap()).collect()
}

#[test]
fn status_counts_what_is_real_and_names_what_is_being_recorded() {
    let sessions = Sessions::new();
    sessions.directory("done").summary("2026-09-05T12:00:00Z").transcribed();
    sessions.directory("notes").file("list.txt", "milk");
    let outside = sessions.outside("elsewhere").summary("2026-09-05T12:00:00Z");
    sessions.link("outside", outside.path());
    sessions.directory("live").growing();
    let expected = json!({"live": {"id": "live"}, "awaiting_transcript": 0, "sessions": 2});
    assert_eq!(answer(&call(&sessions.server(), "status", &json!({}))), expected);
}

#[test]
fn a_session_that_was_captured_and_not_transcribed_is_counted_as_waiting() {
    let sessions = Sessions::new();
    let waiting = sessions.directory("waiting").summary("2026-09-05T12:00:00Z");
    std::fs::create_dir(waiting.path().join("audio")).unwrap();
    waiting.file("audio/room.wav", "RIFF");
    let expected = json!({"live": null, "awaiting_transcript": 1, "sessions": 1});
    assert_eq!(answer(&call(&sessions.server(), "status", &json!({}))), expected);
}

#[test]
fn a_row_has_its_nine_keys() {
    let sessions = finished();
    let row = json!({
        "id": FINISHED,
        "dir": sessions.root().join(FINISHED),
        "name": "Roadmap sync",
        "started_at": "2026-09-05T12:00:00+02:00",
        "duration_s": 1184.0,
        "transcribed": true,
        "live": false,
        "transcribing": false,
        "error": null,
    });
    assert_eq!(listed(&sessions), [row]);
}

#[test]
fn the_newest_session_comes_first_and_one_being_recorded_has_no_metadata_yet() {
    let sessions = finished();
    sessions.directory("2026-09-04T0900").summary("2026-09-04T09:00:00Z");
    sessions.directory("2026-09-06T0900").growing();
    let rows = listed(&sessions);
    assert_eq!(ids(&rows), ["2026-09-06T0900", FINISHED, "2026-09-04T0900"]);
    assert_eq!(rows[0]["live"], true);
    assert_eq!(
        json!([rows[0]["name"], rows[0]["started_at"], rows[0]["duration_s"]]),
        json!([null, null, null])
    );
}

#[test]
fn a_session_that_cannot_be_read_is_listed_with_the_reason() {
    let sessions = finished();
    sessions.directory("broken").file("session.json", "{\"id\":");
    let rows = listed(&sessions);
    let broken = rows.iter().find(|row| row["id"] == "broken").unwrap();
    assert!(broken["error"].as_str().unwrap().contains("session.json"));
}

#[test]
fn since_counts_lines_already_seen() {
    let sessions = finished();
    for (since, lines) in [
        (json!(null), json!([line("room", 0), line("room", 5000)])),
        (json!(0), json!([line("room", 0), line("room", 5000)])),
        (json!(1), json!([line("room", 5000)])),
        (json!(2), json!([])),
        (json!(9), json!([])),
        (json!(u64::MAX), json!([])),
    ] {
        let expected = json!({"session": FINISHED, "state": "done", "next": 2, "lines": lines});
        assert_eq!(transcript(&sessions, &json!({"session": FINISHED, "since": since})), expected);
    }
}

#[test]
fn lines_come_in_the_order_they_were_written_so_that_a_late_one_is_not_lost() {
    let sessions = Sessions::new();
    sessions.directory("race").summary("2026-09-05T12:00:00Z").heard(&[("room", 5000), ("call", 0)]);
    let reply = transcript(&sessions, &json!({"session": "race", "since": 1}));
    assert_eq!(reply["lines"], json!([line("call", 0)]));
    let reply = transcript(&sessions, &json!({"session": "race"}));
    assert_eq!(reply["lines"], json!([line("room", 5000), line("call", 0)]));
}

#[test]
fn following_with_next_gives_every_line_once() {
    let sessions = Sessions::new();
    let mut raw = String::new();
    let directory = sessions.directory("live").growing();
    let mut seen = Vec::new();
    let mut next = json!(0);
    for written in 0..5 {
        let reply = transcript(&sessions, &json!({"session": "live", "since": next}));
        assert_eq!(reply["state"], "live");
        seen.extend(reply["lines"].as_array().unwrap().clone());
        next = reply["next"].clone();
        assert_eq!((seen.len(), &next), (written, &json!(written)));
        raw.push_str(&heard("call", 1000 * written as u64));
        std::fs::write(directory.path().join("raw.jsonl"), &raw).unwrap();
    }
    assert_eq!(seen, (0..4).map(|index| line("call", 1000 * index)).collect::<Vec<_>>());
}

#[test]
fn edits_are_folded_over_what_was_heard_unless_it_is_asked_for_verbatim() {
    let sessions = finished();
    let edits = json!({"kind": "speaker", "target": {"track": "room", "start_ms": 5000}, "name": "Priya",
        "by": "user", "at": "2026-09-05T13:00:00Z"});
    std::fs::write(sessions.root().join(FINISHED).join("edits.jsonl"), format!("{edits}\n")).unwrap();
    let reply = transcript(&sessions, &json!({"session": FINISHED, "verbatim": false}));
    assert_eq!(reply["lines"][1]["speaker"], "Priya");
    let reply = transcript(&sessions, &json!({"session": FINISHED, "verbatim": true}));
    assert_eq!(reply["lines"], json!([line("room", 0), line("room", 5000)]));
}

#[test]
fn the_state_is_what_the_files_say() {
    let sessions = Sessions::new();
    let started_at = "2026-09-05T12:00:00Z";
    let own_process = std::process::id().to_string();
    sessions.directory("fresh").growing();
    sessions.directory("live").summary(started_at).growing();
    sessions.directory("transcribing").summary(started_at).file("transcribing.lock", own_process);
    sessions.directory("abandoned").summary(started_at).file("transcribing.lock", "2147483646");
    sessions.directory("pending").summary(started_at);
    sessions.directory("done").summary(started_at).transcribed();
    for (id, state) in [
        ("fresh", "live"),
        ("live", "live"),
        ("transcribing", "transcribing"),
        ("abandoned", "pending"),
        ("pending", "pending"),
        ("done", "done"),
    ] {
        let expected = json!({"session": id, "state": state, "next": 0, "lines": []});
        assert_eq!(transcript(&sessions, &json!({"session": id})), expected);
    }
}

#[test]
fn what_was_not_written_to_its_end_is_not_there_yet_and_what_is_no_record_is_an_error() {
    let sessions = Sessions::new();
    let torn = heard("room", 0).into_bytes();
    let torn = [&torn[..], b"{\"track\":\"call\",\"text\":\"\xf0"].concat();
    sessions.directory("torn").growing().file("raw.jsonl", torn);
    let reply = transcript(&sessions, &json!({"session": "torn"}));
    assert_eq!((&reply["next"], &reply["lines"]), (&json!(1), &json!([line("room", 0)])));
    sessions.directory("broken").summary("2026-09-05T12:00:00Z").file("raw.jsonl", "not-json\n");
    let reply = call(&sessions.server(), "transcript", &json!({"session": "broken"}));
    assert!(failure(&reply).contains("raw.jsonl"));
}

#[test]
fn an_id_is_one_segment_that_names_a_real_directory() {
    let sessions = finished();
    sessions.link("link", &sessions.root().join(FINISHED));
    let outside = sessions.outside("x").summary("2026-09-05T12:00:00Z").heard(&[("room", 0)]);
    sessions.link("outside", outside.path());
    std::fs::write(sessions.root().join("file"), "x").unwrap();
    let up = format!("../{}/x", outside.path().parent().unwrap().file_name().unwrap().to_str().unwrap());
    let nested = format!("./{FINISHED}");
    let trailing = format!("{FINISHED}/");
    for id in [
        "../x",
        "",
        ".",
        "..",
        "/",
        "link",
        "outside",
        "file",
        "a\0b",
        &up,
        &nested,
        &trailing,
        outside.path().to_str().unwrap(),
        &"x".repeat(100_000),
    ] {
        let reply = call(&sessions.server(), "transcript", &json!({"session": id}));
        assert!(!failure(&reply).is_empty(), "{reply}");
    }
    let missing = call(&sessions.server(), "transcript", &json!({"session": "nope"}));
    assert!(failure(&missing).contains("no session nope"));
    assert_eq!(ids(&listed(&sessions)), [FINISHED]);
}

#[test]
fn a_link_inside_a_session_is_refused_by_name_and_nothing_behind_it_is_read() {
    for name in ["raw.jsonl", "edits.jsonl", "session.json"] {
        let sessions = Sessions::new();
        let outside = sessions.outside("secret").summary("2026-09-05T12:00:00Z").heard(&[("room", 0)]);
        let outside = outside.file("edits.jsonl", "");
        let leak = sessions.directory("leak").link(name, &outside.path().join(name));
        let leak = if name == "session.json" { leak } else { leak.summary("2026-09-05T12:00:00Z") };
        if name == "edits.jsonl" {
            leak.heard(&[("room", 0)]);
        }
        let reply = call(&sessions.server(), "transcript", &json!({"session": "leak"}));
        assert!(failure(&reply).contains("refusing symlink"), "{name}: {reply}");
        let rows = listed(&sessions);
        assert_eq!(ids(&rows), ["leak"], "{name}");
        assert!(rows[0]["error"].as_str().unwrap().contains("refusing symlink"), "{name}");
        assert_eq!(
            json!([rows[0]["name"], rows[0]["started_at"], rows[0]["duration_s"]]),
            json!([null, null, null])
        );
    }
}
