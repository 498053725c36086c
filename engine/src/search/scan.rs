//! Going through one session.

use std::cmp::Ordering;

use super::{Beside, Hit, Search};
use crate::jsonl::session as jsonl;
use crate::session::SessionDirectory;
use crate::session::native::holds_log;
use crate::view::{NumberedLine, ReadingQuery, ViewError};
use crate::{Clock, Mapping, Track};

/// Lines that are gone through before it is looked whether enough was found.
const STRETCH_LINES: u64 = 4096;
/// What a place that is a word of its own counts, against one within another word.
const WHOLE_WORD_WEIGHT: u64 = 3;
/// Lengths below this do not make a hit better.
const SHORT_CHARACTERS: u64 = 20;

/// What was found in a session, and what ended the search early, if something did.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) hits: Vec<Scored>,
    pub(super) error: Option<ViewError>,
}

/// A hit, and how good it is.
#[derive(Debug)]
pub(super) struct Scored {
    pub(super) score: u64,
    pub(super) hit: Hit,
}

/// A line as the search looks at it.
struct Looked<'text> {
    index: u64,
    track: Track,
    start_ms: u64,
    end_ms: u64,
    speaker: Option<&'text str>,
    text: &'text str,
}

/// Searches `session` for `keep` hits at most.
pub(super) fn scan(session: &SessionDirectory, search: &Search, keep: usize, clock: &dyn Clock) -> Outcome {
    let mut found = Finding::new(session, search, keep);
    let error = if holds_log(session.directory()).unwrap_or(false) {
        scan_log(session, &mut found).err()
    } else {
        scan_older(session, clock, &mut found).err()
    };
    Outcome { hits: found.hits, error }
}

fn scan_log(session: &SessionDirectory, found: &mut Finding<'_>) -> Result<(), ViewError> {
    let mut reader = session.read_log(Mapping::On)?;
    let mut snapshot = reader.snapshot()?;
    let mut from = 0;
    while from < snapshot.lines() && !found.is_enough() {
        snapshot.each(from..from + STRETCH_LINES, |line| {
            if !line.is_hidden() {
                found.look(&Looked {
                    index: line.index,
                    track: line.heard.track,
                    start_ms: line.heard.start_ms,
                    end_ms: line.heard.end_ms,
                    speaker: line.speaker,
                    text: &line.text,
                });
            }
        })?;
        from += STRETCH_LINES;
    }
    Ok(())
}

fn scan_older(
    session: &SessionDirectory,
    clock: &dyn Clock,
    found: &mut Finding<'_>,
) -> Result<(), ViewError> {
    let mut lines = jsonl::reading(session, &ReadingQuery::default(), clock)?.lines;
    lines.sort_by_key(|numbered| numbered.index);
    for numbered in &lines {
        let line = &numbered.line;
        found.look(&Looked {
            index: numbered.index,
            track: line.track,
            start_ms: line.start_ms,
            end_ms: line.end_ms,
            speaker: line.speaker.as_deref(),
            text: &line.text,
        });
    }
    Ok(())
}

/// What has been found so far.
struct Finding<'search> {
    session: &'search SessionDirectory,
    search: &'search Search,
    keep: usize,
    hits: Vec<Scored>,
    /// Memory that is used again for each line.
    room: String,
}

impl<'search> Finding<'search> {
    fn new(session: &'search SessionDirectory, search: &'search Search, keep: usize) -> Self {
        Self { session, search, keep, hits: Vec::new(), room: String::new() }
    }

    /// Whether no further line matters; of ranked hits the best may still come.
    fn is_enough(&self) -> bool {
        !self.search.is_ranked && self.hits.len() >= self.keep
    }

    fn look(&mut self, line: &Looked<'_>) {
        if self.is_wanted(line) && self.search.needle.is_in(line.text, &mut self.room) && !self.is_enough() {
            self.note(line);
        }
    }

    fn is_wanted(&self, line: &Looked<'_>) -> bool {
        self.search.track.is_none_or(|track| track == line.track)
            && self.search.speaker.as_deref().is_none_or(|name| line.speaker == Some(name))
    }

    fn note(&mut self, line: &Looked<'_>) {
        let places = self.search.needle.places(line.text);
        let weight = |(_, is_whole): &(_, bool)| if *is_whole { WHOLE_WORD_WEIGHT } else { 1 };
        let weights: u64 = places.iter().map(weight).sum();
        let characters = line.text.chars().count() as u64;
        let hit = Hit {
            session: self.session.id().to_string(),
            line: line.index,
            track: line.track,
            start_ms: line.start_ms,
            end_ms: line.end_ms,
            speaker: line.speaker.map(str::to_owned),
            text: line.text.to_owned(),
            places: places.into_iter().map(|(place, _)| (place.start, place.end)).collect(),
            before: Vec::new(),
            behind: Vec::new(),
        };
        self.hits.push(Scored { score: weights * 1_000 / characters.max(SHORT_CHARACTERS), hit });
        if self.search.is_ranked && self.hits.len() > self.keep.saturating_mul(2) {
            self.hits.sort_by_key(|scored| std::cmp::Reverse(scored.score));
            self.hits.truncate(self.keep);
        }
    }
}

/// Gives `hit`, which is in `session`, the lines beside it.
pub(super) fn add_context(
    session: &SessionDirectory,
    hit: &mut Hit,
    context: u64,
    clock: &dyn Clock,
) -> Result<(), ViewError> {
    let lines = hit.line.saturating_sub(context)..hit.line.saturating_add(context).saturating_add(1);
    let mut note = |beside: Beside| match beside.line.cmp(&hit.line) {
        Ordering::Less => hit.before.push(beside),
        Ordering::Equal => {}
        Ordering::Greater => hit.behind.push(beside),
    };
    if holds_log(session.directory())? {
        let mut reader = session.read_log(Mapping::On)?;
        reader.snapshot()?.each(lines, |line| {
            if !line.is_hidden() {
                let (speaker, text) = (line.speaker.map(str::to_owned), line.text.into_owned());
                note(Beside { line: line.index, start_ms: line.heard.start_ms, speaker, text });
            }
        })?;
        return Ok(());
    }
    let mut numbered = jsonl::reading(session, &ReadingQuery::default(), clock)?.lines;
    numbered.sort_by_key(|numbered| numbered.index);
    for NumberedLine { index, line, .. } in numbered {
        if lines.contains(&index) {
            note(Beside { line: index, start_ms: line.start_ms, speaker: line.speaker, text: line.text });
        }
    }
    Ok(())
}
