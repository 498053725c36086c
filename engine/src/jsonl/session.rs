//! A session of the predecessor's layout as the views see it.

use super::JsonlReader;
use super::state::{FileSigns, has_captured_audio};
use crate::Clock;
use crate::session::listing::{session_ids, summarize};
use crate::session::native::holds_log;
use crate::session::{
    Directory, DirectoryError, MetadataError, PersonState, SessionDirectory, SessionMetadata, SessionRow,
};
use crate::view::{NumberedLine, ReadingQuery, SessionReading, SessionState, SessionSummary, ViewError};

/// The files that a session must not hold as links.
const GUARDED_FILES: [&str; 3] = ["session.json", "raw.jsonl", "edits.jsonl"];

/// The sessions directly below `root` that have lines in this layout, or a log, by their names. What is no session is
/// passed over.
///
/// # Errors
/// The directory cannot be read.
pub fn sessions_below(root: &Directory) -> Result<Vec<SessionDirectory>, DirectoryError> {
    let mut ids = session_ids(root)?;
    ids.sort();
    let mut sessions = Vec::new();
    for id in ids {
        let Some(session) = SessionDirectory::open(root, &id)? else { continue };
        let directory = session.directory();
        if directory.holds(super::RAW_FILE)? || directory.holds("session.json")? || holds_log(directory)? {
            sessions.push(session);
        }
    }
    Ok(sessions)
}

/// What the session is doing.
pub(crate) fn state(session: &SessionDirectory, clock: &dyn Clock) -> Result<SessionState, DirectoryError> {
    Ok(FileSigns::read(session.directory(), clock)?.state())
}

/// Whether its capture ended and left sound to be turned into lines.
pub(crate) fn has_waiting_audio(session: &SessionDirectory) -> Result<bool, DirectoryError> {
    let directory = session.directory();
    Ok(directory.holds_file("session.json")? && has_captured_audio(directory)?)
}

/// Its row in a listing. What cannot be read is told in the row.
pub(crate) fn row(session: &SessionDirectory, clock: &dyn Clock) -> SessionRow {
    let signs = FileSigns::read(session.directory(), clock);
    let metadata = metadata(session);
    let error = match (&signs, &metadata) {
        (Err(error), _) => Some(error.to_string()),
        (_, Err(error)) => Some(error.to_string()),
        _ => None,
    };
    let state = signs.as_ref().map_or(SessionState::Pending, |signs| signs.state());
    // Someone at work comes first, also for the person who reads this; a transcript mends nothing.
    let at_work = matches!(state, SessionState::Live | SessionState::Transcribing);
    let person_state = if error.is_some() && !at_work { PersonState::Broken } else { state.into() };
    let metadata = metadata.ok().flatten().filter(|_| error.is_none()).unwrap_or_default();
    let (tags, notes) = (metadata.tags.clone(), metadata.notes.clone());
    let has_transcript = signs.is_ok_and(|signs| signs.has_transcript);
    let summary = SessionSummary {
        error,
        ..summarize(session.id(), session.directory().path(), metadata, state, has_transcript)
    };
    SessionRow { summary, state: person_state, tags, notes }
}

/// What `session.json` says, provided that nothing in the session is a link.
fn metadata(session: &SessionDirectory) -> Result<Option<SessionMetadata>, MetadataError> {
    refuse_links(session)?;
    SessionMetadata::read(session.directory())
}

/// Reads the lines and their edits, provided that nothing in the session is a link.
fn reader(session: &SessionDirectory) -> Result<JsonlReader, DirectoryError> {
    refuse_links(session)?;
    JsonlReader::open(session.directory())
}

/// Has `reader` read what is new, provided that nothing in the session is a link and nothing is damaged.
pub(crate) fn refresh(
    reader: &mut JsonlReader,
    session: &SessionDirectory,
    is_verbatim: bool,
) -> Result<(), ViewError> {
    refuse_links(session)?;
    reader.refresh(session.directory())?;
    refuse_damage(reader, is_verbatim)
}

/// How many bytes of the session's lines `reader` has not read yet.
pub(crate) fn unread_bytes(reader: &JsonlReader, session: &SessionDirectory) -> Result<u64, DirectoryError> {
    let len_bytes = session.directory().len_bytes_of(super::RAW_FILE)?.unwrap_or(0);
    Ok(len_bytes.saturating_sub(reader.bytes_read()))
}

/// An assistant is shown a whole session or told why not: half of one looks like all of it.
fn refuse_damage(reader: &JsonlReader, verbatim: bool) -> Result<(), ViewError> {
    let edits = if verbatim { None } else { reader.edit_damage().first_refusal() };
    match reader.line_damage().first_refusal().or(edits) {
        Some(line) => Err(line.clone().into()),
        None => Ok(()),
    }
}

/// The whole session by the clock. A damaged line costs itself and is told in the warnings.
pub(crate) fn reading(
    session: &SessionDirectory,
    query: &ReadingQuery,
    clock: &dyn Clock,
) -> Result<SessionReading, ViewError> {
    if query.at.is_some() {
        return Err(ViewError::NoMoments(session.id().to_string()));
    }
    let mut warnings = Vec::new();
    let (reader, state, metadata) = opened(session, clock, &mut warnings)?;
    let lines = numbered(&reader, query).collect();
    Ok(SessionReading::by_the_clock(session.id().to_string(), state, metadata, lines, warnings))
}

/// The session's lines, and what a person is told of it beside them.
pub(crate) fn opened(
    session: &SessionDirectory,
    clock: &dyn Clock,
    warnings: &mut Vec<String>,
) -> Result<(JsonlReader, PersonState, Option<SessionMetadata>), ViewError> {
    let state = row(session, clock).state;
    let reader = reader(session)?;
    warnings.extend(reader.line_damage().report());
    warnings.extend(reader.edit_damage().report());
    let metadata = metadata(session).unwrap_or_else(|error| {
        warnings.push(error.to_string());
        None
    });
    Ok((reader, state, metadata))
}

/// The lines that `query` asks for, in the order they were written.
fn numbered<'a>(
    reader: &'a JsonlReader,
    query: &'a ReadingQuery,
) -> impl Iterator<Item = NumberedLine> + use<'a> {
    let since = usize::try_from(query.since).unwrap_or(usize::MAX).min(reader.len());
    let shown = reader.since(since, query.is_verbatim);
    // Who is meant is told by how a line reads; nothing is read twice where that does not matter.
    let needs_names = query.is_verbatim && !query.selection.speakers.is_empty();
    let mut named = reader.since(if needs_names { since } else { reader.len() }, false);
    (since as u64..).zip(shown).filter_map(move |(index, (line, confidence))| {
        let named = named.next().and_then(|(line, _)| line.speaker);
        let speaker = named.as_deref().or(line.speaker.as_deref());
        let is_meant = query.selection.holds(index, line.track, line.start_ms, speaker);
        is_meant.then_some(NumberedLine { index, line, confidence })
    })
}

/// Refuses a session of which a file is a link, or something else that is no file.
pub(super) fn refuse_links(session: &SessionDirectory) -> Result<(), DirectoryError> {
    GUARDED_FILES.iter().try_for_each(|name| session.directory().require_file(name))
}
