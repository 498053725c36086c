//! `ambient repair`: puts the words in that were said.

use ambient_engine::editing::{Pattern, Reach, Repair};

use crate::arguments::RepairWords;
use crate::changes::{self, lines};
use crate::exit::Exit;

pub(crate) fn run(repair: &RepairWords) -> anyhow::Result<Exit> {
    let pattern = if repair.regex {
        Pattern::regex(&repair.heard)
    } else if repair.part {
        Pattern::part(&repair.heard)
    } else {
        Pattern::words(&repair.heard)
    }?;
    let reach = if repair.all { Reach::All } else { Reach::One };
    let words = Repair { from: &pattern, to: &repair.said, reach };
    let selection = repair.which.selection();
    let done = |count| format!("{} repaired", lines(count));
    changes::make(&repair.session, &repair.telling, |draft| draft.repair(&selection, words), done)?;
    Ok(Exit::Done)
}
