//! What the engine costs, in ratios from one run: against what people use instead, and against what the
//! machine itself asks for.
//!
//! `compare` prints one page on standard output; what it is busy with goes to standard error. What is
//! measured, and how, is in `docs/design/BENCHMARKS.md`. Figures are printed, never asserted: no test
//! depends on how fast a machine is.

mod appending;
mod arguments;
mod child;
mod compare;
mod figure;
mod floor;
mod key;
mod machine;
mod measure;
mod peer;
mod processes;
mod reading;
mod report;
mod table;
mod workload;

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::arguments::{Compare, Request, USAGE};

fn main() -> ExitCode {
    let outcome = match arguments::parse(std::env::args_os().skip(1)) {
        Ok(Request::Help) => print(USAGE),
        Ok(Request::Compare(request)) => run(&request),
        Ok(Request::Child(part, directory)) => child::run(part, &directory),
        Err(error) => {
            say(&format!("error: {error:#}\n\n{USAGE}"));
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run(request: &Compare) -> Result<()> {
    let directory = request.directory()?;
    say(&format!("measuring in {}", directory.display()));
    let report = compare::compare(&directory, request.is_quick, &mut say)?;
    if let Some(path) = &request.json {
        let text = format!("{:#}\n", report.to_json());
        fs::write(path, text).with_context(|| format!("could not write {}", path.display()))?;
    }
    let page = table::render(&report);
    if let Some(path) = &request.markdown {
        put_into(path, &page).with_context(|| format!("could not put the page into {}", path.display()))?;
    }
    print(&page)
}

fn put_into(path: &Path, page: &str) -> Result<()> {
    let document = fs::read_to_string(path)?;
    Ok(fs::write(path, table::replace_in(&document, page)?)?)
}

fn print(text: &str) -> Result<()> {
    let mut output = io::stdout().lock();
    output.write_all(text.as_bytes()).and_then(|()| output.flush()).context("could not print")
}

fn say(text: &str) {
    // If even standard error is gone there is no one to tell.
    let _ = writeln!(io::stderr(), "{text}");
}
