//! The cases that append: each on a store of its own, the same events in the same order, and only against
//! peers that promise the same about a power failure.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};

use crate::floor::WriteLoop;
use crate::key::{Floor, Key, Operation, Subject};
use crate::measure::{Case, Sample, timed};
use crate::peer::{Ambient, Appends, Fjall, Jsonl, Lmdb, Peer, Reads, Redb, Shared, Sqlite, Sync};
use crate::reading::Depth;
use crate::workload::Conversation;

/// How many events a store gains in one round at most.
const EVENTS_MAX: usize = 40_000;
/// How many batches a store gains in one round at most.
const BATCHES_MAX: usize = 2_000;
/// Events from which the average length of a frame is taken, and the bytes that a floor writes.
const FRAME_SAMPLE: usize = 100;

/// How many readers poll while batches of [`WATCHED_BATCH`] are appended.
pub(crate) const READERS: [usize; 3] = [0, 1, 8];
const WATCHED_BATCH: usize = 10;
/// Appends that are timed together while readers poll.
const WATCHED_APPENDS: u32 = 100;
/// How long a reader sleeps between two polls.
const POLL_EVERY: Duration = Duration::from_millis(1);

/// Durabilities and batch sizes that are measured.
pub(crate) fn kinds(depth: Depth) -> Vec<(Sync, usize)> {
    match depth {
        Depth::Full => {
            let syncs = [Sync::Os, Sync::Interval, Sync::Each];
            syncs.into_iter().flat_map(|sync| [1, 10, 100].map(|batch| (sync, batch))).collect()
        }
        _ => vec![(Sync::Os, 100), (Sync::Interval, 100), (Sync::Each, 1), (Sync::Each, 100)],
    }
}

/// The bytes of [`FRAME_SAMPLE`] frames of the workload: real ones, as disks may be quicker with bytes that
/// are all the same.
pub(crate) fn frames(directory: &Path) -> Result<Vec<u8>> {
    std::fs::create_dir_all(directory)?;
    Ambient::bytes_of(directory, &Conversation::default().next_events(FRAME_SAMPLE))
}

/// All cases for one durability and batch size, on new stores below `directory`.
pub(crate) fn cases(
    directory: &Path,
    (sync, batch): (Sync, usize),
    depth: Depth,
    frames: &[u8],
) -> Result<Vec<Case<'static>>> {
    let place = |subject: Subject| new_directory(directory, &format!("{subject:?}-{sync:?}-{batch}"));
    let floor = Subject::Floor(Floor::Pwrite);
    let len_bytes = batch * frames.len() / FRAME_SAMPLE;
    let bytes: Vec<u8> = frames.iter().copied().cycle().take(len_bytes).collect();
    let write_loop = WriteLoop::create(&place(floor)?, bytes, sync)?;
    let mut samples: Vec<(Subject, Sample<'static>)> = vec![
        (Subject::Ambient, appends::<Ambient>(&place(Subject::Ambient)?, sync, batch)?),
        (Subject::Sqlite, appends::<Sqlite>(&place(Subject::Sqlite)?, sync, batch)?),
        (Subject::Lmdb, appends::<Lmdb>(&place(Subject::Lmdb)?, sync, batch)?),
        (Subject::Jsonl, appends::<Jsonl>(&place(Subject::Jsonl)?, sync, batch)?),
        (floor, write_loop_appends(write_loop, batch)),
    ];
    if depth == Depth::Full {
        samples.push((Subject::Redb, appends::<Redb>(&place(Subject::Redb)?, sync, batch)?));
        samples.push((Subject::Fjall, appends::<Fjall>(&place(Subject::Fjall)?, sync, batch)?));
    }
    let samples_max = (EVENTS_MAX / batch).min(BATCHES_MAX);
    let operation = Operation::Append { sync, batch };
    let case =
        |(subject, sample)| Case::single(Key { operation, workload: None, subject }, samples_max, sample);
    Ok(samples.into_iter().map(case).collect())
}

