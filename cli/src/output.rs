//! The only place that prints.
//!
//! Data goes to stdout, everything else to stderr, so that a pipe carries data alone. What is printed was
//! said or named by others: a control character of it never reaches a terminal raw. Colour is for
//! terminals, and for those who have not asked for none (`NO_COLOR`, `TERM=dumb`).

mod page;
mod pager;
mod safe_text;

use std::io::{self, IsTerminal, Write as _};

use serde::Serialize;

pub(crate) use page::{Colour, Page};
pub(crate) use safe_text::one_line;
use safe_text::{escape_controls, escape_json_controls};

/// stdout cannot be written.
#[derive(Debug)]
pub(crate) struct StdoutError(io::Error);

impl StdoutError {
    /// Whether it is only that nobody reads any more, as after `| head`.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        self.0.kind() == io::ErrorKind::BrokenPipe
    }
}

impl std::fmt::Display for StdoutError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "could not write to stdout: {}", self.0)
    }
}

impl std::error::Error for StdoutError {}

/// Prints one line of data.
pub(crate) fn line(text: &str) -> Result<(), StdoutError> {
    write_stdout(format!("{}\n", escape_controls(text)).as_bytes())
}

/// Prints `value` as JSON.
pub(crate) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    let json = serde_json::to_string_pretty(value)?;
    Ok(write_stdout(format!("{}\n", escape_json_controls(&json)).as_bytes())?)
}

/// Prints `value` as JSON on one line, for a program that reads line by line.
pub(crate) fn json_line(value: &impl Serialize) -> Result<(), StdoutError> {
    let json = serde_json::to_string(value).map_err(|error| StdoutError(error.into()))?;
    write_stdout(format!("{}\n", escape_json_controls(&json)).as_bytes())
}

/// Prints a whole document: to the byte into a pipe or file, with control characters shown on a terminal.
pub(crate) fn document(text: &str) -> Result<(), StdoutError> {
    if io::stdout().is_terminal() {
        write_stdout(escape_controls(text).as_bytes())
    } else {
        write_stdout(text.as_bytes())
    }
}

fn write_stdout(bytes: &[u8]) -> Result<(), StdoutError> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(StdoutError)
}

/// Says something that is not data.
pub(crate) fn note(text: &str) {
    say(None, text);
}

/// Says what a person should look at.
pub(crate) fn warning(text: &str) {
    say(Some((Colour::Yellow, "warning: ")), text);
}

/// Says why it did not work.
pub(crate) fn error(text: &str) {
    say(Some((Colour::Red, "error: ")), text);
}

fn say(head: Option<(Colour, &str)>, text: &str) {
    let mut page = Page::new(has_colour(&io::stderr()));
    if let Some((colour, word)) = head {
        page.painted(colour, word);
    }
    let message = format!("{}{}\n", page.as_str(), escape_controls(text));
    // A closed stderr is no reason to stop working.
    let _ = io::stderr().lock().write_all(message.as_bytes());
}

/// Whether what goes to `stream` may have colour.
fn has_colour(stream: &impl IsTerminal) -> bool {
    stream.is_terminal()
        && !has_variable("NO_COLOR")
        && std::env::var_os("TERM").is_none_or(|terminal| terminal != "dumb")
}

/// Whether the environment says something under `name`.
fn has_variable(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

/// Whether a person reads stdout directly.
pub(crate) fn stdout_is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Columns of the terminal stdout goes to; none when it is not a terminal.
pub(crate) fn stdout_columns() -> Option<usize> {
    if !stdout_is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    (size.ws_col > 0).then_some(usize::from(size.ws_col))
}
