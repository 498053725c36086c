//! What a change does to a line: how it read before, and how it reads after.

use serde::Serialize;

use crate::{FoldedLine, Track};

/// How a line reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Meaning {
    /// Who spoke, when something has named them.
    pub speaker: Option<String>,
    /// The words.
    pub text: String,
    /// Why the line is not shown, when it is not.
    pub hidden: Option<String>,
}

impl From<&FoldedLine> for Meaning {
    fn from(line: &FoldedLine) -> Self {
        Self { speaker: line.speaker.clone(), text: line.text().to_owned(), hidden: line.hidden.clone() }
    }
}

/// A line that reads differently than before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LineChange {
    /// Number of the line, from 0 in log order.
    pub line: u64,
    /// Where it was heard.
    pub track: Track,
    /// Start in milliseconds.
    pub start_ms: u64,
    /// How it read before.
    pub before: Meaning,
    /// How it reads after.
    pub after: Meaning,
}

impl LineChange {
    /// What became of a line.
    pub(super) fn between(before: &FoldedLine, after: &FoldedLine) -> Self {
        Self {
            line: before.index,
            track: before.heard.track,
            start_ms: before.heard.start_ms,
            before: before.into(),
            after: after.into(),
        }
    }
}
