//! How every verb behaves whatever it does: outcomes, streams, pipes, and text of others.

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::sandbox::{Run, Sandbox, line};

/// What a terminal would obey instead of showing.
const HOSTILE: &str = "hi \u{1b}]0;owned\u{7}\u{1b}[2J \u{9b}31m \u{202e}live \u{7f} bye";

fn is_obeyed(character: char) -> bool {
    (character.is_control() && !matches!(character, '\n' | '\t'))
        || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[track_caller]
fn assert_harmless(run: &Run) {
    for text in [&run.stdout, &run.stderr] {
        assert!(!text.chars().any(is_obeyed), "{text:?}");
    }
}

#[test]
fn a_session_that_is_not_there_is_not_found() {
    let sandbox = Sandbox::with_two_sessions();
    for verb in ["show", "export", "import", "resume"] {
        for name in ["2031-01-01T0000", "./nowhere", "/nowhere/at/all", "..", "2026-09-05T1412/.."] {
            let run = sandbox.run(&[verb, name]).expect(3);
            assert!(run.stderr.starts_with("error: "), "{}", run.stderr);
        }
    }
    Sandbox::new().run(&["show", "latest"]).expect(3);
}

#[test]
fn a_session_is_named_by_id_beginning_path_or_latest() {
    let sandbox = Sandbox::with_two_sessions();
    let id = "2026-09-05T1412-weekly-sync";
    let path = sandbox.root().join(id);
    let expected = sandbox.run(&["show", id]).expect(0).stdout;
    assert!(expected.contains("backfill"));
    for name in ["2026-09-05", path.to_str().unwrap(), &format!("sessions/{id}/")] {
        assert_eq!(sandbox.run(&["show", name]).expect(0).stdout, expected, "{name}");
    }
    assert!(sandbox.run(&["show", "latest"]).expect(0).stdout.contains("Hello."));
}

#[test]
fn a_beginning_that_several_sessions_have_is_wrong_usage_and_names_them() {
    let sandbox = Sandbox::with_two_sessions();
    for verb in ["show", "export", "resume"] {
        let run = sandbox.run(&[verb, "2026-09"]).expect(2);
        assert!(
            run.stderr.contains("weekly-sync") && run.stderr.contains("2026-09-06T0900"),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn a_link_is_no_session() {
    let sandbox = Sandbox::with_two_sessions();
    let link = sandbox.root().join("link");
    std::os::unix::fs::symlink(sandbox.root().join("2026-09-06T0900"), &link).unwrap();
    for name in ["link", link.to_str().unwrap()] {
        let run = sandbox.run(&["show", name]);
        assert!(matches!(run.code, 1 | 3), "{run:?}");
        assert_eq!(run.stdout, "");
    }
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let lines: Vec<Value> = (0..5000).map(|n| line("room", n * 1000, "and so on and so on")).collect();
    let sandbox = Sandbox::new();
    sandbox.session("2026-09-05T1412", "2026-09-05T14:12:03Z", &lines, &[]);
    let verbs: &[&[&str]] = &[
        &["show", "latest"],
        &["show", "latest", "--json"],
        &["export", "latest", "--out", "-"],
        &["sessions"],
        &["completions", "zsh"],
        &["config", "list"],
        &["help"],
    ];
    for verb in verbs {
        let mut command = sandbox.command(verb);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let run = Run::from(child.wait_with_output().unwrap());
        assert_eq!(run.code, 0, "{verb:?}: {run:?}");
        assert!(!run.stderr.contains("error"), "{verb:?}: {run:?}");
    }
}

#[test]
fn words_of_others_never_reach_a_terminal_as_commands() {
    let sandbox = Sandbox::new();
    let id = "2026-09-05T1412";
    let edit = json!({"kind": "speaker", "target": {"track": "room", "start_ms": 0}, "name": HOSTILE,
        "by": "user", "at": "2026-09-05T15:00:00Z"});
    let folder = sandbox.session(id, "2026-09-05T14:12:03Z", &[line("room", 0, HOSTILE)], &[edit]);
    let metadata = fs::read_to_string(folder.join("session.json")).unwrap();
    let mut metadata: Value = serde_json::from_str(&metadata).unwrap();
    metadata["name"] = json!(HOSTILE);
    metadata["started_at"] = json!(HOSTILE);
    fs::write(folder.join("session.json"), metadata.to_string()).unwrap();
    let verbs: &[&[&str]] = &[
        &["show", id],
        &["show", id, "--plain"],
        &["show", id, "--json"],
        &["sessions"],
        &["sessions", "--json"],
        &["show", HOSTILE],
        &["config", "get", HOSTILE],
    ];
    for verb in verbs {
        assert_harmless(&sandbox.run(verb));
    }
    let plain = sandbox.run(&["show", id, "--plain"]).stdout;
    assert_eq!((plain.lines().count(), plain.matches('\t').count()), (1, 3), "{plain:?}");
    let shown = sandbox.run(&["show", id, "--json"]).json();
    assert_eq!(shown[0]["text"], json!(HOSTILE), "JSON keeps what was said");
}

#[test]
fn a_damaged_line_costs_that_line_and_is_told() {
    let sandbox = Sandbox::with_two_sessions();
    let file = sandbox.root().join("2026-09-06T0900/raw.jsonl");
    let content = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("not json\n{content}")).unwrap();
    let run = sandbox.run(&["show", "2026-09-06T0900"]).expect(5);
    assert!(run.stdout.contains("Hello."), "{}", run.stdout);
    assert!(run.stderr.contains("raw.jsonl") && run.stderr.contains('1'), "{}", run.stderr);
}
