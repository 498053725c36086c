//! Tests that look inside: laws over random histories, and every way a log can be found.

mod crafted;
mod damage;
mod golden;
mod hostile;
mod laws;
mod lettered;
mod reading;
mod recovery;
mod rotation;
mod simulation;
mod state_machine;
mod taking_over;
mod waiting;
mod writing;

use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::{Durability, Log, Mapping, Options, Reader, Recorded, Snapshot};
use crate::{Change, Edit, EditTarget, Event, Finished, FoldedLine, Line, PlacedEdit, Replay, Track};

pub(super) fn segment(session: &Path, ordinal: u64) -> PathBuf {
    session.join(format!("log/{ordinal:010}.seg"))
}

pub(super) fn read_texts(session: &Path) -> Vec<String> {
    let mut reader = Reader::open(session, Mapping::On).unwrap();
    let lines = reader.snapshot().unwrap().since(0).unwrap();
    texts(&lines).into_iter().map(str::to_owned).collect()
}

/// Leaves the log as a killed process does: no closing frame.
pub(super) fn die(log: Log) {
    std::mem::forget(log);
}

pub(super) fn heard(text: &str) -> Line {
    Line {
        track: Track::Room,
        start_ms: 10,
        end_ms: 20,
        text: text.to_owned(),
        confidence: 0.5,
        language: Some("en".to_owned()),
        generation: 0,
        audio: None,
        overlap: false,
    }
}

pub(super) fn line(text: &str) -> Event {
    Event::Line(heard(text))
}

pub(super) fn edit(line: u64, by: &str, change: Change) -> Event {
    Event::Edit(Edit { line, by: by.to_owned(), change })
}

pub(super) fn speaker(line: u64, name: &str) -> Event {
    edit(line, Edit::PERSON, Change::Speaker { name: name.to_owned() })
}

pub(super) fn finished() -> Event {
    Event::Finished(Finished { at: "2026-11-30T12:00:00Z".to_owned(), warnings: Vec::new() })
}

/// A log whose syncs cost nothing, for tests that are not about them.
pub(super) fn unsynced() -> Options {
    Options::with_durability(Durability::Os)
}

pub(super) fn texts(lines: &[FoldedLine]) -> Vec<&str> {
    lines.iter().map(FoldedLine::text).collect()
}

/// What a test does to a log, with lines and edits named by choice instead of by number.
#[derive(Clone, Debug)]
pub(super) enum Op {
    Line(String),
    Repair(prop::sample::Index, bool, String, String),
    Speaker(prop::sample::Index, bool, String),
    Hide(prop::sample::Index, bool, String),
    Split(prop::sample::Index, bool),
    Revert(prop::sample::Index, bool),
    Fact,
}

pub(super) fn ops() -> impl Strategy<Value = Vec<Vec<Op>>> {
    let op = prop_oneof![
        4 => "[ab ]{0,6}".prop_map(Op::Line),
        2 => (any::<prop::sample::Index>(), any::<bool>(), "[ab]{1,2}", "[abc]{0,3}")
            .prop_map(|(line, person, from, to)| Op::Repair(line, person, from, to)),
        2 => (any::<prop::sample::Index>(), any::<bool>(), "[XYZ]")
            .prop_map(|(line, person, name)| Op::Speaker(line, person, name)),
        2 => (any::<prop::sample::Index>(), any::<bool>(), "[pq]")
            .prop_map(|(line, person, reason)| Op::Hide(line, person, reason)),
        1 => (any::<prop::sample::Index>(), any::<bool>()).prop_map(|(line, person)| Op::Split(line, person)),
        3 => (any::<prop::sample::Index>(), any::<bool>()).prop_map(|(target, person)| Op::Revert(target, person)),
        1 => Just(Op::Fact),
    ];
    prop::collection::vec(prop::collection::vec(op, 1..5), 1..9)
}

/// Appends the batches of `ops` and gives the log's end behind each, the start included.
pub(super) fn run(log: &mut Log, session: &Path, ops: &[Vec<Op>]) -> Vec<u64> {
    let mut ends = vec![log.end()];
    for batch in ops {
        let mut lines = log.lines();
        let edits = placed_edits(session);
        let events: Vec<Event> = batch.iter().filter_map(|op| event(op, &mut lines, &edits)).collect();
        if !events.is_empty() {
            log.append(&events).unwrap();
            ends.push(log.end());
        }
    }
    ends
}

fn placed_edits(session: &Path) -> Vec<(EditTarget, u64)> {
    let mut reader = Reader::open(session, Mapping::On).unwrap();
    let events = reader.snapshot().unwrap().events().unwrap();
    let edits = events.into_iter().filter_map(|recorded| match recorded.event {
        Event::Edit(edit) => Some((EditTarget { position: recorded.position, seq: recorded.seq }, edit.line)),
        _ => None,
    });
    edits.collect()
}

fn event(op: &Op, lines: &mut u64, edits: &[(EditTarget, u64)]) -> Option<Event> {
    let by = |person: &bool| if *person { Edit::PERSON } else { "machine" };
    let choose = |choice: &prop::sample::Index| {
        let count = usize::try_from(*lines).unwrap();
        (count > 0).then(|| choice.index(count) as u64)
    };
    Some(match op {
        Op::Line(text) => {
            *lines += 1;
            line(text)
        }
        Op::Repair(at, person, from, to) => {
            edit(choose(at)?, by(person), Change::Repair { from: from.clone(), to: to.clone() })
        }
        Op::Speaker(at, person, name) => {
            edit(choose(at)?, by(person), Change::Speaker { name: name.clone() })
        }
        Op::Hide(at, person, reason) => {
            edit(choose(at)?, by(person), Change::Hide { reason: reason.clone() })
        }
        Op::Split(at, person) => {
            edit(choose(at)?, by(person), Change::Split { at_ms: 5, at_character: 1, name: None })
        }
        Op::Revert(target, person) => {
            let (target, line) = *edits.get(target.index(edits.len().max(1)))?;
            edit(line, by(person), Change::Revert { target })
        }
        Op::Fact => finished(),
    })
}

/// Gives an event to the fold's naive twin.
pub(super) fn replay_event(replay: &mut Replay, recorded: &Recorded) {
    let &Recorded { position, seq, ts_us, .. } = recorded;
    match &recorded.event {
        Event::Line(line) => replay.push_line(line.clone()),
        Event::Edit(edit) => replay.push_edit(PlacedEdit { position, seq, ts_us, edit: edit.clone() }),
        _ => {}
    }
}

/// Every line, each by following its own edits.
pub(super) fn by_chain(snapshot: &mut Snapshot<'_>) -> Vec<FoldedLine> {
    (0..snapshot.lines()).map(|line| snapshot.folded(line).unwrap()).collect()
}
