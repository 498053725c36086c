//! Writers that die, and whoever comes next: at every step of a batch, twice in a row, and in a copy.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::super::{Log, Mapping, Options, Reader, RecoveryCause};
use super::{die, line, read_texts, segment, speaker, texts, unsynced};
use crate::format::head::HEAD_LEN_BYTES;

/// How far the dead writer came with its last batch.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
enum Step {
    MadeRoom,
    WroteHalf,
    WroteFrames,
    StoredEntries,
    StoredEdits,
    CountedLines,
    Published,
}

const STEPS: [Step; 7] = [
    Step::MadeRoom,
    Step::WroteHalf,
    Step::WroteFrames,
    Step::StoredEntries,
    Step::StoredEdits,
    Step::CountedLines,
    Step::Published,
];

/// Appends a batch and takes back what a writer that died behind `step` had not done.
fn append_and_die(mut log: Log, session: &Path, step: Step) {
    let path = segment(session, log.segments().last().header.ordinal);
    let index_path = session.join("log/lines.idx");
    let (end, lines) = (log.end(), log.lines());
    let offset = end - log.segments().last().base();
    let before = fs::read(&index_path).unwrap();
    log.append(&[speaker(0, &format!("{step:?}")), line("new"), speaker(lines, "Bo")]).unwrap();
    let after = fs::read(&index_path).unwrap();
    if step < Step::Published {
        log.rewind_head_to(end, if step == Step::CountedLines { log.lines() } else { lines });
    }
    if step < Step::StoredEdits {
        let mut index = after;
        let entry = 4096 + usize::try_from(lines).unwrap() * 16;
        let kept = if step == Step::StoredEntries { index[entry..entry + 8].to_vec() } else { vec![0; 8] };
        index[..before.len()].copy_from_slice(&before);
        index[entry..entry + 8].copy_from_slice(&kept);
        index[entry + 8..entry + 16].fill(0);
        fs::write(&index_path, index).unwrap();
    }
    let len_bytes = match step {
        Step::MadeRoom => offset,
        Step::WroteHalf => offset + 88,
        _ => fs::metadata(&path).unwrap().len(),
    };
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(len_bytes).unwrap();
    die(log);
}

/// Whether the batch of a writer that died behind `step` counts.
fn counts(step: Step) -> bool {
    step >= Step::WroteFrames
}

#[test]
fn two_writers_in_a_row_may_die_at_any_step() {
    for first in STEPS {
        for second in STEPS {
            let session = tempfile::tempdir().unwrap();
            let mut log = Log::create(session.path(), unsynced()).unwrap();
            log.append(&[line("old"), speaker(0, "Ana")]).unwrap();
            let mut reader = Reader::open(session.path(), Mapping::On).unwrap();
            append_and_die(log, session.path(), first);
            let log = Log::open(session.path(), unsynced()).unwrap();
            append_and_die(log, session.path(), second);
            // Until someone writes, readers see what was published, and that is whole.
            let published = reader.snapshot().unwrap().since(0).unwrap();
            assert!(published.iter().skip(1).all(|line| line.text() == "new"), "{first:?} {second:?}");

            let mut log = Log::open(session.path(), unsynced()).unwrap();
            log.append(&[line("last")]).unwrap();
            let what = format!("{first:?}, then {second:?}");
            assert!(!log.recovery().rebuilt_index, "{what}");
            let mut expected = vec!["old"];
            expected.extend([first, second].into_iter().filter(|step| counts(*step)).map(|_| "new"));
            expected.push("last");
            let newest = [second, first].into_iter().find(|step| counts(*step));
            let speaker = newest.map_or("Ana".to_owned(), |step| format!("{step:?}"));
            let mut snapshot = reader.snapshot().unwrap();
            assert_eq!(texts(&snapshot.since(0).unwrap()), expected, "{what}");
            assert_eq!(snapshot.folded(0).unwrap().speaker.as_deref(), Some(speaker.as_str()), "{what}");
            drop(log);
            for cache in ["head", "lines.idx"] {
                fs::remove_file(session.path().join("log").join(cache)).unwrap();
            }
            let mut walking = Reader::open(session.path(), Mapping::On).unwrap();
            let mut walked = walking.snapshot().unwrap();
            assert_eq!(texts(&walked.since(0).unwrap()), expected, "{what}, by a walk");
            assert_eq!(walked.folded(0).unwrap().speaker.as_deref(), Some(speaker.as_str()), "{what}");
        }
    }
}

#[test]
fn a_writer_goes_on_after_another_died_at_any_step_and_where_one_rotates() {
    for step in STEPS {
        let session = tempfile::tempdir().unwrap();
        let mut log = Log::create(session.path(), unsynced()).unwrap();
        log.append(&[line("old"), speaker(0, "Ana")]).unwrap();
        let mut other = Log::open(session.path(), unsynced()).unwrap();
        other.begin_segment();
        log.append(&[line("mine")]).unwrap();
        other.append(&[speaker(1, "Cy")]).unwrap();
        append_and_die(other, session.path(), step);
        log.append(&[line("last"), speaker(1, "Di")]).unwrap();
        let mut expected = vec!["old", "mine"];
        if counts(step) {
            expected.push("new");
        }
        expected.push("last");
        assert_eq!(read_texts(session.path()), expected, "{step:?}");
        log.close().unwrap();
        let log = Log::open(session.path(), unsynced()).unwrap();
        assert_eq!(log.recovery().cause, RecoveryCause::None, "{step:?}");
    }
}

