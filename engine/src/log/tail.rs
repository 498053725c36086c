//! What the bytes behind the last whole batch are: a tail that was never acknowledged, or damage to
//! bytes that had been durable.
//!
//! Never a guess: damage is claimed only with proof, and a torn tail only when no proof of damage is
//! found. Proof is a whole frame behind the bad place whose `unsynced` distance says that the place had
//! been durable when that frame was written, or a bad place before a position that is known as durable.

use super::disk::DiskError;
use super::error::OpenError;
use super::segments::{Segment, Segments};
use super::walk::{Stop, Survey};
use crate::event::Kind;
use crate::format::SEGMENT_LEN_MAX_BYTES;
use crate::format::frame::{
    FRAME_ALIGNMENT, FRAME_ALIGNMENT_BYTES, FRAME_HEADER_LEN_BYTES, FrameHeader, UNSYNCED_UNKNOWN,
};

use crate::planted::{Defect, is_planted};

/// Checksum work is at most this many times the bytes that are searched.
const WORK_FACTOR: u64 = 4;

/// A tail that was never acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TornTail {
    /// Bytes behind the last whole batch.
    pub(crate) discarded_len_bytes: u64,
    /// Whole events among them.
    pub(crate) lost_events: u64,
}

/// Judges what lies behind `survey.accepted`. `proved` is a position before which everything is known to
/// have been whole, and why.
pub(crate) fn judge(
    segments: &Segments,
    survey: &Survey,
    proved: Option<(u64, &str)>,
) -> Result<TornTail, OpenError> {
    let last = segments.last();
    let file_end = last.file_end()?;
    let bad_position = survey.stop.map_or(survey.reached.position, |stop| stop.position);
    let survivors = match survey.stop {
        Some(stop) => find_survivors(segments, stop, survey.reached.next_seq)?,
        None => Survivors::default(),
    };
    let path = || {
        let number = survey.stop.map(|stop| stop.segment);
        number.and_then(|number| segments.get(number)).unwrap_or(last).file.path().to_owned()
    };
    let corrupt = |why: String| OpenError::Corrupt {
        path: path(),
        position: bad_position,
        why,
        survivors: survivors.whole_events,
    };
    let contradicted = proved.filter(|(position, _)| survey.accepted.position < *position);
    if let Some((position, why)) = contradicted {
        // Case I: before what a fitting head vouches for.
        return Err(corrupt(format!("{why} up to position {position}")));
    }
    if let Some(stop) = survey.stop {
        if segments.proved_end(stop.segment).is_some() {
            // Case J.
            return Err(corrupt(format!("a later segment vouches for these bytes: {}", stop.fault)));
        }
        if let Some(witness) = survivors.witness.filter(|_| !is_planted(Defect::SyncDistanceIgnored)) {
            // Case I.
            let why =
                format!("{}, and the event at position {witness} was written when it was whole", stop.fault);
            return Err(corrupt(why));
        }
        if survivors.is_undecided {
            // Case K.
            return Err(OpenError::Undecided { path: path(), position: stop.position });
        }
    }
    // Case C, or F where the machine died.
    let whole_before_stop = survey.reached.next_seq - survey.accepted.next_seq;
    Ok(TornTail {
        discarded_len_bytes: file_end.saturating_sub(survey.accepted.position),
        lost_events: whole_before_stop + survivors.whole_events,
    })
}

#[derive(Debug, Default)]
struct Survivors {
    whole_events: u64,
    /// Position of one that proves the bad place to have been durable.
    witness: Option<u64>,
    /// The work ran out before all was searched.
    is_undecided: bool,
}

/// Looks for whole frames behind a bad one, at every place where a frame may begin.
fn find_survivors(segments: &Segments, stop: Stop, next_seq: u64) -> Result<Survivors, DiskError> {
    let Some(segment) = segments.get(stop.segment) else { return Ok(Survivors::default()) };
    let rest = read_from(segment, stop.position)?;
    let mut budget = (rest.len() as u64).saturating_mul(WORK_FACTOR);
    let is_cut_short = segment.file_end()? > stop.position + rest.len() as u64;
    let mut found = Survivors { is_undecided: is_cut_short, ..Survivors::default() };
    let mut offset = FRAME_ALIGNMENT;
    while offset + FRAME_HEADER_LEN_BYTES <= rest.len() {
        let position = stop.position + offset as u64;
        let Some(header) = plausible(&rest[offset..], next_seq) else {
            offset += FRAME_ALIGNMENT;
            continue;
        };
        let Some(left) = budget.checked_sub(header.len_bytes()) else {
            found.is_undecided = true;
            break;
        };
        budget = left;
        if FrameHeader::check(&rest[offset..], segment.header.salt, position).is_err() {
            offset += FRAME_ALIGNMENT;
            continue;
        }
        found.whole_events += 1;
        if header.unsynced != UNSYNCED_UNKNOWN {
            let durable = position.saturating_sub(u64::from(header.unsynced) * FRAME_ALIGNMENT_BYTES);
            if durable > stop.position {
                found.witness.get_or_insert(position);
            }
        }
        offset += usize::try_from(header.len_bytes()).unwrap_or(FRAME_ALIGNMENT);
    }
    Ok(found)
}

/// The bytes from `position` on, but no more than a segment may have, however long the file is.
fn read_from(segment: &Segment, position: u64) -> Result<Vec<u8>, DiskError> {
    let len_bytes = segment.file_end()?.saturating_sub(position).min(SEGMENT_LEN_MAX_BYTES);
    let mut rest = vec![0; usize::try_from(len_bytes).unwrap_or(0)];
    let filled = segment.file.read_at(&mut rest, position - segment.base())?;
    rest.truncate(filled);
    Ok(rest)
}

/// Whether a frame that begins with `bytes` could be one of this log's later ones, so that a checksum is
/// worth its while.
fn plausible(bytes: &[u8], next_seq: u64) -> Option<FrameHeader> {
    let header = FrameHeader::peek(bytes).ok()?;
    let is_known = Kind::try_from(header.kind).is_ok() || header.is_ignorable();
    let furthest_seq = next_seq + (bytes.len() / FRAME_HEADER_LEN_BYTES) as u64 + 1;
    let has_seq = (next_seq..=furthest_seq).contains(&header.seq);
    let has_room = header.len_bytes() <= bytes.len() as u64;
    (is_known && has_seq && has_room).then_some(header)
}
