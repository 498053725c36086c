//! What is shown of a session whose log has been damaged.

// The allowance for tests does not reach the functions that tests share.
#![allow(clippy::unwrap_used)]

use std::fs;

use ambient_engine::view::{ReadingQuery, reading, transcript};
use ambient_engine::{Event, Line, Log, Options, SystemClock, Track};

fn line(start_ms: u64, text: &str) -> Event {
    Event::Line(Line {
        track: Track::Room,
        start_ms,
        end_ms: start_ms + 900,
        text: text.to_owned(),
        confidence: 0.5,
        language: None,
        generation: 0,
        audio: None,
        overlap: false,
    })
}

#[test]
fn damage_costs_a_person_the_line_it_is_in_and_no_other() {
    let root = tempfile::tempdir().unwrap();
    let session = root.path().join("2026-11-30T1200");
    fs::create_dir(&session).unwrap();
    let mut log = Log::create(&session, Options::default()).unwrap();
    log.append(&[line(0, "first"), line(1000, "damaged"), line(2000, "last")]).unwrap();
    log.close().unwrap();
    let segment = session.join("log/0000000000.seg");
    let mut bytes = fs::read(&segment).unwrap();
    let at = bytes.windows(7).position(|window| window == b"damaged").unwrap();
    bytes[at] ^= 1;
    fs::write(&segment, bytes).unwrap();
    for is_verbatim in [false, true] {
        let query = ReadingQuery { is_verbatim, ..ReadingQuery::default() };
        let reading = reading(root.path(), "2026-11-30T1200", &query, &SystemClock).unwrap();
        let texts: Vec<&str> = reading.lines.iter().map(|line| line.line.text.as_str()).collect();
        assert_eq!(texts, ["first", "last"]);
        assert!(reading.warnings.iter().any(|warning| warning.starts_with("line 1 is left out")));
    }
    let told = transcript(root.path(), "2026-11-30T1200", 0, false, &SystemClock);
    assert!(told.is_err(), "an assistant is told, not given less");
}
