//! On which processor a thread runs.
//!
//! A client and a server that wake each other are several times as fast on one processor as on two, and
//! where the system puts them changes in the middle of a run. Left to itself, that is all that would be
//! measured.

use anyhow::{Context, Result};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Which of the processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Processor {
    First,
    Last,
}

/// Does `work` while this thread, and every process that it starts meanwhile, runs on one processor alone.
pub(super) fn on<T>(processor: Processor, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let before = sched_getaffinity(None).context("cannot tell on which processors this runs")?;
    let mut allowed = (0..CpuSet::MAX_CPU).filter(|number| before.is_set(*number));
    let chosen = match processor {
        Processor::First => allowed.next(),
        Processor::Last => allowed.next_back(),
    };
    let mut one = CpuSet::new();
    one.set(chosen.context("this runs on no processor")?);
    sched_setaffinity(None, &one).context("cannot choose a processor")?;
    let done = work();
    sched_setaffinity(None, &before).context("cannot give the processors back")?;
    done
}
