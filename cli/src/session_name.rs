//! Which session a person means: an id, the beginning of one, a path, or `latest`.

use ambient_engine::SystemClock;
use ambient_engine::session::{Directory, SessionDirectory, SessionId, SessionPlace};

use crate::exit::{Exit, Refusal};
use crate::places;

/// Finds the session that `word` names.
pub(crate) fn find(word: &str) -> anyhow::Result<SessionPlace> {
    let root = places::sessions_dir(&places::settings())?;
    Ok(SessionPlace::resolve(&root, word, &SystemClock)?)
}

/// Opens the directory of the session at `place`.
pub(crate) fn open(place: &SessionPlace) -> anyhow::Result<SessionDirectory> {
    let missing = || Refusal::new(Exit::NotFound, format!("no session {}", place.id));
    let id = SessionId::new(&place.id)?;
    let root = Directory::open(&place.root)?;
    Ok(SessionDirectory::open(&root, &id)?.ok_or_else(missing)?)
}
