//! Pages of a session in the JSONL layout.
//!
//! A cursor counts the lines and the edits that were seen, with a checksum over the bytes of each: it holds
//! for whoever has the same files, and is lost when what was seen is not what stands there now.

use std::fmt;
use std::str::FromStr;

use super::page::{Offered, Page, ReadFrom, Transcript, TranscriptQuery};
use super::{SessionState, ViewError};
use crate::jsonl::JsonlReader;

/// Tells a cursor of this layout from one of a log.
const CURSOR_PREFIX: &str = "j";
const CURSOR_LEN: usize = 1 + 16 + 16 + 8 + 8;

pub(super) fn page(
    reader: &JsonlReader,
    query: TranscriptQuery<'_>,
    session: String,
    state: SessionState,
) -> Result<Transcript, ViewError> {
    let mut page = Page::new(query);
    let total = reader.len();
    let mut cursor = None;
    let mut next = match query.from {
        ReadFrom::Line(since) => usize::try_from(since).unwrap_or(usize::MAX).min(total),
        ReadFrom::Cursor(text) => {
            let seen = seen(reader, text)?;
            cursor = Some(seen);
            seen.lines
        }
    };
    let mut has_room = true;
    if let Some(seen) = &mut cursor {
        for touched in reader.touched_lines(seen.edits) {
            // Lines that are new to this reader are told with their edits anyway.
            let is_told = !page.is_verbatim() && touched.is_some_and(|line| line < next);
            let offered = touched.filter(|_| is_told).and_then(|line| offered(reader, line, false));
            has_room = offered.is_none_or(|offered| page.take_changed(offered));
            if !has_room {
                break;
            }
            seen.edits += 1;
        }
    }
    while has_room && next < total {
        let offered = offered(reader, next, page.is_verbatim());
        has_room = offered.is_none_or(|offered| page.take(offered));
        next += usize::from(has_room);
    }
    let has_more = !has_room;
    let cursor = cursor.map(|seen| Seen::of(reader, next, seen.edits).to_string());
    Ok(page.finish(session, state, next as u64, has_more, cursor))
}

fn offered(reader: &JsonlReader, index: usize, is_verbatim: bool) -> Option<Offered> {
    let (line, confidence) = reader.since(index, is_verbatim).next()?;
    Some(Offered { index: index as u64, line, confidence, is_hidden: false })
}

/// What a reader with a cursor has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    lines: usize,
    edits: usize,
    lines_checksum: u32,
    edits_checksum: u32,
}

/// What the reader of `cursor` has seen, if it still stands there.
fn seen(reader: &JsonlReader, cursor: &str) -> Result<Seen, ViewError> {
    if cursor.is_empty() {
        return Ok(Seen::of(reader, 0, 0));
    }
    let seen: Seen = cursor.parse()?;
    let is_there = seen.lines <= reader.len()
        && seen.edits <= reader.edits()
        && seen == Seen::of(reader, seen.lines, seen.edits);
    if is_there { Ok(seen) } else { Err(ViewError::CursorLost("what it has seen is no longer there")) }
}

impl Seen {
    fn of(reader: &JsonlReader, lines: usize, edits: usize) -> Self {
        let (lines_checksum, edits_checksum) = (reader.lines_checksum(lines), reader.edits_checksum(edits));
        Self { lines, edits, lines_checksum, edits_checksum }
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lines, edits, lines_checksum, edits_checksum } = self;
        write!(formatter, "{CURSOR_PREFIX}{lines:016x}{edits:016x}{lines_checksum:08x}{edits_checksum:08x}")
    }
}

impl FromStr for Seen {
    type Err = ViewError;

    fn from_str(text: &str) -> Result<Self, ViewError> {
        let malformed = || ViewError::CursorLost("it is no cursor of this session");
        let digits = text.strip_prefix(CURSOR_PREFIX).filter(|_| text.len() == CURSOR_LEN);
        let digits = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let digits = digits.ok_or_else(malformed)?;
        let count =
            |from: usize| usize::from_str_radix(&digits[from..from + 16], 16).map_err(|_| malformed());
        let checksum =
            |from: usize| u32::from_str_radix(&digits[from..from + 8], 16).map_err(|_| malformed());
        Ok(Self {
            lines: count(0)?,
            edits: count(16)?,
            lines_checksum: checksum(32)?,
            edits_checksum: checksum(40)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_cursor_survives_its_text_form(lines: usize, edits: usize, sums: (u32, u32)) {
            let seen = Seen { lines, edits, lines_checksum: sums.0, edits_checksum: sums.1 };
            prop_assert_eq!(seen.to_string().parse::<Seen>().unwrap(), seen);
        }

        #[test]
        fn any_text_is_judged_without_a_panic(text: String, tail in "[0-9a-f+ ]{40,50}") {
            let _ = text.parse::<Seen>();
            let _ = format!("j{tail}").parse::<Seen>();
        }
    }
}
