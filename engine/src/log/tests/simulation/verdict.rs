//! What comes back from an image, held against what had been promised.

use std::sync::Arc;

use super::super::super::disk::LogDirectory;
use super::super::super::{Durability, Mapping, OpenError, Reader, Recorded};
use super::super::{by_chain, line, replay_event, speaker};
use super::history::{History, Player, check_journal};
use crate::storage::memory::{Boot, Image, MemoryDirectory};
use crate::{Event, Replay};

/// What a reader made of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) batches: usize,
    pub(super) lines: u64,
    pub(super) durable_lines: u64,
    pub(super) is_walking: bool,
    /// It said that something keeps it from going further.
    pub(super) says_damage: bool,
}

/// Reads all there is in every way. The outer error is a broken promise; the inner one has a name and is
/// what a reader may answer.
pub(super) fn read(
    directory: LogDirectory,
    mapping: Mapping,
    issued: &[Vec<Event>],
) -> Result<Result<Seen, String>, String> {
    let mut reader = match Reader::open_in(directory, mapping) {
        Ok(reader) => reader,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let events = match reader.snapshot().and_then(|mut snapshot| snapshot.events()) {
        Ok(events) => events,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let batches = whole_batches(&events, issued)?;
    if let Err(error) = check_folds(&mut reader, &events)? {
        return Ok(Err(error));
    }
    let says_damage = reader.damage().is_some();
    let is_walking = reader.is_walking();
    let snapshot = reader.snapshot().map_err(|error| error.to_string())?;
    let durable_lines = snapshot.durable_lines().map_err(|error| error.to_string())?;
    Ok(Ok(Seen { batches, lines: snapshot.lines(), durable_lines, is_walking, says_damage }))
}

/// How many of the issued batches these events are, exactly.
fn whole_batches(events: &[Recorded], issued: &[Vec<Event>]) -> Result<usize, String> {
    let mut rest = events;
    for (number, batch) in issued.iter().enumerate() {
        if rest.is_empty() {
            return Ok(number);
        }
        let (head, tail) = rest
            .split_at_checked(batch.len())
            .ok_or_else(|| format!("{} of {} events of batch {number} are seen", rest.len(), batch.len()))?;
        if !head.iter().map(|recorded| &recorded.event).eq(batch) {
            return Err(format!("batch {number} reads {head:?}, but {batch:?} was appended"));
        }
        rest = tail;
    }
    if rest.is_empty() { Ok(issued.len()) } else { Err(format!("events that nobody appended: {rest:?}")) }
}

/// The fold, in each way of computing it, equals the naive twin, now and at every earlier moment.
fn check_folds(reader: &mut Reader, events: &[Recorded]) -> Result<Result<(), String>, String> {
    let mut replay = Replay::new();
    for recorded in events {
        let mut snapshot = match reader.snapshot().and_then(|now| now.rewound_to(recorded.position)) {
            Ok(snapshot) => snapshot,
            Err(error) => return Ok(Err(error.to_string())),
        };
        match snapshot.since(0) {
            Ok(lines) if lines == replay.lines() => {}
            Ok(lines) => {
                return Err(format!(
                    "before {}: folded {lines:?}, replayed {:?}",
                    recorded.position,
                    replay.lines()
                ));
            }
            Err(error) => return Ok(Err(error.to_string())),
        }
        replay_event(&mut replay, recorded);
    }
    let mut snapshot = match reader.snapshot() {
        Ok(snapshot) => snapshot,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let lines = match snapshot.since(0) {
        Ok(lines) => lines,
        Err(error) => return Ok(Err(error.to_string())),
    };
    if lines != replay.lines() {
        return Err(format!("folded {lines:?}, replayed {:?}", replay.lines()));
    }
    if by_chain(&mut snapshot) != lines {
        return Err("lines read one by one differ from lines read in a row".to_owned());
    }
    match snapshot.verbatim(..) {
        Ok(heard) if heard.iter().map(|heard| &heard.line).eq(lines.iter().map(|line| &line.heard)) => {
            Ok(Ok(()))
        }
        Ok(heard) => Err(format!("verbatim {heard:?}")),
        Err(error) => Ok(Err(error.to_string())),
    }
}

/// An image, and what may come back from it.
pub(super) struct Case<'case> {
    pub(super) image: &'case Image,
    pub(super) boot: Boot,
    pub(super) mapping: Mapping,
    pub(super) issued: &'case [Vec<Event>],
    /// Batches that must be there.
    pub(super) at_least: usize,
    /// Batches that were said to be on the disk.
    pub(super) durable: usize,
    /// Lines that must be there.
    pub(super) at_least_lines: u64,
}

impl Case<'_> {
    fn holds_log(&self) -> bool {
        self.image.names.keys().any(|name| Image::is_segment(name))
    }

    /// Reads what a crash left, mends it, writes on, and reads again, also as after another crash and
    /// without its caches. Gives the record of the mending.
    pub(super) fn judge(&self) -> Result<History, String> {
        let mut player = Player::go_on(self.image.clone(), self.boot, Durability::Each, self.mapping);
        let before = read(player.directory(), self.mapping, self.issued)?;
        match player.open() {
            Ok(()) => {}
            Err(OpenError::Empty(_)) if self.at_least == 0 && !self.holds_log() => {
                return Ok(player.finish());
            }
            Err(error) => return Err(format!("a crash cannot be mended: {error}")),
        }
        let before = before.map_err(|error| format!("a crash cannot be read: {error}"))?;
        let after = self.must_read(&player.directory())?;
        if after.batches < self.at_least || after.lines < self.at_least_lines {
            return Err(format!(
                "{} batches and {} lines are left; {} and {} were promised",
                after.batches, after.lines, self.at_least, self.at_least_lines
            ));
        }
        if before.batches > after.batches {
            return Err(format!("{} batches were seen, {} after mending", before.batches, after.batches));
        }
        let mut issued = self.issued[..after.batches].to_vec();
        player.assume(&issued, self.durable);
        let probe = [line("after the crash"), speaker(after.lines, "Ed")];
        player.append(&probe).map_err(|error| format!("cannot append after mending: {error}"))?;
        issued.push(probe.to_vec());
        let whole = Seen { batches: issued.len(), ..after };
        let directory = player.directory();
        expect_batches("after an append", &directory, self.mapping, &issued, whole.batches)?;
        let disk = player.disk.clone();
        player.close().map_err(|error| format!("cannot close after mending: {error}"))?;
        expect_batches("after a close", &directory, self.mapping, &issued, whole.batches)?;
        let mut image = disk.image();
        for (what, caches) in [("on another start", &[][..]), ("without caches", &["head", "lines.idx"])] {
            image.names.retain(|name, _| !caches.contains(&name.as_str()));
            let copy = MemoryDirectory::holding(image.clone(), self.boot.wrapping_add(1));
            let directory = LogDirectory::stored_in(Arc::new(copy));
            expect_batches(what, &directory, self.mapping, &issued, whole.batches)?;
        }
        let history = player.finish();
        check_journal(&history.before, &history.journal)?;
        Ok(history)
    }

    fn must_read(&self, directory: &LogDirectory) -> Result<Seen, String> {
        read(directory.clone(), self.mapping, self.issued)?
            .map_err(|error| format!("cannot be read after mending: {error}"))
    }
}

fn expect_batches(
    when: &str,
    directory: &LogDirectory,
    mapping: Mapping,
    issued: &[Vec<Event>],
    batches: usize,
) -> Result<(), String> {
    let seen = read(directory.clone(), mapping, issued)?.map_err(|error| format!("{when}: {error}"))?;
    if seen.batches == batches {
        Ok(())
    } else {
        Err(format!("{when} {} batches are seen, not {batches}", seen.batches))
    }
}
