//! Any run of commands: writers that append, edit, take back, rotate, close and die, machines that lose
//! power, readers that come, poll and keep their cursors. After each command everything anyone sees is what
//! the naive twin makes of what was appended.

use std::sync::Arc;

use proptest::prelude::*;

use super::super::disk::LogDirectory;
use super::super::{Cursor, Log, Mapping, Options, Reader};
use super::{die, edit, finished, line, replay_event, speaker};
use crate::storage::memory::MemoryDirectory;
use crate::{Change, Edit, EditTarget, Event, FoldedLine, Replay};

/// One step of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Command {
    /// Two lines, in one batch.
    Lines,
    /// Names the first line, by a person or a machine, and hides the last.
    Edits(bool),
    /// A line and an edit of it, in one batch.
    LineWithEdit,
    /// Takes the newest edit back.
    Revert,
    /// The other writer appends a fact and repairs the last line.
    OtherWriter,
    /// A new segment begins.
    Rotate,
    /// The writers leave in good order.
    Close,
    /// The writers' process dies.
    Kill,
    /// The machine loses power; kept cursors are all that outlives it.
    PowerLoss,
    /// `head` and index are deleted while nobody has the log open for writing.
    LoseCaches,
    /// A reader comes.
    NewReader,
    /// Every reader asks what changed since its cursor.
    Poll,
}

const COMMANDS: [Command; 13] = [
    Command::Lines,
    Command::Edits(true),
    Command::Edits(false),
    Command::LineWithEdit,
    Command::Revert,
    Command::OtherWriter,
    Command::Rotate,
    Command::Close,
    Command::Kill,
    Command::PowerLoss,
    Command::LoseCaches,
    Command::NewReader,
    Command::Poll,
];

/// A reader with what it has put together from the changes it was told, and where it stopped.
struct Follower {
    reader: Option<Reader>,
    lines: Vec<FoldedLine>,
    cursor: Option<Cursor>,
}

struct Machine {
    disk: MemoryDirectory,
    boot: u8,
    mapping: Mapping,
    writers: [Option<Log>; 2],
    appended: Vec<Event>,
    newest_edit: Option<(u64, EditTarget)>,
    lines: u64,
    followers: Vec<Follower>,
}

impl Machine {
    fn start(mapping: Mapping) -> Self {
        let disk = MemoryDirectory::default();
        let mut machine = Self {
            disk,
            boot: 0,
            mapping,
            writers: [None, None],
            appended: Vec::new(),
            newest_edit: None,
            lines: 0,
            followers: Vec::new(),
        };
        let options = machine.options();
        machine.writers[0] = Some(Log::create_in(machine.directory(), options).unwrap());
        machine
    }

    fn directory(&self) -> LogDirectory {
        LogDirectory::stored_in(Arc::new(self.disk.clone()))
    }

    fn options(&self) -> Options {
        Options { mapping: self.mapping, ..Options::default() }
    }

    fn writer(&mut self, number: usize) -> &mut Log {
        let (directory, options) = (self.directory(), self.options());
        self.writers[number].get_or_insert_with(|| Log::open_in(directory, options).unwrap())
    }

    fn append(&mut self, writer: usize, events: &[Event]) {
        self.writer(writer).append(events).unwrap();
        self.lines += events.iter().filter(|event| matches!(event, Event::Line(_))).count() as u64;
        self.appended.extend_from_slice(events);
    }

    fn run(&mut self, command: Command) {
        let last = self.lines.checked_sub(1);
        let by = |person| if person { Edit::PERSON } else { "machine" };
        match command {
            Command::Lines => self.append(0, &[line("one two"), line("two")]),
            Command::Edits(person) => {
                if let Some(last) = last {
                    let name = format!("name {}", self.appended.len());
                    self.append(
                        0,
                        &[
                            edit(0, by(person), Change::Speaker { name }),
                            edit(last, by(person), Change::Hide { reason: "echo".to_owned() }),
                        ],
                    );
                }
            }
            Command::LineWithEdit => {
                let number = self.lines;
                self.append(0, &[line("three"), speaker(number, "Ana")]);
            }
            Command::Revert => {
                if let Some((line, target)) = self.newest_edit {
                    self.append(0, &[edit(line, Edit::PERSON, Change::Revert { target })]);
                }
            }
            Command::OtherWriter => {
                let change = Change::Repair { from: "two".to_owned(), to: "2".to_owned() };
                let repair = last.map(|last| edit(last, "machine", change));
                let events: Vec<Event> = std::iter::once(finished()).chain(repair).collect();
                self.append(1, &events);
            }
            Command::Rotate => {
                self.append(0, &[finished()]);
                self.writer(0).begin_segment();
            }
            Command::Close => {
                for log in self.writers.iter_mut().filter_map(Option::take) {
                    log.close().unwrap();
                }
            }
            Command::Kill => self.kill(),
            Command::PowerLoss => self.lose_power(),
            Command::LoseCaches => self.lose_caches(),
            Command::NewReader => {
                self.followers.push(Follower { reader: None, lines: Vec::new(), cursor: None });
            }
            Command::Poll => self.poll(),
        }
    }

