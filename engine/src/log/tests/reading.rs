//! Laws of reading: ranges, earlier moments, numbered edits, where a line comes from, kept cursors.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;

use proptest::prelude::*;

use super::super::{Cursor, Log, Mapping, Moment, Options, ReadError, Reader, Recorded};
use super::{die, edit, heard, line, ops, replay_event, run, speaker, unsynced};
use crate::{
    Change, Edit, EditTarget, Event, FixedClock, FoldedLine, Generation, ModelReference, Replay, Standing,
};

/// A log after `ops`, its session, and its events.
fn log_of(ops: &[Vec<super::Op>]) -> (tempfile::TempDir, Log, Vec<Recorded>) {
    let session = tempfile::tempdir().unwrap();
    let mut log = Log::create(session.path(), unsynced()).unwrap();
    run(&mut log, session.path(), ops);
    let events = open(&session).snapshot().unwrap().events().unwrap();
    (session, log, events)
}

fn open(session: &tempfile::TempDir) -> Reader {
    Reader::open(session.path(), Mapping::On).unwrap()
}

fn replayed<'event>(events: impl Iterator<Item = &'event Recorded>) -> Vec<FoldedLine> {
    let mut replay = Replay::new();
    events.for_each(|recorded| replay_event(&mut replay, recorded));
    replay.lines()
}

