//! Reading `raw.jsonl` and `edits.jsonl`: what counts, how edits apply, what damage costs, following.

// The allowance for tests does not reach the functions that tests share.
#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;

use ambient_engine::Track;
use ambient_engine::jsonl::{JsonlReader, SkipReason};
use ambient_engine::session::Directory;
use ambient_engine::view::TranscriptLine;
use proptest::prelude::*;
use tempfile::TempDir;

struct Session {
    place: TempDir,
}

impl Session {
    fn new(raw: &str, edits: &str) -> Self {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("raw.jsonl"), raw).unwrap();
        fs::write(place.path().join("edits.jsonl"), edits).unwrap();
        Self { place }
    }

    fn directory(&self) -> Directory {
        Directory::open(self.place.path()).unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    fn append(&self, name: &str, bytes: &[u8]) {
        let mut file = OpenOptions::new().append(true).open(self.path(name)).unwrap();
        file.write_all(bytes).unwrap();
    }

    fn read(&self) -> JsonlReader {
        JsonlReader::open(&self.directory()).unwrap()
    }

    fn folded(&self) -> Vec<TranscriptLine> {
        folded(&self.read())
    }
}

fn folded(reader: &JsonlReader) -> Vec<TranscriptLine> {
    reader.since(0, false).map(|(line, _)| line).collect()
}

fn texts(lines: &[TranscriptLine]) -> Vec<&str> {
    lines.iter().map(|line| line.text.as_str()).collect()
}

fn speakers(lines: &[TranscriptLine]) -> Vec<Option<&str>> {
    lines.iter().map(|line| line.speaker.as_deref()).collect()
}

fn line(track: &str, start_ms: u64, text: &str) -> String {
    let end_ms = start_ms + 1000;
    format!(
        r#"{{"track":"{track}","start_ms":{start_ms},"end_ms":{end_ms},"text":"{text}","confidence":0.5}}"#
    ) + "\n"
}

fn speaker(track: &str, start_ms: u64, name: &str, by: &str) -> String {
    format!(
        r#"{{"kind":"speaker","target":{{"track":"{track}","start_ms":{start_ms}}},"name":"{name}","by":"{by}","at":"2026-09-05T14:12:03+02:00"}}"#
    ) + "\n"
}

fn repair(start_ms: u64, from: &str, to: &str) -> String {
    format!(
        r#"{{"kind":"repair","target":{{"track":"room","start_ms":{start_ms}}},"from":"{from}","to":"{to}","by":"user","at":"x"}}"#
    ) + "\n"
}

