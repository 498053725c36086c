//! Looking for words in every session, as they read now.
//!
//! Nothing is kept between searches, so nothing can be stale: hidden and repaired words are what every other
//! reader sees. Sessions are gone through newest first, a few at once, and only until enough is found; of a
//! session only its hits are held, so memory does not grow with what there is. A session that cannot be read is
//! named, not passed over in silence.

mod folding;
mod needle;
mod scan;

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use jiff::Timestamp;
use serde::Serialize;

pub use needle::{Needle, NeedleError};
use scan::{Outcome, Scored, add_context, scan};

use crate::session::listing::{Found, session_directories, started_at};
use crate::session::{Directory, SessionDirectory, SessionMetadata};
use crate::view::ViewError;
use crate::{Clock, Track};

/// Sessions that each thread goes through before what was found is looked at.
const SESSIONS_A_THREAD: usize = 8;
/// More threads than this would only wait for memory.
const THREADS_MAX: usize = 8;

/// What to look for, and where.
#[derive(Clone, Debug)]
pub struct Search {
    /// The words.
    pub needle: Needle,
    /// Only sessions whose ids begin so.
    pub session: Option<String>,
    /// Only lines of whoever is called so now.
    pub speaker: Option<String>,
    /// Only lines of this track.
    pub track: Option<Track>,
    /// Only sessions that started then or later.
    pub since: Option<Timestamp>,
    /// Only sessions that started before.
    pub until: Option<Timestamp>,
    /// Hits to leave out at the beginning: how many earlier pages held.
    pub skip: usize,
    /// Hits to give at most.
    pub limit: usize,
    /// Lines to give before and behind each hit.
    pub context: u64,
    /// The best hits first, instead of the newest. Everything has to be gone through for that.
    pub is_ranked: bool,
}

impl Search {
    /// Everything everywhere, fifty hits.
    pub fn new(needle: Needle) -> Self {
        Self {
            needle,
            session: None,
            speaker: None,
            track: None,
            since: None,
            until: None,
            skip: 0,
            limit: 50,
            context: 0,
            is_ranked: false,
        }
    }
}

/// A line that holds what was looked for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hit {
    /// The session's id.
    pub session: String,
    /// Number of the line, from 0 in the order in which they were written.
    pub line: u64,
    /// Where it was heard.
    pub track: Track,
    /// Start in milliseconds.
    pub start_ms: u64,
    /// End in milliseconds.
    pub end_ms: u64,
    /// Who spoke, when something has named them.
    pub speaker: Option<String>,
    /// The words.
    pub text: String,
    /// Where in them: first character and one past the last, for each place.
    pub places: Vec<(usize, usize)>,
    /// Lines before it, if they were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<Beside>,
    /// Lines behind it, if they were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub behind: Vec<Beside>,
}

/// A line beside a hit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Beside {
    /// Number of the line.
    pub line: u64,
    /// Start in milliseconds.
    pub start_ms: u64,
    /// Who spoke, when something has named them.
    pub speaker: Option<String>,
    /// The words.
    pub text: String,
}

/// A session that could not be searched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unsearched {
    /// The session's id.
    pub session: String,
    /// Why.
    pub error: String,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Page {
    /// The hits of this page.
    pub hits: Vec<Hit>,
    /// Whether there are more behind them.
    pub more: bool,
    /// Sessions that could not be searched, among those that were tried.
    pub unsearched: Vec<Unsearched>,
}

