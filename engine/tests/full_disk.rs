//! A disk that runs full while a log is written: nothing is lost, nothing is doubled, reading goes on.
//!
//! The disk is a small file system in memory; where the system refuses to mount one the tests say so and end.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // a test that cannot go on should stop

mod small_disk;

use std::fs;
use std::path::Path;

use ambient_engine::{
    AppendError, Change, Durability, Edit, Event, Line, Log, Mapping, Options, Reader, Track,
};
use small_disk::SmallDisk;

/// Takes all the room there is on `disk` but for `left_bytes`.
fn fill(disk: &SmallDisk, left_bytes: usize) -> std::path::PathBuf {
    let path = disk.path().join("filler");
    let mut taken = Vec::new();
    while fs::write(&path, &taken).is_ok() {
        taken.resize(taken.len() + 4096, 0);
    }
    fs::write(&path, &taken[..taken.len().saturating_sub(4096 + left_bytes)]).unwrap();
    path
}

fn options(durability: Durability) -> Options {
    Options::with_durability(durability)
}

fn line(text: String) -> Event {
    Event::Line(Line {
        track: Track::Room,
        start_ms: 0,
        end_ms: 1,
        text,
        confidence: 0.9,
        language: None,
        generation: 0,
        audio: None,
        overlap: false,
    })
}

fn numbered(number: u64) -> Event {
    line(format!("{number} {}", "x".repeat(3_000)))
}

fn speaker(line: u64, name: &str) -> Event {
    let change = Change::Speaker { name: name.to_owned() };
    Event::Edit(Edit { line, by: Edit::PERSON.to_owned(), change })
}

fn numbers(reader: &mut Reader) -> Vec<u64> {
    let lines = reader.snapshot().unwrap().since(0).unwrap();
    lines.iter().map(|line| line.text().split(' ').next().unwrap().parse().unwrap()).collect()
}

fn check(session: &Path, reader: &mut Reader, expected: u64) {
    let expected: Vec<u64> = (0..expected).collect();
    assert_eq!(numbers(reader), expected);
    for mapping in [Mapping::On, Mapping::Off] {
        assert_eq!(numbers(&mut Reader::open(session, mapping).unwrap()), expected);
    }
}

/// Fills the disk by appending, frees it, goes on; twice.
fn fill_and_go_on(durability: Durability, mapping: Mapping) {
    let Some(disk) = SmallDisk::mount(1_024) else { return };
    let session = disk.path().join("session");
    fs::create_dir(&session).unwrap();
    let mut log = Log::create(&session, Options { mapping, ..options(durability) }).unwrap();
    let mut reader = Reader::open(&session, Mapping::On).unwrap();
    let mut acknowledged = 0;
    for _ in 0..2 {
        let filler = fill(&disk, 60_000);
        let mut refusals = 0;
        while refusals < 3 {
            match log.append(&[numbered(acknowledged), speaker(acknowledged, "Ana")]) {
                Ok(_) => acknowledged += 1,
                Err(AppendError::Disk(error)) => {
                    assert!(error.is_full(), "{error}");
                    refusals += 1;
                }
                Err(AppendError::Open(_)) => refusals += 1,
                Err(other) => panic!("{other:?}"),
            }
            check(&session, &mut reader, acknowledged);
        }
        fs::remove_file(filler).unwrap();
        for _ in 0..5 {
            log.append(&[numbered(acknowledged), speaker(acknowledged, "Bo")]).unwrap();
            acknowledged += 1;
        }
        check(&session, &mut reader, acknowledged);
    }
    drop(log);
    drop(Log::open(&session, options(durability)).unwrap());
    for cache in ["head", "lines.idx"] {
        fs::remove_file(session.join("log").join(cache)).unwrap();
    }
    check(&session, &mut reader, acknowledged);
    let log = Log::open(&session, options(durability)).unwrap();
    assert_eq!(log.lines(), acknowledged);
}

#[test]
fn appending_until_the_disk_is_full_and_going_on_loses_and_doubles_nothing() {
    fill_and_go_on(Durability::Os, Mapping::On);
    fill_and_go_on(Durability::Each, Mapping::On);
    fill_and_go_on(Durability::Os, Mapping::Off);
}

#[test]
fn room_for_the_index_is_found_before_anything_is_written() {
    let Some(disk) = SmallDisk::mount(1_024) else { return };
    let session = disk.path().join("session");
    fs::create_dir(&session).unwrap();
    let mut log = Log::create(&session, options(Durability::Os)).unwrap();
    // Room for 1024 lines is made at first; the next line needs more.
    log.append(&(0..1_024).map(|number| line(format!("{number} x"))).collect::<Vec<_>>()).unwrap();
    let segment = session.join("log/0000000000.seg");
    let len_bytes = fs::metadata(&segment).unwrap().len();
    let filler = fill(&disk, 0);
    let refused = log.append(&[line("1024 x".to_owned())]);
    assert!(matches!(&refused, Err(AppendError::Disk(error)) if error.is_full()), "{refused:?}");
    assert_eq!(fs::metadata(&segment).unwrap().len(), len_bytes, "nothing was written");
    let mut reader = Reader::open(&session, Mapping::On).unwrap();
    check(&session, &mut reader, 1_024);
    fs::remove_file(filler).unwrap();
    log.append(&[line("1024 x".to_owned())]).unwrap();
    check(&session, &mut reader, 1_025);
}

#[test]
fn a_crashed_log_is_read_on_a_full_disk_and_written_once_there_is_room() {
    let Some(disk) = SmallDisk::mount(1_024) else { return };
    let session = disk.path().join("session");
    fs::create_dir(&session).unwrap();
    let mut log = Log::create(&session, options(Durability::Os)).unwrap();
    log.append(&[numbered(0), numbered(1)]).unwrap();
    std::mem::forget(log);
    for cache in ["head", "lines.idx"] {
        fs::remove_file(session.join("log").join(cache)).unwrap();
    }
    let filler = fill(&disk, 0);
    let mut reader = Reader::open(&session, Mapping::On).unwrap();
    check(&session, &mut reader, 2);
    for _ in 0..3 {
        Log::open(&session, options(Durability::Os)).unwrap_err();
    }
    check(&session, &mut reader, 2);
    fs::remove_file(filler).unwrap();
    let mut log = Log::open(&session, options(Durability::Os)).unwrap();
    log.append(&[numbered(2)]).unwrap();
    check(&session, &mut reader, 3);
}

#[test]
fn a_log_on_a_disk_that_may_only_be_read_is_read() {
    let Some(disk) = SmallDisk::mount(1_024) else { return };
    let session = disk.path().join("session");
    fs::create_dir(&session).unwrap();
    let mut log = Log::create(&session, options(Durability::Os)).unwrap();
    log.append(&[numbered(0), numbered(1)]).unwrap();
    drop(log);
    disk.make_read_only();
    let mut reader = Reader::open(&session, Mapping::On).unwrap();
    check(&session, &mut reader, 2);
    Log::open(&session, options(Durability::Os)).unwrap_err();
}
