//! What is longer than the terminal, shown by the program that people page with.
//!
//! `$PAGER` is asked, and `less` without it. An empty one, or `cat`, means none, and so does a terminal that
//! can do nothing. Whatever keeps a pager from starting costs the paging, not the text.

use std::io::{ErrorKind, Write as _};
use std::process::{Command, Stdio};

use rustix::termios::tcgetwinsize;

use super::{has_variable, stdout_is_terminal};

/// What `less` is told where nothing is: end at once when all fits, show colours, leave the text there.
const LESS_OPTIONS: &str = "FRX";

/// Shows `text`; false when that is not done, and the text is still to be printed.
pub(super) fn show(text: &str) -> bool {
    is_longer_than_terminal(text) && program().is_some_and(|program| has_shown(&program, text))
}

fn is_longer_than_terminal(text: &str) -> bool {
    let rows = || Some(usize::from(tcgetwinsize(std::io::stdout()).ok()?.ws_row)).filter(|rows| *rows > 0);
    // One row for the shell's next prompt.
    stdout_is_terminal() && rows().is_some_and(|rows| text.lines().count() >= rows)
}

fn program() -> Option<String> {
    if std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb") {
        return None;
    }
    let program = match std::env::var_os("PAGER") {
        Some(program) => program.into_string().ok()?,
        None => "less".to_owned(),
    };
    (!matches!(program.trim(), "" | "cat")).then_some(program)
}

/// Runs `program`, as a shell reads it, over `text` until it ends.
fn has_shown(program: &str, text: &str) -> bool {
    // Ctrl-C is for the pager while it runs.
    let Ok(_interrupted) = crate::interrupt::flag() else { return false };
    let mut command = Command::new("sh");
    command.args(["-c", program]).stdin(Stdio::piped());
    if !has_variable("LESS") {
        command.env("LESS", LESS_OPTIONS);
    }
    let Ok(mut pager) = command.spawn() else { return false };
    let written = pager.stdin.take().map(|mut stdin| stdin.write_all(text.as_bytes()));
    let ended = pager.wait();
    match written {
        // It may end before all is read; but what the shell did not find has shown nothing.
        Some(Err(error)) if error.kind() != ErrorKind::BrokenPipe => false,
        _ => ended.is_ok_and(|status| !matches!(status.code(), Some(126 | 127))),
    }
}
