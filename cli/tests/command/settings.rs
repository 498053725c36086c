//! `ambient config`, and what a broken settings file does to other verbs.

use std::fs;

use serde_json::json;

use crate::sandbox::Sandbox;

#[test]
fn a_setting_is_kept_and_read_back() {
    let sandbox = Sandbox::new();
    let run = sandbox.run(&["config", "set", "model", "base"]).expect(0);
    assert_eq!(run.stdout, "model = base\n");
    assert!(run.stderr.contains(sandbox.config().to_str().unwrap()), "{}", run.stderr);
    assert_eq!(sandbox.run(&["config", "get", "model"]).expect(0).stdout, "base\n");
    assert_eq!(sandbox.run(&["config", "get", "model", "--json"]).expect(0).json(), json!("base"));
    sandbox.run(&["config", "set", "model", "default"]).expect(0);
    assert_eq!(sandbox.run(&["config", "get", "model"]).expect(0).stdout, "default\n");
}

#[test]
fn the_list_shows_every_setting_with_or_without_the_word() {
    let sandbox = Sandbox::new();
    sandbox.run(&["config", "set", "assistant.cooldown_s", "90"]).expect(0);
    let rows = sandbox.run(&["config", "list", "--json"]).expect(0).json();
    assert_eq!(sandbox.run(&["config", "--json"]).expect(0).json(), rows);
    let row = rows.as_array().unwrap().iter().find(|row| row["key"] == "assistant.cooldown_s").unwrap();
    assert_eq!((&row["value"], &row["default"]), (&json!(90), &json!(60)));
    let text = sandbox.run(&["config"]).expect(0).stdout;
    assert_eq!(text.lines().count(), rows.as_array().unwrap().len());
}

#[test]
fn an_unknown_key_or_a_bad_value_is_wrong_usage_and_names_what_is_right() {
    let sandbox = Sandbox::new();
    for arguments in [&["config", "get", "colour"][..], &["config", "set", "colour", "red"]] {
        let run = sandbox.run(arguments).expect(2);
        assert!(run.stderr.contains("sessions_dir, model, language"), "{}", run.stderr);
    }
    let run = sandbox.run(&["config", "set", "threshold", "-3"]).expect(2);
    assert!(run.stderr.contains("from 0 to 1"), "{}", run.stderr);
    assert!(!sandbox.config().exists());
}

#[test]
fn a_corrupt_file_is_told_and_read_as_defaults_and_never_replaced() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.config(), "{\"model\": \"ba").unwrap();
    let run = sandbox.run(&["config", "get", "model"]).expect(0);
    assert_eq!(run.stdout, "default\n");
    assert!(run.stderr.starts_with("warning: ") && run.stderr.contains("config.json"), "{}", run.stderr);
    assert_eq!(sandbox.run(&["sessions", "--json"]).expect(0).stdout, "[]\n");
    sandbox.run(&["config", "set", "model", "base"]).expect(1);
    assert_eq!(fs::read_to_string(sandbox.config()).unwrap(), "{\"model\": \"ba");
}

#[test]
fn processes_that_set_different_keys_at_once_lose_none() {
    let sandbox = Sandbox::new();
    let values = [("model", "base"), ("language", "en"), ("threshold", "0.25"), ("assistant.name", "Iris")];
    let start = |(key, value): (&str, &str)| {
        let mut command = sandbox.command(&["config", "set", key, value]);
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        command.spawn().unwrap()
    };
    for mut child in values.map(start) {
        assert!(child.wait().unwrap().success());
    }
    for (key, value) in values {
        assert_eq!(sandbox.run(&["config", "get", key]).expect(0).stdout, format!("{value}\n"));
    }
}

#[test]
fn without_a_home_the_settings_have_no_place_and_are_defaults() {
    let sandbox = Sandbox::new();
    let bare = |arguments: &[&str]| {
        let mut command = sandbox.command(arguments);
        command.env_remove("HOME").env_remove("AMBIENT_CONFIG");
        crate::sandbox::Run::from(command.output().unwrap())
    };
    assert_eq!(bare(&["config", "get", "audio_retention_days"]).expect(0).stdout, "7\n");
    let run = bare(&["config", "set", "model", "base"]).expect(1);
    assert!(run.stderr.contains("AMBIENT_CONFIG"), "{}", run.stderr);
}

#[test]
fn the_setting_moves_the_sessions_for_the_terminal_and_for_a_client_alike() {
    let sandbox = Sandbox::with_two_sessions();
    sandbox.run(&["config", "set", "sessions_dir", sandbox.root().to_str().unwrap()]).expect(0);
    let list = |arguments: &[&str]| {
        let mut command = sandbox.command(arguments);
        command.env_remove("AMBIENT_HOME");
        crate::sandbox::Run::from(command.output().unwrap()).expect(0)
    };
    assert_eq!(list(&["sessions", "--json"]).json().as_array().unwrap().len(), 2);
}
