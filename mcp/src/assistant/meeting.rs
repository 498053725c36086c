//! One meeting that this process attends: from the notice to leaving it.
//!
//! It is left once, for one reason, by whoever notices first: a call, the keeper, the end of the server.
//! Leaving silences the voice, is written to the session's log and takes the sign back.

use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use ambient_engine::session::{SessionDirectory, Work, WorkLock, write_derived_files};
use ambient_engine::{AssistantAct, Cursor, ReadError};

use super::heartbeat::{Activity, Heartbeat};
use super::loudness::{Levels, Loudness};
use super::minutes::{Minutes, append};
use super::switch::Switch;
use super::voice::Voice;

/// How long after the last call the assistant still counts as there.
const ATTENTION: Duration = Duration::from_secs(180);
/// How often the sign is given, and it is looked whether the meeting goes on.
const BEAT_EVERY: Duration = Duration::from_secs(2);

/// Why a meeting was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leaving {
    /// Someone turned the assistant off.
    TurnedOff,
    /// The recording ended.
    Ended,
    /// The agent called `stop_watching`.
    Stopped,
    /// The agent watches another meeting.
    OtherMeeting,
    /// Nobody could be told that it listens.
    NoticeFailed,
    /// The server ends.
    ServerStopped,
}

impl fmt::Display for Leaving {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::TurnedOff => "the assistant was turned off",
            Self::Ended => "the meeting ended",
            Self::Stopped => "the agent stopped watching",
            Self::OtherMeeting => "a new meeting was watched",
            Self::NoticeFailed => "the notice could not be spoken",
            Self::ServerStopped => "the MCP server stopped",
        })
    }
}

/// A meeting.
#[derive(Debug)]
pub(super) struct Meeting {
    pub(super) session: SessionDirectory,
    pub(super) voice: Mutex<Voice>,
    minutes: Mutex<Minutes>,
    loudness: Mutex<Loudness>,
    heartbeat: Option<Heartbeat>,
    state: Mutex<State>,
    left: Condvar,
    /// Held by whoever leaves.
    leaving: Mutex<()>,
}

#[derive(Debug)]
struct State {
    /// The first line that has not been handed over.
    next: u64,
    /// Up to where the log says how the others read.
    told: Option<Cursor>,
    last_call: Instant,
    /// Calls that are being worked on.
    calls: u32,
    activity: Activity,
    left: Option<Leaving>,
}

impl Meeting {
    /// The meeting in `session`, read along from line `next` on; how the lines before read is known up to
    /// `told`.
    pub(super) fn new(
        session: SessionDirectory,
        minutes: Minutes,
        voice: Voice,
        heartbeat: Option<Heartbeat>,
        next: u64,
        told: Option<Cursor>,
    ) -> Self {
        let (last_call, activity) = (Instant::now(), Activity::Listening);
        let state = State { next, told, last_call, calls: 0, activity, left: None };
        Self {
            session,
            voice: Mutex::new(voice),
            minutes: Mutex::new(minutes),
            loudness: Mutex::default(),
            heartbeat,
            state: Mutex::new(state),
            left: Condvar::new(),
            leaving: Mutex::new(()),
        }
    }

    /// The session's id.
    pub(super) fn id(&self) -> &str {
        self.session.id().as_str()
    }

    /// What the log tells about assistants.
    pub(super) fn minutes(&self) -> MutexGuard<'_, Minutes> {
        self.minutes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How loud it has been lately.
    pub(super) fn loudness(&self) -> MutexGuard<'_, Loudness> {
        self.loudness.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How often assistants have spoken in it.
    ///
    /// # Errors
    /// The log cannot be read.
    pub(super) fn spoken(&self) -> Result<u32, ReadError> {
        Ok(self.minutes().follow()?.spoken)
    }

    /// The first line that has not been handed over.
    pub(super) fn next(&self) -> u64 {
        self.state().next
    }

    /// Up to where the log says how those before it read.
    pub(super) fn told(&self) -> Option<Cursor> {
        self.state().told
    }

    /// Notes that the lines before `next` have been handed over, and how they read up to `told`.
    pub(super) fn hand_over_to(&self, next: u64, told: Option<Cursor>) {
        let mut state = self.state();
        state.next = state.next.max(next);
        state.told = told;
    }

    /// Why it was left, if it was.
    pub(super) fn left(&self) -> Option<Leaving> {
        self.state().left
    }

