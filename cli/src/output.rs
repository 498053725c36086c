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

/// Prints the document that `write` writes, as [`document`] does. Into a pipe or file it goes as it comes.
pub(crate) fn stream<E>(write: impl FnOnce(&mut dyn io::Write) -> Result<(), E>) -> anyhow::Result<()>
where
    E: std::error::Error + Send + Sync + 'static,
{
    if io::stdout().is_terminal() {
        let mut bytes = Vec::new();
        write(&mut bytes)?;
        return Ok(document(&String::from_utf8_lossy(&bytes))?);
    }
    let mut stdout =
        Noting { out: io::BufWriter::with_capacity(BUFFER_LEN_BYTES, io::stdout().lock()), error: None };
    let written = write(&mut stdout);
    let flushed = stdout.flush();
    // That nobody reads any more is told as everywhere.
    match (stdout.error, written, flushed) {
        (Some(error), ..) => Err(StdoutError(error).into()),
        (None, written, _) => Ok(written?),
    }
}

/// Bytes that are gathered before they are written.
const BUFFER_LEN_BYTES: usize = 256 << 10;

/// Keeps the first error, which whoever writes may have wrapped into one of its own.
struct Noting<W> {
    out: W,
    error: Option<io::Error>,
}

impl<W: io::Write> Noting<W> {
    fn note<T>(&mut self, outcome: io::Result<T>) -> io::Result<T> {
        outcome.map_err(|error| {
            let kind = error.kind();
            self.error.get_or_insert(error);
            kind.into()
        })
    }
}

impl<W: io::Write> io::Write for Noting<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes);
        self.note(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.out.flush();
        self.note(flushed)
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
