//! Logs whose checksums are right and whose content is nonsense: bounded work, no panic, a named error.

use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::super::{Log, Mapping, OpenError, ReadError, Reader};
use super::crafted::Crafted;
use super::{edit, heard, line, segment, speaker, unsynced};
use crate::event::{Closed, PAYLOAD_SCHEMA, encode};
use crate::format::frame::{FLAG_BATCH_END, FLAG_IGNORABLE};
use crate::format::index::IndexEntry;
use crate::{Change, EditTarget, Event, Kind};

/// Everything a reader can be asked, and a writer after it; what matters is that it ends.
fn use_in_every_way(session: &Path) {
    if let Ok(mut reader) = Reader::open(session, Mapping::On) {
        let mut snapshot = reader.snapshot().unwrap();
        let lines = snapshot.lines();
        let _ = (snapshot.events(), snapshot.verbatim(..), snapshot.cursor(), snapshot.changes(None));
        let _ = (snapshot.since(0), snapshot.edits(), snapshot.durable_lines());
        for line in 0..lines.min(50) {
            let _ = (snapshot.folded(line), snapshot.edits_of(line), snapshot.why(line));
        }
        let _ = reader.damage();
    }
    if let Ok(mut log) = Log::open(session, unsynced()) {
        let _ = log.append(&[line("after"), speaker(0, "Ana")]);
    }
}

#[test]
fn a_chain_of_edits_that_points_forward_or_at_itself_is_named() {
    for pointing in [u64::MAX, 0] {
        let mut log = Crafted::new();
        log.event(0, &line("one"), 0);
        let own = log.position();
        log.event(0, &speaker(0, "Ana"), if pointing == 0 { own } else { pointing });
        let session = log.place();
        let mut reader = Reader::open(session.path(), Mapping::On).unwrap();
        let mut snapshot = reader.snapshot().unwrap();
        assert!(matches!(snapshot.folded(0), Err(ReadError::Damaged { position, .. }) if position == own));
        assert_eq!(snapshot.verbatim(..).unwrap().len(), 1);
        use_in_every_way(session.path());
    }
}

#[test]
fn a_chain_that_crosses_to_another_line_is_named() {
    let mut log = Crafted::new();
    log.event(0, &line("one"), 0);
    log.event(1, &line("two"), 0);
    let other = log.event(0, &speaker(0, "Ana"), 0);
    log.event(1, &speaker(1, "Bo"), other);
    let session = log.place();
    let mut reader = Reader::open(session.path(), Mapping::On).unwrap();
    let mut snapshot = reader.snapshot().unwrap();
    assert!(matches!(snapshot.folded(1), Err(ReadError::Damaged { position, .. }) if position == other));
    assert_eq!(snapshot.folded(0).unwrap().speaker.as_deref(), Some("Ana"));
}

#[test]
fn lines_that_jump_and_edits_of_lines_that_are_not_there_end_the_walk() {
    for (kind, number) in [(Kind::Line, 7), (Kind::Speaker, 1), (Kind::Speaker, u64::MAX), (Kind::Meta, 5)] {
        let mut log = Crafted::new();
        log.event(0, &line("one"), 0);
        let mut payload = Vec::new();
        encode(&speaker(number, "Ana"), 0, &mut payload).unwrap();
        log.frame(kind.number(), number, &payload);
        let session = log.place();
        let mut reader = Reader::open(session.path(), Mapping::On).unwrap();
        assert_eq!(reader.snapshot().unwrap().lines(), 1);
        assert!(reader.damage().unwrap().contains(&number.to_string()));
        use_in_every_way(session.path());
    }
}

#[test]
fn a_count_larger_than_the_payload_is_an_error_and_no_allocation() {
    for huge in [&[0xFD, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF][..], &[0xFC, 0, 0, 0, 0x40][..]] {
        let mut log = Crafted::new();
        let mut payload = vec![0, 10, 20];
        payload.extend_from_slice(huge);
        log.frame(Kind::Line.number(), 0, &payload);
        let session = log.place();
        let mut reader = Reader::open(session.path(), Mapping::On).unwrap();
        assert!(matches!(reader.snapshot().unwrap().verbatim(..), Err(ReadError::Payload { seq: 0, .. })));
        use_in_every_way(session.path());
        let mut log = Crafted::new();
        let mut warnings = vec![1, b'x'];
        warnings.extend_from_slice(huge);
        log.frame(Kind::Finished.number(), 0, &warnings);
        use_in_every_way(log.place().path());
    }
}

