//! One run of everything: fill the stores, see that all peers agree, measure, compare.

use std::path::Path;
use std::rc::Rc;

use anyhow::{Context, Result};

use crate::appending;
use crate::figure::{Lengths, figures};
use crate::key::Reading;
use crate::machine::Machine;
use crate::measure::{Case, Plan, measure};
use crate::processes::{Reopened, seen_cases};
use crate::reading::{Depth, Shelf};
use crate::report::Report;
use crate::workload::{Edits, Workload};

const LENGTHS: Lengths = Lengths { short: 1_000, long: 1_000_000, longest: 10_000_000 };
/// Lengths that are measured besides, but not with `--quick`.
const BETWEEN: [u64; 2] = [10_000, 100_000];
/// As many edits has the one line that is edited again and again.
const HOT_EDITS: u64 = 10_000;
const QUICK: Plan = Plan { rounds: 3, budget_ms: 40 };
const FULL: Plan = Plan { rounds: 3, budget_ms: 150 };

/// What is measured in one run.
struct Extent {
    lengths: Lengths,
    shelves: Vec<(Workload, Depth)>,
    plan: Plan,
    depth: Depth,
}

impl Extent {
    fn of(lengths: Lengths, between: &[u64], hot_edits: u64, depth: Depth, plan: Plan) -> Self {
        let Lengths { short, long, longest } = lengths;
        let usual = |lines| Workload { lines, edits: Edits::OneInTwenty };
        let mut shelves = vec![(usual(short), depth), (usual(long), depth)];
        if depth == Depth::Full {
            shelves.extend(between.iter().map(|lines| (usual(*lines), depth)));
            shelves.extend(
                [Edits::Never, Edits::OneInTwo].map(|edits| (Workload { lines: long, edits }, depth)),
            );
        }
        shelves.push((Workload { lines: hot_edits, edits: Edits::OfOneLine }, depth));
        let is_full = depth == Depth::Full;
        shelves.push((usual(longest), if is_full { Depth::Polls } else { Depth::PollAlone }));
        Self { lengths, shelves, plan, depth }
    }
}

/// Compares on the file system that holds `directory`; what is made there is removed again.
pub(crate) fn compare(directory: &Path, is_quick: bool, progress: &mut dyn FnMut(&str)) -> Result<Report> {
    let (depth, plan) = if is_quick { (Depth::Quick, QUICK) } else { (Depth::Full, FULL) };
    let machine = Machine::look(directory)?;
    machine.require_disk()?;
    let extent = Extent::of(LENGTHS, &BETWEEN, HOT_EDITS, depth, plan);
    compare_within(machine, directory, &extent, progress)
}

fn compare_within(
    mut machine: Machine,
    directory: &Path,
    extent: &Extent,
    progress: &mut dyn FnMut(&str),
) -> Result<Report> {
    if machine.is_file_system_unknown() {
        progress("cannot tell what file system this is; make sure that it is on a disk");
    }
    let cores = u32::try_from(machine.cores).map_or(f64::INFINITY, f64::from);
    if machine.load_before.is_some_and(|load| load > cores / 4.0) {
        progress("this machine is busy with other things: times and 99th percentiles will be too high");
    }
    let place = tempfile::Builder::new()
        .prefix("ambient-benches-")
        .tempdir_in(directory)
        .with_context(|| format!("cannot write in {}", directory.display()))?;
    // First, as the system goes on writing to the disk for minutes what fills the stores.
    let mut measured = measure(appending_groups(place.path(), extent.depth)?, extent.plan, progress)?;
    let mut shelves = Vec::new();
    for (number, (workload, depth)) in extent.shelves.iter().enumerate() {
        progress(&format!("filling stores: {workload} lines"));
        shelves.push(Shelf::fill(&place.path().join(number.to_string()), *workload, *depth)?);
    }
    let long = Workload { lines: extent.lengths.long, edits: Edits::OneInTwenty };
    let reopened = Reopened::fill(&place.path().join("reopened"), long)?;
    measured.extend(measure(reading_groups(&shelves, &reopened)?, extent.plan, progress)?);
    let footprint = reopened.footprint()?;
    machine.finish();
    let (figures, beside) = figures(&measured, extent.lengths, footprint)?;
    Ok(Report { machine, plan: extent.plan, measured, figures, beside })
}

/// The cases that append to stores of their own, those that are compared with each other in one group.
fn appending_groups(place: &Path, depth: Depth) -> Result<Vec<Vec<Case<'static>>>> {
    let frames = appending::frames(&place.join("frame"))?;
    let mut groups = Vec::new();
    for kind in appending::kinds(depth) {
        groups.push(appending::cases(&place.join("append"), kind, depth, &frames)?);
    }
    groups.push(appending::watched_cases(&place.join("watched"))?);
    groups.push(seen_cases(&place.join("seen"))?);
    Ok(groups)
}

/// The cases on stores that were filled.
fn reading_groups<'store>(
    shelves: &'store [Shelf],
    reopened: &Rc<Reopened>,
) -> Result<Vec<Vec<Case<'store>>>> {
    let mut groups = Vec::new();
    for reading in Reading::ALL {
        let mut group = Vec::new();
        for shelf in shelves {
            group.extend(shelf.cases(reading)?);
        }
        groups.push(group);
    }
    groups.push(reopened.cases());
    Ok(groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_has_its_cases() {
        for depth in [Depth::Quick, Depth::Full] {
            let directory = tempfile::tempdir().unwrap();
            let lengths = Lengths { short: 100, long: 300, longest: 600 };
            let extent = Extent::of(lengths, &[200], 50, depth, Plan { rounds: 1, budget_ms: 1 });
            let shelves: Vec<Shelf> = extent
                .shelves
                .iter()
                .enumerate()
                .map(|(number, (workload, depth))| {
                    Shelf::fill(&directory.path().join(number.to_string()), *workload, *depth).unwrap()
                })
                .collect();
            let mut groups = Vec::new();
            for reading in Reading::ALL {
                for shelf in &shelves {
                    groups.push(shelf.cases(reading).unwrap());
                }
            }
            for kind in appending::kinds(depth) {
                groups.push(
                    appending::cases(&directory.path().join("append"), kind, depth, &[7; 200]).unwrap(),
                );
            }
            let measured = measure(groups, extent.plan, &mut |_| ()).unwrap();
            assert!(measured.iter().all(|measured| measured.sample_count() >= 1), "{depth:?}");
            let named = |name: &str| measured.iter().any(|measured| measured.key.to_string().contains(name));
            assert!(named("LMDB, last_txn_id") && named("synchronous=OFF") && named("50 edits of one line"));
        }
    }
}
