//! Session directories on a real file system: claiming names, replacing files, links and FIFOs, locks.

// The allowance for tests does not reach the functions that tests share.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::sync::Barrier;
use std::thread;

use ambient_engine::session::{
    CreateError, Directory, DirectoryError, PartialSession, SessionDirectory, SessionId, Work, WorkLock,
    WorkLockError, claim,
};
use jiff::civil::{DateTime, date};
use tempfile::TempDir;

/// Rounds of claims at the same moment.
const ROUNDS: usize = 50;

fn started() -> DateTime {
    date(2026, 9, 5).at(14, 12, 30, 0)
}

fn root() -> (TempDir, Directory) {
    let place = tempfile::tempdir().unwrap();
    let root = Directory::open(place.path()).unwrap();
    (place, root)
}

fn make_fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn a_second_claim_in_one_minute_leaves_the_first_alone() {
    let (place, root) = root();
    let first = claim(&root, started(), None).unwrap();
    first.directory().replace("session.json", b"first").unwrap();
    let second = claim(&root, started(), None).unwrap();
    assert_eq!(first.id().as_str(), "2026-09-05T1412");
    assert_eq!(second.id().as_str(), "2026-09-05T1412-02");
    assert_eq!(fs::read(place.path().join("2026-09-05T1412/session.json")).unwrap(), b"first");
    assert!(second.directory().names().unwrap().is_empty());
    let mode = fs::metadata(first.directory().path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn ninety_nine_sessions_of_a_minute_are_all_there_can_be() {
    let (_place, root) = root();
    for _ in 0..99 {
        claim(&root, started(), Some("standup")).unwrap();
    }
    let error = claim(&root, started(), Some("standup")).unwrap_err();
    assert!(matches!(error, CreateError::Full { .. }));
    assert!(error.to_string().contains("already holds 99 sessions claimed as 2026-09-05T1412-standup"));
}

/// Eight makers that begin at the same moment: half of them claim, half build under a hidden name.
fn ids_made_at_once(place: &Path) -> Vec<String> {
    let barrier = Barrier::new(8);
    thread::scope(|scope| {
        let makers: Vec<_> = (0..8)
            .map(|maker| {
                let barrier = &barrier;
                scope.spawn(move || {
                    let root = Directory::open(place).unwrap();
                    barrier.wait();
                    if maker % 2 == 0 {
                        claim(&root, started(), None).unwrap().id().to_string()
                    } else {
                        let partial = PartialSession::begin(root, started(), None).unwrap();
                        partial.session().directory().replace("x", b"").unwrap();
                        partial.finish().unwrap().id().to_string()
                    }
                })
            })
            .collect();
        makers.into_iter().map(|maker| maker.join().unwrap()).collect()
    })
}

#[test]
fn claims_at_the_same_moment_never_share_a_directory() {
    // One round seldom meets the narrow places.
    for _ in 0..ROUNDS {
        let (place, _root) = root();
        let mut ids = ids_made_at_once(place.path());
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), 8);
    }
}

#[test]
fn a_partial_session_shows_only_when_it_is_finished() {
    let (place, root) = root();
    let partial = PartialSession::begin(root, started(), None).unwrap();
    assert_eq!(partial.session().id().as_str(), "2026-09-05T1412");
    partial.session().directory().replace("session.json", b"{}").unwrap();
    let other = Directory::open(place.path()).unwrap();
    assert!(!other.holds("2026-09-05T1412").unwrap());
    assert_eq!(claim(&other, started(), None).unwrap().id().as_str(), "2026-09-05T1412-02");
    let finished = partial.finish().unwrap();
    assert_eq!(fs::read(place.path().join("2026-09-05T1412/session.json")).unwrap(), b"{}");
    assert_eq!(finished.directory().path(), place.path().join("2026-09-05T1412"));
    assert!(!other.holds(".2026-09-05T1412.partial").unwrap());
}

#[test]
fn finishing_never_replaces_what_took_the_name() {
    let (place, root) = root();
    let partial = PartialSession::begin(root, started(), None).unwrap();
    fs::create_dir(place.path().join("2026-09-05T1412")).unwrap();
    fs::write(place.path().join("2026-09-05T1412/mine"), b"mine").unwrap();
    assert!(partial.finish().is_err());
    assert_eq!(fs::read(place.path().join("2026-09-05T1412/mine")).unwrap(), b"mine");
    assert!(place.path().join(".2026-09-05T1412.partial").is_dir());
}

#[test]
fn a_discarded_session_leaves_nothing() {
    let (place, root) = root();
    let partial = PartialSession::begin(root, started(), None).unwrap();
    partial.session().directory().create_subdirectory("log").unwrap();
    partial.discard().unwrap();
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
}

