//! What of a JSONL file could not be used, and where.
//!
//! A line that cannot be read costs that line and is told with its file and number. Whether the rest may
//! be shown is the caller's choice: an assistant is refused, a person is shown the rest and the report.

use std::fmt;
use std::path::PathBuf;

/// How many places are kept; the rest is only counted.
const KEPT_MAX: usize = 100;

/// A line that was passed over; as an error, the line that keeps a session from being read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedLine {
    /// The file.
    pub path: PathBuf,
    /// The line in it, counted from 1.
    pub number: u64,
    /// Why.
    pub reason: SkipReason,
}

/// Why a line was passed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkipReason {
    /// It is not what belongs there; the text says what was found.
    Malformed(String),
    /// It is longer than any line can be.
    TooLong,
    /// A kind of edit this version does not know; most likely a newer program wrote it.
    UnknownKind(String),
}

impl fmt::Display for SkippedLine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, number, reason } = self;
        write!(formatter, "{}, line {number}: ", path.display())?;
        match reason {
            SkipReason::Malformed(what) => formatter.write_str(what),
            SkipReason::TooLong => formatter.write_str("longer than 16 MiB"),
            SkipReason::UnknownKind(kind) => write!(formatter, "unknown kind of edit {kind:?}, ignored"),
        }
    }
}

impl std::error::Error for SkippedLine {}

/// Every line that was passed over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Damage {
    kept: Vec<SkippedLine>,
    count: u64,
    first_refusal: Option<Box<SkippedLine>>,
}

impl Damage {
    pub(crate) fn add(&mut self, line: SkippedLine) {
        self.count += 1;
        if self.first_refusal.is_none() && !matches!(line.reason, SkipReason::UnknownKind(_)) {
            self.first_refusal = Some(Box::new(line.clone()));
        }
        if self.kept.len() < KEPT_MAX {
            self.kept.push(line);
        }
    }

    /// How many lines were passed over.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The first hundred of them, in the order they were met.
    pub fn lines(&self) -> &[SkippedLine] {
        &self.kept
    }

    /// One sentence for each of those, and one for how many more there are.
    pub fn report(&self) -> impl Iterator<Item = String> + use<'_> {
        let more = self.count - self.kept.len() as u64;
        let rest = (more > 0).then(|| format!("and {more} more lines that could not be used"));
        self.kept.iter().map(ToString::to_string).chain(rest)
    }

    /// The first line that is damaged rather than unknown; with one, the session does not parse.
    pub fn first_refusal(&self) -> Option<&SkippedLine> {
        self.first_refusal.as_deref()
    }
}
