//! How a log came to say what it says: its events, its edits by number, and why one line reads as it does.
//!
//! Each goes through the log once from the start, since only so edits can be counted. Nothing here is on
//! the way of a reader that follows.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;

use super::cursor::Cursor;
use super::error::ReadError;
use super::segments::Segment;
use super::snapshot::{Snapshot, note_unknown, path_at, placed_edit};
use super::walk::Mark;
use super::window::Frame;
use crate::PayloadError;
use crate::event::{Event, Generation, Kind, decode};
use crate::fold::{FoldedLine, PlacedEdit, Standing, fold, standings};

/// An event where it stands in the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// Logical position of its frame.
    pub position: u64,
    /// Its number.
    pub seq: u64,
    /// When it was appended, in microseconds since 1970.
    pub ts_us: i64,
    /// The event.
    pub event: Event,
}

/// An edit as people see it: with a number, and with what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberedEdit {
    /// Its number among all edits, reverts included, from 0 in log order. Never another's.
    pub number: u64,
    /// Number of the first event of the batch it was appended with: edits that have it in common were made
    /// together.
    pub batch_seq: u64,
    /// The edit, and where and when it was appended.
    pub placed: PlacedEdit,
    /// Whether it counts.
    pub standing: Standing,
}

/// Why a line reads as it does.
#[derive(Clone, Debug, PartialEq)]
pub struct Provenance {
    /// The line's own event, unchanged. Where its sound is, is in it.
    pub recorded: Recorded,
    /// The line as it reads now.
    pub reads: FoldedLine,
    /// Every edit of the line, oldest first.
    pub edits: Vec<NumberedEdit>,
    /// The run of recognition that heard it, which names the model, if the log tells.
    pub generation: Option<Generation>,
    /// The segment that holds the line's frame.
    pub segment: PathBuf,
    /// Where in that file the frame begins, in bytes.
    pub offset: u64,
}

impl Snapshot<'_> {
    /// Every event, in log order; kinds this version does not know are left out.
    ///
    /// # Errors
    /// The disk refuses, or published bytes are damaged.
    pub fn events(&mut self) -> Result<Vec<Recorded>, ReadError> {
        self.events_behind(None)
    }

    /// Every event behind the one that `cursor` names, or every event without one, in log order; kinds this
    /// version does not know are left out.
    ///
    /// # Errors
    /// As [`Snapshot::events`], and [`ReadError::CursorLost`] when the cursor's frame is not there.
    pub fn events_behind(&mut self, cursor: Option<&Cursor>) -> Result<Vec<Recorded>, ReadError> {
        let from = match cursor {
            Some(cursor) => self.or_by_walking(|snapshot| snapshot.mark_behind(cursor))?,
            None => Mark::START,
        };
        let mut events = Vec::new();
        self.walk_events(from, |recorded| events.push(recorded))?;
        Ok(events)
    }

    /// Hands every event to `see`, in log order, and holds no more than one of them; kinds this version does
    /// not know are left out.
    ///
    /// # Errors
    /// As [`Snapshot::events`]. The events before have been handed out then.
    pub fn each_event(&mut self, see: impl FnMut(Recorded)) -> Result<(), ReadError> {
        self.walk_events(Mark::START, see)
    }

    fn walk_events(&mut self, from: Mark, mut see: impl FnMut(Recorded)) -> Result<(), ReadError> {
        self.walk(from, |frame| {
            if let Some(recorded) = recorded(frame)? {
                see(recorded);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(())
    }

    /// Every edit of the log, numbered in log order.
    ///
    /// # Errors
    /// As [`Snapshot::each`].
    pub fn edits(&mut self) -> Result<Vec<NumberedEdit>, ReadError> {
        let mut edits = self.number_edits(|_| Ok(()), |_| true)?;
        let mut of_lines: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (at, edit) in edits.iter().enumerate() {
            of_lines.entry(edit.placed.edit.line).or_default().push(at);
        }
        for places in of_lines.values() {
            let of_line: Vec<&PlacedEdit> = places.iter().map(|at| &edits[*at].placed).collect();
            for (at, standing) in places.iter().zip(standings(&of_line)) {
                edits[*at].standing = standing;
            }
        }
        Ok(edits)
    }

    /// Why `line` reads as it does: its own event, every edit of it, what heard it, and where it stands.
    ///
    /// # Errors
    /// As [`Snapshot::each`]; there is no such line.
    pub fn why(&mut self, line: u64) -> Result<Provenance, ReadError> {
        let heard = self.heard_line(line)?.line;
        let mut own = None;
        let mut generation = None;
        let note = |frame: &Frame<'_>| {
            let header = &frame.header;
            if header.kind == Kind::Line.number() && header.line == line {
                own = recorded(frame)?;
            } else if own.is_none() && header.kind == Kind::Generation.number() {
                // A run may be named again; the line goes by what was said last before it.
                if let Some(Event::Generation(run)) = recorded(frame)?.map(|recorded| recorded.event) {
                    generation = Some(run).filter(|run| run.number == heard.generation).or(generation.take());
                }
            }
            Ok(())
        };
        let mut edits = self.number_edits(note, |edited| edited == line)?;
        let Some(recorded) = own else {
            let position = self.line_position(line)?;
            return Err(self.damaged(position, format!("line {line} was expected there")));
        };
        let placed: Vec<PlacedEdit> = edits.iter().map(|edit| edit.placed.clone()).collect();
        for (edit, standing) in edits.iter_mut().zip(standings(&placed)) {
            edit.standing = standing;
        }
        let segments = &self.reader.segments;
        let base = segments.get(segments.find(recorded.position)?).map_or(0, Segment::base);
        Ok(Provenance {
            reads: fold(line, heard, &placed),
            edits,
            generation,
            segment: path_at(segments, recorded.position),
            offset: recorded.position - base,
            recorded,
        })
    }

    /// Goes through the log, hands each frame to `see`, and gives the edits of those lines that are `wanted`.
    /// What became of them is left open.
    fn number_edits(
        &mut self,
        mut see: impl FnMut(&Frame<'_>) -> Result<(), PayloadError>,
        wanted: impl Fn(u64) -> bool,
    ) -> Result<Vec<NumberedEdit>, ReadError> {
        let mut edits = Vec::new();
        let mut unknown = None;
        let (mut number, mut batch_seq) = (0, 0);
        self.walk(Mark::START, |frame| {
            note_unknown(frame, &mut unknown);
            see(frame)?;
            if Kind::try_from(frame.header.kind).is_ok_and(Kind::is_edit) {
                if wanted(frame.header.line) {
                    let placed = placed_edit(frame)?;
                    edits.push(NumberedEdit { number, batch_seq, placed, standing: Standing::Live });
                }
                number += 1;
            }
            if frame.header.is_batch_end() {
                batch_seq = frame.header.seq + 1;
            }
            Ok(ControlFlow::Continue(()))
        })?;
        unknown.map_or(Ok(edits), Err)
    }
}

/// The event in a frame; none of a kind that has none or that this version does not know.
fn recorded(frame: &Frame<'_>) -> Result<Option<Recorded>, PayloadError> {
    let header = &frame.header;
    let Ok(kind) = Kind::try_from(header.kind) else { return Ok(None) };
    if kind == Kind::Closed {
        return Ok(None);
    }
    let event = decode(kind, header.schema, header.line, frame.payload)?;
    Ok(Some(Recorded { position: frame.position, seq: header.seq, ts_us: header.ts_us, event }))
}
