//! `ambient stop`: ends a recording from anywhere, and waits for its last line.

use std::thread;
use std::time::Duration;

use ambient_capture::live::ask_to_stop;
use ambient_engine::SystemClock;
use ambient_engine::session::{SessionDirectory, Work, WorkLock};
use ambient_engine::view::{self, SessionState};

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
        check_done(&session)?;
    }
    output::line(&session.directory().path().display().to_string())?;
    let id = session.id();
    output::note(&if stop.no_wait {
        format!("{id} was asked to end; to see it end: ambient status")
    } else {
        format!("{id} is complete; to read it: ambient show {id}")
    });
    Ok(Exit::Done)
}

/// Says so when the recorder ended and its text is not complete.
fn check_done(session: &SessionDirectory) -> anyhow::Result<()> {
    let root = places::sessions_dir(&places::settings())?;
    let id = session.id();
    let state = view::transcript(&root, &id.to_string(), u64::MAX, false, &SystemClock)?.state;
    if state == SessionState::Done {
        return Ok(());
    }
    let text = format!("{id} ended and its text is not complete; to finish it: ambient resume {id}");
    Err(Refusal::new(Exit::Failed, text).into())
}
