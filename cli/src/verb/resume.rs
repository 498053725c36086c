//! `ambient resume`: finishes what was interrupted.

use std::path::Path;

use ambient_capture::pipeline::History;
use ambient_engine::session::{PersonState, SessionDirectory, SessionPlace, Work, WorkLock};
use ambient_engine::{Log, LogDirectory, Mapping, Options, Reader, SystemClock, view};

use crate::arguments::Resume;
use crate::exit::{Exit, Refusal};
use crate::transcription::Listener;
use crate::{interrupt, output, places, session_name};

pub(crate) fn run(resume: &Resume) -> anyhow::Result<Exit> {
    let found = match &resume.session {
        Some(word) => Some(session_name::find(word)?),
        None => interrupted(&places::sessions_dir(&places::settings())?)?,
    };
    let Some(place) = found else {
        output::note("nothing was interrupted");
        return Ok(Exit::Done);
    };
    let session = session_name::open(&place)?;
    if WorkLock::is_held(&session, Work::Recording)? {
        return Err(Refusal::new(Exit::Busy, format!("{} is being recorded", place.id)).into());
    }
    let _lock = WorkLock::hold(&session, Work::Transcribing)?;
    // The log before its history: opening it takes in a whole batch that a killed writer had written and not
    // published. Read the other way round, that batch's turns would be worked on again and stand there twice.
    let log = open_log(&session)?;
    let history = history(&session)?;
    if history.is_finished {
        output::line(&session.directory().path().display().to_string())?;
        output::note(&format!("{0} is complete; to read it: ambient show {0}", place.id));
        return Ok(Exit::Done);
    }
    let begun_with = history.generation.as_ref().map(|generation| generation.model.name.clone());
    let stop = interrupt::flag()?;
    let mut listener = Listener::load(&resume.recognition, begun_with.as_deref(), stop)?;
    listener.work(&session, log, |pipeline, sink| pipeline.resume(history, sink))
}

/// The session that was interrupted, when there is one; several are named and left alone.
fn interrupted(root: &Path) -> anyhow::Result<Option<SessionPlace>> {
    let rows = view::rows(root, &SystemClock)?;
    let ids = rows.into_iter().filter(|row| row.state == PersonState::Interrupted).map(|row| row.summary.id);
    let mut ids: Vec<String> = ids.collect();
    if ids.len() > 1 {
        let text = format!("{} sessions were interrupted; name one:\n  {}", ids.len(), ids.join("\n  "));
        return Err(Refusal::new(Exit::Busy, text).into());
    }
    Ok(ids.pop().map(|id| SessionPlace { root: root.to_owned(), id }))
}

fn log_directory(session: &SessionDirectory) -> anyhow::Result<LogDirectory> {
    Ok(LogDirectory::open_at(session.directory(), session.directory().path())?)
}

fn open_log(session: &SessionDirectory) -> anyhow::Result<Log> {
    if !session.directory().holds_directory(LogDirectory::NAME)? {
        let text = format!("{} was not made by this program, which cannot finish it", session.id());
        return Err(Refusal::new(Exit::Failed, text).into());
    }
    Ok(Log::open_in(log_directory(session)?, Options::default())?)
}

/// What the log says about the making of the session.
fn history(session: &SessionDirectory) -> anyhow::Result<History> {
    let mut reader = Reader::open_in(log_directory(session)?, Mapping::On)?;
    let recorded = reader.snapshot()?.events()?;
    Ok(History::from_events(recorded.iter().map(|recorded| &recorded.event)))
}
