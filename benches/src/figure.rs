//! The figures that count: one measurement divided by another of the same run, or what one case takes, and
//! what is aimed for.
//!
//! A ratio is taken in each round, where both sides were measured one right after the other; what is shown
//! is the median of the rounds, with the lowest and the highest.

use std::fmt;

use anyhow::{Context, Result};

use crate::key::{Floor, Key, Opening, Operation, Reading, Subject};
use crate::measure::{Measured, quantile};
use crate::peer::Sync;
use crate::processes::Footprint;
use crate::workload::{Edits, Workload};

const NS_PER_MS: f64 = 1e6;
const BYTES_PER_MIB: f64 = 1_048_576.0;

/// What is aimed for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Goal {
    AtLeast(f64),
    AtMost(f64),
}

impl Goal {
    fn is_reached_by(self, value: f64) -> bool {
        match self {
            Self::AtLeast(limit) => value >= limit,
            Self::AtMost(limit) => value <= limit,
        }
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(limit) => write!(formatter, "≥ {limit}"),
            Self::AtMost(limit) => write!(formatter, "≤ {limit}"),
        }
    }
}

/// A figure that is wanted: a case, over another one or as it is.
#[derive(Clone, Debug)]
struct Wanted {
    name: String,
    above: Key,
    /// None: the case itself, in milliseconds.
    below: Option<Key>,
    goal: Option<Goal>,
}

/// A figure that was found.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    pub(crate) name: String,
    pub(crate) value: f64,
    pub(crate) lowest: f64,
    pub(crate) highest: f64,
    /// What the value is counted in; empty for a ratio.
    pub(crate) unit: &'static str,
    pub(crate) goal: Option<Goal>,
}

impl Figure {
    /// Whether the goal is reached, where there is one.
    pub(crate) fn is_reached(&self) -> Option<bool> {
        self.goal.map(|goal| goal.is_reached_by(self.value))
    }

    fn of(wanted: &Wanted, measured: &[Measured]) -> Result<Self> {
        let medians = |key: Key| {
            let found = measured.iter().find(|measured| measured.key == key);
            let found = found.with_context(|| format!("{key} was not measured"))?;
            anyhow::Ok(found.round_medians_ns())
        };
        let above = medians(wanted.above)?;
        let (values, unit): (Vec<f64>, _) = match wanted.below {
            Some(below) => {
                (above.iter().zip(medians(below)?).map(|(above, below)| above / below).collect(), "")
            }
            None => (above.iter().map(|ns| ns / NS_PER_MS).collect(), "ms"),
        };
        Ok(Self::over_rounds(&wanted.name, &values, unit, wanted.goal))
    }

    /// The median of what the rounds gave.
    pub(crate) fn over_rounds(name: &str, values: &[f64], unit: &'static str, goal: Option<Goal>) -> Self {
        Self {
            name: name.to_owned(),
            value: quantile(values, 0.5),
            lowest: values.iter().copied().fold(f64::INFINITY, f64::min),
            highest: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            unit,
            goal,
        }
    }

    /// What was measured once.
    pub(crate) fn once(name: &str, value: f64, unit: &'static str, goal: Option<Goal>) -> Self {
        Self::over_rounds(name, &[value], unit, goal)
    }
}

/// Which conversations the figures are about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lengths {
    pub(crate) short: u64,
    pub(crate) long: u64,
    pub(crate) longest: u64,
}

/// The figures to be reached, in the order of the list that asks for them; then what stands beside them.
pub(crate) fn figures(
    measured: &[Measured],
    lengths: Lengths,
    footprint: Footprint,
) -> Result<(Vec<Figure>, Vec<Figure>)> {
    let find = |wanted: Vec<Wanted>| -> Result<Vec<Figure>> {
        wanted.into_iter().map(|wanted| Figure::of(&wanted, measured)).collect()
    };
    let mut reached = find(wanted_of_readings(lengths))?;
    reached.extend(find(wanted_of_appends())?);
    reached.extend(find(wanted_of_openings(lengths.long))?);
    reached.push(Figure::once(
        "memory of its own of a process that follows a long conversation",
        as_float(footprint.own) / BYTES_PER_MIB,
        "MiB",
        Some(Goal::AtMost(8.0)),
    ));
    reached.push(Figure::once(
        "since(n) right after opening: bytes read / bytes of the lines",
        as_float(footprint.read) / as_float(footprint.wanted),
        "",
        None,
    ));
    Ok((reached, find(wanted_beside(lengths))?))
}

fn as_float(count: u64) -> f64 {
    u32::try_from(count).map_or(f64::MAX, f64::from)
}

fn lines(lines: u64) -> Workload {
    Workload { lines, edits: Edits::OneInTwenty }
}

