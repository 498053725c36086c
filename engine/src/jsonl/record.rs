//! The records of `raw.jsonl` and `edits.jsonl`.
//!
//! Fields that are not known are ignored, and fields that were added later have defaults, so that files of
//! every age are read.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::SkipReason;
use crate::{Line, Track};

/// A turn of speech, as `raw.jsonl` holds it.
#[derive(Serialize, Deserialize)]
pub(super) struct LineRecord<'a> {
    pub(super) track: Track,
    pub(super) start_ms: u64,
    pub(super) end_ms: u64,
    pub(super) text: Cow<'a, str>,
    /// Mean probability of the recognised tokens, 0 to 1; 0 when unknown.
    #[serde(default)]
    pub(super) confidence: f32,
}

/// The line an edit is about: the first one that begins there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Place {
    pub(crate) track: Track,
    pub(crate) start_ms: u64,
}

/// An edit, as `edits.jsonl` holds it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum EditRecord {
    /// Replaces words.
    Repair { target: Place, from: String, to: String, by: String },
    /// Names who spoke.
    Speaker { target: Place, name: String, by: String },
    /// Takes back the edit with that number.
    Revert { target_seq: u64, by: String },
}

/// Only the kind of an edit, for those whose fields are not known.
#[derive(Deserialize)]
struct KindOnly {
    kind: String,
}

pub(crate) fn parse_line(bytes: &[u8]) -> Result<Line, SkipReason> {
    let LineRecord { track, start_ms, end_ms, text, confidence } =
        serde_json::from_slice(bytes).map_err(|error| malformed(&error))?;
    Ok(Line {
        track,
        start_ms,
        end_ms,
        text: text.into_owned(),
        confidence,
        language: None,
        generation: 0,
        audio: None,
        overlap: false,
    })
}

pub(crate) fn parse_edit(bytes: &[u8]) -> Result<EditRecord, SkipReason> {
    serde_json::from_slice(bytes).map_err(|error| match serde_json::from_slice::<KindOnly>(bytes) {
        Ok(KindOnly { kind }) if !matches!(kind.as_str(), "repair" | "speaker" | "revert") => {
            SkipReason::UnknownKind(kind.chars().take(40).collect())
        }
        _ => malformed(&error),
    })
}

/// What serde found, without its "line 1": every record is one line, and the caller knows which.
fn malformed(error: &serde_json::Error) -> SkipReason {
    let text = error.to_string();
    let told = match (text.split_once(" at line "), error.column()) {
        (Some((told, _)), 1..) => format!("{told}, at byte {}", error.column()),
        (Some((told, _)), 0) => told.to_owned(),
        (None, _) => text.clone(),
    };
    // Serde quotes what it found, which can be as long as the line.
    SkipReason::Malformed(told.chars().take(300).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confidence_may_be_missing() {
        let line = parse_line(br#"{"track":"call","start_ms":1,"end_ms":2,"text":"hi","new":[1]}"#).unwrap();
        assert_eq!((line.track, line.text.as_str()), (Track::Call, "hi"));
        assert!(line.confidence.abs() < f32::EPSILON);
    }

    #[test]
    fn what_is_no_record_is_malformed_and_a_newer_kind_is_unknown() {
        for bytes in [&b"not-json"[..], b"{}", b"{\"kind\":7}", b"{\"kind\":\"revert\"}", b"\xF0\x9F", b"[]"]
        {
            assert!(matches!(parse_edit(bytes), Err(SkipReason::Malformed(_))), "{bytes:?}");
        }
        let newer = parse_edit(br#"{"kind":"merge","target":"x","by":"user"}"#);
        assert_eq!(newer, Err(SkipReason::UnknownKind("merge".into())));
    }
}
