//! How many threads recognition gets.
//!
//! whisper.cpp's threads wait for one another by spinning: where they outnumber the free cores, all of
//! them burn time and none gets on. So one physical core is left to everything else.

use std::collections::HashSet;
use std::num::NonZero;

/// More threads than this do not make a turn of a few seconds any faster.
const THREADS_MAX: usize = 8;

/// One less than the physical cores this process may use; at least 1.
pub(super) fn worker_threads() -> usize {
    let logical = std::thread::available_parallelism().map_or(1, NonZero::get);
    let physical = physical_cores().unwrap_or(logical).min(logical);
    (physical - 1).clamp(1, THREADS_MAX)
}

/// Physical cores of the machine, where the system tells.
fn physical_cores() -> Option<usize> {
    let description = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    Some(count_cores(&description)).filter(|cores| *cores > 0)
}

/// Different pairs of package and core in Linux's description of the processors.
fn count_cores(description: &str) -> usize {
    let mut cores = HashSet::new();
    for processor in description.split("\n\n") {
        let field = |name: &str| {
            let line = processor.lines().find(|line| line.starts_with(name))?;
            line.split_once(':').map(|(_, value)| value.trim())
        };
        if let Some(core) = field("core id") {
            cores.insert((field("physical id"), core));
        }
    }
    cores.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hyperthreads_of_a_core_count_once() {
        let two_cores_four_threads = "processor\t: 0\nphysical id\t: 0\ncore id\t\t: 0\n\n\
            processor\t: 1\nphysical id\t: 0\ncore id\t\t: 1\n\n\
            processor\t: 2\nphysical id\t: 0\ncore id\t\t: 0\n\n\
            processor\t: 3\nphysical id\t: 0\ncore id\t\t: 1\n\n";
        assert_eq!(count_cores(two_cores_four_threads), 2);
        assert_eq!(count_cores("processor\t: 0\nBogoMIPS\t: 50.00\n"), 0);
        assert!((1..=THREADS_MAX).contains(&worker_threads()));
    }
}
