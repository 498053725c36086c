//! Audio is let go when its text is complete and it is old enough, and never otherwise.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use ambient_engine::session::{Directory, SessionDirectory, SessionId, Work, WorkLock, sweep};
use ambient_engine::{Event, Finished, FixedClock, Log, MetaChange, Opened, Options, Origin};

const DAY: Duration = Duration::from_secs(86_400);

struct Root(tempfile::TempDir);

impl Root {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A session with these events behind its first, and sound that was written `age` ago.
    fn session(&self, id: &str, events: &[Event], age: Duration) -> PathBuf {
        let folder = self.0.path().join(id);
        fs::create_dir_all(folder.join("audio")).unwrap();
        let opened = Opened {
            id: id.to_owned(),
            name: None,
            started_at: "2026-11-01T10:00:00Z".to_owned(),
            origin: Origin::Recorded,
            program: "a test".to_owned(),
            tracks: Vec::new(),
        };
        let mut log = Log::create(&folder, Options::default()).unwrap();
        log.append(&[Event::Opened(opened)]).unwrap();
        for event in events {
            log.append(std::slice::from_ref(event)).unwrap();
        }
        for name in ["room.native.wav", "call.native.wav", "notes.txt"] {
            let file = File::create(folder.join("audio").join(name)).unwrap();
            file.set_len(1_000).unwrap();
            file.set_modified(now() - age).unwrap();
        }
        folder
    }

    fn sweep(&self, days: u32, is_rehearsal: bool) -> Vec<String> {
        let swept = sweep(self.0.path(), DAY * days, &FixedClock(now()), is_rehearsal).unwrap();
        assert_eq!(swept.faults, [""; 0]);
        let short = |path: &Path| path.strip_prefix(self.0.path()).unwrap().display().to_string();
        swept.files.iter().map(|file| short(&file.path)).collect()
    }

    fn open(&self, id: &str) -> SessionDirectory {
        let root = Directory::open(self.0.path()).unwrap();
        SessionDirectory::open(&root, &SessionId::new(id).unwrap()).unwrap().unwrap()
    }
}

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn finished() -> Event {
    Event::Finished(Finished { at: "2026-11-01T11:00:00Z".to_owned(), warnings: Vec::new() })
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder.join("audio")).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn old_audio_of_complete_sessions_goes_and_nothing_else_does() {
    let root = Root::new();
    let old = root.session("2026-11-01T1000-old", &[finished()], DAY * 8);
    let young = root.session("2026-11-01T1000-young", &[finished()], DAY * 6);
    let begun = root.session("2026-11-01T1000-begun", &[], DAY * 8);
    let pinned =
        root.session("2026-11-01T1000-pinned", &[Event::Meta(MetaChange::Pin(true)), finished()], DAY * 8);
    let expected = ["2026-11-01T1000-old/audio/call.native.wav", "2026-11-01T1000-old/audio/room.native.wav"];
    assert_eq!(root.sweep(7, true), expected);
    assert_eq!(names(&old).len(), 3, "a rehearsal takes nothing away");
    assert_eq!(root.sweep(7, false), expected);
    assert_eq!(names(&old), ["notes.txt"], "what is not known stays");
    for kept in [young, begun, pinned] {
        assert_eq!(names(&kept).len(), 3, "{}", kept.display());
    }
    assert!(root.sweep(7, false).is_empty());
}

#[test]
fn a_session_that_someone_is_at_work_on_is_left_alone() {
    let root = Root::new();
    let folder = root.session("2026-11-01T1000", &[finished()], DAY * 8);
    for work in [Work::Recording, Work::Transcribing] {
        let lock = WorkLock::hold(&root.open("2026-11-01T1000"), work).unwrap();
        assert!(root.sweep(0, false).is_empty());
        drop(lock);
    }
    assert_eq!(names(&folder).len(), 3);
    assert_eq!(root.sweep(0, false).len(), 2);
}

#[test]
fn the_older_layout_and_a_missing_root_are_left_alone() {
    let root = Root::new();
    let folder = root.0.path().join("2026-11-01T1000");
    fs::create_dir_all(folder.join("audio")).unwrap();
    fs::write(folder.join("session.json"), "{}").unwrap();
    fs::write(folder.join("transcript.md"), "").unwrap();
    fs::write(folder.join("audio/room.native.wav"), "").unwrap();
    assert!(root.sweep(0, false).is_empty());
    assert!(sweep(Path::new("/nowhere"), DAY, &FixedClock(now()), false).unwrap().files.is_empty());
}

#[cfg(unix)]
#[test]
fn a_link_in_the_place_of_audio_is_told_and_not_followed() {
    let root = Root::new();
    let folder = root.session("2026-11-01T1000", &[finished()], DAY * 8);
    let elsewhere = tempfile::tempdir().unwrap();
    fs::rename(folder.join("audio"), elsewhere.path().join("audio")).unwrap();
    std::os::unix::fs::symlink(elsewhere.path().join("audio"), folder.join("audio")).unwrap();
    let swept = sweep(root.0.path(), DAY, &FixedClock(now()), false).unwrap();
    assert_eq!((swept.files.len(), swept.faults.len()), (0, 1));
    assert!(elsewhere.path().join("audio/room.native.wav").exists());
}
