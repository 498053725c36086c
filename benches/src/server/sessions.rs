//! The sessions that are served: a short finished one, and a long one that is being recorded.

use std::path::{Path, PathBuf};

use ambient_engine::session::{Directory, SessionDirectory, SessionId, Work, WorkLock};
use ambient_engine::{Event, Log, Opened, Options, Origin};
use anyhow::{Context, Result};

use crate::workload::Conversation;

/// Lines of the short session.
pub(super) const SHORT_LINES: u64 = 1_000;
/// Lines of the long one, before more are appended.
pub(super) const LONG_LINES: u64 = 1_000_000;
pub(super) const SHORT_ID: &str = "2026-09-05T1412";
pub(super) const LONG_ID: &str = "2026-09-06T1412";
/// Lines that are appended at a time while a session is filled.
const BATCH_LINES: u64 = 1_000;

/// A folder with both, and settings by which an assistant may listen.
pub(super) struct Sessions {
    folder: tempfile::TempDir,
    /// The log of the long session, as its recorder has it.
    pub(super) recorder: Log,
    conversation: Conversation,
    _recording: WorkLock,
}

impl Sessions {
    /// Fills both on the disk that holds `directory`.
    pub(super) fn fill(directory: &Path) -> Result<Self> {
        let folder = tempfile::tempdir_in(directory)?;
        let root = folder.path().join("sessions");
        std::fs::create_dir(&root)?;
        std::fs::write(folder.path().join("config.json"), r#"{"assistant":{"enabled":true}}"#)?;
        let (_, short) = begin(&root, SHORT_ID, SHORT_LINES, &mut Conversation::default())?;
        short.close()?;
        let mut conversation = Conversation::default();
        let (session, recorder) = begin(&root, LONG_ID, LONG_LINES, &mut conversation)?;
        let recording = WorkLock::hold(&session, Work::Recording)?;
        Ok(Self { folder, recorder, conversation, _recording: recording })
    }

    /// The folder of the sessions.
    pub(super) fn root(&self) -> PathBuf {
        self.folder.path().join("sessions")
    }

    /// The settings for a server.
    pub(super) fn settings(&self) -> PathBuf {
        self.folder.path().join("config.json")
    }

    /// The recorder appends a line, as durably as recorders do.
    pub(super) fn append_line(&mut self) -> Result<()> {
        self.recorder.append(&self.conversation.next_line())?;
        Ok(())
    }
}

fn begin(
    root: &Path,
    id: &str,
    lines: u64,
    conversation: &mut Conversation,
) -> Result<(SessionDirectory, Log)> {
    std::fs::create_dir(root.join(id))?;
    let session = SessionDirectory::open(&Directory::open(root)?, &SessionId::new(id)?)?
        .context("the session that was just made is gone")?;
    let mut log = session.create_log(Options::default())?;
    log.append(&[Event::Opened(Opened {
        id: id.to_owned(),
        name: None,
        started_at: "2026-09-05T14:12:00+02:00".to_owned(),
        origin: Origin::Recorded,
        program: "a measurement".to_owned(),
        tracks: Vec::new(),
    })])?;
    while log.lines() < lines {
        let mut events = Vec::new();
        for _ in 0..BATCH_LINES.min(lines - log.lines()) {
            events.extend(conversation.next_line());
        }
        log.append(&events)?;
    }
    Ok((session, log))
}
