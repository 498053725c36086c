//! The report as a page: what it was measured on, every case, and the ratios with their goals. It is
//! Markdown, so that it can be kept as it is.

use std::fmt::Write;

use crate::measure::{Measured, Subject};
use crate::ratio::Ratio;
use crate::report::Report;

/// The whole report.
pub(crate) fn render(report: &Report) -> String {
    let mut page = machine(report);
    page.push('\n');
    page.push_str(&cases(&report.measured));
    page.push('\n');
    page.push_str(&ratios(&report.ratios));
    page
}

fn machine(report: &Report) -> String {
    let machine = &report.machine;
    let load = |load: Option<f64>| load.map_or("unknown".to_owned(), |load| load.to_string());
    format!(
        "{}, {} cores, {}, {}; {}, SQLite {}\nload {} before, {} after; {} rounds, {} ms for each case in each\n",
        machine.cpu,
        machine.cores,
        machine.kernel,
        machine.file_system,
        machine.rustc,
        machine.sqlite,
        load(machine.load_before),
        load(machine.load_after),
        report.plan.rounds,
        report.plan.budget_ms,
    )
}

fn cases(measured: &[Measured]) -> String {
    let mut rows =
        vec![["operation", "lines", "what", "median", "p99", "mean", "/ ambient"].map(str::to_owned)];
    for case in measured {
        let key = case.key;
        let of_ours = measured.iter().find(|other| {
            let other = other.key;
            other.operation == key.operation && other.lines == key.lines && other.subject == Subject::Ambient
        });
        rows.push([
            key.operation.to_string(),
            key.lines.map_or(String::new(), |lines| lines.to_string()),
            key.subject.name_at(key.operation).to_owned(),
            duration(case.median_ns()),
            duration(case.p99_ns()),
            duration(case.mean_ns()),
            of_ours.map_or(String::new(), |ours| number(case.median_ns() / ours.median_ns())),
        ]);
    }
    table(&rows, &[false, true, false, true, true, true, true])
}

fn ratios(ratios: &[Ratio]) -> String {
    let mut rows = vec![["ratio", "value", "rounds", "goal", "reached"].map(str::to_owned)];
    for ratio in ratios {
        rows.push([
            ratio.name.clone(),
            number(ratio.value),
            format!("{} .. {}", number(ratio.lowest), number(ratio.highest)),
            ratio.goal.map_or(String::new(), |goal| goal.to_string()),
            ratio.is_reached().map_or(String::new(), |reached| if reached { "yes" } else { "no" }.to_owned()),
        ]);
    }
    table(&rows, &[false, true, true, true, false])
}

/// A Markdown table with aligned columns; the first of `rows` is its head.
fn table<const COLUMNS: usize>(rows: &[[String; COLUMNS]], is_right: &[bool; COLUMNS]) -> String {
    let mut widths = [3; COLUMNS];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = String::new();
    for (number, row) in rows.iter().enumerate() {
        for ((cell, &width), &is_right) in row.iter().zip(&widths).zip(is_right) {
            // Writing to a string does not fail.
            let _ =
                if is_right { write!(text, "| {cell:>width$} ") } else { write!(text, "| {cell:<width$} ") };
        }
        text.push_str("|\n");
        if number == 0 {
            for (&width, &is_right) in widths.iter().zip(is_right) {
                let _ = write!(text, "|-{}{}", "-".repeat(width), if is_right { ':' } else { '-' });
            }
            text.push_str("|\n");
        }
    }
    text
}

/// Nanoseconds in the unit that suits them.
fn duration(ns: f64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs")];
    let (value, unit) = units
        .into_iter()
        .find(|(ns_in_unit, _)| ns >= *ns_in_unit)
        .map_or((ns, "ns"), |(ns_in_unit, unit)| (ns / ns_in_unit, unit));
    format!("{} {unit}", number(value))
}

/// Three digits that count, and no more.
fn number(value: f64) -> String {
    match value {
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_three_digits_and_their_unit() {
        let shown = [1.234, 45.67, 999.0, 1_500.0, 2_345_678.0, 1.2e9].map(duration);
        assert_eq!(shown, ["1.23 ns", "45.7 ns", "999 ns", "1.50 µs", "2.35 ms", "1.20 s"]);
    }

    #[test]
    fn columns_are_aligned_and_letters_counted_not_bytes() {
        let rows = [["what".to_owned(), "µs".to_owned()], ["a".to_owned(), "1234".to_owned()]];
        let expected = "\
| what |   µs |
|------|-----:|
| a    | 1234 |
";
        assert_eq!(table(&rows, &[false, true]), expected);
    }
}
