//! Names, repairs, hiding, undo, and what tells of them, by the built program.

use std::fs;
use std::path::PathBuf;

use ambient_engine::session::{Directory, SessionDirectory, SessionId, Work, WorkLock, write_derived_files};
use ambient_engine::{Change, Edit, Event, Finished, Line, Log, Options, Track};
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

const ID: &str = "2026-09-05T1412";

/// A finished session of our own: four lines, labelled by a machine.
fn talk(sandbox: &Sandbox) -> PathBuf {
    let folder = sandbox.interrupted_session(ID);
    let said = [
        (Track::Room, 0, "good morning Crea", "room-1"),
        (Track::Call, 60_000, "morning", "call-1"),
        (Track::Room, 120_000, "did you Create it, Crea?", "room-1"),
        (Track::Call, 3_725_000, "yes, the key is AKIAABCDEFGHIJKLMNOP", "call-2"),
    ];
    let line = |(track, start_ms, text, _): &(Track, u64, &str, &str)| {
        Event::Line(Line {
            track: *track,
            start_ms: *start_ms,
            end_ms: start_ms + 900,
            text: (*text).to_owned(),
            confidence: 0.9,
            language: Some("en".to_owned()),
            generation: 0,
            audio: None,
            overlap: false,
        })
    };
    let label = |(line, (_, _, _, label)): (u64, &(Track, u64, &str, &str))| {
        let change = Change::Speaker { name: (*label).to_owned() };
        Event::Edit(Edit { line, by: "diarize".to_owned(), change })
    };
    let mut log = Log::open(&folder, Options::default()).unwrap();
    log.append(&said.iter().map(line).collect::<Vec<_>>()).unwrap();
    log.append(&(0..).zip(&said).map(label).collect::<Vec<_>>()).unwrap();
    log.append(&[Event::Finished(Finished { at: "2026-09-05T15:00:00Z".into(), warnings: vec![] })]).unwrap();
    log.close().unwrap();
    folder
}

#[test]
fn an_assistant_is_told_what_is_hidden_only_if_the_server_was_started_without_redaction() {
    let sandbox = Sandbox::new();
    talk(&sandbox);
    sandbox.run(&["hide", ID, "--secrets"]).expect(0);
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "transcript", "arguments": {"session": ID, "verbatim": true}}});
    for (arguments, is_told) in [(&["mcp"][..], true), (&["mcp", "--redact-verbatim"][..], false)] {
        let run = sandbox.run_with_input(arguments, &format!("{call}\n")).expect(0);
        assert_eq!(run.stdout.contains("AKIAABCDEFGHIJKLMNOP"), is_told, "{run:?}");
        assert!(run.stdout.contains("did you Create it, Crea?"), "{run:?}");
    }
}

fn shown(sandbox: &Sandbox) -> Vec<(Value, Value)> {
    let lines = sandbox.run(&["show", ID, "--json"]).expect(0).json();
    lines.as_array().unwrap().iter().map(|line| (line["speaker"].clone(), line["text"].clone())).collect()
}

/// Every verb that changes what a session says, in an order in which each has something to do.
const CHANGES: &[&[&str]] = &[
    &["name", ID, "call-2", "Priya"],
    &["name", ID, "--line", "1", "Ben"],
    &["repair", ID, "Crea", "Priya", "--all"],
    &["hide", ID, "--line", "1"],
    &["hide", ID, "--secrets"],
    &["unhide", ID, "--line", "1"],
    &["undo", ID],
    &["redo", ID],
    &["undo", ID, "--seq", "0"],
    &["meta", ID, "name", "Weekly"],
    &["meta", ID, "notes", "about the key"],
    &["meta", ID, "tag", "roadmap"],
    &["meta", ID, "untag", "roadmap"],
    &["meta", ID, "pinned", "yes"],
];

#[test]
fn no_change_leaves_the_derived_files_behind() {
    let sandbox = Sandbox::new();
    let folder = talk(&sandbox);
    let root = Directory::open(&sandbox.root()).unwrap();
    let session = SessionDirectory::open(&root, &SessionId::new(ID).unwrap()).unwrap().unwrap();
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let mut before = String::new();
    for change in CHANGES {
        sandbox.run(change).expect(0);
        let files = ["session.json", "transcript.md"].map(read);
        assert_ne!(files[0], before, "{change:?} left session.json as it was");
        assert_eq!(files[1], sandbox.run(&["export", ID, "--out", "-"]).expect(0).stdout, "{change:?}");
        write_derived_files(&session).unwrap();
        assert_eq!(files, ["session.json", "transcript.md"].map(read), "{change:?}");
        before.clone_from(&files[0]);
    }
    for part in ["name: \"Weekly\"", "notes: \"about the key\"", "Ben"] {
        assert!(read("transcript.md").contains(part), "{part}: {}", read("transcript.md"));
    }
    // Deleted they come back, and a change that fails changes nothing of them.
    fs::remove_file(folder.join("transcript.md")).unwrap();
    fs::remove_file(folder.join("session.json")).unwrap();
    sandbox.run(&["meta", ID, "name", "Monthly"]).expect(0);
    assert!(read("transcript.md").contains("Monthly") && read("session.json").contains("Monthly"));
}

