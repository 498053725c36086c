//! A session opened to be written in another form.

use super::LinesByClock;
use crate::jsonl::{JsonlReader, session as jsonl};
use crate::session::native::{self, holds_log};
use crate::session::{PersonState, SessionDirectory, SessionMetadata};
use crate::view::ViewError;
use crate::{Clock, Mapping, Reader};

/// A session opened to be written in another form: what it says of itself, and its lines.
#[derive(Debug)]
pub struct ExportSource {
    /// The session's id.
    pub id: String,
    /// What it is doing.
    pub state: PersonState,
    /// Its description, as far as there is one.
    pub metadata: Option<SessionMetadata>,
    /// What could not be used, one sentence each, with file and line number. Reading the lines may add to it.
    pub warnings: Vec<String>,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Log(Box<Reader>),
    Jsonl(Box<JsonlReader>),
}

impl ExportSource {
    /// Opens `session`, in either layout.
    ///
    /// # Errors
    /// Nothing of it can be read.
    pub fn open(session: &SessionDirectory, clock: &dyn Clock) -> Result<Self, ViewError> {
        let mut warnings = Vec::new();
        let id = session.id().to_string();
        if holds_log(session.directory())? {
            let mut reader = session.read_log(Mapping::On)?;
            let (state, metadata) = native::standing(session, &mut reader, &mut warnings);
            return Ok(Self { id, state, metadata, warnings, content: Content::Log(Box::new(reader)) });
        }
        let (reader, state, metadata) = jsonl::opened(session, clock, &mut warnings)?;
        Ok(Self { id, state, metadata, warnings, content: Content::Jsonl(Box::new(reader)) })
    }

    /// Its lines as they read now.
    ///
    /// # Errors
    /// They cannot be read. A damaged line costs itself and is told in the warnings.
    pub fn lines(&mut self) -> Result<LinesByClock<'_>, ViewError> {
        match &mut self.content {
            Content::Log(reader) => {
                self.warnings.extend(reader.damage());
                LinesByClock::of_log(reader.snapshot()?, &mut self.warnings)
            }
            Content::Jsonl(reader) => Ok(LinesByClock::of_jsonl(reader)),
        }
    }
}
