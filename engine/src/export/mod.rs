//! A session as a file for people and other programs.
//!
//! From lines to text, without a clock, a disk or a terminal, so that the same session gives the same bytes
//! everywhere: UTF-8 without a mark in front, lines ended by LF. What was said cannot break the form: line breaks
//! in it become spaces, and what a format reads as its own mark is written so that it does not. Lines are gone
//! through where they lie and are not held.

pub mod bleed;
mod comma_separated;
mod cues;
mod description;
mod file_name;
mod format;
mod jsonl;
mod lines;
mod markdown;
mod plain;
mod source;
mod times;

use std::borrow::Cow;
use std::io::{self, Write};

pub use file_name::file_name;
pub use format::{ExportFormat, UnknownFormat};
pub use jsonl::{JsonlFiles, JsonlWriteError, jsonl};
pub use lines::{LinesByClock, SpokenLine};
pub use source::ExportSource;

use crate::session::{DirectoryError, SessionMetadata};
use crate::view::ViewError;
use crate::{OpenError, ReadError};

/// A session could not be written in another form.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The session cannot be read.
    #[error("{0}")]
    Read(#[from] ViewError),
    /// What it is written to does not take it.
    #[error("cannot write: {0}")]
    Write(#[from] io::Error),
    /// The file cannot be put in place.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
}

impl From<ReadError> for ExportError {
    fn from(error: ReadError) -> Self {
        Self::Read(error.into())
    }
}

impl From<OpenError> for ExportError {
    fn from(error: OpenError) -> Self {
        Self::Read(error.into())
    }
}

/// What a session is called.
#[derive(Clone, Copy, Debug, Default)]
pub struct Title<'a> {
    /// Its id.
    pub id: &'a str,
    /// Its description, as far as there is one.
    pub metadata: Option<&'a SessionMetadata>,
}

/// Writes `lines` in `format` to `out`. The title is shown where the format has a place for it.
///
/// ```
/// use ambient_engine::export::{ExportFormat, LinesByClock, Title, write};
/// use ambient_engine::{Track, view::TranscriptLine};
/// let said = [TranscriptLine {
///     track: Track::Room,
///     start_ms: 0,
///     end_ms: 1500,
///     speaker: Some("Ana".into()),
///     text: "hello".into(),
/// }];
/// let mut text = Vec::new();
/// write(ExportFormat::Text, Title::default(), &mut LinesByClock::of(&said), &mut text)?;
/// assert_eq!(text, b"Ana: hello\n");
/// # Ok::<(), ambient_engine::export::ExportError>(())
/// ```
///
/// # Errors
/// The lines cannot be read, or `out` fails.
pub fn write(
    format: ExportFormat,
    title: Title<'_>,
    lines: &mut LinesByClock<'_>,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    match format {
        ExportFormat::Markdown => markdown::markdown(title.metadata, lines, out),
        ExportFormat::Assistant => markdown::assistant(title, lines, out),
        ExportFormat::Text => plain::text(lines, out),
        ExportFormat::Json => plain::json(lines, out),
        ExportFormat::Srt => cues::srt(lines, out),
        ExportFormat::Vtt => cues::vtt(lines, out),
        ExportFormat::Csv => comma_separated::csv(lines, out),
    }
}

/// `text` as one line: ends trimmed, and every run of white space and control characters one space.
fn on_one_line(text: &str) -> Cow<'_, str> {
    let is_one = text.bytes().all(|byte| (b' '..0x7f).contains(&byte))
        && !text.contains("  ")
        && !text.starts_with(' ')
        && !text.ends_with(' ');
    if is_one {
        return Cow::Borrowed(text);
    }
    let is_gap = |character: char| character.is_whitespace() || character.is_control();
    Cow::Owned(text.split(is_gap).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" "))
}

/// Who spoke, when something has named them.
fn speaker<'text>(line: &SpokenLine<'text>) -> Option<Cow<'text, str>> {
    line.speaker.map(on_one_line).filter(|name| !name.is_empty())
}

/// `Name: text`, or the text alone.
fn attributed<'text>(line: &SpokenLine<'text>) -> Cow<'text, str> {
    let text = on_one_line(line.text);
    match speaker(line) {
        Some(name) => Cow::Owned(format!("{name}: {text}")),
        None => text,
    }
}

/// What `write` gives, as text.
#[cfg(test)]
fn written(
    format: ExportFormat,
    lines: &[crate::view::TranscriptLine],
    metadata: Option<&SessionMetadata>,
) -> String {
    let mut bytes = Vec::new();
    let title = Title { id: "2026-09-05T1412", metadata };
    write(format, title, &mut LinesByClock::of(lines), &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}
