//! `ambient doctor`: what it checks, and that it ends with 1 when a check fails.

use std::fs;

use serde_json::Value;

use crate::sandbox::{Run, Sandbox};

fn check<'a>(checks: &'a Value, name: &str) -> &'a Value {
    let found = checks.as_array().unwrap().iter().find(|check| check["name"] == name);
    found.unwrap_or_else(|| panic!("no check {name}: {checks}"))
}

/// Runs the checks; a failed one is an outcome and not an error, so the list is printed all the same.
fn doctor(sandbox: &Sandbox, code: i32) -> Value {
    let run = sandbox.run(&["doctor", "--json"]);
    assert_eq!(run.code, code, "{run:?}");
    run.json()
}

/// A file of the length of the model, which is all that is looked at.
fn put_model(sandbox: &Sandbox, name: &str, len_bytes: u64) {
    let folder = sandbox.folder().join("models");
    fs::create_dir_all(&folder).unwrap();
    fs::File::create(folder.join(format!("ggml-{name}.bin"))).unwrap().set_len(len_bytes).unwrap();
}

#[test]
fn a_fresh_machine_lacks_a_model_and_nothing_else() {
    let sandbox = Sandbox::new();
    let checks = doctor(&sandbox, 1);
    for found in checks.as_array().unwrap() {
        let keys: Vec<_> = found.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["detail", "name", "ok"]);
        assert_eq!(found["ok"], found["name"] != "models/recogniser", "{found}");
    }
    let detail = check(&checks, "models/recogniser")["detail"].as_str().unwrap();
    assert!(detail.contains("ambient models fetch tiny.en"), "{detail}");
    let text = sandbox.run(&["doctor"]);
    assert_eq!((text.code, text.stdout.matches("FAIL").count()), (1, 1), "{text:?}");
    put_model(&sandbox, "tiny.en", 77_704_715);
    doctor(&sandbox, 0);
}

#[test]
fn each_thing_that_is_wrong_fails_its_check() {
    let sandbox = Sandbox::with_two_sessions();
    put_model(&sandbox, "tiny.en", 5);
    fs::write(sandbox.config(), "[]").unwrap();
    sandbox.interrupted_session("2026-11-30T1200");
    let broken = sandbox.root().join("2026-11-30T1300");
    fs::create_dir(&broken).unwrap();
    fs::write(broken.join("session.json"), "{").unwrap();
    fs::create_dir(sandbox.root().join(".2026-11-30T1400.partial")).unwrap();
    let checks = doctor(&sandbox, 1);
    let failed =
        ["models/recogniser", "config", "sessions/interrupted", "sessions/broken", "sessions/leftovers"];
    for found in checks.as_array().unwrap() {
        let name = found["name"].as_str().unwrap();
        assert_eq!(found["ok"], !failed.contains(&name), "{found}");
    }
    let interrupted = check(&checks, "sessions/interrupted")["detail"].as_str().unwrap();
    assert!(
        interrupted.contains("2026-11-30T1200") && interrupted.contains("ambient resume"),
        "{interrupted}"
    );
}

#[test]
fn a_folder_for_sessions_that_cannot_be_made_is_told() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&["doctor", "--json"]);
    command.env("AMBIENT_HOME", sandbox.config().join("below/a/file"));
    fs::write(sandbox.config(), "{}").unwrap();
    let checks = Run::from(command.output().unwrap()).json();
    assert_eq!(check(&checks, "sessions/writable")["ok"], false);
}