#[test]
fn replacing_never_writes_through_a_link() {
    let (place, root) = root();
    let session = claim(&root, started(), None).unwrap();
    let outside = place.path().join("outside");
    fs::write(&outside, b"precious").unwrap();
    symlink(&outside, session.directory().path().join("session.json")).unwrap();
    session.directory().replace("session.json", b"new").unwrap();
    assert_eq!(fs::read(&outside).unwrap(), b"precious");
    assert_eq!(session.directory().read("session.json", 10).unwrap().unwrap(), b"new");
    assert_eq!(session.directory().names().unwrap().len(), 1, "no staged file is left");
}

#[test]
fn a_replacement_is_another_file_so_readers_of_the_old_one_keep_it() {
    let (_place, root) = root();
    root.replace("f", b"old").unwrap();
    let before = fs::metadata(root.path().join("f")).unwrap().ino();
    let held = root.open_file("f").unwrap().unwrap();
    root.replace("f", b"new").unwrap();
    assert_ne!(fs::metadata(root.path().join("f")).unwrap().ino(), before);
    assert_eq!(std::io::read_to_string(held).unwrap(), "old");
}

#[test]
fn a_replacement_that_fails_leaves_the_old_thing_and_no_staged_file() {
    let (_place, root) = root();
    root.create_subdirectory("taken").unwrap();
    assert!(root.replace("taken", b"x").is_err());
    assert_eq!(root.names().unwrap(), ["taken"]);
}

#[test]
fn only_regular_files_are_read_and_nothing_blocks() {
    let (place, root) = root();
    fs::write(place.path().join("file"), b"12345").unwrap();
    symlink("file", place.path().join("link")).unwrap();
    symlink("nowhere", place.path().join("dangling")).unwrap();
    make_fifo(&place.path().join("fifo"));
    root.create_subdirectory("directory").unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(place.path().join("socket")).unwrap();

    assert_eq!(root.read("missing", 5).unwrap(), None);
    assert_eq!(root.read("file", 5).unwrap().unwrap(), b"12345");
    assert!(matches!(root.read("file", 4), Err(DirectoryError::TooLong { len_bytes: 5, .. })));
    for name in ["link", "dangling"] {
        let error = root.read(name, 5).unwrap_err().to_string();
        assert_eq!(error, format!("refusing symlink {}", place.path().join(name).display()));
    }
    for name in ["fifo", "directory", "socket"] {
        assert!(matches!(root.read(name, 5), Err(DirectoryError::NotAFile { .. })), "{name}");
        assert!(matches!(root.require_file(name), Err(DirectoryError::NotAFile { .. })), "{name}");
    }
}

#[test]
fn a_subdirectory_is_never_reached_through_a_link() {
    let (place, root) = root();
    root.create_subdirectory("real").unwrap();
    symlink("real", place.path().join("link")).unwrap();
    fs::write(place.path().join("file"), b"").unwrap();
    assert!(root.subdirectory("real").unwrap().is_some());
    assert!(root.subdirectory("missing").unwrap().is_none());
    assert!(matches!(root.subdirectory("link"), Err(DirectoryError::Symlink(_))));
    assert!(matches!(root.subdirectory("file"), Err(DirectoryError::NotADirectory { .. })));
    assert!(matches!(root.open_or_create_subdirectory("link"), Err(DirectoryError::Symlink(_))));
    assert!(matches!(root.create_subdirectory("real"), Err(error) if error.is_taken()));
    let id = SessionId::new("link").unwrap();
    assert!(SessionDirectory::open(&root, &id).unwrap().is_none());
}

#[test]
fn a_lock_is_held_by_one_and_seen_by_all() {
    let (_place, root) = root();
    let session = claim(&root, started(), None).unwrap();
    assert!(!WorkLock::is_held(&session, Work::Recording).unwrap());
    let held = WorkLock::hold(&session, Work::Recording).unwrap();
    assert!(WorkLock::is_held(&session, Work::Recording).unwrap());
    assert!(WorkLock::is_held(&session, Work::Recording).unwrap(), "a probe takes nothing away");
    assert!(!WorkLock::is_held(&session, Work::Transcribing).unwrap());
    let busy = WorkLock::hold(&session, Work::Recording).unwrap_err();
    assert!(matches!(busy, WorkLockError::Busy { work: Work::Recording, .. }));
    drop(held);
    assert!(!WorkLock::is_held(&session, Work::Recording).unwrap());
    assert!(session.directory().holds_file("recording.lock").unwrap(), "the file is never removed");
    WorkLock::hold(&session, Work::Recording).unwrap();
}

#[test]
fn planted_lock_files_are_refused_and_do_not_block() {
    let (place, root) = root();
    let session = claim(&root, started(), None).unwrap();
    let outside = place.path().join("outside");
    fs::write(&outside, b"").unwrap();
    symlink(&outside, session.directory().path().join("recording.lock")).unwrap();
    make_fifo(&session.directory().path().join("transcribing.lock"));
    for work in [Work::Recording, Work::Transcribing] {
        assert!(WorkLock::hold(&session, work).is_err());
        assert!(WorkLock::is_held(&session, work).is_err());
    }
}