#[test]
fn repairs_that_double_the_text_stop_at_the_limit() {
    let mut log = Crafted::new();
    log.event(0, &line("a"), 0);
    let mut previous = 0;
    for _ in 0..64 {
        let double = Change::Repair { from: "a".to_owned(), to: "aa".to_owned() };
        previous = log.event(0, &edit(0, "machine", double), previous);
    }
    let session = log.place();
    let mut reader = Reader::open(session.path(), Mapping::On).unwrap();
    assert_eq!(reader.snapshot().unwrap().folded(0).unwrap().text().len(), 1 << 20);
}

#[test]
fn a_closing_frame_in_the_middle_is_one_event_among_others() {
    let mut log = Crafted::new();
    log.event(0, &line("one"), 0);
    let closed = Closed { lines: 1, end: 12_345, index_crc: 0 };
    log.sealed(Kind::Closed.number(), FLAG_BATCH_END | FLAG_IGNORABLE, 1, 1, &closed.to_bytes());
    log.event(1, &line("two"), 0);
    let session = log.place();
    let mut reader = Reader::open(session.path(), Mapping::On).unwrap();
    assert_eq!(reader.snapshot().unwrap().lines(), 2);
    use_in_every_way(session.path());
}

#[test]
fn an_index_that_is_vouched_for_and_wrong_does_not_change_what_is_read() {
    let mut log = Crafted::new();
    let one = log.event(0, &line("one"), 0);
    let two = log.event(1, &line("two"), 0);
    let named = log.event(0, &speaker(0, "Ana"), 0);
    let entry = |position, newest_edit| IndexEntry { position, newest_edit };
    for entries in [
        vec![entry(two, named), entry(one, 0)],
        vec![entry(one, named), entry(two, named)],
        vec![entry(named, two), entry(u64::MAX, u64::MAX)],
        vec![entry(0, 0), entry(0, 0)],
        vec![entry(one, one), entry(two, 3)],
    ] {
        let copy = log.clone();
        let session = copy.close_with(&entries);
        let mut reader = Reader::open(session.path(), Mapping::On).unwrap();
        let mut snapshot = reader.snapshot().unwrap();
        let heard: Vec<_> = snapshot.verbatim(..).unwrap().into_iter().map(|line| line.line).collect();
        assert_eq!(heard, [super::heard("one"), super::heard("two")], "{entries:?}");
        let lines = snapshot.since(0).unwrap();
        assert_eq!(lines[0].speaker.as_deref(), Some("Ana"), "{entries:?}");
        assert_eq!(lines[1].speaker, None, "{entries:?}");
        use_in_every_way(session.path());
    }
}

#[test]
fn an_unknown_kind_that_may_not_be_skipped_stops_the_fold_of_its_line_by_every_way_in() {
    let mut log = Crafted::new();
    let one = log.event(0, &line("one"), 0);
    let two = log.event(1, &line("two"), 0);
    let unknown = log.frame(99, 0, &[0; 8]);
    let entries =
        [IndexEntry { position: one, newest_edit: unknown }, IndexEntry { position: two, newest_edit: 0 }];
    let copy = log.clone();
    for session in [log.place(), copy.close_with(&entries)] {
        let mut reader = Reader::open(session.path(), Mapping::On).unwrap();
        let mut snapshot = reader.snapshot().unwrap();
        let is_named =
            |error: Option<ReadError>| matches!(error, Some(ReadError::UnknownKind { kind: 99, .. }));
        assert!(is_named(snapshot.folded(0).err()));
        assert_eq!(snapshot.folded(1).unwrap().text(), "two");
        assert_eq!(snapshot.verbatim(..).unwrap().len(), 2);
        assert!(is_named(snapshot.since(0).err()));
        assert!(is_named(snapshot.changes(None).err()));
        // An older version's edit goes on the chain behind it and must not make it forgotten.
        let mut writer = Log::open(session.path(), unsynced()).unwrap();
        writer.append(&[speaker(0, "Ana")]).unwrap();
        let mut reader = Reader::open(session.path(), Mapping::On).unwrap();
        assert!(is_named(reader.snapshot().unwrap().folded(0).err()));
    }
}

