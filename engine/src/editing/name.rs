//! Naming who spoke.

use super::{Draft, EditError, Selection};
use crate::{Change, Edit, Track};

impl Draft<'_> {
    /// Gives the lines that are meant to the person `name`. What people type wins over every machine's
    /// label, earlier or later.
    ///
    /// # Errors
    /// `name` is empty, has several lines, or looks like a label that a machine gives; no line is meant.
    pub fn name(&mut self, selection: &Selection, name: &str) -> Result<Vec<Edit>, EditError> {
        let name = checked(name)?;
        let change = |line| Edit {
            line,
            by: Edit::PERSON.to_owned(),
            change: Change::Speaker { name: name.to_owned() },
        };
        Ok(self.selected(selection)?.iter().map(|line| change(line.index)).collect())
    }
}

/// `name` without blanks around it, if it can be one.
fn checked(name: &str) -> Result<&str, EditError> {
    let refused = |why| EditError::NotAName { name: name.to_owned(), why };
    match name.trim() {
        "" => Err(refused("it is empty")),
        label if is_label(label) => Err(refused("that is how lines are labelled that nobody has named")),
        name if name.contains(char::is_control) => Err(refused("a name is on one line")),
        name => Ok(name),
    }
}

/// Whether a machine could have given this: a track and a number.
fn is_label(name: &str) -> bool {
    let number = |track: Track| name.strip_prefix(track.as_str())?.strip_prefix('-');
    [Track::Room, Track::Call]
        .into_iter()
        .filter_map(number)
        .any(|number| !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_a_track_and_a_number() {
        for label in ["room-1", "call-2", "call-10"] {
            assert!(is_label(label), "{label}");
        }
        for name in ["call-one", "roomba", "SPEAKER_00", "room-", "room1", "room-1a", "Room-1"] {
            assert!(!is_label(name), "{name}");
        }
    }

    #[test]
    fn a_name_is_what_stands_between_blanks() {
        assert_eq!(checked("  Priya N. ").unwrap(), "Priya N.");
        for name in ["", "  ", "call-2", "two\nlines"] {
            assert!(matches!(checked(name), Err(EditError::NotAName { .. })), "{name:?}");
        }
    }
}
