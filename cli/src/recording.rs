//! Recordings that are going on: which there are, and what is said of one at its end.

use ambient_engine::session::{
    PersonState, SessionDirectory, SessionMetadata, SessionPlace, TrackProof, Work, WorkLock,
};
use ambient_engine::{SystemClock, view};

use crate::exit::{Exit, Refusal};
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
pub(crate) fn prove(metadata: &SessionMetadata) {
    for track in metadata.proof.iter().flatten() {
        output::note(&proof(track));
    }
}

fn proof(track: &TrackProof) -> String {
    let dropped: Vec<String> =
        track.dropped.iter().map(|refusals| format!("{} ({})", refusals.count, refusals.reason)).collect();
    let dropped = if dropped.is_empty() { "0".to_owned() } else { dropped.join(", ") };
    format!(
        "{}: {:.1} s captured, {:.1} s padded, {:.1} s silent; {} lines, dropped {dropped}; worst lag {:.1} s; {}",
        track.track,
        track.captured_s,
        track.padded_s,
        track.silent_s,
        track.lines,
        track.worst_lag_s,
        track.source,
    )
}
