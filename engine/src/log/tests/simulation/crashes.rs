//! Deaths of processes and of machines at every moment of recorded runs, and at every moment of mending
//! what they left.

use super::super::super::{Durability, Mapping};
use super::history::{History, Player, Promise, check_journal, usual_run};
use super::images::{Filling, PowerLoss, power_losses, process_deaths};
use super::verdict::{Case, read};
use super::{Seeded, is_exhaustive};
use crate::storage::memory::{Boot, Image, MemoryDirectory};

/// A run, and on which start of the machine it was made.
pub(super) struct Run<'run> {
    pub(super) history: &'run History,
    pub(super) boot: Boot,
    pub(super) mapping: Mapping,
    pub(super) durability: Durability,
    /// One image in so many is judged.
    pub(super) one_in: u64,
}

impl Run<'_> {
    fn case<'case>(&'case self, image: &'case Image, boot: Boot) -> Case<'case> {
        Case {
            image,
            boot,
            mapping: self.mapping,
            issued: &self.history.issued,
            at_least: 0,
            durable: 0,
            at_least_lines: 0,
        }
    }

    /// A process dies: what was acknowledged is there. Gives how many images were judged. `inside` gets each
    /// run up to a death that tore nothing, followed by the mending.
    pub(super) fn survives_process_deaths(
        &self,
        mut inside: impl FnMut(usize, History),
    ) -> Result<usize, String> {
        check_journal(&self.history.before, &self.history.journal)?;
        let (mut random, mut judged) = (Seeded(7), 0);
        process_deaths(&self.history.before, &self.history.journal, |operations, is_torn, image| {
            if !random.once_in(self.one_in) {
                return Ok(());
            }
            judged += 1;
            let Promise { acknowledged, durable, .. } = self.history.promise_after(operations);
            let case = Case { at_least: acknowledged, durable, ..self.case(image, self.boot) };
            let mending =
                case.judge().map_err(|why| format!("process death behind change {operations}: {why}"))?;
            if !is_torn {
                inside(operations, self.history.followed_by(operations, &mending));
            }
            Ok(())
        })?;
        Ok(judged)
    }

    /// The machine dies behind change `from` or later: what was said to be on the disk is there, by whoever
    /// said it.
    pub(super) fn survives_power_losses(&self, how: &PowerLoss, from: usize) -> Result<usize, String> {
        let durable_lines = self.durable_lines()?;
        let (mut random, mut judged) = (Seeded(11), 0);
        power_losses(&self.history.before, &self.history.journal, how, from, |operations, image| {
            if !random.once_in(self.one_in) {
                return Ok(());
            }
            judged += 1;
            let durable = self.history.promise_after(operations).durable;
            let case = Case {
                at_least: durable,
                durable,
                at_least_lines: durable_lines[operations],
                ..self.case(image, self.boot + 1)
            };
            case.judge().map(drop).map_err(|why| format!("power loss behind change {operations}: {why}"))
        })?;
        Ok(judged)
    }

    /// How many lines a reader was told to be on the disk, behind each change.
    fn durable_lines(&self) -> Result<Vec<u64>, String> {
        let mut image = self.history.before.clone();
        let mut durable_lines = Vec::new();
        let journal = &self.history.journal;
        for operation in std::iter::once(None).chain(journal.iter().map(Some)) {
            if let Some(operation) = operation {
                image.apply(operation);
            }
            let disk = MemoryDirectory::holding(image.clone(), self.boot);
            let directory = super::super::super::disk::LogDirectory::stored_in(std::sync::Arc::new(disk));
            let told = match read(directory, self.mapping, &self.history.issued)? {
                Ok(seen) if !seen.is_walking => {
                    if self.durability == Durability::Each && seen.durable_lines != seen.lines {
                        return Err(format!("{seen:?} behind {operation:?}: seen before it was synced"));
                    }
                    seen.durable_lines
                }
                _ => durable_lines.last().copied().unwrap_or_default(),
            };
            durable_lines.push(told);
        }
        Ok(durable_lines)
    }
}

const DURABILITIES: [Durability; 3] =
    [Durability::Each, Durability::Os, Durability::Interval(std::time::Duration::ZERO)];

fn usual(history: &History, mapping: Mapping, durability: Durability) -> Run<'_> {
    let one_in = if is_exhaustive() { 1 } else { 12 };
    Run { history, boot: 0, mapping, durability, one_in }
}