    fn kill(&mut self) {
        self.writers.iter_mut().filter_map(Option::take).for_each(die);
        self.disk.free_locks();
    }

    fn lose_power(&mut self) {
        self.kill();
        self.followers.iter_mut().for_each(|follower| follower.reader = None);
        self.boot += 1;
        self.disk = MemoryDirectory::holding(self.disk.on_disk(), self.boot);
    }

    fn lose_caches(&mut self) {
        self.kill();
        self.followers.iter_mut().for_each(|follower| follower.reader = None);
        let mut image = self.disk.image();
        image.names.retain(|name, _| name != "head" && name != "lines.idx");
        self.disk = MemoryDirectory::holding(image, self.boot);
    }

    fn poll(&mut self) {
        let (directory, mapping) = (self.directory(), self.mapping);
        for follower in &mut self.followers {
            let reader =
                follower.reader.get_or_insert_with(|| Reader::open_in(directory.clone(), mapping).unwrap());
            let changes = reader.snapshot().unwrap().changes(follower.cursor.as_ref()).unwrap();
            for line in changes.changed {
                let index = usize::try_from(line.index).unwrap();
                follower.lines[index] = line;
            }
            follower.lines.extend(changes.new);
            follower.cursor = changes.cursor;
        }
    }

    /// A fresh reader sees what was appended, as the naive twin reads it; so does everyone who has just polled.
    fn check(&mut self, command: Command) {
        let mut reader = Reader::open_in(self.directory(), self.mapping).unwrap();
        let events = reader.snapshot().unwrap().events().unwrap();
        assert!(events.iter().map(|recorded| &recorded.event).eq(&self.appended), "{events:?}");
        let mut replay = Replay::new();
        for recorded in &events {
            replay_event(&mut replay, recorded);
        }
        let expected = replay.lines();
        assert_eq!(reader.snapshot().unwrap().since(0).unwrap(), expected);
        if command == Command::Poll {
            for follower in &mut self.followers {
                assert_eq!(follower.lines, expected, "put together from what changed");
                let reader = follower.reader.as_mut().unwrap();
                assert_eq!(reader.snapshot().unwrap().since(0).unwrap(), expected);
            }
        }
        self.newest_edit = events.iter().rev().find_map(|recorded| match &recorded.event {
            Event::Edit(edit) => {
                Some((edit.line, EditTarget { position: recorded.position, seq: recorded.seq }))
            }
            _ => None,
        });
    }
}

fn play(mapping: Mapping, commands: impl IntoIterator<Item = Command>) {
    let mut machine = Machine::start(mapping);
    for command in commands.into_iter().chain([Command::Poll]) {
        machine.run(command);
        machine.check(command);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn any_run_of_commands_shows_what_was_appended(
        commands in prop::collection::vec(prop::sample::select(&COMMANDS[..]), 1..30),
        is_mapped: bool,
    ) {
        play(if is_mapped { Mapping::On } else { Mapping::Off }, commands);
    }
}

/// Every run of three commands (of four, when everything is tried) behind a usual beginning.
#[test]
fn every_short_run_of_commands_shows_what_was_appended() {
    let len = if super::simulation::is_exhaustive() { 4 } else { 3 };
    let count = COMMANDS.len().pow(len);
    for number in 0..count {
        let mut rest = number;
        let tail = (0..len).map(|_| {
            let command = COMMANDS[rest % COMMANDS.len()];
            rest /= COMMANDS.len();
            command
        });
        let beginning = [Command::NewReader, Command::LineWithEdit, Command::Poll];
        play(Mapping::On, beginning.into_iter().chain(tail));
    }
    println!("{count} runs");
}
