//! The fold's naive twin: applies events one by one to a vector of lines.
//!
//! It exists to be compared with the fold, so it is written another way: after each event every line is
//! what the fold says of the log up to there. Slow on purpose and free of cleverness.

use crate::event::{Change, Edit, Line};
use crate::fold::{FoldedLine, PlacedEdit, TEXT_LEN_MAX_BYTES, VoiceChange};

/// One edit that has been applied, and whether it still counts.
#[derive(Clone, Debug)]
struct Applied {
    edit: PlacedEdit,
    counts: bool,
}

/// Lines as they read after the events that have been given so far.
#[derive(Clone, Debug, Default)]
pub struct Replay {
    lines: Vec<(Line, Vec<Applied>, bool)>,
}

impl Replay {
    /// No lines yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A line was heard.
    pub fn push_line(&mut self, line: Line) {
        self.lines.push((line, Vec::new(), false));
    }

    /// An edit was made; one that names no line is ignored.
    pub fn push_edit(&mut self, edit: PlacedEdit) {
        let Ok(index) = usize::try_from(edit.edit.line) else { return };
        let Some((_, applied, hides_barred)) = self.lines.get_mut(index) else { return };
        let mut counts = true;
        match &edit.edit.change {
            Change::Revert { target } => {
                for earlier in applied.iter_mut() {
                    let is_named = earlier.edit.position == target.position && earlier.edit.seq == target.seq;
                    let is_revert = matches!(earlier.edit.edit.change, Change::Revert { .. });
                    let is_allowed = edit.edit.is_by_person() || !earlier.edit.edit.is_by_person();
                    if is_named && !is_revert && is_allowed {
                        earlier.counts = false;
                        let is_hide = matches!(earlier.edit.edit.change, Change::Hide { .. });
                        let machine_hid = is_hide && !earlier.edit.edit.is_by_person();
                        *hides_barred |= machine_hid && edit.edit.is_by_person();
                    }
                }
            }
            Change::Hide { .. } => counts = edit.edit.is_by_person() || !*hides_barred,
            Change::Repair { .. } | Change::Speaker { .. } | Change::Split { .. } => {}
        }
        applied.push(Applied { edit, counts });
    }

    /// Every line as it reads now, hidden ones included.
    pub fn lines(&self) -> Vec<FoldedLine> {
        self.lines
            .iter()
            .enumerate()
            .map(|(index, (heard, applied, _))| {
                let counting: Vec<&Edit> = applied
                    .iter()
                    .filter(|applied| applied.counts)
                    .map(|applied| &applied.edit.edit)
                    .collect();
                read(index as u64, heard, &counting)
            })
            .collect()
    }
}

fn read(index: u64, heard: &Line, edits: &[&Edit]) -> FoldedLine {
    let mut line = FoldedLine::unedited(index, heard.clone());
    let mut text = heard.text.clone();
    for edit in edits {
        match &edit.change {
            Change::Repair { from, to } if !from.is_empty() => {
                let repaired = text.split(from.as_str()).collect::<Vec<_>>().join(to);
                if repaired.len() <= TEXT_LEN_MAX_BYTES {
                    text = repaired;
                }
            }
            Change::Split { at_ms, at_character, name } => line.voices.push(VoiceChange {
                at_ms: *at_ms,
                at_character: *at_character,
                name: name.clone(),
            }),
            _ => {}
        }
    }
    line.repaired = (text != heard.text).then_some(text);
    let newest = |by_person: bool, value: fn(&Change) -> Option<&String>| {
        edits
            .iter()
            .rev()
            .filter(|edit| edit.is_by_person() == by_person)
            .find_map(|edit| value(&edit.change))
    };
    let chosen =
        |value: fn(&Change) -> Option<&String>| newest(true, value).or(newest(false, value)).cloned();
    line.speaker = chosen(|change| match change {
        Change::Speaker { name } => Some(name),
        _ => None,
    });
    line.hidden = chosen(|change| match change {
        Change::Hide { reason } => Some(reason),
        _ => None,
    });
    line
}
