//! `watch_meeting`: finds the meeting that is being recorded and says aloud that someone listens.
//!
//! Nothing is read along before the notice has been spoken; where it cannot be, the meeting is left.

use std::path::Path;
use std::sync::{Arc, PoisonError, TryLockError};

use ambient_engine::session::{Directory, SessionDirectory, SessionId, Work, WorkLock};
use ambient_engine::settings::AssistantSettings;
use ambient_engine::view::{self, ViewError};
use ambient_engine::{AssistantAct, Clock, Cursor, LogDirectory, Mapping, ReadError};
use serde::Serialize;

use super::heartbeat::Activity;
use super::meeting::{Leaving, Meeting, keep};
use super::minutes::{Minutes, append};
use super::rendered::rendered_once;
use super::voice::{Voice, VoiceCommand, VoiceError};
use super::{Assistant, Before, Limits, Stop, Stopping, readable_lines, refused, unreadable};
use crate::call::Call;
use crate::tool::ToolError;

/// How many earlier lines are shown.
const CONTEXT_LINES: u64 = 40;
/// The tone of the notice.
const NOTICE_EMOTION: &str = "warm";
/// What to do with a meeting that is watched.
const WHAT_NEXT: &str =
    "Call wait_for_transcript now, and again after each reply, until its status is no longer live.";

/// What is said aloud before anything is heard, by an assistant of this name.
pub(super) fn notice(name: &str) -> String {
    format!("Hello everyone. An AI assistant called {name} is listening to this meeting, and may speak up.")
}

/// The reply to `watch_meeting`.
#[derive(Debug, Serialize)]
pub(crate) struct WatchReply {
    watching: String,
    you_are: String,
    notice_spoken: bool,
    recent: Vec<String>,
    limits: Limits,
    next: u64,
    what_next: &'static str,
}

impl Assistant {
    /// Watches the meeting that is being recorded, or `session` if it is that one.
    ///
    /// # Errors
    /// It is not to be watched, or the notice cannot be spoken.
    pub(crate) fn watch(
        &self,
        root: &Path,
        clock: &dyn Clock,
        call: &Call<'_>,
        session: Option<&str>,
    ) -> Result<WatchReply, ToolError> {
        call.require_beside()?;
        let _beginning = match self.beginning.try_lock() {
            Ok(turn) => turn,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                return Err(refused("Another watch_meeting is at work; wait for its reply."));
            }
        };
        let settings = self.settings_when_on()?;
        let session = live_session(root, clock, session)?;
        let before = self.attended().meeting.clone();
        if let Some(meeting) = before {
            if meeting.id() == session.id().as_str() && meeting.left().is_none() {
                return watching(&meeting, &settings, false);
            }
            meeting.leave(Leaving::OtherMeeting);
            self.forget(&meeting);
        }
        let meeting = self.begin(session, &settings, call)?;
        self.attended().meeting = Some(Arc::clone(&meeting));
        watching(&meeting, &settings, true)
    }

    /// Makes the voice ready, speaks the notice, and attends the meeting.
    fn begin(
        &self,
        session: SessionDirectory,
        settings: &AssistantSettings,
        call: &Call<'_>,
    ) -> Result<Arc<Meeting>, ToolError> {
        let command = match &settings.voice_command {
            Some(command) => VoiceCommand::parse(command).map_err(refused)?,
            None => self.voice.clone(),
        };
        let command = command.with_arguments(&self.voice_arguments);
        let minutes = Minutes::open(&session).map_err(unreadable)?;
        let (next, told) = self.where_to_begin(&session).map_err(unreadable)?;
        let voice = Voice::new(command, Arc::clone(&self.endings));
        let meeting = Arc::new(Meeting::new(session, minutes, voice, self.heartbeat(), next, told));
        self.give_notice(&meeting, &notice(&settings.name), call)?;
        Ok(meeting)
    }

    /// The first line that is still to be handed over, and up to where it is known how those before read:
    /// where this assistant left the meeting last, or its end.
    fn where_to_begin(&self, session: &SessionDirectory) -> Result<(u64, Option<Cursor>), ReadError> {
        let mut reader = session.read_log(Mapping::On)?;
        let mut snapshot = reader.snapshot()?;
        Ok(match &self.attended().before {
            Some(Before { id, next, told }) if id == session.id().as_str() => (*next, *told),
            _ => (snapshot.lines(), snapshot.cursor()?),
        })
    }

    fn give_notice(&self, meeting: &Arc<Meeting>, notice: &str, call: &Call<'_>) -> Result<(), ToolError> {
        let mut stopping = Stopping::new(call);
        let mut stop = || stopping.look().or_else(|| meeting.over(&self.switch).map(Stop::Over));
        let mut voice = meeting.voice.lock().unwrap_or_else(PoisonError::into_inner);
        call.report(0, None, "starting the voice");
        if let Err(error) = voice.make_ready(&mut stop) {
            let failed = failed_notice(&error, notice);
            // It never joined, so there is nothing to leave.
            let _ = append(&meeting.session, failed);
            return Err(not_noticed(&error));
        }
        call.report(1, None, "speaking the notice");
        append(&meeting.session, AssistantAct::Joined { notice: notice.to_owned() }).map_err(|error| {
            refused(format!("Not watching: the session's log does not take that someone listens: {error}"))
        })?;
        let attendance = meeting.attend(Activity::Speaking);
        keep(meeting, &self.switch);
        let said = voice.say(notice, NOTICE_EMOTION, |_| stop());
        drop(attendance);
        match said {
            Ok(spoken) => {
                let (text, emotion) = (notice.to_owned(), NOTICE_EMOTION.to_owned());
                let (first_audio_ms, audio_ms, took_ms) =
                    (spoken.first_audio_ms, spoken.audio_ms, spoken.took_ms);
                let spoke = AssistantAct::Spoke { text, emotion, first_audio_ms, audio_ms, took_ms };
                // It was heard, whether or not that could be written down.
                let _ = append(&meeting.session, spoke);
                Ok(())
            }
            Err(error) => {
                let _ = append(&meeting.session, failed_notice(&error, notice));
                // Whoever leaves first takes the voice, so the log says why before it says that.
                drop(voice);
                meeting.leave(match error {
                    VoiceError::Stopped(Stop::Over(why)) => why,
                    _ => Leaving::NoticeFailed,
                });
                Err(not_noticed(&error))
            }
        }
    }
}

