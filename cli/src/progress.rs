//! How far something is, on stderr.
//!
//! On a terminal one bar with speed and time left; elsewhere a line at each quarter, so that a log stays
//! readable; nothing when asked to be quiet.

use std::fmt;
use std::io::{self, IsTerminal as _};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use crate::output;
use crate::time::clock;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Bytes of a file.
    Bytes,
    /// Milliseconds of sound.
    SoundMs,
}

/// Shows how far something is.
#[derive(Debug)]
pub(crate) struct Progress {
    unit: Unit,
    shown: Shown,
    stage: String,
}

#[derive(Debug)]
enum Shown {
    Bar(ProgressBar),
    Lines { quarters: u64 },
    Nothing,
}

impl Progress {
    /// Shows progress in `unit` on stderr, unless `quiet`.
    pub(crate) fn new(unit: Unit, quiet: bool) -> Self {
        let terminal =
            io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|kind| kind != "dumb");
        let shown = match (quiet, terminal) {
            (true, _) => Shown::Nothing,
            (false, true) => Shown::Bar(ProgressBar::new(0).with_style(style(unit))),
            (false, false) => Shown::Lines { quarters: 0 },
        };
        Self { unit, shown, stage: String::new() }
    }

    /// Shows that `done` of `total` are done in `stage`; 0 for a total that is not known.
    pub(crate) fn set(&mut self, stage: &str, done: u64, total: u64) {
        let is_new = self.stage != stage;
        if is_new {
            stage.clone_into(&mut self.stage);
        }
        match &mut self.shown {
            Shown::Nothing => {}
            Shown::Bar(bar) => {
                if is_new {
                    bar.reset();
                    bar.set_message(output::one_line(stage));
                }
                bar.set_length(total);
                bar.set_position(done);
            }
            Shown::Lines { quarters } => {
                let now = (done.min(total).saturating_mul(4)).checked_div(total).unwrap_or(0);
                if is_new {
                    *quarters = 0;
                    output::note(stage);
                }
                if now > *quarters {
                    *quarters = now;
                    output::note(&format!("{stage}: {} of {}", self.unit.show(done), self.unit.show(total)));
                }
            }
        }
    }

    /// Takes the bar away.
    pub(crate) fn end(&self) {
        if let Shown::Bar(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.end();
    }
}

impl Unit {
    fn show(self, amount: u64) -> String {
        match self {
            Self::Bytes => bytes(amount),
            Self::SoundMs => clock(amount),
        }
    }
}

/// A size for people, in decimal units.
pub(crate) fn bytes(size_bytes: u64) -> String {
    indicatif::DecimalBytes(size_bytes).to_string()
}

fn style(unit: Unit) -> ProgressStyle {
    let template = match unit {
        Unit::Bytes => {
            "{msg} {wide_bar} {decimal_bytes}/{decimal_total_bytes} {decimal_bytes_per_sec}, {eta} left"
        }
        Unit::SoundMs => "{msg} {wide_bar} {done}/{total}, {speed}, {eta} left",
    };
    let sound_per_second = |state: &ProgressState, to: &mut dyn fmt::Write| {
        let _ = write!(to, "{:.1}x realtime", state.per_sec() / 1000.0);
    };
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key("done", |state: &ProgressState, to: &mut dyn fmt::Write| {
            let _ = to.write_str(&clock(state.pos()));
        })
        .with_key("total", |state: &ProgressState, to: &mut dyn fmt::Write| {
            let _ = to.write_str(&clock(state.len().unwrap_or(0)));
        })
        .with_key("speed", sound_per_second)
}
