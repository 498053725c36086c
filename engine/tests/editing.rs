//! What people do to lines: each command is one batch that `undo` takes back, and nothing is rewritten.

// The allowance for tests does not reach the functions that tests share.
#![allow(clippy::unwrap_used)]

use std::fs;

use ambient_engine::editing::{
    self, Draft, EditError, LineChange, Matching, Pattern, Reach, Repair, Selection,
};
use ambient_engine::session::{Directory, SessionDirectory, SessionId, Work, WorkLock, write_derived_files};
use ambient_engine::{Change, Edit, Event, Finished, Line, Mapping, MetaChange, Moment, Options, Track};
use proptest::prelude::*;
use tempfile::TempDir;

const ID: &str = "2026-03-01T0930";

/// A session, and what one does with it.
struct Session {
    root: TempDir,
    directory: SessionDirectory,
}

impl Session {
    /// Lines one second apart, on the tracks in turn; each has the label beside it, if any.
    fn of(lines: &[(&str, Option<&str>)]) -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join(ID)).unwrap();
        let handle = Directory::open(root.path()).unwrap();
        let directory = SessionDirectory::open(&handle, &SessionId::new(ID).unwrap()).unwrap().unwrap();
        let heard: Vec<Event> = (0..).zip(lines).map(|(at, (text, _))| Event::Line(line(at, text))).collect();
        let label = |(at, (_, label)): (u64, &(&str, Option<&str>))| {
            let name = (*label)?.to_owned();
            Some(Event::Edit(Edit { line: at, by: "diarize".to_owned(), change: Change::Speaker { name } }))
        };
        let labels: Vec<Event> = (0..).zip(lines).filter_map(label).collect();
        let mut log = directory.create_log(Options::default()).unwrap();
        log.append(&heard).unwrap();
        if !labels.is_empty() {
            log.append(&labels).unwrap();
        }
        log.append(&[Event::Finished(Finished { at: "2026-03-01T10:00:00Z".into(), warnings: vec![] })])
            .unwrap();
        log.close().unwrap();
        write_derived_files(&directory).unwrap();
        Self { root, directory }
    }

    fn apply(
        &self,
        decide: impl FnOnce(&mut Draft<'_>) -> Result<Vec<Edit>, EditError>,
    ) -> Result<Vec<LineChange>, EditError> {
        editing::apply(&self.directory, decide)
    }

    /// How the lines read: who, and what; hidden ones are left out.
    fn reads(&self) -> Vec<String> {
        let mut reader = self.directory.read_log(Mapping::On).unwrap();
        let lines = reader.snapshot().unwrap().since(0).unwrap();
        let shown = lines.iter().filter(|line| !line.is_hidden());
        shown.map(|line| format!("{}: {}", line.speaker.as_deref().unwrap_or("?"), line.text())).collect()
    }

    fn document(&self) -> String {
        fs::read_to_string(self.root.path().join(ID).join("transcript.md")).unwrap()
    }
}

fn line(second: u64, text: &str) -> Line {
    Line {
        track: if second % 2 == 0 { Track::Room } else { Track::Call },
        start_ms: second * 1_000,
        end_ms: second * 1_000 + 900,
        text: text.to_owned(),
        confidence: 0.9,
        language: None,
        generation: 0,
        audio: None,
        overlap: false,
    }
}

fn labelled(labels: &[&str]) -> Selection {
    Selection { speakers: labels.iter().map(|label| (*label).to_owned()).collect(), ..Selection::default() }
}

fn numbered(number: u64) -> Selection {
    Selection { lines: vec![number..=number], ..Selection::default() }
}

fn talk() -> Session {
    Session::of(&[
        ("good morning Crea", Some("room-1")),
        ("morning", Some("call-1")),
        ("did you Create it, Crea?", Some("room-1")),
        ("yes", Some("call-2")),
    ])
}

#[test]
fn a_label_becomes_a_name_everywhere_and_undo_takes_the_whole_command_back() {
    let session = talk();
    let changes = session.apply(|draft| draft.name(&labelled(&["room-1", "call-2"]), " Priya ")).unwrap();
    assert_eq!(changes.iter().map(|change| change.line).collect::<Vec<_>>(), [0, 2, 3]);
    assert_eq!(changes[2].before.speaker.as_deref(), Some("call-2"));
    assert_eq!(session.reads()[3], "Priya: yes");
    assert!(session.document().contains("Priya"), "{}", session.document());
    let back = session.apply(|draft| draft.undo(None)).unwrap();
    assert_eq!(back.len(), 3);
    assert_eq!(back[0].after.speaker.as_deref(), Some("room-1"), "what comes back is said");
    assert_eq!(session.reads()[3], "call-2: yes");
    assert!(!session.document().contains("Priya"));
}

