//! The sessions of one root, for whoever asks again and again.
//!
//! What was learned for one answer is kept for the next: a reader of a log or of files goes on where it
//! stopped, so that an answer without news costs what it takes to see that there is none, however long the
//! session is. What is kept is never believed unseen: the session's directory is opened anew each time,
//! link by link, and a reader is used again only for the very directory it was opened in.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::page::{ReadFrom, Transcript, TranscriptQuery, Wording};
use super::standing::Standings;
use super::{
    LiveSession, SessionState, SessionSummary, Status, ViewError, open_root, open_session, pages_of_jsonl,
    pages_of_log, rows,
};
use crate::jsonl::{JsonlReader, session as jsonl};
use crate::session::listing::{Found, SessionsQuery, find_session, session_ids};
use crate::session::{DirectoryIdentity, RecordingStatus, SessionDirectory, SessionId, native};
use crate::{Clock, Cursor, Mapping, Reader};

/// How many readers are kept.
const KEPT_MAX: usize = 8;
/// How much of files readers may hold in memory between answers, in bytes of the files.
const KEPT_MAX_BYTES: u64 = 64 << 20;
/// About how long a record of a file is at least, to guess how many are in one.
const RECORD_LEN_BYTES: u64 = 64;

/// The sessions below one root.
///
/// ```
/// use ambient_engine::SystemClock;
/// use ambient_engine::view::Library;
///
/// let root = tempfile::tempdir()?;
/// let library = Library::new(root.path());
/// assert_eq!(library.status(&SystemClock)?.sessions, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Library {
    root: PathBuf,
    kept: Mutex<Vec<(SessionId, Content)>>,
    standings: Mutex<Standings>,
}

/// What of a session is kept open.
#[derive(Debug)]
enum Content {
    Log(Box<OpenLog>),
    Jsonl(Box<JsonlReader>),
}

#[derive(Debug)]
struct OpenLog {
    /// The directory that the reader was opened in.
    identity: DirectoryIdentity,
    reader: Reader,
    /// What the session was doing when nobody was at work on it and its log ended here.
    idle: Option<(Option<Cursor>, SessionState)>,
}

/// A session that is open to be read.
#[derive(Debug)]
pub struct OpenSession<'a> {
    library: &'a Library,
    session: SessionDirectory,
    /// None once something went wrong with it.
    content: Option<Content>,
}

impl Library {
    /// The sessions below `root`.
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), kept: Mutex::default(), standings: Mutex::default() }
    }

    /// Where the sessions are.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The sessions that are asked for, newest first.
    ///
    /// # Errors
    /// The root exists and cannot be read; or the query names a session or moment that is none.
    pub fn sessions(
        &self,
        query: &SessionsQuery<'_>,
        clock: &dyn Clock,
    ) -> Result<Vec<SessionSummary>, ViewError> {
        let mut rows = rows(&self.root, clock)?;
        query.select(&mut rows)?;
        Ok(rows.into_iter().map(|row| row.summary).collect())
    }

    /// What is being recorded and how that goes, how many sessions wait, how many there are. A session that
    /// cannot be read is counted and does not wait.
    ///
    /// # Errors
    /// The root exists and cannot be read.
    pub fn status(&self, clock: &dyn Clock) -> Result<Status, ViewError> {
        let mut status = Status { live: None, awaiting_transcript: 0, sessions: 0, recording: None };
        let Some(root) = open_root(&self.root)? else { return Ok(status) };
        let mut standings = self.standings.lock().unwrap_or_else(PoisonError::into_inner);
        let mut live: Option<(SessionDirectory, bool)> = None;
        let ids = session_ids(&root)?;
        standings.keep_only(&ids);
        for id in ids {
            if standings.is_done(&root, &id) {
                status.sessions += 1;
                continue;
            }
            let Some(found) = find_session(&root, id, clock) else { continue };
            status.sessions += 1;
            let Found::Session(session) = found else { continue };
            let Ok(standing) = standings.look(&root, &session, clock) else { continue };
            status.awaiting_transcript += u64::from(standing.awaits_transcript);
            // With several, the one whose name comes last, which is the one begun last.
            let is_last = live.as_ref().is_none_or(|(known, _)| known.id() < session.id());
            if standing.state == SessionState::Live && is_last {
                live = Some((session, standing.has_log));
            }
        }
        if let Some((session, has_log)) = live {
            status.recording = if has_log { RecordingStatus::read(session.directory()) } else { None };
            status.live = Some(LiveSession { id: session.id().to_string() });
        }
        Ok(status)
    }

    /// Opens the session `id`.
    ///
    /// # Errors
    /// No such session, or it cannot be opened.
    pub fn open(&self, id: &str) -> Result<OpenSession<'_>, ViewError> {
        let session = open_session(&self.root, id)?;
        let kept = self.take(session.id());
        let content = match (native::log(session.directory())?, kept) {
            (Some(log), kept) => {
                let identity = log.identity()?;
                match kept {
                    Some(Content::Log(kept)) if kept.identity == identity => Content::Log(kept),
                    _ => {
                        let reader = session.read_log(Mapping::On)?;
                        Content::Log(Box::new(OpenLog { identity, reader, idle: None }))
                    }
                }
            }
            (None, Some(Content::Jsonl(reader))) => Content::Jsonl(reader),
            (None, _) => Content::Jsonl(Box::default()),
        };
        Ok(OpenSession { library: self, session, content: Some(content) })
    }

    /// What is kept of `id`. While it is in use nobody else has it.
    fn take(&self, id: &SessionId) -> Option<Content> {
        let mut kept = self.kept();
        let at = kept.iter().position(|(known, _)| known == id)?;
        Some(kept.remove(at).1)
    }

    /// Keeps `content` of `id`, and lets go of what was used longest ago.
    fn keep(&self, id: SessionId, content: Content) {
        let mut kept = self.kept();
        kept.retain(|(known, _)| *known != id);
        kept.push((id, content));
        let held_bytes = |kept: &[(SessionId, Content)]| -> u64 {
            kept.iter().map(|(_, content)| content.held_bytes()).sum()
        };
        while kept.len() > KEPT_MAX || held_bytes(&kept) > KEPT_MAX_BYTES {
            kept.remove(0);
        }
    }

    /// Whether the session `id` is kept open since it was read before, so that reading it goes on where it
    /// stopped.
    pub fn is_kept(&self, id: &str) -> bool {
        self.kept().iter().any(|(kept, _)| kept.as_str() == id)
    }

    fn kept(&self) -> MutexGuard<'_, Vec<(SessionId, Content)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Content {
    fn held_bytes(&self) -> u64 {
        match self {
            Self::Log(_) => 0,
            Self::Jsonl(reader) => reader.bytes_read(),
        }
    }
}

