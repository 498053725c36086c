//! Lines, and the edits that later change how they read.

use serde::{Deserialize, Serialize};

use super::Kind;
use crate::Track;

/// Where in its track's native audio a line was heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AudioSpan {
    /// First sample, counted from the start of the track.
    pub start_sample: u64,
    /// One past the last sample.
    pub end_sample: u64,
    /// Samples a second of that audio.
    pub rate_hz: u32,
}

/// One turn of speech, as it was heard. Never rewritten.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Where it was heard.
    pub track: Track,
    /// Start in milliseconds from the start of the session.
    pub start_ms: u64,
    /// End in milliseconds from the start of the session.
    pub end_ms: u64,
    /// The words.
    pub text: String,
    /// Mean probability of the recognised tokens, 0 to 1; 0 when unknown.
    pub confidence: f32,
    /// Language as an ISO 639-1 code, when known.
    pub language: Option<String>,
    /// Number of the [`Generation`](super::Generation) event that names the model.
    pub generation: u32,
    /// Where the sound is, when there is audio.
    pub audio: Option<AudioSpan>,
    /// Whether the other track spoke at the same time.
    pub overlap: bool,
}

/// A [`Line`] whose texts lie in someone else's memory: what a payload is read into.
///
/// Its fields are those of a line, in the same order, so that both are coded in the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct LineView<'text> {
    /// Where it was heard.
    pub track: Track,
    /// Start in milliseconds from the start of the session.
    pub start_ms: u64,
    /// End in milliseconds from the start of the session.
    pub end_ms: u64,
    /// The words.
    pub text: &'text str,
    /// Mean probability of the recognised tokens, 0 to 1; 0 when unknown.
    pub confidence: f32,
    /// Language as an ISO 639-1 code, when known.
    pub language: Option<&'text str>,
    /// Number of the [`Generation`](super::Generation) event that names the model.
    pub generation: u32,
    /// Where the sound is, when there is audio.
    pub audio: Option<AudioSpan>,
    /// Whether the other track spoke at the same time.
    pub overlap: bool,
}

impl LineView<'_> {
    /// The line with texts of its own.
    pub fn to_line(&self) -> Line {
        Line {
            track: self.track,
            start_ms: self.start_ms,
            end_ms: self.end_ms,
            text: self.text.to_owned(),
            confidence: self.confidence,
            language: self.language.map(str::to_owned),
            generation: self.generation,
            audio: self.audio,
            overlap: self.overlap,
        }
    }
}

impl<'text> From<&'text Line> for LineView<'text> {
    fn from(line: &'text Line) -> Self {
        Self {
            track: line.track,
            start_ms: line.start_ms,
            end_ms: line.end_ms,
            text: &line.text,
            confidence: line.confidence,
            language: line.language.as_deref(),
            generation: line.generation,
            audio: line.audio,
            overlap: line.overlap,
        }
    }
}

/// The edit a revert takes back: named by place and by number, so that neither alone can mislead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EditTarget {
    /// Logical position of the edit's frame.
    pub position: u64,
    /// Event number of the edit's frame.
    pub seq: u64,
}

/// What an edit does to its line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change {
    /// Replaces each occurrence of `from` in the current text; `from` is never empty.
    Repair {
        /// The words to replace.
        from: String,
        /// The words in their place.
        to: String,
    },
    /// Names who spoke.
    Speaker {
        /// The name; never empty.
        name: String,
    },
    /// Takes the line out of the fold: a bleed copy, a redaction.
    Hide {
        /// Why, as one word or a short sentence.
        reason: String,
    },
    /// A second voice begins within the line.
    Split {
        /// When it begins, in milliseconds from the start of the session.
        at_ms: u64,
        /// Where in the heard text it begins, counted in characters.
        at_character: u32,
        /// Who it is, when known.
        name: Option<String>,
    },
    /// Takes back an earlier edit of the same line. A revert itself cannot be taken back.
    Revert {
        /// The edit to take back.
        target: EditTarget,
    },
}

impl Change {
    /// The kind under which a change is stored.
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Repair { .. } => Kind::Repair,
            Self::Speaker { .. } => Kind::Speaker,
            Self::Hide { .. } => Kind::Hide,
            Self::Split { .. } => Kind::Split,
            Self::Revert { .. } => Kind::Revert,
        }
    }
}

/// A later event about an earlier line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Index of the line, counted from 0 in log order.
    pub line: u64,
    /// Who made it: `user` for a person, otherwise the name of the machine process (`diarize`, `bleed`).
    pub by: String,
    /// What it does.
    pub change: Change,
}

impl Edit {
    /// The name under which a person's edits are stored.
    pub const PERSON: &'static str = "user";

    /// Whether a person made this edit.
    pub fn is_by_person(&self) -> bool {
        self.by == Self::PERSON
    }
}
