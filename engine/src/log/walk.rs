//! The one walk over the frames of a log. Readers, recovery and `doctor --deep` all use it, so that they
//! cannot judge the same bytes differently.
//!
//! A batch counts only when its last frame is there: the walk accepts up to the last `BATCH_END` and hands
//! the index changes of a batch out when it is whole.

use super::disk::DiskError;
use super::error::ReadError;
use super::segments::Segments;
use super::window::{Frame, SCATTERED_LEN_BYTES, SEQUENTIAL_LEN_BYTES, Window};
use crate::event::Kind;
use crate::format::frame::FrameFault;
use crate::format::segment::FIRST_FRAME_OFFSET;
use crate::planted::{Defect, is_planted};

/// A place between two frames, and what has been counted up to there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Logical position of the next frame.
    pub(crate) position: u64,
    /// Number of the next event.
    pub(crate) next_seq: u64,
    /// Lines so far.
    pub(crate) lines: u64,
    /// The frame before, when there is one and it was seen.
    pub(crate) last_frame: Option<LastFrame>,
}

/// The frame before a [`Mark`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LastFrame {
    pub(crate) position: u64,
    pub(crate) crc: u32,
    pub(crate) kind: u8,
    pub(crate) is_batch_end: bool,
}

impl Mark {
    /// The beginning of a log.
    pub(crate) const START: Self =
        Self { position: FIRST_FRAME_OFFSET, next_seq: 0, lines: 0, last_frame: None };

    /// Whether a batch ends here.
    pub(crate) fn is_between_batches(&self) -> bool {
        self.last_frame.is_none_or(|frame| frame.is_batch_end)
    }

    /// Whether the log was closed here.
    pub(crate) fn is_closed(&self) -> bool {
        self.last_frame.is_some_and(|frame| frame.kind == Kind::Closed.number())
    }
}

/// What a frame means for the line index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IndexChange {
    pub(crate) line: u64,
    pub(crate) position: u64,
    /// The frame made the line; otherwise it is the line's newest edit.
    pub(crate) is_new_line: bool,
}

impl IndexChange {
    /// `lines` is how many there are before the frame.
    fn of(frame: &Frame<'_>, lines: u64) -> Option<Self> {
        let line = frame.header.line;
        let is_new_line = frame.header.kind == Kind::Line.number();
        let is_edit = frame.is_edit() && line < lines;
        (is_new_line || is_edit).then_some(Self { line, position: frame.position, is_new_line })
    }
}

/// Where a walk could not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stop {
    /// Number of the segment.
    pub(crate) segment: usize,
    /// Position of the bytes that are not the next frame.
    pub(crate) position: u64,
    pub(crate) fault: FrameFault,
}

/// A walk in progress.
pub(crate) struct Walk<'segments> {
    segments: &'segments Segments,
    segment: usize,
    at: Mark,
    /// Frames may be read before this position.
    limit: u64,
    window: Window,
}

impl<'segments> Walk<'segments> {
    /// Begins at `from`, where a frame begins or ends, and ends before `limit`.
    pub(crate) fn new(segments: &'segments Segments, from: Mark, limit: u64) -> Result<Self, ReadError> {
        let segment = segments.find_border(from.position)?;
        Ok(Self { segments, segment, at: from, limit, window: Window::default() })
    }

    /// Where the walk is.
    pub(crate) fn mark(&self) -> Mark {
        self.at
    }

    /// The next frame; none at the end; a stop where the bytes are not the next frame.
    pub(crate) fn next(&mut self) -> Result<Option<Result<Frame<'_>, Stop>>, DiskError> {
        let mut end = self.readable_end();
        while self.at.position >= end {
            let Some(next) = self.segments.get(self.segment + 1) else { return Ok(None) };
            if next.first_frame() > self.limit {
                return Ok(None);
            }
            self.segment += 1;
            self.at.position = next.first_frame();
            end = self.readable_end();
        }
        let (segment, at) = (self.segment, self.at);
        let stop = |fault| Stop { segment, position: at.position, fault };
        let frame = self.window.frame(self.segments, segment, at.position, end, SEQUENTIAL_LEN_BYTES)?;
        let frame = match frame.and_then(|frame| follows(&frame, &at).map(|()| frame)) {
            Ok(frame) => frame,
            Err(fault) => return Ok(Some(Err(stop(fault)))),
        };
        self.at = Mark {
            position: frame.end(),
            next_seq: at.next_seq + 1,
            lines: at.lines + u64::from(frame.header.kind == Kind::Line.number()),
            last_frame: Some(LastFrame {
                position: frame.position,
                crc: frame.header.crc,
                kind: frame.header.kind,
                is_batch_end: frame.header.is_batch_end(),
            }),
        };
        Ok(Some(Ok(frame)))
    }

    /// Where this segment's frames end at the latest.
    fn readable_end(&self) -> u64 {
        self.segments.proved_end(self.segment).unwrap_or(u64::MAX).min(self.limit)
    }
}

