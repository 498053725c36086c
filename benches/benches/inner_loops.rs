//! The inner loops alone, for whoever changes one of them: `cargo bench -p ambient-benches`. What they
//! add up to, and how that compares, is what `compare` tells.

#![allow(
    missing_docs,
    clippy::missing_docs_in_private_items,
    clippy::unwrap_used,
    clippy::panic,
    reason = "as in tests: what goes wrong here ends the measurement"
)]
use std::hint::black_box;

use ambient_engine::{Durability, Event, Log, Mapping, Options, PlacedEdit, Reader, fold};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};

#[path = "../src/workload.rs"]
#[allow(dead_code, unused_imports, reason = "the comparison and its tests use all of it")]
mod workload;

use workload::{Conversation, Edits, Workload, naming};

const LINES: u64 = 10_000;
const BATCH: usize = 100;

/// A log with a conversation, and a reader of it.
fn filled() -> (tempfile::TempDir, Log, Reader) {
    // Beside the program, which lies on a disk.
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut log = Log::create(directory.path(), Options::with_durability(Durability::Os)).unwrap();
    let workload = Workload { lines: LINES, edits: Edits::OneInTwenty };
    let events = Conversation::default().next_events(usize::try_from(workload.event_count()).unwrap());
    for batch in events.chunks(1_000) {
        log.append(batch).unwrap();
    }
    let reader = Reader::open(directory.path(), Mapping::On).unwrap();
    (directory, log, reader)
}

fn polls(criterion: &mut Criterion) {
    let (_directory, _log, mut reader) = filled();
    criterion.bench_function("poll without news", |bencher| {
        bencher.iter(|| black_box(&reader).has_news().unwrap());
    });
    criterion.bench_function("snapshot without news", |bencher| {
        bencher.iter(|| black_box(&mut reader).snapshot().unwrap().lines());
    });
}

/// Finding, checking, decoding and folding: what each line that is read costs.
fn lines(criterion: &mut Criterion) {
    let (_directory, _log, mut reader) = filled();
    let mut group = criterion.benchmark_group("read");
    group.throughput(Throughput::Elements(100));
    group.bench_function("last 100 lines, folded", |bencher| {
        bencher.iter(|| reader.snapshot().unwrap().since(LINES - 100).unwrap());
    });
    group.bench_function("last 100 lines, verbatim", |bencher| {
        bencher.iter(|| reader.snapshot().unwrap().verbatim(LINES - 100..).unwrap());
    });
}

fn folds(criterion: &mut Criterion) {
    let events = Conversation::default().next_events(1);
    let Some(Event::Line(line)) = events.into_iter().next() else {
        panic!("a conversation begins with a line")
    };
    for count in [0, 1, 10] {
        let edits: Vec<PlacedEdit> = (0..count)
            .map(|seq| {
                let Event::Edit(edit) = naming(0) else { panic!("naming is an edit") };
                PlacedEdit { position: 256 + seq, seq, ts_us: 0, edit }
            })
            .collect();
        criterion.bench_function(&format!("fold a line with {count} edits"), |bencher| {
            bencher.iter_batched(|| line.clone(), |line| fold(0, line, &edits), BatchSize::SmallInput);
        });
    }
}

fn appends(criterion: &mut Criterion) {
    let (_directory, mut log, _reader) = filled();
    let mut conversation = Conversation::with(Edits::Never);
    let mut group = criterion.benchmark_group("append os");
    group.throughput(Throughput::Elements(BATCH as u64));
    group.bench_function("batch of 100", |bencher| {
        bencher.iter_batched(
            || conversation.next_events(BATCH),
            |events| log.append(&events).unwrap(),
            BatchSize::SmallInput,
        );
    });
}

criterion_group!(inner_loops, polls, lines, folds, appends);
criterion_main!(inner_loops);
