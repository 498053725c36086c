//! What happens to recordings: a source that delivers nothing for long, a disk that fills up, a recorder that is
//! killed at any moment and finished by one that is killed as well.

use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use crate::sandbox::Run;
use crate::sound_system::{Studio, wait_until, with_one_retry};
use crate::{RECORD, lines, live_over_mcp, words, written};

/// What the end of a recording says of `track`, in seconds: captured, padded, silent.
fn accounted_s(run: &Run, track: &str) -> [f64; 3] {
    let line = run.stderr.lines().find(|line| line.starts_with(track) && line.contains("captured")).unwrap();
    let figures: Vec<f64> = line.split([' ', ',']).filter_map(|word| word.parse().ok()).collect();
    [figures[0], figures[1], figures[2]]
}

#[test]
fn forty_seconds_are_forty_seconds_also_where_a_sink_delivered_nothing_for_thirty() {
    with_one_retry(suspend_the_sink);
}

fn suspend_the_sink() {
    let Some(studio) = Studio::open() else { return };
    let sandbox = &studio.sandbox;
    let recorder = studio.start(&RECORD);
    wait_until("a session is live", || live_over_mcp(sandbox).is_some());
    studio.expect(&["suspend-sink", "call_out", "1"]);
    sleep(Duration::from_secs(30));
    let status = studio.run(&["status", "--json"]).expect(0).json();
    let captured_ms = |track: usize| status[0]["tracks"][track]["captured_ms"].as_u64().unwrap();
    assert!(captured_ms(0).abs_diff(captured_ms(1)) < 2_000, "it is padded as time passes: {status}");
    studio.expect(&["suspend-sink", "call_out", "0"]);
    studio.play("call", "call_out").wait().unwrap();
    studio.run(&["stop"]);
    let run = Run::from(recorder.wait_with_output().unwrap());
    let ([room_s, ..], [call_s, padded_s, _]) = (accounted_s(&run, "room: "), accounted_s(&run, "call: "));
    assert!((room_s - call_s).abs() < 0.3, "both last as long: {run:?}");
    assert!(padded_s > 25.0, "{run:?}");
    let lines = lines(sandbox, run.stdout.trim_end());
    assert!(words(&lines, "call").contains("fellow americans"), "{lines:?}");
    let first = lines.iter().find(|line| line["track"] == "call").unwrap();
    assert!(first["start_ms"].as_u64() > Some(30_000), "it stands where it was said: {first}");
}

/// A small disk below `folder` that goes away with this value.
struct SmallDisk(std::path::PathBuf);

impl SmallDisk {
    /// None where file systems may not be mounted.
    fn mount(folder: &std::path::Path) -> Option<Self> {
        std::fs::create_dir_all(folder).unwrap();
        let mut mount = Command::new("mount");
        let mounted = mount.args(["-t", "tmpfs", "-o", "size=9m", "tmpfs"]).arg(folder).output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Self(folder.to_owned()));
        }
        println!("nothing was tested: no file system may be mounted here");
        None
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Whatever still looks at it, it is of no use to anyone.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_ends_the_recording_and_everything_before_it_can_be_read() {
    with_one_retry(fill_the_disk);
}

fn fill_the_disk() {
    let Some(studio) = Studio::open() else { return };
    let Some(_disk) = SmallDisk::mount(&studio.sandbox.root()) else { return };
    let recorder = studio.start(&RECORD);
    wait_until("a session is live", || live_over_mcp(&studio.sandbox).is_some());
    let mut players = [studio.play("room", "room_feed"), studio.play("call", "call_out")];
    // It ends by itself.
    let run = Run::from(recorder.wait_with_output().unwrap());
    for player in &mut players {
        player.wait().unwrap();
    }
    assert_eq!(run.code, 5, "{run:?}");
    assert!(run.stderr.contains("No space left"), "{}", run.stderr);
    let session = run.stdout.trim_end();
    let [captured_s, ..] = accounted_s(&run, "room: ");
    assert!(captured_s > 10.0, "{run:?}");
    let shown = studio.run(&["show", session, "--plain"]);
    assert!(shown.stdout.to_lowercase().contains("leisure to consider"), "{shown:?}");
    assert!(studio.run(&["sessions"]).stdout.contains("done"));
}

#[test]
fn killed_again_and_again_nothing_that_was_read_is_lost_or_comes_twice() {
    with_one_retry(kill_again_and_again);
}

fn kill_again_and_again() {
    let Some(studio) = Studio::open() else { return };
    for (round, lines_before) in [0, 1, 3].into_iter().enumerate() {
        kill_both(&studio, round, lines_before);
    }
}

/// Kills a recorder after so many lines, and the second one, which finishes its session, after one more.
fn kill_both(studio: &Studio, round: usize, lines_before: usize) {
    let sandbox = &studio.sandbox;
    let mut recorder = studio.start(&RECORD);
    wait_until("a session is live", || live_over_mcp(sandbox).is_some());
    let mut players = [studio.play("room", "room_feed"), studio.play("call", "call_out")];
    let mut published = Vec::new();
    // Long enough for a turn to be under way where no line is waited for.
    sleep(Duration::from_secs(2));
    wait_until("there are lines", || {
        let transcript = live_over_mcp(sandbox);
        published = transcript.map_or(Vec::new(), |told| told["lines"].as_array().unwrap().clone());
        published.len() >= lines_before
    });
    recorder.kill().unwrap();
    recorder.wait().unwrap();
    for player in &mut players {
        player.kill().unwrap();
        player.wait().unwrap();
    }
    let mut second = studio.start(&["resume", "latest", "--quiet", "--model", "tiny.en"]);
    let latest = |command: &[&str]| sandbox.run(command).stdout.trim_end().to_owned();
    let id = |row: &Value| row["id"].as_str().unwrap().to_owned();
    let rows = sandbox.run(&["sessions", "--json"]).expect(0).json();
    let session = sandbox.root().join(id(&rows[0]));
    let session = session.to_str().unwrap();
    wait_until("the one that finishes has begun, or is done", || {
        second.try_wait().unwrap().is_some() || written(sandbox, session).len() > published.len()
    });
    // It may be done already, which is as well.
    let _ = second.kill();
    second.wait().unwrap();
    let before = written(sandbox, session);
    assert!(before.starts_with(&published), "round {round}: {before:?}");
    sandbox.run(&["resume", session, "--quiet"]).expect(0);
    let finished = written(sandbox, session);
    assert!(finished.starts_with(&before), "round {round}: {finished:?}");
    let places: Vec<_> =
        finished.iter().map(|line| (line["track"].as_str(), line["start_ms"].as_u64())).collect();
    let apart: std::collections::BTreeSet<_> = places.iter().collect();
    assert_eq!(apart.len(), places.len(), "round {round}: {finished:?}");
    assert!(latest(&["sessions"]).contains("done"));
}
