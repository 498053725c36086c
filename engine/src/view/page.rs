//! The reply to "what was said": which lines are asked for, and how many of them one reply takes.
//!
//! Asked for nothing special, a reply holds every line from `since` on and exactly four keys; every further
//! key is there because it was asked for. A reader counts lines (`since`, `next`), or keeps a cursor: then it
//! also hears of earlier lines that read differently now.
//!
//! A limit never splits a character and always lets a reader get on: a line that is too long for a reply by
//! itself is cut, and says so by its last character.

use std::collections::HashSet;

use serde::Serialize;

use super::{SessionState, TranscriptLine};
use crate::Track;

/// The last character of a text that was cut.
const CUT_MARK: char = '…';
/// How many lines are read at once, at least and at most, for a reply that may be cut short.
const AT_ONCE_MIN: u64 = 32;
const AT_ONCE_MAX: u64 = 1024;

/// Where reading goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadFrom<'a> {
    /// At the line with this index, counted in the order they were written.
    Line(u64),
    /// Behind the event that a cursor of an earlier reply names; at the start when it is empty.
    Cursor(&'a str),
}

/// How lines are worded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wording {
    /// As they read now, hidden ones left out.
    #[default]
    Now,
    /// As they were first heard, without names and corrections; hidden ones too.
    Heard,
    /// As they were first heard, but for those that are hidden now: they are left out.
    HeardUnlessHidden,
}

/// Which lines are asked for, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TranscriptQuery<'a> {
    /// Where to go on.
    pub from: ReadFrom<'a>,
    /// How they are worded.
    pub wording: Wording,
    /// How many lines, earlier ones that read differently included.
    pub limit: Option<u64>,
    /// How many characters their texts have together; 0 counts as 1.
    pub max_chars: Option<u64>,
    /// By the clock, and not in the order they were written.
    pub by_clock: bool,
    /// With how sure the recogniser was.
    pub with_confidence: bool,
}

impl Default for TranscriptQuery<'_> {
    /// Every line, as it reads now.
    fn default() -> Self {
        Self {
            from: ReadFrom::Line(0),
            wording: Wording::Now,
            limit: None,
            max_chars: None,
            by_clock: false,
            with_confidence: false,
        }
    }
}

/// The lines that were asked for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Transcript {
    /// The session's id.
    pub session: String,
    /// What it is doing.
    pub state: SessionState,
    /// What to pass as `since` next time: the index behind the last line that was looked at.
    pub next: u64,
    /// The lines: in the order they were written, unless they were asked for by the clock.
    pub lines: Vec<PageLine>,
    /// Earlier lines that read differently since the cursor; only where one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<Vec<PageLine>>,
    /// Whether there is more to be had at once; only where a limit was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more: Option<bool>,
    /// What to pass as `cursor` next time; only where one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// A line of a reply: five keys, and those that were asked for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PageLine {
    /// Its index in the order lines were written; only where a cursor was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Where it was heard.
    pub track: Track,
    /// Start in milliseconds.
    pub start_ms: u64,
    /// End in milliseconds.
    pub end_ms: u64,
    /// Who spoke, when something has named them.
    pub speaker: Option<String>,
    /// The words; none of a line that is hidden now.
    pub text: String,
    /// Mean probability of the recognised tokens, 0 to 1, and 0 when unknown; only where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f32>,
    /// Whether an earlier line is hidden now, and so is no longer part of the transcript.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hidden: Option<bool>,
}

/// A line as a source has it: what a page takes.
pub(crate) struct Offered {
    pub(crate) index: u64,
    pub(crate) line: TranscriptLine,
    pub(crate) confidence: f32,
    pub(crate) is_hidden: bool,
}

/// A reply in the making.
pub(crate) struct Page<'a> {
    query: TranscriptQuery<'a>,
    lines_left: u64,
    chars_left: u64,
    lines: Vec<PageLine>,
    changed: Vec<PageLine>,
    /// The earlier lines that were taken.
    known: HashSet<u64>,
}

impl<'a> Page<'a> {
    pub(crate) fn new(query: TranscriptQuery<'a>) -> Self {
        Self {
            query,
            lines_left: query.limit.unwrap_or(u64::MAX),
            chars_left: query.max_chars.map_or(u64::MAX, |chars| chars.max(1)),
            lines: Vec::new(),
            changed: Vec::new(),
            known: HashSet::new(),
        }
    }

    /// How many lines are worth reading at once.
    pub(crate) fn lines_at_once(&self) -> u64 {
        if self.is_limited() { self.lines_left.clamp(AT_ONCE_MIN, AT_ONCE_MAX) } else { u64::MAX }
    }

    /// Whether lines are wanted as they were heard.
    pub(crate) fn is_verbatim(&self) -> bool {
        self.query.wording != Wording::Now
    }

    /// Whether edits have a say in what is told.
    pub(crate) fn heeds_edits(&self) -> bool {
        self.query.wording != Wording::Heard
    }

