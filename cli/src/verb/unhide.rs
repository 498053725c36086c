//! `ambient unhide`: shows hidden lines again.

use crate::arguments::Unhide;
use crate::changes::{self, lines};
use crate::exit::{Exit, Refusal};

pub(crate) fn run(unhide: &Unhide) -> anyhow::Result<Exit> {
    if unhide.which.is_any() && !unhide.all {
        return Err(Refusal::new(Exit::Usage, "which lines? Give --line, --from, --speaker or --all").into());
    }
    let selection = unhide.which.selection();
    let done = |count| format!("{} shown again", lines(count));
    changes::make(&unhide.session, &unhide.telling, |draft| draft.unhide(&selection), done)?;
    Ok(Exit::Done)
}
