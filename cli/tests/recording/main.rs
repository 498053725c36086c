//! Recording for real: the built program, a sound system, the real recogniser, and real people's words
//! played into both sides while time passes.
//!
//! Needs PulseAudio and the small recogniser. Where they are not, the tests say so and do nothing, unless
//! `AMBIENT_REQUIRE_AUDIO=1`.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]
#![allow(dead_code, reason = "the sandbox is shared with the tests of the other verbs")]

mod assistant;
#[path = "../command/sandbox.rs"]
mod sandbox;
#[path = "../command/served.rs"]
mod served;
mod sound_system;
mod trouble;

use std::collections::BTreeSet;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::sandbox::{Run, Sandbox};
use crate::sound_system::{Studio, wait_until, with_one_retry};

/// Options of every recording here.
const RECORD: [&str; 6] = ["record", "--yes", "--model", "tiny.en", "--name", "Live"];

fn lines(sandbox: &Sandbox, session: &str) -> Vec<Value> {
    let transcript = sandbox.run(&["show", session, "--json"]).expect(0).json();
    transcript.as_array().unwrap().clone()
}

/// The lines in the order in which they were written, which is not that of the clock.
fn written(sandbox: &Sandbox, session: &str) -> Vec<Value> {
    let id = std::path::Path::new(session).file_name().unwrap().to_str().unwrap();
    sandbox.tool("transcript", &json!({"session": id}))["lines"].as_array().unwrap().clone()
}

fn words(lines: &[Value], track: &str) -> String {
    let texts = lines.iter().filter(|line| line["track"] == track).map(|line| line["text"].as_str().unwrap());
    texts.collect::<Vec<_>>().join(" ").to_lowercase()
}

/// What the MCP server says about the session that is being recorded, if one is.
fn live_over_mcp(sandbox: &Sandbox) -> Option<Value> {
    let id = sandbox.tool("status", &json!({}))["live"]["id"].as_str()?.to_owned();
    Some(sandbox.tool("transcript", &json!({"session": id})))
}

/// How much later each line of `live` begins than the same words of `file`, in milliseconds.
fn delays_ms(live: &[Value], file: &[Value]) -> Vec<i64> {
    let opening = |line: &Value| {
        let text = line["text"].as_str().unwrap().to_lowercase();
        let words: Vec<&str> = text.split(|letter: char| !letter.is_alphanumeric()).collect();
        words.into_iter().filter(|word| !word.is_empty()).take(3).map(str::to_owned).collect::<Vec<_>>()
    };
    let start_ms = |line: &Value| line["start_ms"].as_i64().unwrap();
    let delay = |line: &Value| {
        let same =
            file.iter().find(|other| other["track"] == line["track"] && opening(other) == opening(line))?;
        Some(start_ms(line) - start_ms(same))
    };
    live.iter().filter_map(delay).collect()
}

#[test]
fn both_sides_are_heard_in_their_place_and_read_before_the_end() {
    with_one_retry(hear_both_sides);
}

fn hear_both_sides() {
    let Some(studio) = Studio::open() else { return };
    let sandbox = &studio.sandbox;
    let recorder = studio.start(&RECORD);
    wait_until("a session is live", || live_over_mcp(sandbox).is_some());
    let players = [studio.play("room", "room_feed"), studio.play("call", "call_out")];
    wait_until("a line is read over MCP while it is being recorded", || {
        live_over_mcp(sandbox).is_some_and(|transcript| {
            transcript["state"] == "live" && !transcript["lines"].as_array().unwrap().is_empty()
        })
    });
    let status = studio.run(&["status", "--json"]).expect(0).json();
    assert_eq!(status[0]["tracks"].as_array().unwrap().len(), 2, "{status}");
    for mut player in players {
        player.wait().unwrap();
    }
    let stopped = studio.run(&["stop"]).expect(0);
    let run = Run::from(recorder.wait_with_output().unwrap()).expect(0);
    assert_eq!(run.stdout, stopped.stdout, "both say where it is");
    for track in ["room: ", "call: "] {
        let proof = run.stderr.lines().find(|line| line.starts_with(track) && line.contains("captured"));
        assert!(proof.is_some_and(|proof| proof.contains("worst lag")), "{}", run.stderr);
        assert!(stopped.stderr.contains(proof.unwrap()), "both say the same of it: {stopped:?}");
    }
    let row = &sandbox.tool("sessions", &json!({}))[0];
    let described = std::fs::read_to_string(std::path::Path::new(run.stdout.trim_end()).join("session.json"));
    let described: Value = serde_json::from_str(&described.unwrap()).unwrap();
    assert_eq!(row["proof"], described["proof"]);
    let room = &row["proof"][0];
    assert!(room["lines"].as_u64() >= Some(3) && room["captured_s"].as_f64() > Some(20.0), "{row}");
    assert!(room["worst_lag_s"].as_f64() > Some(0.0), "{row}");

    let live = lines(sandbox, run.stdout.trim_end());
    let (room, call) = (words(&live, "room"), words(&live, "call"));
    assert!(room.contains("leisure to consider") && room.contains("ill-disposed"), "{room}");
    assert!(call.contains("fellow americans") && call.contains("for your country"), "{call}");
    assert!(!room.contains("americans") && !call.contains("leisure"), "each on its own track");

    let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/meeting");
    let (room, call) = (samples.join("room.flac"), samples.join("call.flac"));
    let files = ["transcribe", "--quiet", "--model", "tiny.en", "--room", room.to_str().unwrap(), "--call"];
    let file = sandbox.run(&[&files[..], &[call.to_str().unwrap()]].concat()).expect(0);
    let delays_ms = delays_ms(&live, &lines(sandbox, file.stdout.trim_end()));
    assert!(delays_ms.len() >= 4, "{delays_ms:?}");
    let spread_ms = delays_ms.iter().max().unwrap() - delays_ms.iter().min().unwrap();
    assert!(spread_ms <= 600, "every line within 300 ms of the same delay: {delays_ms:?}");
    assert!(studio.run(&["stop"]).expect(3).stderr.contains("nothing is being recorded"));
}

