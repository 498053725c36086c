//! How the lines of a JSONL session read with their edits applied.
//!
//! Edits are filed under the place they name when they are read, so folding costs lines plus edits and
//! never their product. The rules are those of the log's fold: repairs apply in the order they were
//! written, a person's name beats a machine's whatever the order, an edit that was taken back counts for
//! nothing, and a machine cannot take back what a person did. Only `user` is a person.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::record::{EditRecord, HeardLine, Place};
use crate::Edit;
use crate::view::TranscriptLine;

/// An edit that changes a line, with its number among all edits of the file.
#[derive(Debug)]
struct Filed {
    seq: u64,
    is_by_person: bool,
    change: FiledChange,
}

#[derive(Debug)]
enum FiledChange {
    Repair { from: String, to: String },
    Speaker { name: String },
}

/// Every edit of a session, filed by the place it is about.
#[derive(Debug, Default)]
pub(crate) struct Edits {
    by_place: HashMap<Place, Vec<Filed>>,
    /// Numbers that were taken back, and whether a person did so.
    taken_back: HashMap<u64, bool>,
}

impl Edits {
    /// Files the edit that has the number `seq`. Edits come in the order of their file.
    pub(crate) fn add(&mut self, seq: u64, record: EditRecord) {
        let (target, by, change) = match record {
            EditRecord::Revert { target_seq, by } => {
                *self.taken_back.entry(target_seq).or_default() |= by == Edit::PERSON;
                return;
            }
            EditRecord::Repair { target, from, to, by } => (target, by, FiledChange::Repair { from, to }),
            EditRecord::Speaker { target, name, by } => (target, by, FiledChange::Speaker { name }),
        };
        let filed = Filed { seq, is_by_person: by == Edit::PERSON, change };
        self.by_place.entry(target).or_default().push(filed);
    }

    fn is_live(&self, edit: &Filed) -> bool {
        match self.taken_back.get(&edit.seq) {
            None => true,
            Some(by_person) => edit.is_by_person && !by_person,
        }
    }

    /// `line` with the edits about its place applied.
    fn apply(&self, heard: &HeardLine) -> TranscriptLine {
        let mut line = verbatim(heard);
        let mut named_by_person = false;
        let place = Place { track: heard.track, start_ms: heard.start_ms };
        let filed = self.by_place.get(&place).map_or(&[][..], Vec::as_slice);
        for edit in filed.iter().filter(|edit| self.is_live(edit)) {
            match &edit.change {
                FiledChange::Repair { from, .. } if from.is_empty() => {}
                FiledChange::Repair { from, to } => line.text = line.text.replace(from.as_str(), to),
                FiledChange::Speaker { name } => {
                    if edit.is_by_person || !named_by_person {
                        line.speaker = Some(name.clone());
                        named_by_person = edit.is_by_person;
                    }
                }
            }
        }
        line
    }
}

/// `line` as it was heard.
pub(crate) fn verbatim(heard: &HeardLine) -> TranscriptLine {
    TranscriptLine {
        track: heard.track,
        start_ms: heard.start_ms,
        end_ms: heard.end_ms,
        speaker: None,
        text: heard.text.clone(),
    }
}

/// Which of the lines that begin at one place an edit means: the first.
#[derive(Debug, Default)]
pub(crate) struct FirstLines(HashMap<Place, usize>);

impl FirstLines {
    /// Notes that line `index` begins at its place.
    pub(crate) fn add(&mut self, index: usize, heard: &HeardLine) {
        let place = Place { track: heard.track, start_ms: heard.start_ms };
        if let Entry::Vacant(vacant) = self.0.entry(place) {
            vacant.insert(index);
        }
    }

    /// Line `index` as it reads now.
    pub(crate) fn fold(&self, edits: &Edits, index: usize, heard: &HeardLine) -> TranscriptLine {
        let place = Place { track: heard.track, start_ms: heard.start_ms };
        if self.0.get(&place) == Some(&index) { edits.apply(heard) } else { verbatim(heard) }
    }
}