    /// Whether it is still being recorded. Where nobody can tell, it is.
    pub(super) fn is_live(&self) -> bool {
        WorkLock::is_held(&self.session, Work::Recording).unwrap_or(true)
    }

    /// Why it should be left, if it should: it was, it is over, or the assistant is off.
    pub(super) fn over(&self, switch: &Switch) -> Option<Leaving> {
        let left = self.left();
        left.or_else(|| (!self.is_live()).then_some(Leaving::Ended))
            .or_else(|| switch.look().is_err().then_some(Leaving::TurnedOff))
    }

    /// Notes that a call is being worked on, until what is returned is dropped.
    pub(super) fn attend(&self, activity: Activity) -> Attendance<'_> {
        let mut state = self.state();
        state.calls += 1;
        if activity == Activity::Speaking {
            state.activity = activity;
        }
        drop(state);
        self.beat();
        Attendance { meeting: self, activity }
    }

    /// Gives the sign, unless the meeting was left. False: nobody has called for so long that there is none
    /// to give.
    fn beat(&self) -> bool {
        let Some(heartbeat) = &self.heartbeat else { return true };
        // Held meanwhile, so that no sign is given behind leaving.
        let state = self.state();
        if state.left.is_some() {
            return true;
        }
        let is_there = state.calls > 0 || state.last_call.elapsed() < ATTENTION;
        if is_there {
            heartbeat.beat(self.id(), state.activity);
        } else {
            heartbeat.stop();
        }
        is_there
    }

    /// Leaves it, unless it was left before. Whoever is speaking stops. When this returns, it has been left.
    pub(super) fn leave(&self, why: Leaving) {
        let _turn = self.leaving.lock().unwrap_or_else(PoisonError::into_inner);
        {
            let mut state = self.state();
            if state.left.is_some() {
                return;
            }
            state.left = Some(why);
        }
        self.left.notify_all();
        self.voice.lock().unwrap_or_else(PoisonError::into_inner).rest();
        let spoke = self.spoken().unwrap_or(0);
        // A log that cannot be written keeps nobody from leaving.
        let _ = append(&self.session, AssistantAct::Left { why: why.to_string(), spoke });
        if let Some(heartbeat) = &self.heartbeat {
            heartbeat.stop();
        }
        if why == Leaving::Ended {
            self.renew_derived_files();
        }
    }

    /// What was derived from the log when the recording ended names an event that is no longer the last.
    fn renew_derived_files(&self) {
        if self.session.directory().holds_file("session.json").unwrap_or(false) {
            // They are caches: whoever needs them computes them again.
            let _ = write_derived_files(&self.session);
        }
    }
}

/// A call that is being worked on.
#[derive(Debug)]
pub(super) struct Attendance<'a> {
    meeting: &'a Meeting,
    activity: Activity,
}

impl Drop for Attendance<'_> {
    fn drop(&mut self) {
        let mut state = self.meeting.state();
        state.calls = state.calls.saturating_sub(1);
        state.last_call = Instant::now();
        if self.activity == Activity::Speaking {
            state.activity = Activity::Listening;
        }
        drop(state);
        self.meeting.beat();
    }
}

/// Keeps an eye on a meeting between calls, on a thread of its own, until it is left: gives the sign, leaves
/// when it is over or the assistant is turned off, learns how loud its pauses are, and lets the voice rest when nobody calls any more.
pub(super) fn keep(meeting: &Arc<Meeting>, switch: &Switch) {
    let (meeting, switch) = (Arc::clone(meeting), switch.clone());
    let keeping = move || {
        let mut is_resting = false;
        loop {
            let state = meeting.state();
            let goes_on = |state: &mut State| state.left.is_none();
            let waited = meeting.left.wait_timeout_while(state, BEAT_EVERY, goes_on);
            let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
            let was_left = state.left.is_some();
            drop(state);
            if was_left {
                return;
            }
            if let Some(why) = meeting.over(&switch) {
                return meeting.leave(why);
            }
            if let Some(levels) = Levels::read(&meeting.session) {
                meeting.loudness().note(&levels);
            }
            let is_there = meeting.beat();
            if !is_there && !is_resting {
                meeting.voice.lock().unwrap_or_else(PoisonError::into_inner).rest();
            }
            is_resting = !is_there;
        }
    };
    // Without it the sign is given by calls alone, and they notice the end of the meeting themselves.
    let _ = thread::Builder::new().name("meeting".to_owned()).spawn(keeping);
}
