//! The process of a voice: its lines in, its lines out, its end.
//!
//! It runs in a process group of its own, so that what it started to make sound is silenced with it. Its
//! output is read by a thread, bounded, and handed on through a channel that closes when the process ends.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group};

use super::command::VoiceCommand;
use super::message::{Heard, Told};

/// The longest line that is read from a voice, in bytes; a longer one is passed over in pieces.
const LINE_MAX_BYTES: u64 = 1 << 16;
/// How much may wait to be heard before the voice has to.
const WAITING_MAX: usize = 64;
/// How long one that has closed its output may take to end.
const LAST_WORDS_MAX: Duration = Duration::from_millis(500);
/// How often it is looked whether it has.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A voice that runs.
#[derive(Debug)]
pub(super) struct VoiceProcess {
    child: Child,
    stdin: Option<ChildStdin>,
    heard: Receiver<Heard>,
}

impl VoiceProcess {
    /// Starts it.
    ///
    /// # Errors
    /// The program cannot be run.
    pub(super) fn start(command: &VoiceCommand) -> io::Result<Self> {
        let mut child = command
            .to_command()
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()?;
        let (hand_over, heard) = sync_channel(WAITING_MAX);
        let stdin = child.stdin.take();
        let stdout = child.stdout.take();
        let process = Self { child, stdin, heard };
        if let Some(stdout) = stdout {
            thread::Builder::new().name("voice".to_owned()).spawn(move || read_lines(stdout, &hand_over))?;
        }
        Ok(process)
    }

    /// Tells it something.
    ///
    /// # Errors
    /// It does not listen any more.
    pub(super) fn tell(&mut self, told: &Told<'_>) -> io::Result<()> {
        let mut line = serde_json::to_vec(told)?;
        line.push(b'\n');
        let stdin = self.stdin.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        stdin.write_all(&line)?;
        stdin.flush()
    }

    /// What it says next, within `timeout`.
    ///
    /// # Errors
    /// Nothing came, or nothing will.
    pub(super) fn hear(&self, timeout: Duration) -> Result<Heard, RecvTimeoutError> {
        self.heard.recv_timeout(timeout)
    }

    /// How it ended, for one that says nothing any more.
    pub(super) fn last_words(&self) -> String {
        let deadline = Instant::now() + LAST_WORDS_MAX;
        while Instant::now() < deadline {
            if let Some(how) = self.ending() {
                return how;
            }
            thread::sleep(LOOK_EVERY);
        }
        "its program closed its output".to_owned()
    }

    /// Asks it to end, in words and by the end of its input.
    pub(super) fn ask_to_quit(&mut self) {
        // One that does not listen has its input closed all the same.
        let _ = self.tell(&Told::Quit);
        self.stdin = None;
    }

    /// How it ended; none while it runs. Leaves its number taken, so that its group can still be named.
    pub(super) fn ending(&self) -> Option<String> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match rustix::process::waitid(WaitId::Pid(Pid::from_child(&self.child)), options) {
            Ok(None) | Err(Errno::INTR) => None,
            Ok(Some(status)) => Some(match (status.exit_status(), status.terminating_signal()) {
                (Some(code), _) => format!("its program ended with status {code}"),
                (None, Some(signal)) => format!("its program was ended by signal {signal}"),
                (None, None) => "its program ended".to_owned(),
            }),
            Err(error) => Some(format!("nothing is known of its program: {error}")),
        }
    }
}

impl Drop for VoiceProcess {
    /// Kills it and what it started, whether or not it has ended itself.
    fn drop(&mut self) {
        // A group that is gone already is what is wanted.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        let _ = self.child.wait();
    }
}

/// Hands on what is said until there is no more, or nobody listens.
fn read_lines(stdout: ChildStdout, hand_over: &SyncSender<Heard>) {
    let mut stdout = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        match (&mut stdout).take(LINE_MAX_BYTES).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        if Heard::read(&line).is_some_and(|heard| hand_over.send(heard).is_err()) {
            return;
        }
    }
}
