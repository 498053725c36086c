//! The suite notices every deliberate defect of `log/planted`.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::super::super::{Durability, Mapping};
use super::crashes::Run;
use super::failures::{
    a_full_disk_while_the_index_grows, failed_sync_stops_the_other_writer, survives_failing_calls,
};
use super::history::usual_run;
use super::images::{Filling, PowerLoss};
use super::{damage, moved};
use crate::planted::{Defect, with_planted};
use crate::storage::memory::Failure;
use rustix::io::Errno;

const ALL: [Defect; 16] = [
    Defect::PublishBeforeWrite,
    Defect::PublishBeforeSync,
    Defect::PositionFromHead,
    Defect::PositionReused,
    Defect::NoDirectorySync,
    Defect::NoSalt,
    Defect::IndexTrustedAfterCrash,
    Defect::LostNewestEdit,
    Defect::FailedSyncForgotten,
    Defect::SyncDistanceIgnored,
    Defect::BatchEndIgnored,
    Defect::EditPastSnapshot,
    Defect::BellBeforeEnd,
    Defect::RecoveredUnsynced,
    Defect::IndexRoomAfterFrames,
    Defect::CacheBelievedAfterFailedSync,
];

/// One part of the suite.
type Part = (&'static str, fn() -> Result<(), String>);

/// The quick ones first.
const SUITE: [Part; 8] = [
    ("a failed sync", failed_sync_stops_the_other_writer),
    ("moved frames", moved::frames_count_only_where_they_were_written),
    ("a full disk while the index grows", a_full_disk_while_the_index_grows),
    ("process deaths", process_deaths),
    ("mending dies", deaths_while_mending),
    ("power losses", power_losses),
    ("damage", damage::every_byte_of_the_segments),
    ("failing calls", failing_calls),
];

fn run(history: &super::history::History, one_in: u64) -> Run<'_> {
    Run { history, boot: 0, mapping: Mapping::On, durability: Durability::Each, one_in }
}

fn process_deaths() -> Result<(), String> {
    let history = usual_run(Durability::Each, Mapping::On);
    run(&history, 8).survives_process_deaths(|_, _| ()).map(drop)
}

const SHORT: PowerLoss =
    PowerLoss { sector_len_bytes: 512, filling: Filling::Noise, samples: 4, all_up_to: 4 };

fn power_losses() -> Result<(), String> {
    let history = usual_run(Durability::Each, Mapping::On);
    run(&history, 4).survives_power_losses(&SHORT, 0).map(drop)
}

fn deaths_while_mending() -> Result<(), String> {
    let history = usual_run(Durability::Os, Mapping::On);
    let mut mended = Vec::new();
    let outer = Run { durability: Durability::Os, ..run(&history, 40) };
    outer.survives_process_deaths(|operations, history| mended.push((operations, history)))?;
    for (operations, history) in &mended {
        Run { durability: Durability::Os, ..run(history, 1) }.survives_power_losses(&SHORT, *operations)?;
    }
    Ok(())
}

fn failing_calls() -> Result<(), String> {
    for failure in [Failure::Errno(Errno::NOSPC), Failure::Sync] {
        survives_failing_calls(failure, Durability::Each, Mapping::On, 1)?;
    }
    Ok(())
}

/// Runs the suite and gives the first part that complains, and what it says.
fn first_complaint() -> Option<(&'static str, String)> {
    SUITE.iter().find_map(|(name, part)| {
        let outcome = catch_unwind(AssertUnwindSafe(part));
        match outcome {
            Ok(Ok(())) => None,
            Ok(Err(why)) => Some((*name, why)),
            Err(panic) => {
                let why = panic.downcast_ref::<String>().cloned();
                Some((*name, why.unwrap_or_else(|| "a panic".to_owned())))
            }
        }
    })
}

#[test]
fn without_a_defect_the_suite_has_no_complaint() {
    assert_eq!(first_complaint(), None);
}

#[test]
fn every_planted_defect_is_caught() {
    for defect in ALL {
        let complaint = with_planted(defect, first_complaint);
        let (part, why) = complaint.unwrap_or_else(|| panic!("{defect:?} was not noticed"));
        println!("{defect:?}: caught by {part}: {}", why.lines().next().unwrap_or_default());
    }
}
