//! The live assistant: it says that it listens, hears what is said, and may speak when it is let.
//!
//! Off by default. What it may do is decided by the settings, read anew at each step, and by what the
//! session's log tells of assistants (`acts`, `gate`), so that limits hold across processes. What it hears
//! is the log itself: a wait is woken by the writer. Nothing counts as heard before it has been handed over.
//!
//! ```text
//! watch        finds the meeting, gives the notice          wait         gathers lines (batch, echo, words)
//! meeting      one meeting, left once                       speak        gate, claim, voice
//! minutes      what the session's log says and is told      voice        the program that speaks
//! loudness     whether somebody talks          barge_in     whether into what it says
//! switch       on or off, and the limits                    heartbeat    the sign for lookers-on
//! ```

mod acts;
mod barge_in;
mod batch;
mod echo;
mod gate;
mod heartbeat;
mod loudness;
mod meeting;
mod minutes;
mod rendered;
mod speak;
mod switch;
mod voice;
mod wait;
mod watch;
mod words;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ambient_engine::settings::AssistantSettings;
use ambient_engine::{Cursor, FoldedLine, ReadError, Reader};
use serde::Serialize;

use crate::call::Call;
use crate::in_flight::Interruption;
use crate::tool::ToolError;
use batch::Pace;
use heartbeat::Heartbeat;
use meeting::{Leaving, Meeting};
use switch::Switch;
use voice::{Endings, VoiceCommand};

pub(crate) use speak::{EMOTIONS, TEXT_MAX_CHARS};
pub(crate) use wait::{WAIT_DEFAULT_S, WAIT_MAX_S};

/// How long a voice has to end when the server does.
const ENDING_GRACE: Duration = Duration::from_secs(1);

/// The live assistant of one server. Dropped, it leaves the meeting it attends.
///
/// ```
/// use ambient_mcp::{Assistant, Server};
/// let assistant = Assistant::new("/nowhere/config.json".into(), "ambient".into(), vec!["voice-helper".into()]);
/// let server = Server::new(std::path::Path::new("/nowhere")).with_assistant(&assistant);
/// let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"watch_meeting"}}"#;
/// let reply = server.handle(call).expect("a reply").to_string();
/// assert!(reply.contains("turned off"));
/// ```
#[derive(Debug)]
pub struct Assistant {
    switch: Switch,
    /// What speaks when nothing is set.
    voice: VoiceCommand,
    /// What every voice is told when it starts.
    voice_arguments: Vec<OsString>,
    pace: Pace,
    attended: Mutex<Attended>,
    /// Held by the call that begins to watch.
    beginning: Mutex<()>,
    endings: Arc<Endings>,
}

/// Which meeting is attended.
#[derive(Debug, Default)]
struct Attended {
    meeting: Option<Arc<Meeting>>,
    /// The meeting that was left last.
    before: Option<Before>,
}

/// How far a meeting that was left had been handed over.
#[derive(Debug)]
struct Before {
    /// The session.
    id: String,
    /// Its first line that was not.
    next: u64,
    /// Up to where it was told how the others read.
    told: Option<Cursor>,
}

impl Assistant {
    /// An assistant that goes by the settings file at `settings` and, where that names no voice, speaks with
    /// the program `voice` and these arguments. Nothing is read or started before a tool is called.
    pub fn new(settings: PathBuf, voice: OsString, arguments: Vec<OsString>) -> Self {
        Self {
            switch: Switch::new(settings),
            voice: VoiceCommand::new(voice, arguments),
            voice_arguments: Vec::new(),
            pace: Pace::TALK,
            attended: Mutex::default(),
            beginning: Mutex::default(),
            endings: Arc::default(),
        }
    }

    /// The same assistant, with arguments that every voice is started with, a configured one too.
    #[must_use]
    pub fn with_voice_arguments(mut self, voice_arguments: Vec<OsString>) -> Self {
        self.voice_arguments = voice_arguments;
        self
    }

    /// The name it answers to.
    pub(crate) fn name(&self) -> String {
        self.switch.settings().name
    }

