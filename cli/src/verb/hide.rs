//! `ambient hide`: takes lines out of what everyone reads.

use ambient_engine::editing::{Draft, Matching, Pattern};

use crate::arguments::Hide;
use crate::changes::{self, lines};
use crate::exit::{Exit, Refusal};

pub(crate) fn run(hide: &Hide) -> anyhow::Result<Exit> {
    let pattern = match (&hide.words, &hide.regex) {
        (Some(words), _) => Some(Pattern::words(words)?),
        (None, Some(regex)) => Some(Pattern::regex(regex)?),
        (None, None) => None,
    };
    let matching = match &pattern {
        Some(pattern) => Matching::Pattern(pattern),
        None if hide.secrets => Matching::Secrets,
        None => Matching::Any,
    };
    if matches!(matching, Matching::Any) && hide.which.is_any() {
        let text = "which lines? Give --line, --from, --speaker, --words, --regex or --secrets";
        return Err(Refusal::new(Exit::Usage, text).into());
    }
    let selection = hide.which.selection();
    let decide = |draft: &mut Draft<'_>| draft.hide(&selection, matching, &hide.reason);
    changes::make(&hide.session, &hide.telling, decide, |count| format!("{} hidden", lines(count)))?;
    Ok(Exit::Done)
}
