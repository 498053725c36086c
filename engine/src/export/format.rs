//! The forms in which a session can be written, and the words they are asked for by.

use std::fmt;
use std::str::FromStr;

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
    /// For an assistant: the markdown without its front matter, and where to read on.
    Assistant,
    /// A table, one row a turn.
    Csv,
}

/// A word that names no format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a format; use markdown, text, json, srt, vtt, assistant or csv")]
pub struct UnknownFormat(pub String);

impl ExportFormat {
    /// Every format.
    pub const ALL: [Self; 7] =
        [Self::Markdown, Self::Text, Self::Json, Self::Srt, Self::Vtt, Self::Assistant, Self::Csv];

    /// The word by which it is asked for.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Markdown => "markdown",
            Self::Text => "text",
            Self::Json => "json",
            Self::Srt => "srt",
            Self::Vtt => "vtt",
            Self::Assistant => "assistant",
            Self::Csv => "csv",
        }
    }

    /// The ending of its files, without the dot in front.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::Text => "txt",
            Self::Json => "json",
            Self::Srt => "srt",
            Self::Vtt => "vtt",
            Self::Assistant => "assistant.md",
            Self::Csv => "csv",
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