#[test]
fn a_label_nobody_has_is_refused_with_those_there_are() {
    let session = talk();
    let error = session.apply(|draft| draft.name(&labelled(&["call-7"]), "Priya")).unwrap_err();
    assert_eq!(error.to_string(), r#"no lines labelled "call-7" (available: call-1, call-2, room-1)"#);
    let session = Session::of(&[("hello", None)]);
    let error = session.apply(|draft| draft.name(&labelled(&["call-7"]), "Priya")).unwrap_err();
    assert!(error.to_string().contains("(available: none"), "{error}");
}

#[test]
fn lines_are_named_by_number_time_and_track() {
    let session = talk();
    session.apply(|draft| draft.name(&numbered(1), "Ben")).unwrap();
    let from_two = Selection { from_ms: Some(2_000), to_ms: Some(3_500), ..Selection::default() };
    let of_call = Selection { track: Some(Track::Call), ..from_two.clone() };
    session.apply(|draft| draft.name(&of_call, "Ada")).unwrap();
    let names: Vec<String> =
        session.reads().iter().map(|line| line.split(':').next().unwrap().into()).collect();
    assert_eq!(names, ["room-1", "Ben", "room-1", "Ada"]);
    let error = session.apply(|draft| draft.name(&numbered(9), "Ada")).unwrap_err();
    assert_eq!(error.to_string(), "there is no line 9: they are 0 to 3");
    let nothing = Selection { from_ms: Some(60_000), ..Selection::default() };
    assert!(matches!(session.apply(|draft| draft.name(&nothing, "Ada")), Err(EditError::NothingSelected)));
}

#[test]
fn a_typed_name_survives_every_later_label() {
    let session = talk();
    session.apply(|draft| draft.name(&numbered(3), "Ada")).unwrap();
    let name = "call-9".to_owned();
    let label = Event::Edit(Edit { line: 3, by: "diarize".into(), change: Change::Speaker { name } });
    session.directory.open_log(Options::default()).unwrap().append(&[label]).unwrap();
    assert_eq!(session.reads()[3], "Ada: yes");
}

#[test]
fn words_are_repaired_where_they_are_words_of_their_own() {
    let session = talk();
    let crea = Pattern::words("Crea").unwrap();
    let repair = |reach| Repair { from: &crea, to: "Priya", reach };
    let all = Selection::default();
    let error = session.apply(|draft| draft.repair(&all, repair(Reach::One))).unwrap_err();
    assert!(error.to_string().starts_with("2 lines hold \"Crea\""), "{error}");
    let seen = editing::preview(&session.directory, |draft| draft.repair(&all, repair(Reach::All))).unwrap();
    assert_eq!(session.reads()[0], "room-1: good morning Crea", "a preview changes nothing");
    let done = session.apply(|draft| draft.repair(&all, repair(Reach::All))).unwrap();
    assert_eq!(seen, done);
    assert_eq!(session.reads()[0], "room-1: good morning Priya");
    assert_eq!(session.reads()[2], "room-1: did you Create it, Priya?");
    let error = session.apply(|draft| draft.repair(&all, repair(Reach::All))).unwrap_err();
    assert_eq!(error.to_string(), "no line holds \"Crea\"");
}

#[test]
fn hidden_lines_come_back_by_unhide_and_go_again_by_redo() {
    let session = talk();
    let all = Selection::default();
    session.apply(|draft| draft.hide(&numbered(1), Matching::Any, "private")).unwrap();
    assert_eq!(session.reads().len(), 3);
    assert!(!session.document().contains("morning\n"), "{}", session.document());
    let again = session.apply(|draft| draft.hide(&numbered(1), Matching::Any, "private"));
    assert!(matches!(again, Err(EditError::AllHidden)));
    let changes = session.apply(|draft| draft.unhide(&all)).unwrap();
    assert_eq!((changes.len(), changes[0].after.hidden.as_deref()), (1, None));
    assert!(matches!(session.apply(|draft| draft.unhide(&all)), Err(EditError::NoneHidden)));
    session.apply(|draft| draft.redo(None)).unwrap();
    assert_eq!(session.reads().len(), 3);
}

#[test]
fn a_person_hides_what_holds_words_as_heard_or_as_repaired() {
    let session = talk();
    let crea = Pattern::words("Crea").unwrap();
    let repair = Repair { from: &crea, to: "Priya", reach: Reach::All };
    session.apply(|draft| draft.repair(&Selection::default(), repair)).unwrap();
    let heard = Matching::Pattern(&crea);
    let changes = session.apply(|draft| draft.hide(&Selection::default(), heard, "name")).unwrap();
    assert_eq!(changes.len(), 2, "what was heard is in the verbatim view");
    let secrets = session.apply(|draft| draft.hide(&Selection::default(), Matching::Secrets, "secret"));
    assert!(matches!(secrets, Err(EditError::NotHeld(_))));
}

#[test]
fn undo_and_redo_walk_back_and_forth() {
    let session = talk();
    for name in ["Ada", "Ben", "Cem"] {
        session.apply(|draft| draft.name(&numbered(0), name)).unwrap();
    }
    let speaker = || session.reads()[0].split(':').next().unwrap().to_owned();
    session.apply(|draft| draft.undo(None)).unwrap();
    session.apply(|draft| draft.undo(None)).unwrap();
    assert_eq!(speaker(), "Ada");
    session.apply(|draft| draft.redo(None)).unwrap();
    assert_eq!(speaker(), "Ben");
    session.apply(|draft| draft.redo(None)).unwrap();
    assert_eq!(speaker(), "Cem");
    assert!(matches!(session.apply(|draft| draft.redo(None)), Err(EditError::NothingToRedo(_))));
    session.apply(|draft| draft.undo(None)).unwrap();
    session.apply(|draft| draft.name(&numbered(0), "Dee")).unwrap();
    assert!(
        matches!(session.apply(|draft| draft.redo(None)), Err(EditError::NothingToRedo(_))),
        "the past has changed"
    );
    for _ in 0..3 {
        session.apply(|draft| draft.undo(None)).unwrap();
    }
    assert_eq!(speaker(), "room-1");
    let error = session.apply(|draft| draft.undo(None)).unwrap_err().to_string();
    assert!(error.starts_with("nothing to undo in ") && error.ends_with(ID), "{error}");
}

#[test]
fn edits_are_taken_back_by_number() {
    let session = talk();
    session.apply(|draft| draft.name(&numbered(0), "Ada")).unwrap();
    session.apply(|draft| draft.undo(Some(1))).unwrap();
    assert_eq!(session.reads()[1], "?: morning", "a machine's label, too");
    let text = |result: Result<Vec<LineChange>, EditError>| result.unwrap_err().to_string();
    assert_eq!(text(session.apply(|draft| draft.undo(Some(1)))), "edit 1 is already reverted");
    assert_eq!(
        text(session.apply(|draft| draft.undo(Some(5)))),
        "edit 5 is itself a revert — undo the edit it names instead"
    );
    assert!(text(session.apply(|draft| draft.undo(Some(6)))).starts_with("no edit 6 in "));
    assert_eq!(text(session.apply(|draft| draft.redo(Some(4)))), "edit 4 is not reverted");
    session.apply(|draft| draft.redo(Some(1))).unwrap();
    assert_eq!(session.reads()[1], "call-1: morning");
}

#[test]
fn a_session_that_is_recorded_can_be_edited_and_its_files_are_left_to_the_recorder() {
    let session = talk();
    let before = session.document();
    let recording = WorkLock::hold(&session.directory, Work::Recording).unwrap();
    session.apply(|draft| draft.name(&numbered(0), "Ada")).unwrap();
    assert_eq!(session.document(), before);
    drop(recording);
    session.apply(|draft| draft.name(&numbered(1), "Ben")).unwrap();
    assert!(session.document().contains("Ada") && session.document().contains("Ben"));
}

#[test]
fn what_is_said_about_a_session_is_in_its_files_at_once() {
    let session = talk();
    let changes = vec![MetaChange::Name(Some("Planning".into())), MetaChange::Tag("roadmap".into())];
    editing::describe(&session.directory, changes).unwrap();
    let read = || fs::read_to_string(session.root.path().join(ID).join("session.json")).unwrap();
    assert!(read().contains("Planning") && read().contains("roadmap"), "{}", read());
    assert!(session.document().contains("Planning"), "{}", session.document());
    editing::describe(&session.directory, vec![MetaChange::Untag("roadmap".into())]).unwrap();
    assert!(!read().contains("roadmap"));
    let empty = editing::describe(&session.directory, vec![MetaChange::Tag(" ".into())]);
    assert!(matches!(empty, Err(EditError::NotAName { .. })));
}

#[test]
fn a_session_of_the_older_layout_is_refused_with_what_to_do() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join(ID)).unwrap();
    fs::write(root.path().join(ID).join("raw.jsonl"), "").unwrap();
    let handle = Directory::open(root.path()).unwrap();
    let session = SessionDirectory::open(&handle, &SessionId::new(ID).unwrap()).unwrap().unwrap();
    let error = editing::apply(&session, |draft| draft.undo(None)).unwrap_err();
    assert!(error.to_string().contains(&format!("`ambient import {ID}`")), "{error}");
}

