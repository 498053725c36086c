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
fn a_transcript_as_json_is_the_lines_of_the_transcript_tool_by_the_clock() {
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
        let mut told = sandbox.tool("transcript", arguments)["lines"].take();
        told.as_array_mut().unwrap().sort_by_key(|line| line["start_ms"].as_u64());
        assert_eq!(shown, told, "{flags:?}");
    }
}

#[test]
fn lines_are_chosen_by_time_track_and_whoever_speaks_now() {
    let sandbox = Sandbox::with_two_sessions();
    let id = "2026-09-05T1412-weekly-sync";
    let cases: &[(&[&str], &[&str])] = &[
        (&["--from", "0:03"], &["00:03", "00:08", "01:02:05"]),
        (&["--to", "8"], &["00:00", "00:03"]),
        (&["--from", "0:03", "--to", "01:00:00", "--track", "room"], &["00:08"]),
        (&["--speaker", "Priya"], &["00:03"]),
        (&["--speaker", "Priya", "--verbatim"], &["00:03"]),
        (&["--speaker", "Priya", "--speaker", "nobody", "--since", "3"], &[]),
        (&["--line", "1-2"], &["00:03", "00:08"]),
        (&["--line", "99"], &[]),
    ];
    for (flags, times) in cases {
        let shown = sandbox.run(&[&["show", id, "--plain"], *flags].concat()).expect(0).stdout;
        let starts: Vec<_> = shown.lines().map(|line| line.split('\t').next().unwrap()).collect();
        assert_eq!(starts, *times, "{flags:?}");
        let json = sandbox.run(&[&["show", id, "--json"], *flags].concat()).expect(0).json();
        assert_eq!(json.as_array().unwrap().len(), times.len(), "{flags:?}");
    }
    for wrong in [&["--from", "noon"][..], &["--track", "desk"], &["--at", "yesterday"], &["--since", "-1"]] {
        sandbox.run(&[&["show", id], wrong].concat()).expect(2);
    }
    sandbox.run(&["import", id]).expect(0);
    for (flags, times) in cases {
        let shown = sandbox.run(&[&["show", id, "--plain"], *flags].concat()).expect(0).stdout;
        assert_eq!(shown.lines().count(), times.len(), "{flags:?}");
    }
}

#[test]
fn a_session_is_shown_as_it_was() {
    let sandbox = Sandbox::with_two_sessions();
    let id = "2026-09-05T1412-weekly-sync";
    let refused = sandbox.run(&["show", id, "--at", "3"]).expect(1);
    assert!(refused.stderr.contains("ambient import"), "{}", refused.stderr);
    sandbox.run(&["import", id]).expect(0);
    let last = sandbox.run(&["why", id, "2", "--json"]).expect(0).json();
    let heard = last["log"]["event"].as_u64().or(last["event"].as_u64()).unwrap();
    sandbox.run(&["name", id, "Priya", "Someone else"]).expect(0);
    let then = sandbox.run(&["show", id, "--at", &heard.to_string()]).expect(0).stdout;
    let now = sandbox.run(&["show", id]).expect(0).stdout;
    assert!(
        then.contains("schema") && !then.contains("Someone") && now.contains("Someone else"),
        "{then}{now}"
    );
    assert_eq!(sandbox.run(&["show", id, "--at", "2001-01-01T00:00"]).expect(0).stdout, "");
    assert_eq!(sandbox.run(&["show", id, "--at", "2300-01-01T00:00"]).expect(0).stdout, now);
}

#[test]
fn a_line_nobody_can_read_is_left_out_and_told_in_every_form() {
    let sandbox = Sandbox::with_two_sessions();
    let raw = sandbox.root().join("2026-09-06T0900/raw.jsonl");
    let lines = std::fs::read_to_string(&raw).unwrap();
    std::fs::write(&raw, format!("{lines}not json\n")).unwrap();
    for form in [&[][..], &["--json"], &["--plain"]] {
        let run = sandbox.run(&[&["show", "latest"], form].concat()).expect(5);
        assert!(run.stdout.contains("Hello."), "{run:?}");
        assert!(run.stderr.contains("raw.jsonl, line 2"), "{run:?}");
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
