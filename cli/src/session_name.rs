//! Which session a person means: an id, the beginning of one, a path, or `latest`.

use ambient_engine::SystemClock;
use ambient_engine::session::SessionPlace;

use crate::places;

/// Finds the session that `word` names.
pub(crate) fn find(word: &str) -> anyhow::Result<SessionPlace> {
    let root = places::sessions_dir(&places::settings())?;
    Ok(SessionPlace::resolve(&root, word, &SystemClock)?)
}
