//! Making a change to the lines of a session, and telling what it did.
//!
//! A change that is only looked at (`--dry-run`) goes the same way and prints the same lines.

use ambient_engine::Edit;
use ambient_engine::editing::{self, Draft, EditError, LineChange, Meaning};
use ambient_engine::session::SessionDirectory;

use crate::arguments::Telling;
use crate::output::{self, Colour, Page};
use crate::session_name;
use crate::time::clock;

/// Columns of a track's name and what follows it.
const TRACK_COLUMNS: usize = 6;

/// Finds the session that `word` names, makes the change that `decide` gives, and prints each line as it
/// reads after. `done` says in one sentence what was done to how many lines.
pub(crate) fn make(
    word: &str,
    telling: &Telling,
    decide: impl FnOnce(&mut Draft<'_>) -> Result<Vec<Edit>, EditError>,
    done: impl FnOnce(usize) -> String,
) -> anyhow::Result<()> {
    let session = session_name::open(&session_name::find(word)?)?;
    let changes =
        if telling.dry_run { editing::preview(&session, decide)? } else { editing::apply(&session, decide)? };
    if telling.json {
        output::json(&changes)?;
    } else {
        table(&changes, Page::for_stdout()).print()?;
    }
    tell(&session, telling, &done(changes.len()));
    Ok(())
}

fn tell(session: &SessionDirectory, telling: &Telling, done: &str) {
    if telling.dry_run {
        output::note(&format!("  {done}, if it were not for --dry-run"));
    } else {
        output::note(&format!("  {done}"));
        output::note(&session.directory().path().display().to_string());
    }
}

/// `1 line` or `3 lines`.
pub(crate) fn lines(count: usize) -> String {
    if count == 1 { "1 line".to_owned() } else { format!("{count} lines") }
}

fn table(changes: &[LineChange], mut page: Page) -> Page {
    for change in changes {
        head(&mut page, change.line, change.start_ms, change.track.as_str());
        meaning(&mut page, Some(&change.before), &change.after);
    }
    page
}

/// The beginning of a row: number, time and track.
pub(crate) fn head(page: &mut Page, line: u64, start_ms: u64, track: &str) {
    let (number, time) = (format!("{line}"), format!("[{}]", clock(start_ms)));
    page.painted(Colour::Dim, &number).fill(&number, 6).painted(Colour::Dim, &time).plain(" ");
    page.painted(Colour::Cyan, track).fill(track, TRACK_COLUMNS);
}

/// The rest of a row: what was, if that is something else, and what is.
pub(crate) fn meaning(page: &mut Page, before: Option<&Meaning>, after: &Meaning) {
    let speaker = |meaning: &Meaning| meaning.speaker.clone().unwrap_or_else(|| "-".to_owned());
    match before {
        Some(before) if before.speaker != after.speaker => arrow(page, &speaker(before), &speaker(after)),
        _ => drop(page.plain(&speaker(after))),
    }
    page.plain("  ");
    match before {
        Some(before) if before.text != after.text => arrow(page, &before.text, &after.text),
        _ => drop(page.plain(&after.text)),
    }
    match (before.and_then(|before| before.hidden.as_ref()), &after.hidden) {
        (_, Some(reason)) => drop(page.painted(Colour::Yellow, &format!("  (hidden: {reason})"))),
        (Some(_), None) => drop(page.painted(Colour::Green, "  (shown again)")),
        (None, None) => {}
    }
    page.end_line();
}

fn arrow(page: &mut Page, before: &str, after: &str) {
    page.painted(Colour::Red, before).plain(" → ").painted(Colour::Green, after);
}
