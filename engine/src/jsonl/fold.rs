//! Files the edits of a JSONL session so that the log's own fold can apply them.
//!
//! An edit names its line by track and start. Edits are filed under that place when they are read, so
//! folding costs lines plus edits and never their product. What they do is decided by [`fold`] alone: a
//! session reads the same in either layout. An edit's number stands for its position in a log.

use std::collections::HashMap;

use super::record::{EditRecord, Place};
use crate::view::TranscriptLine;
use crate::{Change, Edit, EditTarget, Line, PlacedEdit, fold};

/// The lines of a session and every edit, filed by the place it is about.
#[derive(Debug, Default)]
pub(super) struct Filed {
    lines: Vec<Line>,
    /// Of the lines that begin at one place, an edit means the first.
    first_lines: HashMap<Place, usize>,
    edits: HashMap<Place, Vec<PlacedEdit>>,
    /// What each edit is about, by its number; none for those that could not be used and for reverts.
    places: Vec<Option<Place>>,
    /// What each edit changes, by its number; a revert changes what the edit it names does.
    touched: Vec<Option<Place>>,
}

impl Filed {
    pub(super) fn lines(&self) -> &[Line] {
        &self.lines
    }

    pub(super) fn add_line(&mut self, line: Line) {
        self.first_lines.entry(place(&line)).or_insert(self.lines.len());
        self.lines.push(line);
    }

    /// Counts an edit that cannot be used: reverts name edits by number.
    pub(super) fn skip_edit(&mut self) {
        self.places.push(None);
        self.touched.push(None);
    }

    /// How many edits there are, with those that could not be used.
    pub(super) fn edits(&self) -> usize {
        self.touched.len()
    }

    /// For each edit from number `from` on, which line it is about.
    pub(super) fn touched_lines(&self, from: usize) -> impl Iterator<Item = Option<usize>> + use<'_> {
        let touched = self.touched.iter().skip(from);
        touched.map(|place| place.and_then(|place| self.first_lines.get(&place).copied()))
    }

    /// Files the next edit. Edits come in the order of their file; a revert of one that has not come is
    /// of no effect.
    pub(super) fn add_edit(&mut self, record: EditRecord) {
        let seq = self.places.len() as u64;
        let (place, change, by) = match record {
            EditRecord::Repair { target, from, to, by } => (target, Change::Repair { from, to }, by),
            // A blank name names nobody; the log would not take it either.
            EditRecord::Speaker { name, .. } if name.trim().is_empty() => return self.skip_edit(),
            EditRecord::Speaker { target, name, by } => (target, Change::Speaker { name }, by),
            EditRecord::Revert { target_seq, by } => {
                self.places.push(None);
                let named = usize::try_from(target_seq).ok().and_then(|seq| self.places.get(seq).copied());
                self.touched.push(named.flatten());
                let Some(place) = named.flatten() else { return };
                let target = EditTarget { position: target_seq, seq: target_seq };
                self.file(place, seq, Change::Revert { target }, by);
                return;
            }
        };
        self.places.push(Some(place));
        self.touched.push(Some(place));
        self.file(place, seq, change, by);
    }

    fn file(&mut self, place: Place, seq: u64, change: Change, by: String) {
        // Which line it is about is settled by the place; the number is not used.
        let edit = Edit { line: 0, by, change };
        self.edits.entry(place).or_default().push(PlacedEdit { position: seq, seq, ts_us: 0, edit });
    }

    /// Line `index` as it reads with its edits applied, or as it was heard when `is_verbatim`.
    pub(super) fn reading(&self, index: usize, line: &Line, is_verbatim: bool) -> TranscriptLine {
        let place = place(line);
        let edits = self.edits.get(&place).filter(|_| !is_verbatim);
        match edits.filter(|_| self.first_lines.get(&place) == Some(&index)) {
            Some(edits) => fold(index as u64, line.clone(), edits).into(),
            None => line.clone().into(),
        }
    }
}

fn place(line: &Line) -> Place {
    Place { track: line.track, start_ms: line.start_ms }
}
