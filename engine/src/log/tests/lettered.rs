//! The table of `docs/design/RECOVERY.md`, row by row: what a reader and a writer do with a log that is found
//! so. Each test carries its row's letter; the finer points of a row are in the other files here.

use std::fs;
use std::fs::OpenOptions;
use std::path::Path;
use std::sync::Arc;

use rustix::io::Errno;

use super::super::{Log, LogDirectory, Mapping, OpenError, ReadError, Reader, RecoveryCause};
use super::crafted::Crafted;
use super::{die, line, read_texts, segment, speaker, texts, unsynced};
use crate::format::SEGMENT_LEN_MAX_BYTES;
use crate::format::segment::Reason;
use crate::storage::memory::{Failure, Image, MemoryDirectory};

/// A session with two lines, of which the first has a name, left by `leave`.
fn found(leave: impl FnOnce(Log)) -> tempfile::TempDir {
    let session = tempfile::tempdir().unwrap();
    let mut log = Log::create(session.path(), unsynced()).unwrap();
    log.append(&[line("one"), line("two")]).unwrap();
    log.append(&[speaker(0, "Ana")]).unwrap();
    leave(log);
    session
}

fn closed(log: Log) {
    log.close().unwrap();
}

fn remove(session: &Path, name: &str) {
    fs::remove_file(session.join("log").join(name)).unwrap();
}

fn is_walking(session: &Path) -> bool {
    Reader::open(session, Mapping::On).unwrap().is_walking()
}

fn append_noise(session: &Path, ordinal: u64) {
    let path = segment(session, ordinal);
    let mut bytes = fs::read(&path).unwrap();
    bytes.extend_from_slice(&[0xAB; 40]);
    fs::write(path, bytes).unwrap();
}

/// Opens the log for writing, says why and with which reason the last segment was begun, and appends to it.
fn write_on(session: &Path) -> (RecoveryCause, Reason) {
    let mut log = Log::open(session, unsynced()).unwrap();
    let answer = (log.recovery().cause, log.segments().last().header.reason);
    log.append(&[line("after")]).unwrap();
    let mut reader = Reader::open(session, Mapping::On).unwrap();
    let name = reader.snapshot().unwrap().folded(0).unwrap().speaker;
    assert_eq!(name.as_deref(), Some("Ana"));
    answer
}

#[test]
fn case_a_a_whole_log_of_this_boot_is_read_through_the_head_and_appended_to() {
    let session = found(die);
    assert!(!is_walking(session.path()));
    assert_eq!(write_on(session.path()), (RecoveryCause::None, Reason::First));
    assert_eq!(read_texts(session.path()), ["one", "two", "after"]);
}

#[test]
fn case_b_whole_batches_behind_the_published_end_are_taken_in_by_the_writer() {
    let session = found(|mut log| {
        let (end, lines) = (log.end(), log.lines());
        log.append(&[line("three")]).unwrap();
        log.rewind_head_to(end, lines);
        die(log);
    });
    assert_eq!(read_texts(session.path()), ["one", "two"]);
    assert_eq!(write_on(session.path()), (RecoveryCause::WriterDied, Reason::First));
    assert_eq!(read_texts(session.path()), ["one", "two", "three", "after"]);
}

#[test]
fn case_c_bytes_behind_the_last_whole_batch_stay_and_a_segment_begins_behind_them() {
    let session = found(die);
    append_noise(session.path(), 0);
    let kept = fs::read(segment(session.path(), 0)).unwrap();
    assert_eq!(read_texts(session.path()), ["one", "two"]);
    assert_eq!(write_on(session.path()), (RecoveryCause::WriterDied, Reason::TornTail));
    assert_eq!(read_texts(session.path()), ["one", "two", "after"]);
    assert_eq!(fs::read(segment(session.path(), 0)).unwrap(), kept);
}

#[test]
fn case_d_a_closed_log_without_its_head_is_read_through_the_index() {
    let session = found(closed);
    remove(session.path(), "head");
    assert!(!is_walking(session.path()));
    let log = Log::open(session.path(), unsynced()).unwrap();
    assert!(!log.recovery().rebuilt_index);
    drop(log);
    assert_eq!(write_on(session.path()), (RecoveryCause::None, Reason::First));
}

#[test]
fn case_e_a_closed_log_whose_index_is_another_is_walked() {
    let session = found(closed);
    remove(session.path(), "head");
    let path = session.path().join("log/lines.idx");
    let mut index = fs::read(&path).unwrap();
    index[4096] ^= 8;
    fs::write(path, index).unwrap();
    assert!(is_walking(session.path()));
    assert_eq!(read_texts(session.path()), ["one", "two"]);
    let log = Log::open(session.path(), unsynced()).unwrap();
    assert!(log.recovery().rebuilt_index);
    drop(log);
    assert_eq!(write_on(session.path()), (RecoveryCause::None, Reason::First));
}

