//! Each call to the system fails once, in each way it can: what was acknowledged stays, what was refused is
//! not there, and what is unknown is one or the other.

use super::super::super::{AppendError, Durability, Log, Mapping, OpenError};
use super::super::{finished, line, speaker};
use super::history::{Player, hide, repair};
use super::verdict::{Case, Seen, read};
use super::{Seeded, is_exhaustive};
use crate::Event;
use crate::storage::memory::Failure;
use rustix::io::Errno;

const FAILURES: [Failure; 5] = [
    Failure::Errno(Errno::IO),
    Failure::Errno(Errno::NOSPC),
    Failure::Errno(Errno::INTR),
    Failure::Short,
    Failure::Sync,
];

/// What became of one batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Appended,
    Refused,
    Unknown,
}

fn batches() -> [Vec<Event>; 5] {
    [
        vec![finished(), line("one two")],
        vec![repair(0, "two", "three"), speaker(0, "Ana"), line("two")],
        vec![hide(1), line("three"), speaker(2, "Bo")],
        vec![speaker(0, "Cy"), line("four")],
        vec![line("five")],
    ]
}

/// A run in which one call fails. A writer that meets an error is left, and another one goes on.
struct Run {
    player: Player,
    outcomes: Vec<(Vec<Event>, Outcome)>,
}

impl Run {
    fn new(durability: Durability, mapping: Mapping) -> Self {
        let mut player = Player::start(durability, mapping);
        player.create().unwrap();
        Self { player, outcomes: Vec::new() }
    }

    fn append(&mut self, events: &[Event]) {
        let outcome = match self.player.log.as_mut().map(|log| log.append(events)) {
            Some(Ok(_)) => Outcome::Appended,
            Some(Err(AppendError::OutcomeUnknown(_))) => Outcome::Unknown,
            Some(Err(AppendError::NoSuchLine { .. })) | None => return,
            Some(Err(_)) => Outcome::Refused,
        };
        self.outcomes.push((events.to_vec(), outcome));
        if outcome != Outcome::Appended {
            // As a caller does: let the writer go and come again.
            self.player.log = None;
            self.come_again();
        }
    }

    /// Comes to the log; the chosen call may fail here too, then once more.
    fn come_again(&mut self) {
        if self.player.open().is_err() {
            // Opening met the failure; it fails once.
            let _ = self.player.open();
        }
    }

    fn play(&mut self) {
        let batches = batches();
        for (number, events) in batches.iter().enumerate() {
            match number {
                2 => {
                    if let Some(log) = self.player.log.as_mut() {
                        if log.try_begin_segment().is_err() {
                            self.player.log = None;
                            self.come_again();
                        }
                    }
                }
                3 => {
                    drop(self.player.log.take().map(Log::close));
                    self.come_again();
                }
                _ => {}
            }
            self.append(events);
        }
        drop(self.player.log.take().map(Log::close));
    }

    /// Every way in which the unknown outcomes may have gone. What was never said to be on the disk is unknown
    /// too once a sync has failed.
    fn possible_histories(&self, durability: Durability) -> Vec<Vec<Vec<Event>>> {
        let all_unknown = durability == Durability::Os && self.player.disk.has_failed_sync();
        let mut histories = vec![Vec::new()];
        for (events, outcome) in &self.outcomes {
            let with = |history: &Vec<Vec<Event>>| {
                let mut history = history.clone();
                history.push(events.clone());
                history
            };
            let outcome = if all_unknown { &Outcome::Unknown } else { outcome };
            histories = match outcome {
                Outcome::Refused => histories,
                Outcome::Appended => histories.iter().map(with).collect(),
                Outcome::Unknown => histories.iter().flat_map(|one| [one.clone(), with(one)]).collect(),
            };
        }
        histories
    }

    /// The whole of one possible history is there, for processes now and, when everything was synced, for
    /// a machine that starts again.
    fn judge(&self, durability: Durability, mapping: Mapping) -> Result<(), String> {
        let histories = self.possible_histories(durability);
        let mut why = Vec::new();
        let disk = &self.player.disk;
        for (image, boot) in [(disk.image(), 0), (disk.on_disk(), 1)] {
            if boot == 1 && durability != Durability::Each {
                continue;
            }
            let fits = histories.iter().any(|issued| {
                let case = Case {
                    image: &image,
                    boot,
                    mapping,
                    issued,
                    at_least: issued.len(),
                    durable: 0,
                    at_least_lines: 0,
                };
                case.judge().map_err(|error| why.push(format!("start {boot}: {error}"))).is_ok()
            });
            if !fits {
                return Err(format!("{:?}: {why:#?}", self.outcomes));
            }
            why.clear();
        }
        Ok(())
    }
}

/// Fails each call of the run in turn. Gives how many were judged.
pub(super) fn survives_failing_calls(
    failure: Failure,
    durability: Durability,
    mapping: Mapping,
    one_in: u64,
) -> Result<usize, String> {
    let (mut random, mut judged) = (Seeded(5), 0);
    for call in 0.. {
        let is_chosen = random.once_in(one_in);
        let mut run = Run::new(durability, mapping);
        run.player.disk.fail_call(call, failure);
        run.play();
        let has_failed = run.player.disk.has_failed();
        if is_chosen || !has_failed {
            judged += 1;
            run.judge(durability, mapping).map_err(|why| format!("{failure:?} at call {call}: {why}"))?;
        }
        if !has_failed {
            break;
        }
    }
    Ok(judged)
}

