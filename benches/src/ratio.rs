//! The figures that count: one measurement divided by another of the same run, and what is aimed for.
//!
//! A ratio is taken in each round, where both sides were measured one right after the other; what is shown
//! is the median of the rounds, with the lowest and the highest.

use std::fmt;

use anyhow::{Context, Result};

use crate::measure::{Key, Measured, Operation, Reading, Subject, quantile};
use crate::peer::Sync;

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

/// A ratio that is wanted.
struct Wanted {
    name: String,
    above: Key,
    below: Key,
    goal: Option<Goal>,
}

/// A ratio that was found.
#[derive(Clone, Debug)]
pub(crate) struct Ratio {
    pub(crate) name: String,
    pub(crate) value: f64,
    pub(crate) lowest: f64,
    pub(crate) highest: f64,
    pub(crate) goal: Option<Goal>,
}

impl Ratio {
    /// Whether the goal is reached, where there is one.
    pub(crate) fn is_reached(&self) -> Option<bool> {
        self.goal.map(|goal| goal.is_reached_by(self.value))
    }

    fn of(wanted: Wanted, measured: &[Measured]) -> Result<Self> {
        let medians = |key: Key| {
            let found = measured.iter().find(|measured| measured.key == key);
            let found = found.with_context(|| format!("{key} was not measured"))?;
            anyhow::Ok(found.round_medians_ns())
        };
        let (above, below) = (medians(wanted.above)?, medians(wanted.below)?);
        let ratios: Vec<f64> = above.iter().zip(below).map(|(above, below)| above / below).collect();
        Ok(Self {
            name: wanted.name,
            value: quantile(&ratios, 0.5),
            lowest: ratios.iter().copied().fold(f64::INFINITY, f64::min),
            highest: ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            goal: wanted.goal,
        })
    }
}

/// All ratios of a comparison of a `short` and a `long` conversation.
pub(crate) fn ratios(measured: &[Measured], short: u64, long: u64) -> Result<Vec<Ratio>> {
    let mut wanted = lengths(short, long);
    wanted.extend(readings(long));
    wanted.extend(appends());
    wanted.into_iter().map(|wanted| Ratio::of(wanted, measured)).collect()
}

/// What the length of a conversation costs: nothing, is the promise.
fn lengths(short: u64, long: u64) -> Vec<Wanted> {
    let ratio = |reading, subject: Subject, goal| {
        let operation = Operation::Read(reading);
        let key = |lines| Key { operation, lines: Some(lines), subject };
        Wanted {
            name: format!("{operation}: {}, {long} lines / {short} lines", subject.name_at(operation)),
            above: key(long),
            below: key(short),
            goal,
        }
    };
    let constant = Some(Goal::AtMost(1.5));
    vec![
        ratio(Reading::NoNews, Subject::Ambient, constant),
        ratio(Reading::NoNews, Subject::AmbientSnapshot, constant),
        ratio(Reading::OneNewLine, Subject::Ambient, constant),
        ratio(Reading::Last100AfterNews, Subject::Ambient, None),
        ratio(Reading::NoNews, Subject::Jsonl, None),
        ratio(Reading::OneNewLine, Subject::Sqlite, None),
    ]
}

