//! `ambient diff`: which lines read differently at two moments.

use ambient_engine::editing::{self, Difference};

use crate::arguments::Diff;
use crate::changes::{head, lines, meaning};
use crate::exit::Exit;
use crate::output::{self, Colour, Page};
use crate::session_name;

pub(crate) fn run(diff: &Diff) -> anyhow::Result<Exit> {
    let session = session_name::open(&session_name::find(&diff.session)?)?;
    let differences = editing::diff(&session, diff.from, diff.to)?;
    if diff.json {
        output::json(&differences)?;
        return Ok(Exit::Done);
    }
    table(&differences, Page::for_stdout()).print()?;
    output::note(&format!("{} of {} read differently", lines(differences.len()), session.id()));
    Ok(Exit::Done)
}

fn table(differences: &[Difference], mut page: Page) -> Page {
    for difference in differences {
        let mark = if difference.before.is_none() { "+ " } else { "~ " };
        page.painted(Colour::Bold, mark);
        head(&mut page, difference.line, difference.start_ms, difference.track.as_str());
        meaning(&mut page, difference.before.as_ref(), &difference.after);
    }
    page
}
