//! The word a person reads for what a session is doing.

use std::fmt;

use serde::Serialize;

use crate::view::SessionState;

/// What a session is doing, told to people: the four words of [`SessionState`], and two more where a
/// person has something to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PersonState {
    /// Being recorded.
    Live,
    /// Its audio is being turned into lines.
    Transcribing,
    /// Captured, and waiting to be turned into lines.
    Pending,
    /// Complete.
    Done,
    /// Someone began it and is gone: it can be resumed.
    Interrupted,
    /// It cannot be read.
    Broken,
}

impl PersonState {
    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Transcribing => "transcribing",
            Self::Pending => "pending",
            Self::Done => "done",
            Self::Interrupted => "interrupted",
            Self::Broken => "broken",
        }
    }
}

impl From<SessionState> for PersonState {
    fn from(state: SessionState) -> Self {
        match state {
            SessionState::Live => Self::Live,
            SessionState::Transcribing => Self::Transcribing,
            SessionState::Pending => Self::Pending,
            SessionState::Done => Self::Done,
        }
    }
}

impl fmt::Display for PersonState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}
