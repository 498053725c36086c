//! The cases that append: each on a store of its own, the same events in the same order, and only against
//! peers that promise the same about a power failure.

use std::path::Path;

use anyhow::Result;

use crate::floor::WriteLoop;
use crate::measure::{Case, Key, Operation, Sample, Subject, timed};
use crate::peer::{Ambient, Jsonl, Peer, Sqlite, Sync};
use crate::workload::Conversation;

/// How many events a store gains in one round at most.
const EVENTS_MAX: usize = 40_000;
/// How many batches a store gains in one round at most.
const BATCHES_MAX: usize = 2_000;
/// Batch sizes that are measured.
pub(crate) const BATCHES: [usize; 2] = [1, 100];
/// Events from which the average length of a frame is taken.
const FRAME_SAMPLE: usize = 100;

/// How long a frame of the workload is on average, in bytes.
pub(crate) fn frame_len_bytes(directory: &Path) -> Result<usize> {
    std::fs::create_dir_all(directory)?;
    let events = Conversation::default().next_events(FRAME_SAMPLE);
    Ok(Ambient::len_bytes_of(directory, &events)? / FRAME_SAMPLE)
}

/// All cases for one durability and batch size, on new stores below `directory`.
pub(crate) fn cases(
    directory: &Path,
    sync: Sync,
    batch: usize,
    frame_len_bytes: usize,
) -> Result<Vec<Case<'static>>> {
    let place = |subject: Subject| -> Result<_> {
        let place = directory.join(format!("{subject:?}-{sync:?}-{batch}"));
        std::fs::create_dir_all(&place)?;
        Ok(place)
    };
    let mut floor = WriteLoop::create(&place(Subject::Floor)?, batch * frame_len_bytes, sync)?;
    let samples = [
        (Subject::Ambient, appends::<Ambient>(&place(Subject::Ambient)?, sync, batch)?),
        (Subject::Sqlite, appends::<Sqlite>(&place(Subject::Sqlite)?, sync, batch)?),
        (Subject::Jsonl, appends::<Jsonl>(&place(Subject::Jsonl)?, sync, batch)?),
        (Subject::Floor, Box::new(move |repeats| timed(repeats, || floor.append()))),
    ];
    let samples_max = (EVENTS_MAX / batch).min(BATCHES_MAX);
    let operation = Operation::Append { sync, batch };
    let case = |(subject, sample)| Case::single(Key { operation, lines: None, subject }, samples_max, sample);
    Ok(samples.into_iter().map(case).collect())
}

/// Appends the next `batch` events each time; making them is not timed.
fn appends<P: Peer + 'static>(directory: &Path, sync: Sync, batch: usize) -> Result<Sample<'static>> {
    let mut peer = P::create(directory, sync)?;
    let mut conversation = Conversation::default();
    Ok(Box::new(move |repeats| {
        let events = conversation.next_events(batch);
        timed(repeats, || peer.append(&events))
    }))
}
