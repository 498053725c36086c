//! A session with a log, as the views see it.
//!
//! What it is doing is told by the locks that its workers hold, and by what the log says once nobody is
//! at work. Files beside the log decide nothing: a description that was derived from it is only used
//! while it names the log's last event, and is computed again from the events otherwise.

use std::ffi::OsString;
use std::ops::Range;
use std::path::Path;

use super::derived::describe;
use super::listing::summarize;
use super::{
    Directory, DirectoryError, DirectoryIdentity, PersonState, SessionDirectory, SessionMetadata, SessionRow,
    Work, WorkLock,
};
use crate::view::{NumberedLine, ReadingQuery, SessionReading, SessionState, TranscriptLine, ViewError};
use crate::{LogDirectory, Mapping, ReadError, Reader, Snapshot};

/// Either of these shows that `log/` is a log, and not somebody's folder of that name.
const LOG_SIGNS: [&str; 2] = ["0000000000.seg", "head"];

/// Whether `directory` holds a log.
///
/// # Errors
/// `log` is a link, or the directory cannot be searched.
pub(crate) fn holds_log(directory: &Directory) -> Result<bool, DirectoryError> {
    Ok(log(directory)?.is_some())
}

/// The directory of the log in `directory`; none when that holds none.
///
/// # Errors
/// As [`holds_log`].
pub(crate) fn log(directory: &Directory) -> Result<Option<Directory>, DirectoryError> {
    let log = match directory.subdirectory(LogDirectory::NAME) {
        Ok(Some(log)) => log,
        Ok(None) | Err(DirectoryError::NotADirectory { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    for sign in LOG_SIGNS {
        if log.holds(sign)? {
            return Ok(Some(log));
        }
    }
    Ok(None)
}

/// Changes with everything that is appended to a log, and is seen without opening it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogStamp {
    log: DirectoryIdentity,
    last_segment: OsString,
    len_bytes: u64,
}

impl LogStamp {
    /// Of the log in the directory `log`; none when it has no segment.
    pub(crate) fn of(log: &Directory) -> Result<Option<Self>, DirectoryError> {
        let is_segment = |name: &OsString| Path::new(name).extension().is_some_and(|end| end == "seg");
        let Some(last_segment) = log.names()?.into_iter().filter(is_segment).max() else { return Ok(None) };
        let len_bytes = log.len_bytes_of(&last_segment)?;
        let log = log.identity()?;
        Ok(len_bytes.map(|len_bytes| Self { log, last_segment, len_bytes }))
    }
}

/// Who is at work on the session, if anyone.
pub(crate) fn work(session: &SessionDirectory) -> Result<Option<SessionState>, ViewError> {
    if WorkLock::is_held(session, Work::Recording)? {
        Ok(Some(SessionState::Live))
    } else if WorkLock::is_held(session, Work::Transcribing)? {
        Ok(Some(SessionState::Transcribing))
    } else {
        Ok(None)
    }
}

fn state_when_idle(metadata: &SessionMetadata) -> SessionState {
    if metadata.finished_at.is_some() { SessionState::Done } else { SessionState::Pending }
}

/// What the session is doing while nobody is at work on it.
pub(crate) fn idle_state(session: &SessionDirectory, reader: &mut Reader) -> Result<SessionState, ViewError> {
    Ok(state_when_idle(&describe(session, reader)?))
}

/// Its row in a listing.
pub(crate) fn row(session: &SessionDirectory) -> Result<SessionRow, ViewError> {
    let work = work(session)?;
    let metadata = describe(session, &mut session.read_log(Mapping::On)?)?;
    let state = work.unwrap_or_else(|| state_when_idle(&metadata));
    let person_state = if state == SessionState::Pending && metadata.was_begun() {
        PersonState::Interrupted
    } else {
        state.into()
    };
    let is_finished = metadata.finished_at.is_some();
    let (tags, notes) = (metadata.tags.clone(), metadata.notes.clone());
    let summary = summarize(session.id(), session.directory().path(), metadata, state, is_finished);
    Ok(SessionRow { summary, state: person_state, tags, notes })
}

/// The lines that `query` asks for, by the clock. Damage costs the line it is in, not the session.
pub(crate) fn reading(session: &SessionDirectory, query: &ReadingQuery) -> Result<SessionReading, ViewError> {
    let mut reader = session.read_log(Mapping::On)?;
    let mut warnings = Vec::new();
    let (state, metadata) = standing(session, &mut reader, &mut warnings);
    let mut snapshot = reader.snapshot()?;
    if let Some(moment) = query.at {
        snapshot = snapshot.at(moment)?;
    }
    let lines = match lines(&mut snapshot, query) {
        Err(error) if is_damage(&error) => undamaged_lines(&mut snapshot, query, &mut warnings)?,
        other => other?,
    };
    warnings.extend(reader.damage());
    let id = session.id().to_string();
    Ok(SessionReading::by_the_clock(id, state, metadata, lines, warnings))
}

/// What a person is told of the session beside its lines.
pub(crate) fn standing(
    session: &SessionDirectory,
    reader: &mut Reader,
    warnings: &mut Vec<String>,
) -> (PersonState, Option<SessionMetadata>) {
    let state = row(session).map_or(PersonState::Broken, |row| row.state);
    let metadata = describe(session, reader).map_err(|error| warnings.push(error.to_string()));
    (state, metadata.ok())
}

pub(crate) fn is_damage(error: &ReadError) -> bool {
    matches!(error, ReadError::Damaged { .. } | ReadError::Payload { .. })
}

/// The lines that can be read, one by one; each of the others becomes a warning.
fn undamaged_lines(
    snapshot: &mut Snapshot<'_>,
    query: &ReadingQuery,
    warnings: &mut Vec<String>,
) -> Result<Vec<NumberedLine>, ReadError> {
    let mut lines = Vec::new();
    for index in query.since..snapshot.lines() {
        match lines_in(snapshot, index..index + 1, query) {
            Ok(line) => lines.extend(line),
            Err(error) if is_damage(&error) => warnings.push(format!("line {index} is left out: {error}")),
            Err(error) => return Err(error),
        }
    }
    Ok(lines)
}

/// The lines that `query` asks for, in the order of the log.
pub(crate) fn lines(
    snapshot: &mut Snapshot<'_>,
    query: &ReadingQuery,
) -> Result<Vec<NumberedLine>, ReadError> {
    lines_in(snapshot, query.since..u64::MAX, query)
}

fn lines_in(
    snapshot: &mut Snapshot<'_>,
    range: Range<u64>,
    query: &ReadingQuery,
) -> Result<Vec<NumberedLine>, ReadError> {
    let selection = &query.selection;
    if query.is_verbatim && selection.speakers.is_empty() {
        // Without the edits, which this version may not understand.
        let heard = snapshot.verbatim(range)?.into_iter();
        let meant =
            heard.filter(|heard| selection.holds(heard.index, heard.line.track, heard.line.start_ms, None));
        return Ok(meant.map(|heard| numbered(heard.index, heard.line.confidence, heard.line)).collect());
    }
    let mut shown = Vec::new();
    snapshot.each(range, |line| {
        let (index, confidence) = (line.index, line.heard.confidence);
        if !selection.holds(index, line.heard.track, line.heard.start_ms, line.speaker) {
            return;
        }
        if query.is_verbatim {
            shown.push(numbered(index, confidence, line.heard.to_line()));
        } else if !line.is_hidden() {
            shown.push(numbered(index, confidence, line));
        }
    })?;
    Ok(shown)
}

fn numbered(index: u64, confidence: f32, line: impl Into<TranscriptLine>) -> NumberedLine {
    NumberedLine { index, line: line.into(), confidence }
}
