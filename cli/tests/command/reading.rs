//! The reading verbs: what a person sees, and that programs get what the MCP server answers.

use serde_json::json;

use crate::sandbox::Sandbox;

#[test]
fn the_list_as_json_is_what_the_sessions_tool_answers() {
    let sandbox = Sandbox::with_two_sessions();
    let list = sandbox.run(&["sessions", "--json"]).expect(0).json();
    assert_eq!(list, sandbox.tool("sessions", &json!({})));
    let ids: Vec<_> = list.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["2026-09-06T0900", "2026-09-05T1412-weekly-sync"]);
}

#[test]
fn a_transcript_as_json_is_what_the_transcript_tool_answers() {
    let sandbox = Sandbox::with_two_sessions();
    let id = "2026-09-05T1412-weekly-sync";
    let cases: &[(&[&str], _)] = &[
        (&[], json!({"session": id})),
        (&["--since", "2"], json!({"session": id, "since": 2})),
        (&["--since", "99"], json!({"session": id, "since": 99})),
        (&["--verbatim"], json!({"session": id, "verbatim": true})),
    ];
    for (flags, arguments) in cases {
        let shown = sandbox.run(&[&["show", id, "--json"], *flags].concat()).expect(0).json();
        assert_eq!(shown, sandbox.tool("transcript", arguments), "{flags:?}");
    }
}

#[test]
fn people_read_by_the_clock_with_names_and_hours() {
    let sandbox = Sandbox::with_two_sessions();
    let shown = sandbox.run(&["show", "2026-09-05"]).expect(0).stdout;
    let starts: Vec<_> = shown.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
    assert_eq!(starts, ["[00:00]", "[00:03]", "[00:08]", "[01:02:05]"]);
    let named = shown.lines().nth(1).unwrap();
    assert!(named.contains("call") && named.contains("Priya") && named.ends_with("on Friday."), "{named}");
    let verbatim = sandbox.run(&["show", "2026-09-05", "--verbatim"]).expect(0).stdout;
    assert!(!verbatim.contains("Priya"));
}

#[test]
fn since_counts_lines_in_the_order_they_were_written() {
    let sandbox = Sandbox::with_two_sessions();
    let shown = sandbox.run(&["show", "2026-09-05", "--since", "2", "--plain"]).expect(0).stdout;
    let expected = "00:03\tcall\tPriya\tYes. I pushed the schema change on Friday.\n\
        01:02:05\tcall\t\tThat is all.\n";
    assert_eq!(shown, expected);
}

#[test]
fn nothing_to_show_is_no_error_and_says_so_aside() {
    let sandbox = Sandbox::with_two_sessions();
    let run = sandbox.run(&["show", "latest", "--since", "5"]).expect(0);
    assert_eq!(run.stdout, "");
    assert!(run.stderr.contains("no lines"), "{}", run.stderr);
    let empty = Sandbox::new();
    let run = empty.run(&["sessions"]).expect(0);
    assert_eq!(run.stdout, "");
    assert!(run.stderr.contains("no sessions"), "{}", run.stderr);
    assert_eq!(empty.run(&["sessions", "--json"]).expect(0).stdout, "[]\n");
}

#[test]
fn the_list_for_people_has_a_row_a_session() {
    let sandbox = Sandbox::with_two_sessions();
    let list = sandbox.run(&["sessions"]).expect(0).stdout;
    let row = list.lines().nth(1).unwrap();
    for part in ["2026-09-05T1412-weekly-sync", "2026-09-05 14:12", "01:02:05", "done", "Weekly sync"] {
        assert!(row.contains(part), "{part}: {row}");
    }
}

#[test]
fn a_session_that_cannot_be_read_is_listed_and_told() {
    let sandbox = Sandbox::with_two_sessions();
    let folder = sandbox.root().join("2026-09-06T0900");
    std::fs::write(folder.join("session.json"), "{").unwrap();
    let run = sandbox.run(&["sessions"]).expect(0);
    assert!(run.stdout.contains("broken"), "{}", run.stdout);
    assert!(run.stderr.contains("session.json"), "{}", run.stderr);
}
