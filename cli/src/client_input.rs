//! Standard input as a server reads it: it also ends when the process is asked to end, or when nobody reads
//! the replies.
//!
//! A thread that reads sleeps in the system, and neither a signal nor the end of a client wakes it there. So
//! it waits for all three at once, and all three look alike to whoever reads: no more input. What was asked
//! before is then answered; for that there is [`ENDING_GRACE`] after a signal, and none after a second one.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::process;
use std::thread;

use ambient_mcp::ENDING_GRACE;
use anyhow::Context as _;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::exit::Exit;

/// Standard input, for as long as there is someone to serve.
pub(crate) struct ClientInput {
    /// Ends when the process is asked to end.
    asked_to_end: UnixStream,
}

impl ClientInput {
    /// Begins to watch for signals.
    pub(crate) fn new() -> anyhow::Result<Self> {
        let (until_asked, asked_to_end) = UnixStream::pair().context("could not prepare for signals")?;
        let mut signals = Signals::new([SIGINT, SIGTERM]).context("could not prepare for signals")?;
        thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || end_when_asked(&mut signals, until_asked))
            .context("could not prepare for signals")?;
        Ok(Self { asked_to_end })
    }
}

/// Ends the input at the first signal; the process a while later, or at the second.
fn end_when_asked(signals: &mut Signals, until_asked: UnixStream) {
    let mut signals = signals.forever();
    signals.next();
    drop(until_asked);
    let last_resort = thread::Builder::new().name("last resort".to_owned()).spawn(|| {
        thread::sleep(ENDING_GRACE);
        process::exit(Exit::Done as i32);
    });
    if last_resort.is_ok() {
        signals.next();
    }
    process::exit(Exit::Done as i32);
}

impl Read for ClientInput {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let (stdin, stdout) = (io::stdin(), io::stdout());
        loop {
            let mut watched = [
                PollFd::new(&stdin, PollFlags::IN),
                PollFd::new(&self.asked_to_end, PollFlags::IN),
                // Asked for nothing, it still tells that the other end is closed.
                PollFd::new(&stdout, PollFlags::empty()),
            ];
            match poll(&mut watched, None) {
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(errno) => return Err(errno.into()),
            }
            let [input, asked, output] = watched.map(|watched| watched.revents());
            if !asked.is_empty() || output.intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL) {
                return Ok(0);
            }
            if !input.is_empty() {
                return Ok(rustix::io::read(&stdin, into)?);
            }
        }
    }
}
