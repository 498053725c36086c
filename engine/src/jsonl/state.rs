//! What a session of the predecessor's layout is doing, told by its files.
//!
//! The rules are the predecessor's, because its programs may be writing such a session right now: sound
//! that was written to a moment ago means recording, a lock file that names a living process means
//! transcription, and `transcript.md` means it is complete.

use std::time::Duration;

use rustix::process::{Pid, test_kill_process};

use crate::Clock;
use crate::session::{Directory, DirectoryError};
use crate::view::SessionState;

/// A recording writes its sound several times a second; one that has not for this long is over.
const GROWING_MAX_AGE: Duration = Duration::from_secs(10);
/// Written last: the sign that a session is complete.
pub(crate) const TRANSCRIPT_FILE: &str = "transcript.md";
const LOCK_FILE: &str = "transcribing.lock";
/// A process number has no more bytes than this.
const LOCK_LEN_MAX_BYTES: u64 = 64;

/// What the files of one session say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileSigns {
    /// The microphone's sound was written to less than ten seconds ago, and not in the future.
    pub(crate) is_growing: bool,
    /// A living process says that it is transcribing.
    pub(crate) is_transcribing: bool,
    /// The transcript was written.
    pub(crate) has_transcript: bool,
}

impl FileSigns {
    pub(crate) fn read(session: &Directory, clock: &dyn Clock) -> Result<Self, DirectoryError> {
        Ok(Self {
            is_growing: is_growing(session, clock)?,
            is_transcribing: names_living_process(session)?,
            has_transcript: session.holds_file(TRANSCRIPT_FILE)?,
        })
    }

    pub(crate) fn state(self) -> SessionState {
        match self {
            Self { is_growing: true, .. } => SessionState::Live,
            Self { is_transcribing: true, .. } => SessionState::Transcribing,
            Self { has_transcript: true, .. } => SessionState::Done,
            _ => SessionState::Pending,
        }
    }
}

/// Whether the sound of the microphone is being written.
pub(crate) fn is_growing(session: &Directory, clock: &dyn Clock) -> Result<bool, DirectoryError> {
    is_sound_growing(session, "room.native.wav", clock)
}

/// Whether the sound of either side is being written. A listing asks for the microphone's alone; whoever
/// writes asks for both.
pub(super) fn is_any_track_growing(session: &Directory, clock: &dyn Clock) -> Result<bool, DirectoryError> {
    Ok(is_growing(session, clock)? || is_sound_growing(session, "call.native.wav", clock)?)
}

fn is_sound_growing(session: &Directory, name: &str, clock: &dyn Clock) -> Result<bool, DirectoryError> {
    let Some(audio) = audio(session)? else { return Ok(false) };
    let modified_at = audio.modified_at(name)?;
    Ok(modified_at
        .and_then(|modified_at| clock.now().duration_since(modified_at).ok())
        .is_some_and(|age| age < GROWING_MAX_AGE))
}

/// Whether the captured sound is there to be transcribed.
pub(crate) fn has_captured_audio(session: &Directory) -> Result<bool, DirectoryError> {
    let Some(audio) = audio(session)? else { return Ok(false) };
    Ok(audio.holds_file("room.wav")? || audio.holds_file("call.wav")?)
}

/// The directory of the session's sound; none when there is none or it is not a real directory.
fn audio(session: &Directory) -> Result<Option<Directory>, DirectoryError> {
    match session.subdirectory("audio") {
        Err(DirectoryError::Symlink(_) | DirectoryError::NotADirectory { .. }) => Ok(None),
        opened => opened,
    }
}

/// Whether `transcribing.lock` names a process that lives. Anything else in its place counts as no lock.
fn names_living_process(session: &Directory) -> Result<bool, DirectoryError> {
    let bytes = match session.read(LOCK_FILE, LOCK_LEN_MAX_BYTES) {
        Ok(bytes) => bytes.unwrap_or_default(),
        Err(DirectoryError::Io { action, path, source }) => {
            return Err(DirectoryError::Io { action, path, source });
        }
        Err(_) => return Ok(false),
    };
    let pid = std::str::from_utf8(&bytes).ok().and_then(|text| text.trim().parse::<i32>().ok());
    let Some(pid) = pid.filter(|pid| *pid > 0).and_then(Pid::from_raw) else { return Ok(false) };
    // A process of another user may not be signalled, but it lives.
    Ok(matches!(test_kill_process(pid), Ok(()) | Err(rustix::io::Errno::PERM)))
}
