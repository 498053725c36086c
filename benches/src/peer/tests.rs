//! Figures of peers that disagree would compare nothing: all three must give the same folded lines, and
//! each operation must do what its name says.

use std::path::Path;

use ambient_engine::{Event, FoldedLine, PlacedEdit, Replay};

use super::*;
use crate::workload::{Conversation, Edits, Workload, naming};

const LINES: u64 = 400;
const WORKLOAD: Workload = Workload { lines: LINES, edits: Edits::OneInTwenty };

fn events(conversation: &mut Conversation) -> Vec<Event> {
    conversation.next_events(usize::try_from(WORKLOAD.event_count()).unwrap())
}

/// What every operation gives, in one order, on a store that is filled and then grows.
fn answers<P: Peer>(directory: &Path, sync: Sync) -> Vec<Vec<FoldedLine>> {
    let mut conversation = Conversation::default();
    let (mut writer, mut peer) = P::create(directory, sync).unwrap();
    assert!(!peer.has_news().unwrap(), "nothing was appended yet");
    for batch in events(&mut conversation).chunks(64) {
        writer.append(batch).unwrap();
    }
    assert!(peer.has_news().unwrap(), "lines were appended");
    assert!(!peer.has_news().unwrap(), "and were seen");
    let mut answers = vec![peer.fold_all().unwrap(), peer.last(100).unwrap(), peer.poll().unwrap()];
    assert!(!peer.has_news().unwrap(), "reading is no news");
    assert!(peer.poll().unwrap().is_empty(), "everything was polled");
    for _ in 0..25 {
        writer.append(&conversation.next_line()).unwrap();
        answers.push(peer.poll().unwrap());
    }
    answers.push(peer.last(100).unwrap());
    answers.push(peer.at(&[7, LINES, 0, 7]).unwrap());
    answers.push(peer.fold_all().unwrap());
    let heard: Vec<_> = answers.last().unwrap().iter().map(|folded| folded.heard.clone()).collect();
    assert_eq!(peer.verbatim().unwrap(), heard, "verbatim is what was heard");
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
    assert!(all.iter().any(|line| line.repaired.is_some()), "repairs are part of the workload");
    assert!(all.iter().any(|line| line.speaker.is_some()), "names are part of the workload");
    assert!(all.iter().any(FoldedLine::is_hidden), "hidden lines are part of the workload");
    assert_eq!(answers_in_new_directory::<Sqlite>(Sync::Os), ambient);
    assert_eq!(answers_in_new_directory::<Lmdb>(Sync::Os), ambient);
    assert_eq!(answers_in_new_directory::<Redb>(Sync::Os), ambient);
    assert_eq!(answers_in_new_directory::<Fjall>(Sync::Os), ambient);
    assert_eq!(answers_in_new_directory::<Jsonl>(Sync::Os), ambient);
    assert_eq!(answers_in_new_directory::<JsonlCursor>(Sync::Os), ambient);
}

#[test]
fn syncing_changes_no_answer() {
    let ambient = answers_in_new_directory::<Ambient>(Sync::Each);
    assert_eq!(answers_in_new_directory::<Ambient>(Sync::Interval), ambient);
    for sync in [Sync::Interval, Sync::Each] {
        assert_eq!(answers_in_new_directory::<Sqlite>(sync), ambient);
        assert_eq!(answers_in_new_directory::<Lmdb>(sync), ambient);
        assert_eq!(answers_in_new_directory::<Redb>(sync), ambient);
        assert_eq!(answers_in_new_directory::<Fjall>(sync), ambient);
        assert_eq!(answers_in_new_directory::<JsonlCursor>(sync), ambient);
    }
}

/// What changed after a new line and an edit of an older one.
fn changed<P: Peer>() -> [Changed; 2] {
    assert!(P::TELLS_CHANGES);
    let directory = tempfile::tempdir().unwrap();
    let mut conversation = Conversation::default();
    let (mut writer, mut reader) = P::create(directory.path(), Sync::Os).unwrap();
    writer.append(&events(&mut conversation)).unwrap();
    writer.index_changes().unwrap();
    let all = reader.changes().unwrap();
    let mut more = conversation.next_line();
    more.push(naming(3));
    writer.append(&more).unwrap();
    [all, reader.changes().unwrap()]
}

#[test]
fn peers_that_tell_changes_tell_the_same() {
    let [all, then] = changed::<Ambient>();
    assert_eq!((all.new.len() as u64, all.older.len()), (LINES, 0));
    assert_eq!((then.new.len(), then.older.len(), then.older[0].index), (1, 1, 3));
    assert_eq!(
        changed::<Sqlite>(),
        [&all, &then].map(|changed| Changed { new: changed.new.clone(), older: changed.older.clone() })
    );
    assert_eq!(changed::<JsonlCursor>(), [all, then]);
}

/// What another reader of the same store sees.
fn followed<P: Shared>() -> Vec<FoldedLine> {
    let directory = tempfile::tempdir().unwrap();
    let (mut writer, _reader) = P::create(directory.path(), Sync::Os).unwrap();
    let mut other = P::follow(directory.path()).unwrap();
    writer.append(&events(&mut Conversation::default())).unwrap();
    assert!(other.has_news().unwrap());
    other.poll().unwrap()
}

#[test]
fn a_store_can_be_followed_by_another_reader() {
    let ambient = followed::<Ambient>();
    assert_eq!(ambient.len() as u64, LINES);
    // Not LMDB, whose file one process may open only once: there only another process can follow.
    assert_eq!(followed::<Sqlite>(), ambient);
    assert_eq!(followed::<JsonlCursor>(), ambient);
}

#[test]
fn the_answers_are_what_a_replay_of_the_events_gives() {
    let events = events(&mut Conversation::default());
    assert_eq!(answers_in_new_directory::<Ambient>(Sync::Os)[0], replayed(&events));
}

#[test]
fn the_linked_sqlite_is_new_enough() {
    assert!(rusqlite::version_number() >= 3_051_003, "{}", sqlite_version());
}