/// `above` over `below`, both reading the same conversation.
fn reading(
    reading: Reading,
    long: u64,
    above: Subject,
    below: Subject,
    goal: impl Into<Option<Goal>>,
) -> Wanted {
    let operation = Operation::Read(reading);
    let key = |subject| Key { operation, workload: Some(lines(long)), subject };
    let (over, under) = (above.name_at(operation), below.name_at(operation));
    Wanted {
        name: format!("{operation}, {long} lines: {over} / {under}"),
        above: key(above),
        below: Some(key(below)),
        goal: goal.into(),
    }
}

/// One subject with a long conversation over itself with a short one.
fn growth(
    reading: Reading,
    [long, short]: [u64; 2],
    subject: Subject,
    goal: impl Into<Option<Goal>>,
) -> Wanted {
    let operation = Operation::Read(reading);
    let key = |count| Key { operation, workload: Some(lines(count)), subject };
    Wanted {
        name: format!("{operation}: {}, {long} lines / {short} lines", subject.name_at(operation)),
        above: key(long),
        below: Some(key(short)),
        goal: goal.into(),
    }
}

fn appending(sync: Sync, batch: usize, above: Subject, goal: impl Into<Option<Goal>>) -> Wanted {
    let operation = Operation::Append { sync, batch };
    let key = |subject| Key { operation, workload: None, subject };
    let (over, under) = (above.name_at(operation), Subject::Ambient.name_at(operation));
    Wanted {
        name: format!("{operation}: {over} / {under}"),
        above: key(above),
        below: Some(key(Subject::Ambient)),
        goal: goal.into(),
    }
}

const PREAD: Subject = Subject::Floor(Floor::Pread);
const PREAD_AFTER_APPEND: Subject = Subject::Floor(Floor::PreadAfterAppend);
const PWRITE: Subject = Subject::Floor(Floor::Pwrite);

/// Shorter names for the tables below, whose rows have a goal or none.
const fn at_least(limit: f64) -> Goal {
    Goal::AtLeast(limit)
}

const fn at_most(limit: f64) -> Goal {
    Goal::AtMost(limit)
}

fn wanted_of_readings(Lengths { short, long, longest }: Lengths) -> Vec<Wanted> {
    use Subject::{Ambient, AmbientLent, Jsonl, JsonlParsed, Lmdb, LmdbLastTransaction, Sqlite};
    vec![
        growth(Reading::NoNews, [longest, short], Ambient, at_most(1.3)),
        reading(Reading::NoNews, long, Sqlite, Ambient, at_least(100.0)),
        reading(Reading::NoNews, long, Lmdb, Ambient, at_least(10.0)),
        reading(Reading::NoNews, long, Ambient, LmdbLastTransaction, at_most(2.0)),
        reading(Reading::OneNewLine, long, Sqlite, Ambient, at_least(3.0)),
        reading(Reading::OneNewLine, long, Ambient, PREAD_AFTER_APPEND, at_most(2.0)),
        reading(Reading::Last100, long, Sqlite, Ambient, at_least(3.0)),
        reading(Reading::Last100, long, Sqlite, AmbientLent, at_least(3.0)),
        reading(Reading::Last100AfterNews, long, Sqlite, Ambient, at_least(3.0)),
        reading(Reading::Last100AfterNews, long, Sqlite, AmbientLent, at_least(3.0)),
        reading(Reading::FullFold, long, JsonlParsed, AmbientLent, at_least(4.0)),
        reading(Reading::FullFold, long, Jsonl, Ambient, None),
        reading(Reading::FullFold, long, Sqlite, Ambient, at_least(2.0)),
        reading(Reading::FullFold, long, Sqlite, AmbientLent, at_least(2.0)),
    ]
}

fn wanted_of_appends() -> Vec<Wanted> {
    vec![
        appending(Sync::Os, 100, PWRITE, at_least(0.4)),
        appending(Sync::Os, 100, Subject::Sqlite, at_least(3.0)),
        appending(Sync::Interval, 100, Subject::Sqlite, None),
        appending(Sync::Each, 100, Subject::Sqlite, None),
        appending(Sync::Each, 1, PWRITE, at_least(0.9)),
        appending(Sync::Each, 100, PWRITE, at_least(0.9)),
    ]
}

fn wanted_of_openings(long: u64) -> Vec<Wanted> {
    let wanted = |opening, limit_ms| {
        let operation = Operation::Open(opening);
        let above = Key { operation, workload: Some(lines(long)), subject: Subject::Ambient };
        Wanted {
            name: format!("{operation}, {long} lines"),
            above,
            below: None,
            goal: Some(at_most(limit_ms)),
        }
    };
    vec![
        wanted(Opening::Killed, 5.0),
        wanted(Opening::KilledWithinBatch, 5.0),
        wanted(Opening::PowerLoss, 200.0),
        wanted(Opening::Closed, 10.0),
        wanted(Opening::ClosedOnOtherBoot, 10.0),
    ]
}

