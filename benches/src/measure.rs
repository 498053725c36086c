//! How time is taken.
//!
//! Cases that are compared stand in one group and are measured one right after the other, in an order that
//! rotates from round to round, so that whatever else the machine does meets all of them alike. An
//! operation that leaves things as they are is repeated within a sample until the clock's own cost no
//! longer counts; any other is timed alone. Preparing an operation, and freeing what it gave, is not timed.

use std::fmt;
use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::peer::Sync;

/// A sample of a repeatable operation takes at least this long.
const SAMPLE_MIN: Duration = Duration::from_micros(20);
const REPEATS_MAX: u32 = 1 << 20;
/// Samples from which is told how long a sample takes.
const CALIBRATION_SAMPLES: u32 = 3;
/// A case whose single sample takes longer than this part of its budget is not warmed up again.
const WARM_UP_PART: u32 = 4;

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Reading a conversation.
    Read(Reading),
    /// Appending a batch of events.
    Append { sync: Sync, batch: usize },
}

/// What of a conversation is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Whether there is news, when there is none.
    NoNews,
    /// The one line that is new, folded.
    OneNewLine,
    /// The last 100 lines, folded, again.
    Last100,
    /// The last 100 lines, folded, right after one was appended.
    Last100AfterNews,
    /// Every line, folded.
    FullFold,
}

impl Reading {
    /// In the order in which they are measured and shown.
    pub(crate) const ALL: [Self; 5] =
        [Self::NoNews, Self::OneNewLine, Self::Last100, Self::Last100AfterNews, Self::FullFold];

    /// Whether it can be done any number of times in a row: it needs no new line each time.
    pub(crate) const fn is_repeatable(self) -> bool {
        match self {
            Self::NoNews | Self::Last100 | Self::FullFold => true,
            Self::OneNewLine | Self::Last100AfterNews => false,
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(Reading::NoNews) => formatter.write_str("no-news poll"),
            Self::Read(Reading::OneNewLine) => formatter.write_str("one-new-line poll, folded"),
            Self::Read(Reading::Last100) => formatter.write_str("last 100 lines, folded"),
            Self::Read(Reading::Last100AfterNews) => formatter.write_str("last 100 lines after news, folded"),
            Self::Read(Reading::FullFold) => formatter.write_str("full fold"),
            Self::Append { sync: Sync::Os, batch } => write!(formatter, "append os, batch {batch}"),
            Self::Append { sync: Sync::Each, batch } => write!(formatter, "append each, batch {batch}"),
        }
    }
}

/// Who does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// The engine.
    Ambient,
    /// The engine's other way to ask for news: a snapshot.
    AmbientSnapshot,
    /// SQLite with a write-ahead log.
    Sqlite,
    /// JSONL read and folded anew each time.
    Jsonl,
    /// The least that the machine asks for the same bytes.
    Floor,
    /// Reading the clock twice, which is in every operation that is timed alone.
    Clock,
}

impl Subject {
    /// The name under which this is shown at `operation`.
    pub(crate) fn name_at(self, operation: Operation) -> &'static str {
        match operation {
            Operation::Read(reading) => self.name_reading(reading),
            Operation::Append { sync, .. } => self.name_appending(sync),
        }
    }

    fn name_reading(self, reading: Reading) -> &'static str {
        match (self, reading) {
            (Self::Ambient, Reading::NoNews) => "ambient, has_news",
            (Self::Ambient, _) => "ambient",
            (Self::AmbientSnapshot, _) => "ambient, snapshot",
            (Self::Sqlite, Reading::NoNews) => "SQLite WAL, data_version",
            (Self::Sqlite, _) => "SQLite WAL",
            (Self::Jsonl, _) => "JSONL, read and folded again",
            (Self::Clock, _) => "floor: the clock itself",
            (Self::Floor, Reading::NoNews) => "floor: atomic load",
            (Self::Floor, Reading::FullFold) => "floor: pread of the log",
            (Self::Floor, _) => "floor: pread of the bytes",
        }
    }

    fn name_appending(self, sync: Sync) -> &'static str {
        match (self, sync) {
            (Self::Ambient | Self::AmbientSnapshot, _) => "ambient",
            (Self::Sqlite, Sync::Os) => "SQLite WAL, synchronous=OFF",
            (Self::Sqlite, Sync::Each) => "SQLite WAL, synchronous=FULL",
            (Self::Jsonl, Sync::Os) => "JSONL, write",
            (Self::Jsonl, Sync::Each) => "JSONL, write + fdatasync",
            (Self::Clock, _) => "floor: the clock itself",
            (Self::Floor, Sync::Os) => "floor: pwrite of the bytes",
            (Self::Floor, Sync::Each) => "floor: pwrite + fdatasync",
        }
    }
}

