//! The verbs that make something: what they refuse before anything is made, and what they write.

use std::fs;
use std::os::unix::fs::symlink;

use rustix::fs::{FlockOperation, flock};

use crate::sandbox::{Sandbox, line};

#[test]
fn nothing_is_made_when_something_needed_is_missing() {
    let sandbox = Sandbox::new();
    let text = sandbox.folder().join("notes.txt");
    fs::write(&text, "these are not sounds").unwrap();
    fs::create_dir(sandbox.folder().join("models")).unwrap();
    let silence = sandbox.wav("silence.wav");
    let (text, silence) = (text.to_str().unwrap(), silence.to_str().unwrap());
    let cases: &[(&[&str], i32, &str)] = &[
        (&["transcribe", "/nowhere/talk.wav"], 3, "talk.wav"),
        (&["transcribe", "--room", silence, "--call", "/nowhere/talk.wav"], 3, "talk.wav"),
        (&["transcribe", text], 1, "notes.txt"),
        (&["transcribe", "."], 3, "ambient models fetch tiny.en"),
        (&["transcribe", "models"], 3, "no audio file in models"),
        (&["transcribe", "-"], 3, "ambient models fetch tiny.en"),
        (&["transcribe", "-", silence], 2, "stands alone"),
        (&["transcribe", silence, silence, "--name", "Two"], 2, "--name is for one session"),
        (&["transcribe", silence, "--rate", "16000"], 2, "--rate is for bare samples"),
        (&["transcribe", silence, "--split-channels"], 1, "1 channel"),
        (&["transcribe", "--room", silence, "--call", silence], 2, "--split-channels"),
        (&["transcribe", silence], 3, "ambient models fetch tiny.en"),
        (&["transcribe", silence, "--model", "base"], 3, "ambient models fetch base"),
        (&["transcribe", silence, "--model", "../base"], 2, "model name"),
        (&["transcribe", silence, "--language", "de"], 3, "ambient models fetch tiny"),
    ];
    for (arguments, code, named) in cases {
        let run = sandbox.run(arguments).expect(*code);
        assert!(run.stderr.contains(named), "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.matches("os error").count() <= 1, "said twice: {}", run.stderr);
        assert!(!sandbox.root().exists(), "{arguments:?}");
    }
}

#[test]
fn resume_takes_the_one_that_was_interrupted_and_asks_when_there_are_several() {
    let sandbox = Sandbox::new();
    let run = sandbox.run(&["resume"]).expect(0);
    assert!(run.stderr.contains("nothing"), "{}", run.stderr);
    sandbox.interrupted_session("2026-11-30T1200");
    let run = sandbox.run(&["resume"]).expect(3);
    assert!(run.stderr.contains("ambient models fetch"), "it was taken, and lacks a model: {}", run.stderr);
    sandbox.interrupted_session("2026-11-30T1201");
    let run = sandbox.run(&["resume"]).expect(4);
    assert!(
        run.stderr.contains("2026-11-30T1200") && run.stderr.contains("2026-11-30T1201"),
        "{}",
        run.stderr
    );
    let list = sandbox.run(&["sessions"]).expect(0);
    assert_eq!(list.stdout.matches("interrupted").count(), 2, "{}", list.stdout);
    assert!(list.stderr.contains("ambient resume"), "{}", list.stderr);
}

#[test]
fn a_session_someone_works_on_is_busy() {
    let sandbox = Sandbox::new();
    let folder = sandbox.interrupted_session("2026-11-30T1200");
    for name in ["transcribing.lock", "recording.lock"] {
        let file = fs::File::create(folder.join(name)).unwrap();
        flock(&file, FlockOperation::LockExclusive).unwrap();
        let run = sandbox.run(&["resume", "latest"]).expect(4);
        assert!(run.stderr.contains("2026-11-30T1200"), "{}", run.stderr);
    }
}

#[test]
fn a_session_of_the_other_layout_is_not_finished_here() {
    let sandbox = Sandbox::with_two_sessions();
    sandbox.run(&["resume", "latest"]).expect(1);
}

#[test]
fn an_export_goes_where_it_is_told() {
    let sandbox = Sandbox::with_two_sessions();
    let id = "2026-09-05T1412-weekly-sync";
    for (format, extension, part) in [
        ("markdown", "md", "# Weekly sync"),
        ("text", "txt", "Priya: Yes."),
        ("json", "json", "\"speaker\": \"Priya\""),
        ("srt", "srt", "00:00:03,400 --> 00:00:04,400"),
        ("vtt", "vtt", "WEBVTT"),
        ("assistant", "assistant.md", "Read live with the ambient MCP server: session id"),
        ("csv", "csv", "call,3400,4400,Priya,"),
    ] {
        let out = sandbox.run(&["export", id, "--format", format, "--out", "-"]).expect(0).stdout;
        assert!(out.contains(part), "{format}: {out}");
        let run = sandbox.run(&["export", id, "--format", format]).expect(0);
        let path = sandbox.root().join(id).join(format!("transcript.{extension}"));
        assert_eq!(run.stdout.trim_end(), path.to_str().unwrap());
        assert_eq!(fs::read_to_string(path).unwrap(), out);
        let named = sandbox.folder().join("talk");
        fs::write(&named, "older").unwrap();
        let refused = sandbox.run(&["export", id, "--format", format, "--out", "talk"]).expect(1);
        assert!(refused.stderr.contains("--force"), "{}", refused.stderr);
        assert_eq!(fs::read_to_string(&named).unwrap(), "older");
        sandbox.run(&["export", id, "--format", format, "--out", "talk", "--force"]).expect(0);
        assert_eq!(fs::read_to_string(named).unwrap(), out);
    }
}

#[test]
fn many_sessions_and_formats_go_to_a_folder_under_their_names() {
    let sandbox = Sandbox::with_two_sessions();
    sandbox.session("aux", "2026-09-07T09:00:00Z", &[line("room", 0, "Odd.")], &[]);
    let folder = sandbox.folder().join("talks");
    let ids = ["2026-09-05T1412-weekly-sync", "2026-09-06T0900", "aux"];
    let export = |out: &str, more: &[&str]| {
        let words = [&["export"], &ids[..], &["--format", "srt,text", "--out", out], more].concat();
        sandbox.run(&words)
    };
    assert!(export("talks", &[]).expect(1).stderr.contains("talks"), "there is no such folder");
    fs::create_dir(&folder).unwrap();
    let run = export("talks", &[]).expect(0);
    let mut names: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let expected = [
        "2026-09-05T1412-weekly-sync.srt",
        "2026-09-05T1412-weekly-sync.txt",
        "2026-09-06T0900.srt",
        "2026-09-06T0900.txt",
        "_aux.srt",
        "_aux.txt",
    ];
    assert_eq!(names, expected);
    assert_eq!(run.stdout.lines().count(), 6);
    assert!(run.stdout.lines().all(|path| std::path::Path::new(path).is_file()), "{}", run.stdout);
    // What is there stays, and what is not is written all the same.
    fs::write(folder.join("2026-09-06T0900.srt"), "mine").unwrap();
    fs::remove_file(folder.join("_aux.txt")).unwrap();
    let run = export("talks/", &[]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.matches("is there already").count() == 5, "{}", run.stderr);
    assert_eq!(fs::read_to_string(folder.join("2026-09-06T0900.srt")).unwrap(), "mine");
    assert!(folder.join("_aux.txt").is_file());
    export("talks", &["--force"]).expect(0);
    assert_ne!(fs::read_to_string(folder.join("2026-09-06T0900.srt")).unwrap(), "mine");
    assert!(export("-", &[]).expect(2).stderr.contains("one document"));
    // One that cannot be read keeps no other from being written.
    fs::remove_file(folder.join("_aux.txt")).unwrap();
    fs::remove_file(sandbox.root().join("2026-09-06T0900/raw.jsonl")).unwrap();
    fs::create_dir(sandbox.root().join("2026-09-06T0900/raw.jsonl")).unwrap();
    let run = export("talks", &["--force"]);
    assert!(run.code == 1 && run.stderr.contains("raw.jsonl"), "{run:?}");
    assert!(folder.join("_aux.txt").is_file());
    let older = sandbox.run(&["export", ids[0], ids[2], "--format", "jsonl", "--out", "talks"]).expect(0);
    assert!(
        older.stdout.lines().all(|path| std::path::Path::new(path).join("raw.jsonl").is_file()),
        "{older:?}"
    );
}

#[test]
fn no_export_becomes_a_part_of_a_session() {
    let sandbox = Sandbox::with_two_sessions();
    let id = "2026-09-05T1412-weekly-sync";
    sandbox.run(&["import", id]).expect(0);
    let session = sandbox.root().join(id);
    let raw = fs::read(session.join("raw.jsonl")).unwrap();
    for out in
        ["raw.jsonl", "session.json", "log/transcript.md", "log/", "log", "notes.md", "log/../raw.jsonl"]
    {
        let out = session.join(out);
        let run = sandbox.run(&["export", id, "--force", "--out", out.to_str().unwrap()]);
        assert!(run.code == 1 || run.code == 2, "{out:?}: {run:?}");
        let run =
            sandbox.run(&["export", id, "--format", "jsonl", "--force", "--out", out.to_str().unwrap()]);
        assert!(run.code == 1 || run.code == 2, "{out:?}: {run:?}");
    }
    assert_eq!(fs::read(session.join("raw.jsonl")).unwrap(), raw);
    let names: Vec<_> =
        fs::read_dir(session.join("log")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(names.iter().all(|name| !name.to_str().unwrap().contains("transcript")), "{names:?}");
    sandbox.run(&["export", id, "--out", session.join("transcript.mine.md").to_str().unwrap()]).expect(0);
}

#[test]
fn an_export_replaces_files_and_nothing_else() {
    let sandbox = Sandbox::with_two_sessions();
    let precious = sandbox.folder().join("precious");
    fs::write(&precious, "mine").unwrap();
    symlink(&precious, sandbox.folder().join("link")).unwrap();
    fs::create_dir(sandbox.folder().join("folder")).unwrap();
    for out in ["link", "folder/none/", "/dev/null", "/dev/null/", "nowhere/at/all"] {
        let run = sandbox.run(&["export", "latest", "--force", "--out", out]);
        assert!(run.code == 1 || run.code == 2, "{out}: {run:?}");
        assert_eq!(run.stdout, "");
    }
    assert_eq!(fs::read_to_string(&precious).unwrap(), "mine");
    assert!(fs::metadata("/dev/null").is_ok_and(|found| !found.is_file()));
}

#[test]
fn a_transcript_that_says_complete_is_not_put_into_a_session_that_is_not() {
    let sandbox = Sandbox::new();
    let id = "2026-09-05T1412";
    let folder = sandbox.session(id, "2026-09-05T14:12:03Z", &[line("room", 0, "Hello.")], &[]);
    fs::remove_file(folder.join("transcript.md")).unwrap();
    let run = sandbox.run(&["export", id]).expect(1);
    assert!(run.stderr.contains("--out"), "{}", run.stderr);
    assert!(!folder.join("transcript.md").exists());
    sandbox.run(&["export", id, "--out", "-"]).expect(0);
    sandbox.run(&["export", id, "--format", "srt"]).expect(0);
}

#[test]
fn a_model_is_deleted_when_that_is_meant() {
    let sandbox = Sandbox::new();
    let file = sandbox.folder().join("models/ggml-mine.bin");
    fs::create_dir(file.parent().unwrap()).unwrap();
    fs::write(&file, "weights").unwrap();
    assert_eq!(sandbox.run(&["models", "path", "mine"]).expect(0).stdout, format!("{}\n", file.display()));
    let run = sandbox.run(&["models", "remove", "mine"]).expect(2);
    assert!(run.stderr.contains("--yes") && file.exists(), "{}", run.stderr);
    sandbox.run(&["models", "remove", "mine", "--yes"]).expect(0);
    assert!(!file.exists());
    sandbox.run(&["models", "remove", "mine", "--yes"]).expect(3);
    sandbox.run(&["models", "path", "mine"]).expect(3);
    sandbox.run(&["models", "fetch", "enormous"]).expect(3);
    sandbox.run(&["models", "import", "/nowhere/ggml-mine.bin"]).expect(3);
}

#[test]
fn the_list_of_models_says_what_is_known_and_what_is_here() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.folder().join("models")).unwrap();
    fs::write(sandbox.folder().join("models/ggml-mine.bin"), "weights").unwrap();
    let rows = sandbox.run(&["models", "--json"]).expect(0).json();
    assert_eq!(sandbox.run(&["models", "list", "--json"]).expect(0).json(), rows);
    let row = |name: &str| rows.as_array().unwrap().iter().find(|row| row["name"] == name).unwrap();
    assert_eq!(row("tiny.en")["size_bytes"], 77_704_715);
    assert!(row("tiny.en")["path"].is_null());
    assert_eq!(row("tiny.en")["licence"], "MIT");
    assert_eq!(row("mine")["size_bytes"], 7);
    assert!(row("mine")["path"].as_str().unwrap().ends_with("ggml-mine.bin"));
}