#[test]
fn an_unknown_kind_may_carry_any_line_number() {
    for flags in [FLAG_BATCH_END, FLAG_BATCH_END | FLAG_IGNORABLE] {
        let mut log = Crafted::new();
        log.event(0, &line("one"), 0);
        log.sealed(200, flags, 9, u64::MAX, b"from a later version");
        let session = log.place();
        let mut reader = Reader::open(session.path(), Mapping::On).unwrap();
        let mut snapshot = reader.snapshot().unwrap();
        assert_eq!(snapshot.folded(0).unwrap().text(), "one");
        let cursor = snapshot.cursor().unwrap();
        let mut writer = Log::open(session.path(), unsynced()).unwrap();
        writer.append(&[line("two")]).unwrap();
        let mut reader = Reader::open(session.path(), Mapping::On).unwrap();
        let changes = reader.snapshot().unwrap().changes(cursor.as_ref()).unwrap();
        assert_eq!(changes.new.len(), 1);
    }
}

#[test]
fn a_revert_of_another_lines_edit_does_nothing() {
    let mut log = Crafted::new();
    log.event(0, &line("one"), 0);
    log.event(1, &line("two"), 0);
    let position = log.event(0, &speaker(0, "Ana"), 0);
    let revert = Change::Revert { target: EditTarget { position, seq: 2 } };
    log.event(1, &edit(1, "user", revert), 0);
    let session = log.place();
    let mut reader = Reader::open(session.path(), Mapping::On).unwrap();
    let lines = reader.snapshot().unwrap().since(0).unwrap();
    assert_eq!(lines[0].speaker.as_deref(), Some("Ana"));
}

#[test]
fn a_segment_of_a_terabyte_of_nothing_is_refused_without_reading_it_whole() {
    let mut log = Crafted::new();
    log.event(0, &line("one"), 0);
    let session = log.place();
    let file = fs::OpenOptions::new().write(true).open(segment(session.path(), 0)).unwrap();
    file.set_len(1 << 40).unwrap();
    assert!(matches!(Log::open(session.path(), unsynced()), Err(OpenError::Undecided { .. })));
    let mut reader = Reader::open(session.path(), Mapping::On).unwrap();
    assert_eq!(reader.snapshot().unwrap().lines(), 1);
}

#[test]
fn head_and_index_of_a_terabyte_are_no_harm() {
    let mut log = Crafted::new();
    let one = log.event(0, &line("one"), 0);
    let session = log.close_with(&[IndexEntry { position: one, newest_edit: 0 }]);
    for name in ["head", "lines.idx"] {
        let path = session.path().join("log").join(name);
        let file = fs::OpenOptions::new().create(true).truncate(false).write(true).open(path).unwrap();
        file.set_len(1 << 40).unwrap();
    }
    use_in_every_way(session.path());
    assert_eq!(super::read_texts(session.path()), ["one", "after"]);
}

#[test]
fn what_was_accepted_can_be_read_however_large() {
    let session = tempfile::tempdir().unwrap();
    let mut log = Log::create(session.path(), unsynced()).unwrap();
    let many = crate::Finished { at: String::new(), warnings: vec!["x".to_owned(); 8_000_000] };
    log.append(&[Event::Finished(many.clone())]).unwrap();
    log.append(&[Event::Line(heard(&"é".repeat((8 << 20) - 100)))]).unwrap();
    let mut reader = Reader::open(session.path(), Mapping::On).unwrap();
    let mut snapshot = reader.snapshot().unwrap();
    assert_eq!(snapshot.verbatim(..).unwrap().len(), 1);
    assert_eq!(snapshot.events().unwrap()[0].event, Event::Finished(many));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn any_frames_with_right_checksums_are_judged_without_a_panic(
        frames in prop::collection::vec(
            (1_u8..19, 0_u8..4, 0_u64..5, prop::collection::vec(any::<u8>(), 0..40)), 0..12,
        ),
        entries in prop::collection::vec((0_u64..900, 0_u64..900), 0..4),
        closed: bool,
    ) {
        let mut log = Crafted::new();
        for (kind, flags, number, noise) in frames {
            match kind {
                2 => log.event(number, &line("heard"), 0),
                4 => log.event(number, &speaker(number, "Ana"), u64::from(noise.first().copied().unwrap_or(0)) * 8),
                _ => log.sealed(kind, flags, PAYLOAD_SCHEMA, number, &noise),
            };
        }
        let entries: Vec<IndexEntry> = entries
            .into_iter()
            .map(|(position, newest_edit)| IndexEntry { position, newest_edit })
            .collect();
        let session = if closed { log.close_with(&entries) } else { log.place() };
        use_in_every_way(session.path());
    }
}
