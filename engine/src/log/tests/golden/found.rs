//! Frozen logs as they may be found: torn, damaged, in many segments, of other versions. What a reader and a
//! writer answer is frozen with them.

use std::path::Path;

use serde_json::{Value, json};

use super::super::crafted::Crafted;
use super::super::{by_chain, edit, line, read_texts, speaker, unsynced};
use super::{copy_of, events, expected, folded, golden, is_to_be_written, write_expected};
use crate::event::PAYLOAD_SCHEMA;
use crate::format::frame::{FLAG_BATCH_END, FLAG_IGNORABLE};
use crate::{Change, Edit, EditTarget, Log, Mapping, Reader};

fn repair(from: &str, to: &str) -> Change {
    Change::Repair { from: from.to_owned(), to: to.to_owned() }
}

/// Three lines, of which the second has a name; with the position of that edit.
fn three_lines_and_edit() -> (Crafted, u64) {
    let mut log = Crafted::new();
    log.event(0, &line("one"), 0);
    log.event_of_batch(1, &line("two"), 0, false);
    log.event(2, &line("three"), 0);
    let named = log.event(1, &speaker(1, "Ana"), 0);
    (log, named)
}

fn three_lines() -> Crafted {
    three_lines_and_edit().0
}

fn torn_tail() -> Crafted {
    let mut log = three_lines();
    log.event_of_batch(3, &line("never finished"), 0, false);
    log.event(4, &line("and cut"), 0);
    let len_bytes = log.bytes().len();
    log.bytes_mut().truncate(len_bytes - 20);
    log
}

fn many_segments() -> Crafted {
    let mut log = three_lines();
    let mut previous = 0;
    for number in 3..7 {
        log.begin_segment(number);
        log.event_of_batch(number, &line(&format!("line {number}")), 0, false);
        previous = log.event(0, &speaker(0, &format!("name {number}")), previous);
    }
    // An empty one, as a writer that died right after making it leaves it.
    log.begin_segment(7);
    log
}

fn edits_and_reverts() -> Crafted {
    let (mut log, ana) = three_lines_and_edit();
    let target = |position, seq| Change::Revert { target: EditTarget { position, seq } };
    let person = |line, change| edit(line, Edit::PERSON, change);
    let machine = |line, change| edit(line, "machine", change);
    let first = log.event(0, &person(0, repair("one", "won")), 0);
    let second = log.event(0, &machine(0, repair("won", "1")), first);
    let third = log.event(0, &person(0, target(second, log.next_seq - 1)), second);
    let named = log.event(0, &person(0, Change::Speaker { name: "Bo".to_owned() }), third);
    let machine_name = log.event(0, &machine(0, Change::Speaker { name: "call-1".to_owned() }), named);
    log.event(0, &machine(0, target(named, log.next_seq - 2)), machine_name);
    let hidden = log.event(2, &machine(2, Change::Hide { reason: "bleed".to_owned() }), 0);
    let shown = log.event(2, &person(2, target(hidden, log.next_seq - 1)), hidden);
    log.event(2, &machine(2, Change::Hide { reason: "bleed".to_owned() }), shown);
    let redacted = Change::Hide { reason: "a redaction".to_owned() };
    let two = log.event(1, &person(1, Change::Split { at_ms: 15, at_character: 1, name: None }), ana);
    log.event(1, &person(1, redacted), two);
    log
}

fn unknown_kind(flags: u8) -> Crafted {
    let mut log = three_lines();
    log.sealed(99, FLAG_BATCH_END | flags, PAYLOAD_SCHEMA, 0, b"of a later version");
    log.event(3, &line("four"), 0);
    log
}

const MAJOR: usize = 8;
const MINOR: usize = 10;
const COMPAT: usize = 12;
const RO_COMPAT: usize = 16;

fn changed_header(fields: &[(usize, u8)]) -> Crafted {
    let mut log = three_lines();
    for (offset, number) in fields {
        log.change_header(*offset, &[*number]);
    }
    log
}

fn corrupt_middle() -> Crafted {
    let mut log = three_lines();
    let bad = usize::try_from(log.event(3, &line("spoilt on the disk"), 0)).unwrap();
    // Everything before it was durable when this one was written.
    log.unsynced = 0;
    log.event(4, &line("five"), 0);
    log.bytes_mut()[bad + 44] ^= 4;
    log
}

/// Messages without the folder in which the log happens to lie.
fn message(error: &dyn std::error::Error, session: &Path) -> Value {
    let folder = session.join("log").display().to_string() + "/";
    json!({ "error": error.to_string().replace(&folder, "") })
}

fn reader_says(session: &Path) -> Value {
    let mut reader = match Reader::open(session, Mapping::Off) {
        Ok(reader) => reader,
        Err(error) => return message(&error, session),
    };
    let folder = session.join("log").display().to_string() + "/";
    let damage = reader.damage().map(|damage| damage.replace(&folder, ""));
    let mut snapshot = reader.snapshot().unwrap();
    let verbatim: Vec<String> =
        snapshot.verbatim(..).unwrap().into_iter().map(|heard| heard.line.text).collect();
    let reading = match snapshot.since(0) {
        Ok(lines) => {
            assert_eq!(by_chain(&mut snapshot), lines, "one by one and in a row");
            Value::Array(folded(lines))
        }
        Err(error) => message(&error, session),
    };
    json!({ "verbatim": verbatim, "folded": reading, "events": events(&mut snapshot), "damage": damage })
}

