//! A recording as it goes, on stderr: a live view on a terminal, a line now and then elsewhere, nothing when
//! asked to be quiet.

use std::io::{self, IsTerminal as _};

use ambient_capture::live::{Phase, SILENCE_DB, Status, TrackStatus, hours_left};
use indicatif::{ProgressBar, ProgressStyle};

use crate::output::{self, one_line};
use crate::progress::bytes;
use crate::time::clock;

/// Between two lines where there is no terminal.
const LINE_EVERY_MS: u64 = 10_000;

/// Columns of a meter, and the level at its left end.
const METER_COLUMNS: usize = 24;
const METER_FROM_DB: f32 = -60.0;

/// Shows a recording.
pub(crate) struct LiveView {
    shown: Shown,
    told: Vec<String>,
    phase: Phase,
}

enum Shown {
    Terminal(ProgressBar),
    Lines { next_ms: u64 },
    Nothing,
}

impl LiveView {
    /// Shows it unless `quiet`.
    pub(crate) fn new(quiet: bool) -> Self {
        let is_terminal =
            io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|kind| kind != "dumb");
        let shown = match (quiet, is_terminal) {
            (true, _) => Shown::Nothing,
            (false, true) => {
                let style = ProgressStyle::with_template("{msg}");
                let bar = ProgressBar::new_spinner();
                Shown::Terminal(bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner())))
            }
            (false, false) => Shown::Lines { next_ms: LINE_EVERY_MS },
        };
        Self { shown, told: Vec::new(), phase: Phase::Recording }
    }

    /// Shows how things stand. Each warning is said once more than it is shown, so that it stays on the screen.
    pub(crate) fn show(&mut self, status: &Status) {
        for warning in &status.warnings {
            if !self.told.contains(warning) {
                self.told.push(warning.clone());
                self.above(|| output::warning(warning));
            }
        }
        let is_new_phase = self.phase != status.phase;
        self.phase = status.phase;
        match &mut self.shown {
            Shown::Terminal(bar) => {
                bar.set_message(view(status));
                bar.tick();
            }
            Shown::Lines { next_ms } if is_new_phase || status.elapsed_ms >= *next_ms => {
                *next_ms =
                    status.elapsed_ms.saturating_sub(status.elapsed_ms % LINE_EVERY_MS) + LINE_EVERY_MS;
                output::note(&summary(status));
            }
            Shown::Lines { .. } | Shown::Nothing => {}
        }
    }

    /// Takes the view away.
    pub(crate) fn end(&self) {
        if let Shown::Terminal(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }

    /// Says something that stays above the view.
    fn above(&self, say: impl FnOnce()) {
        match &self.shown {
            Shown::Terminal(bar) => bar.suspend(say),
            Shown::Lines { .. } | Shown::Nothing => say(),
        }
    }
}

/// Everything in one line.
pub(crate) fn summary(status: &Status) -> String {
    let phase = match status.phase {
        Phase::Recording => "recording",
        Phase::Paused => "paused",
        Phase::Finishing => "finishing",
    };
    let levels: Vec<String> = status.tracks.iter().map(level).collect();
    format!(
        "{phase} {}: {}, {} lines, {:.1} s behind{}",
        clock(status.elapsed_ms),
        levels.join(", "),
        status.lines(),
        seconds(status.lag_ms()),
        room_left(status),
    )
}

/// The view on a terminal: a line for the whole, one for each track, and the last words.
fn view(status: &Status) -> String {
    let what = match status.phase {
        Phase::Recording => "● recording",
        Phase::Paused => "▮ paused, not listening",
        Phase::Finishing => "○ finishing",
    };
    let lag = seconds(status.lag_ms());
    let mut rows = vec![format!(
        "{what} {}  {} lines  {lag:.1} s behind{}",
        clock(status.elapsed_ms),
        status.lines(),
        room_left(status)
    )];
    for track in &status.tracks {
        rows.push(format!("  {:4} {} {}", track.track, meter(track), one_line(&track.source)));
    }
    if let Some(last) = &status.last_line {
        rows.push(format!("  {}: {}", last.track, one_line(&last.text)));
    }
    rows.join("\n")
}

/// A track's level as a bar, its held peak as a mark.
fn meter(track: &TrackStatus) -> String {
    let mut cells = vec!['·'; METER_COLUMNS];
    let level = columns(track.level_db);
    cells[..level].fill('█');
    if let Some(peak) = columns(track.peak_db).checked_sub(1) {
        cells[peak.max(level.saturating_sub(1))] = '▌';
    }
    cells.into_iter().collect()
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a share of a few columns"
)]
fn columns(level_db: f32) -> usize {
    let share = ((level_db - METER_FROM_DB) / -METER_FROM_DB).clamp(0.0, 1.0);
    (share * METER_COLUMNS as f32).round() as usize
}

fn level(track: &TrackStatus) -> String {
    if track.peak_db <= SILENCE_DB {
        return format!("{} silent", track.track);
    }
    format!("{} {:.0} dB", track.track, track.peak_db)
}

fn room_left(status: &Status) -> String {
    let rates: Vec<u32> = status.tracks.iter().map(|track| track.rate_hz).collect();
    let Some(free_bytes) = status.free_bytes else { return String::new() };
    format!("  {} free ({} h)", bytes(free_bytes), hours_left(free_bytes, &rates))
}

#[allow(clippy::cast_precision_loss, reason = "a figure for the eye")]
pub(crate) fn seconds(ms: u64) -> f64 {
    ms as f64 / 1_000.0
}

#[cfg(test)]
mod tests {
    use ambient_engine::Track;

    use super::*;

    fn track(level_db: f32, peak_db: f32) -> TrackStatus {
        TrackStatus {
            track: Track::Room,
            source: "Mic".to_owned(),
            rate_hz: 48_000,
            captured_ms: 2_500,
            padded_ms: 0,
            silent_ms: 0,
            level_db,
            peak_db,
            done_ms: 1_000,
            lines: 3,
            dropped: Vec::new(),
            worst_lag_ms: 0,
        }
    }

    #[test]
    fn a_meter_shows_level_and_held_peak_and_stays_within_its_columns() {
        assert_eq!(meter(&track(SILENCE_DB, SILENCE_DB)), "·".repeat(METER_COLUMNS));
        assert_eq!(
            meter(&track(-30.0, -15.0)),
            format!("{}{}▌{}", "█".repeat(12), "·".repeat(5), "·".repeat(6))
        );
        assert_eq!(meter(&track(6.0, 6.0)), format!("{}▌", "█".repeat(METER_COLUMNS - 1)));
    }

    #[test]
    fn a_line_says_it_all() {
        let status = Status {
            elapsed_ms: 61_000,
            tracks: vec![track(-30.0, -12.0)],
            free_bytes: Some(3_456_000_000),
            ..Status::default()
        };
        assert_eq!(
            summary(&status),
            "recording 01:01: room -12 dB, 3 lines, 1.5 s behind  3.46 GB free (10 h)"
        );
    }
}
