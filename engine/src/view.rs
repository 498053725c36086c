//! What readers are shown: the replies behind both the command line's `--json` and the MCP tools.
//!
//! One function for each question, so that the two front ends cannot disagree. Field names and their
//! meaning are the predecessor's and do not change. Whoever asks more than once asks a [`Library`].

mod library;
mod page;
mod pages_of_jsonl;
mod pages_of_log;
mod standing;

use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

use crate::editing::Selection;
use crate::jsonl::{SkippedLine, session as jsonl};
use crate::session::listing::{Found, broken_row, session_directories, sort_newest_first};
use crate::session::native::{self, holds_log};
use crate::session::{
    Directory, DirectoryError, MetadataError, NotASessionId, PersonState, RecordingStatus, SessionDirectory,
    SessionId, SessionMetadata, SessionRow, TrackProof, WorkLockError,
};
use crate::{Clock, DiskError, FoldedLine, FoldedView, Line, Moment, OpenError, ReadError, Track};

pub use crate::session::listing::SessionsQuery;
pub use library::{Library, OpenSession};
pub use page::{PageLine, ReadFrom, Transcript, TranscriptQuery, Wording};

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

/// One row of a listing. The first nine keys are fixed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SessionSummary {
    /// The session's id.
    pub id: String,
    /// Its directory.
    #[serde(serialize_with = "lossy_path")]
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
    /// What there is of each track, of a recording whose capture has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<Vec<TrackProof>>,
}

/// A path that is not Unicode must not keep a whole listing from being shown.
fn lossy_path<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
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

impl From<Line> for TranscriptLine {
    /// The line as it was heard.
    fn from(line: Line) -> Self {
        let Line { track, start_ms, end_ms, text, .. } = line;
        Self { track, start_ms, end_ms, speaker: None, text }
    }
}

impl From<FoldedView<'_>> for TranscriptLine {
    /// The line as it reads now.
    fn from(line: FoldedView<'_>) -> Self {
        let FoldedView { heard, text, speaker, .. } = line;
        Self {
            track: heard.track,
            start_ms: heard.start_ms,
            end_ms: heard.end_ms,
            speaker: speaker.map(str::to_owned),
            text: text.into_owned(),
        }
    }
}

impl From<FoldedLine> for TranscriptLine {
    /// The line as it reads now.
    fn from(line: FoldedLine) -> Self {
        let FoldedLine { heard, repaired, speaker, .. } = line;
        let heard = Self::from(heard);
        Self { speaker, text: repaired.unwrap_or(heard.text), ..heard }
    }
}

/// The session being recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LiveSession {
    /// Its id.
    pub id: String,
}

/// What Ambient is doing this second.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Status {
    /// The session being recorded, if any.
    pub live: Option<LiveSession>,
    /// Sessions whose audio is captured and not yet turned into lines.
    pub awaiting_transcript: u64,
    /// How many sessions a listing shows.
    pub sessions: u64,
    /// How the recording goes; only while a session with a log is being recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recording: Option<RecordingStatus>,
}

/// One line for people and exports: with its number and how sure the recogniser was.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberedLine {
    /// Index of the line in the order they were written, from 0.
    pub index: u64,
    /// The line.
    pub line: TranscriptLine,
    /// Mean probability of the recognised tokens, 0 to 1; 0 when unknown.
    pub confidence: f32,
}

/// Which lines of a session are read, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadingQuery {
    /// Leave out so many lines at the beginning, in the order they were written.
    pub since: u64,
    /// Of the others only these. By name they are meant as they read, also where they are shown as they were
    /// heard.
    pub selection: Selection,
    /// As they were first heard, without names and corrections, and hidden ones too.
    pub is_verbatim: bool,
    /// As the session was then; as it is now without.
    pub at: Option<Moment>,
}

/// A session's lines, for a person or an export.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionReading {
    /// The session's id.
    pub id: String,
    /// What it is doing.
    pub state: PersonState,
    /// Its description, as far as there is one.
    pub metadata: Option<SessionMetadata>,
    /// Its lines by the clock; lines that begin together stay in the order they were written.
    pub lines: Vec<NumberedLine>,
    /// What could not be used, one sentence each, with file and line number.
    pub warnings: Vec<String>,
}

impl SessionReading {
    /// Sorts `lines`, which come in the order they were written, by the clock.
    pub(crate) fn by_the_clock(
        id: String,
        state: PersonState,
        metadata: Option<SessionMetadata>,
        mut lines: Vec<NumberedLine>,
        warnings: Vec<String>,
    ) -> Self {
        lines.sort_by_key(|numbered| numbered.line.start_ms);
        Self { id, state, metadata, lines, warnings }
    }
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
    /// A beginning that more than one session has.
    #[error("{prefix} could be any of {}; give more of the id", .candidates.join(", "))]
    Ambiguous {
        /// What was given.
        prefix: String,
        /// The ids that begin with it, newest first.
        candidates: Vec<String>,
    },
    /// Something in the session is a link.
    #[error("refusing symlink {}", .0.display())]
    Symlink(PathBuf),
    /// The older layout does not keep when a line was changed.
    #[error("{0} is in the older layout and cannot tell how it was; import it first: ambient import {0}")]
    NoMoments(String),
    /// A line that does not parse.
    #[error(transparent)]
    Damaged(#[from] SkippedLine),
    /// `session.json` cannot be read.
    #[error(transparent)]
    Metadata(MetadataError),
    /// A file or directory cannot be used.
    #[error(transparent)]
    Directory(DirectoryError),
    /// The log cannot be read.
    #[error(transparent)]
    Log(ReadError),
    /// A cursor that does not name what was seen of this session.
    #[error("cursor lost: {0}; read again from the start")]
    CursorLost(&'static str),
    /// Nobody can tell who is at work on the session.
    #[error(transparent)]
    Lock(WorkLockError),
}

impl From<ReadError> for ViewError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Disk(error) if is_about_a_link(&error) => Self::Symlink(error.path),
            ReadError::Open(error) => (*error).into(),
            ReadError::CursorLost(why) => Self::CursorLost(why),
            other => Self::Log(other),
        }
    }
}

