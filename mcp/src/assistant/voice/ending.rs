//! Voices that were asked to end.
//!
//! Nobody waits for them but a thread each, and whoever ends the server, so that no voice outlives it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::process::VoiceProcess;

/// How often it is looked whether a voice has ended.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Everything that is about to end.
#[derive(Debug, Default)]
pub(in crate::assistant) struct Endings {
    /// Nobody has time any more.
    is_hurried: Arc<AtomicBool>,
    waiting: Mutex<Vec<JoinHandle<()>>>,
}

impl Endings {
    /// Asks `process` to end, and makes it end when it has not within `grace`. Does not wait for either.
    pub(super) fn quit(&self, mut process: VoiceProcess, grace: Duration) {
        process.ask_to_quit();
        let deadline = Instant::now() + grace;
        let is_hurried = Arc::clone(&self.is_hurried);
        let waiting = thread::Builder::new().name("voice-quit".to_owned()).spawn(move || {
            while process.ending().is_none()
                && Instant::now() < deadline
                && !is_hurried.load(Ordering::Relaxed)
            {
                thread::sleep(LOOK_EVERY);
            }
            drop(process);
        });
        let mut all = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|earlier| !earlier.is_finished());
        // Without a thread, the process that was to be handed to it is dropped, and so killed, already.
        all.extend(waiting);
    }

    /// Waits for all of them, and after `grace` makes an end of it.
    pub(in crate::assistant) fn finish(&self, grace: Duration) {
        let waiting = std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        let deadline = Instant::now() + grace;
        while waiting.iter().any(|voice| !voice.is_finished()) && Instant::now() < deadline {
            thread::sleep(LOOK_EVERY);
        }
        self.is_hurried.store(true, Ordering::Relaxed);
        for voice in waiting {
            // A thread that panicked has dropped, and so killed, its process.
            let _ = voice.join();
        }
    }
}