fn revert(seq: u64, by: &str) -> String {
    format!(r#"{{"kind":"revert","target_seq":{seq},"by":"{by}","at":"x"}}"#) + "\n"
}

#[test]
fn lines_come_in_the_order_they_were_written() {
    let session = Session::new(&(line("room", 5000, "late") + &line("call", 0, "early")), "");
    let lines = session.folded();
    assert_eq!(lines.iter().map(|line| line.start_ms).collect::<Vec<_>>(), [5000, 0]);
    assert_eq!((lines[0].track, lines[1].track), (Track::Room, Track::Call));
    assert!(session.read().since(0, false).all(|(_, confidence)| (confidence - 0.5).abs() < f32::EPSILON));
}

#[test]
fn missing_files_are_empty_ones() {
    let session = Session::new("", "");
    fs::remove_file(session.path("raw.jsonl")).unwrap();
    fs::remove_file(session.path("edits.jsonl")).unwrap();
    assert!(session.read().is_empty());
}

#[test]
fn a_torn_tail_is_no_line_yet_and_no_damage() {
    let session = Session::new(&line("room", 0, "whole"), "");
    session.append("raw.jsonl", b"{\"track\":\"call\",\"text\":\"\xF0");
    let reader = session.read();
    assert_eq!((reader.len(), reader.line_damage().count()), (1, 0));
}

#[test]
fn a_bad_line_costs_itself_and_is_told_with_file_and_number() {
    let raw = line("room", 0, "a") + "not-json\n\n" + &line("room", 2000, "b");
    let session = Session::new(&raw, "");
    session.append("raw.jsonl", b"\xFF\xFE\n");
    let reader = session.read();
    assert_eq!(texts(&folded(&reader)), ["a", "b"]);
    assert_eq!(reader.line_damage().count(), 2);
    let numbers: Vec<_> = reader.line_damage().lines().iter().map(|line| line.number).collect();
    assert_eq!(numbers, [2, 5]);
    let told = reader.line_damage().first_refusal().unwrap().to_string();
    assert!(told.contains("raw.jsonl, line 2: "), "{told}");
}

#[test]
fn damage_without_end_is_counted_and_only_the_first_of_it_kept() {
    let reader = Session::new(&"nonsense\n".repeat(1000), "").read();
    assert_eq!((reader.line_damage().count(), reader.line_damage().lines().len()), (1000, 100));
    assert_eq!(reader.line_damage().report().last().unwrap(), "and 900 more lines that could not be used");
}

#[test]
fn a_person_beats_a_machine_whatever_the_order() {
    let raw = line("room", 0, "x");
    let machine = speaker("room", 0, "room-1", "diarize");
    let person = speaker("room", 0, "Ana", "user");
    let stranger = speaker("room", 0, "guess", "ana");
    assert_eq!(speakers(&Session::new(&raw, &(machine.clone() + &person)).folded()), [Some("Ana")]);
    assert_eq!(speakers(&Session::new(&raw, &(person.clone() + &machine)).folded()), [Some("Ana")]);
    assert_eq!(speakers(&Session::new(&raw, &(person.clone() + &stranger)).folded()), [Some("Ana")]);
    assert_eq!(speakers(&Session::new(&raw, &(machine + &stranger)).folded()), [Some("guess")]);
}

#[test]
fn taking_a_name_back_brings_back_the_one_before() {
    let raw = line("room", 0, "x");
    let both = speaker("room", 0, "room-1", "diarize") + &speaker("room", 0, "Ana", "user");
    assert_eq!(
        speakers(&Session::new(&raw, &(both.clone() + &revert(1, "user"))).folded()),
        [Some("room-1")]
    );
    assert_eq!(
        speakers(&Session::new(&raw, &(both.clone() + &revert(1, "diarize"))).folded()),
        [Some("Ana")]
    );
    let machine_only = both + &revert(0, "diarize") + &revert(1, "user");
    assert_eq!(speakers(&Session::new(&raw, &machine_only).folded()), [None]);
}

#[test]
fn a_revert_of_itself_of_a_revert_or_of_nothing_changes_nothing() {
    let raw = line("room", 0, "x");
    let named = speaker("room", 0, "Ana", "user");
    for reverts in [revert(1, "user"), revert(99, "user")] {
        assert_eq!(speakers(&Session::new(&raw, &(named.clone() + &reverts)).folded()), [Some("Ana")]);
    }
    let taken_back_twice = named + &revert(0, "user") + &revert(1, "user");
    assert_eq!(speakers(&Session::new(&raw, &taken_back_twice).folded()), [None]);
}

#[test]
fn repairs_replace_every_occurrence_and_leave_the_verbatim_alone() {
    let session = Session::new(&line("room", 0, "a cat"), &repair(0, "a", "b"));
    assert_eq!(texts(&session.folded()), ["b cbt"]);
    let verbatim: Vec<_> = session.read().since(0, true).map(|(line, _)| line.text).collect();
    assert_eq!(verbatim, ["a cat"]);
    session.append("edits.jsonl", revert(0, "user").as_bytes());
    assert_eq!(texts(&session.folded()), ["a cat"]);
}

#[test]
fn an_edit_of_nothing_and_an_empty_repair_are_ignored() {
    let edits = repair(0, "", "boom") + &repair(7, "x", "y") + &speaker("call", 0, "Ana", "user");
    let lines = Session::new(&line("room", 0, "x"), &edits).folded();
    assert_eq!((texts(&lines), speakers(&lines)), (vec!["x"], vec![None]));
}

#[test]
fn of_two_lines_at_one_place_an_edit_means_the_first() {
    let raw = line("room", 0, "one") + &line("room", 0, "two");
    let session = Session::new(&raw, &speaker("room", 0, "Ana", "user"));
    assert_eq!(speakers(&session.folded()), [Some("Ana"), None]);
}

#[test]
fn an_unknown_kind_is_reported_keeps_its_number_and_is_no_reason_to_refuse() {
    let edits = "{\"kind\":\"merge\",\"target\":7}\n\n".to_owned()
        + &speaker("room", 0, "Ana", "user")
        + &speaker("room", 0, "Bo", "user")
        + &revert(2, "user");
    let session = Session::new(&line("room", 0, "x"), &edits);
    let reader = session.read();
    assert_eq!(speakers(&folded(&reader)), [Some("Ana")]);
    assert!(reader.edit_damage().first_refusal().is_none());
    let skipped = &reader.edit_damage().lines()[0];
    assert_eq!((skipped.number, &skipped.reason), (1, &SkipReason::UnknownKind("merge".into())));
}

#[test]
fn a_torn_edit_that_was_written_onto_costs_that_line_only() {
    let session = Session::new(&line("room", 0, "x"), "{\"kind\":\"speaker\",\"tar");
    let glued = speaker("room", 0, "lost", "user") + &speaker("room", 0, "Ana", "user");
    session.append("edits.jsonl", glued.as_bytes());
    let reader = session.read();
    assert_eq!(speakers(&folded(&reader)), [Some("Ana")]);
    assert_eq!(reader.edit_damage().first_refusal().unwrap().number, 1);
}

#[test]
fn following_gives_what_reading_anew_gives() {
    let session = Session::new(&line("room", 0, "one"), "");
    let directory = session.directory();
    let mut reader = session.read();
    // An edit may arrive before the line it is about.
    session.append("edits.jsonl", speaker("call", 500, "Bo", "user").as_bytes());
    reader.refresh(&directory).unwrap();
    session.append("raw.jsonl", line("call", 500, "two").as_bytes());
    reader.refresh(&directory).unwrap();
    assert_eq!(folded(&reader), session.folded());
    assert_eq!(speakers(&folded(&reader)), [None, Some("Bo")]);
}

#[test]
fn a_file_that_was_replaced_or_shortened_is_read_anew() {
    let session = Session::new(&(line("room", 0, "one") + &line("room", 1000, "two")), "");
    let directory = session.directory();
    let mut reader = session.read();
    fs::write(session.path("raw.jsonl"), line("room", 0, "short")).unwrap();
    reader.refresh(&directory).unwrap();
    assert_eq!(texts(&folded(&reader)), ["short"]);
    fs::write(session.path("new"), line("room", 0, "other") + &line("room", 9, "more")).unwrap();
    fs::rename(session.path("new"), session.path("raw.jsonl")).unwrap();
    reader.refresh(&directory).unwrap();
    assert_eq!(texts(&folded(&reader)), ["other", "more"]);
    fs::remove_file(session.path("raw.jsonl")).unwrap();
    reader.refresh(&directory).unwrap();
    assert!(reader.is_empty());
}

#[test]
fn twenty_thousand_lines_with_forty_thousand_edits_fold() {
    let (mut raw, mut edits) = (String::new(), String::new());
    for number in 0..20_000_u64 {
        write!(raw, "{}", line("room", number, "a turn of speech")).unwrap();
        write!(edits, "{}", speaker("room", number, "room-1", "diarize")).unwrap();
    }
    for number in 0..20_000_u64 {
        write!(edits, "{}", speaker("room", number, &format!("n{number}"), "user")).unwrap();
    }
    let lines = Session::new(&raw, &edits).folded();
    assert_eq!(lines.len(), 20_000);
    assert!((0..).zip(&lines).all(|(number, line)| line.speaker == Some(format!("n{number}"))));
}

#[test]
fn a_file_that_was_cut_and_has_grown_again_is_read_anew() {
    let before = line("room", 0, "one") + &line("room", 1000, "two");
    let session = Session::new(&before, "");
    let directory = session.directory();
    let mut reader = session.read();
    // The same inode, and longer than what was read.
    fs::write(session.path("raw.jsonl"), line("room", 0, "eno") + &line("room", 1000, "owt")).unwrap();
    reader.refresh(&directory).unwrap();
    assert_eq!(texts(&folded(&reader)), ["eno", "owt"]);
    fs::write(session.path("raw.jsonl"), line("room", 0, "a much longer one") + &before).unwrap();
    reader.refresh(&directory).unwrap();
    assert_eq!(texts(&folded(&reader)), ["a much longer one", "one", "two"]);
}

/// What can happen to one of the two files between two looks at it.
#[derive(Clone, Debug)]
enum Happening {
    Append(String),
    /// Cut to this part of its length, in hundredths.
    Cut(usize),
    /// Cut and grown again under the same inode.
    CutAndGrow(usize, String),
    /// Another file put in its place.
    Replace(String),
    Remove,
}

fn happening() -> impl Strategy<Value = Happening> {
    // Pieces of lines too, so that files end anywhere.
    let part = proptest::collection::vec(
        prop_oneof![
            (0_u64..5, "[a-z]{8}").prop_map(|(at, text)| line("room", at, &text)),
            (0_u64..5, "[a-z]{8}").prop_map(|(at, name)| speaker("room", at, &name, "user")),
            (0_u64..6).prop_map(|seq| revert(seq, "user")),
            "[a-z\\n]{0,9}",
            Just("\n".to_owned()),
        ],
        0..5,
    )
    .prop_map(|parts| parts.concat());
    prop_oneof![
        4 => part.clone().prop_map(Happening::Append),
        1 => (0_usize..100).prop_map(Happening::Cut),
        1 => (0_usize..100, part.clone()).prop_map(|(cut, part)| Happening::CutAndGrow(cut, part)),
        1 => part.prop_map(Happening::Replace),
        1 => Just(Happening::Remove),
    ]
}

impl Session {
    fn let_happen(&self, name: &str, happening: Happening) {
        let path = self.path(name);
        let cut = |hundredths: usize| {
            let bytes = fs::read(&path).unwrap_or_default();
            bytes[..bytes.len() * hundredths / 100].to_vec()
        };
        let rewrite = |bytes: Vec<u8>| fs::write(&path, bytes).unwrap();
        match happening {
            Happening::Append(part) => {
                let mut file = OpenOptions::new().create(true).append(true).open(&path).unwrap();
                file.write_all(part.as_bytes()).unwrap();
            }
            Happening::Cut(hundredths) => rewrite(cut(hundredths)),
            Happening::CutAndGrow(hundredths, part) => rewrite([cut(hundredths), part.into_bytes()].concat()),
            Happening::Replace(part) => {
                fs::write(self.path("new"), part).unwrap();
                fs::rename(self.path("new"), &path).unwrap();
            }
            Happening::Remove => {
                let _ = fs::remove_file(&path);
            }
        }
    }
}

proptest! {
    #[test]
    fn following_gives_what_reading_from_the_start_gives_whatever_happens_to_the_files(
        happenings in proptest::collection::vec((any::<bool>(), happening()), 0..12)
    ) {
        let session = Session::new("", "");
        let directory = session.directory();
        let mut reader = session.read();
        for (is_about_edits, happening) in happenings {
            session.let_happen(if is_about_edits { "edits.jsonl" } else { "raw.jsonl" }, happening);
            reader.refresh(&directory).unwrap();
            let fresh = session.read();
            prop_assert_eq!(folded(&reader), folded(&fresh));
            prop_assert_eq!(reader.line_damage(), fresh.line_damage());
            prop_assert_eq!(reader.edit_damage(), fresh.edit_damage());
        }
    }
}

proptest! {
    #[test]
    fn since_composes(count in 0_usize..12, from in 0_usize..15) {
        let raw: String = (0..count as u64).map(|number| line("room", number, "x")).collect();
        let reader = Session::new(&raw, "").read();
        let all = folded(&reader);
        let rest: Vec<_> = reader.since(from, false).map(|(line, _)| line).collect();
        prop_assert_eq!(rest, all.into_iter().skip(from).collect::<Vec<_>>());
    }

    #[test]
    fn no_bytes_make_reading_fail(raw in proptest::collection::vec(any::<u8>(), 0..300), edits in any::<String>()) {
        let session = Session::new("", &edits);
        session.append("raw.jsonl", &raw);
        session.append("raw.jsonl", b"\n");
        let reader = session.read();
        prop_assert!(reader.len() as u64 + reader.line_damage().count() <= raw.len() as u64 + 1);
    }
}
