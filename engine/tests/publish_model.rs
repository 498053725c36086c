//! The publish protocol as a model in which every ordering is an argument, run through every interleaving and
//! every stale load that the memory model allows: with the orderings of the code no reader is ever shown
//! anything but the log as it was at the `end` it loaded; with any single one weakened some reader is.
//!
//! | here | in the code |
//! |---|---|
//! | [`Shared::write_batch`] | `Writer::write` in `engine/src/log/writer.rs`: frames, then `store_changes`, then `publish` |
//! | its entry, then its newest edit | `store_changes` in `engine/src/log/attach.rs` |
//! | its `lines`, then its `end` | `HeadPage::publish` in `engine/src/log/head_page.rs` |
//! | [`Shared::look`] | `look_at_head` in `engine/src/log/reader.rs` and `HeadPage::load` |
//! | [`Shared::fold`] | `Snapshot::follow_edits` and `heard` in `engine/src/log/snapshot.rs` |
//! | `Release` and `Acquire` of every word | `MappedPage::store` and `load` in `engine/src/storage/mapped_page.rs` |
//!
//! Frames are bytes of a file; here they are words without any ordering of their own, which is less than any
//! system gives, so nothing rests on how a system orders a `pwrite` and a `pread`. Positions of lines in the
//! index are relaxed too: the code stores them with Release as it does every word, but the protocol does not
//! need it, as `lines` and `end` cover them.

#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on should stop

use loom::sync::Arc;
use loom::sync::atomic::AtomicU64;
use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::Ordering;

/// How each word that matters is stored and loaded.
#[derive(Clone, Copy, Debug)]
struct Orderings {
    store_newest_edit: Ordering,
    store_lines: Ordering,
    store_end: Ordering,
    load_end: Ordering,
    load_lines: Ordering,
    load_newest_edit: Ordering,
}

/// As the code has them.
const REAL: Orderings = Orderings {
    store_newest_edit: Release,
    store_lines: Release,
    store_end: Release,
    load_end: Acquire,
    load_lines: Acquire,
    load_newest_edit: Acquire,
};

/// In which order a reader takes the two words of the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum First {
    End,
    Lines,
}

/// In which order a writer stores what publishes and what is published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Publishing {
    Last,
    BeforeTheIndex,
}

/// A frame as a word: what it is, and for an edit the position of the one before. 0 is a place without a frame.
const LINE: u64 = 0x100;
const EDIT: u64 = 0x200;

/// The history: line 0 and an edit of it are there; then a batch of a line and an edit, then one of an edit.
const FIRST_LINE: usize = 1;
const FIRST_EDIT: u64 = 2;
const SECOND_LINE: u64 = 3;
const SECOND_EDIT: u64 = 4;
const THIRD_EDIT: u64 = 5;

/// Ends between batches, each with the lines and the edits of line 0, newest first, that are there then.
const READINGS: [(u64, u64, &[u64]); 3] = [
    (SECOND_LINE, 1, &[FIRST_EDIT]),
    (THIRD_EDIT, 2, &[SECOND_EDIT, FIRST_EDIT]),
    (THIRD_EDIT + 1, 2, &[THIRD_EDIT, SECOND_EDIT, FIRST_EDIT]),
];

struct Shared {
    orderings: Orderings,
    /// The segment's file, one word a position.
    frames: [AtomicU64; 6],
    /// Where each line is, as the index says.
    positions: [AtomicU64; 2],
    /// The newest edit of line 0, as the index says.
    newest_edit: AtomicU64,
    lines: AtomicU64,
    end: AtomicU64,
}

/// What a reader has loaded from the head.
struct Seen {
    end: u64,
    lines: u64,
}

impl Shared {
    /// The log after its first batch, seen by everybody.
    fn new(orderings: Orderings) -> Self {
        let shared = Self {
            orderings,
            frames: std::array::from_fn(|_| AtomicU64::new(0)),
            positions: std::array::from_fn(|_| AtomicU64::new(0)),
            newest_edit: AtomicU64::new(FIRST_EDIT),
            lines: AtomicU64::new(1),
            end: AtomicU64::new(SECOND_LINE),
        };
        shared.frames[FIRST_LINE].store(LINE, Relaxed);
        shared.frames[at(FIRST_EDIT)].store(EDIT, Relaxed);
        shared.positions[0].store(FIRST_LINE as u64, Relaxed);
        shared
    }

