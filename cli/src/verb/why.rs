//! `ambient why`: why a line reads as it does.

use ambient_engine::editing::{self, Account};

use super::edits;
use crate::arguments::Why;
use crate::exit::Exit;
use crate::output::{self, Colour, Page};
use crate::session_name;
use crate::time::{clock, local};

/// Columns of what a row is about.
const LABEL_COLUMNS: usize = 12;

pub(crate) fn run(why: &Why) -> anyhow::Result<Exit> {
    let session = session_name::open(&session_name::find(&why.session)?)?;
    let account = editing::why(&session, why.line)?;
    if why.json {
        output::json(&account)?;
        return Ok(Exit::Done);
    }
    let mut page = Page::for_stdout();
    tell(&mut page, &account);
    page.print()?;
    Ok(Exit::Done)
}

fn tell(page: &mut Page, account: &Account) {
    let mut row = |label: &str, text: &str| {
        page.painted(Colour::Dim, label).fill(label, LABEL_COLUMNS).plain(text).end_line();
    };
    let (begins, ends) = (clock(account.start_ms), clock(account.end_ms));
    row("line", &format!("{} of {}, {begins} to {ends}", account.line, account.track));
    row("reads", &account.reads.text);
    row("heard", &account.heard);
    row("speaker", account.reads.speaker.as_deref().unwrap_or("not named"));
    if let Some(reason) = &account.reads.hidden {
        row("hidden", reason);
    }
    if account.confidence > 0.0 {
        row("confidence", &format!("{:.2}", account.confidence));
    }
    if let Some(language) = &account.language {
        row("language", language);
    }
    if let Some(run) = &account.recognizer {
        row(
            "heard by",
            &format!("{} with {}, speech found by {}", run.program, run.model, run.voice_activity),
        );
    }
    if let Some(sound) = account.audio {
        let text = format!("samples {} to {} at {} Hz", sound.start_sample, sound.end_sample, sound.rate_hz);
        row("sound", &text);
    }
    row("appended", &local(account.at_us));
    row("log", &format!("event {}, byte {} of {}", account.event, account.offset, account.file.display()));
    row("edits", if account.edits.is_empty() { "none" } else { "" });
    for edit in &account.edits {
        page.plain("  ");
        edits::row(page, edit);
    }
}
