//! How a session came to read as it does: its edits, why one line reads so, and what differs between two moments.
//!
//! Shapes for people and programs alike; the command line's `--json` prints them as they are.

use std::collections::HashMap;
use std::path::PathBuf;

use serde::Serialize;

use super::draft::require_log;
use super::{EditError, Meaning};
use crate::session::SessionDirectory;
use crate::{
    AudioSpan, Change, EditTarget, FoldedLine, Generation, Mapping, Moment, NumberedEdit, Standing, Track,
};

/// An edit as it is listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EditRow {
    /// Its number, by which `undo` and `redo` name it.
    pub number: u64,
    /// Number of the first event of its batch: edits that have it in common were made together.
    pub batch: u64,
    /// Number of its event, by which `diff` names the moment behind it.
    pub event: u64,
    /// When it was appended, in microseconds since 1970.
    pub at_us: i64,
    /// Who made it; `user` is a person.
    pub by: String,
    /// The line it is about.
    pub line: u64,
    /// Whether it counts: `live`, `reverted`, `barred` or `void`.
    pub standing: &'static str,
    /// What it does.
    #[serde(flatten)]
    pub what: EditWhat,
}

/// What an edit does, with the word for it under `kind`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum EditWhat {
    /// Other words.
    Repair {
        /// What was heard.
        from: String,
        /// What stands there now.
        to: String,
    },
    /// A name.
    Speaker {
        /// The name.
        name: String,
    },
    /// Not shown any more.
    Hide {
        /// Why.
        reason: String,
    },
    /// A second voice.
    Split {
        /// When it begins.
        at_ms: u64,
        /// Whose it is, when known.
        name: Option<String>,
    },
    /// Takes an edit back.
    Revert {
        /// Number of that edit; none when there is no such edit of that line.
        edit: Option<u64>,
    },
}

/// Why a line reads as it does.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Account {
    /// Number of the line.
    pub line: u64,
    /// Where it was heard.
    pub track: Track,
    /// Start in milliseconds.
    pub start_ms: u64,
    /// End in milliseconds.
    pub end_ms: u64,
    /// How it reads now.
    pub reads: Meaning,
    /// The words as they were heard.
    pub heard: String,
    /// How sure the recogniser was, 0 to 1; 0 when unknown.
    pub confidence: f32,
    /// The language, when known.
    pub language: Option<String>,
    /// What heard it, if the log tells.
    pub recognizer: Option<Recognizer>,
    /// Where its sound is in the track's audio.
    pub audio: Option<Sound>,
    /// When it was appended, in microseconds since 1970.
    pub at_us: i64,
    /// Number of its event.
    pub event: u64,
    /// The file that holds it.
    pub file: PathBuf,
    /// Where in that file, in bytes.
    pub offset: u64,
    /// Every edit of the line, oldest first.
    pub edits: Vec<EditRow>,
}

/// What heard a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Recognizer {
    /// Number of the run.
    pub generation: u32,
    /// The program and its version.
    pub program: String,
    /// The model's name.
    pub model: String,
    /// SHA-256 of the model's file, when known.
    pub sha256: Option<String>,
    /// What found the speech.
    pub voice_activity: String,
}

/// A stretch of a track's audio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Sound {
    /// First sample.
    pub start_sample: u64,
    /// One past the last sample.
    pub end_sample: u64,
    /// Samples a second.
    pub rate_hz: u32,
}

/// A line that reads differently at two moments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Number of the line.
    pub line: u64,
    /// Where it was heard.
    pub track: Track,
    /// Start in milliseconds.
    pub start_ms: u64,
    /// How it read at the first moment; none when it was not there yet.
    pub before: Option<Meaning>,
    /// How it read at the second.
    pub after: Meaning,
}

/// Every edit of the session in the order of the log.
///
/// # Errors
/// The session has no log, or it cannot be read.
pub fn edits(session: &SessionDirectory) -> Result<Vec<EditRow>, EditError> {
    require_log(session)?;
    let mut reader = session.read_log(Mapping::On)?;
    let edits = reader.snapshot()?.edits()?;
    Ok(rows(edits))
}

