//! A session of the predecessor's layout as the views see it.

use super::JsonlReader;
use super::state::{FileSigns, has_captured_audio};
use crate::Clock;
use crate::session::{
    DirectoryError, MetadataError, PersonState, SessionDirectory, SessionMetadata, SessionRow,
};
use crate::view::{SessionState, SessionSummary};

/// The files that a session must not hold as links.
const GUARDED_FILES: [&str; 3] = ["session.json", "raw.jsonl", "edits.jsonl"];

/// What the session is doing.
pub(crate) fn state(session: &SessionDirectory, clock: &dyn Clock) -> Result<SessionState, DirectoryError> {
    Ok(FileSigns::read(session.directory(), clock)?.state())
}

/// Whether its sound is captured and nobody has turned it into lines yet.
pub(crate) fn awaits_transcript(
    session: &SessionDirectory,
    clock: &dyn Clock,
) -> Result<bool, DirectoryError> {
    let directory = session.directory();
    Ok(directory.holds_file("session.json")?
        && FileSigns::read(directory, clock)?.state() == SessionState::Pending
        && has_captured_audio(directory)?)
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
    let person_state =
        if error.is_some() && state == SessionState::Pending { PersonState::Broken } else { state.into() };
    let metadata = metadata.ok().flatten().filter(|_| error.is_none()).unwrap_or_default();
    let summary = SessionSummary {
        id: session.id().to_string(),
        dir: session.directory().path().to_owned(),
        name: metadata.name,
        started_at: metadata.started_at,
        duration_s: metadata.duration_s,
        transcribed: signs.is_ok_and(|signs| signs.has_transcript),
        live: state == SessionState::Live,
        transcribing: state == SessionState::Transcribing,
        error,
    };
    SessionRow { summary, state: person_state }
}

/// What `session.json` says, provided that nothing in the session is a link.
pub(crate) fn metadata(session: &SessionDirectory) -> Result<Option<SessionMetadata>, MetadataError> {
    refuse_links(session)?;
    SessionMetadata::read(session.directory())
}

/// Reads the lines and their edits, provided that nothing in the session is a link.
pub(crate) fn reader(session: &SessionDirectory) -> Result<JsonlReader, DirectoryError> {
    refuse_links(session)?;
    JsonlReader::open(session.directory())
}

fn refuse_links(session: &SessionDirectory) -> Result<(), DirectoryError> {
    GUARDED_FILES.iter().try_for_each(|name| session.directory().require_file(name))
}
