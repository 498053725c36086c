//! What `transcript` and `sessions` take beyond the first: parts, cursors, the clock, confidence. The same in
//! both layouts.

use ambient_engine::{Change, Event, MetaChange, Track};
use ambient_mcp::Server;
use serde_json::{Value, json};

use crate::client::{answer, call, failure, request, say};
use crate::jsonl_session::{Sessions, line};
use crate::native_session::{NativeSession, edit, heard};

const LOG: &str = "2026-09-05T1200";
const FILES: &str = "2026-09-05T1300";

/// Two sessions of the same four lines, one in either layout; the second line is named.
fn sessions() -> Sessions {
    let sessions = Sessions::new();
    let spoken = [(Track::Room, 5000), (Track::Call, 0), (Track::Room, 7000), (Track::Call, 2000)];
    NativeSession::begin(sessions.root(), LOG, "2026-09-05T12:00:00Z")
        .with(&spoken.map(|(track, start_ms)| heard(track, start_ms)))
        .with(&[edit(1, Change::Speaker { name: "Priya".to_owned() })])
        .close();
    let name =
        json!({"kind": "speaker", "target": {"track": "call", "start_ms": 0}, "name": "Priya", "by": "user"});
    sessions
        .directory(FILES)
        .summary("2026-09-05T13:00:00Z")
        .heard(&[("room", 5000), ("call", 0), ("room", 7000), ("call", 2000)])
        .file("edits.jsonl", format!("{name}\n"));
    sessions
}

fn transcript(server: &Server<'_>, session: &str, mut arguments: Value) -> Value {
    arguments["session"] = session.into();
    let mut reply = answer(&call(server, "transcript", &arguments));
    assert_eq!(reply["session"].take(), session);
    reply
}

fn with(mut line: Value, extra: &Value) -> Value {
    line.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    line
}

fn named() -> Value {
    with(line("call", 0), &json!({"speaker": "Priya"}))
}

fn reply(next: u64, lines: &Value, extra: &Value) -> Value {
    with(json!({"session": null, "state": "pending", "next": next, "lines": lines}), extra)
}

#[test]
fn a_part_says_whether_there_is_more_and_the_whole_does_not() {
    let sessions = sessions();
    let server = sessions.server();
    let (first, last) = (json!([line("room", 5000), named()]), json!([line("call", 2000)]));
    for session in [LOG, FILES] {
        let ask = |arguments| transcript(&server, session, arguments);
        let more = |more: bool| json!({"more": more});
        assert_eq!(ask(json!({"limit": 2})), reply(2, &first, &more(true)));
        assert_eq!(ask(json!({"limit": 9, "since": 3})), reply(4, &last, &more(false)));
        assert_eq!(ask(json!({"limit": 0, "since": 3})), reply(3, &json!([]), &more(true)));
        assert_eq!(ask(json!({"max_chars": 21})), reply(2, &first, &more(true)));
        let cut = with(line("room", 5000), &json!({"text": "room…"}));
        assert_eq!(ask(json!({"max_chars": 5})), reply(1, &json!([cut]), &more(true)));
        assert_eq!(ask(json!({"since": 3})), reply(4, &last, &json!({})));
    }
}

#[test]
fn by_the_clock_and_with_confidence_where_that_is_asked_for() {
    let sessions = sessions();
    let server = sessions.server();
    for session in [LOG, FILES] {
        let clock = transcript(&server, session, json!({"clock": true}));
        let spoken = json!([named(), line("call", 2000), line("room", 5000), line("room", 7000)]);
        assert_eq!(clock, reply(4, &spoken, &json!({})));
        let sure = transcript(&server, session, json!({"confidence": true, "since": 3}));
        let told = with(line("call", 2000), &json!({"confidence": 0.9}));
        assert_eq!(sure, reply(4, &json!([told]), &json!({})));
    }
}

#[test]
fn a_cursor_tells_of_earlier_lines_too() {
    let sessions = sessions();
    let server = sessions.server();
    for session in [LOG, FILES] {
        let mut first = transcript(&server, session, json!({"cursor": "", "limit": 2}));
        let cursor = first["cursor"].take();
        let numbered =
            json!([with(line("room", 5000), &json!({"line": 0})), with(named(), &json!({"line": 1}))]);
        assert_eq!(first, reply(2, &numbered, &json!({"changed": [], "more": true, "cursor": null})));
        let rest = transcript(&server, session, json!({"cursor": cursor}));
        assert_eq!(rest["next"], 4);
        assert_eq!(rest["lines"].as_array().unwrap().len(), 2);
        assert_eq!(rest.get("more"), None);
        let none = transcript(&server, session, json!({"cursor": rest["cursor"]}));
        let (cursor, nothing) = (&rest["cursor"], json!([]));
        assert_eq!(none, reply(4, &nothing, &json!({"changed": [], "cursor": cursor})));
    }
    let mut log = NativeSession::open(sessions.root(), LOG);
    let cursor = transcript(&server, LOG, json!({"cursor": ""}))["cursor"].clone();
    log.append(&[edit(0, Change::Hide { reason: "bleed".to_owned() })]);
    log.append(&[edit(3, Change::Repair { from: "call".to_owned(), to: "she".to_owned() })]);
    let reply = transcript(&server, LOG, json!({"cursor": cursor}));
    let told: Vec<_> = reply["changed"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| json!([line["line"], line["hidden"], line["text"]]))
        .collect();
    assert_eq!(json!(told), json!([[0, true, ""], [3, false, "she at 2000"]]));
    for lost in ["x", &"0".repeat(56)] {
        let refused = call(&server, "transcript", &json!({"session": LOG, "cursor": lost}));
        assert!(failure(&refused).starts_with("cursor lost"), "{refused}");
    }
}

