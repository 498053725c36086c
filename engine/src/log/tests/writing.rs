//! Rules of appending.

use super::super::{AppendError, Log, Mapping, OpenError, Options, ReadError, Reader};
use super::{edit, finished, line, speaker, texts, unsynced};
use crate::{Change, Edit, FixedClock};

#[test]
fn a_batch_is_all_or_nothing() {
    let session = tempfile::tempdir().unwrap();
    let mut log = Log::create(session.path(), unsynced()).unwrap();
    assert!(matches!(log.append(&[]), Err(AppendError::EmptyBatch)));
    let refused = log.append(&[line("one"), speaker(1, "Ana")]);
    assert!(matches!(refused, Err(AppendError::NoSuchLine { line: 1, lines: 1 })));
    assert_eq!(log.lines(), 0);
    log.append(&[line("one"), speaker(0, "Ana"), speaker(0, "Bo")]).unwrap();
    let mut reader = Reader::open(session.path(), Mapping::On).unwrap();
    let lines = reader.snapshot().unwrap().since(0).unwrap();
    assert_eq!(texts(&lines), ["one"]);
    assert_eq!(lines[0].speaker.as_deref(), Some("Bo"));
}

#[test]
fn edits_that_mean_nothing_are_refused() {
    let session = tempfile::tempdir().unwrap();
    let mut log = Log::create(session.path(), unsynced()).unwrap();
    log.append(&[line("one")]).unwrap();
    let empty_from = Change::Repair { from: String::new(), to: "x".into() };
    for refused in [
        edit(0, Edit::PERSON, empty_from),
        speaker(0, "  "),
        edit(0, "", Change::Hide { reason: "bleed".into() }),
    ] {
        assert!(matches!(log.append(&[refused]), Err(AppendError::Meaningless { .. })));
    }
}

#[test]
fn an_event_larger_than_a_frame_is_refused_before_anything_is_written() {
    let session = tempfile::tempdir().unwrap();
    let mut log = Log::create(session.path(), unsynced()).unwrap();
    let huge = line(&"x".repeat((16 << 20) + 1));
    assert!(matches!(
        log.append(&[line("fine"), huge]),
        Err(AppendError::EventTooLarge { index: 1, .. } | AppendError::Payload(_))
    ));
    assert_eq!(log.lines(), 0);
    log.append(&[line("one")]).unwrap();
    assert_eq!(log.lines(), 1);
}

#[test]
fn a_full_segment_is_followed_by_another_and_a_reader_goes_along() {
    let session = tempfile::tempdir().unwrap();
    let mut log = Log::create(session.path(), unsynced()).unwrap();
    log.append(&[line("first")]).unwrap();
    let mut reader = Reader::open(session.path(), Mapping::On).unwrap();
    let large = "y".repeat(8 << 20);
    for _ in 0..9 {
        log.append(&[line(&large)]).unwrap();
    }
    log.append(&[speaker(0, "Ana"), line("last")]).unwrap();
    assert!(session.path().join("log/0000000001.seg").exists());
    let mut snapshot = reader.snapshot().unwrap();
    assert_eq!(snapshot.lines(), 11);
    assert_eq!(snapshot.folded(0).unwrap().speaker.as_deref(), Some("Ana"));
    assert_eq!(snapshot.folded(10).unwrap().text(), "last");
    assert_eq!(snapshot.since(0).unwrap().len(), 11);
    log.close().unwrap();
    std::fs::remove_file(session.path().join("log/head")).unwrap();
    let mut reopened = Reader::open(session.path(), Mapping::On).unwrap();
    assert!(!reopened.is_walking());
    assert_eq!(reopened.snapshot().unwrap().lines(), 11);
}

