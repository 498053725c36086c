//! Everything a run found, as JSON for programs; `table` shows the same to people.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::figure::Figure;
use crate::machine::Machine;
use crate::measure::{Measured, Plan};

/// The result of one run.
pub(crate) struct Report {
    pub(crate) machine: Machine,
    pub(crate) plan: Plan,
    pub(crate) measured: Vec<Measured>,
    /// What is to be reached.
    pub(crate) figures: Vec<Figure>,
    /// What stands beside it.
    pub(crate) beside: Vec<Figure>,
}

impl Report {
    /// The whole report; times in nanoseconds an operation.
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "measured_at_unix_s": now_unix_s(),
            "machine": self.machine,
            "plan": self.plan,
            "cases": self.measured.iter().map(case).collect::<Vec<_>>(),
            "figures": self.figures.iter().map(figure).collect::<Vec<_>>(),
            "beside": self.beside.iter().map(figure).collect::<Vec<_>>(),
        })
    }
}

/// The result of a run that is figures alone.
pub(crate) struct Findings {
    pub(crate) machine: Machine,
    pub(crate) figures: Vec<Figure>,
}

impl Findings {
    /// All of them, each in its unit.
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "measured_at_unix_s": now_unix_s(),
            "machine": self.machine,
            "figures": self.figures.iter().map(figure).collect::<Vec<_>>(),
        })
    }
}

fn now_unix_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

fn case(measured: &Measured) -> Value {
    let key = measured.key;
    json!({
        "operation": key.operation.to_string(),
        "lines": key.workload.map(|workload| workload.to_string()),
        "subject": key.subject.name_at(key.operation),
        "samples": measured.sample_count(),
        "median_ns": measured.median_ns(),
        "p99_ns": measured.p99_ns(),
        "mean_ns": measured.mean_ns(),
        "round_medians_ns": measured.round_medians_ns(),
    })
}

fn figure(figure: &Figure) -> Value {
    json!({
        "name": figure.name,
        "value": figure.value,
        "lowest": figure.lowest,
        "highest": figure.highest,
        "unit": figure.unit,
        "goal": figure.goal.map(|goal| goal.to_string()),
        "reached": figure.is_reached(),
    })
}
