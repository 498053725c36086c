//! Letting go of audio that has become text, as the setting `audio_retention_days` says.

use std::path::PathBuf;
use std::time::Duration;

use ambient_engine::SystemClock;
use ambient_engine::session::{Sweep, sweep};

use crate::{output, places};

const DAY: Duration = Duration::from_secs(86_400);

/// Lets go of what is old enough, or only says what that is. None: audio is kept for ever.
pub(crate) fn apply(is_rehearsal: bool) -> anyhow::Result<Option<Sweep>> {
    let settings = places::settings();
    let Some(days) = settings.audio_retention_days() else { return Ok(None) };
    let root: PathBuf = places::sessions_dir(&settings)?;
    Ok(Some(sweep(&root, DAY * days, &SystemClock, is_rehearsal)?))
}

/// Lets go of what is old enough after a session was completed. It is not what the person asked for, so what
/// cannot be done is only told.
pub(crate) fn apply_quietly() {
    match apply(false) {
        Ok(Some(swept)) => tell(&swept, false),
        Ok(None) => {}
        Err(error) => output::warning(&format!("old audio was not looked at: {error}")),
    }
}

/// Says how much was let go, and what could not be.
pub(crate) fn tell(swept: &Sweep, is_rehearsal: bool) {
    for fault in &swept.faults {
        output::warning(&format!("its audio stays: {fault}"));
    }
    if swept.files.is_empty() {
        return;
    }
    let size = crate::progress::bytes(swept.files.iter().map(|file| file.len_bytes).sum());
    let done = if is_rehearsal { "would be deleted" } else { "deleted" };
    let count = swept.files.len();
    output::note(&format!(
        "{count} audio files of complete sessions, {size}, {done} (setting audio_retention_days)"
    ));
}