#[test]
fn a_recorder_that_is_killed_loses_no_line_and_its_sound_is_finished() {
    with_one_retry(kill_the_recorder);
}

fn kill_the_recorder() {
    let Some(studio) = Studio::open() else { return };
    let sandbox = &studio.sandbox;
    let mut recorder = studio.start(&RECORD);
    wait_until("a session is live", || live_over_mcp(sandbox).is_some());
    let mut players = [studio.play("room", "room_feed"), studio.play("call", "call_out")];
    let mut published = Vec::new();
    wait_until("there are two lines", || {
        let transcript = live_over_mcp(sandbox);
        published = transcript.map_or(Vec::new(), |told| told["lines"].as_array().unwrap().clone());
        published.len() >= 2
    });
    recorder.kill().unwrap();
    recorder.wait().unwrap();
    for player in &mut players {
        player.kill().unwrap();
        player.wait().unwrap();
    }
    let listed = sandbox.run(&["sessions"]).expect(0);
    assert!(listed.stdout.contains("interrupted") && listed.stderr.contains("ambient resume"), "{listed:?}");
    assert!(sandbox.run(&["doctor"]).stdout.contains("ambient resume"));
    let resumed = sandbox.run(&["resume", "--quiet"]).expect(0);
    let finished = written(sandbox, resumed.stdout.trim_end());
    assert!(finished.starts_with(&published), "what was read before stands: {finished:?}");
    let places: Vec<_> =
        finished.iter().map(|line| (line["track"].as_str(), line["start_ms"].as_u64())).collect();
    assert_eq!(places.iter().collect::<BTreeSet<_>>().len(), places.len(), "no turn twice: {finished:?}");
    assert!(sandbox.run(&["sessions"]).expect(0).stdout.contains("done"));
    sandbox.run(&["resume", "latest"]).expect(0);
    assert_eq!(written(sandbox, resumed.stdout.trim_end()), finished, "resuming twice changes nothing");
}

#[test]
fn a_microphone_that_is_taken_away_and_another_output_cost_the_time_between_alone() {
    with_one_retry(take_the_microphone_away);
}

