//! Records in the form in which the predecessor writes them.
//!
//! One form for each record: compact JSON, the keys in their order. Import compares what a file holds with
//! what would be written for the same event, and keeps the bytes of whatever differs; so an export gives
//! every line back as it was, whoever wrote it.

use jiff::Timestamp;
use jiff::fmt::temporal::Pieces;
use jiff::tz::Offset;
use serde::Serialize;

use super::record::{LineRecord, Place};
use crate::Line;

/// An edit, with all that its record says.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum WrittenEdit<'a> {
    Repair { target: Place, from: &'a str, to: &'a str, by: &'a str, at: &'a str },
    Speaker { target: Place, name: &'a str, by: &'a str, at: &'a str },
    Revert { target_seq: u64, by: &'a str, at: &'a str },
}

/// The record of `line` with its newline. What only a log can say of a line is not in it.
pub(crate) fn line_record(line: &Line) -> Vec<u8> {
    let Line { track, start_ms, end_ms, text, confidence, .. } = line;
    with_newline(&LineRecord {
        track: *track,
        start_ms: *start_ms,
        end_ms: *end_ms,
        text: text.as_str().into(),
        confidence: *confidence,
    })
}

/// The record of `edit` with its newline.
pub(crate) fn edit_record(edit: &WrittenEdit<'_>) -> Vec<u8> {
    with_newline(edit)
}

fn with_newline(record: &impl Serialize) -> Vec<u8> {
    // Strings and numbers: there is no value of these types that cannot be written.
    let mut bytes = serde_json::to_vec(record).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

/// The offset from UTC that `moment`, RFC 3339, was written with; UTC when it is no moment.
pub(crate) fn offset_of(moment: &str) -> Offset {
    let pieces = Pieces::parse(moment).ok();
    pieces.and_then(|pieces| pieces.to_numeric_offset()).unwrap_or(Offset::UTC)
}

/// A moment in microseconds since 1970 as RFC 3339 with `offset`.
pub(crate) fn moment(us: i64, offset: Offset) -> String {
    let moment = Timestamp::from_microsecond(us).unwrap_or_default();
    moment.to_zoned_datetime(offset.to_time_zone()).strftime("%Y-%m-%dT%H:%M:%S%.f%:z").to_string()
}

/// `moment`, RFC 3339, in microseconds since 1970; none when it is no moment.
pub(crate) fn micros(moment: &str) -> Option<i64> {
    moment.parse::<Timestamp>().ok().map(Timestamp::as_microsecond)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Track;

    #[test]
    fn records_have_the_predecessors_keys_in_its_order() {
        let line = Line {
            track: Track::Call,
            start_ms: 10,
            end_ms: 20,
            text: "\"hé\"\n".to_owned(),
            confidence: 0.93,
            language: Some("en".to_owned()),
            generation: 3,
            audio: None,
            overlap: true,
        };
        let expected = "{\"track\":\"call\",\"start_ms\":10,\"end_ms\":20,\"text\":\"\\\"hé\\\"\\n\",\"confidence\":0.93}\n";
        assert_eq!(line_record(&line), expected.as_bytes());
        let target = Place { track: Track::Room, start_ms: 7 };
        let edit = WrittenEdit::Speaker { target, name: "Ana", by: "user", at: "x" };
        let expected = "{\"kind\":\"speaker\",\"target\":{\"track\":\"room\",\"start_ms\":7},\"name\":\"Ana\",\
            \"by\":\"user\",\"at\":\"x\"}\n";
        assert_eq!(edit_record(&edit), expected.as_bytes());
        let edit = WrittenEdit::Revert { target_seq: 4, by: "user", at: "x" };
        assert_eq!(
            edit_record(&edit),
            b"{\"kind\":\"revert\",\"target_seq\":4,\"by\":\"user\",\"at\":\"x\"}\n"
        );
    }

    #[test]
    fn a_moment_comes_back_with_its_offset_and_fraction() {
        for text in [
            "2026-09-05T14:12:03+02:00",
            "2026-09-05T14:12:03.5-07:00",
            "2026-09-05T14:12:03.123456+00:00",
            "1969-12-31T23:59:59.25+00:00",
        ] {
            assert_eq!(moment(micros(text).unwrap(), offset_of(text)), text);
        }
        assert_eq!((micros("yesterday"), offset_of("yesterday")), (None, Offset::UTC));
        assert_eq!(offset_of("2026-09-05T14:12:03Z"), Offset::UTC);
    }
}
