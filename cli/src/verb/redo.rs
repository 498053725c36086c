//! `ambient redo`: does again what was taken back.

use crate::arguments::BackOrForth;
use crate::changes::{self, lines};
use crate::exit::Exit;

pub(crate) fn run(redo: &BackOrForth) -> anyhow::Result<Exit> {
    let done = |count| format!("{} changed again", lines(count));
    changes::make(&redo.session, &redo.telling, |draft| draft.redo(redo.seq), done)?;
    Ok(Exit::Done)
}
