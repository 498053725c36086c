//! Figures of peers that disagree would compare nothing: all three must give the same folded lines, and
//! each operation must do what its name says.

use std::path::Path;

use ambient_engine::{Event, FoldedLine, PlacedEdit, Replay};

use super::*;
use crate::workload::{Conversation, events_with_lines};

const LINES: u64 = 400;

/// What every operation gives, in one order, on a store that is filled and then grows.
fn answers<P: Peer>(directory: &Path, sync: Sync) -> Vec<Vec<FoldedLine>> {
    let mut conversation = Conversation::default();
    let mut peer = P::create(directory, sync).unwrap();
    assert!(!peer.has_news().unwrap(), "nothing was appended yet");
    let events = conversation.next_events(usize::try_from(events_with_lines(LINES)).unwrap());
    for batch in events.chunks(64) {
        peer.append(batch).unwrap();
    }
    assert!(peer.has_news().unwrap(), "lines were appended");
    assert!(!peer.has_news().unwrap(), "and were seen");
    let mut answers = vec![peer.fold_all().unwrap(), peer.last(100).unwrap(), peer.poll().unwrap()];
    assert!(!peer.has_news().unwrap(), "reading is no news");
    assert!(peer.poll().unwrap().is_empty(), "everything was polled");
    for _ in 0..25 {
        peer.append(&conversation.next_line()).unwrap();
        answers.push(peer.poll().unwrap());
    }
    answers.push(peer.last(100).unwrap());
    answers.push(peer.fold_all().unwrap());
    answers
}

fn answers_in_new_directory<P: Peer>(sync: Sync) -> Vec<Vec<FoldedLine>> {
    let directory = tempfile::tempdir().unwrap();
    answers::<P>(directory.path(), sync)
}

/// The lines as the engine's naive replay of the events gives them.
fn replayed(events: &[Event]) -> Vec<FoldedLine> {
    let mut replay = Replay::new();
    for (number, event) in (0..).zip(events) {
        match event {
            Event::Line(line) => replay.push_line(line.clone()),
            Event::Edit(edit) => {
                replay.push_edit(PlacedEdit { position: number, seq: number, ts_us: 0, edit: edit.clone() });
            }
            other => panic!("not part of the workload: {other:?}"),
        }
    }
    replay.lines()
}

#[test]
fn every_peer_gives_the_same_folded_lines() {
    let ambient = answers_in_new_directory::<Ambient>(Sync::Os);
    let all = &ambient[0];
    assert_eq!(all.len() as u64, LINES);
    assert_eq!(ambient[1], all[300..], "the last hundred are the end of all");
    assert_eq!(&ambient[2], all, "the first poll gives everything");
    assert!(ambient[3..28].iter().all(|polled| polled.len() == 1), "each later poll gives the new line");
    assert!(all.iter().any(|line| line.text != line.heard.text), "repairs are part of the workload");
    assert!(all.iter().any(|line| line.speaker.is_some()), "names are part of the workload");
    assert!(all.iter().any(FoldedLine::is_hidden), "hidden lines are part of the workload");
    assert_eq!(answers_in_new_directory::<Sqlite>(Sync::Os), ambient);
    assert_eq!(answers_in_new_directory::<Jsonl>(Sync::Os), ambient);
}

#[test]
fn syncing_every_batch_changes_no_answer() {
    let ambient = answers_in_new_directory::<Ambient>(Sync::Each);
    assert_eq!(answers_in_new_directory::<Sqlite>(Sync::Each), ambient);
    assert_eq!(answers_in_new_directory::<Jsonl>(Sync::Each), ambient);
}

#[test]
fn the_answers_are_what_a_replay_of_the_events_gives() {
    let events = Conversation::default().next_events(usize::try_from(events_with_lines(LINES)).unwrap());
    assert_eq!(answers_in_new_directory::<Ambient>(Sync::Os)[0], replayed(&events));
}

#[test]
fn the_linked_sqlite_is_new_enough() {
    assert!(rusqlite::version_number() >= 3_051_003, "{}", sqlite_version());
}
