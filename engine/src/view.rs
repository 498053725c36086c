//! What readers are shown: the replies behind both the command line's `--json` and the MCP tools.
//!
//! One function for each question, so that the two front ends cannot disagree. Field names and their
//! meaning are the predecessor's and do not change.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::{Clock, Track};

/// What a session is doing, in the four words that are shown over MCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SessionState {
    /// Being recorded.
    Live,
    /// Recorded; its audio is being turned into lines.
    Transcribing,
    /// Captured and waiting, or interrupted.
    Pending,
    /// Complete: no line will be added.
    Done,
}

/// One row of a listing. The nine keys are fixed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SessionSummary {
    /// The session's id.
    pub id: String,
    /// Its directory.
    pub dir: PathBuf,
    /// Its name.
    pub name: Option<String>,
    /// When it started, RFC 3339.
    pub started_at: Option<String>,
    /// How long it is, in seconds.
    pub duration_s: Option<f64>,
    /// Whether every track has been turned into lines.
    pub transcribed: bool,
    /// Whether it is being recorded.
    pub live: bool,
    /// Whether someone is turning its audio into lines.
    pub transcribing: bool,
    /// Why it cannot be read.
    pub error: Option<String>,
}

/// A line as readers see it. The five keys are fixed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TranscriptLine {
    /// Where it was heard.
    pub track: Track,
    /// Start in milliseconds.
    pub start_ms: u64,
    /// End in milliseconds.
    pub end_ms: u64,
    /// Who spoke, when something has named them.
    pub speaker: Option<String>,
    /// The words.
    pub text: String,
}

/// The reply to "lines since n".
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Transcript {
    /// The session's id.
    pub session: String,
    /// What it is doing.
    pub state: SessionState,
    /// What to pass as `since` next time: the number of lines.
    pub next: u64,
    /// The lines, in the order they were written.
    pub lines: Vec<TranscriptLine>,
}

/// The session being recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LiveSession {
    /// Its id.
    pub id: String,
}

/// What Ambient is doing this second.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Status {
    /// The session being recorded, if any.
    pub live: Option<LiveSession>,
    /// Sessions whose audio is captured and not yet turned into lines.
    pub awaiting_transcript: u64,
    /// How many sessions a listing shows.
    pub sessions: u64,
}

/// A question that could not be answered; the text is for the person or assistant who asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ViewError {
    /// The id is not one path segment.
    #[error("{0:?} is not a session id")]
    NotAnId(String),
    /// No such directory under the root.
    #[error("no session {0}")]
    NoSession(String),
    /// Something in the session is a link.
    #[error("refusing symlink {}", .0.display())]
    Symlink(PathBuf),
}

/// Every session under `root`, newest first by start time.
///
/// # Errors
/// The root exists and cannot be read.
pub fn sessions(_root: &Path, _clock: &dyn Clock) -> Result<Vec<SessionSummary>, ViewError> {
    Ok(Vec::new())
}

/// The lines of session `id` from index `since` on, folded or as they were heard.
///
/// # Errors
/// No such session, or it cannot be read.
pub fn transcript(
    _root: &Path,
    id: &str,
    _since: u64,
    _verbatim: bool,
    _clock: &dyn Clock,
) -> Result<Transcript, ViewError> {
    Err(ViewError::NoSession(id.to_owned()))
}

/// What is being recorded, how many sessions wait, how many there are.
///
/// # Errors
/// The root exists and cannot be read.
pub fn status(_root: &Path, _clock: &dyn Clock) -> Result<Status, ViewError> {
    Ok(Status { live: None, awaiting_transcript: 0, sessions: 0 })
}