#[test]
fn what_was_done_can_be_read_back() {
    let session = talk();
    session.apply(|draft| draft.name(&numbered(0), "Ada")).unwrap();
    session.apply(|draft| draft.undo(None)).unwrap();
    let edits = serde_json::to_value(editing::edits(&session.directory).unwrap()).unwrap();
    assert_eq!(edits.as_array().unwrap().len(), 6);
    assert_eq!(
        (&edits[4]["kind"], &edits[4]["name"], &edits[4]["by"]),
        (&"speaker".into(), &"Ada".into(), &"user".into())
    );
    assert_eq!(
        (&edits[4]["standing"], &edits[5]["kind"], &edits[5]["edit"]),
        (&"reverted".into(), &"revert".into(), &4.into())
    );
    assert_eq!(edits[0]["batch"], edits[3]["batch"], "the labels came together");

    let account = editing::why(&session.directory, 0).unwrap();
    assert_eq!((account.heard.as_str(), account.edits.len()), ("good morning Crea", 3));
    assert!(account.file.ends_with("log/0000000000.seg") && account.offset > 0);
    assert!(matches!(editing::why(&session.directory, 4), Err(EditError::NoSuchLine { line: 4, lines: 4 })));
}

#[test]
fn two_moments_differ_in_what_happened_between_them() {
    let session = talk();
    let all_new = editing::diff(&session.directory, None, None).unwrap();
    assert_eq!(all_new.iter().filter(|difference| difference.before.is_none()).count(), 4);
    session.apply(|draft| draft.name(&numbered(0), "Ada")).unwrap();
    let edits = editing::edits(&session.directory).unwrap();
    let moment = |number: usize| Some(Moment::Event(edits[number].event));
    let named = editing::diff(&session.directory, moment(3), None).unwrap();
    assert_eq!(named.len(), 1);
    assert_eq!(named[0].before.as_ref().unwrap().speaker.as_deref(), Some("room-1"));
    assert_eq!(named[0].after.speaker.as_deref(), Some("Ada"));
    assert_eq!(editing::diff(&session.directory, moment(4), moment(4)).unwrap(), []);
    let backwards = editing::diff(&session.directory, moment(4), moment(3)).unwrap();
    assert_eq!(backwards[0].after.speaker.as_deref(), Some("room-1"));
}

