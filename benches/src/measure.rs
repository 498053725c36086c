//! How time is taken.
//!
//! Cases that are compared stand in one group and take turns several times in a round, in an order that
//! rotates, so that whatever else the machine and its disk do meets all of them alike. An
//! operation that leaves things as they are is repeated within a sample until the clock's own cost no
//! longer counts; any other is timed alone. Preparing an operation, and freeing what it gave, is not timed.

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::key::Key;

/// A sample of a repeatable operation takes at least this long.
const SAMPLE_MIN: Duration = Duration::from_micros(20);
const REPEATS_MAX: u32 = 1 << 20;
/// Samples from which is told how long a sample takes.
const CALIBRATION_SAMPLES: u32 = 3;
/// How often the cases of a group take turns in a round.
const TURNS: usize = 10;
/// A case whose single sample takes longer than this part of its budget is not warmed up again.
const WARM_UP_PART: u32 = 4;

/// Does the operation a given number of times and tells how long that took.
pub(crate) type Sample<'store> = Box<dyn FnMut(u32) -> Result<Duration> + 'store>;

/// One operation on one store.
pub(crate) struct Case<'store> {
    key: Key,
    sample: Sample<'store>,
    /// Operations in one sample; found at the first warm-up.
    repeats: u32,
    is_repeatable: bool,
    samples_max: usize,
    /// In how many rounds it is measured.
    rounds_max: usize,
    rounds: Vec<Vec<f64>>,
    /// What the round that goes on has taken so far, preparation included.
    spent: Duration,
}

impl<'store> Case<'store> {
    /// An operation that may be done any number of times in a row.
    pub(crate) fn repeatable(key: Key, sample: Sample<'store>) -> Self {
        Self { is_repeatable: true, ..Self::single(key, 2_000, sample) }
    }

    /// An operation that is prepared before each time, at most `samples_max` times in a round.
    pub(crate) fn single(key: Key, samples_max: usize, sample: Sample<'store>) -> Self {
        Self {
            key,
            sample,
            repeats: 1,
            is_repeatable: false,
            samples_max,
            rounds_max: usize::MAX,
            rounds: Vec::new(),
            spent: Duration::ZERO,
        }
    }

    /// The same in the first `rounds_max` rounds only: for what takes long and tells little more the second
    /// time.
    pub(crate) fn in_rounds(self, rounds_max: usize) -> Self {
        Self { rounds_max, ..self }
    }

    /// The first warm-up, which also finds how many operations make a sample. Gives how long one takes.
    fn calibrate(&mut self, budget: Duration) -> Result<Duration> {
        loop {
            let mut took = (self.sample)(self.repeats)?;
            if !self.is_repeatable || took > budget {
                return Ok(took);
            }
            // The shortest of a few: one sample alone may be long because of something else.
            for _ in 1..CALIBRATION_SAMPLES {
                took = took.min((self.sample)(self.repeats)?);
            }
            if took >= SAMPLE_MIN || self.repeats >= REPEATS_MAX {
                return Ok(took);
            }
            self.repeats *= 2;
        }
    }

    /// Nanoseconds an operation, of a sample that took `took`.
    fn operation_ns(&self, took: Duration) -> f64 {
        took.as_secs_f64() * 1e9 / f64::from(self.repeats)
    }

    /// Warms up and begins a round.
    fn begin_round(&mut self, budget: Duration) -> Result<()> {
        self.spent = Duration::ZERO;
        let last_ns = self.rounds.last().and_then(|round| round.last()).copied();
        let mut round = Vec::new();
        match last_ns {
            None => {
                let took = self.calibrate(budget)?;
                if took > budget {
                    // So long a sample leaves nothing to warm up: it counts.
                    round.push(self.operation_ns(took));
                    self.spent = took;
                }
            }
            Some(operation_ns) => {
                let sample_ns = operation_ns * f64::from(self.repeats);
                if sample_ns < (budget / WARM_UP_PART).as_secs_f64() * 1e9 {
                    (self.sample)(self.repeats)?;
                }
            }
        }
        self.rounds.push(round);
        Ok(())
    }

    /// Measures until as much of the round's budget is spent, and as many samples are taken, as `turns` may.
    fn take_turn(&mut self, turns: usize, budget: Duration) -> Result<()> {
        let allowed = budget.mul_f64(as_float(turns) / as_float(TURNS));
        let samples_max = (self.samples_max * turns).div_ceil(TURNS);
        let Some(mut round) = self.rounds.pop() else { return Ok(()) };
        let (before, start) = (self.spent, Instant::now());
        while round.is_empty() || (round.len() < samples_max && self.spent < allowed) {
            let took = (self.sample)(self.repeats)?;
            round.push(self.operation_ns(took));
            self.spent = before + start.elapsed();
        }
        self.rounds.push(round);
        Ok(())
    }
}

/// Does `operation` `repeats` times. What the last one gave is freed after the clock has stopped.
pub(crate) fn timed<T>(repeats: u32, mut operation: impl FnMut() -> Result<T>) -> Result<Duration> {
    let start = Instant::now();
    for _ in 1..repeats {
        black_box(operation()?);
    }
    let last = black_box(operation()?);
    let took = start.elapsed();
    drop(last);
    Ok(took)
}

/// How much is measured.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub(crate) struct Plan {
    pub(crate) rounds: usize,
    /// For one case in one round, preparation included.
    pub(crate) budget_ms: u64,
}

