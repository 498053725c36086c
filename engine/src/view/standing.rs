//! What each session is doing, remembered where it cannot have changed.
//!
//! Nearly all sessions are done, and stay so. Of a directory in which no name has changed since it was seen
//! to be done, nothing is opened again; of a log that waits for someone to finish it, only whether it has
//! grown is looked at. So asking again costs a listing, and a look at what is not done.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime};

use super::{SessionState, ViewError};
use crate::Clock;
use crate::jsonl::session as jsonl;
use crate::session::native::{self, LogStamp};
use crate::session::{Directory, DirectoryIdentity, SessionDirectory, SessionId};

/// A change of names that is younger may be followed by another one at the same moment of the file system's
/// clock.
const SETTLED_AGE_MIN: Duration = Duration::from_secs(2);

/// What is remembered of all sessions of a root.
#[derive(Debug, Default)]
pub(super) struct Standings(BTreeMap<SessionId, Known>);

/// What is remembered of one session.
#[derive(Clone, Debug)]
enum Known {
    /// It is done, as long as this directory stands there and no name in it has changed.
    Done(DirectoryIdentity, SystemTime),
    /// Nobody has finished it, as long as its log has not changed.
    Unfinished(LogStamp),
}

/// What a session is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) state: SessionState,
    /// It waits for someone to turn its sound into lines.
    pub(super) awaits_transcript: bool,
    pub(super) has_log: bool,
}

impl Standings {
    /// Whether the session `id` below `root` is still known to be done.
    pub(super) fn is_done(&self, root: &Directory, id: &SessionId) -> bool {
        let Some(Known::Done(identity, changed_at)) = self.0.get(id) else { return false };
        matches!(root.glimpse(id), Ok(Some(found)) if found == (*identity, *changed_at))
    }

    /// What `session` below `root` is doing.
    pub(super) fn look(
        &mut self,
        root: &Directory,
        session: &SessionDirectory,
        clock: &dyn Clock,
    ) -> Result<Standing, ViewError> {
        let glimpse = root.glimpse(session.id())?;
        let known = self.0.remove(session.id());
        let standing = if let Some(log) = native::log(session.directory())? {
            self.look_at_log(session, &log, known.as_ref())?
        } else {
            let state = jsonl::state(session, clock)?;
            let is_pending = state == SessionState::Pending;
            let awaits_transcript = is_pending && jsonl::has_waiting_audio(session)?;
            Standing { state, awaits_transcript, has_log: false }
        };
        if standing.state == SessionState::Done {
            let is_settled = |changed_at: SystemTime| {
                clock.now().duration_since(changed_at).is_ok_and(|age| age >= SETTLED_AGE_MIN)
            };
            if let Some((identity, changed_at)) = glimpse.filter(|(_, changed_at)| is_settled(*changed_at)) {
                self.0.insert(session.id().clone(), Known::Done(identity, changed_at));
            }
        }
        Ok(standing)
    }

    fn look_at_log(
        &mut self,
        session: &SessionDirectory,
        log: &Directory,
        known: Option<&Known>,
    ) -> Result<Standing, ViewError> {
        let at = |state| Standing { state, awaits_transcript: state == SessionState::Pending, has_log: true };
        if let Some(state) = native::work(session)? {
            return Ok(at(state));
        }
        // Before the log is read: what is appended meanwhile makes the stamp too old, never too new.
        let stamp = LogStamp::of(log)?;
        let is_unchanged =
            matches!((known, &stamp), (Some(Known::Unfinished(known)), Some(now)) if known == now);
        let state = if is_unchanged {
            SessionState::Pending
        } else {
            native::idle_state(session, &mut session.read_log(crate::Mapping::On)?)?
        };
        if let (SessionState::Pending, Some(stamp)) = (state, stamp) {
            self.0.insert(session.id().clone(), Known::Unfinished(stamp));
        }
        Ok(at(state))
    }

    /// Forgets every session that is not in `ids`.
    pub(super) fn keep_only(&mut self, ids: &[SessionId]) {
        let ids: BTreeSet<_> = ids.iter().collect();
        self.0.retain(|id, _| ids.contains(id));
    }
}
