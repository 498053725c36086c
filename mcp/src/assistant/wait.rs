//! `wait_for_transcript`: hands over what was said, a few lines at a time.
//!
//! The lines are those of the log from the first that was not handed over; they count as handed over when
//! the reply is certain to be sent, so a wait that fails or is cancelled loses nothing. How the meeting
//! stands is looked at before the lines are, so that the last of them come with or before its end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ambient_engine::settings::AssistantSettings;
use ambient_engine::{Clock, Cursor, FoldedLine, Mapping, ReadError, Reader, SystemClock};
use serde::Serialize;

use super::batch::Batch;
use super::echo::{Utterance, is_echo, repeats};
use super::gate::hold;
use super::heartbeat::Activity;
use super::meeting::{Leaving, Meeting};
use super::rendered::rendered_anew;
use super::watch::notice;
use super::words::{is_name, says_name};
use super::{Assistant, readable_lines, refused, unreadable};
use crate::call::{Call, Waited};
use crate::in_flight::Interruption;
use crate::tool::ToolError;

/// Seconds that a wait lasts when nothing is said about it.
pub(crate) const WAIT_DEFAULT_S: u64 = 30;
/// Seconds that it lasts at most.
pub(crate) const WAIT_MAX_S: u64 = 120;
/// How often it is looked whether the assistant was turned off.
const SWITCH_EVERY: Duration = Duration::from_millis(500);
/// How many lines from before a new one may be a copy of.
const COMPARED_LINES: u64 = 20;
/// How many lines that changed are told at most, the latest of them.
const CHANGED_MAX: usize = 40;
/// How often whoever wants to hear it is told that the wait goes on.
const REPORT_EVERY_S: u64 = 5;

/// The reply to `wait_for_transcript`.
#[derive(Debug, Serialize)]
pub(crate) struct WaitReply {
    status: &'static str,
    lines: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changed: Vec<String>,
    next: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    may_speak: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    spoken: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out_as_your_own_voice: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    named_you: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    what_next: Option<&'static str>,
}

impl Assistant {
    /// Waits for what is said next, from line `since` on or from the first that was not handed over.
    ///
    /// # Errors
    /// No meeting is watched, or its log cannot be read.
    pub(crate) fn wait(
        &self,
        call: &Call<'_>,
        since: Option<u64>,
        timeout_s: Option<u64>,
    ) -> Result<WaitReply, ToolError> {
        call.require_beside()?;
        let meeting = self.meeting()?;
        let _attendance = meeting.attend(Activity::Listening);
        let timeout = Duration::from_secs(timeout_s.unwrap_or(WAIT_DEFAULT_S).clamp(1, WAIT_MAX_S));
        let mut wait = Wait::new(self, &meeting, since).map_err(unreadable)?;
        let waited = call.wait_for(timeout, |patience| {
            wait.report(call, timeout);
            wait.look(patience)
        });
        let over = match waited.map_err(unreadable)? {
            Waited::For(HandOver::End(why)) => Some(why),
            Waited::For(HandOver::Lines) | Waited::TimedOut | Waited::Interrupted(Interruption::Ending) => {
                None
            }
            Waited::Interrupted(Interruption::Cancelled) => return Err(cancelled()),
        };
        let (changed, told) = wait.changes().map_err(unreadable)?;
        let next = wait.next;
        let reply = wait.reply(changed, over)?;
        if !call.settle() {
            return Err(cancelled());
        }
        meeting.hand_over_to(next, told);
        if over.is_some() {
            self.forget(&meeting);
        }
        Ok(reply)
    }
}

/// Nobody is told.
fn cancelled() -> ToolError {
    refused("The wait was cancelled; its lines come with the next one.")
}

/// Why a wait is over before its time.
enum HandOver {
    /// There are lines enough.
    Lines,
    /// No more will come.
    End(Leaving),
}

/// One wait.
struct Wait<'a> {
    assistant: &'a Assistant,
    meeting: &'a Arc<Meeting>,
    reader: Reader,
    settings: AssistantSettings,
    batch: Batch,
    /// The first line that was to be looked at.
    first: u64,
    /// The first line that was not looked at.
    next: u64,
    began: Instant,
    /// When it was last looked whether the assistant is on.
    switch_seen: Option<Instant>,
}

impl<'a> Wait<'a> {
    fn new(
        assistant: &'a Assistant,
        meeting: &'a Arc<Meeting>,
        since: Option<u64>,
    ) -> Result<Self, ReadError> {
        let mut reader = meeting.session.read_log(Mapping::On)?;
        let lines = reader.snapshot()?.lines();
        // A line that is not there yet is not waited for.
        let next = since.unwrap_or_else(|| meeting.next()).min(lines);
        let before = readable_lines(&mut reader, next.saturating_sub(COMPARED_LINES), next)?;
        Ok(Self {
            assistant,
            meeting,
            reader,
            settings: assistant.switch.settings(),
            batch: Batch::behind(before),
            first: next,
            next,
            began: Instant::now(),
            switch_seen: None,
        })
    }

    fn report(&self, call: &Call<'_>, timeout: Duration) {
        let elapsed_s = self.began.elapsed().as_secs();
        if elapsed_s % REPORT_EVERY_S == 0 {
            call.report(elapsed_s, Some(timeout.as_secs()), "listening");
        }
    }