#[test]
fn case_f_after_the_machine_died_all_is_walked_and_a_segment_begins() {
    let session = found(die);
    remove(session.path(), "head");
    assert!(is_walking(session.path()));
    assert_eq!(read_texts(session.path()), ["one", "two"]);
    assert_eq!(write_on(session.path()), (RecoveryCause::NotClosed, Reason::MachineDied));
    assert_eq!(read_texts(session.path()), ["one", "two", "after"]);
}

#[test]
fn case_g_after_a_failed_sync_the_disk_is_asked_and_a_segment_begins() {
    let session = found(|mut log| {
        log.fail_sync();
        die(log);
    });
    assert_eq!(read_texts(session.path()), ["one", "two"]);
    assert_eq!(write_on(session.path()), (RecoveryCause::SyncFailed, Reason::SyncFailed));
    assert_eq!(read_texts(session.path()), ["one", "two", "after"]);

    // The disk holds less than it had confirmed.
    let session = found(|mut log| {
        log.flush().unwrap();
        log.fail_sync();
        die(log);
    });
    let path = segment(session.path(), 0);
    let len_bytes = fs::metadata(&path).unwrap().len();
    OpenOptions::new().write(true).open(path).unwrap().set_len(len_bytes - 8).unwrap();
    assert!(matches!(Log::open(session.path(), unsynced()), Err(OpenError::Corrupt { .. })));
}

#[test]
fn case_h_an_empty_last_segment_is_used() {
    for has_head in [true, false] {
        let session = found(|mut log| {
            log.begin_segment();
            die(log);
        });
        if !has_head {
            remove(session.path(), "head");
        }
        assert_eq!(read_texts(session.path()), ["one", "two"]);
        assert_eq!(write_on(session.path()).1, Reason::Full);
        assert_eq!(read_texts(session.path()), ["one", "two", "after"]);
        assert!(!segment(session.path(), 2).exists());
    }
}

/// Three lines, the second of them damaged; the third says that the second had been durable, or nothing.
fn damaged_in_the_middle(is_witnessed: bool) -> (Crafted, u64) {
    let mut log = Crafted::new();
    log.event(0, &line("one"), 0);
    let bad = log.event(1, &line("two"), 0);
    if is_witnessed {
        log.unsynced = 0;
    }
    log.event(2, &line("three"), 0);
    let offset = usize::try_from(bad).unwrap() + 44;
    log.bytes_mut()[offset] ^= 1;
    (log, bad)
}

#[test]
fn case_i_damage_that_is_proved_is_read_up_to_and_never_written_behind() {
    let (log, bad) = damaged_in_the_middle(true);
    let session = log.place();
    assert_eq!(read_texts(session.path()), ["one"]);
    match Log::open(session.path(), unsynced()) {
        Err(OpenError::Corrupt { position, survivors: 1, .. }) => assert_eq!(position, bad),
        other => panic!("{other:?}"),
    }
    assert!(!segment(session.path(), 1).exists());

    // Without a witness the same bytes are a torn tail.
    let (log, _) = damaged_in_the_middle(false);
    let session = log.place();
    assert_eq!(Log::open(session.path(), unsynced()).unwrap().recovery().lost_events, 1);

    // Before the end that a fitting head had published.
    let session = found(die);
    let path = segment(session.path(), 0);
    let mut bytes = fs::read(&path).unwrap();
    let last = bytes.len() - 4;
    bytes[last] ^= 1;
    fs::write(path, bytes).unwrap();
    assert!(matches!(Log::open(session.path(), unsynced()), Err(OpenError::Corrupt { .. })));
}

#[test]
fn case_j_damage_in_a_segment_that_is_not_the_last_needs_no_other_proof() {
    let mut log = Crafted::new();
    log.event(0, &line("one"), 0);
    log.event(1, &line("two"), 0);
    let last = log.bytes().len() - 4;
    log.bytes_mut()[last] ^= 1;
    log.begin_segment(2);
    log.event(2, &line("three"), 0);
    let session = log.place();
    assert_eq!(read_texts(session.path()), ["one"]);
    assert!(Reader::open(session.path(), Mapping::On).unwrap().damage().is_some());
    assert!(matches!(Log::open(session.path(), unsynced()), Err(OpenError::Corrupt { .. })));
}

#[test]
fn case_k_what_is_too_much_to_search_is_neither_torn_nor_damaged() {
    let mut log = Crafted::new();
    log.event(0, &line("one"), 0);
    let session = log.place();
    let file = OpenOptions::new().write(true).open(segment(session.path(), 0)).unwrap();
    file.set_len(2 * SEGMENT_LEN_MAX_BYTES).unwrap();
    assert_eq!(read_texts(session.path()), ["one"]);
    assert!(matches!(Log::open(session.path(), unsynced()), Err(OpenError::Undecided { .. })));
    assert!(!segment(session.path(), 1).exists());
}