    /// Whether the reply can be cut short.
    fn is_limited(&self) -> bool {
        self.query.limit.is_some() || self.query.max_chars.is_some()
    }

    /// Takes the next new line; false when there is no room for it. A hidden one takes none.
    pub(crate) fn take(&mut self, offered: Offered) -> bool {
        if offered.is_hidden {
            return true;
        }
        let Some(line) = self.admit(offered) else { return false };
        self.lines.push(PageLine { hidden: None, ..line });
        true
    }

    /// Takes an earlier line that reads differently now; false when there is no room for it. How it reads
    /// counts, not how often that changed.
    pub(crate) fn take_changed(&mut self, mut offered: Offered) -> bool {
        let index = offered.index;
        if self.known.contains(&index) {
            return true;
        }
        if offered.is_hidden {
            offered.line.text.clear();
            offered.line.speaker = None;
        }
        let Some(line) = self.admit(offered) else { return false };
        self.changed.push(line);
        self.known.insert(index);
        true
    }

    fn admit(&mut self, offered: Offered) -> Option<PageLine> {
        if self.lines_left == 0 {
            return None;
        }
        let Offered { index, line, confidence, is_hidden } = offered;
        let TranscriptLine { track, start_ms, end_ms, speaker, mut text } = line;
        if self.query.max_chars.is_some() {
            let chars = text.chars().count() as u64;
            if chars <= self.chars_left {
                self.chars_left -= chars;
            } else if self.lines.is_empty() && self.changed.is_empty() {
                cut(&mut text, self.chars_left);
                self.chars_left = 0;
            } else {
                return None;
            }
        }
        self.lines_left -= 1;
        let has_cursor = matches!(self.query.from, ReadFrom::Cursor(_));
        let confidence = self.query.with_confidence.then_some(confidence);
        let (line, hidden) = (has_cursor.then_some(index), Some(is_hidden));
        Some(PageLine { line, track, start_ms, end_ms, speaker, text, confidence, hidden })
    }

    /// The reply. `next` is the index behind the last line that was looked at, `cursor` where to go on.
    pub(crate) fn finish(
        self,
        session: String,
        state: SessionState,
        next: u64,
        has_more: bool,
        cursor: Option<String>,
    ) -> Transcript {
        let more = self.is_limited().then_some(has_more);
        let Self { query, mut lines, mut changed, .. } = self;
        if query.by_clock {
            lines.sort_by_key(|line| line.start_ms);
            changed.sort_by_key(|line| line.start_ms);
        }
        let changed = matches!(query.from, ReadFrom::Cursor(_)).then_some(changed);
        Transcript { session, state, next, lines, changed, more, cursor }
    }
}

/// Shortens `text`, which is longer, to `chars` characters, the last of which says so.
fn cut(text: &mut String, chars: u64) {
    let kept = usize::try_from(chars.saturating_sub(1)).unwrap_or(usize::MAX);
    if let Some((end, _)) = text.char_indices().nth(kept) {
        text.truncate(end);
        text.push(CUT_MARK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(index: u64, text: &str) -> Offered {
        let line = TranscriptLine {
            track: Track::Room,
            start_ms: 0,
            end_ms: 1,
            speaker: None,
            text: text.to_owned(),
        };
        Offered { index, line, confidence: 0.5, is_hidden: false }
    }

    fn page<'a>(limit: Option<u64>, max_chars: Option<u64>) -> Page<'a> {
        Page::new(TranscriptQuery { limit, max_chars, ..TranscriptQuery::default() })
    }

    fn texts(page: &Page<'_>) -> Vec<String> {
        page.lines.iter().map(|line| line.text.clone()).collect()
    }

    #[test]
    fn characters_are_counted_and_not_bytes_and_none_is_split() {
        let mut page = page(None, Some(5));
        assert!(page.take(offered(0, "é€😀")));
        assert!(!page.take(offered(1, "abc")));
        assert!(page.take(offered(1, "ab")));
        assert!(!page.take(offered(2, "a")));
        assert_eq!(texts(&page), ["é€😀", "ab"]);
    }

    #[test]
    fn a_line_too_long_for_any_reply_is_cut_and_says_so() {
        for (max_chars, expected) in [(0, "…"), (1, "…"), (3, "é€…"), (4, "é€😀x")] {
            let mut page = page(None, Some(max_chars));
            assert!(page.take(offered(0, "é€😀x")));
            assert_eq!(texts(&page), [expected]);
            assert!(!page.take(offered(1, "y")));
        }
    }

    #[test]
    fn a_hidden_line_takes_no_room() {
        let mut page = page(Some(1), None);
        assert!(page.take(Offered { is_hidden: true, ..offered(0, "gone") }));
        assert!(page.take(offered(1, "here")));
        assert!(!page.take(offered(2, "late")));
        assert!(page.take(Offered { is_hidden: true, ..offered(2, "gone") }));
        assert_eq!(texts(&page), ["here"]);
    }
}