    /// Takes in what there is. If it is not to be handed over yet, sleeps until there is more, for `patience`
    /// at most.
    fn look(&mut self, patience: Duration) -> Result<Option<HandOver>, ReadError> {
        let over = self.over();
        self.gather(over.is_some())?;
        if let Some(why) = over {
            self.meeting.leave(why);
            return Ok(Some(HandOver::End(why)));
        }
        let due_in = self.batch.due_in(self.assistant.pace, self.began.elapsed());
        if due_in.is_some_and(|due_in| due_in.is_zero()) {
            return Ok(Some(HandOver::Lines));
        }
        self.reader.wait(due_in.map_or(patience, |due_in| due_in.min(patience)))?;
        Ok(None)
    }

    /// Why no more is to be heard.
    fn over(&mut self) -> Option<Leaving> {
        let is_due = self.switch_seen.is_none_or(|seen| seen.elapsed() >= SWITCH_EVERY);
        if is_due {
            self.switch_seen = Some(Instant::now());
            return self.meeting.over(&self.assistant.switch);
        }
        self.meeting.left().or_else(|| (!self.meeting.is_live()).then_some(Leaving::Ended))
    }

    /// Takes in the lines that have come. Those that a loss of power could still take wait until it cannot, or
    /// until the meeting is over.
    fn gather(&mut self, is_over: bool) -> Result<(), ReadError> {
        let snapshot = self.reader.snapshot()?;
        let until = if is_over { snapshot.lines() } else { snapshot.durable_lines()? };
        if self.next >= until {
            return Ok(());
        }
        let lines = readable_lines(&mut self.reader, self.next, until)?;
        let said = self.meeting.minutes().follow()?.said();
        let now = self.began.elapsed();
        for line in lines {
            if self.is_own_voice(&line, &said) {
                self.batch.leave_out(&line);
            } else {
                let name = &self.settings.name;
                let is_named = says_name(line.text(), name) && !repeats(line.text(), &notice(name));
                self.batch.add(line, is_named, now);
            }
        }
        self.batch.pass_over_copies();
        self.next = until;
        Ok(())
    }

    fn is_own_voice(&self, line: &FoldedLine, said: &[Utterance]) -> bool {
        if is_name(line.text(), &self.settings.name) {
            // The notice and the assistant say more than that.
            return false;
        }
        let spoken = self.meeting.minutes().span(line.heard.start_ms, line.heard.end_ms);
        spoken.is_some_and(|spoken| is_echo(line.text(), spoken, said))
    }

    /// How lines that were handed over before read now, for those that changed since the last reply, and up to
    /// where that is told. What is about to be handed over takes the changes in.
    fn changes(&mut self) -> Result<(Vec<String>, Option<Cursor>), ReadError> {
        let mut snapshot = self.reader.snapshot()?;
        let changes = match snapshot.changes(self.meeting.told().as_ref()) {
            // Nobody can tell what changed; what comes from here on will be told.
            Err(ReadError::CursorLost(_)) => return Ok((Vec::new(), snapshot.cursor()?)),
            changes => changes?,
        };
        for line in changes.changed.iter().chain(&changes.new) {
            self.batch.renew(line);
        }
        let earlier = changes.changed.iter().filter(|line| line.index < self.first);
        let mut told: Vec<String> = earlier.filter_map(rendered_anew).collect();
        told.drain(..told.len().saturating_sub(CHANGED_MAX));
        Ok((told, changes.cursor))
    }

    fn reply(self, changed: Vec<String>, over: Option<Leaving>) -> Result<WaitReply, ToolError> {
        let lines = self.batch.shown();
        let Batch { left_out, is_named, .. } = self.batch;
        let mut reply = WaitReply {
            status: "live",
            lines,
            changed,
            next: self.next,
            may_speak: None,
            spoken: None,
            left_out_as_your_own_voice: (!left_out.is_empty()).then_some(left_out.len()),
            left_out,
            named_you: is_named,
            what_next: None,
        };
        if let Some(why) = over {
            let (status, what_next) = told(why);
            reply.status = status;
            reply.what_next = Some(what_next);
            return Ok(reply);
        }
        let settings = self.assistant.switch.settings();
        let mut minutes = self.meeting.minutes();
        let acts = minutes.follow().map_err(unreadable)?;
        let hold = hold(acts, &settings, SystemClock.now_us());
        reply.may_speak = Some(hold.map_or_else(|| "yes".to_owned(), |hold| format!("not now: {hold}")));
        reply.spoken = Some(acts.spoken);
        Ok(reply)
    }
}

/// How the end of a meeting is told: its status, and what to do.
const fn told(why: Leaving) -> (&'static str, &'static str) {
    match why {
        Leaving::TurnedOff => {
            ("off", "The user turned the assistant off. Stop here, and do not watch again unless they ask.")
        }
        Leaving::Ended => ("ended", "The meeting is over. Sum it up in two lines and stop."),
        Leaving::Stopped | Leaving::OtherMeeting | Leaving::NoticeFailed | Leaving::ServerStopped => {
            ("stopped", "This meeting is not watched any more. Stop here.")
        }
    }
}