#[test]
fn case_l_a_segment_that_is_missing_or_does_not_follow_is_named() {
    let two_segments = || {
        let mut log = Crafted::new();
        log.event(0, &line("one"), 0);
        log.begin_segment(1);
        log.event(1, &line("two"), 0);
        log
    };
    let refused = |session: &Path| {
        assert!(matches!(Reader::open(session, Mapping::On), Err(OpenError::Hole { .. })));
        assert!(matches!(Log::open(session, unsynced()), Err(OpenError::Hole { .. })));
    };
    let missing = two_segments().place();
    fs::remove_file(segment(missing.path(), 0)).unwrap();
    refused(missing.path());

    let mut foreign = two_segments();
    foreign.change_header(24, &[0xEE; 16]);
    refused(foreign.place().path());

    let cut = two_segments().place();
    let file = OpenOptions::new().write(true).open(segment(cut.path(), 0)).unwrap();
    file.set_len(file.metadata().unwrap().len() - 8).unwrap();
    refused(cut.path());
}

fn texts_in(directory: LogDirectory) -> Result<Vec<String>, ReadError> {
    let mut reader = Reader::open_in(directory, Mapping::On)?;
    let lines = reader.snapshot()?.since(0)?;
    Ok(texts(&lines).into_iter().map(str::to_owned).collect())
}

#[test]
fn case_m_a_disk_that_cannot_be_read_is_an_error_and_never_the_end() {
    let mut log = Crafted::new();
    log.event(0, &line("one"), 0);
    log.event(1, &line("two"), 0);
    let mut image = Image::default();
    image.names.insert("0000000000.seg".to_owned(), 0);
    image.files.push(log.bytes().to_vec());
    let mut errors = 0;
    for call in 0..60 {
        let memory = MemoryDirectory::holding(image.clone(), 1);
        let directory = LogDirectory::stored_in(Arc::new(memory.clone()));
        memory.fail_call(call, Failure::Errno(Errno::IO));
        let read = texts_in(directory.clone());
        match read {
            Ok(texts) => assert_eq!(texts, ["one", "two"], "reader, call {call}"),
            Err(error) => {
                errors += 1;
                assert!(error.to_string().contains("could not"), "reader, call {call}: {error}");
            }
        }
        memory.fail_call(call, Failure::Errno(Errno::IO));
        if let Err(error) = Log::open_in(directory, unsynced()).map(die) {
            errors += 1;
            assert!(error.to_string().contains("could not"), "writer, call {call}: {error}");
        }
        assert!(memory.image().bytes("0000000000.seg").unwrap().starts_with(log.bytes()), "call {call}");
        let healed = LogDirectory::stored_in(Arc::new(MemoryDirectory::holding(memory.image(), 1)));
        assert_eq!(texts_in(healed).unwrap(), ["one", "two"], "call {call}");
    }
    assert!(errors > 10, "the calls that were to fail were made");
}

#[test]
fn case_n_a_word_of_the_index_that_is_not_whole_is_walked_around_and_made_anew() {
    let session = found(die);
    let path = session.path().join("log/lines.idx");
    let mut index = fs::read(&path).unwrap();
    index[4096 + 8] ^= 1;
    fs::write(path, index).unwrap();
    let mut reader = Reader::open(session.path(), Mapping::On).unwrap();
    assert_eq!(reader.snapshot().unwrap().folded(0).unwrap().speaker.as_deref(), Some("Ana"));
    assert!(reader.is_walking());
    let mut log = Log::open(session.path(), unsynced()).unwrap();
    log.append(&[speaker(0, "Bo")]).unwrap();
    let mut reader = Reader::open(session.path(), Mapping::On).unwrap();
    assert_eq!(
        reader.snapshot().unwrap().edits_of(0).unwrap().len(),
        2,
        "the chain goes on behind Ana's edit"
    );
}

#[test]
fn every_row_of_the_page_has_its_test() {
    let page = include_str!("../../../../docs/design/RECOVERY.md");
    let letters = page.lines().filter_map(|line| {
        let letter = line.strip_prefix("| ")?.split(" |").next()?;
        (letter.len() == 1).then(|| letter.to_lowercase())
    });
    let letters: Vec<String> = letters.collect();
    assert!(letters.len() >= 13);
    let tests = include_str!("lettered.rs");
    for letter in letters {
        assert!(tests.contains(&format!("\nfn case_{letter}_")), "case {letter} has no test");
    }
}
