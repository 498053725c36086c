//! The replies that `docs/using/mcp.md` shows are the ones the server gives.

use serde_json::{Value, json};

use crate::client::{answer, call};
use crate::jsonl_session::Sessions;

const PAGE: &str = include_str!("../../../docs/using/mcp.md");
const SHOWN_ROOT: &str = "/home/ana/Documents/Ambient";
const FINISHED: &str = "2026-09-05T1412-roadmap-sync";

/// The sessions of the page.
fn sessions() -> Sessions {
    let sessions = Sessions::new();
    sessions.directory("2026-09-05T1608").growing();
    let record = |track, start_ms, end_ms, text| {
        json!({"track": track, "start_ms": start_ms, "end_ms": end_ms, "text": text}).to_string() + "\n"
    };
    let raw = record("room", 0, 2900, "Shall we begin with the release?")
        + &record("room", 7400, 9600, "Who tested the upgrade?")
        + &record("call", 3200, 6800, "Yes. The last two fixes went in this morning.");
    let edit = json!({"kind": "speaker", "target": {"track": "call", "start_ms": 3200}, "name": "Priya",
        "by": "user", "at": "2026-09-05T15:00:00+02:00"});
    sessions
        .directory(FINISHED)
        .summary("2026-09-05T14:12:03+02:00")
        .file("raw.jsonl", raw)
        .file("edits.jsonl", format!("{edit}\n"))
        .transcribed();
    sessions
}

/// The first JSON that the page shows after `heading`.
fn shown_after(heading: &str) -> Value {
    let section = PAGE.split_once(heading).unwrap().1;
    let block = section.split_once("```json\n").unwrap().1.split_once("```").unwrap().0;
    serde_json::from_str(&block.replace(SHOWN_ROOT, "<root>")).unwrap()
}

#[test]
fn the_page_shows_what_the_server_answers() {
    let sessions = sessions();
    let root = sessions.root().to_str().unwrap();
    for (heading, tool, arguments) in [
        ("### `status`", "status", json!({})),
        ("### `sessions`", "sessions", json!({})),
        ("### `transcript`", "transcript", json!({"session": FINISHED})),
        ("## Following a session", "transcript", json!({"session": FINISHED, "since": 3})),
    ] {
        let answered = answer(&call(&sessions.server(), tool, &arguments)).to_string();
        let answered: Value = serde_json::from_str(&answered.replace(root, "<root>")).unwrap();
        assert_eq!(shown_after(heading), answered, "{heading}");
    }
    let failed = call(&sessions.server(), "transcript", &json!({"session": "nope"}));
    assert_eq!(shown_after("## The tools"), failed["result"]);
}

#[test]
fn the_page_says_the_limits_the_server_has() {
    assert_eq!(ambient_mcp::MAX_LINE_BYTES, 1 << 20);
    assert!(PAGE.contains("more than 1 MiB"));
    assert!(PAGE.contains(&format!("up to {} in one", ambient_mcp::MAX_BATCH_MESSAGES)));
}