fn bound(kind: u8, number: u64) -> Bound<u64> {
    match kind {
        0 => Bound::Unbounded,
        1 => Bound::Included(number),
        _ => Bound::Excluded(number),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// A range is a part of the whole, whatever its bounds, folded, verbatim and lent alike.
    #[test]
    fn a_range_is_a_part_of_the_whole(ops in ops(), from in (0_u8..3, 0_u64..12), to in (0_u8..3, 0_u64..12)) {
        let (session, _log, _) = log_of(&ops);
        let mut reader = open(&session);
        let mut snapshot = reader.snapshot().unwrap();
        let bounds = (bound(from.0, from.1), bound(to.0, to.1));
        let whole = snapshot.since(0).unwrap();
        let expected: Vec<_> = whole
            .into_iter()
            .filter(|line| std::ops::RangeBounds::contains(&bounds, &line.index))
            .collect();
        prop_assert_eq!(&snapshot.range(bounds).unwrap(), &expected);
        let mut lent = Vec::new();
        snapshot.each(bounds, |line| lent.push(line.into_line())).unwrap();
        prop_assert_eq!(&lent, &expected);
        let verbatim: Vec<_> = snapshot.verbatim(bounds).unwrap().into_iter().map(|heard| heard.line).collect();
        prop_assert_eq!(verbatim, expected.into_iter().map(|line| line.heard).collect::<Vec<_>>());
    }

    /// What is lent reads as what is given: the same text, speaker and reason.
    #[test]
    fn a_lent_line_reads_as_an_owned_one(ops in ops()) {
        let (session, _log, _) = log_of(&ops);
        let mut reader = open(&session);
        let mut snapshot = reader.snapshot().unwrap();
        let mut lent = Vec::new();
        snapshot
            .each(.., |line| lent.push((line.text.to_string(), line.speaker.map(str::to_owned), line.is_hidden())))
            .unwrap();
        let owned: Vec<_> = snapshot
            .since(0)
            .unwrap()
            .into_iter()
            .map(|line| (line.text().to_owned(), line.speaker.clone(), line.is_hidden()))
            .collect();
        prop_assert_eq!(lent, owned);
    }

    /// At an event the log reads as its replay up to the end of that event's batch.
    #[test]
    fn at_an_event_is_the_log_up_to_its_batch(ops in ops(), seq in 0_u64..40) {
        let (session, log, events) = log_of(&ops);
        let mut reader = open(&session);
        let edits = reader.snapshot().unwrap().edits().unwrap();
        let mut then = reader.snapshot().unwrap().at(Moment::Event(seq)).unwrap();
        let then_events = then.events().unwrap();
        prop_assert!(then_events.iter().eq(events.iter().take(then_events.len())), "a prefix");
        let reaches = then_events.last().is_some_and(|last| last.seq >= seq) || then_events == events;
        prop_assert!(reaches);
        prop_assert_eq!(then.since(0).unwrap(), replayed(then_events.iter()));
        let edits_then = then.edits().unwrap();
        prop_assert!(edits_then.iter().zip(&edits).all(|(then, now)| then.placed == now.placed));
        // Not one batch more: the one before the asked event's ends before it.
        if let Some(last) = then_events.last().filter(|last| last.seq > seq) {
            let mut earlier = reader.snapshot().unwrap().at(Moment::Event(last.seq)).unwrap();
            prop_assert_eq!(earlier.events().unwrap(), then_events);
        }
        drop(log);
    }

    /// At a time is before the first batch that was appended later, whatever clocks said behind it.
    #[test]
    fn at_a_time_ends_before_the_first_later_batch(times in prop::collection::vec(0_u64..9, 1..9), at in 0_u64..10) {
        let session = tempfile::tempdir().unwrap();
        let clock = Arc::new(FixedClock::at_us(0));
        drop(Log::create(session.path(), Options { clock, ..unsynced() }).unwrap());
        for time in &times {
            let clock = Arc::new(FixedClock::at_us(*time));
            let mut log = Log::open(session.path(), Options { clock, ..unsynced() }).unwrap();
            log.append(&[line("a"), line("b")]).unwrap();
            die(log);
        }
        let batches = times.iter().take_while(|time| **time <= at).count() as u64;
        let mut reader = open(&session);
        let snapshot = reader.snapshot().unwrap().at(Moment::TimeUs(i64::try_from(at).unwrap())).unwrap();
        prop_assert_eq!(snapshot.lines(), batches * 2);
    }

    /// Edits are numbered in log order, and those that are live are the whole reading: alone, without the
    /// others and without reverts, they give the same lines.
    #[test]
    fn the_live_edits_are_the_reading(ops in ops()) {
        let (session, _log, events) = log_of(&ops);
        let mut reader = open(&session);
        let mut snapshot = reader.snapshot().unwrap();
        let edits = snapshot.edits().unwrap();
        let in_log: Vec<_> = events.iter().filter(|recorded| matches!(recorded.event, Event::Edit(_))).collect();
        prop_assert_eq!(edits.len(), in_log.len());
        for ((number, edit), recorded) in (0_u64..).zip(&edits).zip(in_log) {
            prop_assert_eq!((edit.number, edit.placed.position), (number, recorded.position));
            prop_assert_eq!(&Event::Edit(edit.placed.edit.clone()), &recorded.event);
            prop_assert!(edit.batch_seq <= edit.placed.seq);
        }
        let is_live = |recorded: &&Recorded| {
            let of = edits.iter().find(|edit| edit.placed.position == recorded.position);
            of.is_none_or(|edit| {
                let is_revert = matches!(edit.placed.edit.change, Change::Revert { .. });
                edit.standing == Standing::Live && !is_revert
            })
        };
        prop_assert_eq!(replayed(events.iter().filter(is_live)), snapshot.since(0).unwrap());
    }

    /// Why a line reads so agrees with every other way of asking.
    #[test]
    fn why_agrees_with_all_else(ops in ops()) {
        let (session, _log, events) = log_of(&ops);
        let mut reader = open(&session);
        let mut snapshot = reader.snapshot().unwrap();
        let edits = snapshot.edits().unwrap();
        for index in 0..snapshot.lines() {
            let why = snapshot.why(index).unwrap();
            prop_assert_eq!(&why.reads, &snapshot.folded(index).unwrap());
            prop_assert!(events.contains(&why.recorded));
            prop_assert_eq!(&why.recorded.event, &Event::Line(why.reads.heard.clone()));
            let of_line: Vec<_> =
                edits.iter().filter(|edit| edit.placed.edit.line == index).cloned().collect();
            prop_assert_eq!(&why.edits, &of_line);
            let placed: Vec<_> = why.edits.into_iter().map(|edit| edit.placed).collect();
            prop_assert_eq!(placed, snapshot.edits_of(index).unwrap());
            // The frame's own number stands 8 bytes behind its beginning.
            let bytes = std::fs::read(&why.segment).unwrap();
            let at = usize::try_from(why.offset).unwrap() + 8;
            prop_assert_eq!(&bytes[at..at + 8], &why.recorded.seq.to_le_bytes()[..]);
        }
        let lines = snapshot.lines();
        let is_refused = matches!(snapshot.why(lines), Err(ReadError::NoSuchLine { .. }));
        prop_assert!(is_refused);
    }

    /// A kept cursor goes on behind exactly its event, across restarts; a cursor to anything else is lost.
    #[test]
    fn a_cursor_is_its_own_event_or_lost(ops in ops(), shift in -40_i64..40, flip in 0_u32..32, is_closed: bool) {
        let session = tempfile::tempdir().unwrap();
        let mut log = Log::create(session.path(), unsynced()).unwrap();
        let mut kept = Vec::new();
        for batch in &ops {
            run(&mut log, session.path(), std::slice::from_ref(batch));
            let mut reader = open(&session);
            let mut snapshot = reader.snapshot().unwrap();
            let lines = snapshot.since(0).unwrap();
            kept.extend(snapshot.cursor().unwrap().map(|cursor| (cursor.to_string(), lines)));
        }
        if is_closed { log.close().unwrap() } else { die(log) }
        let mut writer = Log::open(session.path(), unsynced()).unwrap();
        writer.append(&[line("after")]).unwrap();
        let mut reader = open(&session);
        let all = reader.snapshot().unwrap().since(0).unwrap();
        for (text, mut seen) in kept {
            let cursor: Cursor = text.parse().unwrap();
            let mut snapshot = reader.snapshot().unwrap();
            let changes = snapshot.changes(Some(&cursor)).unwrap();
            for line in changes.changed {
                let index = usize::try_from(line.index).unwrap();
                seen[index] = line;
            }
            seen.extend(changes.new);
            prop_assert_eq!(&seen, &all);
            let elsewhere = Cursor { position: cursor.position.saturating_add_signed(shift), ..cursor };
            let other = Cursor { crc: cursor.crc ^ (1 << flip), ..cursor };
            let foreign = Cursor { uuid: [0; 16], ..cursor };
            for lost in [other, foreign].into_iter().chain((shift != 0).then_some(elsewhere)) {
                let answer = snapshot.changes(Some(&lost));
                let is_lost = matches!(answer, Err(ReadError::CursorLost(_)));
                prop_assert!(is_lost, "{answer:?}");
            }
        }
    }
}

#[test]
fn a_cursor_into_an_abandoned_tail_is_lost_and_stays_lost() {
    let session = tempfile::tempdir().unwrap();
    let mut log = Log::create(session.path(), unsynced()).unwrap();
    log.append(&[line("kept")]).unwrap();
    let kept = log.end();
    let torn = log.append(&[line("torn"), line("away")]).unwrap();
    let end = log.end();
    log.rewind_head_to(kept, 1);
    die(log);
    let file = std::fs::OpenOptions::new().write(true).open(super::segment(session.path(), 0)).unwrap();
    file.set_len(end - 8).unwrap();
    for text in ["one", "two", "three"] {
        let mut log = Log::open(session.path(), unsynced()).unwrap();
        log.append(&[line(text)]).unwrap();
        let lost = open(&session).snapshot().unwrap().changes(Some(&torn)).err();
        assert!(matches!(lost, Some(ReadError::CursorLost(_))), "{lost:?}");
    }
}

#[test]
fn at_an_earlier_moment_a_later_cursor_is_lost_and_later_edits_are_not_there() {
    let session = tempfile::tempdir().unwrap();
    let mut log = Log::create(session.path(), unsynced()).unwrap();
    log.append(&[line("one")]).unwrap();
    let cursor = log.append(&[speaker(0, "Ana"), line("two")]).unwrap();
    let mut reader = open(&session);
    let mut then = reader.snapshot().unwrap().at(Moment::Event(0)).unwrap();
    assert_eq!((then.lines(), then.folded(0).unwrap().speaker), (1, None));
    assert!(matches!(then.changes(Some(&cursor)), Err(ReadError::CursorLost(_))));
    assert!(matches!(then.folded(1), Err(ReadError::NoSuchLine { line: 1, lines: 1, .. })));
    assert_eq!(then.why(0).unwrap().edits, []);
    assert_eq!(reader.snapshot().unwrap().lines(), 2, "the next snapshot is as new as ever");
}

#[test]
fn a_lying_index_is_walked_around_in_a_segment_that_was_not_open_yet() {
    let session = tempfile::tempdir().unwrap();
    let mut log = Log::create(session.path(), unsynced()).unwrap();
    log.append(&[line("one"), speaker(0, "Ana")]).unwrap();
    let mut reader = open(&session);
    log.begin_segment();
    log.append(&[line("two"), line("three"), speaker(1, "Bo")]).unwrap();
    let place = log.index().position(0).unwrap();
    log.index().set_newest_edit(0, place).unwrap();
    assert_eq!(reader.snapshot().unwrap().folded(0).unwrap().speaker.as_deref(), Some("Ana"));
    for moment in [Moment::Event(u64::MAX), Moment::Event(2), Moment::Event(0)] {
        let mut snapshot = reader.snapshot().unwrap().at(moment).unwrap();
        let named: Vec<_> = snapshot.since(0).unwrap().into_iter().map(|line| line.speaker).collect();
        let expected = [Some("Ana"), Some("Bo"), None].map(|name| name.map(str::to_owned));
        assert_eq!(named, expected[..usize::try_from(snapshot.lines()).unwrap()]);
    }
    assert!(reader.is_walking());
}

#[test]
fn what_became_of_each_edit_is_told() {
    let session = tempfile::tempdir().unwrap();
    let mut log = Log::create(session.path(), unsynced()).unwrap();
    log.append(&[line("one")]).unwrap();
    let name = |name: &str| Change::Speaker { name: name.to_owned() };
    let hide = || Change::Hide { reason: "bleed".to_owned() };
    log.append(&[edit(0, "bleed", hide()), edit(0, Edit::PERSON, name("Ana"))]).unwrap();
    let placed = open(&session).snapshot().unwrap().edits_of(0).unwrap();
    let revert = |at: usize| Change::Revert {
        target: EditTarget { position: placed[at].position, seq: placed[at].seq },
    };
    log.append(&[edit(0, Edit::PERSON, revert(0)), edit(0, "diarize", revert(1))]).unwrap();
    log.append(&[edit(0, "bleed", hide()), edit(0, "diarize", name("guess"))]).unwrap();
    let edits = open(&session).snapshot().unwrap().edits().unwrap();
    let told: Vec<_> = edits.iter().map(|edit| (edit.number, edit.batch_seq, edit.standing)).collect();
    assert_eq!(
        told,
        [
            (0, 1, Standing::Reverted),
            (1, 1, Standing::Live),
            (2, 3, Standing::Live),
            (3, 3, Standing::Void),
            (4, 5, Standing::Barred),
            (5, 5, Standing::Live),
        ]
    );
}

#[test]
fn why_names_the_run_that_heard_the_line() {
    let session = tempfile::tempdir().unwrap();
    let mut log = Log::create(session.path(), unsynced()).unwrap();
    let run = |number, model: &str| Generation {
        number,
        recognizer: "scripted".to_owned(),
        model: ModelReference { name: model.to_owned(), sha256: String::new() },
        voice_activity: String::new(),
        language: None,
    };
    let of_run = |generation| Event::Line(crate::Line { generation, ..heard("words") });
    log.append(&[Event::Generation(run(0, "tiny")), of_run(0)]).unwrap();
    log.append(&[Event::Generation(run(0, "small")), of_run(0), Event::Generation(run(1, "large"))]).unwrap();
    log.append(&[of_run(1), of_run(0), of_run(7), Event::Generation(run(7, "too late"))]).unwrap();
    let mut reader = open(&session);
    let mut snapshot = reader.snapshot().unwrap();
    let mut model = |line| snapshot.why(line).unwrap().generation.map(|run| run.model.name);
    assert_eq!(
        [model(0), model(1), model(2), model(3), model(4)],
        [Some("tiny"), Some("small"), Some("large"), Some("small"), None].map(|name| name.map(str::to_owned))
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// However it is cut into parts, news names each new line once and in order, and every earlier line that
    /// may read differently.
    #[test]
    fn news_in_parts_is_the_news(before in ops(), after in ops(), items_max in 1_usize..6) {
        let (session, mut log, _) = log_of(&before);
        let kept = open(&session).snapshot().unwrap().cursor().unwrap();
        run(&mut log, session.path(), &after);
        let mut reader = open(&session);
        let mut snapshot = reader.snapshot().unwrap();
        let whole = snapshot.changes(kept.as_ref()).unwrap();
        let (mut new, mut changed) = (Vec::new(), BTreeSet::new());
        let mut cursor = kept;
        loop {
            let part = snapshot.news(cursor.as_ref(), items_max).unwrap();
            prop_assert!(part.items.len() <= items_max);
            new.extend(part.items.iter().filter(|item| item.is_new).map(|item| item.line));
            changed.extend(part.items.iter().filter(|item| !item.is_new).map(|item| item.line));
            prop_assert!(part.cursor == whole.cursor || part.has_more);
            cursor = part.cursor;
            if !part.has_more {
                break;
            }
        }
        let numbers = |lines: &[FoldedLine]| lines.iter().map(|line| line.index).collect::<Vec<_>>();
        prop_assert_eq!(&new, &numbers(&whole.new));
        for line in numbers(&whole.changed) {
            prop_assert!(changed.contains(&line));
        }
        let rest = snapshot.news(cursor.as_ref(), items_max).unwrap();
        prop_assert!(rest.items.is_empty() && !rest.has_more);
    }
}
