//! Which directories below the root are sessions, and in which order they are shown.
//!
//! A directory counts if it holds a log, a `session.json`, or sound that is being written; links and
//! other folders do not. The newest comes first by the moment it started. Names do not decide: they hold
//! local minutes, which repeat when clocks are put back and jump when someone travels.

use std::path::Path;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::metadata::METADATA_FILE;
use super::native::holds_log;
use super::{Directory, DirectoryError, PersonState, SessionDirectory, SessionId, SessionMetadata};
use crate::Clock;
use crate::jsonl::state::is_growing;
use crate::view::{SessionState, SessionSummary, ViewError};

/// One row of a listing: what readers see, and the word for people.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionRow {
    /// What readers see.
    pub summary: SessionSummary,
    /// What a person reads for its state.
    pub state: PersonState,
    /// Its tags.
    pub tags: Vec<String>,
    /// Its notes.
    pub notes: String,
}

/// What a directory below the root turned out to be, if it is a session.
pub(crate) enum Found {
    /// A session that can be opened.
    Session(SessionDirectory),
    /// A directory with the name of a session that cannot be opened.
    Unreadable { id: SessionId, error: DirectoryError },
}

/// Every session below `root`, in no order. A directory that vanishes meanwhile is passed over.
pub(crate) fn session_directories(root: &Directory, clock: &dyn Clock) -> Result<Vec<Found>, DirectoryError> {
    let ids = session_ids(root)?;
    Ok(ids.into_iter().filter_map(|id| find_session(root, id, clock)).collect())
}

/// Every name below `root` that may be a session's.
pub(crate) fn session_ids(root: &Directory) -> Result<Vec<SessionId>, DirectoryError> {
    let names = root.names()?.into_iter();
    Ok(names.filter_map(|name| SessionId::new(name.to_str()?).ok()).collect())
}

/// The session `id` below `root`; none when what is there is none.
pub(crate) fn find_session(root: &Directory, id: SessionId, clock: &dyn Clock) -> Option<Found> {
    match SessionDirectory::open(root, &id) {
        Ok(Some(session)) if is_session(session.directory(), clock) => Some(Found::Session(session)),
        // Of what cannot be opened only the name can tell whether it is somebody else's folder.
        Err(error) if id.local_minute().is_some() => Some(Found::Unreadable { id, error }),
        Ok(_) | Err(_) => None,
    }
}

/// Whether a listing shows `directory`.
pub(crate) fn is_session(directory: &Directory, clock: &dyn Clock) -> bool {
    holds_log(directory).unwrap_or(false)
        || directory.holds(METADATA_FILE).unwrap_or(false)
        || is_growing(directory, clock).unwrap_or(false)
}

/// What readers see of a session of this description and state.
pub(crate) fn summarize(
    id: &SessionId,
    dir: &Path,
    metadata: SessionMetadata,
    state: SessionState,
    transcribed: bool,
) -> SessionSummary {
    SessionSummary {
        id: id.to_string(),
        dir: dir.to_owned(),
        name: metadata.name,
        started_at: metadata.started_at,
        duration_s: metadata.duration_s,
        transcribed,
        live: state == SessionState::Live,
        transcribing: state == SessionState::Transcribing,
        error: None,
        proof: metadata.proof,
    }
}

/// The row of a session that cannot be read.
pub(crate) fn broken_row(id: &SessionId, dir: &Path, error: &ViewError) -> SessionRow {
    let nothing = summarize(id, dir, SessionMetadata::default(), SessionState::Pending, false);
    let summary = SessionSummary { error: Some(error.to_string()), ..nothing };
    SessionRow { summary, state: PersonState::Broken, tags: Vec::new(), notes: String::new() }
}

/// Sorts `rows` newest first. One whose start is not known comes first: it is being made, or is broken
/// and should be seen.
pub(crate) fn sort_newest_first(rows: &mut [SessionRow]) {
    rows.sort_by_cached_key(|row| {
        let started = started(&row.summary);
        std::cmp::Reverse((started.is_none(), started, row.summary.id.clone()))
    });
}

/// What is asked of a listing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionsQuery<'a> {
    /// How many sessions at most, the newest of those that fit.
    pub limit: Option<u64>,
    /// Only those that stand behind the session with this id, or that started before this moment: an RFC
    /// 3339 time, or a date or time of the local clock.
    pub before: Option<&'a str>,
    /// Only those of which id, name, tags and notes hold each of these words, in whatever case.
    pub query: Option<&'a str>,
}