/// The number and text of each line of `key`.
fn told(reply: &Value, key: &str) -> Vec<(u64, String)> {
    let lines = reply[key].as_array().unwrap().iter();
    lines.map(|line| (line["line"].as_u64().unwrap(), line["text"].as_str().unwrap().to_owned())).collect()
}

#[test]
fn what_is_hidden_is_in_a_verbatim_answer_only_where_the_user_lets_it() {
    let sessions = sessions();
    let (open, redacting) = (sessions.server(), sessions.server().with_redacted_verbatim(true));
    let verbatim = |server: &Server<'_>, cursor: &Value| {
        transcript(server, LOG, json!({"verbatim": true, "cursor": cursor}))
    };
    let before = verbatim(&redacting, &json!(""));
    assert_eq!(told(&before, "lines").len(), 4);
    assert_eq!(before["lines"][1]["speaker"], json!(null), "as it was heard");
    let mut log = NativeSession::open(sessions.root(), LOG);
    let hide = edit(2, Change::Hide { reason: "private".to_owned() });
    log.append(&[hide, edit(3, Change::Repair { from: "call".to_owned(), to: "she".to_owned() })]);

    let shown = [(0, "room at 5000"), (1, "call at 0"), (3, "call at 2000")]
        .map(|(line, text)| (line, text.to_owned()));
    let redacted = verbatim(&redacting, &json!(""));
    assert_eq!((told(&redacted, "lines"), &redacted["next"]), (shown.to_vec(), &json!(4)));
    let changed = verbatim(&redacting, &before["cursor"]);
    assert_eq!(told(&changed, "changed"), [(2, String::new()), (3, "call at 2000".to_owned())]);
    assert_eq!(changed["changed"][0]["hidden"], true);
    let one = transcript(&redacting, LOG, json!({"verbatim": true, "since": 2, "limit": 1}));
    assert_eq!((&one["next"], &one["lines"][0]["text"]), (&json!(4), &json!("call at 2000")));

    assert_eq!(told(&verbatim(&open, &json!("")), "lines").len(), 4);
    assert_eq!(told(&verbatim(&open, &before["cursor"]), "changed"), []);
    for server in [&open, &redacting] {
        assert_eq!(told(&transcript(server, LOG, json!({"cursor": ""})), "lines").len(), 3);
        assert_eq!(
            told(&transcript(server, FILES, json!({"verbatim": true, "cursor": ""})), "lines").len(),
            4
        );
    }
}

#[test]
fn sessions_are_read_in_parts() {
    let sessions = sessions();
    let server = sessions.server();
    let ids = |arguments: Value| {
        let rows = answer(&call(&server, "sessions", &arguments));
        rows.as_array().unwrap().iter().map(|row| row["id"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(ids(json!({})), [FILES, LOG]);
    assert_eq!(ids(json!({"limit": 1})), [FILES]);
    assert_eq!(ids(json!({"limit": 1, "before": FILES})), [LOG]);
    assert_eq!(ids(json!({"before": LOG})), [""; 0]);
    assert_eq!(ids(json!({"query": "roadmap t1200"})), [LOG]);
    NativeSession::open(sessions.root(), LOG).append(&[Event::Meta(MetaChange::Pin(true))]);
    assert_eq!(ids(json!({})), [FILES, LOG], "a pin moves nothing");
    let refused = call(&server, "sessions", &json!({"before": "nope"}));
    assert_eq!(failure(&refused), "no session nope");
}

#[test]
fn a_long_transcript_keeps_nobody_waiting_and_comes_whole() {
    let sessions = Sessions::new();
    let lines: Vec<_> = (0..6000).map(|index| ("room", 1000 * index)).collect();
    sessions.directory(FILES).summary("2026-09-05T13:00:00Z").heard(&lines);
    let ask = |id, name: &str, arguments: Value| {
        request(id, "tools/call", &json!({"name": name, "arguments": arguments}))
    };
    let input = [
        ask(1, "transcript", json!({"session": FILES})),
        ask(2, "status", json!({})),
        ask(3, "transcript", json!({"session": FILES, "since": 5999})),
    ];
    let mut replies = say(&sessions.server(), input.join("\n").as_bytes());
    replies.sort_by_key(|reply| reply["id"].as_u64());
    assert_eq!(replies.len(), 3);
    assert_eq!(answer(&replies[0])["lines"].as_array().unwrap().len(), 6000);
    assert_eq!(answer(&replies[2])["lines"], json!([line("room", 5_999_000)]));
}