fn failed_notice(error: &VoiceError<Stop>, notice: &str) -> AssistantAct {
    AssistantAct::Failed {
        stage: "notice".to_owned(),
        message: error.to_string(),
        text: Some(notice.to_owned()),
    }
}

fn not_noticed(error: &VoiceError<Stop>) -> ToolError {
    refused(format!(
        "Not watching: the listening notice could not be spoken, and nobody is listened to unawares. {error}. \
         Tell the user; `ambient config list` shows voice.command."
    ))
}

fn watching(
    meeting: &Meeting,
    settings: &AssistantSettings,
    notice_spoken: bool,
) -> Result<WatchReply, ToolError> {
    let next = meeting.next();
    let mut reader = meeting.session.read_log(Mapping::On).map_err(unreadable)?;
    let recent = readable_lines(&mut reader, next.saturating_sub(CONTEXT_LINES), next).map_err(unreadable)?;
    Ok(WatchReply {
        watching: meeting.id().to_owned(),
        you_are: settings.name.clone(),
        notice_spoken,
        recent: rendered_once(&recent, 0),
        limits: Limits {
            cooldown_s: settings.cooldown_s,
            max_per_meeting: settings.max_per_meeting,
            spoken: meeting.spoken().map_err(unreadable)?,
        },
        next,
        what_next: WHAT_NEXT,
    })
}

/// The session that is being recorded and can be attended.
fn live_session(root: &Path, clock: &dyn Clock, word: Option<&str>) -> Result<SessionDirectory, ToolError> {
    let live = view::status(root, clock)?.live.map(|live| live.id);
    let id = match (word, live) {
        (Some(word), _) => word.to_owned(),
        (None, Some(live)) => live,
        (None, None) => {
            return Err(refused(
                "Ambient is not recording, so there is no meeting to watch. Ask the user to start one.",
            ));
        }
    };
    let session_id = SessionId::new(&id).map_err(ViewError::from)?;
    let missing = || ToolError::from(ViewError::NoSession(id.clone()));
    let root = match Directory::open(root) {
        Ok(root) => root,
        Err(error) if error.is_missing() => return Err(missing()),
        Err(error) => return Err(ViewError::from(error).into()),
    };
    let session = SessionDirectory::open(&root, &session_id).map_err(ViewError::from)?.ok_or_else(missing)?;
    let has_log = session.directory().holds_directory(LogDirectory::NAME).map_err(ViewError::from)?;
    if has_log && !WorkLock::is_held(&session, Work::Recording).map_err(ViewError::from)? {
        return Err(refused(format!("{id} is not being recorded; only a live meeting can be watched.")));
    }
    if !has_log {
        return Err(refused(format!(
            "{id} is kept in the older layout, which has no place for what an assistant does, so it cannot be \
             watched. Follow it with `transcript`."
        )));
    }
    Ok(session)
}
