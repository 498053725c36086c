//! The two sides of a conversation.
//!
//! A session has at most one of each: what the microphone heard and what the machine played.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Which of the two sound sources a line was heard on.
///
/// ```
/// use ambient_engine::Track;
/// assert_eq!(Track::Room.to_string(), "room");
/// assert_eq!("call".parse(), Ok(Track::Call));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Track {
    /// The microphone.
    Room,
    /// The system's sound: the other side of a call.
    Call,
}

impl Track {
    /// Both tracks, room first: the order in which they are listed everywhere.
    pub const ALL: [Self; 2] = [Self::Room, Self::Call];

    /// The word used in files, over MCP and on the terminal.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Room => "room",
            Self::Call => "call",
        }
    }
}

impl fmt::Display for Track {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// A word that names neither track.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a track; use room or call")]
pub struct UnknownTrack(pub String);

impl FromStr for Track {
    type Err = UnknownTrack;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|track| track.as_str() == word)
            .ok_or_else(|| UnknownTrack(word.chars().take(40).collect()))
    }
}
