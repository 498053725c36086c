//! A run of the log on a recorded directory, and what had been promised after each change.

use std::sync::Arc;
use std::time::Duration;

use super::super::super::disk::LogDirectory;
use super::super::super::{AppendError, Durability, Log, Mapping, OpenError, Options, Reader};
use super::super::{die, edit, finished, line, speaker};
use crate::format::head::END_WORD;
use crate::storage::memory::{Boot, Image, MemoryDirectory, Operation};
use crate::{Change, Edit, EditTarget, Event};

/// What was true of the batches at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Promise {
    /// Batches whose append had begun.
    pub(super) begun: usize,
    /// Batches whose append had returned: a process that dies does not take them.
    pub(super) acknowledged: usize,
    /// Batches of which it had been said that they are on the disk: a power failure does not take them.
    pub(super) durable: usize,
}

/// A run, recorded.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    /// The directory before the first change.
    pub(super) before: Image,
    pub(super) journal: Vec<Operation>,
    pub(super) issued: Vec<Vec<Event>>,
    /// The promise that holds from so many changes on.
    promises: Vec<(usize, Promise)>,
}

impl History {
    /// What had been promised when so many changes were made.
    pub(super) fn promise_after(&self, operations: usize) -> Promise {
        let next = self.promises.partition_point(|(from, _)| *from <= operations);
        next.checked_sub(1).map(|index| self.promises[index].1).unwrap_or_default()
    }
}

impl History {
    /// This run up to so many changes, and then `mending`, as one.
    pub(super) fn followed_by(&self, operations: usize, mending: &Self) -> Self {
        let mut promises = self.promises.clone();
        promises.retain(|(from, _)| *from <= operations);
        promises.extend(mending.promises.iter().map(|(from, promise)| (from + operations, *promise)));
        let mut journal = self.journal[..operations].to_vec();
        journal.extend_from_slice(&mending.journal);
        Self { before: self.before.clone(), journal, issued: mending.issued.clone(), promises }
    }
}

/// Plays a run, one process after the other.
pub(super) struct Player {
    pub(super) disk: MemoryDirectory,
    pub(super) log: Option<Log>,
    options: Options,
    history: History,
    promise: Promise,
}

impl Player {
    /// Starts in an empty directory.
    pub(super) fn start(durability: Durability, mapping: Mapping) -> Self {
        Self::go_on(Image::default(), 0, durability, mapping)
    }

    /// Starts in a directory that holds `image`.
    pub(super) fn go_on(image: Image, boot: Boot, durability: Durability, mapping: Mapping) -> Self {
        let options = Options {
            durability,
            mapping,
            lock_timeout: Duration::from_secs(60),
            clock: Arc::new(crate::FixedClock::at_us(1_000_000)),
        };
        let history = History { before: image.clone(), ..History::default() };
        let disk = MemoryDirectory::holding(image, boot);
        Self { disk, log: None, options, history, promise: Promise::default() }
    }

    /// From here on these batches are acknowledged, and the first `durable` of them were said to be on the disk.
    pub(super) fn assume(&mut self, batches: &[Vec<Event>], durable: usize) {
        let count = batches.len();
        self.history.issued = batches.to_vec();
        self.promise = Promise { begun: count, acknowledged: count, durable };
        self.note();
    }

    pub(super) fn directory(&self) -> LogDirectory {
        LogDirectory::stored_in(Arc::new(self.disk.clone()))
    }

    fn note(&mut self) {
        self.history.promises.push((self.disk.journal_len(), self.promise));
    }

    pub(super) fn create(&mut self) -> Result<(), OpenError> {
        self.log = Some(Log::create_in(self.directory(), self.options.clone())?);
        Ok(())
    }

    pub(super) fn open(&mut self) -> Result<(), OpenError> {
        self.log = Some(Log::open_in(self.directory(), self.options.clone())?);
        Ok(())
    }

    pub(super) fn append(&mut self, events: &[Event]) -> Result<(), AppendError> {
        self.history.issued.truncate(self.promise.begun);
        self.history.issued.push(events.to_vec());
        self.promise.begun += 1;
        self.note();
        self.log.as_mut().unwrap().append(events)?;
        self.promise.acknowledged = self.promise.begun;
        if self.options.durability != Durability::Os {
            self.promise.durable = self.promise.begun;
        }
        self.note();
        Ok(())
    }

