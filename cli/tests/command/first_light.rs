//! The whole path on real speech: two audio files to a session that people and assistants read, ended
//! from outside in the middle and finished afterwards.
//!
//! Needs the small recogniser. Where it is not, the tests say so and do nothing, unless
//! `AMBIENT_REQUIRE_MODELS=1`.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::sandbox::{Run, Sandbox};

/// Longer than any machine takes for half a minute of speech.
const DEADLINE: Duration = Duration::from_secs(300);

/// A sandbox with the models of this machine, when the recogniser is among them.
pub(crate) fn with_models() -> Option<Sandbox> {
    let found =
        Command::new(env!("CARGO_BIN_EXE_ambient")).args(["models", "path", "tiny.en"]).output().unwrap();
    if found.status.success() {
        let path = PathBuf::from(String::from_utf8(found.stdout).unwrap().trim_end());
        let mut sandbox = Sandbox::new();
        sandbox.use_models(path.parent().unwrap());
        return Some(sandbox);
    }
    let reason = String::from_utf8_lossy(&found.stderr).into_owned();
    assert!(std::env::var_os("AMBIENT_REQUIRE_MODELS").is_none_or(|value| value != "1"), "{reason}");
    println!("nothing was tested: {reason}");
    None
}

fn transcribe(sandbox: &Sandbox) -> Command {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/meeting");
    let (room, call) = (samples.join("room.flac"), samples.join("call.flac"));
    let (room, call) = (room.to_str().unwrap(), call.to_str().unwrap());
    sandbox.command(&[
        "transcribe",
        "--room",
        room,
        "--call",
        call,
        "--name",
        "First light",
        "--model",
        "tiny.en",
    ])
}

fn lines(sandbox: &Sandbox, session: &str) -> Vec<Value> {
    let transcript = sandbox.run(&["show", session, "--json"]).expect(0).json();
    transcript.as_array().unwrap().clone()
}

/// Starts a transcription and waits until it has written a line, so that it is in the middle.
fn begun(sandbox: &Sandbox) -> Child {
    let mut child = transcribe(sandbox).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let started = Instant::now();
    loop {
        let shown = sandbox.run(&["show", "latest", "--plain"]);
        if shown.code == 0 && !shown.stdout.is_empty() {
            return child;
        }
        assert!(child.try_wait().unwrap().is_none(), "it ended without a line that was seen");
        assert!(started.elapsed() < DEADLINE, "no line came");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn words(lines: &[Value], track: &str) -> String {
    let texts = lines.iter().filter(|line| line["track"] == track).map(|line| line["text"].as_str().unwrap());
    texts.collect::<Vec<_>>().join(" ").to_lowercase()
}

/// What an undisturbed run makes of the samples, checked against what is really said.
fn undisturbed(sandbox: &Sandbox) -> Vec<Value> {
    let run = Run::from(transcribe(sandbox).output().unwrap()).expect(0);
    let folder = run.stdout.trim_end();
    assert!(Path::new(folder).join("transcript.md").is_file(), "{run:?}");
    assert!(run.stderr.trim_end().lines().last().unwrap().contains("ambient show "), "{}", run.stderr);
    let lines = lines(sandbox, folder);
    let (room, call) = (words(&lines, "room"), words(&lines, "call"));
    assert!(room.contains("leisure to consider") && room.contains("cold-hearted"), "{room}");
    assert!(call.contains("fellow americans") && call.contains("for your country"), "{call}");
    assert!(!room.contains("americans") && !call.contains("leisure"), "each on its own track");
    lines
}

/// The session is complete, and everyone reads the same lines.
fn assert_complete(sandbox: &Sandbox, id: &str, expected: &[Value]) {
    let transcript = sandbox.tool("transcript", &json!({"session": id}));
    assert_eq!(transcript["state"], "done");
    assert_eq!(transcript["next"], expected.len());
    assert_eq!(transcript["lines"].as_array().unwrap(), expected, "no line doubled, lost or different");
    assert_eq!(lines(sandbox, id), expected);
}

fn only_session(sandbox: &Sandbox) -> (String, String) {
    let list = sandbox.run(&["sessions"]).expect(0).stdout;
    let row = list.lines().next().unwrap();
    (row.split_whitespace().next().unwrap().to_owned(), row.to_owned())
}

#[test]
fn a_session_that_was_killed_is_finished_without_a_doubled_or_lost_line() {
    let Some(mut sandbox) = with_models() else { return };
    let expected = undisturbed(&sandbox);
    sandbox.use_root("killed");
    let mut child = begun(&sandbox);
    child.kill().unwrap();
    child.wait().unwrap();
    let (id, row) = only_session(&sandbox);
    assert!(row.contains("interrupted"), "{row}");
    let kept = lines(&sandbox, &id);
    assert!(expected.starts_with(&kept), "what was read before stands: {kept:?}");
    let run = sandbox.run(&["resume"]).expect(0);
    assert_eq!(run.stdout.trim_end(), sandbox.root().join(&id).to_str().unwrap());
    assert_complete(&sandbox, &id, &expected);
    let again = sandbox.run(&["resume", &id]).expect(0);
    assert!(again.stderr.contains("complete"), "{}", again.stderr);
    assert_complete(&sandbox, &id, &expected);
}

#[test]
fn one_interrupt_stops_cleanly_and_says_how_to_go_on() {
    let Some(mut sandbox) = with_models() else { return };
    sandbox.use_root("whole");
    let expected = undisturbed(&sandbox);
    sandbox.use_root("interrupted");
    let child = begun(&sandbox);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let run = Run::from(child.wait_with_output().unwrap()).expect(130);
    let (id, row) = only_session(&sandbox);
    assert!(row.contains("interrupted"), "{row}");
    assert!(run.stderr.contains(&format!("ambient resume {id}")), "{}", run.stderr);
    sandbox.run(&["resume", &id, "--quiet"]).expect(0);
    assert_complete(&sandbox, &id, &expected);
}
