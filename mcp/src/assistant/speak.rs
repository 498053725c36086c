//! `speak`: says something in the meeting, if it may.
//!
//! Checked from what costs nothing to what does: the words, the switch, the meeting, the gate, the voice. The
//! gate is passed by appending to the session's log that the assistant begins; how it went is appended after.
//! It waits for a moment in which nobody talks, and for that not for ever. While it speaks it is looked ten
//! times a second whether it still may, and whether somebody talks into it.

use std::sync::{Arc, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use ambient_engine::settings::AssistantSettings;
use ambient_engine::{AssistantAct, Clock, SystemClock};
use serde::Serialize;

use super::barge_in::BargeIn;
use super::gate::{self, Hold};
use super::heartbeat::Activity;
use super::loudness::{LULL_MAX, Levels, Lull};
use super::meeting::{Leaving, Meeting};
use super::minutes::{NotClaimed, append};
use super::voice::{Spoken, VoiceError};
use super::{Assistant, Stop, Stopping, refused, unreadable};
use crate::call::Call;
use crate::tool::ToolError;

/// The most characters that are said at once.
pub(crate) const TEXT_MAX_CHARS: usize = 600;
/// The tones there are; the first is the usual one.
pub(crate) const EMOTIONS: [&str; 6] = ["neutral", "warm", "amused", "excited", "apologetic", "concerned"];

/// How often it is looked whether a moment has come in which nobody talks.
const LULL_LOOK_EVERY: Duration = Duration::from_millis(100);

/// The reply to `speak`.
#[derive(Debug, Serialize)]
pub(crate) struct SpeakReply {
    said: String,
    audio_s: f64,
    may_still_speak: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl Assistant {
    /// Says `text` in the tone `emotion`.
    ///
    /// # Errors
    /// It was not said, or not to its end.
    pub(crate) fn speak(
        &self,
        call: &Call<'_>,
        text: &str,
        emotion: Option<&str>,
    ) -> Result<SpeakReply, ToolError> {
        let text = text.trim();
        let emotion = emotion.unwrap_or(EMOTIONS[0]);
        check(text, emotion)?;
        call.require_beside()?;
        let settings = self.settings_when_on()?;
        let meeting = self.meeting()?;
        if let Some(why) = meeting.over(&self.switch) {
            meeting.leave(why);
            return Err(not_said_because_over(why));
        }
        let attendance = meeting.attend(Activity::Speaking);
        let outcome = self.say(call, &meeting, &settings, text, emotion);
        drop(attendance);
        match outcome {
            Err(VoiceError::Stopped(Stop::Over(why))) => {
                meeting.leave(why);
                Err(not_said_because_over(why))
            }
            Err(VoiceError::Stopped(Stop::Interrupted)) => Err(refused(
                "Not said to its end: somebody began to talk. Listen to them; do not say it again unless they ask.",
            )),
            Err(VoiceError::Stopped(why)) => Err(refused(format!("Not said to its end: {why}."))),
            Err(error) => Err(refused(format!("The voice failed, so this was not heard: {error}"))),
            Ok(said) => said,
        }
    }

    /// Passes the gate and speaks. The inner error is a refusal before anything could be heard.
    fn say(
        &self,
        call: &Call<'_>,
        meeting: &Arc<Meeting>,
        settings: &AssistantSettings,
        text: &str,
        emotion: &str,
    ) -> Result<Result<SpeakReply, ToolError>, VoiceError<Stop>> {
        let mut voice = match meeting.voice.try_lock() {
            Ok(voice) => voice,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(Err(held(Hold::Speaking))),
        };
        // Asked before the voice is started; decided under the log's lock once it can speak.
        let hold = meeting.minutes().follow().map(|acts| gate::hold(acts, settings, SystemClock.now_us()));
        match hold {
            Ok(None) => {}
            Ok(Some(hold)) => return Ok(Err(held(hold))),
            Err(error) => return Ok(Err(unreadable(error))),
        }
        let mut stopping = Stopping::new(call);
        let mut stop = || stopping.look().or_else(|| meeting.over(&self.switch).map(Stop::Over));
        voice.make_ready(&mut stop)?;
        call.report(0, None, "waiting for a pause");
        if !lull_comes(meeting, &mut stop)? {
            return Ok(Err(refused(format!(
                "Not said: people have been talking for {} s without a pause. Keep listening.",
                LULL_MAX.as_secs()
            ))));
        }
        match meeting.minutes().claim(&meeting.session, settings, text, emotion) {
            Ok(()) => {}
            Err(NotClaimed::Held(hold)) => return Ok(Err(held(hold))),
            Err(NotClaimed::Log(error)) => {
                return Ok(Err(refused(format!(
                    "Not said: the session's log does not take it, so nobody could count it: {error}"
                ))));
            }
        }
        call.report(1, None, "speaking");
        let mut barge_in = BargeIn::new(meeting, text);
        let spoken = voice.say(text, emotion, |is_audible| {
            let is_interrupted =
                || barge_in.is_heard(is_audible, SystemClock.now_us()).then_some(Stop::Interrupted);
            stop().or_else(is_interrupted)
        });
        let noted = append(&meeting.session, act(&spoken, text, emotion));
        spoken.map(|spoken| said(meeting, settings, text, spoken, noted.err()))
    }
}

/// Waits for a moment in which nobody talks, until `stop` gives a reason not to; false if none comes.
fn lull_comes(meeting: &Meeting, stop: &mut impl FnMut() -> Option<Stop>) -> Result<bool, VoiceError<Stop>> {
    let (began, mut lull) = (Instant::now(), Lull::default());
    loop {
        if let Some(why) = stop() {
            return Err(VoiceError::Stopped(why));
        }
        let levels = Levels::read(&meeting.session);
        if let Some(has_come) = lull.look(&mut meeting.loudness(), levels.as_ref(), began.elapsed()) {
            return Ok(has_come);
        }
        thread::sleep(LULL_LOOK_EVERY);
    }
}

/// What is written down of an utterance.
fn act(spoken: &Result<Spoken, VoiceError<Stop>>, text: &str, emotion: &str) -> AssistantAct {
    match spoken {
        Ok(Spoken { first_audio_ms, audio_ms, took_ms }) => AssistantAct::Spoke {
            text: text.to_owned(),
            emotion: emotion.to_owned(),
            first_audio_ms: *first_audio_ms,
            audio_ms: *audio_ms,
            took_ms: *took_ms,
        },
        Err(error) => AssistantAct::Failed {
            stage: "voice".to_owned(),
            message: error.to_string(),
            text: Some(text.to_owned()),
        },
    }
}

fn said(
    meeting: &Meeting,
    settings: &AssistantSettings,
    text: &str,
    spoken: Spoken,
    unnoted: Option<String>,
) -> Result<SpeakReply, ToolError> {
    let may_still_speak = gate::left(meeting.minutes().follow().map_err(unreadable)?, settings);
    #[expect(clippy::cast_precision_loss, reason = "an utterance is minutes long at most")]
    let audio_s = spoken.audio_ms as f64 / 1000.0;
    let note = unnoted.map(|error| format!("It was heard, but the session's log does not say so: {error}"));
    Ok(SpeakReply { said: text.to_owned(), audio_s, may_still_speak, note })
}

/// Whether something can be said at all.
fn check(text: &str, emotion: &str) -> Result<(), ToolError> {
    let count = text.chars().count();
    if count == 0 {
        return Err(refused("Nothing to say: `text` is empty."));
    }
    if count > TEXT_MAX_CHARS {
        return Err(refused(format!(
            "Too long to say in a meeting ({count} characters; the most is {TEXT_MAX_CHARS}). Say the one thing \
             that matters."
        )));
    }
    if !EMOTIONS.contains(&emotion) {
        let shown: String = emotion.chars().take(40).collect();
        return Err(refused(format!("Unknown emotion {shown:?}; use one of {}.", EMOTIONS.join(", "))));
    }
    Ok(())
}

fn held(hold: Hold) -> ToolError {
    refused(format!("Not said: {hold}. Keep listening."))
}

fn not_said_because_over(why: Leaving) -> ToolError {
    refused(match why {
        Leaving::TurnedOff => {
            "Not said to its end: the assistant was turned off. Stop here, and do not watch again unless the user asks."
                .to_owned()
        }
        Leaving::Ended => "Not said: the meeting has ended. Call wait_for_transcript for its last lines.".to_owned(),
        other => format!("Not said to its end: {other}."),
    })
}
