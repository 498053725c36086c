//! `ambient status`: how recordings are doing, seen from elsewhere.

use std::thread;
use std::time::Duration;

use ambient_capture::live::{self, published_status};
use ambient_engine::session::SessionDirectory;
use serde::Serialize;

use crate::arguments::Status;
use crate::exit::Exit;
use crate::live_view::summary;
use crate::{output, recording};

/// Between two looks of `--watch`.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// A recording and how it is doing.
#[derive(Serialize)]
struct Row {
    session: String,
    /// None for a moment at its start.
    #[serde(flatten)]
    status: Option<live::Status>,
}

pub(crate) fn run(status: &Status) -> anyhow::Result<Exit> {
    loop {
        let rows: Vec<Row> = recording::live()?.iter().map(row).collect();
        if status.reading.json {
            output::json(&rows)?;
        } else if rows.is_empty() {
            output::note("nothing is being recorded");
        }
        for row in rows.iter().filter(|_| !status.reading.json) {
            output::line(&said(row))?;
            for warning in row.status.iter().flat_map(|status| &status.warnings) {
                output::warning(warning);
            }
        }
        if !status.watch || rows.is_empty() {
            return Ok(Exit::Done);
        }
        thread::sleep(LOOK_EVERY);
    }
}

fn row(session: &SessionDirectory) -> Row {
    Row { session: session.id().to_string(), status: published_status(session) }
}

fn said(row: &Row) -> String {
    match &row.status {
        Some(status) => format!("{}  {}", row.session, summary(status)),
        None => format!("{}  beginning", row.session),
    }
}