impl OpenSession<'_> {
    /// About how many lines an answer to `query` has to read.
    ///
    /// # Errors
    /// As [`transcript`](Self::transcript).
    pub fn lines_ahead(&mut self, query: &TranscriptQuery<'_>) -> Result<u64, ViewError> {
        let ahead = match &mut self.content {
            Some(Content::Log(log)) => {
                let mut snapshot = log.reader.snapshot()?;
                let seen = match query.from {
                    ReadFrom::Line(since) => since,
                    ReadFrom::Cursor("") => 0,
                    ReadFrom::Cursor(text) => snapshot.news(Some(&text.parse()?), 0)?.lines_before,
                };
                snapshot.lines().saturating_sub(seen)
            }
            Some(Content::Jsonl(reader)) => {
                // Reading what is new is needed for any answer, whatever its limit.
                let unread = jsonl::unread_bytes(reader, &self.session)? / RECORD_LEN_BYTES;
                let ReadFrom::Line(since) = query.from else { return Ok(unread) };
                let known = (reader.len() as u64).saturating_sub(since);
                return Ok(unread + known.min(query.limit.unwrap_or(u64::MAX)));
            }
            None => 0,
        };
        Ok(ahead.min(query.limit.unwrap_or(u64::MAX)))
    }

    /// The lines that are asked for.
    ///
    /// # Errors
    /// The session cannot be read, or does not have the cursor.
    pub fn transcript(
        mut self,
        query: TranscriptQuery<'_>,
        clock: &dyn Clock,
    ) -> Result<Transcript, ViewError> {
        let id = self.session.id().to_string();
        // What fails half-way is not used again.
        let mut content = self.content.take().unwrap_or_else(|| Content::Jsonl(Box::default()));
        // What it is doing comes first: once that says that no line will be added, the lines read next are
        // all there are.
        let transcript = match &mut content {
            Content::Log(log) => {
                let state = log.state(&self.session)?;
                pages_of_log::page(&mut log.reader, query, id, state)?
            }
            Content::Jsonl(reader) => {
                let state = jsonl::state(&self.session, clock)?;
                jsonl::refresh(reader, &self.session, query.wording != Wording::Now)?;
                pages_of_jsonl::page(reader, query, id, state)?
            }
        };
        self.content = Some(content);
        Ok(transcript)
    }
}

impl Drop for OpenSession<'_> {
    fn drop(&mut self) {
        if let Some(content) = self.content.take() {
            self.library.keep(self.session.id().clone(), content);
        }
    }
}

impl OpenLog {
    /// What the session is doing. The locks are looked at first: whoever lets go of one has written all it
    /// will before.
    fn state(&mut self, session: &SessionDirectory) -> Result<SessionState, ViewError> {
        if let Some(state) = native::work(session)? {
            return Ok(state);
        }
        let end = self.reader.snapshot()?.cursor()?;
        match self.idle {
            Some((known_end, state)) if known_end == end => Ok(state),
            _ => {
                let state = native::idle_state(session, &mut self.reader)?;
                self.idle = Some((end, state));
                Ok(state)
            }
        }
    }
}
