//! `import` and `export --format jsonl`: the older layout in and out, as people and scripts do it.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, line};

const ID: &str = "2026-09-05T1412-weekly-sync";

fn files(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_file())
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect();
    files.sort();
    files
}

/// A sandbox whose two sessions lie outside the root.
fn from_elsewhere() -> Sandbox {
    let mut sandbox = Sandbox::with_two_sessions();
    sandbox.use_root("root");
    sandbox
}

#[test]
fn a_session_of_ones_own_is_imported_where_it_lies_and_reads_as_before() {
    let sandbox = Sandbox::with_two_sessions();
    let folder = sandbox.root().join(ID);
    let (before, shown) = (files(&folder), sandbox.run(&["show", ID, "--json"]).expect(0).json());
    let run = sandbox.run(&["import", "2026-09-05"]).expect(0);
    assert_eq!(run.stdout.trim_end(), folder.to_str().unwrap());
    assert!(run.stderr.contains("4 lines and 1 edits"), "{}", run.stderr);
    assert_eq!(files(&folder), before);
    assert!(folder.join("log").is_dir());
    assert_eq!(sandbox.run(&["show", ID, "--json"]).expect(0).json(), shown);
    let again = sandbox.run(&["import", ID]).expect(0);
    assert!(again.stderr.contains("has a log already"), "{}", again.stderr);
    assert_eq!(again.stdout.trim_end(), folder.to_str().unwrap());
}

#[test]
fn a_session_from_elsewhere_comes_in_under_its_id_or_with_a_number() {
    let sandbox = from_elsewhere();
    let source = sandbox.folder().join("sessions").join(ID);
    let before = files(&source);
    for (name, id) in [
        (source.to_str().unwrap().to_owned(), ID.to_owned()),
        (format!("sessions/{ID}"), format!("{ID}-02")),
        (format!("sessions/{ID}/"), format!("{ID}-03")),
    ] {
        let imported = sandbox.run(&["import", &name, "--json"]).expect(0).json();
        let expected = json!({"id": id, "dir": sandbox.root().join(&id), "already_native": false, "lines": 4,
            "edits": 1, "warnings": []});
        assert_eq!(imported, expected);
        let shown = sandbox.run(&["show", &id, "--plain"]).expect(0);
        assert!(shown.stdout.contains("Priya"), "{}", shown.stdout);
    }
    assert_eq!(files(&source), before);
}

#[test]
fn a_directory_here_needs_no_dot() {
    let sandbox = from_elsewhere();
    let name = "2026-09-06T0900";
    let mut command = sandbox.command(&["import", name]);
    let output = command.current_dir(sandbox.folder().join("sessions")).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(sandbox.root().join(name).join("log").is_dir());
}

#[test]
fn a_session_that_is_being_recorded_is_busy() {
    let sandbox = from_elsewhere();
    let source = sandbox.folder().join("sessions").join(ID);
    fs::create_dir(source.join("audio")).unwrap();
    fs::write(source.join("audio/room.native.wav"), "").unwrap();
    let run = sandbox.run(&["import", source.to_str().unwrap()]).expect(4);
    assert!(run.stderr.contains("being recorded"), "{}", run.stderr);
    assert!(files(&sandbox.root()).is_empty());
}

#[test]
fn a_line_nobody_can_read_is_told_and_comes_back() {
    let sandbox = from_elsewhere();
    let source = sandbox.folder().join("sessions").join(ID);
    let raw = "not json\n".to_owned() + &fs::read_to_string(source.join("raw.jsonl")).unwrap();
    fs::write(source.join("raw.jsonl"), &raw).unwrap();
    let run = sandbox.run(&["import", source.to_str().unwrap()]).expect(5);
    assert!(run.stderr.contains("raw.jsonl, line 1: "), "{}", run.stderr);
    let out = sandbox.run(&["export", ID, "--format", "jsonl", "--output", "back"]).expect(0);
    assert_eq!(out.stdout.trim_end(), sandbox.folder().join("back").to_str().unwrap());
    assert_eq!(fs::read_to_string(sandbox.folder().join("back/raw.jsonl")).unwrap(), raw);
}

