//! Importing with a disk that is full, and from one that may only be read.
//!
//! The disk is a small file system in memory; where the system refuses to mount one the tests say so and end.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::print_stdout)] // a test that cannot go on should stop

mod small_disk;

use std::fs;
use std::path::Path;

use ambient_engine::SystemClock;
use ambient_engine::jsonl::{Imported, JsonlImport, JsonlImportError};
use ambient_engine::session::{Directory, SessionDirectory, SessionId};
use ambient_engine::view::{self, ReadingQuery};
use small_disk::SmallDisk;

const ID: &str = "2026-09-05T1412";

fn session_below(root: &Path, lines: u64) {
    let session = root.join(ID);
    fs::create_dir_all(&session).unwrap();
    let raw: String = (0..lines)
        .map(|number| {
            format!(
                r#"{{"track":"room","start_ms":{number},"end_ms":{number},"text":"a turn","confidence":0.5}}"#
            ) + "\n"
        })
        .collect();
    fs::write(session.join("raw.jsonl"), raw).unwrap();
    fs::write(session.join("session.json"), "{}").unwrap();
}

fn open(root: &Path) -> SessionDirectory {
    let root = Directory::open(root).unwrap();
    SessionDirectory::open(&root, &SessionId::new(ID).unwrap()).unwrap().unwrap()
}

fn import_into(source: &Path, root: &Path) -> Result<Imported, JsonlImportError> {
    let import = JsonlImport { program: "a test", clock: &SystemClock, on_progress: &mut |_, _| {} };
    import.into_root(&open(source), Directory::open(root).unwrap())
}

fn import_in_place(root: &Path) -> Result<Imported, JsonlImportError> {
    JsonlImport { program: "a test", clock: &SystemClock, on_progress: &mut |_, _| {} }.in_place(&open(root))
}

fn lines_below(root: &Path) -> usize {
    view::reading(root, ID, &ReadingQuery::default(), &SystemClock).unwrap().lines.len()
}

#[test]
fn on_a_full_disk_an_import_ends_leaves_nothing_and_can_be_done_again() {
    let Some(disk) = SmallDisk::mount(1_024) else { return };
    let elsewhere = tempfile::tempdir().unwrap();
    session_below(elsewhere.path(), 20_000);
    let root = disk.path();
    import_into(elsewhere.path(), root).unwrap_err();
    assert_eq!(fs::read_dir(root).unwrap().count(), 0);
    assert_eq!(lines_below(elsewhere.path()), 20_000);
    session_below(elsewhere.path(), 2_000);
    import_into(elsewhere.path(), root).unwrap();
    assert_eq!(lines_below(root), 2_000);
}

#[test]
fn on_a_full_disk_a_session_keeps_its_layout_and_reads_as_before() {
    let Some(disk) = SmallDisk::mount(1_024) else { return };
    let root = disk.path();
    session_below(root, 9_000);
    import_in_place(root).unwrap_err();
    assert_eq!(lines_below(root), 9_000);
    assert!(!root.join(ID).join("log").exists() && !root.join(ID).join(".log.partial").exists());
}

#[test]
fn a_source_that_may_only_be_read_is_imported_elsewhere_and_not_in_its_place() {
    let Some(disk) = SmallDisk::mount(1_024) else { return };
    let (source, root) = (disk.path(), tempfile::tempdir().unwrap());
    session_below(source, 100);
    disk.make_read_only();
    import_in_place(source).unwrap_err();
    import_into(source, root.path()).unwrap();
    assert_eq!((lines_below(root.path()), lines_below(source)), (100, 100));
}
