//! Which lines a person means.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use super::{Draft, EditError};
use crate::Track;

/// Conditions that hold at once; without any, every line is meant. Hidden lines are lines like others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Numbers of lines; none: any.
    pub lines: Vec<RangeInclusive<u64>>,
    /// Lines that begin at this time or later, in milliseconds from the start of the session.
    pub from_ms: Option<u64>,
    /// Lines that begin before this time.
    pub to_ms: Option<u64>,
    /// Lines of this track.
    pub track: Option<Track>,
    /// Lines of whoever reads as one of these names now; none: anyone's.
    pub speakers: Vec<String>,
}

/// A line that is meant, as far as deciding needs it.
#[derive(Debug)]
pub(super) struct Selected {
    pub(super) index: u64,
    pub(super) start_ms: u64,
    pub(super) text: String,
}

impl Selection {
    /// Whether the line with the number `index`, which begins at `start_ms` and reads as `speaker`'s, is meant.
    pub(crate) fn holds(&self, index: u64, track: Track, start_ms: u64, speaker: Option<&str>) -> bool {
        (self.lines.is_empty() || self.lines.iter().any(|range| range.contains(&index)))
            && self.from_ms.is_none_or(|from_ms| start_ms >= from_ms)
            && self.to_ms.is_none_or(|to_ms| start_ms < to_ms)
            && self.track.is_none_or(|wanted| wanted == track)
            && (self.speakers.is_empty()
                || speaker.is_some_and(|speaker| self.speakers.iter().any(|name| name == speaker)))
    }
}

impl Draft<'_> {
    /// The lines that are meant, by the clock.
    ///
    /// # Errors
    /// A number or a name stands for no line, or the conditions together fit none.
    pub(super) fn selected(&mut self, selection: &Selection) -> Result<Vec<Selected>, EditError> {
        let lines = self.snapshot.lines();
        if let Some(line) = selection.lines.iter().map(|range| *range.end()).find(|line| *line >= lines) {
            return Err(EditError::NoSuchLine { line, lines });
        }
        let mut names = BTreeSet::new();
        let mut selected = Vec::new();
        self.snapshot.each(.., |line| {
            if let Some(name) = line.speaker.filter(|name| !names.contains(*name)) {
                names.insert(name.to_owned());
            }
            if selection.holds(line.index, line.heard.track, line.heard.start_ms, line.speaker) {
                let (index, start_ms) = (line.index, line.heard.start_ms);
                selected.push(Selected { index, start_ms, text: line.text.into_owned() });
            }
        })?;
        if let Some(label) = selection.speakers.iter().find(|label| !names.contains(*label)) {
            return Err(EditError::NoSuchSpeaker {
                label: label.clone(),
                available: names.into_iter().collect(),
            });
        }
        if selected.is_empty() {
            return Err(EditError::NothingSelected);
        }
        selected.sort_by_key(|line| line.start_ms);
        Ok(selected)
    }
}
