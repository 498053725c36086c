//! Operations on a log in memory, against a model that keeps the batches in a list.

use super::Input;
use super::directory::{directory_of, is_segment, line, options};
use crate::storage::memory::{Boot, MemoryDirectory};
use crate::{
    Change, Cursor, Edit, EditTarget, Event, Finished, FoldedLine, Log, Mapping, PlacedEdit, ReadError,
    Reader, Recorded, Replay,
};

const OPERATIONS_MAX: usize = 64;

/// A log, someone who follows it, and what should be in it.
struct World {
    memory: MemoryDirectory,
    boot: Boot,
    log: Log,
    reader: Reader,
    /// What the follower has, and where it stopped.
    seen: Vec<FoldedLine>,
    cursor: Option<Cursor>,
    /// The batches that were acknowledged, and how many of them are durable.
    batches: Vec<Vec<Event>>,
    durable: usize,
}

/// Each byte is an operation, and takes what it needs from those behind it.
pub fn operations(data: &[u8]) {
    let mut input = Input(data);
    let mut world = World::new();
    for _ in 0..OPERATIONS_MAX {
        let Some(operation) = input.byte() else { break };
        match operation % 12 {
            0..=5 => world.append(&mut input),
            6 => world.poll(),
            7 => world.flush(),
            8 => world.close(),
            9 => world.die(&[]),
            10 => {
                let noise = input.take(usize::from(operation)).to_vec();
                world.die(&noise);
            }
            _ => world.lose_power(),
        }
    }
    world.poll();
    world.compare();
}

impl World {
    fn new() -> Self {
        let memory = MemoryDirectory::default();
        let log = Log::create_in(directory_of(&memory), options()).unwrap();
        let reader = Reader::open_in(directory_of(&memory), Mapping::On).unwrap();
        let (seen, batches) = (Vec::new(), Vec::new());
        Self { memory, boot: 0, log, reader, seen, cursor: None, batches, durable: 0 }
    }

    fn append(&mut self, input: &mut Input<'_>) {
        let choice = input.flags();
        let recorded = self.events();
        let mut lines = self.log.lines();
        let mut batch = Vec::new();
        for _ in 0..=choice % 4 {
            let event = event(input, lines, &recorded);
            lines += u64::from(matches!(event, Event::Line(_)));
            batch.push(event);
        }
        // What is refused leaves nothing behind.
        if self.log.append(&batch).is_ok() {
            self.batches.push(batch);
        }
    }

    fn events(&mut self) -> Vec<Recorded> {
        let mut reader = Reader::open_in(directory_of(&self.memory), Mapping::Off).unwrap();
        reader.snapshot().unwrap().events().unwrap()
    }

    /// Each reply of `changes` laid over what the follower had is the log as it reads now.
    fn poll(&mut self) {
        let mut snapshot = self.reader.snapshot().unwrap();
        let changes = match snapshot.changes(self.cursor.as_ref()) {
            Err(ReadError::CursorLost(_)) => {
                self.seen.clear();
                snapshot.changes(None)
            }
            found => found,
        };
        let changes = changes.unwrap();
        for line in changes.changed {
            let index = usize::try_from(line.index).unwrap();
            self.seen[index] = line;
        }
        self.seen.extend(changes.new);
        self.cursor = changes.cursor;
        assert_eq!(self.seen, snapshot.since(0).unwrap());
    }

    fn flush(&mut self) {
        self.log.flush().unwrap();
        self.durable = self.batches.len();
    }

    fn open(&self) -> Log {
        Log::open_in(directory_of(&self.memory), options()).unwrap()
    }

    /// The log is closed by the last one out, and opened on the next start of the machine.
    fn close(&mut self) {
        let next_boot = self.boot.wrapping_add(1);
        let beside = self.open();
        drop(std::mem::replace(&mut self.log, beside));
        let elsewhere = Log::create_in(directory_of(&MemoryDirectory::default()), options()).unwrap();
        drop(std::mem::replace(&mut self.log, elsewhere));
        self.durable = self.batches.len();
        // The closing frame vouches for all of it, also after a new start of the machine.
        self.boot = next_boot;
        self.start_again(MemoryDirectory::holding(self.memory.on_disk(), next_boot));
        self.compare();
    }

