//! Letting go of audio that has become text.
//!
//! Only files this program made itself, only in sessions whose text is complete, that nobody is at work
//! on and nobody pinned, and only once they are as old as was said. Text is never touched. Sessions of the
//! older layout belong to the program that made them and are left alone.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::derived::describe;
use super::listing::{Found, session_directories};
use super::native::holds_log;
use super::{Directory, SessionDirectory, Work, WorkLock};
use crate::view::ViewError;
use crate::{Clock, Mapping};

/// The folder of a session that holds its sound.
const AUDIO: &str = "audio";

/// The files in it that are let go.
const FILES: [&str; 2] = ["room.native.wav", "call.native.wav"];

/// A file that was let go, or would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweptFile {
    /// The session's id.
    pub session: String,
    /// Where it was.
    pub path: PathBuf,
    /// How long it was.
    pub len_bytes: u64,
}

/// What a sweep came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sweep {
    /// The files that were let go.
    pub files: Vec<SweptFile>,
    /// What could not be looked at or let go, and why.
    pub faults: Vec<String>,
}

/// Lets go of audio below `root` that was last written `keep` ago or earlier. With `is_rehearsal` it only says
/// which. A session that cannot be swept is told and keeps none of the others.
///
/// # Errors
/// The root exists and cannot be read.
pub fn sweep(root: &Path, keep: Duration, clock: &dyn Clock, is_rehearsal: bool) -> Result<Sweep, ViewError> {
    let mut sweep = Sweep::default();
    let root = match Directory::open(root) {
        Ok(root) => root,
        Err(error) if error.is_missing() => return Ok(sweep),
        Err(error) => return Err(error.into()),
    };
    for found in session_directories(&root, clock)? {
        let Found::Session(session) = found else { continue };
        let mut files = Vec::new();
        if let Err(error) = sweep_session(&session, keep, clock, is_rehearsal, &mut files) {
            sweep.faults.push(format!("{}: {error}", session.id()));
        }
        sweep.files.append(&mut files);
    }
    sweep.files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(sweep)
}

fn sweep_session(
    session: &SessionDirectory,
    keep: Duration,
    clock: &dyn Clock,
    is_rehearsal: bool,
    files: &mut Vec<SweptFile>,
) -> Result<(), ViewError> {
    if !holds_log(session.directory())? || is_at_work(session)? || !is_settled(session)? {
        return Ok(());
    }
    let Some(audio) = session.directory().subdirectory(AUDIO)? else { return Ok(()) };
    let mut lock = None;
    for name in FILES {
        let Some(modified) = audio.modified_at(name)? else { continue };
        let is_old = clock.now().duration_since(modified).is_ok_and(|age| age >= keep);
        if !is_old {
            continue;
        }
        if !is_rehearsal {
            if lock.is_none() {
                lock = Some(WorkLock::hold(session, Work::Transcribing)?);
            }
            // Someone may have begun to transcribe it anew before the lock was had.
            if !is_settled(session)? {
                return Ok(());
            }
        }
        let len_bytes = match audio.open_file(name)? {
            Some(file) => file.metadata().map_or(0, |metadata| metadata.len()),
            None => continue,
        };
        if !is_rehearsal {
            audio.remove_file(name)?;
        }
        let path = audio.path().join(name);
        files.push(SweptFile { session: session.id().to_string(), path, len_bytes });
    }
    Ok(())
}

fn is_at_work(session: &SessionDirectory) -> Result<bool, ViewError> {
    Ok(WorkLock::is_held(session, Work::Recording)? || WorkLock::is_held(session, Work::Transcribing)?)
}

/// Whether its text is complete and nobody pinned it.
fn is_settled(session: &SessionDirectory) -> Result<bool, ViewError> {
    let metadata = describe(session, &mut session.read_log(Mapping::On)?)?;
    Ok(metadata.finished_at.is_some() && !metadata.pinned)
}