#[test]
fn the_older_layout_comes_back_as_it_was() {
    let sandbox = from_elsewhere();
    let source = sandbox.folder().join("sessions").join(ID);
    sandbox.run(&["import", source.to_str().unwrap()]).expect(0);
    let out = sandbox.run(&["export", ID, "--format", "jsonl"]).expect(0).stdout;
    let directory = sandbox.root().join(ID).join("jsonl");
    assert_eq!(out.trim_end(), directory.to_str().unwrap());
    let texts = |directory: &Path| -> Vec<_> {
        files(directory).into_iter().filter(|(name, _)| name != "transcript.md").collect()
    };
    assert_eq!(texts(&directory), texts(&source));
    assert!(directory.join("transcript.md").is_file(), "it is complete");
    // The one in the session is replaced, one that was named is not.
    sandbox.run(&["export", ID, "--format", "jsonl"]).expect(0);
    fs::write(directory.join("mine"), "").unwrap();
    sandbox.run(&["export", ID, "--format", "jsonl"]).expect(1);
    sandbox.run(&["export", ID, "--format", "jsonl", "--out", "there"]).expect(0);
    let refused = sandbox.run(&["export", ID, "--format", "jsonl", "--out", "there"]).expect(1);
    assert!(refused.stderr.contains("is there already"), "{}", refused.stderr);
    sandbox.run(&["export", ID, "--format", "jsonl", "--out", "-"]).expect(2);
    sandbox.run(&["export", ID, "--format", "jsonl", "--out", "no/such/folder"]).expect(1);
    let hidden = fs::read_dir(sandbox.folder()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(!hidden.into_iter().any(|name| name.to_str().unwrap().ends_with(".partial")));
}

#[test]
fn a_session_that_was_not_imported_is_given_as_it_is() {
    let sandbox = Sandbox::with_two_sessions();
    sandbox.run(&["export", ID, "--format", "jsonl", "--out", "copy"]).expect(0);
    assert_eq!(files(&sandbox.folder().join("copy")), files(&sandbox.root().join(ID)));
}

#[test]
fn killed_at_any_moment_it_leaves_a_session_that_reads_as_before_and_can_be_imported() {
    let sandbox = Sandbox::new();
    let lines: Vec<Value> = (0..60_000).map(|n| line("room", n * 1000, "and so on and so on")).collect();
    sandbox.session(ID, "2026-09-05T14:12:03Z", &lines, &[]);
    let source = sandbox.root().join(ID);
    let read = |sandbox: &Sandbox| sandbox.run(&["show", ID, "--since", "59990", "--json"]).expect(0).json();
    let shown = read(&sandbox);
    for in_place in [true, false] {
        let mut place = Sandbox::new();
        if in_place {
            place.use_root("mine");
            fs::create_dir(place.root()).unwrap();
            fs::create_dir(place.root().join(ID)).unwrap();
            for (name, bytes) in files(&source) {
                fs::write(place.root().join(ID).join(name), bytes).unwrap();
            }
        }
        let name = if in_place { ID } else { source.to_str().unwrap() };
        for wait_ms in [0, 5, 20, 60, 120] {
            let mut command = place.command(&["import", name]);
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            thread::sleep(Duration::from_millis(wait_ms));
            child.kill().unwrap();
            child.wait().unwrap();
            if in_place {
                assert_eq!(read(&place), shown);
            }
            if place.root().join(ID).join("log").exists() {
                break;
            }
        }
        // The last one may have been done before it was killed; then there is nothing left to do.
        if in_place || !place.root().join(ID).exists() {
            place.run(&["import", name]).expect(0);
        }
        assert_eq!(read(&place), shown);
        assert_eq!(place.run(&["sessions", "--json"]).expect(0).json()[0]["id"], json!(ID));
    }
}
