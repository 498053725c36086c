//! Ctrl-C and SIGTERM, as a flag the work looks at.
//!
//! The first one asks: what was begun is brought to a clean stop and can be finished later. The second
//! one insists and ends the program at once; the log is made for that as well. A recording knows three
//! steps: the first signal ends it, the second gives up the text of its last sound, the third the program.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;
use signal_hook::consts::{SIGHUP, TERM_SIGNALS};
use signal_hook::flag;
use signal_hook::iterator::Signals;

use crate::exit::Exit;

/// A flag that is set when someone asks the program to end.
pub(crate) fn flag() -> anyhow::Result<Arc<AtomicBool>> {
    let asked = Arc::new(AtomicBool::new(false));
    for &signal in TERM_SIGNALS {
        // In this order the second signal finds the flag set, the first does not.
        flag::register_conditional_shutdown(signal, Exit::Interrupted as i32, Arc::clone(&asked))
            .and_then(|_| flag::register(signal, Arc::clone(&asked)))
            .context("could not prepare for Ctrl-C")?;
    }
    Ok(asked)
}

/// What someone asked a recording for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    /// To end.
    pub(crate) stop: Arc<AtomicBool>,
    /// To give up, with its sound kept.
    pub(crate) give_up: Arc<AtomicBool>,
}

/// Flags that are set one after the other as signals come. A terminal that is closed asks for the end too.
pub(crate) fn steps() -> anyhow::Result<Asked> {
    let asked = Asked::default();
    let failed = "could not prepare for Ctrl-C";
    for &signal in TERM_SIGNALS {
        flag::register_conditional_shutdown(signal, Exit::Interrupted as i32, Arc::clone(&asked.give_up))
            .context(failed)?;
    }
    let mut signals = Signals::new(TERM_SIGNALS.iter().chain([&SIGHUP])).context(failed)?;
    let steps = asked.clone();
    let follow = move || {
        for _ in signals.forever() {
            if steps.stop.swap(true, Ordering::Relaxed) {
                steps.give_up.store(true, Ordering::Relaxed);
            }
        }
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(follow).context(failed)?;
    Ok(asked)
}