#[test]
fn any_call_may_fail_once_in_any_way() {
    for mapping in [Mapping::On, Mapping::Off] {
        for durability in [Durability::Each, Durability::Os] {
            for failure in FAILURES {
                let one_in = if is_exhaustive() { 1 } else { 3 };
                let judged = survives_failing_calls(failure, durability, mapping, one_in).unwrap();
                println!("{durability:?}, {mapping:?}, {failure:?}: {judged} failing calls");
            }
        }
    }
}

/// A sync fails under one writer while another one has the log open: it may not write on as if nothing were.
pub(super) fn failed_sync_stops_the_other_writer() -> Result<(), String> {
    let mut player = Player::start(Durability::Each, Mapping::On);
    player.create().unwrap();
    player.append(&[line("one")]).unwrap();
    let mut other = Log::open_in(player.directory(), super::super::super::Options::default()).unwrap();
    player.disk.fail_call(0, Failure::Sync);
    let failed = player.log.as_mut().unwrap().append(&[line("two")]);
    if !matches!(failed, Err(AppendError::OutcomeUnknown(_))) {
        return Err(format!("a failed sync was answered by {failed:?}"));
    }
    let after = other.append(&[line("three")]);
    drop(other);
    player.die();
    let mut issued = vec![vec![line("one")]];
    if after.is_ok() {
        issued.push(vec![line("two")]);
        issued.push(vec![line("three")]);
    }
    let on_disk = player.disk.on_disk();
    let at_least = issued.len();
    let case = Case {
        image: &on_disk,
        boot: 1,
        mapping: Mapping::On,
        issued: &issued,
        at_least,
        durable: at_least,
        at_least_lines: 0,
    };
    case.judge().map(drop)?;
    match after {
        Err(AppendError::Poisoned(_)) => Ok(()),
        other => Err(format!("the other writer was answered {other:?}")),
    }
}

#[test]
fn a_failed_sync_stops_everybody_until_the_log_is_opened_again() {
    failed_sync_stops_the_other_writer().unwrap();
}

/// After a failed sync the cache shows what the disk does not hold; the next one to open it asks the disk.
#[test]
fn after_a_failed_sync_the_disk_is_asked_and_not_the_cache() {
    let mut player = Player::start(Durability::Each, Mapping::On);
    player.create().unwrap();
    player.append(&[line("one")]).unwrap();
    player.disk.fail_call(0, Failure::Sync);
    player.log.as_mut().unwrap().append(&[line("two")]).unwrap_err();
    player.log = None;
    player.open().unwrap();
    assert_eq!(player.log.as_ref().unwrap().lines(), 1, "the second line never reached the disk");
    player.log.as_mut().unwrap().append(&[line("three")]).unwrap();
    let issued = [vec![line("one")], vec![line("three")]];
    let Seen { batches, .. } = read(player.directory(), Mapping::On, &issued).unwrap().unwrap();
    assert_eq!(batches, 2);
}

/// Any call of the append for which the index has to grow fails for want of room: a refused batch is not there.
pub(super) fn a_full_disk_while_the_index_grows() -> Result<(), String> {
    let many: Vec<Event> = (0..1024).map(|number| line(&number.to_string())).collect();
    for call in 0.. {
        let mut player = Player::start(Durability::Os, Mapping::On);
        player.create().unwrap();
        player.append(&many).unwrap();
        player.disk.fail_call(call, Failure::Errno(Errno::NOSPC));
        let refused = match player.log.as_mut().unwrap().append(&[line("one more")]) {
            Ok(_) if player.disk.has_failed() => continue,
            Ok(_) => return Ok(()),
            Err(AppendError::OutcomeUnknown(_)) => continue,
            Err(error) => error,
        };
        player.log = None;
        player.open().unwrap();
        let lines = player.log.as_ref().unwrap().lines();
        if lines != 1024 {
            return Err(format!("refused at call {call} ({refused}), and yet there are {lines} lines"));
        }
    }
    Ok(())
}

#[test]
fn a_batch_for_which_the_index_cannot_grow_is_not_there() {
    a_full_disk_while_the_index_grows().unwrap();
}

/// An image that cannot be opened for a reason that is no crash is refused by name, and nothing is written.
#[test]
fn what_cannot_be_mended_is_not_touched() {
    let mut player = Player::start(Durability::Each, Mapping::On);
    player.create().unwrap();
    player.append(&[line("one"), line("two")]).unwrap();
    player.append(&[line("three")]).unwrap();
    player.close().unwrap();
    let mut image = player.disk.image();
    image.bytes_mut("0000000000.seg").unwrap()[300] ^= 1;
    image.names.remove("lines.idx");
    let mut player = Player::go_on(image.clone(), 1, Durability::Each, Mapping::On);
    assert!(matches!(player.open(), Err(OpenError::Corrupt { .. })));
    let after = player.disk.image();
    assert_eq!(after.bytes("0000000000.seg"), image.bytes("0000000000.seg"));
    assert!(!after.names.contains_key("0000000001.seg"));
}
