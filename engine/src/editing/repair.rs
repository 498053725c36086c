//! Repairing words that were heard wrong.
//!
//! A repair in the log replaces every occurrence of its words in a line. Where that would change more than
//! was meant (a word within another, say), the whole text of the line is replaced instead.

use super::{Draft, EditError, Pattern, Selection};
use crate::{Change, Edit};

/// How many lines a repair may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// One: more are an error.
    One,
    /// Every line that is meant.
    All,
}

/// What to put in the place of what.
#[derive(Clone, Copy, Debug)]
pub struct Repair<'words> {
    /// What was heard.
    pub from: &'words Pattern,
    /// What was said.
    pub to: &'words str,
    /// How many lines may change.
    pub reach: Reach,
}

impl Draft<'_> {
    /// Repairs the lines that are meant, each as it reads now. Hidden ones too.
    ///
    /// # Errors
    /// No line is meant, none of them holds the words, or more do than the repair may reach.
    pub fn repair(&mut self, selection: &Selection, repair: Repair<'_>) -> Result<Vec<Edit>, EditError> {
        let (mut edits, mut count) = (Vec::new(), 0);
        for line in self.selected(selection)? {
            let changes = changes(&line.text, repair.from, repair.to);
            count += usize::from(!changes.is_empty());
            let edit = |change| Edit { line: line.index, by: Edit::PERSON.to_owned(), change };
            edits.extend(changes.into_iter().map(edit));
        }
        match count {
            0 => Err(EditError::NotHeld(repair.from.to_string())),
            2.. if repair.reach == Reach::One => {
                Err(EditError::SeveralLines { what: repair.from.to_string(), count })
            }
            _ => Ok(edits),
        }
    }
}

/// The repairs that turn `text` into what it is with `to` in the place of `from`; none when that is the same.
fn changes(text: &str, from: &Pattern, to: &str) -> Vec<Change> {
    let Some(wanted) = from.replaced(text, to).filter(|wanted| wanted != text) else { return Vec::new() };
    let mut parts: Vec<(&str, String)> = Vec::new();
    for replacement in from.replacements(text, to) {
        let heard = &text[replacement.place];
        if !parts.iter().any(|(known, _)| *known == heard) {
            parts.push((heard, replacement.to));
        }
    }
    let in_parts = parts.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
    let repair = |from: &str, to: String| Change::Repair { from: from.to_owned(), to };
    if in_parts == wanted {
        parts.into_iter().map(|(from, to)| repair(from, to)).collect()
    } else {
        vec![repair(text, wanted)]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn applied(text: &str, changes: &[Change]) -> String {
        changes.iter().fold(text.to_owned(), |text, change| match change {
            Change::Repair { from, to } => text.replace(from, to),
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn what_is_replaced_is_named_and_not_the_whole_line() {
        let crea = Pattern::words("Crea").unwrap();
        let repair = Change::Repair { from: "Crea".into(), to: "Priya".into() };
        assert_eq!(changes("ask Crea, or Crea's team", &crea, "Priya"), [repair]);
        assert!(changes("ask Priya", &crea, "Priya").is_empty());
        assert!(changes("ask Crea", &crea, "Crea").is_empty(), "nothing would change");
    }

    #[test]
    fn a_word_within_another_stays() {
        let crea = Pattern::words("Crea").unwrap();
        let text = "Crea will Create it";
        assert_eq!(applied(text, &changes(text, &crea, "Priya")), "Priya will Create it");
    }

    proptest! {
        /// Applied as the fold does, the repairs give what was asked for.
        #[test]
        fn repairs_say_what_was_asked_for(text in "[ab ]{0,12}", from in "[ab]{1,3}", to in "[abc]{0,3}", kind in 0..3) {
            let pattern = match kind {
                0 => Pattern::words(&from),
                1 => Pattern::part(&from),
                _ => Pattern::regex(&format!("{from}|b")),
            };
            let pattern = pattern.unwrap();
            let wanted = pattern.replaced(&text, &to).unwrap_or_else(|| text.clone());
            prop_assert_eq!(applied(&text, &changes(&text, &pattern, &to)), wanted);
        }
    }
}
