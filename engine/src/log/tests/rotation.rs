//! One segment ending and the next beginning, seen by everyone who has the log open.

use std::fs;

use super::super::attach::begin_behind;
use super::super::disk::LogDirectory;
use super::super::segments::Segments;
use super::super::walk::{Mark, survey};
use super::super::{Log, Mapping, Reader, RecoveryCause};
use super::{die, line, read_texts, segment, speaker, texts, unsynced};
use crate::format::segment::Reason;

#[test]
fn a_cursor_at_the_end_of_a_full_segment_goes_on_in_the_next() {
    let session = tempfile::tempdir().unwrap();
    let mut log = Log::create(session.path(), unsynced()).unwrap();
    let cursor = log.append(&[line("one")]).unwrap();
    log.begin_segment();
    let mut reader = Reader::open(session.path(), Mapping::On).unwrap();
    let none = reader.snapshot().unwrap().changes(Some(&cursor)).unwrap();
    assert_eq!((none.new.len(), none.changed.len(), none.cursor), (0, 0, Some(cursor)));
    log.append(&[speaker(0, "Ana"), line("two")]).unwrap();
    let changes = reader.snapshot().unwrap().changes(Some(&cursor)).unwrap();
    assert_eq!(texts(&changes.new), ["two"]);
    assert_eq!(changes.changed[0].speaker.as_deref(), Some("Ana"));
}

#[test]
fn a_reader_that_walks_goes_on_in_the_next_segment() {
    let session = tempfile::tempdir().unwrap();
    let mut log = Log::create(session.path(), unsynced()).unwrap();
    log.append(&[line("one")]).unwrap();
    fs::remove_file(session.path().join("log/head")).unwrap();
    let mut reader = Reader::open(session.path(), Mapping::On).unwrap();
    assert!(reader.is_walking());
    log.begin_segment();
    log.append(&[line("two")]).unwrap();
    assert_eq!(texts(&reader.snapshot().unwrap().since(0).unwrap()), ["one", "two"]);
    assert_eq!(reader.damage(), None);
}

#[test]
fn a_snapshot_outlives_an_edit_in_a_segment_begun_after_it() {
    let session = tempfile::tempdir().unwrap();
    let mut log = Log::create(session.path(), unsynced()).unwrap();
    log.append(&[line("one"), speaker(0, "Ana")]).unwrap();
    let mut reader = Reader::open(session.path(), Mapping::On).unwrap();
    let mut snapshot = reader.snapshot().unwrap();
    log.begin_segment();
    log.append(&[speaker(0, "Bo"), line("two")]).unwrap();
    assert_eq!(snapshot.folded(0).unwrap().speaker.as_deref(), Some("Ana"));
    assert_eq!(snapshot.lines(), 1);
    assert_eq!(reader.snapshot().unwrap().folded(0).unwrap().speaker.as_deref(), Some("Bo"));
}

#[test]
fn a_closed_log_opened_again_keeps_its_readers() {
    let session = tempfile::tempdir().unwrap();
    let mut log = Log::create(session.path(), unsynced()).unwrap();
    log.append(&[line("one"), speaker(0, "Ana")]).unwrap();
    log.close().unwrap();
    fs::remove_file(session.path().join("log/head")).unwrap();
    let mut reader = Reader::open(session.path(), Mapping::On).unwrap();
    let mut snapshot = reader.snapshot().unwrap();
    let mut log = Log::open(session.path(), unsynced()).unwrap();
    log.begin_segment();
    log.append(&[speaker(0, "Bo"), line("two")]).unwrap();
    assert_eq!(snapshot.folded(0).unwrap().speaker.as_deref(), Some("Ana"));
    assert_eq!(texts(&reader.snapshot().unwrap().since(0).unwrap()), ["one", "two"]);
}

#[test]
fn an_empty_segment_whose_maker_died_before_publishing_it_is_used() {
    let session = tempfile::tempdir().unwrap();
    let mut log = Log::create(session.path(), unsynced()).unwrap();
    log.append(&[line("one")]).unwrap();
    let end = log.end();
    log.begin_segment();
    log.rewind_head_to(end, 1);
    die(log);
    assert_eq!(read_texts(session.path()), ["one"]);
    let mut log = Log::open(session.path(), unsynced()).unwrap();
    assert_eq!(log.recovery().cause, RecoveryCause::WriterDied);
    assert_eq!(log.recovery().discarded_len_bytes, 0);
    log.append(&[line("two")]).unwrap();
    assert!(segment(session.path(), 1).exists() && !segment(session.path(), 2).exists());
    assert_eq!(read_texts(session.path()), ["one", "two"]);
}

#[test]
fn what_a_new_segment_discards_leaves_a_reader_that_had_walked_over_it() {
    let session = tempfile::tempdir().unwrap();
    let mut log = Log::create(session.path(), unsynced()).unwrap();
    log.append(&[line("kept")]).unwrap();
    let kept_end = log.end();
    log.append(&[line("lost")]).unwrap();
    die(log);
    fs::remove_file(session.path().join("log/head")).unwrap();
    let mut reader = Reader::open(session.path(), Mapping::On).unwrap();
    assert_eq!(texts(&reader.snapshot().unwrap().since(0).unwrap()), ["kept", "lost"]);

    // As after a failed sync, when the disk turns out to hold less than the cache had shown.
    let directory = LogDirectory::open(session.path()).unwrap();
    let mut segments = Segments::open(&directory, true).unwrap();
    let kept = survey(&segments, Mark::START, kept_end, |_| ()).unwrap().accepted;
    begin_behind(&mut segments, kept, Reason::SyncFailed, &unsynced()).unwrap();
    let mut log = Log::open(session.path(), unsynced()).unwrap();
    log.append(&[line("next")]).unwrap();
    assert_eq!(texts(&reader.snapshot().unwrap().since(0).unwrap()), ["kept", "next"]);
}

#[test]
fn an_index_made_anew_by_another_writer_is_noticed_though_the_end_stays() {
    let session = tempfile::tempdir().unwrap();
    let mut first = Log::create(session.path(), unsynced()).unwrap();
    first.append(&[line("one")]).unwrap();
    first.begin_segment();
    first.fail_sync();
    let second = Log::open(session.path(), unsynced()).unwrap();
    assert_eq!(second.end(), first.end(), "the empty segment is used");
    first.append(&[line("two")]).unwrap();
    assert_eq!(read_texts(session.path()), ["one", "two"]);
    assert!(!Reader::open(session.path(), Mapping::On).unwrap().is_walking());
}

#[test]
fn an_index_made_anew_is_noticed_by_a_reader_at_once() {
    for mapping in [Mapping::On, Mapping::Off] {
        let session = tempfile::tempdir().unwrap();
        let mut log = Log::create(session.path(), unsynced()).unwrap();
        log.append(&[line("one")]).unwrap();
        let mut reader = Reader::open(session.path(), mapping).unwrap();
        log.fail_sync();
        let mut other = Log::open(session.path(), unsynced()).unwrap();
        other.append(&[line("two"), speaker(0, "Ana")]).unwrap();
        let mut snapshot = reader.snapshot().unwrap();
        assert_eq!(texts(&snapshot.since(0).unwrap()), ["one", "two"]);
        assert_eq!(snapshot.folded(0).unwrap().speaker.as_deref(), Some("Ana"));
    }
}