    pub(super) fn rotate(&mut self) {
        self.log.as_mut().unwrap().begin_segment();
    }

    pub(super) fn flush(&mut self) -> Result<(), AppendError> {
        self.log.as_mut().unwrap().flush()?;
        self.all_durable();
        Ok(())
    }

    pub(super) fn close(&mut self) -> Result<(), AppendError> {
        self.log.take().unwrap().close()?;
        self.all_durable();
        Ok(())
    }

    fn all_durable(&mut self) {
        self.promise.durable = self.promise.acknowledged;
        self.note();
    }

    /// The process dies between two calls.
    pub(super) fn die(&mut self) {
        if let Some(log) = self.log.take() {
            die(log);
        }
        self.disk.free_locks();
    }

    pub(super) fn issued(&self) -> &[Vec<Event>] {
        &self.history.issued
    }

    /// The newest edit in the log.
    pub(super) fn newest_edit(&self) -> (u64, EditTarget) {
        let mut reader = Reader::open_in(self.directory(), Mapping::On).unwrap();
        let events = reader.snapshot().unwrap().events().unwrap();
        let mut edits = events.iter().filter_map(|recorded| match &recorded.event {
            Event::Edit(edit) => {
                Some((edit.line, EditTarget { position: recorded.position, seq: recorded.seq }))
            }
            _ => None,
        });
        edits.next_back().unwrap()
    }

    pub(super) fn finish(self) -> History {
        History { journal: self.disk.journal(), ..self.history }
    }
}

pub(super) fn repair(line: u64, from: &str, to: &str) -> Event {
    edit(line, "repair", Change::Repair { from: from.to_owned(), to: to.to_owned() })
}

pub(super) fn revert(line: u64, target: EditTarget) -> Event {
    edit(line, Edit::PERSON, Change::Revert { target })
}

pub(super) fn hide(line: u64) -> Event {
    edit(line, "bleed", Change::Hide { reason: "bleed".to_owned() })
}

/// Lines, every kind of edit, a second segment, a close, and a second writer that goes on.
pub(super) fn usual_run(durability: Durability, mapping: Mapping) -> History {
    let mut player = Player::start(durability, mapping);
    player.create().unwrap();
    player.append(&[finished(), line("one two"), line("two")]).unwrap();
    player.append(&[repair(0, "two", "three"), speaker(1, "Ana")]).unwrap();
    player.append(&[line("three"), speaker(2, "Bo"), hide(0)]).unwrap();
    player.flush().unwrap();
    let (target_line, target) = player.newest_edit();
    player.append(&[revert(target_line, target)]).unwrap();
    player.rotate();
    player.append(&[line("four"), speaker(0, "Cy")]).unwrap();
    player.close().unwrap();
    player.open().unwrap();
    player.append(&[speaker(3, "Di"), repair(3, "four", "5")]).unwrap();
    player.append(&[line("six")]).unwrap();
    player.close().unwrap();
    player.finish()
}

/// What must hold of the changes themselves: bytes of a segment are written once and only at its end, and
/// whoever sleeps on the end is woken after it was stored.
pub(super) fn check_journal(before: &Image, journal: &[Operation]) -> Result<(), String> {
    let mut image = before.clone();
    let mut unheard = None;
    for (number, operation) in journal.iter().enumerate() {
        let is_segment =
            |file: &usize| image.names.iter().any(|(name, named)| named == file && Image::is_segment(name));
        match operation {
            Operation::Write { file, offset, .. } if is_segment(file) => {
                let len_bytes = image.files[*file].len() as u64;
                if *offset != len_bytes {
                    return Err(format!("change {number} writes a segment at {offset}, not at its end"));
                }
            }
            Operation::Store { file, .. } | Operation::Grow { file, .. } if is_segment(file) => {
                return Err(format!("change {number} stores into a segment"));
            }
            Operation::Store { file, word: END_WORD, .. } if image.names.get("head") == Some(file) => {
                unheard = Some(number);
            }
            Operation::Wake { .. } => unheard = None,
            _ => {}
        }
        image.apply(operation);
    }
    match unheard {
        Some(number) => Err(format!("nobody was woken after change {number} stored the end")),
        None => Ok(()),
    }
}