/// What a writer finds and does, and how the log reads after its first batch.
fn writer_says(session: &Path) -> Value {
    let mut log = match Log::open(session, unsynced()) {
        Ok(log) => log,
        Err(error) => return message(&error, session),
    };
    let report = log.recovery();
    log.append(&[line("after")]).unwrap();
    drop(log);
    let mut reader = Reader::open(session, Mapping::Off).unwrap();
    let verbatim = reader.snapshot().unwrap().verbatim(..).unwrap();
    let verbatim: Vec<String> = verbatim.into_iter().map(|heard| heard.line.text).collect();
    json!({
        "cause": format!("{:?}", report.cause),
        "recovered_events": report.recovered_events,
        "discarded_len_bytes": report.discarded_len_bytes,
        "lost_events": report.lost_events,
        "verbatim": verbatim,
    })
}

fn answers(name: &str) -> Value {
    json!({ "reader": reader_says(&golden(name)), "writer": writer_says(copy_of(name).path()) })
}

/// The log in `name` answers as it did when it was frozen; `log` is how it was made.
fn hold(name: &str, log: &Crafted) -> Value {
    let directory = golden(name);
    if is_to_be_written(&directory) {
        log.write_to(&directory);
        write_expected(&directory, &answers(name));
    }
    let expected = expected(name);
    assert_eq!(answers(name), expected, "{name}");
    let made = log.place();
    assert_eq!(reader_says(made.path()), expected["reader"], "{name}: made anew, it is the same log");
    expected
}

#[test]
fn a_torn_tail_costs_the_batch_that_was_never_finished() {
    let expected = hold("torn-tail", &torn_tail());
    assert_eq!(expected["reader"]["verbatim"], json!(["one", "two", "three"]));
    assert_eq!(expected["writer"]["lost_events"], 1);
}

#[test]
fn many_segments_read_as_one_log() {
    let expected = hold("many-segments", &many_segments());
    assert_eq!(expected["reader"]["folded"][0]["speaker"], "name 6");
    assert_eq!(read_texts(&golden("many-segments")).len(), 7);
}

#[test]
fn edits_and_reverts_fold_as_they_did() {
    let expected = hold("edits-and-reverts", &edits_and_reverts());
    let lines = &expected["reader"]["folded"];
    assert_eq!((&lines[0]["text"], &lines[0]["speaker"]), (&json!("won"), &json!("Bo")));
    assert_eq!((&lines[1]["hidden"], &lines[2]["hidden"]), (&json!("a redaction"), &Value::Null));
}

#[test]
fn an_unknown_kind_that_may_be_skipped_is_skipped() {
    let expected = hold("unknown-ignorable-kind", &unknown_kind(FLAG_IGNORABLE));
    assert_eq!(expected["reader"]["folded"].as_array().unwrap().len(), 4);
    assert_eq!(expected["writer"]["verbatim"].as_array().unwrap().len(), 5);
}

#[test]
fn an_unknown_kind_that_may_not_be_skipped_stops_the_fold_alone() {
    let expected = hold("unknown-required-kind", &unknown_kind(0));
    assert!(expected["reader"]["folded"]["error"].as_str().unwrap().contains("kind 99"));
    assert_eq!(expected["reader"]["verbatim"].as_array().unwrap().len(), 4);
}

#[test]
fn a_newer_minor_version_is_read_and_written() {
    let expected = hold("newer-minor", &changed_header(&[(MINOR, 9), (COMPAT, 1)]));
    assert_eq!(expected["writer"]["verbatim"], json!(["one", "two", "three", "after"]));
}

#[test]
fn a_feature_for_writers_is_read_and_not_written() {
    let expected = hold("newer-writer", &changed_header(&[(RO_COMPAT, 1)]));
    assert_eq!(expected["reader"]["verbatim"].as_array().unwrap().len(), 3);
    assert!(expected["writer"]["error"].as_str().unwrap().contains("not written"));
}

#[test]
fn a_newer_major_version_is_refused_by_name() {
    let expected = hold("newer-major", &changed_header(&[(MAJOR, 2)]));
    assert!(expected["reader"]["error"].as_str().unwrap().contains("2.x"));
    assert_eq!(expected["reader"], expected["writer"]);
}

#[test]
fn damage_in_the_middle_is_read_up_to_and_not_written_behind() {
    let expected = hold("corrupt-middle", &corrupt_middle());
    assert_eq!(expected["reader"]["verbatim"], json!(["one", "two", "three"]));
    assert!(expected["reader"]["damage"].as_str().unwrap().contains("checksum"));
    assert!(expected["writer"]["error"].as_str().unwrap().contains("damaged at position"));
}
