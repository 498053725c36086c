//! Recordings that are going on: which there are, and what is said of one at its end.

use ambient_capture::live::{RecordingSummary, TrackStatus};
use ambient_engine::session::{PersonState, SessionDirectory, SessionPlace, Work, WorkLock};
use ambient_engine::{CapturedTrack, SystemClock, view};

use crate::exit::{Exit, Refusal};
use crate::live_view::seconds;
use crate::{output, places, session_name};

/// Every session that is being recorded, newest first.
pub(crate) fn live() -> anyhow::Result<Vec<SessionDirectory>> {
    let root = places::sessions_dir(&places::settings())?;
    let mut live = Vec::new();
    for row in view::rows(&root, &SystemClock)?.into_iter().filter(|row| row.summary.live) {
        let place = SessionPlace { root: root.clone(), id: row.summary.id };
        let session = session_name::open(&place)?;
        // What another program records in its own layout is not told by a lock, and not ours to end.
        if WorkLock::is_held(&session, Work::Recording)? {
            live.push(session);
        }
    }
    Ok(live)
}

/// The session that `word` names, or the only one that is being recorded.
pub(crate) fn named_or_live(word: Option<&str>) -> anyhow::Result<SessionDirectory> {
    if let Some(word) = word {
        return session_name::open(&session_name::find(word)?);
    }
    let mut live = live()?;
    if live.len() > 1 {
        let ids: Vec<String> = live.iter().map(|session| session.id().to_string()).collect();
        let text = format!("{} recordings are going on; name one:\n  {}", ids.len(), ids.join("\n  "));
        return Err(Refusal::new(Exit::Busy, text).into());
    }
    live.pop().ok_or_else(|| Refusal::new(Exit::NotFound, "nothing is being recorded").into())
}

/// Says what else is going on, and what was left.
pub(crate) fn tell_of_others() -> anyhow::Result<()> {
    for session in live()? {
        output::note(&format!("{} is being recorded as well; each keeps its own sound", session.id()));
    }
    let root = places::sessions_dir(&places::settings())?;
    let rows = view::rows(&root, &SystemClock)?;
    let interrupted = rows.iter().filter(|row| row.state == PersonState::Interrupted).count();
    if interrupted > 0 {
        output::note(&format!("interrupted earlier: {interrupted}; finished by: ambient resume"));
    }
    Ok(())
}

/// Whether `session` is being recorded at this moment; what is not cannot be told anything.
pub(crate) fn require_live(session: &SessionDirectory) -> anyhow::Result<()> {
    if WorkLock::is_held(session, Work::Recording)? {
        return Ok(());
    }
    Err(Refusal::new(Exit::NotFound, format!("{} is not being recorded", session.id())).into())
}

/// Says of each track what is there of it, for a person to hold against what was said.
pub(crate) fn prove(summary: &RecordingSummary) {
    for captured in &summary.tracks {
        if let Some(status) = summary.status.tracks.iter().find(|status| status.track == captured.track) {
            output::note(&proof(captured, status));
        }
    }
}

fn proof(captured: &CapturedTrack, status: &TrackStatus) -> String {
    let len_ms = captured.samples.saturating_mul(1_000) / u64::from(captured.rate_hz.max(1));
    let dropped: Vec<String> =
        status.dropped.iter().map(|refused| format!("{} ({})", refused.count, refused.reason)).collect();
    let dropped = if dropped.is_empty() { "0".to_owned() } else { dropped.join(", ") };
    format!(
        "{}: {:.1} s captured, {:.1} s padded, {:.1} s silent; {} lines, dropped {dropped}; worst lag {:.1} s; {}",
        captured.track,
        seconds(len_ms),
        seconds(captured.padded_ms),
        seconds(captured.silent_ms),
        status.lines,
        seconds(status.worst_lag_ms),
        status.source,
    )
}