#[test]
fn a_label_becomes_a_name_and_undo_brings_it_back() {
    let sandbox = Sandbox::new();
    talk(&sandbox);
    let run = sandbox.run(&["name", ID, "room-1", "call-2", "Priya"]).expect(0);
    assert!(run.stderr.contains("  3 lines now attributed to Priya"), "{}", run.stderr);
    assert!(run.stdout.contains("room-1 → Priya  good morning Crea"), "{}", run.stdout);
    assert!(run.stdout.contains("[01:02:05] call  call-2 → Priya"), "{}", run.stdout);
    assert!(run.stderr.trim_end().ends_with(ID), "the last line says where: {}", run.stderr);
    assert_eq!(shown(&sandbox)[3].0, json!("Priya"));
    let run = sandbox.run(&["undo", ID]).expect(0);
    assert!(run.stdout.contains("Priya → room-1"), "{}", run.stdout);
    assert_eq!(shown(&sandbox)[3].0, json!("call-2"));
    sandbox.run(&["redo", ID]).expect(0);
    assert_eq!(shown(&sandbox)[3].0, json!("Priya"));
    let run = sandbox.run(&["redo", ID]).expect(1);
    assert!(run.stderr.contains("nothing to redo in "), "{}", run.stderr);
}

#[test]
fn names_are_refused_with_a_reason() {
    let sandbox = Sandbox::new();
    talk(&sandbox);
    let cases: &[(&[&str], i32, &str)] = &[
        (
            &["name", ID, "call-7", "Priya"],
            1,
            r#"no lines labelled "call-7" (available: call-1, call-2, room-1)"#,
        ),
        (&["name", ID, "call-1", "call-9"], 2, "that nobody has named"),
        (&["name", ID, "call-1", " "], 2, "it is empty"),
        (&["name", ID, "Priya"], 2, "who is Priya?"),
        (&["name", ID, "--line", "4", "Priya"], 3, "there is no line 4: they are 0 to 3"),
        (&["name", ID, "--from", "2:00:00", "Priya"], 3, "no line is meant"),
        (&["name", ID, "--from", "soon", "Priya"], 2, "is not a time"),
        (&["name", "2030", "call-1", "Priya"], 3, "no session 2030"),
    ];
    for (arguments, code, said) in cases {
        let run = sandbox.run(arguments).expect(*code);
        assert!(run.stderr.contains(said), "{arguments:?}: {}", run.stderr);
    }
    assert_eq!(shown(&sandbox)[1].0, json!("call-1"), "nothing was changed");
}

#[test]
fn a_repair_asks_before_it_changes_several_lines_and_shows_what_it_would_do() {
    let sandbox = Sandbox::new();
    talk(&sandbox);
    let run = sandbox.run(&["repair", ID, "Crea", "Priya"]).expect(2);
    assert!(run.stderr.contains("2 lines hold \"Crea\""), "{}", run.stderr);
    let run = sandbox.run(&["repair", ID, "Crea", "Priya", "--all", "--dry-run", "--json"]).expect(0);
    let preview = run.json();
    assert_eq!(preview[1]["after"]["text"], "did you Create it, Priya?");
    assert_eq!(shown(&sandbox)[0].1, json!("good morning Crea"));
    let done = sandbox.run(&["repair", ID, "Crea", "Priya", "--all", "--json"]).expect(0).json();
    assert_eq!(done, preview);
    assert_eq!(shown(&sandbox)[2].1, json!("did you Create it, Priya?"));
    sandbox.run(&["repair", ID, "Crea", "Priya"]).expect(3);
    sandbox.run(&["repair", ID, "(", "x", "--regex"]).expect(2);
    sandbox.run(&["repair", ID, "", "x"]).expect(2);
}

