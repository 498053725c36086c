//! A reader that may not write, and a writer that may not: reading needs no write permission, and what is
//! refused is refused by name and leaves everything as it was.
//!
//! Root may do anything, so what is forbidden is tried by a child process of a user without rights. It is
//! this test program, copied to where that user may start it; run by someone who is not root, the test
//! tries it as that user.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // a test that cannot go on should stop

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use ambient_engine::{Event, Line, Log, Mapping, OpenError, Options, Reader, Track};

const ROLE: &str = "AMBIENT_TEST_ROLE";
const SESSION: &str = "AMBIENT_TEST_SESSION";
/// The user without rights on Linux and on macOS, as the kernel counts.
const NOBODY: u32 = 65_534;

fn line(text: &str) -> Event {
    Event::Line(Line {
        track: Track::Room,
        start_ms: 0,
        end_ms: 900,
        text: text.to_owned(),
        confidence: 0.9,
        language: None,
        generation: 0,
        audio: None,
        overlap: false,
    })
}

/// Not a test of its own: what the child process does.
#[test]
fn child() {
    let (Ok(role), Ok(session)) = (std::env::var(ROLE), std::env::var(SESSION)) else { return };
    let session = Path::new(&session);
    match role.as_str() {
        "read" => {
            for mapping in [Mapping::On, Mapping::Off] {
                let mut reader = Reader::open(session, mapping).unwrap();
                println!("{} lines", reader.snapshot().unwrap().since(0).unwrap().len());
            }
        }
        _ => match (Log::open(session, Options::default()), Reader::open(session, Mapping::On)) {
            (Err(OpenError::Disk(error)), reader) => println!("refused: {error}; reads: {}", reader.is_ok()),
            (other, _) => panic!("{other:?}"),
        },
    }
}

/// What a user without rights prints in a role.
fn as_nobody(role: &str, session: &Path) -> String {
    let place = tempfile::tempdir().unwrap();
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let program = place.path().join("test");
    // By another process: a copy that is open for writing here could be inherited by a child that another test
    // starts at this moment, and what is open for writing cannot be run.
    let copied = Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&program).status().unwrap();
    assert!(copied.success());
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(&program);
    command
        .args(["--exact", "child", "--nocapture", "--test-threads=1"])
        .env(ROLE, role)
        .env(SESSION, session)
        .current_dir("/")
        .stderr(Stdio::inherit());
    if fs::metadata(place.path()).unwrap().uid() == 0 {
        command.uid(NOBODY).gid(NOBODY);
    }
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}");
    said
}

/// A session that everyone may read and nobody may write.
fn read_only_session(closed: bool) -> tempfile::TempDir {
    let session = tempfile::tempdir().unwrap();
    let mut log = Log::create(session.path(), Options::default()).unwrap();
    log.append(&[line("one"), line("two")]).unwrap();
    if closed {
        log.close().unwrap();
    } else {
        std::mem::forget(log);
    }
    let folder = session.path().join("log");
    for entry in fs::read_dir(&folder).unwrap() {
        fs::set_permissions(entry.unwrap().path(), fs::Permissions::from_mode(0o444)).unwrap();
    }
    for folder in [&folder, &session.path().to_owned()] {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o555)).unwrap();
    }
    session
}

/// Lets whoever made the session remove it.
fn give_back(session: &tempfile::TempDir) {
    for folder in [session.path().to_owned(), session.path().join("log")] {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

fn contents(session: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<(String, Vec<u8>)> = fs::read_dir(session.join("log"))
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn reading_needs_no_permission_to_write() {
    for closed in [true, false] {
        let session = read_only_session(closed);
        let before = contents(session.path());
        let said = as_nobody("read", session.path());
        assert_eq!(said.matches("2 lines").count(), 2, "closed: {closed}: {said}");
        assert_eq!(contents(session.path()), before);
        give_back(&session);
    }
}

#[test]
fn writing_without_permission_is_refused_by_name_and_changes_nothing() {
    let session = read_only_session(true);
    let before = contents(session.path());
    let said = as_nobody("write", session.path());
    assert!(said.contains("log/LOCK") && said.contains("reads: true"), "{said}");
    assert_eq!(contents(session.path()), before);
    give_back(&session);
}

#[test]
fn a_segment_that_may_not_be_read_is_named() {
    let session = read_only_session(true);
    let segment = session.path().join("log/0000000000.seg");
    fs::set_permissions(&segment, fs::Permissions::from_mode(0o000)).unwrap();
    let said = as_nobody("write", session.path());
    assert!(said.contains("reads: false"), "{said}");
    give_back(&session);
}