    /// The process is killed, perhaps in the middle of writing `noise`.
    fn die(&mut self, noise: &[u8]) {
        self.memory.free_locks();
        let mut image = self.memory.image();
        let last = image.names.keys().filter(|name| is_segment(name)).max().unwrap().clone();
        image.bytes_mut(&last).unwrap().extend_from_slice(noise);
        self.start_again(MemoryDirectory::holding(image, self.boot));
        self.compare();
    }

    /// The machine loses its power: what no sync had carried to the disk is gone, whole batches from the end.
    fn lose_power(&mut self) {
        self.boot = self.boot.wrapping_add(1);
        self.start_again(MemoryDirectory::holding(self.memory.on_disk(), self.boot));
        let left = self.events().len();
        let mut counted = 0;
        let kept = self.batches.iter().take_while(|batch| {
            counted += batch.len();
            counted <= left
        });
        let kept = kept.count();
        assert!(kept >= self.durable, "{kept} batches of {} durable ones are left", self.durable);
        self.batches.truncate(kept);
        self.compare();
    }

    fn start_again(&mut self, memory: MemoryDirectory) {
        self.memory = memory;
        // What closing the old one changes is not in what was kept of its memory.
        self.log = self.open();
        self.durable = self.durable.min(self.batches.len());
        self.reader = Reader::open_in(directory_of(&self.memory), Mapping::On).unwrap();
    }

    /// The events are those of the batches, and the lines read as the naive twin of the fold has them.
    fn compare(&mut self) {
        let recorded = self.events();
        let expected: Vec<&Event> = self.batches.iter().flatten().collect();
        assert_eq!(recorded.iter().map(|recorded| &recorded.event).collect::<Vec<_>>(), expected);
        let mut replay = Replay::new();
        for Recorded { position, seq, ts_us, event } in recorded {
            match event {
                Event::Line(line) => replay.push_line(line),
                Event::Edit(edit) => replay.push_edit(PlacedEdit { position, seq, ts_us, edit }),
                _ => {}
            }
        }
        for mapping in [Mapping::On, Mapping::Off] {
            let mut reader = Reader::open_in(directory_of(&self.memory), mapping).unwrap();
            assert_eq!(reader.snapshot().unwrap().since(0).unwrap(), replay.lines());
        }
    }
}

/// An event that the bytes choose; what it names may not be there.
fn event(input: &mut Input<'_>, lines: u64, recorded: &[Recorded]) -> Event {
    let (choice, target) = (input.flags(), input.flags());
    let by = if choice & 0x80 == 0 { Edit::PERSON } else { "machine" };
    let named = u64::from(target) % (lines + 1);
    let word =
        |input: &mut Input<'_>| String::from_utf8_lossy(input.take(usize::from(target % 5))).into_owned();
    let (line_number, change) = match choice % 8 {
        0 | 1 => return line(&word(input)),
        2 => return Event::Finished(Finished { at: word(input), warnings: Vec::new() }),
        3 => (named, Change::Repair { from: word(input), to: word(input) }),
        4 => (named, Change::Speaker { name: word(input) }),
        5 => (named, Change::Hide { reason: word(input) }),
        6 => (named, Change::Split { at_ms: target.into(), at_character: target.into(), name: None }),
        _ => {
            let found = recorded.get(usize::from(target) % recorded.len().max(1));
            let (position, seq) = found.map_or((0, 0), |found| (found.position, found.seq));
            let of = found.map_or(named, |found| match &found.event {
                Event::Edit(edit) => edit.line,
                _ => named,
            });
            (of, Change::Revert { target: EditTarget { position, seq } })
        }
    };
    Event::Edit(Edit { line: line_number, by: by.to_owned(), change })
}