#[test]
fn a_copy_of_a_live_session_is_another_log_and_touches_nothing_of_the_first() {
    let session = tempfile::tempdir().unwrap();
    let mut log = Log::create(session.path(), unsynced()).unwrap();
    log.append(&[line("one"), speaker(0, "Ana")]).unwrap();
    let copy = tempfile::tempdir().unwrap();
    fs::create_dir(copy.path().join("log")).unwrap();
    for entry in fs::read_dir(session.path().join("log")).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), copy.path().join("log").join(entry.file_name())).unwrap();
    }
    log.append(&[line("two")]).unwrap();
    assert!(Reader::open(copy.path(), Mapping::On).unwrap().is_walking(), "its head is of another file");
    let mut copied = Log::open(copy.path(), unsynced()).unwrap();
    assert_eq!(copied.recovery().cause, RecoveryCause::NotClosed);
    copied.append(&[line("other")]).unwrap();
    log.append(&[line("three")]).unwrap();
    assert_eq!(read_texts(session.path()), ["one", "two", "three"]);
    assert_eq!(read_texts(copy.path()), ["one", "other"]);
}

#[test]
fn a_head_of_another_boot_or_half_written_is_made_anew_in_place() {
    for (from, to) in [(392, 408), (384, 392), (448, 456), (384, 464)] {
        let session = tempfile::tempdir().unwrap();
        let mut log = Log::create(session.path(), unsynced()).unwrap();
        log.append(&[line("one"), speaker(0, "Ana")]).unwrap();
        die(log);
        let path = session.path().join("log/head");
        let mut head = fs::read(&path).unwrap();
        head[from..to].fill(0);
        fs::write(&path, &head).unwrap();
        assert_eq!(read_texts(session.path()), ["one"]);
        let mut log = Log::open(session.path(), unsynced()).unwrap();
        assert_eq!(log.recovery().cause, RecoveryCause::NotClosed);
        log.append(&[line("two")]).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().len(), HEAD_LEN_BYTES);
        assert!(!Reader::open(session.path(), Mapping::On).unwrap().is_walking());
        assert_eq!(read_texts(session.path()), ["one", "two"]);
    }
}

/// Ends the loops of other threads, also when the test fails.
struct SetAtTheEnd<'flag>(&'flag AtomicBool);

impl Drop for SetAtTheEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Readers open, poll and follow cursors all the time while writers come, go, rotate and repair.
#[test]
fn readers_see_only_prefixes_while_writers_come_and_go() {
    let session = tempfile::tempdir().unwrap();
    drop(Log::create(session.path(), unsynced()).unwrap());
    let is_over = AtomicBool::new(false);
    let read = |mapping| {
        let mut reader = Reader::open(session.path(), mapping).unwrap();
        let (mut seen, mut cursor) = (0, None);
        while !is_over.load(Ordering::Relaxed) {
            let mut fresh = Reader::open(session.path(), mapping).unwrap();
            for reader in [&mut reader, &mut fresh] {
                let mut snapshot = reader.snapshot().unwrap();
                let lines = snapshot.since(0).unwrap();
                for (number, line) in lines.iter().enumerate() {
                    assert_eq!(line.text(), format!("line {number}"));
                }
                if let Some(first) = lines.first() {
                    assert_eq!(first.speaker.as_deref(), Some(lines.len().to_string().as_str()));
                }
            }
            let mut snapshot = reader.snapshot().unwrap();
            let changes = snapshot.changes(cursor.as_ref()).unwrap();
            for (number, line) in (seen..).zip(&changes.new) {
                assert_eq!(line.index, number);
            }
            seen = snapshot.lines();
            cursor = changes.cursor;
        }
    };
    std::thread::scope(|scope| {
        let over = SetAtTheEnd(&is_over);
        let readers = [Mapping::On, Mapping::Off].map(|mapping| scope.spawn(move || read(mapping)));
        for round in 0..40_u64 {
            let mut log = Log::open(session.path(), unsynced()).unwrap();
            if round % 5 == 0 {
                log.begin_segment();
            }
            for _ in 0..round % 7 {
                let lines = log.lines();
                log.append(&[line(&format!("line {lines}")), speaker(0, &(lines + 1).to_string())]).unwrap();
            }
            match round % 4 {
                0 => log.close().unwrap(),
                1 => die(log),
                2 => {
                    log.fail_sync();
                    drop(log);
                }
                _ => drop(log),
            }
        }
        drop(over);
        for reader in readers {
            reader.join().unwrap();
        }
    });
}

#[test]
fn a_writer_that_never_rests_does_not_keep_another_out() {
    let session = tempfile::tempdir().unwrap();
    let mut busy = Log::create(session.path(), Options::default()).unwrap();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let over = SetAtTheEnd(&is_over);
        let is_over = &is_over;
        let restless = scope.spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                busy.append(&[line("busy")]).unwrap();
            }
        });
        let patience = Options { lock_timeout: Duration::from_secs(60), ..Options::default() };
        let mut other = Log::open(session.path(), patience).unwrap();
        for _ in 0..50 {
            other.append(&[line("other")]).unwrap();
        }
        drop(over);
        restless.join().unwrap();
    });
}