#[test]
fn hidden_lines_are_gone_for_every_reader_and_kept_verbatim() {
    let sandbox = Sandbox::new();
    let folder = talk(&sandbox);
    let run = sandbox.run(&["hide", ID, "--secrets"]).expect(0);
    assert!(run.stdout.contains("(hidden: hidden by hand)"), "{}", run.stdout);
    assert_eq!(shown(&sandbox).len(), 3);
    let tool = sandbox.tool("transcript", &json!({"session": ID}));
    assert_eq!((tool["lines"].as_array().unwrap().len(), &tool["next"]), (3, &json!(4)));
    sandbox.run(&["export", ID]).expect(0);
    assert!(!fs::read_to_string(folder.join("transcript.md")).unwrap().contains("AKIA"));
    let verbatim = sandbox.run(&["show", ID, "--verbatim", "--plain"]).expect(0);
    assert!(verbatim.stdout.contains("AKIA"));
    sandbox.run(&["hide", ID]).expect(2);
    sandbox.run(&["unhide", ID]).expect(2);
    sandbox.run(&["unhide", ID, "--all"]).expect(0);
    assert_eq!(shown(&sandbox).len(), 4);
    assert!(sandbox.run(&["unhide", ID, "--all"]).expect(1).stderr.contains("none of the lines"));
}

#[test]
fn what_was_done_is_listed_explained_and_compared() {
    let sandbox = Sandbox::new();
    talk(&sandbox);
    sandbox.run(&["name", ID, "--line", "1", "Ben"]).expect(0);
    let edits = sandbox.run(&["edits", ID, "--json"]).expect(0).json();
    assert_eq!(
        (&edits[4]["number"], &edits[4]["name"], &edits[4]["standing"]),
        (&json!(4), &json!("Ben"), &json!("live"))
    );
    assert!(sandbox.run(&["edits", ID]).expect(0).stdout.contains("line 1      speaker Ben"));
    let why = sandbox.run(&["why", ID, "1"]).expect(0).stdout;
    assert!(why.contains("heard       morning\n") && why.contains("speaker     Ben\n"), "{why}");
    assert!(why.contains("0000000000.seg"), "{why}");
    assert_eq!(sandbox.run(&["why", ID, "1", "--json"]).expect(0).json()["edits"][1]["name"], "Ben");
    sandbox.run(&["why", ID, "9"]).expect(3);
    let before = edits[3]["event"].to_string();
    let diff = sandbox.run(&["diff", ID, "--from", &before]).expect(0);
    assert!(diff.stdout.contains("~ 1     [01:00] call  call-1 → Ben  morning"), "{}", diff.stdout);
    assert_eq!(sandbox.run(&["diff", ID, "--from", &before, "--json"]).expect(0).json()[0]["line"], 1);
    sandbox.run(&["diff", ID, "--from", "yesterday"]).expect(2);
}

#[test]
fn a_session_is_described_and_its_files_follow() {
    let sandbox = Sandbox::new();
    let folder = talk(&sandbox);
    sandbox.run(&["export", ID]).expect(0);
    let run = sandbox.run(&["meta", ID, "name", "Weekly planning"]).expect(0);
    assert_eq!(run.stdout, "Weekly planning  tags: \n");
    assert_eq!(
        sandbox.run(&["meta", ID, "tag", "roadmap"]).expect(0).stdout,
        "Weekly planning  tags: roadmap\n"
    );
    assert!(fs::read_to_string(folder.join("transcript.md")).unwrap().contains("Weekly planning"));
    let sessions = sandbox.run(&["sessions", "--json"]).expect(0).json();
    assert_eq!(sessions[0]["name"], "Weekly planning");
    sandbox.run(&["meta", ID, "pinned", "yes"]).expect(0);
    let run = sandbox.run(&["meta", ID, "pinned", "perhaps"]).expect(2);
    assert!(run.stderr.contains(r#""perhaps" is not a yes or no. Use true or false."#), "{}", run.stderr);
    sandbox.run(&["meta", ID, "tag", ""]).expect(2);
}

#[test]
fn a_session_that_is_recorded_is_named_and_one_of_the_older_layout_is_not() {
    let sandbox = Sandbox::with_two_sessions();
    let run = sandbox.run(&["name", "2026-09-05T1412-weekly-sync", "Priya", "Ben"]).expect(1);
    assert!(run.stderr.contains("`ambient import 2026-09-05T1412-weekly-sync`"), "{}", run.stderr);
    talk(&sandbox);
    let root = Directory::open(&sandbox.root()).unwrap();
    let session = SessionDirectory::open(&root, &SessionId::new(ID).unwrap()).unwrap().unwrap();
    let _recording = WorkLock::hold(&session, Work::Recording).unwrap();
    sandbox.run(&["name", ID, "call-1", "Priya"]).expect(0);
    assert_eq!(shown(&sandbox)[1].0, json!("Priya"));
}