/// Whether a whole frame is the one that belongs at `at`.
fn follows(frame: &Frame<'_>, at: &Mark) -> Result<(), FrameFault> {
    let header = &frame.header;
    if header.seq != at.next_seq {
        return Err(FrameFault::Seq { expected: at.next_seq, found: header.seq });
    }
    let fits = match Kind::try_from(header.kind) {
        Ok(kind) if kind.is_edit() => header.line < at.lines,
        Ok(_) => header.line == at.lines,
        Err(_) => true,
    };
    if fits { Ok(()) } else { Err(FrameFault::Line { expected: at.lines, found: header.line }) }
}

/// The mark at `end`, found from the last line before it: `line_position` tells where a line's frame is, and
/// `lines` how many there are at most. None when what is there does not add up, so that the caller walks
/// from the start instead.
pub(crate) fn mark_at(
    segments: &Segments,
    lines: u64,
    end: u64,
    line_position: impl Fn(u64) -> Result<u64, DiskError>,
) -> Result<Option<Mark>, ReadError> {
    let mut lines = lines;
    let mut from = Mark::START;
    while lines > 0 {
        let position = line_position(lines - 1)?;
        if position == 0 {
            return Ok(None);
        }
        if position < end {
            let Some(found) = mark_before_line(segments, lines - 1, position)? else { return Ok(None) };
            from = found;
            break;
        }
        // The count is stored before the word that publishes: what lies behind `end` is not there yet.
        lines -= 1;
    }
    let survey = survey(segments, from, end, |_| ())?;
    let adds_up = survey.stop.is_none()
        && survey.reached.position == end
        && survey.reached.lines == lines
        && survey.reached.is_between_batches();
    Ok(adds_up.then_some(survey.reached))
}

fn mark_before_line(segments: &Segments, line: u64, position: u64) -> Result<Option<Mark>, ReadError> {
    let Ok(segment) = segments.find(position) else { return Ok(None) };
    let end = segments.proved_end(segment).unwrap_or(u64::MAX);
    let mut window = Window::default();
    let frame = window.frame(segments, segment, position, end, SCATTERED_LEN_BYTES)?;
    Ok(frame
        .ok()
        .filter(|frame| frame.header.kind == Kind::Line.number() && frame.header.line == line)
        .map(|frame| Mark { position, next_seq: frame.header.seq, lines: line, last_frame: None }))
}

/// How far the whole batches of a log go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Survey {
    /// Behind the last whole batch.
    pub(crate) accepted: Mark,
    /// Behind the last whole frame.
    pub(crate) reached: Mark,
    /// Why it went no further, unless it reached the limit.
    pub(crate) stop: Option<Stop>,
}

/// Walks from `from` up to `limit` and hands `accept` the index changes of every whole batch, in order.
pub(crate) fn survey(
    segments: &Segments,
    from: Mark,
    limit: u64,
    mut accept: impl FnMut(IndexChange),
) -> Result<Survey, ReadError> {
    let mut walk = Walk::new(segments, from, limit)?;
    let mut accepted = from;
    let mut pending = Vec::new();
    let stop = loop {
        let lines = walk.mark().lines;
        match walk.next()? {
            None => break None,
            Some(Err(stop)) => break Some(stop),
            Some(Ok(frame)) => {
                pending.extend(IndexChange::of(&frame, lines));
                if frame.header.is_batch_end() || is_planted(Defect::BatchEndIgnored) {
                    pending.drain(..).for_each(&mut accept);
                    accepted = walk.mark();
                }
            }
        }
    };
    let reached = walk.mark();
    if reached.is_between_batches() {
        // The same place, but for a segment without a whole batch: there it moves on without a frame.
        accepted = reached;
    }
    Ok(Survey { accepted, reached, stop })
}
