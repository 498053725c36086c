//! What the engine costs, in ratios from one run: against what people use instead, and against what the
//! machine itself asks for.
//!
//! `compare` and `server` print one page on standard output; what they are busy with goes to standard
//! error. What is measured, and how, is in `docs/design/BENCHMARKS.md`. Figures are printed, never asserted: no test
//! depends on how fast a machine is.

mod appending;
mod arguments;
mod child;
mod compare;
mod figure;
mod floor;
mod key;
mod library;
mod machine;
mod measure;
mod peer;
mod processes;
mod reading;
mod report;
mod server;
mod table;
mod workload;

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::arguments::{Measure, Request, Subject, USAGE};
use crate::table::Place;

fn main() -> ExitCode {
    let outcome = match arguments::parse(std::env::args_os().skip(1)) {
        Ok(Request::Help) => print(USAGE),
        Ok(Request::Measure(request)) => run(&request),
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

fn run(request: &Measure) -> Result<()> {
    let directory = request.directory()?;
    say(&format!("measuring in {}", directory.display()));
    let (json, page, place) = match request.subject {
        Subject::Engine => {
            let report = compare::compare(&directory, request.is_quick, &mut say)?;
            (report.to_json(), table::render(&report), Place::Engine)
        }
        Subject::Server => {
            let findings =
                server::measure(&directory, &request.program()?, request.python.as_deref(), &mut say)?;
            (findings.to_json(), table::render_findings(&findings), Place::Server)
        }
        Subject::Library => return print(&library::measure(&directory, &request.program()?, &mut say)?),
    };
    if let Some(path) = &request.json {
        let text = format!("{json:#}\n");
        fs::write(path, text).with_context(|| format!("could not write {}", path.display()))?;
    }
    if let Some(path) = &request.markdown {
        put_into(path, place, &page)
            .with_context(|| format!("could not put the page into {}", path.display()))?;
    }
    print(&page)
}

fn put_into(path: &Path, place: Place, page: &str) -> Result<()> {
    let document = fs::read_to_string(path)?;
    Ok(fs::write(path, table::replace_in(&document, place, page)?)?)
}

fn print(text: &str) -> Result<()> {
    let mut output = io::stdout().lock();
    output.write_all(text.as_bytes()).and_then(|()| output.flush()).context("could not print")
}

fn say(text: &str) {
    // If even standard error is gone there is no one to tell.
    let _ = writeln!(io::stderr(), "{text}");
}
