//! A session as a file for people and other programs.
//!
//! Pure functions from lines to text: no clock, no disk, no terminal, so that the same session gives the
//! same bytes everywhere. What was said cannot break the form: line breaks in it become spaces, and what
//! a format reads as its own mark is written so that it does not.

pub mod bleed;
mod cues;
mod description;
mod jsonl;
mod markdown;
mod plain;
mod times;

use std::fmt;
use std::str::FromStr;

pub use jsonl::{JsonlFiles, JsonlWriteError, jsonl};

use crate::session::SessionMetadata;
use crate::view::TranscriptLine;

/// A form in which a session can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExportFormat {
    /// For reading, with a front matter; what leaked from one track into the other is left out.
    Markdown,
    /// One line a turn.
    Text,
    /// The lines as a JSON array.
    Json,
    /// Subtitles, `SubRip`.
    Srt,
    /// Subtitles, `WebVTT`.
    Vtt,
}

/// A word that names no format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a format; use markdown, text, json, srt or vtt")]
pub struct UnknownFormat(pub String);

impl ExportFormat {
    /// Every format.
    pub const ALL: [Self; 5] = [Self::Markdown, Self::Text, Self::Json, Self::Srt, Self::Vtt];

    /// The word by which it is asked for.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Markdown => "markdown",
            Self::Text => "text",
            Self::Json => "json",
            Self::Srt => "srt",
            Self::Vtt => "vtt",
        }
    }

    /// The ending of its files, without the dot.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::Text => "txt",
            Self::Json => "json",
            Self::Srt => "srt",
            Self::Vtt => "vtt",
        }
    }
}

impl fmt::Display for ExportFormat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

impl FromStr for ExportFormat {
    type Err = UnknownFormat;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|format| format.as_str() == word);
        found.ok_or_else(|| UnknownFormat(word.chars().take(40).collect()))
    }
}

/// Writes `lines`, which come by the clock, in `format`. `metadata` is shown where the format has a place
/// for it.
///
/// ```
/// use ambient_engine::export::{ExportFormat, export};
/// use ambient_engine::{Track, view::TranscriptLine};
/// let line = TranscriptLine {
///     track: Track::Room,
///     start_ms: 0,
///     end_ms: 1500,
///     speaker: Some("Ana".into()),
///     text: "hello".into(),
/// };
/// assert_eq!(export(ExportFormat::Text, &[line], None), "Ana: hello\n");
/// ```
pub fn export(format: ExportFormat, lines: &[TranscriptLine], metadata: Option<&SessionMetadata>) -> String {
    match format {
        ExportFormat::Markdown => markdown::markdown(lines, metadata),
        ExportFormat::Text => plain::text(lines),
        ExportFormat::Json => plain::json(lines),
        ExportFormat::Srt => cues::srt(lines),
        ExportFormat::Vtt => cues::vtt(lines),
    }
}

/// `text` as one line: ends trimmed, and every run of white space and control characters one space.
fn on_one_line(text: &str) -> String {
    let is_gap = |character: char| character.is_whitespace() || character.is_control();
    text.split(is_gap).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Who spoke, when something has named them.
fn speaker(line: &TranscriptLine) -> Option<String> {
    line.speaker.as_deref().map(on_one_line).filter(|name| !name.is_empty())
}

/// `Name: text`, or the text alone.
fn attributed(line: &TranscriptLine) -> String {
    let text = on_one_line(&line.text);
    match speaker(line) {
        Some(name) => format!("{name}: {text}"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_format_is_answered_with_those_there_are() {
        let error = "pdf".parse::<ExportFormat>().unwrap_err().to_string();
        for format in ExportFormat::ALL {
            assert!(error.contains(format.as_str()), "{error}");
            assert_eq!(format.to_string().parse(), Ok(format));
        }
    }
}
