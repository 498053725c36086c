//! The voice: a program of its own that is told what to say, one JSON object a line.
//!
//! Any engine can speak that way, and none can bring the server down. It is started when it is needed and
//! started anew when it died; a line it died in the middle of is tried once more. What it says it cannot
//! do is believed. After [`FAILURES_MAX`] failures in a row it is left alone.

mod command;
mod ending;
mod message;
mod process;

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

pub(super) use command::VoiceCommand;
pub(super) use ending::Endings;
use message::{Heard, Told};
use process::VoiceProcess;

/// How long a voice may take to be ready: it may have to fetch its model.
const READY_MAX: Duration = Duration::from_secs(1800);
/// How long one utterance may take.
const UTTERANCE_MAX: Duration = Duration::from_secs(120);
/// How long it has to end after it was asked to.
const QUIT_GRACE: Duration = Duration::from_secs(3);
/// After so many failures in a row nothing more is said.
const FAILURES_MAX: u32 = 3;
/// How long it has to be silent after it was told to stop, before it is made to.
const STOP_GRACE: Duration = Duration::from_millis(500);
/// How often, while a voice is busy, it is looked whether it should go on.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// How an utterance went.
#[expect(clippy::struct_field_names, reason = "the unit is part of each name")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spoken {
    /// Milliseconds until its first sound.
    pub(super) first_audio_ms: u64,
    /// Milliseconds of sound.
    pub(super) audio_ms: u64,
    /// Milliseconds in all.
    pub(super) took_ms: u64,
}

/// Why something was not said, or not to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum VoiceError<S> {
    /// It was told to stop.
    Stopped(S),
    /// It failed too often.
    GivenUp,
    /// It failed.
    Failed(String),
}

impl<S: fmt::Display> fmt::Display for VoiceError<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stopped(why) => write!(formatter, "stopped: {why}"),
            Self::GivenUp => write!(
                formatter,
                "it failed {FAILURES_MAX} times in a row and is left alone until the next watch_meeting"
            ),
            Self::Failed(why) => formatter.write_str(why),
        }
    }
}

/// Why the voice could not be heard this time.
enum Fault<S> {
    Stopped(S),
    /// It ended: a new start may mend that.
    Died(String),
    /// It does not answer.
    Hung(String),
    /// It says that it cannot, or it cannot be started.
    Refused(String),
}

/// A voice that is started when it is needed. Dropped, it is asked to end, and made to.
#[derive(Debug)]
pub(super) struct Voice {
    command: VoiceCommand,
    endings: Arc<Endings>,
    process: Option<VoiceProcess>,
    next_id: u64,
    failures: u32,
}

impl Voice {
    /// A voice that `command` starts, and whose processes end under the eyes of `endings`.
    pub(super) fn new(command: VoiceCommand, endings: Arc<Endings>) -> Self {
        Self { command, endings, process: None, next_id: 1, failures: 0 }
    }

    /// Makes sure that it can speak, until `stop` gives a reason not to.
    ///
    /// # Errors
    /// It cannot be started, or is not to be.
    pub(super) fn make_ready<S>(&mut self, mut stop: impl FnMut() -> Option<S>) -> Result<(), VoiceError<S>> {
        if self.failures >= FAILURES_MAX {
            return Err(VoiceError::GivenUp);
        }
        let started = self.start(&mut stop);
        self.judge(started)
    }

    /// Says `text` in the tone `emotion`, until it is said or `stop` gives a reason not to go on. Then it is
    /// silent at once. `stop` is told whether it can be heard yet.
    ///
    /// # Errors
    /// It could not be said, or not to its end.
    pub(super) fn say<S>(
        &mut self,
        text: &str,
        emotion: &str,
        mut stop: impl FnMut(bool) -> Option<S>,
    ) -> Result<Spoken, VoiceError<S>> {
        if self.failures >= FAILURES_MAX {
            return Err(VoiceError::GivenUp);
        }
        let mut said = self.try_to_say(text, emotion, &mut stop);
        if matches!(said, Err(Fault::Died(_))) {
            said = self.try_to_say(text, emotion, &mut stop);
        }
        if said.is_ok() {
            self.failures = 0;
        }
        self.judge(said)
    }

    /// Asks the voice to end and gives it time to. It is started again when it is needed.
    pub(super) fn rest(&mut self) {
        if let Some(process) = self.process.take() {
            self.endings.quit(process, QUIT_GRACE);
        }
    }

    /// Ends the voice at once.
    pub(super) fn silence(&mut self) {
        self.process = None;
    }

    /// Counts what failed.
    fn judge<T, S>(&mut self, outcome: Result<T, Fault<S>>) -> Result<T, VoiceError<S>> {
        outcome.map_err(|fault| match fault {
            Fault::Stopped(why) => VoiceError::Stopped(why),
            Fault::Died(why) | Fault::Hung(why) | Fault::Refused(why) => {
                self.failures += 1;
                VoiceError::Failed(why)
            }
        })
    }