fn wanted_beside(Lengths { short, long, .. }: Lengths) -> Vec<Wanted> {
    use Subject::{Ambient, AmbientSnapshot, AmbientWaiting, Lmdb, Sqlite};
    let between = |operation, above, below| {
        let key = |subject| Key { operation, workload: None, subject };
        let (over, under) = (Subject::name_at(above, operation), Subject::name_at(below, operation));
        Wanted {
            name: format!("{operation}: {over} / {under}"),
            above: key(above),
            below: Some(key(below)),
            goal: None,
        }
    };
    let watched = |readers| Key {
        operation: Operation::AppendWatched { readers },
        workload: None,
        subject: Subject::Ambient,
    };
    vec![
        growth(Reading::NoNews, [long, short], AmbientSnapshot, None),
        growth(Reading::OneNewLine, [long, short], Ambient, None),
        growth(Reading::OneNewLine, [long, short], Sqlite, None),
        reading(Reading::NoNews, long, Sqlite, AmbientSnapshot, None),
        reading(Reading::NoNews, long, Ambient, Subject::Floor(Floor::AtomicLoad), None),
        reading(Reading::OneNewLine, long, Lmdb, Ambient, None),
        reading(Reading::OneNewLine, long, Ambient, PREAD, None),
        reading(Reading::Last100, long, Lmdb, Ambient, None),
        reading(Reading::Last100, long, Ambient, PREAD, None),
        reading(Reading::Last100AfterNews, long, Ambient, PREAD, None),
        reading(Reading::Random100, long, Sqlite, Ambient, None),
        reading(Reading::Random100, long, Lmdb, Ambient, None),
        reading(Reading::Changes, long, Sqlite, Ambient, None),
        reading(Reading::Verbatim, long, Sqlite, Ambient, None),
        reading(Reading::Verbatim, long, Lmdb, Ambient, None),
        reading(Reading::FullFold, long, Lmdb, Ambient, None),
        reading(Reading::FullFold, long, Ambient, PREAD, None),
        appending(Sync::Os, 100, Lmdb, None),
        appending(Sync::Each, 100, Lmdb, None),
        between(Operation::Seen, Sqlite, Ambient),
        between(Operation::Seen, Lmdb, Ambient),
        between(Operation::Seen, AmbientWaiting, Ambient),
        Wanted {
            name: "append os, batch 10: ambient, 8 polling readers / none".to_owned(),
            above: watched(8),
            below: Some(watched(0)),
            goal: None,
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(subject: Subject, rounds: &[f64]) -> Measured {
        let operation = Operation::Read(Reading::NoNews);
        let key = Key { operation, workload: Some(lines(1)), subject };
        Measured { key, rounds: rounds.iter().map(|ns| vec![*ns]).collect() }
    }

    fn wanted(above: &Measured, below: Option<&Measured>) -> Wanted {
        let below = below.map(|below| below.key);
        Wanted { name: "peer / ours".to_owned(), above: above.key, below, goal: Some(at_least(3.0)) }
    }

    #[test]
    fn a_ratio_is_taken_round_by_round() {
        // The machine was ten times slower in the last round, for both alike.
        let (peer, ours) =
            (measured(Subject::Sqlite, &[6.0, 8.0, 60.0]), measured(Subject::Ambient, &[2.0, 2.0, 20.0]));
        let figure = Figure::of(&wanted(&peer, Some(&ours)), &[peer, ours]).unwrap();
        assert_eq!((figure.value.to_bits(), figure.is_reached()), (3.0f64.to_bits(), Some(true)));
        assert_eq!((figure.lowest.to_bits(), figure.highest.to_bits()), (3.0f64.to_bits(), 4.0f64.to_bits()));
    }

    #[test]
    fn a_case_that_was_measured_in_one_round_is_compared_in_that_round() {
        let (peer, ours) = (measured(Subject::Jsonl, &[8.0]), measured(Subject::Ambient, &[2.0, 4.0, 4.0]));
        let figure = Figure::of(&wanted(&peer, Some(&ours)), &[peer, ours]).unwrap();
        assert_eq!(figure.value.to_bits(), 4.0f64.to_bits());
    }

    #[test]
    fn what_is_not_a_ratio_is_shown_in_milliseconds() {
        let ours = measured(Subject::Ambient, &[3e6, 5e6, 4e6]);
        let figure = Figure::of(&wanted(&ours, None), &[ours]).unwrap();
        assert_eq!((figure.value.to_bits(), figure.unit), (4.0f64.to_bits(), "ms"));
    }

    #[test]
    fn a_goal_is_a_limit_on_one_side() {
        assert!(Goal::AtMost(1.5).is_reached_by(1.0) && !Goal::AtMost(1.5).is_reached_by(1.6));
        assert!(Goal::AtLeast(3.0).is_reached_by(4.0) && !Goal::AtLeast(3.0).is_reached_by(2.9));
    }

    #[test]
    fn what_was_not_measured_is_named() {
        let ours = measured(Subject::Ambient, &[1.0]);
        let error = Figure::of(&wanted(&ours, None), &[]).unwrap_err().to_string();
        assert_eq!(error, "no-news poll (1): ambient, has_news was not measured");
    }
}
