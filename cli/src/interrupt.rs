//! Ctrl-C and SIGTERM, as a flag the work looks at.
//!
//! The first one asks: what was begun is brought to a clean stop and can be finished later. The second
//! one insists and ends the program at once; the log is made for that as well.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Context as _;
use signal_hook::consts::TERM_SIGNALS;
use signal_hook::flag;

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
