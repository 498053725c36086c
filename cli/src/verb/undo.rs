//! `ambient undo`: takes back what the last command did.

use crate::arguments::BackOrForth;
use crate::changes::{self, lines};
use crate::exit::Exit;

pub(crate) fn run(undo: &BackOrForth) -> anyhow::Result<Exit> {
    let done = |count| format!("{} as before", lines(count));
    changes::make(&undo.session, &undo.telling, |draft| draft.undo(undo.seq), done)?;
    Ok(Exit::Done)
}
