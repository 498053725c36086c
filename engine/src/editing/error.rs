//! Why a change was not made. Nothing was appended then, but for what [`AppendError`] says otherwise.

use std::path::PathBuf;

use super::PatternError;
use crate::export::ExportError;
use crate::session::{DirectoryError, WorkLockError};
use crate::{AppendError, OpenError, ReadError};

/// A change that was not made; the text is for the person who asked for it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The session has no log.
    #[error(
        "{0} is in the older layout, which is read and never written; `ambient import {0}` gives it a log"
    )]
    OlderLayout(String),
    /// Nobody is called that.
    #[error("no lines labelled {label:?} (available: {})", listed(.available))]
    NoSuchSpeaker {
        /// What was given.
        label: String,
        /// Who there is, sorted.
        available: Vec<String>,
    },
    /// A line number behind the last line.
    #[error("there is no line {line}: {}", counted(*.lines))]
    NoSuchLine {
        /// What was given.
        line: u64,
        /// How many there are.
        lines: u64,
    },
    /// The conditions together fit no line.
    #[error("no line is meant by that")]
    NothingSelected,
    /// Not a name for a person.
    #[error("{name:?} cannot be a name: {why}")]
    NotAName {
        /// What was given.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// No line has it.
    #[error("no line holds {0}")]
    NotHeld(String),
    /// More lines would change than were allowed to.
    #[error("{count} lines hold {what}; name one of them, or say that all are meant")]
    SeveralLines {
        /// What they hold.
        what: String,
        /// How many.
        count: usize,
    },
    /// Every line that is meant is hidden already.
    #[error("every line that is meant is hidden already")]
    AllHidden,
    /// None of the lines that are meant is hidden.
    #[error("none of the lines that are meant is hidden")]
    NoneHidden,
    /// No edit by a person is left to take back.
    #[error("nothing to undo in {}", .0.display())]
    NothingToUndo(PathBuf),
    /// Nothing was taken back since the last change.
    #[error("nothing to redo in {}", .0.display())]
    NothingToRedo(PathBuf),
    /// No edit has that number.
    #[error("no edit {number} in {}", .session.display())]
    NoSuchEdit {
        /// What was given.
        number: u64,
        /// The session's directory.
        session: PathBuf,
    },
    /// A revert cannot be taken back.
    #[error("edit {0} is itself a revert — undo the edit it names instead")]
    IsRevert(u64),
    /// It was taken back before.
    #[error("edit {0} is already reverted")]
    AlreadyReverted(u64),
    /// It still counts, so there is nothing to make again.
    #[error("edit {0} is not reverted")]
    NotReverted(u64),
    /// What to look for makes no sense.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// The log cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The log cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The log cannot be appended to.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// The session's directory cannot be used.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// Whether someone is at work on the session cannot be told.
    #[error(transparent)]
    Work(#[from] WorkLockError),
    /// The change is in, and the files that are derived from the log could not be renewed.
    #[error("the change is in the log, but session.json and transcript.md could not be renewed")]
    Derived(#[source] ExportError),
}

fn listed(names: &[String]) -> String {
    if names.is_empty() {
        "none — name lines by number or time instead".to_owned()
    } else {
        names.join(", ")
    }
}

fn counted(lines: u64) -> String {
    match lines {
        0 => "the session has none yet".to_owned(),
        1 => "the only one is 0".to_owned(),
        _ => format!("they are 0 to {}", lines - 1),
    }
}
