//! What a recorder and other processes tell one another by files in the session: `recording.json`, how
//! it is doing, `STOP`, that it should end, and `PAUSE`, that it should not listen while that is there.
//!
//! Neither decides anything about the session: whether it is being recorded is told by its lock.

use ambient_engine::session::{DirectoryError, SessionDirectory};

use super::status::Status;

/// How the recording is doing, replaced several times a second.
const STATUS_FILE: &str = "recording.json";

/// Asks the recorder to stop.
const STOP_FILE: &str = "STOP";

/// Keeps the recorder from listening for as long as it is there.
const PAUSE_FILE: &str = "PAUSE";

/// Longer is not a status.
const STATUS_MAX_BYTES: u64 = 1 << 20;

/// Asks the recorder of `session` to stop.
///
/// # Errors
/// When the sign cannot be put into the session's directory.
pub fn ask_to_stop(session: &SessionDirectory) -> Result<(), DirectoryError> {
    session.directory().refresh(STOP_FILE, b"")
}

/// Asks the recorder of `session` not to listen, or to listen again.
///
/// # Errors
/// When the sign cannot be put into the session's directory, or taken away.
pub fn ask_to_pause(session: &SessionDirectory, pause: bool) -> Result<(), DirectoryError> {
    let directory = session.directory();
    if pause { directory.refresh(PAUSE_FILE, b"") } else { directory.remove_file(PAUSE_FILE) }
}

/// How the recording of `session` was doing when it last said so; none when it says nothing that can be
/// understood.
pub fn published_status(session: &SessionDirectory) -> Option<Status> {
    let bytes = session.directory().read(STATUS_FILE, STATUS_MAX_BYTES).ok()??;
    serde_json::from_slice(&bytes).ok()
}

/// Whether someone asked for the end. The sign is taken away.
pub(super) fn take_stop(session: &SessionDirectory) -> bool {
    let directory = session.directory();
    let is_asked = directory.holds(STOP_FILE).unwrap_or(false);
    if is_asked {
        // One that cannot be taken away has done its work all the same.
        let _ = directory.remove_file(STOP_FILE);
    }
    is_asked
}

/// Whether someone asked not to listen.
pub(super) fn is_pause_asked(session: &SessionDirectory) -> bool {
    session.directory().holds(PAUSE_FILE).unwrap_or(false)
}

/// Tells other processes how the recording is doing. A disk that refuses it keeps nothing from going on.
pub(super) fn publish(session: &SessionDirectory, status: &Status) {
    if let Ok(json) = serde_json::to_vec(status) {
        let _ = session.directory().refresh(STATUS_FILE, &json);
    }
}

/// There is nothing more to tell.
pub(super) fn withdraw(session: &SessionDirectory) {
    for sign in [STATUS_FILE, STOP_FILE, PAUSE_FILE] {
        let _ = session.directory().remove_file(sign);
    }
}