fn take_the_microphone_away() {
    let Some(studio) = Studio::open() else { return };
    let sandbox = &studio.sandbox;
    let recorder = studio.start(&[&RECORD[..], &["--mic", "room_mic"]].concat());
    wait_until("a session is live", || live_over_mcp(sandbox).is_some());
    std::thread::sleep(std::time::Duration::from_secs(2));
    studio.expect(&["unload-module", "module-remap-source"]);
    studio.expect(&["load-module", "module-null-sink", "norewinds=1", "sink_name=headset", "rate=44100"]);
    studio.expect(&["set-default-sink", "headset"]);
    std::thread::sleep(std::time::Duration::from_secs(6));
    studio.expect(&[
        "load-module",
        "module-remap-source",
        "master=room_feed.monitor",
        "source_name=room_mic",
    ]);
    std::thread::sleep(std::time::Duration::from_secs(3));
    let players = [studio.play("room", "room_feed"), studio.play("call", "headset")];
    for mut player in players {
        player.wait().unwrap();
    }
    kill_process(Pid::from_child(&recorder), Signal::INT).unwrap();
    let run = Run::from(recorder.wait_with_output().unwrap()).expect(0);
    let room =
        run.stderr.lines().find(|line| line.starts_with("room: ") && line.contains("captured")).unwrap();
    let call =
        run.stderr.lines().find(|line| line.starts_with("call: ") && line.contains("captured")).unwrap();
    let seconds = |line: &str, place: usize| {
        let figures = line.split([' ', ',']).filter_map(|word| word.parse::<f64>().ok());
        figures.collect::<Vec<_>>()[place]
    };
    assert!((seconds(room, 0) - seconds(call, 0)).abs() < 0.2, "both last as long:\n{room}\n{call}");
    assert!((4.0..12.0).contains(&seconds(room, 1)), "{room}");
    let lines = lines(sandbox, run.stdout.trim_end());
    let (room, call) = (words(&lines, "room"), words(&lines, "call"));
    assert!(room.contains("leisure to consider"), "the microphone is heard again: {room}");
    assert!(call.contains("fellow americans"), "the output is followed, whatever its rate: {call}");
}

#[test]
fn nothing_of_what_is_said_in_a_pause_is_kept() {
    with_one_retry(pause);
}

fn pause() {
    let Some(studio) = Studio::open() else { return };
    let sandbox = &studio.sandbox;
    let recorder = studio.start(&RECORD);
    wait_until("a session is live", || live_over_mcp(sandbox).is_some());
    studio.run(&["pause"]).expect(0);
    let mut players = [studio.play("room", "room_feed"), studio.play("call", "call_out")];
    std::thread::sleep(std::time::Duration::from_secs(9));
    assert!(studio.run(&["status"]).expect(0).stdout.contains("paused"));
    for player in &mut players {
        player.kill().unwrap();
        player.wait().unwrap();
    }
    // What was played last is still on its way to the sources.
    std::thread::sleep(std::time::Duration::from_secs(1));
    studio.run(&["unpause"]).expect(0);
    studio.run(&["stop"]).expect(0);
    let run = Run::from(recorder.wait_with_output().unwrap());
    assert!(lines(sandbox, run.stdout.trim_end()).is_empty(), "{run:?}");
    let room =
        run.stderr.lines().find(|line| line.starts_with("room: ") && line.contains("captured")).unwrap();
    let figures: Vec<f64> = room.split([' ', ',']).filter_map(|word| word.parse().ok()).collect();
    let (captured_s, silent_s) = (figures[0], figures[2]);
    assert!(captured_s > 9.0 && (captured_s - silent_s).abs() < 0.5, "{room}");
}

#[test]
fn nothing_is_made_where_nobody_agreed_or_nothing_can_be_heard() {
    let Some(studio) = Studio::open() else { return };
    let sandbox = &studio.sandbox;
    studio.run(&["record"]).expect(2);
    let unknown = studio.run(&["record", "--yes", "--mic", "nobody's"]).expect(3);
    assert!(unknown.stderr.contains("room_mic") && unknown.stderr.contains("--mic none"), "{unknown:?}");
    let deaf = sandbox.run(&["record", "--yes"]).expect(3);
    assert!(deaf.stderr.contains("no sound system was found"), "{deaf:?}");
    assert_eq!(std::fs::read_dir(sandbox.root()).map_or(0, Iterator::count), 0, "nothing left behind");
    let devices = studio.run(&["devices", "--json"]).expect(0).json();
    let mut marked: Vec<&str> = Vec::new();
    for device in devices.as_array().unwrap().iter().filter(|device| device["is_default"] == true) {
        marked.push(device["id"].as_str().unwrap());
    }
    assert_eq!(marked, ["room_mic", "call_out.monitor"]);
}

#[test]
fn a_source_that_was_asked_for_and_is_dead_ends_with_a_warning() {
    with_one_retry(record_a_dead_source);
}

fn record_a_dead_source() {
    let Some(studio) = Studio::open() else { return };
    let run = studio.run(&[&RECORD[..], &["--for", "12s", "--quiet"]].concat()).expect(5);
    assert!(run.stderr.contains("room: nothing but zeros from the start"), "{}", run.stderr);
    assert!(!run.stderr.contains("call: never"), "nobody asked for a call: {}", run.stderr);
    let shown = studio.run(&["show", "latest"]).expect(0);
    assert!(shown.stderr.contains("room: nothing but zeros from the start"), "{shown:?}");
}