    fn start<S>(&mut self, stop: &mut impl FnMut() -> Option<S>) -> Result<(), Fault<S>> {
        if self.process.as_ref().is_some_and(|process| process.ending().is_none()) {
            return Ok(());
        }
        self.silence();
        let process = VoiceProcess::start(&self.command)
            .map_err(|error| Fault::Refused(format!("cannot start {}: {error}", self.command)))?;
        let process = self.process.insert(process);
        let deadline = Instant::now() + READY_MAX;
        let outcome = listen(process, deadline, stop, |heard| match heard {
            Heard::Ready => Some(Ok(())),
            Heard::Error { message, .. } => Some(Err(message)),
            Heard::Speaking { .. } | Heard::Done { .. } | Heard::Stopped { .. } => None,
        });
        if outcome.is_err() {
            self.silence();
        }
        outcome
    }

    fn try_to_say<S>(
        &mut self,
        text: &str,
        emotion: &str,
        stop: &mut impl FnMut(bool) -> Option<S>,
    ) -> Result<Spoken, Fault<S>> {
        self.start(&mut || stop(false))?;
        let id = self.next_id;
        self.next_id += 1;
        let Some(process) = &mut self.process else { return Err(Fault::Died("it is gone".to_owned())) };
        let outcome = speak(process, id, text, emotion, stop);
        // What it says it cannot do leaves it as it was.
        let is_usable = match outcome {
            Ok(_) | Err(Fault::Refused(_)) => true,
            Err(Fault::Stopped(_)) => has_stopped(process, id),
            Err(Fault::Died(_) | Fault::Hung(_)) => false,
        };
        if !is_usable {
            self.silence();
        }
        outcome
    }
}

impl Drop for Voice {
    fn drop(&mut self) {
        self.rest();
    }
}

fn speak<S>(
    process: &mut VoiceProcess,
    id: u64,
    text: &str,
    emotion: &str,
    stop: &mut impl FnMut(bool) -> Option<S>,
) -> Result<Spoken, Fault<S>> {
    let began = Instant::now();
    let told = process.tell(&Told::Say { id, text, emotion });
    told.map_err(|error| Fault::Died(format!("it does not listen: {error}")))?;
    let first_audio = Cell::new(None);
    let mut stop = || stop(first_audio.get().is_some());
    listen(process, began + UTTERANCE_MAX, &mut stop, |heard| match heard {
        Heard::Speaking { id: of, first_audio_ms: after_ms } if of == id => {
            first_audio.set(Some(after_ms));
            None
        }
        Heard::Done { id: of, audio_ms } if of == id => {
            let took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
            let first_audio_ms = first_audio.get().unwrap_or_else(|| took_ms.saturating_sub(audio_ms));
            Some(Ok(Spoken { first_audio_ms, audio_ms, took_ms }))
        }
        Heard::Error { id: of, message } if of.is_none_or(|of| of == id) => Some(Err(message)),
        _ => None,
    })
}

/// Tells the voice to stop, and whether it did at once. Not every voice can.
fn has_stopped(process: &mut VoiceProcess, id: u64) -> bool {
    let told_to_stop = process.tell(&Told::Stop).is_ok();
    let deadline = Instant::now() + STOP_GRACE;
    // One that talks without end of something else has not stopped either.
    let hear = || {
        let left = deadline.checked_duration_since(Instant::now())?;
        process.hear(left).ok()
    };
    told_to_stop
        && std::iter::from_fn(hear).any(|heard| match heard {
            Heard::Stopped { id: of } | Heard::Done { id: of, .. } => of == id,
            Heard::Error { id: of, .. } => of == Some(id),
            Heard::Ready | Heard::Speaking { .. } => false,
        })
}

/// Hears what the voice says until `find` has what it waits for, or there is a reason to stop.
fn listen<T, S>(
    process: &VoiceProcess,
    deadline: Instant,
    stop: &mut impl FnMut() -> Option<S>,
    mut find: impl FnMut(Heard) -> Option<Result<T, String>>,
) -> Result<T, Fault<S>> {
    loop {
        if let Some(why) = stop() {
            return Err(Fault::Stopped(why));
        }
        match process.hear(LOOK_EVERY) {
            Ok(heard) => match find(heard) {
                Some(Ok(found)) => return Ok(found),
                Some(Err(message)) => return Err(Fault::Refused(message)),
                None => {}
            },
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(Fault::Died(process.last_words())),
        }
        // Whether or not it says something: one that talks without end of other things is not heard either.
        if Instant::now() >= deadline {
            return Err(Fault::Hung("it took too long".to_owned()));
        }
    }
}

#[cfg(test)]
mod tests;
