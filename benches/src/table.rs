//! The report as a page: what it was measured on, the figures with their goals, and every case. It is
//! Markdown, and can take the place of the last one in a document between two marks.

use std::fmt::Write;

use anyhow::{Context, Result};

use crate::figure::Figure;
use crate::key::Subject;
use crate::machine::Machine;
use crate::measure::Measured;
use crate::report::{Findings, Report};

/// Which page a document holds between two marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Engine,
    Server,
}

impl Place {
    /// Where the page begins, and where it ends.
    fn marks(self) -> [&'static str; 2] {
        match self {
            Self::Engine => ["<!-- result: begin -->\n", "<!-- result: end -->\n"],
            Self::Server => ["<!-- server: begin -->\n", "<!-- server: end -->\n"],
        }
    }
}

/// The whole report.
pub(crate) fn render(report: &Report) -> String {
    let (figures, beside, cases) =
        (figures(&report.figures), figures(&report.beside), cases(&report.measured));
    let machine = machine(&report.machine);
    format!(
        "{machine}; SQLite {}; {} rounds, {} ms for each case in each\n\n{figures}\n### Beside them\n\n{beside}\n\
         ### All cases\n\n{cases}",
        report.machine.sqlite, report.plan.rounds, report.plan.budget_ms,
    )
}

/// Figures alone, with what they were measured on.
pub(crate) fn render_findings(findings: &Findings) -> String {
    format!("{}\n\n{}", machine(&findings.machine), figures(&findings.figures))
}

/// The document with the page in the place of the one it holds.
pub(crate) fn replace_in(document: &str, place: Place, page: &str) -> Result<String> {
    let [begin, end] = place.marks();
    let (before, rest) = document.split_once(begin).with_context(|| format!("no line {begin:?} in it"))?;
    let (_, after) = rest.split_once(end).with_context(|| format!("no line {end:?} in it"))?;
    Ok(format!("{before}{begin}\n{page}\n{end}{after}"))
}

fn machine(machine: &Machine) -> String {
    let load = |load: Option<f64>| load.map_or("unknown".to_owned(), |load| load.to_string());
    format!(
        "{}, commit {}.\n\n> {}, {} cores, {}, {}; {}\\\n> load {} before, {} after",
        machine.date,
        machine.commit,
        machine.cpu,
        machine.cores,
        machine.kernel,
        machine.file_system,
        machine.rustc,
        load(machine.load_before),
        load(machine.load_after),
    )
}

fn cases(measured: &[Measured]) -> String {
    let mut rows =
        vec![["operation", "lines", "what", "median", "p99", "mean", "/ ambient"].map(str::to_owned)];
    for case in measured {
        let key = case.key;
        let of_ours = measured.iter().find(|other| {
            let other = other.key;
            other.operation == key.operation
                && other.workload == key.workload
                && other.subject == Subject::Ambient
        });
        rows.push([
            key.operation.to_string(),
            key.workload.map_or(String::new(), |workload| workload.to_string()),
            key.subject.name_at(key.operation),
            duration(case.median_ns()),
            duration(case.p99_ns()),
            duration(case.mean_ns()),
            of_ours.map_or(String::new(), |ours| number(case.median_ns() / ours.median_ns())),
        ]);
    }
    table(&rows, &[false, true, false, true, true, true, true])
}

fn figures(figures: &[Figure]) -> String {
    let mut rows = vec![["figure", "value", "rounds", "goal", "reached"].map(str::to_owned)];
    for figure in figures {
        let rounds = if figure.lowest < figure.highest {
            format!("{} .. {}", number(figure.lowest), number(figure.highest))
        } else {
            String::new()
        };
        rows.push([
            figure.name.clone(),
            format!("{} {}", number(figure.value), figure.unit).trim_end().to_owned(),
            rounds,
            figure.goal.map_or(String::new(), |goal| format!("{goal} {}", figure.unit).trim_end().to_owned()),
            figure.is_reached().map_or("", |reached| if reached { "yes" } else { "no" }).to_owned(),
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
    fn the_page_takes_the_place_of_the_one_before() {
        let [begin, end] = Place::Server.marks();
        let other = Place::Engine.marks().join("of the engine\n");
        let document = format!("# Title\n{other}{begin}old\n{end}more\n");
        let replaced = replace_in(&document, Place::Server, "new\n").unwrap();
        assert_eq!(replaced, format!("# Title\n{other}{begin}\nnew\n\n{end}more\n"));
        assert_eq!(replace_in(&replaced, Place::Server, "new\n").unwrap(), replaced, "again and again");
        assert!(replace_in("# Title\n", Place::Server, "new\n").is_err());
    }

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
