//! Waiting: what wakes a reader, and how often it looks while nothing does.
//!
//! Every wait has a deadline that only a hang reaches; no test asserts how long anything took.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::super::{Cursor, Log, Mapping, Options, ReadError, Reader, Woken};
use super::{die, line, unsynced};

const DEADLINE: Duration = Duration::from_secs(120);
const SHORT: Duration = Duration::from_millis(30);

fn log_with_one_line() -> (tempfile::TempDir, Log) {
    let session = tempfile::tempdir().unwrap();
    let mut log = Log::create(session.path(), unsynced()).unwrap();
    log.append(&[line("one")]).unwrap();
    (session, log)
}

/// Waits until there are `lines` lines, and says how often the reader was woken for it.
fn wait_for_lines(reader: &mut Reader, lines: u64) -> u32 {
    let mut wakes = 0;
    while reader.snapshot().unwrap().lines() < lines {
        assert_eq!(reader.wait(DEADLINE).unwrap(), Woken::News);
        wakes += 1;
    }
    wakes
}

/// How often a reader looks during a wait in which nothing comes.
fn looks_in(reader: &mut Reader, timeout: Duration) -> u32 {
    let mut looks = 0;
    let woken = reader.wait_until(Instant::now().checked_add(timeout), |reader, left, pause| {
        looks += 1;
        reader.sleep(left, pause)
    });
    assert_eq!(woken.unwrap(), Woken::TimedOut);
    looks
}

fn append_by_another(session: &Path, options: Options) -> thread::JoinHandle<()> {
    let session = session.to_owned();
    thread::spawn(move || {
        let mut log = Log::open(&session, options).unwrap();
        log.append(&[line("two")]).unwrap();
        die(log);
    })
}

#[test]
fn news_that_came_before_the_wait_ends_it_at_once() {
    let (session, mut log) = log_with_one_line();
    let mut reader = Reader::open(session.path(), Mapping::On).unwrap();
    assert_eq!(reader.wait(Duration::ZERO).unwrap(), Woken::TimedOut);
    log.append(&[line("two")]).unwrap();
    assert_eq!(reader.wait(DEADLINE).unwrap(), Woken::News);
    assert_eq!(reader.wait(DEADLINE).unwrap(), Woken::News, "until a snapshot has shown it");
    assert_eq!(reader.snapshot().unwrap().lines(), 2);
    assert_eq!(reader.wait(SHORT).unwrap(), Woken::TimedOut);
}

#[test]
fn a_reader_beside_a_writer_sleeps_and_does_not_poll() {
    let (session, log) = log_with_one_line();
    let mut reader = Reader::open(session.path(), Mapping::On).unwrap();
    // Once a second it looks whether the head is still the one it has; a poll would look thirty times.
    assert!(looks_in(&mut reader, Duration::from_millis(1_500)) <= 4);
    drop(log);
}

#[test]
fn a_reader_that_nobody_can_wake_looks_less_and_less_often() {
    let (session, log) = log_with_one_line();
    let mut reader = Reader::open(session.path(), Mapping::Off).unwrap();
    // 1 + 2 + 4 + 8 + 16 + 32 ms, then every 50 ms.
    assert!(looks_in(&mut reader, Duration::from_millis(400)) <= 14);
    drop(log);
}

/// A reader is woken whichever way it came in and however the writer and it reach the head.
#[test]
fn every_way_in_is_woken() {
    for reading in [Mapping::On, Mapping::Off] {
        for writing in [Mapping::On, Mapping::Off] {
            for without in [&[][..], &["log/head"], &["log/head", "log/lines.idx"]] {
                let (session, log) = log_with_one_line();
                log.close().unwrap();
                for name in without {
                    std::fs::remove_file(session.path().join(name)).unwrap();
                }
                let mut reader = Reader::open(session.path(), reading).unwrap();
                assert_eq!(reader.wait(SHORT).unwrap(), Woken::TimedOut);
                let other = append_by_another(session.path(), Options { mapping: writing, ..unsynced() });
                assert!(wait_for_lines(&mut reader, 2) <= 3, "{reading:?} {writing:?} {without:?}");
                other.join().unwrap();
                assert_eq!(reader.snapshot().unwrap().since(1).unwrap()[0].text(), "two");
                assert_eq!(reader.wait(SHORT).unwrap(), Woken::TimedOut);
            }
        }
    }
}

#[test]
fn a_log_closed_and_opened_again_goes_on_waking() {
    let (session, mut log) = log_with_one_line();
    let mut reader = Reader::open(session.path(), Mapping::On).unwrap();
    let path = session.path().to_owned();
    let writer = thread::spawn(move || {
        for text in ["two", "three", "four"] {
            log.append(&[line(text)]).unwrap();
            log.close().unwrap();
            log = Log::open(&path, unsynced()).unwrap();
        }
        die(log);
    });
    assert!(wait_for_lines(&mut reader, 4) <= 6, "three lines and three closings");
    writer.join().unwrap();
}

#[test]
fn a_head_that_is_replaced_during_the_wait_is_noticed() {
    let (session, log) = log_with_one_line();
    die(log);
    let mut reader = Reader::open(session.path(), Mapping::On).unwrap();
    std::fs::remove_file(session.path().join("log/head")).unwrap();
    let other = append_by_another(session.path(), unsynced());
    wait_for_lines(&mut reader, 2);
    other.join().unwrap();
}

#[test]
fn waiting_behind_a_kept_cursor_ends_with_the_next_event_and_with_nothing_else() {
    let (session, mut log) = log_with_one_line();
    let kept = log.append(&[line("two")]).unwrap().to_string();
    let cursor: Cursor = kept.parse().unwrap();
    let mut reader = Reader::open(session.path(), Mapping::On).unwrap();
    assert_eq!(reader.wait_behind(&cursor, SHORT).unwrap(), Woken::TimedOut);
    // A segment that was begun moves the end but holds no event.
    log.begin_segment();
    assert_eq!(reader.wait_behind(&cursor, SHORT).unwrap(), Woken::TimedOut);
    let other = append_by_another(session.path(), unsynced());
    assert_eq!(reader.wait_behind(&cursor, DEADLINE).unwrap(), Woken::News);
    other.join().unwrap();
    assert_eq!(reader.snapshot().unwrap().changes(Some(&cursor)).unwrap().new[0].text(), "two");
    let lost = Cursor { crc: cursor.crc ^ 1, ..cursor };
    assert!(matches!(reader.wait_behind(&lost, DEADLINE), Err(ReadError::CursorLost(_))));
}
