//! Logs as a crash leaves them.

use std::fs;

use super::super::{AppendError, Log, Mapping, OpenError, Reader, RecoveryCause};
use super::{die, line, read_texts, segment, speaker, unsynced};

/// A session that holds nothing but `bytes` as its first segment: a copy of what a disk kept.
fn session_of(bytes: &[u8]) -> tempfile::TempDir {
    let session = tempfile::tempdir().unwrap();
    fs::create_dir(session.path().join("log")).unwrap();
    fs::write(segment(session.path(), 0), bytes).unwrap();
    session
}

#[test]
fn cut_at_every_byte_a_log_gives_the_exact_prefix_of_whole_batches() {
    let session = tempfile::tempdir().unwrap();
    let mut log = Log::create(session.path(), unsynced()).unwrap();
    let mut whole = vec![(log.end(), 0)];
    for batch in [&["one", "two"][..], &["three"], &["four", "five"]] {
        log.append(&batch.iter().map(|text| line(text)).collect::<Vec<_>>()).unwrap();
        whole.push((log.end(), log.lines()));
    }
    log.append(&[speaker(1, "Ana")]).unwrap();
    whole.push((log.end(), log.lines()));
    die(log);
    let all = read_texts(session.path());
    let bytes = fs::read(segment(session.path(), 0)).unwrap();

    for cut in 0..=bytes.len() {
        let copy = session_of(&bytes[..cut]);
        if cut < 256 {
            assert!(
                matches!(Reader::open(copy.path(), Mapping::On), Err(OpenError::Header { .. })),
                "cut {cut}"
            );
            continue;
        }
        let (end, lines) = *whole.iter().rev().find(|(end, _)| *end <= cut as u64).unwrap();
        let expected = &all[..usize::try_from(lines).unwrap()];
        assert_eq!(read_texts(copy.path()), expected, "reader, cut {cut}");

        let mut log = Log::open(copy.path(), unsynced()).unwrap();
        let report = log.recovery();
        assert_eq!(report.cause, RecoveryCause::NotClosed, "cut {cut}");
        assert_eq!(report.discarded_len_bytes, cut as u64 - end, "cut {cut}");
        log.append(&[line("after")]).unwrap();
        log.close().unwrap();
        let mut after = expected.to_vec();
        after.push("after".to_owned());
        assert_eq!(read_texts(copy.path()), after, "after recovery, cut {cut}");
        let kept = fs::read(segment(copy.path(), 0)).unwrap();
        assert_eq!(&kept[..cut], &bytes[..cut], "no byte is changed, cut {cut}");
    }
}

#[test]
fn a_writer_that_died_in_the_middle_of_a_batch_costs_that_batch_only() {
    let session = tempfile::tempdir().unwrap();
    let mut log = Log::create(session.path(), unsynced()).unwrap();
    log.append(&[line("kept")]).unwrap();
    let path = segment(session.path(), 0);
    let end = fs::metadata(&path).unwrap().len();
    log.append(&[line("half"), line("batch")]).unwrap();
    die(log);
    // As if the process had died after the first frame: the head still says the old end.
    let whole = fs::read(&path).unwrap();
    let torn = session_of(&whole[..whole.len() - 8]);
    assert_eq!(read_texts(torn.path()), ["kept"]);

    let mut log = Log::open(torn.path(), unsynced()).unwrap();
    assert_eq!(log.recovery().discarded_len_bytes, whole.len() as u64 - 8 - end);
    assert_eq!(log.recovery().lost_events, 1);
    log.append(&[line("next"), speaker(0, "Ana")]).unwrap();
    drop(log);
    assert_eq!(read_texts(torn.path()), ["kept", "next"]);
    assert!(segment(torn.path(), 1).exists());
}

#[test]
fn a_whole_batch_that_was_not_published_is_taken_in() {
    let session = tempfile::tempdir().unwrap();
    let mut log = Log::create(session.path(), unsynced()).unwrap();
    log.append(&[line("published")]).unwrap();
    let end = log.end();
    log.append(&[line("written"), speaker(0, "Ana")]).unwrap();
    log.rewind_head_to(end, 1);
    die(log);
    assert_eq!(read_texts(session.path()), ["published"], "readers believe the head");
    let log = Log::open(session.path(), unsynced()).unwrap();
    assert_eq!(log.recovery().cause, RecoveryCause::WriterDied);
    assert_eq!(log.recovery().recovered_events, 2);
    assert!(!log.recovery().rebuilt_index);
    drop(log);
    assert_eq!(read_texts(session.path()), ["published", "written"]);
}

#[test]
fn edits_of_an_abandoned_batch_never_show() {
    let session = tempfile::tempdir().unwrap();
    let mut log = Log::create(session.path(), unsynced()).unwrap();
    log.append(&[line("one")]).unwrap();
    log.append(&[speaker(0, "Ana")]).unwrap();
    let end = log.end();
    log.append(&[speaker(0, "Bo"), line("two")]).unwrap();
    // The batch loses its last frame, but its edit is already in the index.
    let path = segment(session.path(), 0);
    let len = fs::metadata(&path).unwrap().len();
    log.rewind_head_to(end, 1);
    die(log);
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(len - 8).unwrap();

    let mut log = Log::open(session.path(), unsynced()).unwrap();
    assert_eq!(log.recovery().lost_events, 1);
    let mut reader = Reader::open(session.path(), Mapping::On).unwrap();
    assert_eq!(reader.snapshot().unwrap().folded(0).unwrap().speaker.as_deref(), Some("Ana"));
    log.append(&[speaker(0, "Cy")]).unwrap();
    let edits = reader.snapshot().unwrap().edits_of(0).unwrap();
    assert_eq!(edits.len(), 2, "the chain skips the abandoned edit");
}