#[test]
fn nothing_acknowledged_is_lost_when_a_process_dies_at_any_byte() {
    for mapping in [Mapping::On, Mapping::Off] {
        for durability in DURABILITIES {
            let history = usual_run(durability, mapping);
            let judged = usual(&history, mapping, durability).survives_process_deaths(|_, _| ()).unwrap();
            println!("{durability:?}, {mapping:?}: {judged} deaths of a process");
        }
    }
}

#[test]
fn nothing_durable_is_lost_when_the_machine_dies_at_any_moment() {
    for mapping in [Mapping::On, Mapping::Off] {
        for durability in DURABILITIES {
            let history = usual_run(durability, mapping);
            for (sector_len_bytes, filling) in [
                (512, Filling::Zeros),
                (4096, Filling::Noise),
                (512, Filling::OldBytes),
                (64, Filling::Noise),
            ] {
                let samples = if is_exhaustive() { 64 } else { 8 };
                let how = PowerLoss { sector_len_bytes, filling, samples, all_up_to: 6 };
                let judged = usual(&history, mapping, durability).survives_power_losses(&how, 0).unwrap();
                println!("{durability:?}, {mapping:?}, {filling:?}: {judged} deaths of the machine");
            }
        }
    }
}

/// Mending dies as well, of either kind, and what comes next mends that.
#[test]
fn mending_may_die_at_any_moment() {
    let (mut mendings, mut judged) = (0, 0);
    for durability in [Durability::Each, Durability::Os] {
        let history = usual_run(durability, Mapping::On);
        let one_in = if is_exhaustive() { 8 } else { 120 };
        let outer = Run { one_in, ..usual(&history, Mapping::On, durability) };
        let mut mended = Vec::new();
        outer.survives_process_deaths(|operations, history| mended.push((operations, history))).unwrap();
        for (operations, history) in &mended {
            // What the dead process had not synced is not durable because another one mends it.
            let run = usual(history, Mapping::On, Durability::Os);
            let how = PowerLoss { sector_len_bytes: 512, filling: Filling::Noise, samples: 4, all_up_to: 4 };
            judged += run.survives_power_losses(&how, *operations).unwrap();
            judged += run.survives_process_deaths(|_, _| ()).unwrap();
        }
        mendings += mended.len();
    }
    println!("{mendings} mendings, {judged} deaths in them");
    assert!(mendings > 0 && judged > 50, "{mendings} mendings, {judged} deaths in them");
}

/// A copy that is made while the log is written has each of its files from another moment, whether they are
/// new or laid over an older copy: an exact prefix, or an error with a name.
#[test]
fn a_copy_made_while_it_is_written_is_a_prefix_or_is_refused_by_name() {
    let history = usual_run(Durability::Each, Mapping::On);
    let mut moments = vec![history.before.clone()];
    for operation in &history.journal {
        let mut next = moments[moments.len() - 1].clone();
        next.apply(operation);
        moments.push(next);
    }
    let (mut random, mut refused, mut judged) = (Seeded(13), 0, 0);
    for _ in 0..if is_exhaustive() { 20_000 } else { 1_500 } {
        let mut moment = || usize::try_from(random.next()).unwrap_or(0) % moments.len();
        let names = &moments[moment()];
        let segments = moment();
        let mut copy = Image { names: names.names.clone(), ..Image::default() };
        for (name, file) in &names.names {
            // The segments are from moments near to each other, everything else from anywhere.
            let from = if Image::is_segment(name) {
                (segments + moment() % 4).min(moments.len() - 1)
            } else {
                moment()
            };
            *copy.file_mut(*file) = moments[from].files.get(*file).cloned().unwrap_or_default();
        }
        let player = Player::go_on(copy.clone(), 1, Durability::Each, Mapping::On);
        judged += 1;
        match read(player.directory(), Mapping::On, &history.issued).unwrap() {
            Ok(_) => {
                let mut player = player;
                if player.open().is_ok() {
                    read(player.directory(), Mapping::On, &history.issued).unwrap().unwrap();
                }
            }
            Err(_) => refused += 1,
        }
    }
    println!("{judged} copies, {refused} refused");
    assert!(refused < judged, "not one copy could be read");
}
