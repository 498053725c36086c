//! Hiding lines, and showing them again.

use super::secret;
use super::{Draft, EditError, Pattern, Selection};
use crate::{Change, Edit, EditTarget, PlacedEdit, Standing, standings};

/// Which of the lines that are meant are hidden.
#[derive(Clone, Copy, Debug)]
pub enum Matching<'pattern> {
    /// All.
    Any,
    /// Those that hold this as they read now, or were heard to.
    Pattern(&'pattern Pattern),
    /// Those that hold something with the shape of a password, a token or a private key.
    Secrets,
}

impl Draft<'_> {
    /// Takes lines out of what everyone reads; what was heard stays in the log. Lines that a person has
    /// hidden already are left alone.
    ///
    /// # Errors
    /// No line is meant, none of them matches, or all that do are hidden.
    pub fn hide(
        &mut self,
        selection: &Selection,
        matching: Matching<'_>,
        reason: &str,
    ) -> Result<Vec<Edit>, EditError> {
        let mut is_found = false;
        let mut edits = Vec::new();
        for line in self.selected(selection)? {
            let heard = self.snapshot.heard_line(line.index)?.line.text;
            let holds = |look: &dyn Fn(&str) -> bool| look(&line.text) || look(&heard);
            let matches = match matching {
                Matching::Any => true,
                Matching::Pattern(pattern) => holds(&|text| pattern.is_in(text)),
                Matching::Secrets => holds(&secret::is_in),
            };
            if !matches {
                continue;
            }
            is_found = true;
            if !self.hides_of(line.index)?.iter().any(|hide| hide.edit.is_by_person()) {
                let change = Change::Hide { reason: reason.to_owned() };
                edits.push(Edit { line: line.index, by: Edit::PERSON.to_owned(), change });
            }
        }
        match matching {
            _ if !edits.is_empty() => Ok(edits),
            Matching::Pattern(pattern) if !is_found => Err(EditError::NotHeld(pattern.to_string())),
            Matching::Secrets if !is_found => {
                Err(EditError::NotHeld("anything with the shape of a secret".to_owned()))
            }
            _ => Err(EditError::AllHidden),
        }
    }

    /// Shows lines again that someone, or a machine, has hidden.
    ///
    /// # Errors
    /// No line is meant, or none of them is hidden.
    pub fn unhide(&mut self, selection: &Selection) -> Result<Vec<Edit>, EditError> {
        let mut edits = Vec::new();
        for line in self.selected(selection)? {
            edits.extend(self.hides_of(line.index)?.iter().map(revert));
        }
        if edits.is_empty() { Err(EditError::NoneHidden) } else { Ok(edits) }
    }

    /// The hides of a line that count.
    fn hides_of(&mut self, line: u64) -> Result<Vec<PlacedEdit>, EditError> {
        let edits = self.snapshot.edits_of(line)?;
        let standings = standings(&edits);
        let count = |(edit, standing): (PlacedEdit, Standing)| {
            let is_hide = matches!(edit.edit.change, Change::Hide { .. });
            (is_hide && standing == Standing::Live).then_some(edit)
        };
        Ok(edits.into_iter().zip(standings).filter_map(count).collect())
    }
}

/// The edit of a person that takes `placed` back.
pub(super) fn revert(placed: &PlacedEdit) -> Edit {
    let target = EditTarget { position: placed.position, seq: placed.seq };
    Edit { line: placed.edit.line, by: Edit::PERSON.to_owned(), change: Change::Revert { target } }
}