#[test]
fn two_writers_take_turns_and_the_last_one_out_closes() {
    let session = tempfile::tempdir().unwrap();
    let mut recorder = Log::create(session.path(), unsynced()).unwrap();
    let mut person = Log::open(session.path(), unsynced()).unwrap();
    for round in 0..20 {
        recorder.append(&[line(&format!("line {round}"))]).unwrap();
        person.append(&[speaker(round, "Ana"), speaker(round / 2, "Bo")]).unwrap();
    }
    drop(recorder);
    let mut reader = Reader::open(session.path(), Mapping::On).unwrap();
    let lines = reader.snapshot().unwrap().since(0).unwrap();
    assert_eq!(lines.len(), 20);
    assert!(lines.iter().all(|line| line.speaker.is_some()));
    let end = person.end();
    drop(person);
    let log = Log::open(session.path(), unsynced()).unwrap();
    assert!(log.end() > end, "a closing frame stands behind the last batch");
    let closed_end = log.end();
    drop(log);
    assert_eq!(Log::open(session.path(), unsynced()).unwrap().end(), closed_end, "closed once is closed");
}

#[test]
fn a_held_lock_makes_others_busy_and_no_later() {
    let session = tempfile::tempdir().unwrap();
    let log = Log::create(session.path(), unsynced()).unwrap();
    let mut other = Log::open(
        session.path(),
        Options { lock_timeout: std::time::Duration::from_millis(20), ..unsynced() },
    )
    .unwrap();
    let guard = log.hold_lock();
    assert!(matches!(other.append(&[line("no")]), Err(AppendError::Lock(_))));
    drop(guard);
    // The late lock of the waiting thread is let go unused: this would be busy for ever otherwise.
    let mut patient = Log::open(session.path(), unsynced()).unwrap();
    patient.append(&[line("yes")]).unwrap();
}

#[test]
fn a_cursor_is_valid_for_its_own_frame_only() {
    let session = tempfile::tempdir().unwrap();
    let mut log = Log::create(session.path(), unsynced()).unwrap();
    let first = log.append(&[line("one"), finished()]).unwrap();
    log.append(&[line("two"), speaker(0, "Ana")]).unwrap();
    let mut reader = Reader::open(session.path(), Mapping::On).unwrap();
    let mut snapshot = reader.snapshot().unwrap();
    let changes = snapshot.changes(Some(&first)).unwrap();
    assert_eq!(texts(&changes.new), ["two"]);
    assert_eq!(changes.changed.len(), 1);
    assert_eq!(changes.changed[0].speaker.as_deref(), Some("Ana"));
    let again = snapshot.changes(changes.cursor.as_ref()).unwrap();
    assert_eq!((again.new.len(), again.changed.len()), (0, 0));

    let lost = |cursor| matches!(reader_error(session.path(), cursor), Some(ReadError::CursorLost(_)));
    let cursor = changes.cursor.unwrap();
    assert!(lost(super::super::Cursor { position: cursor.position + 8, ..cursor }));
    assert!(lost(super::super::Cursor { position: u64::MAX, ..cursor }));
    assert!(lost(super::super::Cursor { crc: !cursor.crc, ..cursor }));
    assert!(lost(super::super::Cursor { uuid: [0; 16], ..cursor }));
    assert!(!lost(cursor));
}

fn reader_error(session: &std::path::Path, cursor: super::super::Cursor) -> Option<ReadError> {
    Reader::open(session, Mapping::On).unwrap().snapshot().unwrap().changes(Some(&cursor)).err()
}

#[test]
fn time_stamps_come_from_the_clock_as_it_gives_them() {
    let session = tempfile::tempdir().unwrap();
    let clock = std::sync::Arc::new(FixedClock::at_us(1_700_000_000_000_000));
    let mut log = Log::create(session.path(), Options { clock, ..unsynced() }).unwrap();
    log.append(&[line("one")]).unwrap();
    let mut reader = Reader::open(session.path(), Mapping::On).unwrap();
    let events = reader.snapshot().unwrap().events().unwrap();
    assert_eq!(events[0].ts_us, 1_700_000_000_000_000);
}

#[test]
fn a_log_is_made_once() {
    let session = tempfile::tempdir().unwrap();
    drop(Log::create(session.path(), unsynced()).unwrap());
    assert!(matches!(Log::create(session.path(), unsynced()), Err(OpenError::Disk(_))));
    assert!(matches!(Log::open(&session.path().join("nowhere"), unsynced()), Err(OpenError::Disk(_))));
}