    /// Leaves the meeting that is attended, because the agent wants to.
    ///
    /// # Errors
    /// The log cannot be read.
    pub(crate) fn stop_watching(&self) -> Result<StopReply, ToolError> {
        let attended = self.attended().meeting.clone();
        let Some(meeting) = attended else { return Ok(StopReply::nothing()) };
        let was_left = meeting.left().is_some();
        meeting.leave(Leaving::Stopped);
        self.forget(&meeting);
        if was_left {
            return Ok(StopReply::nothing());
        }
        let spoken = Some(meeting.spoken().map_err(unreadable)?);
        Ok(StopReply { stopped_watching: Some(meeting.id().to_owned()), spoken, note: None })
    }

    /// What is set. Where that is that the assistant is off, the meeting is left.
    ///
    /// # Errors
    /// It is off.
    fn settings_when_on(&self) -> Result<AssistantSettings, ToolError> {
        self.switch.look().map_err(|off| {
            let attended = self.attended().meeting.clone();
            if let Some(meeting) = attended {
                meeting.leave(Leaving::TurnedOff);
            }
            refused(off.to_string())
        })
    }

    fn attended(&self) -> MutexGuard<'_, Attended> {
        self.attended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The meeting that is attended, or was until someone is told that it is over.
    ///
    /// # Errors
    /// There is none.
    fn meeting(&self) -> Result<Arc<Meeting>, ToolError> {
        let attended = self.attended().meeting.clone();
        attended.ok_or_else(|| refused("Not watching a meeting. Call watch_meeting first."))
    }

    /// Attends `meeting` no longer, but remembers how far it was handed over.
    fn forget(&self, meeting: &Arc<Meeting>) {
        let mut attended = self.attended();
        let (id, next, told) = (meeting.id().to_owned(), meeting.next(), meeting.told());
        attended.before = Some(Before { id, next, told });
        if attended.meeting.as_ref().is_some_and(|other| Arc::ptr_eq(other, meeting)) {
            attended.meeting = None;
        }
    }

    fn heartbeat(&self) -> Option<Heartbeat> {
        self.switch.folder().map(Heartbeat::new)
    }
}

impl Drop for Assistant {
    fn drop(&mut self) {
        if let Some(meeting) = self.attended().meeting.take() {
            meeting.leave(Leaving::ServerStopped);
        }
        self.endings.finish(ENDING_GRACE);
    }
}

/// The reply to `stop_watching`.
#[derive(Debug, Serialize)]
pub(crate) struct StopReply {
    stopped_watching: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    spoken: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
}

impl StopReply {
    const fn nothing() -> Self {
        Self { stopped_watching: None, spoken: None, note: Some("No meeting was being watched.") }
    }
}

/// How often it may speak, as replies tell it.
#[derive(Debug, Serialize)]
struct Limits {
    cooldown_s: u32,
    max_per_meeting: u32,
    spoken: u32,
}

/// Why something is broken off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    Cancelled,
    ServerEnds,
    /// Somebody talks into it.
    Interrupted,
    Over(Leaving),
}

impl std::fmt::Display for Stop {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Cancelled => formatter.write_str("the call was cancelled"),
            Self::ServerEnds => formatter.write_str("the server is ending"),
            Self::Interrupted => formatter.write_str("somebody began to talk"),
            Self::Over(why) => write!(formatter, "{why}"),
        }
    }
}

/// Tells when a call that makes sound should stop: at once when it was cancelled, after a moment when the
/// server ends.
struct Stopping<'a> {
    call: &'a Call<'a>,
    ending_since: Option<Instant>,
}

impl<'a> Stopping<'a> {
    const fn new(call: &'a Call<'a>) -> Self {
        Self { call, ending_since: None }
    }

    fn look(&mut self) -> Option<Stop> {
        match self.call.interruption()? {
            Interruption::Cancelled => Some(Stop::Cancelled),
            Interruption::Ending => {
                let since = self.ending_since.get_or_insert_with(Instant::now);
                (since.elapsed() >= ENDING_GRACE).then_some(Stop::ServerEnds)
            }
        }
    }
}

/// The lines from `from` up to `until` that are to be read: neither hidden nor blank.
fn readable_lines(reader: &mut Reader, from: u64, until: u64) -> Result<Vec<FoldedLine>, ReadError> {
    let mut lines = reader.snapshot()?.range(from..until)?;
    lines.retain(|line| !line.is_hidden() && !line.text().trim().is_empty());
    Ok(lines)
}

fn refused(why: impl Into<String>) -> ToolError {
    ToolError::Failed(why.into())
}

fn unreadable(error: impl std::fmt::Display) -> ToolError {
    refused(format!("The session's log cannot be read: {error}"))
}
