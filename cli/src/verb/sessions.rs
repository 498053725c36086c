//! `ambient sessions`: every session, newest first.

use ambient_engine::session::{PersonState, SessionRow};
use ambient_engine::{SystemClock, rows, view};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::arguments::Reading;
use crate::exit::Exit;
use crate::output::{self, Colour, Page};
use crate::places;
use crate::time::clock;

/// Columns for a name; longer ones are cut.
const NAME_COLUMNS_MAX: usize = 40;

pub(crate) fn run(reading: &Reading) -> anyhow::Result<Exit> {
    let root = places::sessions_dir(&places::settings())?;
    if reading.json {
        output::json(&view::sessions(&root, &SystemClock)?)?;
        return Ok(Exit::Done);
    }
    let rows = view::rows(&root, &SystemClock)?;
    if rows.is_empty() {
        output::note(&format!("no sessions in {} yet; `ambient transcribe FILE` makes one", root.display()));
        return Ok(Exit::Done);
    }
    table(&rows, Page::for_stdout()).print()?;
    for row in &rows {
        if let Some(error) = &row.summary.error {
            output::warning(&format!("{} cannot be read: {error}", row.summary.id));
        }
    }
    if rows.iter().any(|row| row.state == PersonState::Interrupted) {
        output::note("interrupted sessions are finished by: ambient resume");
    }
    Ok(Exit::Done)
}

/// Id, start, length, state and name, in columns.
fn table(rows: &[SessionRow], mut page: Page) -> Page {
    let cells: Vec<[String; 4]> = rows.iter().map(cells).collect();
    let columns = |at: usize| cells.iter().map(|row| row[at].chars().count()).max().unwrap_or(0) + 2;
    let columns = [columns(0), columns(1), columns(2), columns(3)];
    for (row, [id, started, length, state]) in rows.iter().zip(&cells) {
        page.painted(Colour::Bold, id).fill(id, columns[0]);
        page.plain(started).fill(started, columns[1]);
        page.fill(length, columns[2] - 2).plain(length).plain("  ");
        page.painted(colour(row.state), state).fill(state, columns[3]);
        page.plain(&rows::cut(row.summary.name.as_deref().unwrap_or_default(), NAME_COLUMNS_MAX)).end_line();
    }
    page
}

fn cells(row: &SessionRow) -> [String; 4] {
    let summary = &row.summary;
    let started = summary.started_at.as_deref().map_or_else(|| "-".to_owned(), local_minute);
    let length = summary.duration_s.map_or_else(|| "-".to_owned(), |length_s| clock(milliseconds(length_s)));
    [summary.id.clone(), started, length, row.state.to_string()]
}

/// A moment as the wall clock here shows it; what is no moment is shown as it stands.
fn local_minute(moment: &str) -> String {
    match moment.parse::<Timestamp>() {
        Ok(moment) => moment.to_zoned_datetime(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string(),
        Err(_) => rows::cut(moment, 16),
    }
}

fn milliseconds(length_s: f64) -> u64 {
    std::time::Duration::try_from_secs_f64(length_s)
        .map_or(0, |length| u64::try_from(length.as_millis()).unwrap_or(u64::MAX))
}

fn colour(state: PersonState) -> Colour {
    match state {
        PersonState::Live | PersonState::Broken => Colour::Red,
        PersonState::Transcribing | PersonState::Pending | PersonState::Interrupted => Colour::Yellow,
        PersonState::Done => Colour::Green,
    }
}
