//! A change before it is made: [`Draft`], and the two things one can do with it.

use std::collections::BTreeMap;
use std::path::Path;

use super::{EditError, LineChange};
use crate::export::ExportError;
use crate::jsonl::state::TRANSCRIPT_FILE;
use crate::session::native::holds_log;
use crate::session::{self, SessionDirectory, SessionMetadata, Work, WorkLock, write_derived_files};
use crate::view::ViewError;
use crate::{AppendError, Edit, Event, Mapping, MetaChange, Options, PlacedEdit, Snapshot, fold};

/// A session as it is while a change is decided. Its methods look at the lines and give the edits that
/// make up the change.
#[derive(Debug)]
pub struct Draft<'session> {
    pub(super) snapshot: Snapshot<'session>,
    pub(super) directory: &'session Path,
}

/// Makes the change that `decide` gives, as one batch, and tells how each line reads that it is about.
/// Works while the session is recorded, too.
///
/// ```
/// use ambient_engine::editing::{self, Selection};
/// use ambient_engine::session::{Directory, SessionDirectory, SessionId};
/// # use ambient_engine::{Event, Line, Options, Track};
/// # let root = tempfile::tempdir()?;
/// # let id = SessionId::new("2026-03-01T0930")?;
/// # let directory = Directory::open(root.path())?;
/// # directory.create_subdirectory(&id)?;
/// let session = SessionDirectory::open(&directory, &id)?.ok_or("no such session")?;
/// # let line = Event::Line(Line {
/// #     track: Track::Call, start_ms: 0, end_ms: 900, text: "good morning".into(), confidence: 0.9,
/// #     language: None, generation: 0, audio: None, overlap: false,
/// # });
/// # session.create_log(Options::default())?.append(&[line])?;
/// let first = Selection { lines: vec![0..=0], ..Selection::default() };
/// let changes = editing::apply(&session, |draft| draft.name(&first, "Priya"))?;
/// assert_eq!(changes[0].after.speaker.as_deref(), Some("Priya"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `decide` gives one; the session has no log, or it cannot be read or appended to. Nothing was changed
/// then, but for [`EditError::Derived`].
pub fn apply(
    session: &SessionDirectory,
    decide: impl FnOnce(&mut Draft<'_>) -> Result<Vec<Edit>, EditError>,
) -> Result<Vec<LineChange>, EditError> {
    let mut changes = Vec::new();
    append(session, |draft| {
        let edits = decide(draft)?;
        changes = draft.changes(&edits)?;
        Ok(edits.into_iter().map(Event::Edit).collect())
    })?;
    Ok(changes)
}

/// Appends the events that `decide` gives as one batch, and renews what is derived from the log.
fn append(
    session: &SessionDirectory,
    decide: impl FnOnce(&mut Draft<'_>) -> Result<Vec<Event>, EditError>,
) -> Result<(), EditError> {
    require_log(session)?;
    let mut log = session.open_log(Options::default())?;
    let mut reader = session.read_log(Mapping::On)?;
    log.append_decided(|| {
        decide(&mut Draft { snapshot: reader.snapshot()?, directory: session.directory().path() })
    })?;
    log.close()?;
    renew_derived_files(session).map_err(EditError::Derived)
}

/// Changes what is said about the whole session: its name, notes, tags, whether it is kept. All of
/// `changes` come in one batch. Gives what is said about it then.
///
/// # Errors
/// As [`apply`]; a name or a tag is empty or has several lines.
pub fn describe(session: &SessionDirectory, changes: Vec<MetaChange>) -> Result<SessionMetadata, EditError> {
    for change in &changes {
        if let MetaChange::Name(Some(word)) | MetaChange::Tag(word) | MetaChange::Untag(word) = change {
            if word.trim().is_empty() {
                return Err(EditError::NotAName { name: word.clone(), why: "it is empty" });
            }
            if word.contains(char::is_control) {
                return Err(EditError::NotAName { name: word.clone(), why: "it has to be on one line" });
            }
        }
    }
    append(session, |_| Ok(changes.into_iter().map(Event::Meta).collect()))?;
    let mut reader = session.read_log(Mapping::On)?;
    session::describe(session, &mut reader).map_err(|error| EditError::Derived(error.into()))
}

/// Tells what [`apply`] would do, and does nothing.
///
/// # Errors
/// As [`apply`].
pub fn preview(
    session: &SessionDirectory,
    decide: impl FnOnce(&mut Draft<'_>) -> Result<Vec<Edit>, EditError>,
) -> Result<Vec<LineChange>, EditError> {
    require_log(session)?;
    let mut reader = session.read_log(Mapping::On)?;
    let mut draft = Draft { snapshot: reader.snapshot()?, directory: session.directory().path() };
    let edits = decide(&mut draft)?;
    if edits.is_empty() {
        return Err(AppendError::EmptyBatch.into());
    }
    draft.changes(&edits)
}

/// Fails for a session that has no log.
pub(super) fn require_log(session: &SessionDirectory) -> Result<(), EditError> {
    if holds_log(session.directory())? {
        Ok(())
    } else {
        Err(EditError::OlderLayout(session.id().to_string()))
    }
}

/// Renews `session.json` and `transcript.md` of a session that is complete, or has them. Whoever is at work on a session writes them at
/// the end.
fn renew_derived_files(session: &SessionDirectory) -> Result<(), ExportError> {
    for work in [Work::Recording, Work::Transcribing] {
        if WorkLock::is_held(session, work).map_err(ViewError::from)? {
            return Ok(());
        }
    }
    let mut reader = session.read_log(Mapping::On)?;
    let is_finished = session::describe(session, &mut reader)?.finished_at.is_some();
    if !is_finished && !session.directory().holds_file(TRANSCRIPT_FILE)? {
        return Ok(());
    }
    loop {
        reader.snapshot()?;
        write_derived_files(session)?;
        // Someone else's change may have come in between, and their files before these.
        if !reader.has_news()? {
            return Ok(());
        }
    }
}

impl Draft<'_> {
    /// How each line that `edits` are about reads before and after them.
    fn changes(&mut self, edits: &[Edit]) -> Result<Vec<LineChange>, EditError> {
        let mut of_lines: BTreeMap<u64, Vec<&Edit>> = BTreeMap::new();
        for edit in edits {
            of_lines.entry(edit.line).or_default().push(edit);
        }
        let mut changes = Vec::new();
        for (line, edits) in of_lines {
            let heard = self.snapshot.heard_line(line)?.line;
            let mut placed = self.snapshot.edits_of(line)?;
            let before = fold(line, heard.clone(), &placed);
            // Behind every place there can be: a revert among them names what came before.
            placed.extend((0..).zip(edits).map(|(place, edit)| PlacedEdit {
                position: u64::MAX - u64::from(u32::MAX) + place,
                seq: u64::MAX,
                ts_us: 0,
                edit: edit.clone(),
            }));
            changes.push(LineChange::between(&before, &fold(line, heard, &placed)));
        }
        Ok(changes)
    }
}
