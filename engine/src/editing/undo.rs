//! Taking back what people did, and doing it again.
//!
//! What one command appended is one batch, and is taken back as one, the newest first by its place in the log:
//! clocks may have been set back since. Only the log tells what can be done again. Batches that took
//! something back lie on a pile; doing the topmost again takes it off, and any other change by a person clears the pile.

use std::collections::HashMap;

use super::hide::revert;
use super::{Draft, EditError};
use crate::{Change, Edit, EditTarget, NumberedEdit, Standing};

impl Draft<'_> {
    /// Takes back the edit with the number `edit`, whoever made it; without one, what the newest command of
    /// a person did that is not taken back yet.
    ///
    /// # Errors
    /// There is none, it takes something back itself, or it is taken back already.
    pub fn undo(&mut self, edit: Option<u64>) -> Result<Vec<Edit>, EditError> {
        if let Some(number) = edit {
            let edit = self.edit(number)?;
            return match edit.standing {
                Standing::Reverted => Err(EditError::AlreadyReverted(number)),
                _ => Ok(vec![revert(&edit.placed)]),
            };
        }
        let edits = self.snapshot.edits()?;
        let counts = |edit: &&NumberedEdit| edit.placed.edit.is_by_person() && is_live_change(edit);
        let newest = edits.iter().rev().find(counts);
        let newest = newest.ok_or_else(|| EditError::NothingToUndo(self.directory.to_owned()))?;
        let of_batch = edits.iter().filter(|edit| edit.batch_seq == newest.batch_seq).filter(counts);
        Ok(of_batch.map(|edit| revert(&edit.placed)).collect())
    }

    /// Does the edit with the number `edit` again, which was taken back; without one, all that was taken
    /// back last.
    ///
    /// # Errors
    /// There is none, it takes something back itself, or it still counts; nothing was taken back, or a
    /// person has changed something since.
    pub fn redo(&mut self, edit: Option<u64>) -> Result<Vec<Edit>, EditError> {
        if let Some(number) = edit {
            let edit = self.edit(number)?;
            return match edit.standing {
                Standing::Reverted => Ok(vec![again(&edit.placed.edit)]),
                _ => Err(EditError::NotReverted(number)),
            };
        }
        let edits = self.snapshot.edits()?;
        let nothing = || EditError::NothingToRedo(self.directory.to_owned());
        pile(&edits).pop().ok_or_else(nothing)
    }

    /// The edit with this number, which is no revert.
    fn edit(&mut self, number: u64) -> Result<NumberedEdit, EditError> {
        let found = self.snapshot.edits()?.into_iter().find(|edit| edit.number == number);
        let session = self.directory.to_owned();
        let edit = found.ok_or(EditError::NoSuchEdit { number, session })?;
        if is_revert(&edit.placed.edit) { Err(EditError::IsRevert(number)) } else { Ok(edit) }
    }
}

fn is_revert(edit: &Edit) -> bool {
    matches!(edit.change, Change::Revert { .. })
}

fn is_live_change(edit: &NumberedEdit) -> bool {
    edit.standing == Standing::Live && !is_revert(&edit.placed.edit)
}

/// The same change, by a person.
fn again(edit: &Edit) -> Edit {
    Edit { line: edit.line, by: Edit::PERSON.to_owned(), change: edit.change.clone() }
}

/// What can be done again, the last on top: what each batch of reverts by a person took back.
fn pile(edits: &[NumberedEdit]) -> Vec<Vec<Edit>> {
    let mut known: HashMap<EditTarget, &Edit> = HashMap::new();
    let mut pile: Vec<Vec<Edit>> = Vec::new();
    for batch in edits.chunk_by(|one, next| one.batch_seq == next.batch_seq) {
        let by_people = || batch.iter().map(|edit| &edit.placed.edit).filter(|edit| edit.is_by_person());
        let taken_back = |edit: &Edit| match edit.change {
            Change::Revert { target } => known.get(&target).map(|edit| again(edit)),
            _ => None,
        };
        let reverted: Vec<Edit> = by_people().filter_map(taken_back).collect();
        let made: Vec<Edit> = by_people().filter(|edit| !is_revert(edit)).map(again).collect();
        if !made.is_empty() {
            if pile.last() == Some(&made) {
                pile.pop();
            } else {
                pile.clear();
            }
        }
        if !reverted.is_empty() {
            pile.push(reverted);
        }
        for NumberedEdit { placed, .. } in batch {
            let target = EditTarget { position: placed.position, seq: placed.seq };
            known.insert(target, &placed.edit);
        }
    }
    pile
}
