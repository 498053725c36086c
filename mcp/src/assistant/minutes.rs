//! The session's log as the assistant uses it: what assistants did is read from it, and what this one does
//! is appended.
//!
//! The log is opened for each act and left at once: only whoever records holds it for long. Whether the
//! assistant may speak is decided under the log's lock, on everything that stands in it by then.

use ambient_engine::session::SessionDirectory;
use ambient_engine::settings::AssistantSettings;
use ambient_engine::{
    AppendError, AssistantAct, Clock, Cursor, Event, Mapping, OpenError, Options, ReadError, Reader,
    SystemClock,
};

use super::acts::Acts;
use super::echo::Span;
use super::gate::{Hold, hold};

/// What the log of one session says about assistants, kept up to date.
#[derive(Debug)]
pub(super) struct Minutes {
    reader: Reader,
    cursor: Option<Cursor>,
    acts: Acts,
    /// When the session began, in microseconds since 1970.
    began_us: Option<i64>,
}

/// Why the assistant was not allowed to speak.
#[derive(Debug)]
pub(super) enum NotClaimed {
    /// A limit.
    Held(Hold),
    /// The log; the reason for people.
    Log(String),
}

impl From<AppendError> for NotClaimed {
    fn from(error: AppendError) -> Self {
        Self::Log(error.to_string())
    }
}

impl From<OpenError> for NotClaimed {
    fn from(error: OpenError) -> Self {
        Self::Log(error.to_string())
    }
}

impl From<ReadError> for NotClaimed {
    fn from(error: ReadError) -> Self {
        Self::Log(error.to_string())
    }
}

impl Minutes {
    /// Reads what is there.
    ///
    /// # Errors
    /// The log cannot be read.
    pub(super) fn open(session: &SessionDirectory) -> Result<Self, ReadError> {
        let reader = session.read_log(Mapping::On)?;
        let mut minutes = Self { reader, cursor: None, acts: Acts::default(), began_us: None };
        minutes.follow()?;
        Ok(minutes)
    }

    /// What assistants have done up to now.
    ///
    /// # Errors
    /// The log cannot be read.
    pub(super) fn follow(&mut self) -> Result<&Acts, ReadError> {
        let mut snapshot = self.reader.snapshot()?;
        for recorded in snapshot.events_behind(self.cursor.as_ref())? {
            match recorded.event {
                Event::Opened(_) => self.began_us = self.began_us.or(Some(recorded.ts_us)),
                Event::Assistant(act) => self.acts.note(&act, recorded.ts_us),
                _ => {}
            }
        }
        self.cursor = snapshot.cursor()?;
        Ok(&self.acts)
    }

    /// When, by the wall clock, something was heard from `start_ms` to `end_ms` of the session; none where
    /// the log does not tell when that began.
    pub(super) fn span(&self, start_ms: u64, end_ms: u64) -> Option<Span> {
        let began_us = self.began_us?;
        let at = |ms| began_us.saturating_add(i64::try_from(ms).unwrap_or(i64::MAX).saturating_mul(1000));
        Some(Span { from_us: at(start_ms), until_us: at(end_ms) })
    }

    /// Appends that the assistant is about to say `text`, if `limits` allow it.
    ///
    /// # Errors
    /// They do not, or the log cannot be written. Nothing may be said then.
    pub(super) fn claim(
        &mut self,
        session: &SessionDirectory,
        limits: &AssistantSettings,
        text: &str,
        emotion: &str,
    ) -> Result<(), NotClaimed> {
        let began = AssistantAct::Began { text: text.to_owned(), emotion: emotion.to_owned() };
        session.open_log(Options::default())?.append_decided(|| {
            match hold(self.follow()?, limits, SystemClock.now_us()) {
                Some(hold) => Err(NotClaimed::Held(hold)),
                None => Ok(vec![Event::Assistant(began)]),
            }
        })?;
        Ok(())
    }
}

/// Appends what the assistant did.
///
/// # Errors
/// The log cannot be written; the reason for people.
pub(super) fn append(session: &SessionDirectory, act: AssistantAct) -> Result<(), String> {
    let mut log = session.open_log(Options::default()).map_err(|error| error.to_string())?;
    log.append(&[Event::Assistant(act)]).map_err(|error| error.to_string())?;
    Ok(())
}
