//! The log as it was: [`Snapshot::at`].
//!
//! A moment lies between two batches, never within one. Event numbers rise, so the batch of one is found by
//! halving. The writers' clocks need not rise, so a time is found by going through the log from its start.

use std::ops::ControlFlow;

use super::error::ReadError;
use super::snapshot::Snapshot;
use super::walk::Mark;
use crate::event::Kind;

/// A moment in the life of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// When the event with this number had just been appended, and its whole batch with it.
    Event(u64),
    /// This time, in microseconds since 1970: before the first batch that the clock of its writer put later.
    /// What was appended behind that batch came later, whatever its own time says.
    TimeUs(i64),
}

impl Snapshot<'_> {
    /// The log as it was at `moment`, or as it is in this snapshot when the moment lies behind it. Everything
    /// can be asked of it that can be asked of the newest one.
    ///
    /// ```
    /// # use ambient_engine::{Event, Line, Log, Mapping, Moment, Options, Reader, Track};
    /// # let session = tempfile::tempdir()?;
    /// # let mut log = Log::create(session.path(), Options::default())?;
    /// # let line = |text: &str| Event::Line(Line {
    /// #     track: Track::Room, start_ms: 0, end_ms: 900, text: text.into(), confidence: 0.9,
    /// #     language: None, generation: 0, audio: None, overlap: false,
    /// # });
    /// log.append(&[line("good")])?;
    /// log.append(&[line("morning")])?;
    /// let mut reader = Reader::open(session.path(), Mapping::On)?;
    /// assert_eq!(reader.snapshot()?.lines(), 2);
    /// assert_eq!(reader.snapshot()?.at(Moment::Event(0))?.lines(), 1);
    /// assert_eq!(reader.snapshot()?.at(Moment::TimeUs(0))?.lines(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The disk refuses, or published bytes are damaged.
    pub fn at(mut self, moment: Moment) -> Result<Self, ReadError> {
        let (end, lines) = self.or_by_walking(|snapshot| snapshot.end_at(moment))?;
        (self.end, self.lines) = (end, lines);
        Ok(self)
    }

    /// The log as it was when `end` was its end, which may lie within a batch.
    #[cfg(test)]
    pub(super) fn rewound_to(mut self, end: u64) -> Result<Self, ReadError> {
        (self.lines, self.end) = (self.lines_before(end)?, end);
        Ok(self)
    }

    /// Where the last batch of `moment` ends, and how many lines lie before.
    fn end_at(&mut self, moment: Moment) -> Result<(u64, u64), ReadError> {
        let from = match moment {
            Moment::Event(seq) => self.mark_before_event(seq)?,
            Moment::TimeUs(_) => Mark::START,
        };
        let mut lines = from.lines;
        let mut batch_end = (from.position, from.lines);
        let mut is_behind = false;
        self.walk(from, |frame| {
            is_behind = matches!(moment, Moment::TimeUs(time_us) if frame.header.ts_us > time_us);
            if is_behind {
                return Ok(ControlFlow::Break(()));
            }
            lines += u64::from(frame.header.kind == Kind::Line.number());
            if !frame.header.is_batch_end() {
                return Ok(ControlFlow::Continue(()));
            }
            batch_end = (frame.end(), lines);
            is_behind = matches!(moment, Moment::Event(seq) if frame.header.seq >= seq);
            Ok(if is_behind { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        Ok(if is_behind { batch_end } else { (self.end, self.lines) })
    }

    /// The mark before the last line up to the event with number `seq`.
    fn mark_before_event(&mut self, seq: u64) -> Result<Mark, ReadError> {
        let (mut low, mut high) = (0, self.lines);
        let mut mark = Mark::START;
        while low < high {
            let line = low + (high - low) / 2;
            let position = self.line_position(line)?;
            let frame = self.frame(position)?;
            let found = frame.header;
            if found.kind != Kind::Line.number() || found.line != line {
                return Err(self.damaged(position, format!("line {line} was expected there")));
            }
            if found.seq <= seq {
                mark = Mark { position, next_seq: found.seq, lines: line, last_frame: None };
                low = line + 1;
            } else {
                high = line;
            }
        }
        Ok(mark)
    }
}