/// What a person can do to one of the four lines.
#[derive(Clone, Debug)]
enum Step {
    Name(u64, char),
    Repair(u64, char),
    Hide(u64),
    Unhide(u64),
    Undo,
    Redo,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let letter = || prop::sample::select(vec!['P', 'Q', 'R']);
    let step = prop_oneof![
        (0..4u64, letter()).prop_map(|(line, name)| Step::Name(line, name)),
        (0..4u64, letter()).prop_map(|(line, to)| Step::Repair(line, to)),
        (0..4u64).prop_map(Step::Hide),
        (0..4u64).prop_map(Step::Unhide),
        Just(Step::Undo),
        Just(Step::Redo),
    ];
    prop::collection::vec(step, 1..16)
}

fn take(session: &Session, step: &Step) -> Result<Vec<LineChange>, EditError> {
    let anything = Pattern::regex("[a-zA-Z]+").unwrap();
    session.apply(|draft| match step {
        Step::Name(line, name) => draft.name(&numbered(*line), &name.to_string()),
        Step::Repair(line, to) => {
            let to = to.to_string();
            draft.repair(&numbered(*line), Repair { from: &anything, to: &to, reach: Reach::One })
        }
        Step::Hide(line) => draft.hide(&numbered(*line), Matching::Any, "no"),
        Step::Unhide(line) => draft.unhide(&numbered(*line)),
        Step::Undo => draft.undo(None),
        Step::Redo => draft.redo(None),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// A command tells how the lines read before and after, and an undo right behind it brings back
    /// what was, and a redo behind that what had become.
    #[test]
    fn undo_is_the_inverse_of_what_was_done(steps in steps()) {
        let session = Session::of(&[("a", Some("room-1")), ("b", None), ("a b", Some("call-1")), ("c", None)]);
        for step in &steps {
            let before = session.reads();
            let Ok(changes) = take(&session, step) else {
                prop_assert_eq!(session.reads(), before, "a refusal changes nothing");
                continue;
            };
            let after = session.reads();
            let mut reader = session.directory.read_log(Mapping::On).unwrap();
            for change in &changes {
                let reads = reader.snapshot().unwrap().folded(change.line).unwrap();
                prop_assert_eq!(&change.after, &editing::Meaning::from(&reads), "what was told is so");
            }
            if matches!(step, Step::Name(..) | Step::Repair(..) | Step::Hide(_)) {
                session.apply(|draft| draft.undo(None)).unwrap();
                prop_assert_eq!(session.reads(), before);
                session.apply(|draft| draft.redo(None)).unwrap();
                prop_assert_eq!(session.reads(), after);
            }
        }
    }
}
