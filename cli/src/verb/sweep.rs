//! `ambient sweep`: lets go of audio that has become text and is old enough.

use crate::arguments::Sweep;
use crate::exit::Exit;
use crate::{output, retention};

pub(crate) fn run(sweep: &Sweep) -> anyhow::Result<Exit> {
    let Some(swept) = retention::apply(sweep.dry_run)? else {
        output::note("audio is kept for ever (setting audio_retention_days)");
        return Ok(Exit::Done);
    };
    for file in &swept.files {
        output::line(&file.path.display().to_string())?;
    }
    if swept.files.is_empty() {
        output::note("no audio is old enough");
    }
    retention::tell(&swept, sweep.dry_run);
    Ok(if swept.faults.is_empty() { Exit::Done } else { Exit::Warnings })
}
