//! `ambient pause` and `ambient unpause`: keep a recording from listening for a while.
//!
//! It returns once the recorder says that it does not listen, or listens again: what is said from then on
//! can be relied on.

use std::thread;
use std::time::Duration;

use ambient_capture::live::{Phase, ask_to_pause, published_status};

use crate::arguments::LiveSession;
use crate::exit::Exit;
use crate::{output, recording};

/// Between two looks whether the recorder has heard.
const LOOK_EVERY: Duration = Duration::from_millis(50);

pub(crate) fn run(paused: &LiveSession, pause: bool) -> anyhow::Result<Exit> {
    let session = recording::named_or_live(paused.session.as_deref())?;
    recording::require_live(&session)?;
    ask_to_pause(&session, pause)?;
    while published_status(&session).is_none_or(|status| (status.phase == Phase::Recording) == pause) {
        recording::require_live(&session)?;
        thread::sleep(LOOK_EVERY);
    }
    let id = session.id();
    output::note(&if pause {
        format!("{id} does not listen; to have it listen again: ambient unpause")
    } else {
        format!("{id} listens again")
    });
    Ok(Exit::Done)
}