impl SessionsQuery<'_> {
    /// Leaves of `rows`, newest first, those that are asked for.
    ///
    /// # Errors
    /// `before` is neither a session of `rows` nor a moment.
    pub(crate) fn select(&self, rows: &mut Vec<SessionRow>) -> Result<(), ViewError> {
        if let Some(before) = self.before {
            if let Some(at) = rows.iter().position(|row| row.summary.id == before) {
                rows.drain(..=at);
            } else {
                let moment = moment(before).ok_or_else(|| ViewError::NoSession(before.to_owned()))?;
                rows.retain(|row| started(&row.summary).is_some_and(|started| started < moment));
            }
        }
        let words: Vec<_> =
            self.query.unwrap_or_default().split_whitespace().map(str::to_lowercase).collect();
        rows.retain(|row| row.holds(&words));
        rows.truncate(self.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX)));
        Ok(())
    }
}

impl SessionRow {
    /// Whether each of `words`, in small letters, is somewhere in what people wrote about the session.
    fn holds(&self, words: &[String]) -> bool {
        let written = [&self.summary.id, &self.notes].into_iter().chain(&self.summary.name).chain(&self.tags);
        let written: Vec<_> = written.map(|text| text.to_lowercase()).collect();
        words.iter().all(|word| written.iter().any(|text| text.contains(word)))
    }
}

/// A moment as people and programs write it.
fn moment(text: &str) -> Option<Timestamp> {
    let local = |text: &str| {
        let moment: DateTime = text.parse().ok()?;
        TimeZone::system().to_ambiguous_timestamp(moment).compatible().ok()
    };
    text.parse().ok().or_else(|| local(text))
}

fn started(summary: &SessionSummary) -> Option<Timestamp> {
    let id = SessionId::new(&summary.id).ok();
    match &id {
        Some(id) => started_at(summary.started_at.as_deref(), id),
        None => summary.started_at.as_deref()?.parse().ok(),
    }
}

/// When a session started: as it says itself, else the local minute its id begins with.
pub(crate) fn started_at(said: Option<&str>, id: &SessionId) -> Option<Timestamp> {
    said.and_then(|moment| moment.parse().ok()).or_else(|| {
        let minute = id.local_minute()?;
        TimeZone::system().to_ambiguous_timestamp(minute).compatible().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, started_at: Option<&str>) -> SessionRow {
        let summary = SessionSummary {
            id: id.to_owned(),
            dir: id.into(),
            name: None,
            started_at: started_at.map(str::to_owned),
            duration_s: None,
            transcribed: false,
            live: false,
            transcribing: false,
            error: None,
            proof: None,
        };
        SessionRow { summary, state: PersonState::Pending, tags: Vec::new(), notes: String::new() }
    }

    fn order(mut rows: Vec<SessionRow>) -> Vec<String> {
        sort_newest_first(&mut rows);
        rows.into_iter().map(|row| row.summary.id).collect()
    }

    #[test]
    fn clocks_put_back_do_not_change_the_order() {
        let before = row("2026-10-25T0230", Some("2026-10-25T02:30:00+02:00"));
        let after = row("2026-10-25T0210", Some("2026-10-25T02:10:00+01:00"));
        assert_eq!(order(vec![before, after]), ["2026-10-25T0210", "2026-10-25T0230"]);
    }

    #[test]
    fn sessions_of_one_minute_go_by_name_and_unknown_ones_come_first() {
        let ids =
            ["2026-09-05T1405", "d", "2026-09-05T1406", "2026-09-05T1405-10", "2026-09-05T1405-02", "c"];
        let rows = ids.into_iter().map(|id| row(id, None)).collect();
        let expected =
            ["d", "c", "2026-09-05T1406", "2026-09-05T1405-10", "2026-09-05T1405-02", "2026-09-05T1405"];
        assert_eq!(order(rows), expected);
    }

    #[test]
    fn a_start_that_is_no_moment_falls_back_to_the_id() {
        let rows = vec![row("2026-09-05T1405", Some("yesterday")), row("2026-09-05T1406", None)];
        assert_eq!(order(rows), ["2026-09-05T1406", "2026-09-05T1405"]);
    }
}
