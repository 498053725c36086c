//! Laws that hold for every history.

use proptest::prelude::*;

use super::super::walk::{Mark, survey};
use super::super::{Log, Mapping, Moment, Reader};
use super::{by_chain, heard, ops, replay_event, run, unsynced};
use crate::format::index::IndexEntry;
use crate::{Change, Edit, EditTarget, PlacedEdit, Replay, fold};

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// The fold equals the naive twin at every snapshot there ever was.
    #[test]
    fn fold_equals_replay_at_every_snapshot(ops in ops()) {
        let session = tempfile::tempdir().unwrap();
        let mut log = Log::create(session.path(), unsynced()).unwrap();
        let ends = run(&mut log, session.path(), &ops);
        let mut reader = Reader::open(session.path(), Mapping::On).unwrap();
        let events = reader.snapshot().unwrap().events().unwrap();
        for end in ends {
            let before: Vec<_> = events.iter().filter(|recorded| recorded.position < end).collect();
            let mut replay = Replay::new();
            for recorded in &before {
                replay_event(&mut replay, recorded);
            }
            let moment = before.last().map_or(Moment::TimeUs(i64::MIN), |last| Moment::Event(last.seq));
            let mut snapshot = reader.snapshot().unwrap().at(moment).unwrap();
            let expected = replay.lines();
            prop_assert_eq!(&by_chain(&mut snapshot), &expected);
            prop_assert_eq!(&snapshot.since(0).unwrap(), &expected);
        }
    }

    /// The fold equals its twin for any edits of one line, with reverts that name anything at all: what came
    /// later, themselves, other reverts, the right place with the wrong number.
    #[test]
    fn fold_equals_replay_whatever_reverts_name(
        edits in prop::collection::vec((any::<bool>(), 0_u8..6, 0_u64..14, 0_u64..2), 0..14),
    ) {
        let mut replay = Replay::new();
        replay.push_line(heard("aabb ab"));
        let mut placed = Vec::new();
        for (seq, (is_person, kind, target, error)) in (1_u64..).zip(edits) {
            let by = if is_person { Edit::PERSON } else { "machine" };
            let change = match kind {
                0 => Change::Repair { from: "ab".to_owned(), to: if seq % 2 == 0 { "" } else { "baba" }.to_owned() },
                1 => Change::Speaker { name: seq.to_string() },
                2 => Change::Hide { reason: seq.to_string() },
                _ => Change::Revert { target: EditTarget { position: target * 8, seq: target + error } },
            };
            let edit = Edit { line: 0, by: by.to_owned(), change };
            let edit = PlacedEdit { position: seq * 8, seq, ts_us: 0, edit };
            replay.push_edit(edit.clone());
            placed.push(edit);
            prop_assert_eq!(vec![fold(0, heard("aabb ab"), &placed)], replay.lines());
        }
    }

    /// Reading in pieces gives what reading at once gives.
    #[test]
    fn since_composes(ops in ops(), cut: prop::sample::Index) {
        let session = tempfile::tempdir().unwrap();
        let mut log = Log::create(session.path(), unsynced()).unwrap();
        run(&mut log, session.path(), &ops);
        let mut reader = Reader::open(session.path(), Mapping::On).unwrap();
        let mut snapshot = reader.snapshot().unwrap();
        let whole = snapshot.since(0).unwrap();
        let cut = cut.index(whole.len() + 1);
        prop_assert_eq!(&snapshot.since(cut as u64).unwrap()[..], &whole[cut..]);
        prop_assert_eq!(snapshot.since(whole.len() as u64 + 7).unwrap(), vec![]);
        let heard: Vec<_> = snapshot.verbatim(..).unwrap().into_iter().map(|heard| heard.line).collect();
        let folded_heard: Vec<_> = whole.into_iter().map(|line| line.heard).collect();
        prop_assert_eq!(heard, folded_heard);
    }

    /// A reader that applies each reply of `changes` to what it has ends with the folded view.
    #[test]
    fn changes_compose(ops in ops(), pauses: Vec<bool>) {
        let session = tempfile::tempdir().unwrap();
        let mut log = Log::create(session.path(), unsynced()).unwrap();
        let mut reader = Reader::open(session.path(), Mapping::On).unwrap();
        let mut seen = Vec::new();
        let mut cursor = None;
        for (at, batch) in ops.iter().enumerate() {
            run(&mut log, session.path(), std::slice::from_ref(batch));
            if !pauses.get(at).copied().unwrap_or(false) {
                let changes = reader.snapshot().unwrap().changes(cursor.as_ref()).unwrap();
                for line in changes.changed {
                    let index = usize::try_from(line.index).unwrap();
                    seen[index] = line;
                }
                seen.extend(changes.new);
                cursor = changes.cursor;
            }
        }
        let changes = reader.snapshot().unwrap().changes(cursor.as_ref()).unwrap();
        for line in changes.changed {
            let index = usize::try_from(line.index).unwrap();
            seen[index] = line;
        }
        seen.extend(changes.new);
        let mut snapshot = reader.snapshot().unwrap();
        prop_assert_eq!(&seen, &snapshot.since(0).unwrap());
        prop_assert_eq!(changes.cursor, snapshot.cursor().unwrap());
    }

    /// The index that was written along equals the one that a walk from the start makes.
    #[test]
    fn index_equals_rebuild(ops in ops()) {
        let session = tempfile::tempdir().unwrap();
        let mut log = Log::create(session.path(), unsynced()).unwrap();
        run(&mut log, session.path(), &ops);
        let mut rebuilt: Vec<IndexEntry> = Vec::new();
        let segments = log.segments();
        let limit = segments.last().file_end().unwrap();
        survey(segments, Mark::START, limit, |change| super::super::attach::apply(&mut rebuilt, change)).unwrap();
        let written: Vec<IndexEntry> =
            (0..log.lines()).map(|line| log.index().entry(line).unwrap()).collect();
        prop_assert_eq!(written, rebuilt);
    }

    /// Head, index and mapping are only ways in: without any of them a reader sees the same.
    #[test]
    fn every_way_in_shows_the_same(ops in ops()) {
        let session = tempfile::tempdir().unwrap();
        let mut log = Log::create(session.path(), unsynced()).unwrap();
        run(&mut log, session.path(), &ops);
        let read = |mapping| {
            let mut reader = Reader::open(session.path(), mapping).unwrap();
            let walking = reader.is_walking();
            (reader.snapshot().unwrap().since(0).unwrap(), walking)
        };
        let (by_head, walking) = read(Mapping::On);
        prop_assert!(!walking);
        prop_assert_eq!(read(Mapping::Off), (by_head.clone(), false));
        log.close().unwrap();
        std::fs::remove_file(session.path().join("log/head")).unwrap();
        prop_assert_eq!(read(Mapping::On), (by_head.clone(), false), "by the closing frame");
        std::fs::remove_file(session.path().join("log/lines.idx")).unwrap();
        prop_assert_eq!(read(Mapping::On), (by_head, true), "by a walk");
    }
}