#[test]
fn a_first_batch_torn_in_a_fresh_segment_twice_is_survived() {
    let session = tempfile::tempdir().unwrap();
    let mut log = Log::create(session.path(), unsynced()).unwrap();
    log.append(&[line("kept")]).unwrap();
    die(log);
    for ordinal in 0..3 {
        let mut bytes = fs::read(segment(session.path(), ordinal)).unwrap();
        bytes.extend_from_slice(&[0xAB; 40]);
        fs::write(segment(session.path(), ordinal), bytes).unwrap();
        drop(Log::open(session.path(), unsynced()).map(die));
    }
    let mut log = Log::open(session.path(), unsynced()).unwrap();
    log.append(&[line("next")]).unwrap();
    drop(log);
    assert_eq!(read_texts(session.path()), ["kept", "next"]);
    fs::remove_file(session.path().join("log/head")).unwrap();
    fs::remove_file(session.path().join("log/lines.idx")).unwrap();
    assert_eq!(read_texts(session.path()), ["kept", "next"]);
}

#[test]
fn damage_before_what_was_published_is_refused_by_the_writer_and_read_around() {
    let session = tempfile::tempdir().unwrap();
    let mut log = Log::create(session.path(), unsynced()).unwrap();
    log.append(&[line("one")]).unwrap();
    let middle = log.end();
    log.append(&[line("two")]).unwrap();
    log.flush().unwrap();
    log.append(&[line("three")]).unwrap();
    die(log);
    let mut bytes = fs::read(segment(session.path(), 0)).unwrap();
    bytes[usize::try_from(middle).unwrap() + 44] ^= 1;
    // A copy, so that no head tells anything: the third line's frame is the witness.
    let copy = session_of(&bytes);
    match Log::open(copy.path(), unsynced()) {
        Err(OpenError::Corrupt { position, survivors, .. }) => {
            assert_eq!((position, survivors), (middle, 1));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(read_texts(copy.path()), ["one"]);
    let reader = Reader::open(copy.path(), Mapping::On).unwrap();
    assert!(reader.damage().unwrap().contains(&format!("position {middle}")));
}

#[test]
fn head_and_index_may_be_noise() {
    let session = tempfile::tempdir().unwrap();
    let mut log = Log::create(session.path(), unsynced()).unwrap();
    log.append(&[line("one"), speaker(0, "Ana")]).unwrap();
    die(log);
    for noise in [vec![], vec![0xFF; 100], vec![0xA5; 8192], vec![0; 4096]] {
        fs::write(session.path().join("log/head"), &noise).unwrap();
        fs::write(session.path().join("log/lines.idx"), &noise).unwrap();
        assert_eq!(read_texts(session.path()), ["one"]);
    }
    let mut log = Log::open(session.path(), unsynced()).unwrap();
    log.append(&[line("two")]).unwrap();
    assert_eq!(read_texts(session.path()), ["one", "two"]);
}

#[test]
fn after_a_failed_sync_nobody_appends_until_the_log_is_opened_anew() {
    let session = tempfile::tempdir().unwrap();
    let mut first = Log::create(session.path(), unsynced()).unwrap();
    first.append(&[line("one")]).unwrap();
    first.flush().unwrap();
    let mut second = Log::open(session.path(), unsynced()).unwrap();
    first.fail_sync();
    for log in [&mut first, &mut second] {
        assert!(matches!(log.append(&[line("no")]), Err(AppendError::Poisoned(_))));
    }
    let mut third = Log::open(session.path(), unsynced()).unwrap();
    assert_eq!(third.recovery().cause, RecoveryCause::SyncFailed);
    third.append(&[line("two")]).unwrap();
    assert_eq!(read_texts(session.path()), ["one", "two"]);
    assert!(segment(session.path(), 1).exists(), "the disk decides where the old segment ends");
}

#[test]
fn a_head_replaced_under_a_writer_is_noticed() {
    let session = tempfile::tempdir().unwrap();
    let mut log = Log::create(session.path(), unsynced()).unwrap();
    log.append(&[line("one")]).unwrap();
    fs::remove_file(session.path().join("log/head")).unwrap();
    log.append(&[line("two")]).unwrap();
    assert_eq!(read_texts(session.path()), ["one", "two"]);
}

#[test]
fn a_missing_or_foreign_segment_is_named() {
    let session = tempfile::tempdir().unwrap();
    let log = Log::create(session.path(), unsynced()).unwrap();
    die(log);
    fs::rename(segment(session.path(), 0), segment(session.path(), 1)).unwrap();
    assert!(matches!(Reader::open(session.path(), Mapping::On), Err(OpenError::Hole { .. })));
    fs::remove_file(segment(session.path(), 1)).unwrap();
    assert!(matches!(Reader::open(session.path(), Mapping::On), Err(OpenError::Empty(_))));
}