/// Names one case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) operation: Operation,
    /// Lines in the store at the start; none where they do not matter.
    pub(crate) lines: Option<u64>,
    pub(crate) subject: Subject,
}

impl fmt::Display for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.operation)?;
        if let Some(lines) = self.lines {
            write!(formatter, ", {lines} lines")?;
        }
        write!(formatter, ", {}", self.subject.name_at(self.operation))
    }
}

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
    rounds: Vec<Vec<f64>>,
}

impl<'store> Case<'store> {
    /// An operation that may be done any number of times in a row.
    pub(crate) fn repeatable(key: Key, sample: Sample<'store>) -> Self {
        Self { key, sample, repeats: 1, is_repeatable: true, samples_max: 2_000, rounds: Vec::new() }
    }

    /// An operation that is prepared before each time, at most `samples_max` times in a round.
    pub(crate) fn single(key: Key, samples_max: usize, sample: Sample<'store>) -> Self {
        Self { key, sample, repeats: 1, is_repeatable: false, samples_max, rounds: Vec::new() }
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

    fn run_round(&mut self, budget: Duration) -> Result<()> {
        let last_ns = self.rounds.last().and_then(|round| round.last()).copied();
        match last_ns {
            None => {
                let took = self.calibrate(budget)?;
                if took > budget {
                    // So long a sample leaves nothing to warm up: it counts.
                    self.rounds.push(vec![self.operation_ns(took)]);
                    return Ok(());
                }
            }
            Some(operation_ns) => {
                let sample_ns = operation_ns * f64::from(self.repeats);
                if sample_ns < (budget / WARM_UP_PART).as_secs_f64() * 1e9 {
                    (self.sample)(self.repeats)?;
                }
            }
        }
        let start = Instant::now();
        let mut round = Vec::new();
        while round.is_empty() || (round.len() < self.samples_max && start.elapsed() < budget) {
            let took = (self.sample)(self.repeats)?;
            round.push(self.operation_ns(took));
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
            for place in 0..count {
                let case = &mut group[(place + round) % count];
                case.run_round(budget).with_context(|| case.key.to_string())?;
            }
        }
    }
    Ok(groups.into_iter().flatten().map(|Case { key, rounds, .. }| Measured { key, rounds }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let key = Key { operation: Operation::Read(Reading::NoNews), lines: None, subject: Subject::Ambient };
        let mut calls = 0;
        let sample = move |repeats| {
            calls += 1;
            // The first one meets a pause of the machine; an operation takes a microsecond.
            Ok(Duration::from_micros(if calls == 1 { 900 } else { u64::from(repeats) }))
        };
        let mut case = Case::repeatable(key, Box::new(sample));
        case.calibrate(Duration::from_millis(1)).unwrap();
        assert_eq!(case.repeats, 32, "the first power of two that takes 20 µs");
    }

    #[test]
    fn cases_of_a_group_take_turns_at_being_first() {
        let order = std::cell::RefCell::new(Vec::new());
        let case = |subject| {
            let key = Key { operation: Operation::Read(Reading::NoNews), lines: None, subject };
            let order = &order;
            let sample = move |_| {
                order.borrow_mut().push(subject);
                Ok(Duration::from_secs(1))
            };
            Case::single(key, 1, Box::new(sample))
        };
        let groups = vec![vec![case(Subject::Ambient), case(Subject::Sqlite)]];
        let plan = Plan { rounds: 2, budget_ms: 1 };
        let measured = measure(groups, plan, &mut |_| ()).unwrap();
        let (ambient, sqlite) = (Subject::Ambient, Subject::Sqlite);
        // So slow a case is not warmed up: each comes once in a round.
        assert_eq!(order.into_inner(), [ambient, sqlite, sqlite, ambient]);
        assert!(measured.iter().all(|measured| measured.sample_count() == 2));
    }
}