#[test]
fn a_link_in_the_place_of_a_file_is_refused() {
    let session = tempfile::tempdir().unwrap();
    drop(Log::create(session.path(), unsynced()).unwrap());
    let outside = tempfile::tempdir().unwrap();
    for name in ["head", "lines.idx", "0000000000.seg"] {
        let path = session.path().join("log").join(name);
        let kept = outside.path().join(name);
        std::fs::rename(&path, &kept).unwrap();
        std::os::unix::fs::symlink(&kept, &path).unwrap();
        assert!(matches!(Reader::open(session.path(), Mapping::On), Err(OpenError::Disk(_))), "{name}");
        std::fs::remove_file(&path).unwrap();
        std::fs::rename(&kept, &path).unwrap();
    }
}

#[test]
fn without_mapping_everything_works_the_same() {
    let session = tempfile::tempdir().unwrap();
    let options = Options { mapping: Mapping::Off, ..unsynced() };
    let mut log = Log::create(session.path(), options.clone()).unwrap();
    let mut reader = Reader::open(session.path(), Mapping::Off).unwrap();
    let mut mapped = Reader::open(session.path(), Mapping::On).unwrap();
    for round in 0..3_000 {
        log.append(&[line(&format!("line {round}")), speaker(round, "Ana")]).unwrap();
    }
    for reader in [&mut reader, &mut mapped] {
        assert!(reader.has_news().unwrap());
        let mut snapshot = reader.snapshot().unwrap();
        assert_eq!(snapshot.lines(), 3_000);
        assert_eq!(snapshot.folded(2_999).unwrap().speaker.as_deref(), Some("Ana"));
    }
}

#[test]
fn what_was_decided_on_what_the_log_said_holds_when_it_is_in() {
    const ROUNDS: usize = 40;
    let session = tempfile::tempdir().unwrap();
    Log::create(session.path(), unsynced()).unwrap().close().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut log = Log::open(session.path(), unsynced()).unwrap();
                let mut reader = Reader::open(session.path(), Mapping::On).unwrap();
                for _ in 0..ROUNDS {
                    let decided = log.append_decided(|| {
                        let count = reader.snapshot()?.events_behind(None)?.len();
                        Ok::<_, Box<dyn std::error::Error + Send + Sync>>(vec![line(&count.to_string())])
                    });
                    decided.unwrap();
                }
            });
        }
    });
    let expected: Vec<_> = (0..4 * ROUNDS).map(|number| number.to_string()).collect();
    assert_eq!(super::read_texts(session.path()), expected);
}

#[test]
fn who_decides_against_it_appends_nothing() {
    let session = tempfile::tempdir().unwrap();
    let mut log = Log::create(session.path(), unsynced()).unwrap();
    let before = log.end();
    let refused = log.append_decided(|| Err::<Vec<_>, _>(AppendError::EmptyBatch));
    assert!(matches!(refused, Err(AppendError::EmptyBatch)));
    let nothing = log.append_decided(|| Ok::<_, AppendError>(Vec::new()));
    assert!(matches!(nothing, Err(AppendError::EmptyBatch)));
    assert_eq!(log.end(), before);
    log.append(&[line("one")]).unwrap();
    assert_eq!(log.lines(), 1);
}

#[test]
fn the_events_behind_a_cursor_are_those_that_came_after_it() {
    let session = tempfile::tempdir().unwrap();
    let mut log = Log::create(session.path(), unsynced()).unwrap();
    let first = log.append(&[line("one"), line("two")]).unwrap();
    let second = log.append(&[speaker(0, "Ana"), finished()]).unwrap();
    let mut reader = Reader::open(session.path(), Mapping::On).unwrap();
    let mut snapshot = reader.snapshot().unwrap();
    let all = snapshot.events_behind(None).unwrap();
    assert_eq!(all, snapshot.events().unwrap());
    assert_eq!(snapshot.events_behind(Some(&first)).unwrap(), all[2..]);
    assert_eq!(snapshot.events_behind(Some(&second)).unwrap(), []);
    let elsewhere = tempfile::tempdir().unwrap();
    let other = Log::create(elsewhere.path(), unsynced()).unwrap().append(&[line("one")]).unwrap();
    assert!(matches!(snapshot.events_behind(Some(&other)), Err(ReadError::CursorLost(_))));
}