/// What was measured of one case: nanoseconds an operation, by round.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) key: Key,
    pub(crate) rounds: Vec<Vec<f64>>,
}

impl Measured {
    fn samples(&self) -> Vec<f64> {
        self.rounds.concat()
    }

    pub(crate) fn sample_count(&self) -> usize {
        self.rounds.iter().map(Vec::len).sum()
    }

    pub(crate) fn median_ns(&self) -> f64 {
        quantile(&self.samples(), 0.5)
    }

    /// The 99th percentile; the longest where there are few samples.
    pub(crate) fn p99_ns(&self) -> f64 {
        quantile(&self.samples(), 0.99)
    }

    pub(crate) fn mean_ns(&self) -> f64 {
        let samples = self.samples();
        let count = u32::try_from(samples.len()).unwrap_or(u32::MAX);
        samples.iter().sum::<f64>() / f64::from(count)
    }

    pub(crate) fn round_medians_ns(&self) -> Vec<f64> {
        self.rounds.iter().map(|round| quantile(round, 0.5)).collect()
    }
}

/// The smallest value that at least `part` of `values` do not exceed.
pub(crate) fn quantile(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (1..=sorted.len()).find(|rank| as_float(*rank) >= part * as_float(sorted.len()));
    rank.and_then(|rank| sorted.get(rank - 1)).copied().unwrap_or(f64::NAN)
}

fn as_float(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::MAX, f64::from)
}

/// Measures all groups in every round, and tells `progress` what comes next.
pub(crate) fn measure(
    mut groups: Vec<Vec<Case<'_>>>,
    plan: Plan,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Measured>> {
    let budget = Duration::from_millis(plan.budget_ms);
    for round in 0..plan.rounds {
        for group in &mut groups {
            let count = group.len();
            if let Some(case) = group.first() {
                progress(&format!("round {} of {}: {}", round + 1, plan.rounds, case.key.operation));
            }
            for turn in 0..TURNS {
                for place in 0..count {
                    let case = &mut group[(place + round + turn) % count];
                    if round >= case.rounds_max {
                        continue;
                    }
                    if turn == 0 {
                        case.begin_round(budget).with_context(|| case.key.to_string())?;
                    }
                    case.take_turn(turn + 1, budget).with_context(|| case.key.to_string())?;
                }
            }
        }
    }
    Ok(groups.into_iter().flatten().map(|Case { key, rounds, .. }| Measured { key, rounds }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{Operation, Reading, Subject};

    fn key(subject: Subject) -> Key {
        Key { operation: Operation::Read(Reading::NoNews), workload: None, subject }
    }

    #[test]
    fn quantiles_are_values_that_were_measured() {
        let hundred: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        let taken = [0.5, 0.99, 1.0].map(|part| quantile(&hundred, part));
        assert_eq!(taken.map(f64::to_bits), [50.0, 99.0, 100.0].map(f64::to_bits));
        assert_eq!(quantile(&[3.0], 0.99).to_bits(), 3.0f64.to_bits(), "few samples: the longest");
        assert!(quantile(&[], 0.5).is_nan());
    }

    #[test]
    fn one_slow_sample_does_not_decide_how_many_operations_make_one() {
        let mut calls = 0;
        let sample = move |repeats| {
            calls += 1;
            // The first one meets a pause of the machine; an operation takes a microsecond.
            Ok(Duration::from_micros(if calls == 1 { 900 } else { u64::from(repeats) }))
        };
        let mut case = Case::repeatable(key(Subject::Ambient), Box::new(sample));
        case.calibrate(Duration::from_millis(1)).unwrap();
        assert_eq!(case.repeats, 32, "the first power of two that takes 20 µs");
    }

    #[test]
    fn cases_of_a_group_take_turns() {
        let order = std::cell::RefCell::new(Vec::new());
        let case = |subject| {
            let order = &order;
            let sample = move |_| {
                order.borrow_mut().push(subject);
                Ok(Duration::ZERO)
            };
            Case::single(key(subject), 1_000, Box::new(sample))
        };
        let groups = vec![vec![case(Subject::Ambient), case(Subject::Sqlite)]];
        measure(groups, Plan { rounds: 1, budget_ms: 3_600_000 }, &mut |_| ()).unwrap();
        let mut order = order.into_inner();
        order.dedup();
        assert_eq!(
            order.len(),
            TURNS + 1,
            "each goes on where the other left off, and is first every other time"
        );
    }

    #[test]
    fn cases_of_a_group_take_turns_at_being_first() {
        let order = std::cell::RefCell::new(Vec::new());
        let case = |subject| {
            let order = &order;
            let sample = move |_| {
                order.borrow_mut().push(subject);
                Ok(Duration::from_secs(1))
            };
            Case::single(key(subject), 1, Box::new(sample))
        };
        let once = case(Subject::Lmdb).in_rounds(1);
        let groups = vec![vec![case(Subject::Ambient), case(Subject::Sqlite), once]];
        let plan = Plan { rounds: 2, budget_ms: 1 };
        let measured = measure(groups, plan, &mut |_| ()).unwrap();
        let (ambient, sqlite, lmdb) = (Subject::Ambient, Subject::Sqlite, Subject::Lmdb);
        // So slow a case is not warmed up: each comes once in a round.
        assert_eq!(order.into_inner(), [ambient, sqlite, lmdb, sqlite, ambient]);
        let counts: Vec<usize> = measured.iter().map(Measured::sample_count).collect();
        assert_eq!(counts, [2, 2, 1]);
    }
}
