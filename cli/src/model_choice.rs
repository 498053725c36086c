//! Which recogniser is used.
//!
//! The one asked for, else the one in the settings, else the most capable one that is here and knows the
//! language. A missing one is an error that says how to get it, before anything is made.

use ambient_capture::models::catalogue::{self, Languages, MODELS, Model, Purpose};
use ambient_capture::models::directory::ModelDirectory;

use crate::exit::{Exit, Refusal};

/// The model that is suggested where there is none yet: small, quick, in every source.
const FIRST_MODEL: &str = "tiny.en";

/// The name of the recogniser to use: `asked` when given, else chosen for `language`.
pub(crate) fn recogniser(
    directory: &ModelDirectory,
    asked: Option<&str>,
    language: Option<&str>,
) -> anyhow::Result<String> {
    if let Some(name) = asked {
        directory.find(name)?;
        if catalogue::find(name).is_some_and(|model| !can_hear(model, language)) {
            let language = language.unwrap_or_default();
            let text =
                format!("{name} recognises English only, and the language is {language}; use another model");
            return Err(Refusal::new(Exit::Usage, text).into());
        }
        return Ok(name.to_owned());
    }
    let here = |model: &&Model| directory.find(model.name).is_ok();
    let fitting = MODELS.iter().rev().filter(|model| model.purpose == Purpose::Recognition);
    if let Some(model) = fitting.filter(|model| can_hear(model, language)).find(here) {
        return Ok(model.name.to_owned());
    }
    let mut imported =
        directory.installed()?.into_iter().filter(|model| catalogue::find(&model.name).is_none());
    if let (Some(model), None) = (imported.next(), imported.next()) {
        return Ok(model.name);
    }
    let folder = directory.path().display();
    let text = format!(
        "no model that recognises {} in {folder}; a small one is had by: ambient models fetch {}",
        language.unwrap_or("speech"),
        suggestion(language),
    );
    Err(Refusal::new(Exit::NotFound, text).into())
}

fn can_hear(model: &Model, language: Option<&str>) -> bool {
    let is_english = matches!(language, None | Some("auto" | "en" | "english"));
    model.languages != Languages::English || is_english
}

fn suggestion(language: Option<&str>) -> &'static str {
    let smallest =
        MODELS.iter().find(|model| model.purpose == Purpose::Recognition && can_hear(model, language));
    smallest.map_or(FIRST_MODEL, |model| model.name)
}
