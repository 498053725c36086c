//! `ambient edits`: everything that was done to the lines of a session.

use ambient_engine::editing::{self, EditRow, EditWhat};

use crate::arguments::ListEdits;
use crate::exit::Exit;
use crate::output::{self, Colour, Page};
use crate::session_name;
use crate::time::{clock, local};

pub(crate) fn run(list: &ListEdits) -> anyhow::Result<Exit> {
    let session = session_name::open(&session_name::find(&list.session)?)?;
    let edits = editing::edits(&session)?;
    if list.json {
        output::json(&edits)?;
        return Ok(Exit::Done);
    }
    if edits.is_empty() {
        output::note(&format!("no edits in {}", session.id()));
    }
    let mut page = Page::for_stdout();
    for edit in &edits {
        row(&mut page, edit);
    }
    page.print()?;
    Ok(Exit::Done)
}

/// Number, event, time, who, which line, what, and whether it counts.
pub(crate) fn row(page: &mut Page, edit: &EditRow) {
    let (number, event) = (edit.number.to_string(), format!("event {}", edit.event));
    page.painted(Colour::Bold, &number).fill(&number, 6).painted(Colour::Dim, &event).fill(&event, 12);
    page.plain(&local(edit.at_us)).plain("  ").painted(Colour::Cyan, &edit.by).fill(&edit.by, 10);
    let line = format!("line {}", edit.line);
    page.plain(&line).fill(&line, 12).plain(&what(&edit.what));
    if edit.standing != "live" {
        page.painted(Colour::Yellow, &format!("  ({})", edit.standing));
    }
    page.end_line();
}

fn what(what: &EditWhat) -> String {
    match what {
        EditWhat::Repair { from, to } => format!("repair {from:?} → {to:?}"),
        EditWhat::Speaker { name } => format!("speaker {name}"),
        EditWhat::Hide { reason } => format!("hide: {reason}"),
        EditWhat::Split { at_ms, name: Some(name) } => format!("from {} on {name}", clock(*at_ms)),
        EditWhat::Split { at_ms, name: None } => format!("from {} on another voice", clock(*at_ms)),
        EditWhat::Revert { edit: Some(number) } => format!("takes back edit {number}"),
        EditWhat::Revert { edit: None } => "takes back nothing".to_owned(),
    }
}
