//! `ambient name`: says who spoke.

use crate::arguments::Name;
use crate::changes::{self, lines};
use crate::exit::{Exit, Refusal};

pub(crate) fn run(name: &Name) -> anyhow::Result<Exit> {
    let mut selection = name.which.selection();
    let Some((person, labels)) = name.words.split_last() else {
        return Err(Refusal::new(Exit::Usage, "a name is missing").into());
    };
    if labels.is_empty() && name.which.is_any() {
        let text =
            format!("who is {person}? Give a label such as call-1 before the name, or --line or --from");
        return Err(Refusal::new(Exit::Usage, text).into());
    }
    selection.speakers.extend_from_slice(labels);
    let done = |count| format!("{} now attributed to {}", lines(count), person.trim());
    changes::make(&name.session, &name.telling, |draft| draft.name(&selection, person), done)?;
    Ok(Exit::Done)
}
