//! What the deciding thread is told, and the threads that wait for it to happen.

use std::io::{self, BufRead};
use std::sync::mpsc::Sender;
use std::thread;

use anyhow::Context as _;
use signal_hook::consts::TERM_SIGNALS;
use signal_hook::iterator::Signals;

use super::message::{Fault, Request};
use super::program::Ended;

/// Longer lines are refused: a text of the longest kind fits in several times.
const LINE_MAX_BYTES: usize = 256 * 1024;

/// Something to react to.
#[derive(Debug)]
pub(super) enum Happening {
    /// A line came and was understood.
    Asked(Request),
    /// A line came and was not.
    Misheard(Fault),
    /// Nobody will ask for anything any more.
    InputEnded,
    /// A program that was started has ended.
    Ended(Ended),
    /// Someone wants this process to end.
    Interrupted,
}

/// Reads stdin from now on.
pub(super) fn watch_input(happens: &Sender<Happening>) -> anyhow::Result<()> {
    let happens = happens.clone();
    let read = move || {
        let mut input = io::stdin().lock();
        loop {
            let happening = next_line(&mut input);
            let is_last = matches!(happening, Happening::InputEnded);
            if happens.send(happening).is_err() || is_last {
                return;
            }
        }
    };
    thread::Builder::new().name("input".to_owned()).spawn(read).context("cannot start a thread")?;
    Ok(())
}

/// Hears signals from now on.
pub(super) fn watch_signals(happens: &Sender<Happening>) -> anyhow::Result<()> {
    let mut signals = Signals::new(TERM_SIGNALS).context("could not prepare for Ctrl-C")?;
    let happens = happens.clone();
    let wait = move || {
        for _ in signals.forever() {
            if happens.send(Happening::Interrupted).is_err() {
                return;
            }
        }
    };
    thread::Builder::new().name("signals".to_owned()).spawn(wait).context("cannot start a thread")?;
    Ok(())
}

/// The next line that is not blank. Input that cannot be read has ended.
fn next_line(input: &mut impl BufRead) -> Happening {
    loop {
        let mut line = Vec::new();
        let limit = LINE_MAX_BYTES as u64 + 1;
        match io::Read::take(&mut *input, limit).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return Happening::InputEnded,
            Ok(_) if line.len() > LINE_MAX_BYTES && !line.ends_with(b"\n") => {
                if input.skip_until(b'\n').is_err() {
                    return Happening::InputEnded;
                }
                return Happening::Misheard(Fault::new(
                    None,
                    format!("a line has at most {LINE_MAX_BYTES} bytes"),
                ));
            }
            Ok(_) if line.iter().all(u8::is_ascii_whitespace) => {}
            Ok(_) => return Request::read(&line).map_or_else(Happening::Misheard, Happening::Asked),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_long_costs_that_line_alone() {
        let mut input = vec![b'x'; LINE_MAX_BYTES * 3];
        input.extend(b"\n \n\r\n{\"op\":\"quit\"}\n{\"op\":\"stop\"}");
        let mut input = input.as_slice();
        assert!(matches!(next_line(&mut input), Happening::Misheard(_)));
        assert!(matches!(next_line(&mut input), Happening::Asked(Request::Quit)));
        assert!(matches!(next_line(&mut input), Happening::Asked(Request::Stop)));
        assert!(matches!(next_line(&mut input), Happening::InputEnded));
    }
}
