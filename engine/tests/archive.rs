//! Archives of sessions: the same after the round trip, and refused when a single byte is not as it was.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use ambient_engine::archive::{ArchiveError, Restored, restore, write_archive};
use ambient_engine::session::{Directory, SessionDirectory, SessionId, Work, WorkLock, write_derived_files};
use ambient_engine::{Event, Finished, Line, Log, Opened, Options, Origin, Track};

const ID: &str = "2026-09-05T1412-weekly";

fn session(root: &Path) -> SessionDirectory {
    let folder = root.join(ID);
    fs::create_dir_all(folder.join("audio")).unwrap();
    let opened = Opened {
        id: ID.to_owned(),
        name: Some("Weekly".to_owned()),
        started_at: "2026-09-05T14:12:03Z".to_owned(),
        origin: Origin::Recorded,
        program: "a test".to_owned(),
        tracks: Vec::new(),
    };
    let line = |start_ms: u64| {
        Event::Line(Line {
            track: Track::Room,
            start_ms,
            end_ms: start_ms + 900,
            text: format!("it is {start_ms}"),
            confidence: 0.9,
            language: None,
            generation: 0,
            audio: None,
            overlap: false,
        })
    };
    let mut log = Log::create(&folder, Options::default()).unwrap();
    log.append(&[Event::Opened(opened)]).unwrap();
    log.append(&(0..20).map(|n| line(n * 1000)).collect::<Vec<_>>()).unwrap();
    log.append(&[Event::Finished(Finished { at: "2026-09-05T15:00:00Z".into(), warnings: vec![] })]).unwrap();
    log.close().unwrap();
    fs::write(folder.join("audio/room.native.wav"), vec![7; 3000]).unwrap();
    fs::write(folder.join("assistant.jsonl"), "{}\n").unwrap();
    let session = open(root, ID);
    write_derived_files(&session).unwrap();
    session
}

fn open(root: &Path, id: &str) -> SessionDirectory {
    let root = Directory::open(root).unwrap();
    SessionDirectory::open(&root, &SessionId::new(id).unwrap()).unwrap().unwrap()
}

fn archive(session: &SessionDirectory, with_audio: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_archive(session, with_audio, &mut bytes).unwrap();
    bytes
}

fn restored(bytes: &[u8], root: &Path) -> Result<Restored, ArchiveError> {
    read(bytes, root, false)
}

fn read(bytes: &[u8], root: &Path, is_dry_run: bool) -> Result<Restored, ArchiveError> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    restore(File::open(file.path()).unwrap(), Directory::open(root).unwrap(), is_dry_run)
}

#[test]
fn a_session_comes_back_as_it_was_and_once() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let original = session(here.path());
    let bytes = archive(&original, true);
    let first = restored(&bytes, there.path()).unwrap();
    assert_eq!((first.id.as_str(), first.was_there), (ID, false));
    let copy = open(there.path(), ID);
    assert!(archive(&copy, true) == bytes, "the same archive comes of it");
    for name in
        ["session.json", "transcript.md", "log/0000000000.seg", "audio/room.native.wav", "assistant.jsonl"]
    {
        let read = |session: &SessionDirectory| fs::read(session.directory().path().join(name)).unwrap();
        assert_eq!(read(&copy), read(&original), "{name}");
    }
    assert!(!there.path().join(ID).join("log/LOCK").exists());
    assert!(restored(&bytes, there.path()).unwrap().was_there);
    // It is the same session still when it was edited since; another one of that name is not touched.
    copy.open_log(Options::default())
        .unwrap()
        .append(&[Event::Meta(ambient_engine::MetaChange::Tag("x".into()))])
        .unwrap();
    assert!(restored(&bytes, there.path()).unwrap().was_there);
    fs::remove_dir_all(there.path().join(ID)).unwrap();
    fs::create_dir(there.path().join(ID)).unwrap();
    assert_eq!(restored(&bytes, there.path()).unwrap().id, format!("{ID}-02"));
}

#[test]
fn sound_comes_along_when_it_is_asked_for() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let bytes = archive(&session(here.path()), false);
    restored(&bytes, there.path()).unwrap();
    assert!(!there.path().join(ID).join("audio").exists());
}

#[test]
fn one_that_somebody_works_on_is_busy() {
    let here = tempfile::tempdir().unwrap();
    let session = session(here.path());
    let _held = WorkLock::hold(&session, Work::Transcribing).unwrap();
    let refused = write_archive(&session, false, &mut Vec::new());
    assert!(matches!(refused, Err(ArchiveError::Busy(_))), "{refused:?}");
}

#[test]
fn no_byte_can_be_changed_cut_off_or_added() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let bytes = archive(&session(here.path()), true);
    let mut places: Vec<usize> = (0..bytes.len()).step_by(97).collect();
    places.extend(0..700);
    places.extend(bytes.len() - 600..bytes.len());
    for at in places {
        let mut altered = bytes.clone();
        altered[at] ^= 1;
        // To make the files takes its time; what is checked is the same.
        let refused = read(&altered, there.path(), at % 100 != 0);
        assert!(
            matches!(refused, Err(ArchiveError::Altered(_) | ArchiveError::NotAnArchive(_))),
            "{at}: {refused:?}"
        );
    }
    for len in (0..bytes.len()).step_by(331) {
        assert!(restored(&bytes[..len], there.path()).is_err(), "cut at {len}");
    }
    for more in [&[0][..], &[0; 512], b"x"] {
        assert!(restored(&[&bytes[..], more].concat(), there.path()).is_err());
    }
    assert_eq!(fs::read_dir(there.path()).unwrap().count(), 0, "nothing is left of what was refused");
}

#[test]
fn what_others_packed_reaches_nothing() {
    let there = tempfile::tempdir().unwrap();
    let root = there.path().join("root");
    fs::create_dir(&root).unwrap();
    for path in ["../evil", "/tmp/evil", "log/../../evil", "..", "log"] {
        let list = format!(
            "{{\n  \"format\": 1,\n  \"session\": \"{ID}\",\n  \"files\": [\n    {{\n      \"path\": \"{path}\",\n      \
             \"len_bytes\": 1,\n      \"sha256\": \"\",\n      \"modified_s\": 0\n    }}\n  ]\n}}\n"
        );
        let mut tar = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_ustar();
        header.set_size(list.len() as u64);
        header.set_mode(0o600);
        header.set_mtime(0);
        header.set_uid(0);
        header.set_gid(0);
        header.set_entry_type(tar::EntryType::Regular);
        tar.append_data(&mut header, "ambient-archive.json", list.as_bytes()).unwrap();
        let refused = restored(&tar.into_inner().unwrap(), &root);
        assert!(matches!(refused, Err(ArchiveError::NotAnArchive(_))), "{path}: {refused:?}");
    }
    let mut tar = tar::Builder::new(Vec::new());
    let mut link = tar::Header::new_ustar();
    link.set_entry_type(tar::EntryType::Symlink);
    link.set_size(0);
    tar.append_link(&mut link, "ambient-archive.json", "/etc/passwd").unwrap();
    assert!(restored(&tar.into_inner().unwrap(), &root).is_err());
    assert!(restored(b"hello", &root).is_err() && restored(&[0; 4096], &root).is_err());
    assert_eq!(fs::read_dir(&root).unwrap().count(), 0);
    assert_eq!(fs::read_dir(there.path()).unwrap().count(), 1);
}
