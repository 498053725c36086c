//! Transcripts that other programs wrote: subtitles and JSON.
//!
//! Read leniently, because every program writes them a little differently: what is a line is taken, and what is none
//! is named with its place in the file. Such a file says when lines begin within it and not when that was; the
//! session begins when the file was written.

mod json;
mod subtitles;

use std::time::SystemTime;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::export::ExportError;
use crate::jsonl::Imported;
use crate::session::id::{candidates, numbered};
use crate::session::{
    CreateError, Directory, DirectoryError, PartialSession, SessionDirectory, SessionId, write_derived_files,
};
use crate::view::TranscriptLine;
use crate::{
    AppendError, Change, Durability, Edit, Event, Finished, Line, Mapping, OpenError, Opened, Options, Origin,
};

/// A longer file is no transcript.
pub const TRANSCRIPT_LEN_MAX_BYTES: u64 = 256 << 20;
/// Sentences about what was skipped, at most.
const SKIPPED_MAX: usize = 100;
/// Lines of one batch.
const BATCH_LINES: usize = 1_000;
/// Who says who speaks, in a file of others: a program as far as anybody knows.
const BY: &str = "import";

/// A file could not be imported. There is no session of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TranscriptError {
    /// Nothing in it is a line.
    #[error("nothing in it is a line of a transcript; SRT, WebVTT and JSON are read")]
    NoLines,
    /// It is no text.
    #[error("it is no text in UTF-8")]
    NotText,
    /// No name for the session, or its directory cannot be made.
    #[error(transparent)]
    Create(#[from] CreateError),
    /// Something in the root cannot be used.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// The log cannot be made, or read.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The log cannot be written.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// `transcript.md` cannot be written.
    #[error(transparent)]
    Export(#[from] ExportError),
}

/// What a file of others says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TranscriptFile {
    /// Its lines, in its order.
    pub lines: Vec<TranscriptLine>,
    /// What was skipped, one sentence each, with its place in the file.
    pub skipped: Vec<String>,
    skipped_count: usize,
}

impl TranscriptFile {
    /// Reads `bytes`: SRT, `WebVTT`, or JSON as `ambient export`, Whisper and whisper.cpp write it.
    ///
    /// ```
    /// use ambient_engine::transcripts::TranscriptFile;
    /// let file = TranscriptFile::parse(b"1\n00:00:01,000 --> 00:00:02,500\nAna: hello\nall\n")?;
    /// assert_eq!((file.lines[0].start_ms, file.lines[0].text.as_str()), (1000, "hello all"));
    /// assert_eq!(file.lines[0].speaker.as_deref(), Some("Ana"));
    /// # Ok::<(), ambient_engine::transcripts::TranscriptError>(())
    /// ```
    ///
    /// # Errors
    /// It is no text, or nothing in it is a line.
    pub fn parse(bytes: &[u8]) -> Result<Self, TranscriptError> {
        let text = std::str::from_utf8(bytes).map_err(|_| TranscriptError::NotText)?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut file = Self::default();
        if text.trim_start().starts_with(['[', '{']) {
            json::read(text, &mut file);
        } else {
            subtitles::read(text, &mut file);
        }
        let more = file.skipped_count - file.skipped.len();
        if more > 0 {
            file.skipped.push(format!("and {more} more"));
        }
        if file.lines.is_empty() { Err(TranscriptError::NoLines) } else { Ok(file) }
    }

    fn skip(&mut self, why: String) {
        self.skipped_count += 1;
        if self.skipped.len() < SKIPPED_MAX {
            self.skipped.push(why);
        }
    }

    /// Makes a session called `name` of it below `root`. It begins at `written_at`. One that was made of it before is
    /// left as it is.
    ///
    /// # Errors
    /// The session cannot be made; there is nothing of it then.
    pub fn import(
        &self,
        root: Directory,
        name: &str,
        written_at: SystemTime,
        program: &str,
    ) -> Result<Imported, TranscriptError> {
        let started =
            Timestamp::try_from(written_at).unwrap_or_default().to_zoned_datetime(TimeZone::system());
        let minute = started.datetime();
        if let Some(id) = candidates(minute, Some(name)).next() {
            if let Some(there) = self.imported_before(&root, &id)? {
                return Ok(there);
            }
        }
        let partial = PartialSession::begin(root, minute, Some(name))?;
        let started_at = started.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string();
        let built = self.build(partial.session(), name, &started_at, program);
        if let Err(error) = built {
            // Best effort: what is left is never listed, and begun anew by the next import.
            let _ = partial.discard();
            return Err(error);
        }
        let shown = partial.finish()?;
        Ok(Imported { was_native: false, ..self.imported(&shown) })
    }

    fn build(
        &self,
        session: &SessionDirectory,
        name: &str,
        started_at: &str,
        program: &str,
    ) -> Result<(), TranscriptError> {
        let mut log = session.create_log(Options { durability: Durability::Os, ..Options::default() })?;
        log.append(&[Event::Opened(Opened {
            id: session.id().to_string(),
            name: Some(name.to_owned()),
            started_at: started_at.to_owned(),
            origin: Origin::Imported,
            program: program.to_owned(),
            tracks: Vec::new(),
        })])?;
        for batch in self.lines.chunks(BATCH_LINES) {
            log.append(&batch.iter().map(heard).collect::<Vec<_>>())?;
        }
        let named = (0..).zip(&self.lines).filter_map(|(line, said)| {
            let change = Change::Speaker { name: said.speaker.clone()? };
            Some(Event::Edit(Edit { line, by: BY.to_owned(), change }))
        });
        for batch in named.collect::<Vec<_>>().chunks(BATCH_LINES) {
            log.append(batch)?;
        }
        log.append(&[Event::Finished(Finished { at: started_at.to_owned(), warnings: Vec::new() })])?;
        log.flush()?;
        log.close()?;
        Ok(write_derived_files(session)?)
    }

    fn imported(&self, session: &SessionDirectory) -> Imported {
        Imported {
            id: session.id().to_string(),
            directory: session.directory().path().to_owned(),
            was_native: true,
            lines: self.lines.len() as u64,
            edits: self.lines.iter().filter(|line| line.speaker.is_some()).count() as u64,
            warnings: self.skipped.clone(),
        }
    }

    /// The session that was made of it before: one of that name with the same lines as they were heard.
    fn imported_before(&self, root: &Directory, id: &SessionId) -> Result<Option<Imported>, TranscriptError> {
        for id in numbered(id) {
            let Some(session) = SessionDirectory::open(root, &id)? else { return Ok(None) };
            // One that cannot be read is not known to be this one.
            let Ok(mut reader) = session.read_log(Mapping::On) else { continue };
            let Ok(heard) = reader.snapshot().and_then(|mut snapshot| snapshot.verbatim(..)) else {
                continue;
            };
            let is_same = |(said, heard): (&TranscriptLine, Line)| {
                said.text == heard.text && said.start_ms == heard.start_ms && said.end_ms == heard.end_ms
            };
            if heard.len() == self.lines.len()
                && self.lines.iter().zip(heard.into_iter().map(|heard| heard.line)).all(is_same)
            {
                return Ok(Some(self.imported(&session)));
            }
        }
        Ok(None)
    }
}

fn heard(said: &TranscriptLine) -> Event {
    Event::Line(Line {
        track: said.track,
        start_ms: said.start_ms,
        end_ms: said.end_ms,
        text: said.text.clone(),
        confidence: 0.0,
        language: None,
        generation: 0,
        audio: None,
        overlap: false,
    })
}