/// How reading a long conversation compares with peers and floors.
fn readings(lines: u64) -> Vec<Wanted> {
    let ratio = |reading, above: Subject, below: Subject, goal| {
        let operation = Operation::Read(reading);
        let key = |subject| Key { operation, lines: Some(lines), subject };
        let (over, under) = (above.name_at(operation), below.name_at(operation));
        Wanted {
            name: format!("{operation}: {over} / {under}, {lines} lines"),
            above: key(above),
            below: key(below),
            goal,
        }
    };
    let at_least = |limit| Some(Goal::AtLeast(limit));
    let (ambient, sqlite, jsonl, floor) = (Subject::Ambient, Subject::Sqlite, Subject::Jsonl, Subject::Floor);
    vec![
        ratio(Reading::NoNews, sqlite, ambient, at_least(100.0)),
        ratio(Reading::NoNews, sqlite, Subject::AmbientSnapshot, None),
        ratio(Reading::NoNews, jsonl, ambient, None),
        ratio(Reading::NoNews, ambient, floor, None),
        ratio(Reading::OneNewLine, sqlite, ambient, at_least(3.0)),
        ratio(Reading::OneNewLine, jsonl, ambient, None),
        ratio(Reading::OneNewLine, ambient, floor, Some(Goal::AtMost(2.0))),
        ratio(Reading::Last100, sqlite, ambient, at_least(3.0)),
        ratio(Reading::Last100, ambient, floor, None),
        ratio(Reading::Last100AfterNews, sqlite, ambient, at_least(3.0)),
        ratio(Reading::Last100AfterNews, ambient, floor, None),
        ratio(Reading::FullFold, sqlite, ambient, at_least(2.0)),
        ratio(Reading::FullFold, jsonl, ambient, None),
        ratio(Reading::FullFold, ambient, floor, None),
    ]
}

/// How appending compares, the same durability against the same durability only.
fn appends() -> Vec<Wanted> {
    let ratio = |sync, batch, above: Subject, goal| {
        let operation = Operation::Append { sync, batch };
        let key = |subject| Key { operation, lines: None, subject };
        let (over, under) = (above.name_at(operation), Subject::Ambient.name_at(operation));
        Wanted {
            name: format!("{operation}: {over} / {under}"),
            above: key(above),
            below: key(Subject::Ambient),
            goal,
        }
    };
    let at_least = |limit| Some(Goal::AtLeast(limit));
    vec![
        ratio(Sync::Os, 1, Subject::Sqlite, None),
        ratio(Sync::Os, 1, Subject::Floor, None),
        ratio(Sync::Os, 100, Subject::Sqlite, at_least(3.0)),
        ratio(Sync::Os, 100, Subject::Floor, at_least(0.4)),
        ratio(Sync::Each, 1, Subject::Sqlite, None),
        ratio(Sync::Each, 1, Subject::Floor, at_least(0.9)),
        ratio(Sync::Each, 100, Subject::Sqlite, None),
        ratio(Sync::Each, 100, Subject::Floor, at_least(0.9)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(subject: Subject, rounds: &[f64]) -> Measured {
        let operation = Operation::Read(Reading::NoNews);
        let key = Key { operation, lines: Some(1), subject };
        Measured { key, rounds: rounds.iter().map(|ns| vec![*ns]).collect() }
    }

    #[test]
    fn a_ratio_is_taken_round_by_round() {
        // The machine was ten times slower in the last round, for both alike.
        let (peer, ours) =
            (measured(Subject::Sqlite, &[6.0, 8.0, 60.0]), measured(Subject::Ambient, &[2.0, 2.0, 20.0]));
        let wanted = Wanted {
            name: "peer / ours".to_owned(),
            above: peer.key,
            below: ours.key,
            goal: Some(Goal::AtLeast(3.0)),
        };
        let ratio = Ratio::of(wanted, &[peer, ours]).unwrap();
        assert_eq!((ratio.value.to_bits(), ratio.is_reached()), (3.0f64.to_bits(), Some(true)));
        assert_eq!((ratio.lowest.to_bits(), ratio.highest.to_bits()), (3.0f64.to_bits(), 4.0f64.to_bits()));
    }

    #[test]
    fn a_goal_is_a_limit_on_one_side() {
        assert!(Goal::AtMost(1.5).is_reached_by(1.0) && !Goal::AtMost(1.5).is_reached_by(1.6));
        assert!(Goal::AtLeast(3.0).is_reached_by(4.0) && !Goal::AtLeast(3.0).is_reached_by(2.9));
    }

    #[test]
    fn what_was_not_measured_is_named() {
        let error = ratios(&[], 10, 20).unwrap_err().to_string();
        assert_eq!(error, "no-news poll, 20 lines, ambient, has_news was not measured");
    }
}