/// Why line `line` reads as it does.
///
/// # Errors
/// There is no such line; the session has no log, or it cannot be read.
pub fn why(session: &SessionDirectory, line: u64) -> Result<Account, EditError> {
    require_log(session)?;
    let mut reader = session.read_log(Mapping::On)?;
    let mut snapshot = reader.snapshot()?;
    let lines = snapshot.lines();
    if line >= lines {
        return Err(EditError::NoSuchLine { line, lines });
    }
    let found = snapshot.why(line)?;
    let heard = &found.reads.heard;
    Ok(Account {
        line,
        track: heard.track,
        start_ms: heard.start_ms,
        end_ms: heard.end_ms,
        reads: (&found.reads).into(),
        heard: heard.text.clone(),
        confidence: heard.confidence,
        language: heard.language.clone(),
        recognizer: found.generation.map(Recognizer::from),
        audio: heard.audio.map(Sound::from),
        at_us: found.recorded.ts_us,
        event: found.recorded.seq,
        file: found.segment,
        offset: found.offset,
        edits: rows(found.edits),
    })
}

/// The lines that read differently at `to` than at `from`, in the order of the log. Without `from` the
/// beginning is meant, without `to` now.
///
/// # Errors
/// The session has no log, or it cannot be read.
pub fn diff(
    session: &SessionDirectory,
    from: Option<Moment>,
    to: Option<Moment>,
) -> Result<Vec<Difference>, EditError> {
    require_log(session)?;
    let mut before = session.read_log(Mapping::On)?;
    let mut after = session.read_log(Mapping::On)?;
    let mut before = before.snapshot()?.at(from.unwrap_or(Moment::TimeUs(i64::MIN)))?;
    let mut after = match to {
        Some(moment) => after.snapshot()?.at(moment)?,
        None => after.snapshot()?,
    };
    let there_before = before.lines();
    let mut differences = Vec::new();
    for line in 0..after.lines() {
        let reads = after.folded(line)?;
        let read = if line < there_before { Some(before.folded(line)?) } else { None };
        differences.extend(difference(read.as_ref(), &reads));
    }
    Ok(differences)
}

fn difference(before: Option<&FoldedLine>, after: &FoldedLine) -> Option<Difference> {
    let (before, reads) = (before.map(Meaning::from), Meaning::from(after));
    let differs = before.as_ref() != Some(&reads);
    differs.then_some(Difference {
        line: after.index,
        track: after.heard.track,
        start_ms: after.heard.start_ms,
        before,
        after: reads,
    })
}

fn rows(edits: Vec<NumberedEdit>) -> Vec<EditRow> {
    let target = |edit: &NumberedEdit| EditTarget { position: edit.placed.position, seq: edit.placed.seq };
    let numbers: HashMap<EditTarget, u64> = edits.iter().map(|edit| (target(edit), edit.number)).collect();
    edits.into_iter().map(|edit| row(edit, &numbers)).collect()
}

fn row(edit: NumberedEdit, numbers: &HashMap<EditTarget, u64>) -> EditRow {
    let made = edit.placed.edit;
    EditRow {
        number: edit.number,
        batch: edit.batch_seq,
        event: edit.placed.seq,
        at_us: edit.placed.ts_us,
        by: made.by,
        line: made.line,
        standing: match edit.standing {
            Standing::Live => "live",
            Standing::Reverted => "reverted",
            Standing::Barred => "barred",
            Standing::Void => "void",
        },
        what: match made.change {
            Change::Repair { from, to } => EditWhat::Repair { from, to },
            Change::Speaker { name } => EditWhat::Speaker { name },
            Change::Hide { reason } => EditWhat::Hide { reason },
            Change::Split { at_ms, name, .. } => EditWhat::Split { at_ms, name },
            Change::Revert { target } => EditWhat::Revert { edit: numbers.get(&target).copied() },
        },
    }
}

impl From<Generation> for Recognizer {
    fn from(run: Generation) -> Self {
        Self {
            generation: run.number,
            program: run.recognizer,
            model: run.model.name,
            sha256: Some(run.model.sha256).filter(|sha256| !sha256.is_empty()),
            voice_activity: run.voice_activity,
        }
    }
}

impl From<AudioSpan> for Sound {
    fn from(span: AudioSpan) -> Self {
        Self { start_sample: span.start_sample, end_sample: span.end_sample, rate_hz: span.rate_hz }
    }
}