    /// A batch that begins at `start` with a line or without, and ends with an edit of line 0 behind `previous`.
    fn write_batch(&self, start: u64, new_line: Option<usize>, previous: u64, publishing: Publishing) {
        let edit = start + u64::from(new_line.is_some());
        if let Some(line) = new_line {
            self.frames[at(start)].store(LINE + line as u64, Relaxed);
        }
        self.frames[at(edit)].store(EDIT + previous, Relaxed);
        if publishing == Publishing::BeforeTheIndex {
            self.publish(edit + 1);
        }
        if let Some(line) = new_line {
            self.positions[line].store(start, Relaxed);
        }
        self.newest_edit.store(edit, self.orderings.store_newest_edit);
        if publishing == Publishing::Last {
            self.publish(edit + 1);
        }
    }

    fn publish(&self, end: u64) {
        self.lines.store(2, self.orderings.store_lines);
        self.end.store(end, self.orderings.store_end);
    }

    /// How far the log goes: lines whose frame lies at or behind the end are not there yet.
    fn look(&self, first: First) -> Seen {
        let load_end = || self.end.load(self.orderings.load_end);
        let load_lines = || self.lines.load(self.orderings.load_lines);
        let (end, mut lines) = match first {
            First::End => (load_end(), load_lines()),
            First::Lines => {
                let lines = load_lines();
                (load_end(), lines)
            }
        };
        while lines > 0 && self.positions[at(lines - 1)].load(Relaxed) >= end {
            lines -= 1;
        }
        Seen { end, lines }
    }

    /// The edits of line 0 before the end, newest first; each line's frame must be that line.
    fn fold(&self, seen: &Seen) -> Vec<u64> {
        for line in 0..seen.lines {
            let position = self.positions[at(line)].load(Relaxed);
            let frame = self.frames[at(position)].load(Relaxed);
            assert_eq!(frame, LINE + line, "the frame at {position} is not line {line}");
        }
        let mut edits = Vec::new();
        let mut position = self.newest_edit.load(self.orderings.load_newest_edit);
        while position != 0 {
            let frame = self.frames[at(position)].load(Relaxed);
            assert_eq!(frame & EDIT, EDIT, "the frame at {position} is not an edit");
            if position < seen.end {
                edits.push(position);
            }
            position = frame - EDIT;
        }
        edits
    }
}

fn at(position: u64) -> usize {
    usize::try_from(position).unwrap()
}

/// Every execution of a writer of two batches and a reader; panics in one that shows a wrong log.
fn explore(orderings: Orderings, publishing: Publishing, first: First) {
    loom::model(move || {
        let shared = Arc::new(Shared::new(orderings));
        let writer = {
            let shared = Arc::clone(&shared);
            loom::thread::spawn(move || {
                shared.write_batch(SECOND_LINE, Some(1), FIRST_EDIT, publishing);
                shared.write_batch(THIRD_EDIT, None, SECOND_EDIT, publishing);
            })
        };
        let seen = shared.look(first);
        let edits = shared.fold(&seen);
        let reading = READINGS.into_iter().find(|(end, ..)| *end == seen.end);
        let (_, lines, expected) = reading.unwrap();
        assert_eq!((seen.lines, edits.as_slice()), (lines, expected), "the log at {}", seen.end);
        writer.join().unwrap();
    });
}

/// Whether some execution shows a wrong log.
fn goes_wrong(orderings: Orderings, publishing: Publishing, first: First) -> bool {
    std::thread::spawn(move || explore(orderings, publishing, first)).join().is_err()
}

#[test]
fn with_the_orderings_of_the_code_every_reader_sees_the_log_at_its_end() {
    explore(REAL, Publishing::Last, First::End);
}

#[test]
fn with_any_single_ordering_weakened_some_reader_does_not() {
    let weakened = [
        Orderings { store_newest_edit: Relaxed, ..REAL },
        Orderings { store_lines: Relaxed, ..REAL },
        Orderings { store_end: Relaxed, ..REAL },
        Orderings { load_end: Relaxed, ..REAL },
        Orderings { load_lines: Relaxed, ..REAL },
        Orderings { load_newest_edit: Relaxed, ..REAL },
    ];
    for orderings in weakened {
        assert!(
            goes_wrong(orderings, Publishing::Last, First::End),
            "{orderings:?} is as good as the real one"
        );
    }
}

#[test]
fn published_before_the_index_or_counted_before_the_end_some_reader_is_misled() {
    assert!(goes_wrong(REAL, Publishing::BeforeTheIndex, First::End));
    assert!(goes_wrong(REAL, Publishing::Last, First::Lines));
}