impl From<OpenError> for ViewError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Disk(error) if is_about_a_link(&error) => Self::Symlink(error.path),
            OpenError::Read(error) => (*error).into(),
            other => Self::Log(other.into()),
        }
    }
}

/// The one error that opening without following links gives for a link.
fn is_about_a_link(error: &DiskError) -> bool {
    error.source.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

impl From<WorkLockError> for ViewError {
    fn from(error: WorkLockError) -> Self {
        match error {
            WorkLockError::Directory(error) => error.into(),
            busy @ WorkLockError::Busy { .. } => Self::Lock(busy),
        }
    }
}

impl From<DirectoryError> for ViewError {
    fn from(error: DirectoryError) -> Self {
        match error {
            DirectoryError::Symlink(path) => Self::Symlink(path),
            other => Self::Directory(other),
        }
    }
}

impl From<NotASessionId> for ViewError {
    fn from(NotASessionId(word): NotASessionId) -> Self {
        Self::NotAnId(word)
    }
}

impl From<MetadataError> for ViewError {
    fn from(error: MetadataError) -> Self {
        match error {
            MetadataError::Directory(error) => error.into(),
            other => Self::Metadata(other),
        }
    }
}

/// Opens the root; none when there is none yet, which is a root without sessions.
fn open_root(root: &Path) -> Result<Option<Directory>, ViewError> {
    match Directory::open(root) {
        Ok(root) => Ok(Some(root)),
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn open_session(root: &Path, id: &str) -> Result<SessionDirectory, ViewError> {
    let session_id = SessionId::new(id)?;
    let session = match open_root(root)? {
        Some(root) => SessionDirectory::open(&root, &session_id)?,
        None => None,
    };
    session.ok_or_else(|| ViewError::NoSession(id.to_owned()))
}

/// Every session under `root`, newest first by start time.
///
/// # Errors
/// The root exists and cannot be read.
pub fn sessions(root: &Path, clock: &dyn Clock) -> Result<Vec<SessionSummary>, ViewError> {
    Ok(rows(root, clock)?.into_iter().map(|row| row.summary).collect())
}

/// As [`sessions`], with the word for people.
///
/// # Errors
/// The root exists and cannot be read.
pub fn rows(root: &Path, clock: &dyn Clock) -> Result<Vec<SessionRow>, ViewError> {
    let Some(root) = open_root(root)? else { return Ok(Vec::new()) };
    let sessions = session_directories(&root, clock)?;
    let mut rows: Vec<_> = sessions
        .into_iter()
        .map(|found| match found {
            Found::Session(session) => row(&session, clock),
            Found::Unreadable { id, error } => broken_row(&id, &root.path().join(id.as_str()), &error.into()),
        })
        .collect();
    sort_newest_first(&mut rows);
    Ok(rows)
}

fn row(session: &SessionDirectory, clock: &dyn Clock) -> SessionRow {
    let row = match holds_log(session.directory()) {
        Ok(true) => native::row(session),
        Ok(false) => Ok(jsonl::row(session, clock)),
        Err(error) => Err(error.into()),
    };
    row.unwrap_or_else(|error| broken_row(session.id(), session.directory().path(), &error))
}

/// The lines of session `id` from index `since` on, folded or as they were heard. A line that an edit
/// hides is counted and not shown in the fold.
///
/// # Errors
/// No such session, or it cannot be read.
pub fn transcript(
    root: &Path,
    id: &str,
    since: u64,
    verbatim: bool,
    clock: &dyn Clock,
) -> Result<Transcript, ViewError> {
    let wording = if verbatim { Wording::Heard } else { Wording::Now };
    let query = TranscriptQuery { from: ReadFrom::Line(since), wording, ..TranscriptQuery::default() };
    Library::new(root).open(id)?.transcript(query, clock)
}

/// The lines of session `id` that `query` asks for, by the clock. A damaged line costs itself and is told in
/// the warnings.
///
/// # Errors
/// No such session, nothing of it can be read, or it cannot tell how it was at another moment.
pub fn reading(
    root: &Path,
    id: &str,
    query: &ReadingQuery,
    clock: &dyn Clock,
) -> Result<SessionReading, ViewError> {
    let session = open_session(root, id)?;
    if holds_log(session.directory())? {
        native::reading(&session, query)
    } else {
        jsonl::reading(&session, query, clock)
    }
}

/// What is being recorded, how many sessions wait, how many there are; as [`Library::status`].
///
/// # Errors
/// The root exists and cannot be read.
pub fn status(root: &Path, clock: &dyn Clock) -> Result<Status, ViewError> {
    Library::new(root).status(clock)
}
