//! Lines out of a [`Snapshot`]: as they read now, and as they were heard.
//!
//! One way for all: the index says where a line is and where its newest edit, neighbouring frames come out
//! of one read, and nothing is held but the window and the edits of one line. So what it costs depends on
//! the lines asked for and on how often they were edited, and what it takes in memory on neither.

use std::ops::{Bound, Range, RangeBounds};

use super::error::ReadError;
use super::snapshot::Snapshot;
use crate::event::Line;
use crate::fold::{FoldedLine, FoldedView, PlacedEdit, fold_view};

/// A line as it was heard.
#[derive(Clone, Debug, PartialEq)]
pub struct HeardLine {
    /// Number of the line, from 0 in log order.
    pub index: u64,
    /// The line.
    pub line: Line,
}

impl Snapshot<'_> {
    /// Hands the lines with the numbers `lines` to `see` as they read now, hidden ones included, in log
    /// order. Texts are lent, not copied. Numbers behind the last line are none.
    ///
    /// ```
    /// # use ambient_engine::{Event, Line, Log, Mapping, Options, Reader, Track};
    /// # let session = tempfile::tempdir()?;
    /// # let mut log = Log::create(session.path(), Options::default())?;
    /// # let line = |text: &str| Event::Line(Line {
    /// #     track: Track::Room, start_ms: 0, end_ms: 900, text: text.into(), confidence: 0.9,
    /// #     language: None, generation: 0, audio: None, overlap: false,
    /// # });
    /// log.append(&[line("good"), line("morning")])?;
    /// let mut reader = Reader::open(session.path(), Mapping::On)?;
    /// let mut words = String::new();
    /// reader.snapshot()?.each(.., |line| words += &line.text)?;
    /// assert_eq!(words, "goodmorning");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The disk refuses, published bytes are damaged, or an edit is of a kind this version does not know.
    /// The lines before have been handed out then.
    pub fn each(
        &mut self,
        lines: impl RangeBounds<u64>,
        mut see: impl FnMut(FoldedView<'_>),
    ) -> Result<(), ReadError> {
        let Range { start: mut next, end } = numbers(&lines);
        self.or_by_walking(|snapshot| {
            let end = end.min(snapshot.lines);
            let reach = snapshot.reach_of(next..end)?;
            while next < end {
                let edits = snapshot.follow_edits(next)?;
                snapshot.with_line(next, reach, |heard| see(fold_view(next, heard, &edits)))?;
                next += 1;
            }
            Ok(())
        })
    }

    /// The lines with the numbers `lines` as they read now, hidden ones included.
    ///
    /// # Errors
    /// As [`Snapshot::each`].
    pub fn range(&mut self, lines: impl RangeBounds<u64>) -> Result<Vec<FoldedLine>, ReadError> {
        let Range { start, end } = numbers(&lines);
        let mut folded = self.room_for(start..end);
        self.each(start..end, |line| folded.push(line.into_line()))?;
        Ok(folded)
    }

    /// The lines from number `since` on as they read now, hidden ones included. What it costs depends on
    /// how many lines come back and how often they were edited, not on how long the session is.
    ///
    /// # Errors
    /// As [`Snapshot::each`].
    pub fn since(&mut self, since: u64) -> Result<Vec<FoldedLine>, ReadError> {
        self.range(since..)
    }

    /// The lines with the numbers `lines` as they were heard.
    ///
    /// # Errors
    /// The disk refuses, or published bytes are damaged.
    pub fn verbatim(&mut self, lines: impl RangeBounds<u64>) -> Result<Vec<HeardLine>, ReadError> {
        let Range { start: mut next, end } = numbers(&lines);
        let mut heard = self.room_for(next..end);
        self.or_by_walking(|snapshot| {
            let end = end.min(snapshot.lines);
            let reach = snapshot.reach_of(next..end)?;
            while next < end {
                heard.push(snapshot.heard(next, reach)?);
                next += 1;
            }
            Ok(())
        })?;
        Ok(heard)
    }

    /// One line as it was heard.
    ///
    /// # Errors
    /// As [`Snapshot::verbatim`]; there is no such line.
    pub fn heard_line(&mut self, line: u64) -> Result<HeardLine, ReadError> {
        self.or_by_walking(|snapshot| snapshot.heard(line, 0))
    }

    fn heard(&mut self, index: u64, reach: u64) -> Result<HeardLine, ReadError> {
        self.with_line(index, reach, |heard| HeardLine { index, line: heard.to_line() })
    }

    /// One line as it reads now.
    ///
    /// # Errors
    /// As [`Snapshot::each`]; there is no such line.
    pub fn folded(&mut self, line: u64) -> Result<FoldedLine, ReadError> {
        self.or_by_walking(|snapshot| snapshot.fold_line(line))
    }

    pub(super) fn fold_line(&mut self, line: u64) -> Result<FoldedLine, ReadError> {
        // First, so that a line that is not there is an error of its own.
        self.line_position(line)?;
        let edits = self.follow_edits(line)?;
        self.with_line(line, 0, |heard| fold_view(line, heard, &edits).into_line())
    }

    /// The edits of one line, oldest first.
    ///
    /// # Errors
    /// As [`Snapshot::folded`].
    pub fn edits_of(&mut self, line: u64) -> Result<Vec<PlacedEdit>, ReadError> {
        self.or_by_walking(|snapshot| {
            snapshot.line_position(line)?;
            snapshot.follow_edits(line)
        })
    }

    /// Where the last of `lines` is: worth reading up to there.
    fn reach_of(&self, lines: Range<u64>) -> Result<u64, ReadError> {
        if lines.is_empty() { Ok(0) } else { self.line_position(lines.end - 1) }
    }

    /// A list with room for `lines`, as far as they are there.
    fn room_for<T>(&self, lines: Range<u64>) -> Vec<T> {
        let count = lines.end.min(self.lines).saturating_sub(lines.start);
        Vec::with_capacity(usize::try_from(count).unwrap_or(0))
    }
}

/// The numbers that `lines` holds; without a bound, all there can be.
fn numbers(lines: &impl RangeBounds<u64>) -> Range<u64> {
    let start = match lines.start_bound() {
        Bound::Included(first) => *first,
        Bound::Excluded(before) => before.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let end = match lines.end_bound() {
        Bound::Included(last) => last.saturating_add(1),
        Bound::Excluded(end) => *end,
        Bound::Unbounded => u64::MAX,
    };
    start..end
}