fn new_directory(directory: &Path, name: &str) -> Result<PathBuf> {
    let place = directory.join(name);
    std::fs::create_dir_all(&place)?;
    Ok(place)
}

/// Writes the floor's bytes each time. The events of a batch are made before all the same, so that caches are
/// as cold and the disk has had as much time as before every other append.
fn write_loop_appends(mut write_loop: WriteLoop, batch: usize) -> Sample<'static> {
    let mut conversation = Conversation::default();
    Box::new(move |repeats| {
        let events = black_box(conversation.next_events(batch));
        let took = timed(repeats, || write_loop.append());
        drop(events);
        took
    })
}

/// Appends the next `batch` events each time; making them is not timed.
fn appends<P: Peer + 'static>(directory: &Path, sync: Sync, batch: usize) -> Result<Sample<'static>> {
    let (mut writer, reader) = P::create(directory, sync)?;
    let mut conversation = Conversation::default();
    Ok(Box::new(move |repeats| {
        // Kept, as a store that nobody reads is not the case.
        let _ = &reader;
        let events = conversation.next_events(batch);
        timed(repeats, || writer.append(&events))
    }))
}

/// Appends while readers poll, on new stores below `directory`.
pub(crate) fn watched_cases(directory: &Path) -> Result<Vec<Case<'static>>> {
    let mut cases = Vec::new();
    for readers in READERS {
        let operation = Operation::AppendWatched { readers };
        let place = |subject| new_directory(directory, &format!("{subject:?}-watched-{readers}"));
        let samples: [(Subject, Sample<'static>); 2] = [
            (Subject::Ambient, appends_watched::<Ambient>(place(Subject::Ambient)?, readers)?),
            (Subject::Sqlite, appends_watched::<Sqlite>(place(Subject::Sqlite)?, readers)?),
        ];
        let samples_max = EVENTS_MAX / WATCHED_BATCH / WATCHED_APPENDS as usize;
        cases.extend(samples.map(|(subject, sample)| {
            Case::single(Key { operation, workload: None, subject }, samples_max, sample)
        }));
    }
    Ok(cases)
}

/// Times [`WATCHED_APPENDS`] appends together, and gives how long one of them took.
fn appends_watched<P: Shared + 'static>(directory: PathBuf, readers: usize) -> Result<Sample<'static>> {
    let (mut writer, _) = P::create(&directory, Sync::Os)?;
    let mut conversation = Conversation::default();
    Ok(Box::new(move |_| {
        let batches: Vec<_> = (0..WATCHED_APPENDS).map(|_| conversation.next_events(WATCHED_BATCH)).collect();
        let (is_over, all_are_there) = (AtomicBool::new(false), Barrier::new(readers + 1));
        thread::scope(|scope| {
            let pollers: Vec<_> = (0..readers)
                .map(|_| scope.spawn(|| poll_until::<P>(&directory, &is_over, &all_are_there)))
                .collect();
            all_are_there.wait();
            let start = Instant::now();
            let outcome = batches.iter().try_for_each(|events| writer.append(events));
            let took = start.elapsed();
            is_over.store(true, Ordering::Release);
            for poller in pollers {
                poller.join().map_err(|_| anyhow!("a polling reader died"))??;
            }
            outcome?;
            Ok(took / WATCHED_APPENDS)
        })
    }))
}

fn poll_until<P: Shared>(directory: &Path, is_over: &AtomicBool, all_are_there: &Barrier) -> Result<()> {
    let opened = P::follow(directory).and_then(|mut reader| {
        // Everything that is there is old news.
        reader.poll()?;
        Ok(reader)
    });
    all_are_there.wait();
    let mut reader = opened?;
    while !is_over.load(Ordering::Acquire) {
        if reader.has_news()? {
            reader.poll()?;
        }
        thread::sleep(POLL_EVERY);
    }
    Ok(())
}
