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
    let imported = |name: &str, id: &str, lines: u64| {
        let imported = sandbox.run(&["import", name, "--json"]).expect(0).json();
        let expected = json!({"id": id, "dir": sandbox.root().join(id), "already_native": lines == 0, "lines": lines,
            "edits": u64::from(lines > 0), "warnings": []});
        assert_eq!(imported, expected);
        let shown = sandbox.run(&["show", id, "--plain"]).expect(0);
        assert!(shown.stdout.contains("Priya"), "{}", shown.stdout);
    };
    imported(source.to_str().unwrap(), ID, 4);
    assert_eq!(files(&source), before);
    // Again it is the same, also once it was edited here.
    imported(&format!("sessions/{ID}"), ID, 0);
    sandbox.run(&["repair", ID, "Friday", "Monday"]).expect(0);
    imported(&format!("sessions/{ID}/"), ID, 0);
    // Another one of that name is another one.
    let raw = fs::read_to_string(source.join("raw.jsonl")).unwrap();
    fs::write(source.join("raw.jsonl"), raw.replace("Friday", "Sunday")).unwrap();
    imported(&format!("sessions/{ID}"), &format!("{ID}-02"), 4);
    imported(&format!("sessions/{ID}"), &format!("{ID}-02"), 0);
}

#[test]
fn a_whole_root_is_looked_at_imported_and_left_alone_the_second_time() {
    let sandbox = from_elsewhere();
    let old = sandbox.folder().join("sessions");
    fs::create_dir(old.join("holiday photos")).unwrap();
    fs::write(old.join("notes.txt"), "mine").unwrap();
    let raw = old.join("2026-09-06T0900/raw.jsonl");
    fs::write(&raw, fs::read_to_string(&raw).unwrap() + "not json\n").unwrap();
    // One that was killed while it was captured has lines and no description.
    let killed = old.join("2026-09-07T1000");
    fs::create_dir(&killed).unwrap();
    fs::write(killed.join("raw.jsonl"), line("room", 0, "cut off").to_string() + "\n").unwrap();
    let before: Vec<_> = ["2026-09-06T0900", ID].iter().map(|id| files(&old.join(id))).collect();
    let run = sandbox.run(&["import", "sessions", "--dry-run"]).expect(5);
    assert!(
        run.stderr.contains("raw.jsonl, line 2") && run.stderr.contains("3 would be imported"),
        "{}",
        run.stderr
    );
    assert!(!sandbox.root().exists(), "nothing was done");
    let run = sandbox.run(&["import", old.to_str().unwrap()]).expect(5);
    assert!(run.stderr.contains("3 imported, 0 there already, 0 could not be"), "{}", run.stderr);
    assert_eq!(run.stdout.lines().count(), 3);
    assert!(sandbox.run(&["show", "2026-09-07"]).expect(0).stdout.contains("cut off"));
    let again = sandbox.run(&["import", "sessions"]).expect(0);
    assert!(again.stderr.contains("0 imported, 3 there already"), "{}", again.stderr);
    let look = sandbox.run(&["import", "sessions", "--dry-run", "--json"]).expect(0).json();
    assert!(look.as_array().unwrap().iter().all(|row| row["already_native"] == true), "{look}");
    assert_eq!(fs::read_dir(sandbox.root()).unwrap().count(), 3);
    let after: Vec<_> = ["2026-09-06T0900", ID].iter().map(|id| files(&old.join(id))).collect();
    assert!(before == after, "the originals are untouched");
    // One that cannot be imported keeps no other from it.
    fs::remove_dir_all(sandbox.root()).unwrap();
    fs::remove_file(old.join("2026-09-06T0900/edits.jsonl")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", old.join("2026-09-06T0900/edits.jsonl")).unwrap();
    let run = sandbox.run(&["import", "sessions"]);
    assert!(run.code == 1 && run.stderr.contains("2 imported, 0 there already, 1 could not be"), "{run:?}");
}

#[test]
fn a_root_of_ones_own_is_imported_where_it_lies() {
    let sandbox = Sandbox::with_two_sessions();
    let run = sandbox.run(&["import", "sessions"]).expect(0);
    assert!(run.stderr.contains("2 imported"), "{}", run.stderr);
    assert!(sandbox.root().join(ID).join("log").is_dir());
    sandbox.run(&["import", "sessions"]).expect(0);
    assert_eq!(fs::read_dir(sandbox.root()).unwrap().count(), 2);
}

#[test]
fn what_was_given_back_comes_in_under_its_own_id() {
    let sandbox = from_elsewhere();
    let source = sandbox.folder().join("sessions").join(ID);
    sandbox.run(&["import", source.to_str().unwrap()]).expect(0);
    let given = sandbox.run(&["export", ID, "--format", "jsonl"]).expect(0).stdout;
    let again = sandbox.run(&["import", given.trim_end(), "--json"]).expect(0).json();
    assert_eq!((&again["id"], &again["already_native"]), (&json!(ID), &json!(true)), "{again}");
    let mut elsewhere = Sandbox::new();
    elsewhere.use_root("other");
    let run = elsewhere.run(&["import", given.trim_end(), "--json"]).expect(0).json();
    assert_eq!(run["id"], json!(ID));
}

#[test]
fn an_archive_is_checked_and_becomes_the_session_again() {
    let sandbox = from_elsewhere();
    let source = sandbox.folder().join("sessions").join(ID);
    sandbox.run(&["import", source.to_str().unwrap()]).expect(0);
    let shown = sandbox.run(&["show", ID]).expect(0).stdout;
    let written = sandbox.run(&["export", ID, "--archive"]).expect(0).stdout;
    let path = sandbox.folder().join(format!("{ID}.ambient.tar"));
    assert_eq!(written.trim_end(), path.to_str().unwrap());
    assert!(sandbox.run(&["export", ID, "--archive"]).expect(1).stderr.contains("--force"));
    sandbox.run(&["export", ID, "--archive", "--out", "-"]).expect(2);
    sandbox.run(&["export", ID, "--archive", "--format", "srt"]).expect(2);
    let name = path.file_name().unwrap().to_str().unwrap();
    assert!(sandbox.run(&["import", name]).expect(0).stderr.contains("there already"));
    fs::remove_dir_all(sandbox.root().join(ID)).unwrap();
    sandbox.run(&["import", name, "--dry-run"]).expect(0);
    assert!(!sandbox.root().join(ID).exists());
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(sandbox.folder().join("bad.tar"), &bytes).unwrap();
    let refused = sandbox.run(&["import", "bad.tar"]).expect(1);
    assert!(refused.stderr.contains("altered") && refused.stderr.contains("bad.tar"), "{}", refused.stderr);
    assert!(!sandbox.root().join(ID).exists());
    sandbox.run(&["import", name]).expect(0);
    assert_eq!(sandbox.run(&["show", ID]).expect(0).stdout, shown);
}

#[test]
fn a_transcript_of_another_program_becomes_a_session_once() {
    let sandbox = Sandbox::new();
    let file = |name: &str, text: &[u8]| fs::write(sandbox.folder().join(name), text).unwrap();
    file("Weekly talk.srt", b"1\n00:00:01,000 --> 00:00:02,000\nAna: hello\n\n2\nx --> y\nlost\n\n");
    let look = sandbox.run(&["import", "Weekly talk.srt", "--dry-run"]).expect(5);
    assert!(look.stderr.contains("Weekly talk.srt, line 6") && !sandbox.root().exists(), "{look:?}");
    let run = sandbox.run(&["import", "Weekly talk.srt", "--json"]).expect(5).json();
    assert_eq!((&run["lines"], &run["already_native"]), (&json!(1), &json!(false)), "{run}");
    assert!(run["id"].as_str().unwrap().ends_with("-weekly-talk"), "{run}");
    let shown = sandbox.run(&["show", "latest", "--plain"]).expect(0).stdout;
    assert_eq!(shown, "00:01\troom\tAna\thello\n");
    let again = sandbox.run(&["import", "Weekly talk.srt", "--json"]).expect(5).json();
    assert_eq!((&again["id"], &again["already_native"]), (&run["id"], &json!(true)));
    let json = sandbox.run(&["export", "latest", "--format", "json", "--out", "talk.json"]);
    assert_eq!(json.code, 0, "{json:?}");
    sandbox.run(&["import", "talk.json"]).expect(0);
    assert_eq!(fs::read_dir(sandbox.root()).unwrap().count(), 2);
    for (name, bytes) in [
        ("a.txt", &b"hello"[..]),
        ("b.srt", b"\xff\xfe1\0"),
        ("c.json", b"{\"a\":[}"),
        ("d.vtt", b""),
        ("e.json", b"[]"),
    ] {
        file(name, bytes);
        let refused = sandbox.run(&["import", name]).expect(1);
        assert!(refused.stderr.contains(name), "{}", refused.stderr);
    }
    assert_eq!(fs::read_dir(sandbox.root()).unwrap().count(), 2);
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
