//! One log, several processes: followers, killed writers, writers that take turns.
//!
//! A child is this test program started again with a role in its environment.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // a test that cannot go on should stop

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use ambient_engine::{Change, Durability, Edit, Event, Finished, Line, Log, Mapping, Options, Reader, Track};

const ROLE: &str = "AMBIENT_TEST_ROLE";
const SESSION: &str = "AMBIENT_TEST_SESSION";
/// Generous: only a hang reaches it.
const DEADLINE: Duration = Duration::from_secs(120);

fn line(number: u64) -> Event {
    Event::Line(Line {
        track: if number % 2 == 0 { Track::Room } else { Track::Call },
        start_ms: number * 1_000,
        end_ms: number * 1_000 + 900,
        text: format!("line {number}"),
        confidence: 0.9,
        language: None,
        generation: 0,
        audio: None,
        overlap: false,
    })
}

fn speaker(line: u64, name: String) -> Event {
    Event::Edit(Edit { line, by: Edit::PERSON.to_owned(), change: Change::Speaker { name } })
}

fn unsynced() -> Options {
    Options::with_durability(Durability::Os)
}

fn start(role: &str, session: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture", "--test-threads=1"])
        .env(ROLE, role)
        .env(SESSION, session)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Not a test of its own: what a child process does.
#[test]
fn child() {
    let (Ok(role), Ok(session)) = (std::env::var(ROLE), std::env::var(SESSION)) else { return };
    let session = Path::new(&session);
    match role.as_str() {
        "follow" => follow(session),
        "append for ever" => append_for_ever(session),
        name => append_edits(session, name),
    }
}

const FOLLOWED_LINES: u64 = 2_000;

/// Reads while another process writes, and checks that every snapshot is a prefix with newer edits only.
fn follow(session: &Path) {
    let mut reader = Reader::open(session, Mapping::On).unwrap();
    let started = Instant::now();
    let (mut next, mut snapshots, mut last_edit) = (0, 0, 0);
    println!("ready");
    while next < FOLLOWED_LINES {
        assert!(started.elapsed() < DEADLINE, "only {next} lines came");
        if !reader.has_news().unwrap() {
            std::thread::yield_now();
            continue;
        }
        let mut snapshot = reader.snapshot().unwrap();
        for (expected, folded) in (next..).zip(snapshot.since(next).unwrap()) {
            assert_eq!(folded.text(), format!("line {expected}"));
        }
        if snapshot.lines() > 0 {
            // Each batch names line 0 after the number of lines it ends with: never half a batch.
            let name = snapshot.folded(0).unwrap().speaker.unwrap();
            let edit: u64 = name.parse().unwrap();
            assert_eq!(edit, snapshot.lines());
            assert!(edit >= last_edit);
            last_edit = edit;
        }
        next = snapshot.lines();
        snapshots += 1;
    }
    println!("followed in {snapshots} snapshots");
}

fn append_for_ever(session: &Path) {
    let mut log = Log::open(session, unsynced()).unwrap();
    loop {
        let first = log.lines();
        log.append(&[line(first), line(first + 1), speaker(first, "Ana".into()), line(first + 2)]).unwrap();
        println!("lines {}", log.lines());
    }
}

const EDITS_PER_WRITER: u64 = 150;

fn append_edits(session: &Path, name: &str) {
    let mut log = Log::open(session, unsynced()).unwrap();
    for number in 0..EDITS_PER_WRITER {
        log.append(&[speaker(0, format!("{name} {number}")), speaker(1, format!("{name} {number}"))])
            .unwrap();
    }
}

/// The lines a child printed that begin with `word`.
fn printed(child: Child, word: &str) -> Vec<String> {
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter(|line| line.contains(word)).map(str::to_owned).collect()
}

#[test]
fn a_reader_in_another_process_follows_a_writer() {
    let session = tempfile::tempdir().unwrap();
    let mut log = Log::create(session.path(), unsynced()).unwrap();
    let mut child = start("follow", session.path());
    let mut words = BufReader::new(child.stdout.take().unwrap()).lines();
    while !words.next().unwrap().unwrap().contains("ready") {}
    let mut lines = 0;
    while lines < FOLLOWED_LINES {
        let batch = 1 + lines % 5;
        let mut events: Vec<Event> = (lines..lines + batch).map(line).collect();
        lines += batch;
        events.push(speaker(0, lines.to_string()));
        log.append(&events).unwrap();
    }
    let said: Vec<String> = words.map(Result::unwrap).collect();
    assert!(child.wait().unwrap().success(), "{said:?}");
    assert!(said.iter().any(|line| line.contains("followed in")), "{said:?}");
}

#[test]
fn a_writer_killed_at_any_moment_loses_nothing_it_had_acknowledged() {
    let session = tempfile::tempdir().unwrap();
    drop(Log::create(session.path(), unsynced()).unwrap());
    let mut acknowledged = 0;
    for round in 0..12 {
        let mut child = start("append for ever", session.path());
        let mut words = BufReader::new(child.stdout.take().unwrap()).lines();
        // A different number of batches each round, then a kill in the middle of whatever it is doing.
        for _ in 0..=round * 7 {
            while !words.next().unwrap().unwrap().contains("lines ") {}
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let last =
            words.map_while(Result::ok).filter_map(|word| word.strip_prefix("lines ")?.parse().ok()).last();
        acknowledged = last.unwrap_or(acknowledged);

        let mut log = Log::open(session.path(), unsynced()).unwrap();
        assert!(log.lines() >= acknowledged, "round {round}");
        assert_eq!(log.lines() % 3, 0, "whole batches only");
        let first = log.lines();
        log.append(&[line(first), line(first + 1), line(first + 2)]).unwrap();
        let mut reader = Reader::open(session.path(), Mapping::On).unwrap();
        let mut snapshot = reader.snapshot().unwrap();
        for (expected, folded) in (0_u64..).zip(snapshot.since(0).unwrap()) {
            assert_eq!(folded.text(), format!("line {expected}"));
        }
        acknowledged = snapshot.lines();
    }
}

#[test]
fn writers_in_several_processes_lose_nothing_and_double_nothing() {
    let session = tempfile::tempdir().unwrap();
    let mut log = Log::create(session.path(), unsynced()).unwrap();
    log.append(&[line(0), line(1)]).unwrap();
    let children = [start("Ana", session.path()), start("Bo", session.path())];
    for number in 2..200 {
        log.append(&[line(number)]).unwrap();
    }
    for child in children {
        printed(child, "");
    }
    log.append(&[Event::Finished(Finished { at: String::new(), warnings: Vec::new() })]).unwrap();
    drop(log);
    let mut reader = Reader::open(session.path(), Mapping::On).unwrap();
    let mut snapshot = reader.snapshot().unwrap();
    assert_eq!(snapshot.lines(), 200);
    let edits = snapshot.edits_of(0).unwrap();
    assert_eq!(edits.len() as u64, 2 * EDITS_PER_WRITER);
    assert_eq!(snapshot.edits_of(1).unwrap().len(), edits.len());
    for name in ["Ana", "Bo"] {
        let numbers = edits.iter().filter_map(|placed| match &placed.edit.change {
            Change::Speaker { name: said } => said.strip_prefix(name)?.trim().parse::<u64>().ok(),
            _ => None,
        });
        assert!(numbers.eq(0..EDITS_PER_WRITER), "{name}'s edits, in order");
    }
}
