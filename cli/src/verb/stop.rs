//! `ambient stop`: ends a recording from anywhere, and waits for its last line.

use std::thread;
use std::time::Duration;

use ambient_capture::live::ask_to_stop;
use ambient_engine::SystemClock;
use ambient_engine::session::{PersonState, SessionDirectory, Work, WorkLock};
use ambient_engine::view::{self, ReadingQuery};

use crate::arguments::Stop;
use crate::exit::{Exit, Refusal};
use crate::{output, places, recording};

/// Between two looks whether the recorder is done.
const LOOK_EVERY: Duration = Duration::from_millis(100);

pub(crate) fn run(stop: &Stop) -> anyhow::Result<Exit> {
    let session = recording::named_or_live(stop.session.as_deref())?;
    recording::require_live(&session)?;
    ask_to_stop(&session)?;
    if !stop.no_wait {
        while WorkLock::is_held(&session, Work::Recording)? {
            thread::sleep(LOOK_EVERY);
        }
        return conclude(&session);
    }
    output::line(&session.directory().path().display().to_string())?;
    output::note(&format!("{} was asked to end; to see it end: ambient status", session.id()));
    Ok(Exit::Done)
}

/// Says whether the text is complete, and what a person should know of the recording.
fn conclude(session: &SessionDirectory) -> anyhow::Result<Exit> {
    let root = places::sessions_dir(&places::settings())?;
    let id = session.id();
    let no_lines = ReadingQuery { since: u64::MAX, ..ReadingQuery::default() };
    let reading = view::reading(&root, &id.to_string(), &no_lines, &SystemClock)?;
    if reading.state != PersonState::Done {
        let text = format!("{id} ended and its text is not complete; to finish it: ambient resume {id}");
        return Err(Refusal::new(Exit::Failed, text).into());
    }
    output::line(&session.directory().path().display().to_string())?;
    let metadata = reading.metadata.unwrap_or_default();
    for warning in &metadata.warnings {
        output::warning(warning);
    }
    recording::prove(&metadata);
    output::note(&format!("{id} is complete; to read it: ambient show {id}"));
    Ok(if metadata.warnings.is_empty() { Exit::Done } else { Exit::Warnings })
}
