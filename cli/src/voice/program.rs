//! A program that was started and will end: by itself, or because nobody wants it any more.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Sender;
use std::thread;

use anyhow::Context as _;

use super::happening::Happening;

/// As much of what a program says on stderr is kept.
const SAID_MAX_BYTES: u64 = 2_000;

/// A running program. Dropping it ends it.
#[derive(Debug)]
pub(super) struct Program {
    number: u64,
    name: String,
    child: Child,
}

/// That a program has ended; how, [`Program::outcome`] knows.
#[derive(Debug)]
pub(super) struct Ended {
    number: u64,
    said: String,
}

impl Program {
    /// Starts `command` with `input` on its stdin. That it has ended will happen under this number.
    pub(super) fn start(
        mut command: Command,
        input: String,
        number: u64,
        happens: &Sender<Happening>,
    ) -> anyhow::Result<Self> {
        let name = command.get_program().to_string_lossy().into_owned();
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("could not start {name}"))?;
        let (to, from) = (child.stdin.take(), child.stderr.take());
        let program = Self { number, name, child };
        let happens = happens.clone();
        let wait = move || {
            if let Some(mut to) = to {
                // A program that does not listen says why, or how it ended does.
                let _ = to.write_all(input.as_bytes());
            }
            let said = from.map(said_until_the_end).unwrap_or_default();
            // When nobody listens any more, nobody needs to know.
            let _ = happens.send(Happening::Ended(Ended { number, said }));
        };
        thread::Builder::new().name("program".to_owned()).spawn(wait).context("cannot start a thread")?;
        Ok(program)
    }

    /// Whether it is this program that has ended.
    pub(super) fn is(&self, ended: &Ended) -> bool {
        self.number == ended.number
    }

    /// How it ended.
    ///
    /// # Errors
    /// It failed: its name, and what it said.
    pub(super) fn outcome(mut self, ended: &Ended) -> anyhow::Result<()> {
        let status = self.child.wait().with_context(|| format!("lost sight of {}", self.name))?;
        let said = ended.said.trim();
        match (status.success(), said.is_empty()) {
            (true, _) => Ok(()),
            (false, true) => anyhow::bail!("{} failed ({status})", self.name),
            (false, false) => anyhow::bail!("{} failed ({status}): {said}", self.name),
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // One that has ended already is as silent as it can be.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a program says on stderr: the beginning of it, once it has closed it by ending.
fn said_until_the_end(mut from: impl Read) -> String {
    let mut said = Vec::new();
    let _ = (&mut from).take(SAID_MAX_BYTES).read_to_end(&mut said);
    let _ = std::io::copy(&mut from, &mut std::io::sink());
    String::from_utf8_lossy(&said).into_owned()
}
