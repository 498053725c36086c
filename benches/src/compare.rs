//! One run of everything: fill the stores, see that all peers agree, measure, compare.

use std::path::Path;

use anyhow::{Context, Result};

use crate::appending::{self, BATCHES};
use crate::machine::Machine;
use crate::measure::{Case, Plan, Reading, measure};
use crate::peer::Sync;
use crate::ratio::ratios;
use crate::reading::Shelf;
use crate::report::Report;

/// Lines in the short conversation.
const SHORT: u64 = 1_000;
/// Lines in the long one.
const LONG: u64 = 1_000_000;
const QUICK: Plan = Plan { rounds: 3, budget_ms: 100 };
const FULL: Plan = Plan { rounds: 5, budget_ms: 1_000 };

/// Compares on the file system that holds `directory`; what is made there is removed again.
pub(crate) fn compare(directory: &Path, is_quick: bool, progress: &mut dyn FnMut(&str)) -> Result<Report> {
    let plan = if is_quick { QUICK } else { FULL };
    let machine = Machine::look(directory)?;
    machine.require_disk()?;
    compare_lengths(machine, directory, [SHORT, LONG], plan, progress)
}

fn compare_lengths(
    mut machine: Machine,
    directory: &Path,
    [short, long]: [u64; 2],
    plan: Plan,
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
    let mut shelves = Vec::new();
    for lines in [short, long] {
        progress(&format!("filling three stores with {lines} lines"));
        shelves.push(Shelf::fill(&place.path().join(lines.to_string()), lines)?);
    }
    let groups = groups(&shelves, place.path())?;
    let measured = measure(groups, plan, progress)?;
    machine.finish();
    let ratios = ratios(&measured, short, long)?;
    Ok(Report { machine, plan, measured, ratios })
}

/// The cases, those that are compared with each other in one group.
fn groups<'store>(shelves: &'store [Shelf], place: &Path) -> Result<Vec<Vec<Case<'store>>>> {
    let mut groups = Vec::new();
    for reading in Reading::ALL {
        let mut group = Vec::new();
        for shelf in shelves {
            group.extend(shelf.cases(reading)?);
        }
        groups.push(group);
    }
    let frame_len_bytes = appending::frame_len_bytes(&place.join("frame"))?;
    for sync in [Sync::Os, Sync::Each] {
        for batch in BATCHES {
            groups.push(appending::cases(&place.join("append"), sync, batch, frame_len_bytes)?);
        }
    }
    Ok(groups)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::render;

    #[test]
    fn a_small_run_measures_every_case_and_leaves_nothing_behind() {
        let directory = tempfile::tempdir().unwrap();
        let machine = Machine::look(directory.path()).unwrap();
        let plan = Plan { rounds: 2, budget_ms: 1 };
        let mut said = Vec::new();
        let mut say = |text: &str| said.push(text.to_owned());
        let report = compare_lengths(machine, directory.path(), [100, 300], plan, &mut say).unwrap();
        assert!(said.iter().any(|text| text.contains("300 lines")), "{said:?}");
        assert!(report.measured.iter().all(|measured| measured.sample_count() >= 2));
        let page = render(&report);
        for word in ["SQLite WAL, data_version", "floor: atomic load", "append each, batch 100", "≤ 1.5"] {
            assert!(page.contains(word), "{word} is not in\n{page}");
        }
        let json = report.to_json();
        assert_eq!(json["cases"].as_array().unwrap().len(), report.measured.len());
        assert!(json["ratios"][0]["value"].as_f64().unwrap() > 0.0);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "nothing is left behind");
    }
}
