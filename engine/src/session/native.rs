//! A session with a log, as the views see it.
//!
//! What it is doing is told by the locks that its workers hold, and by what the log says once nobody is
//! at work. Files beside the log decide nothing: a description that was derived from it is only used
//! while it names the log's last event, and is computed again from the events otherwise.

use std::ffi::OsString;
use std::path::Path;

use super::derived::describe;
use super::listing::summarize;
use super::{
    Directory, DirectoryError, DirectoryIdentity, PersonState, SessionDirectory, SessionMetadata, SessionRow,
    Work, WorkLock,
};
use crate::view::{NumberedLine, SessionReading, SessionState, TranscriptLine, ViewError};
use crate::{LogDirectory, Mapping, ReadError, Reader};

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

/// The whole session by the clock. Damage costs the line it is in, not the session.
pub(crate) fn reading(session: &SessionDirectory, verbatim: bool) -> Result<SessionReading, ViewError> {
    let mut reader = session.read_log(Mapping::On)?;
    let mut warnings = Vec::new();
    let state = row(session).map_or(PersonState::Broken, |row| row.state);
    let metadata = match describe(session, &mut reader) {
        Ok(metadata) => Some(metadata),
        Err(error) => {
            warnings.push(error.to_string());
            None
        }
    };
    let lines = match lines(&mut reader, 0, verbatim) {
        Err(ViewError::Log(error)) if is_damage(&error) => {
            undamaged_lines(&mut reader, verbatim, &mut warnings)?
        }
        other => other?,
    };
    warnings.extend(reader.damage());
    let id = session.id().to_string();
    Ok(SessionReading::by_the_clock(id, state, metadata, lines, warnings))
}

fn is_damage(error: &ReadError) -> bool {
    matches!(error, ReadError::Damaged { .. } | ReadError::Payload { .. })
}

/// The lines that can be read, one by one; each of the others becomes a warning.
fn undamaged_lines(
    reader: &mut Reader,
    verbatim: bool,
    warnings: &mut Vec<String>,
) -> Result<Vec<NumberedLine>, ViewError> {
    let mut snapshot = reader.snapshot()?;
    let mut lines = Vec::new();
    for index in 0..snapshot.lines() {
        let line = if verbatim {
            snapshot.heard_line(index).map(|heard| Some(numbered(index, heard.line.confidence, heard.line)))
        } else {
            let folded = snapshot.folded(index);
            folded.map(|line| (!line.is_hidden()).then(|| numbered(index, line.heard.confidence, line)))
        };
        match line {
            Ok(line) => lines.extend(line),
            Err(error) if is_damage(&error) => warnings.push(format!("line {index} is left out: {error}")),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(lines)
}

/// The lines from `since` on in the order of the log.
pub(crate) fn lines(reader: &mut Reader, since: u64, verbatim: bool) -> Result<Vec<NumberedLine>, ViewError> {
    let mut snapshot = reader.snapshot()?;
    if verbatim {
        let heard = snapshot.verbatim(since..)?.into_iter();
        return Ok(heard.map(|heard| numbered(heard.index, heard.line.confidence, heard.line)).collect());
    }
    let mut shown = Vec::new();
    snapshot.each(since.., |line| {
        if !line.is_hidden() {
            shown.push(numbered(line.index, line.heard.confidence, line));
        }
    })?;
    Ok(shown)
}

fn numbered(index: u64, confidence: f32, line: impl Into<TranscriptLine>) -> NumberedLine {
    NumberedLine { index, line: line.into(), confidence }
}
