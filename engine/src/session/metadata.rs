//! What `session.json` says: name, times, devices, tags.
//!
//! In the predecessor's layout the file is the source; beside a log it is derived, and can be deleted at
//! any time. The keys are the predecessor's, in its order, then ours. Keys that are missing have defaults
//! and keys that are not known are passed over, so that older and newer programs read each other's files.

use serde::{Deserialize, Deserializer, Serialize};

use super::{Directory, DirectoryError, TrackProof};

/// The file's name.
pub(crate) const METADATA_FILE: &str = "session.json";
/// A longer file is not a session's description.
pub(crate) const METADATA_LEN_MAX_BYTES: u64 = 16 << 20;

/// The description of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionMetadata {
    /// The session's id.
    pub id: String,
    /// Its name.
    pub name: Option<String>,
    /// When it started, RFC 3339 with the local offset.
    pub started_at: Option<String>,
    /// When its capture ended, RFC 3339 with the local offset.
    pub ended_at: Option<String>,
    /// How long it is, in seconds.
    pub duration_s: Option<f64>,
    /// Samples a second of the call track; 0 when there is none.
    #[serde(deserialize_with = "whole_number")]
    pub device_hz: u32,
    /// Samples a second of the room track; 0 when there is none.
    #[serde(deserialize_with = "whole_number")]
    pub mic_hz: u32,
    /// Channels of the call track's source.
    #[serde(deserialize_with = "whole_number")]
    pub channels: u32,
    /// Channels of the room track's source.
    #[serde(deserialize_with = "whole_number")]
    pub mic_channels: u32,
    /// The programs whose sound was captured; empty for all.
    pub apps: Vec<String>,
    /// The recogniser's model.
    pub model: String,
    /// What a person should know about it.
    pub warnings: Vec<String>,
    /// Its tags.
    pub tags: Vec<String>,
    /// Its notes.
    pub notes: String,
    /// Whether it is pinned.
    pub pinned: bool,
    /// `recorded`, `transcribed` or `imported`; beside a log only, as all that follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The program and version that opened it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// When every track had been turned into lines, RFC 3339 with the local offset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<String>,
    /// How many lines the log holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<u64>,
    /// What there is of each track, of a recording whose capture has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<Vec<TrackProof>>,
    /// Names the last event this was derived from; meaningless to anyone but the program that derives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
}

/// Older files hold some whole numbers as fractions.
fn whole_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let number = f64::deserialize(deserializer)?;
    if (0.0..=f64::from(u32::MAX)).contains(&number) {
        // The range was checked, and what is behind the point does not matter.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        return Ok(number.round() as u32);
    }
    Err(serde::de::Error::custom(format_args!("{number} is not a rate or a number of channels")))
}

/// `session.json` could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MetadataError {
    /// It is not the description of a session.
    #[error("session.json: {0}")]
    Malformed(#[from] serde_json::Error),
    /// It cannot be opened.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
}

impl SessionMetadata {
    /// Reads the description from `session.json`; none when there is no such file.
    ///
    /// # Errors
    /// The file is a link, is not the description of a session, or cannot be read.
    pub fn read(session: &Directory) -> Result<Option<Self>, MetadataError> {
        match session.read(METADATA_FILE, METADATA_LEN_MAX_BYTES)? {
            Some(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
            None => Ok(None),
        }
    }

    /// The bytes of `session.json`: indented, without a newline at the end.
    pub(crate) fn to_json(&self) -> String {
        // Strings, numbers and lists of strings: there is no value of these types that cannot be written.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}