/// Searches the sessions below `root`.
///
/// ```
/// use ambient_engine::SystemClock;
/// use ambient_engine::search::{Needle, Search, search};
///
/// let root = tempfile::tempdir()?;
/// let page = search(root.path(), &Search::new(Needle::words("budget")?), &SystemClock)?;
/// assert!(page.hits.is_empty() && !page.more);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The root exists and cannot be read.
pub fn search(root: &Path, search: &Search, clock: &dyn Clock) -> Result<Page, ViewError> {
    let root = match Directory::open(root) {
        Ok(root) => root,
        Err(error) if error.is_missing() => return Ok(Page::default()),
        Err(error) => return Err(error.into()),
    };
    let (sessions, mut page) = searched(&root, search, clock)?;
    let wanted = search.skip.saturating_add(search.limit);
    // One more tells whether there are more.
    let keep = wanted.saturating_add(1);
    let threads = thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
    let mut hits: Vec<Scored> = Vec::new();
    for some in sessions.chunks(threads * SESSIONS_A_THREAD) {
        for (session, outcome) in some.iter().zip(scan_all(some, search, keep, threads, clock)) {
            hits.extend(outcome.hits);
            page.unsearched.extend(outcome.error.map(|error| unsearched(session, &error)));
        }
        if search.is_ranked {
            // Stable, so that of equally good ones the newest stays first.
            hits.sort_by_key(|hit| std::cmp::Reverse(hit.score));
            hits.truncate(keep);
        } else if hits.len() >= keep {
            break;
        }
    }
    page.more = hits.len() > wanted;
    page.hits = hits.into_iter().skip(search.skip).take(search.limit).map(|scored| scored.hit).collect();
    if search.context > 0 {
        for hit in &mut page.hits {
            if let Some(session) = sessions.iter().find(|session| session.id().as_str() == hit.session) {
                add_context(session, hit, search.context, clock)?;
            }
        }
    }
    Ok(page)
}

fn unsearched(session: &SessionDirectory, error: &ViewError) -> Unsearched {
    Unsearched { session: session.id().to_string(), error: error.to_string() }
}

/// The sessions to go through, newest first, and a page that names those that cannot be.
fn searched(
    root: &Directory,
    search: &Search,
    clock: &dyn Clock,
) -> Result<(Vec<SessionDirectory>, Page), ViewError> {
    let mut page = Page::default();
    let mut sessions = Vec::new();
    let is_asked_for = |id: &str| search.session.as_deref().is_none_or(|beginning| id.starts_with(beginning));
    for found in session_directories(root, clock)? {
        match found {
            Found::Session(session) if is_asked_for(session.id().as_str()) => {
                // Only when it started; what else the file says may be out of date.
                let said = SessionMetadata::read(session.directory()).ok().flatten();
                let started = started_at(said.and_then(|said| said.started_at).as_deref(), session.id());
                let is_in_time = search.since.is_none_or(|since| started.is_some_and(|at| at >= since))
                    && search.until.is_none_or(|until| started.is_some_and(|at| at < until));
                if is_in_time {
                    sessions.push((started, session));
                }
            }
            Found::Unreadable { id, error } if is_asked_for(id.as_str()) => {
                page.unsearched.push(Unsearched { session: id.to_string(), error: error.to_string() });
            }
            Found::Session(_) | Found::Unreadable { .. } => {}
        }
    }
    sessions
        .sort_by(|(one, a), (other, b)| (other.is_none(), other, b.id()).cmp(&(one.is_none(), one, a.id())));
    Ok((sessions.into_iter().map(|(_, session)| session).collect(), page))
}

/// Scans each of `sessions`, several at once, and gives the outcomes in their order.
fn scan_all(
    sessions: &[SessionDirectory],
    search: &Search,
    keep: usize,
    threads: usize,
    clock: &dyn Clock,
) -> Vec<Outcome> {
    let next = AtomicUsize::new(0);
    let outcomes: Vec<Mutex<Outcome>> = sessions.iter().map(|_| Mutex::default()).collect();
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let (Some(session), Some(outcome)) = (sessions.get(at), outcomes.get(at)) else { return };
            let scanned = scan(session, search, keep, clock);
            // Nobody else has this place; a lock that is poisoned all the same leaves it empty.
            if let Ok(mut outcome) = outcome.lock() {
                *outcome = scanned;
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.min(sessions.len()) {
            scope.spawn(work);
        }
        work();
    });
    outcomes.into_iter().map(|outcome| outcome.into_inner().unwrap_or_default()).collect()
}
