//! `ambient meta`: what is said about a whole session.

use ambient_engine::MetaChange;
use ambient_engine::editing;

use crate::arguments::{Meta, MetaField};
use crate::exit::{Exit, Refusal};
use crate::output;
use crate::session_name;

pub(crate) fn run(meta: &Meta) -> anyhow::Result<Exit> {
    let change = change(&meta.change)?;
    let session = session_name::open(&session_name::find(&meta.session)?)?;
    let described = editing::describe(&session, vec![change])?;
    let name = described.name.as_deref().unwrap_or("-");
    output::line(&format!("{name}  tags: {}", described.tags.join(", ")))?;
    Ok(Exit::Done)
}

fn change(field: &MetaField) -> anyhow::Result<MetaChange> {
    let or_none = |value: &String| Some(value.trim().to_owned()).filter(|value| !value.is_empty());
    Ok(match field {
        MetaField::Name { value } => MetaChange::Name(or_none(value)),
        MetaField::Notes { value } => MetaChange::Notes(value.trim().to_owned()),
        MetaField::Pinned { value } => MetaChange::Pin(yes_or_no(value)?),
        MetaField::Tag { value } => MetaChange::Tag(value.trim().to_owned()),
        MetaField::Untag { value } => MetaChange::Untag(value.trim().to_owned()),
    })
}

fn yes_or_no(word: &str) -> anyhow::Result<bool> {
    match word {
        "true" | "yes" => Ok(true),
        "false" | "no" => Ok(false),
        _ => {
            Err(Refusal::new(Exit::Usage, format!("{word:?} is not a yes or no. Use true or false.")).into())
        }
    }
}
