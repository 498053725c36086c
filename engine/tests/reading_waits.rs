//! A reader that waits while another process writes, dies, and is followed by the next.
//!
//! A child is this test program started again with the session in its environment.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // a test that cannot go on should stop

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ambient_engine::{
    Durability, Event, Finished, FoldedLine, Line, Log, Mapping, Options, Reader, Track, Woken,
};

const SESSION: &str = "AMBIENT_TEST_WAITING_SESSION";
/// Generous: only a hang reaches it.
const DEADLINE: Duration = Duration::from_secs(120);
const LINES: u64 = 40;

fn line(number: u64) -> Event {
    Event::Line(Line {
        track: Track::Room,
        start_ms: number,
        end_ms: number + 1,
        text: format!("line {number}"),
        confidence: 0.9,
        language: None,
        generation: 0,
        audio: None,
        overlap: false,
    })
}

fn open(session: &Path) -> Log {
    Log::open(session, Options::with_durability(Durability::Os)).unwrap()
}

fn start(session: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture", "--test-threads=1"])
        .env(SESSION, session)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Not a test of its own: a writer that appends a line for each line it is told, and never closes.
#[test]
fn child() {
    let Ok(session) = std::env::var(SESSION) else { return };
    let mut log = open(Path::new(&session));
    println!("ready");
    for told in std::io::stdin().lines() {
        told.unwrap();
        log.append(&[line(log.lines())]).unwrap();
    }
    std::process::exit(0);
}

#[test]
fn an_append_by_another_process_wakes_each_time_and_its_death_does_not() {
    let session = tempfile::tempdir().unwrap();
    drop(Log::create(session.path(), Options::with_durability(Durability::Os)).unwrap());
    for mapping in [Mapping::On, Mapping::Off] {
        let mut child = start(session.path());
        let mut words = BufReader::new(child.stdout.take().unwrap()).lines();
        while !words.next().unwrap().unwrap().contains("ready") {}
        let mut tell = child.stdin.take().unwrap();
        let mut reader = Reader::open(session.path(), mapping).unwrap();
        let first = reader.snapshot().unwrap().lines();
        for number in first..first + LINES {
            writeln!(tell).unwrap();
            assert_eq!(reader.wait(DEADLINE).unwrap(), Woken::News);
            let lines = reader.snapshot().unwrap().since(number).unwrap();
            assert_eq!(lines.iter().map(FoldedLine::text).collect::<Vec<_>>(), [format!("line {number}")]);
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(reader.wait(Duration::from_millis(50)).unwrap(), Woken::TimedOut);
        // The next writer mends what the dead one left, and the reader goes on waiting as if nothing had been.
        let mut log = open(session.path());
        log.append(&[Event::Finished(Finished { at: String::new(), warnings: Vec::new() })]).unwrap();
        assert_eq!(reader.wait(DEADLINE).unwrap(), Woken::News);
        assert_eq!(reader.snapshot().unwrap().lines(), first + LINES);
    }
}
