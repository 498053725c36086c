//! A server of the Model Context Protocol as a process of its own, with this program as its client.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use crate::child::{Part, VERB};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// Bytes of memory that a process has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    /// Pages in memory, those of files included.
    pub(super) resident: f64,
    /// Of those, the ones that are no file's.
    pub(super) own: f64,
}

/// A server, and the pipes to it.
pub(super) struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    reply: String,
}

impl Server {
    /// `ambient mcp` over the sessions in `root`, with the settings in `settings`; greeted.
    pub(super) fn ambient(program: &Path, root: &Path, settings: &Path) -> Result<Self> {
        let mut command = Command::new(program);
        // Whoever may hear the assistant is not to be disturbed by a measurement.
        command.args(["mcp", "--no-play"]).env("AMBIENT_HOME", root).env("AMBIENT_CONFIG", settings);
        let mut server = Self::start(&mut command)?;
        server.greet()?;
        Ok(server)
    }

    /// This program again, sending back every line as it came.
    pub(super) fn echo() -> Result<Self> {
        let program = std::env::current_exe().context("cannot tell where this program lies")?;
        Self::start(Command::new(program).args([VERB, Part::Echo.name(), "-"]))
    }

    /// The least server through the official Python SDK, which lies in `packages`.
    pub(super) fn python_sdk(packages: &Path) -> Result<Self> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/server/least_server.py");
        let mut server = Self::start(Command::new("python3").arg(script).env("PYTHONPATH", packages))?;
        server
            .greet()
            .with_context(|| format!("the official SDK in {} does not serve", packages.display()))?;
        Ok(server)
    }

    fn start(command: &mut Command) -> Result<Self> {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().with_context(|| {
            format!("cannot start {}", Path::new(command.get_program() as &OsStr).display())
        })?;
        let Some(output) = child.stdout.take() else { bail!("a process without its pipes") };
        let input = child.stdin.take();
        Ok(Self { child, input, output: BufReader::new(output), reply: String::new() })
    }

    fn greet(&mut self) -> Result<()> {
        self.call(INITIALIZE)?;
        self.send(INITIALIZED)
    }

    /// Sends one request and reads the reply to it.
    pub(super) fn call(&mut self, request: &str) -> Result<&str> {
        self.send(request)?;
        self.receive()
    }

    /// Sends one message.
    pub(super) fn send(&mut self, message: &str) -> Result<()> {
        let input = self.input.as_mut().context("the pipe to the server is closed")?;
        Ok(input.write_all(format!("{message}\n").as_bytes())?)
    }

    /// Reads the next reply.
    pub(super) fn receive(&mut self) -> Result<&str> {
        self.reply.clear();
        ensure!(self.output.read_line(&mut self.reply)? > 0, "the server ended");
        Ok(self.reply.trim_end())
    }

    /// Requests a second when each is sent after the reply to the one before.
    pub(super) fn rate_one_by_one(&mut self, request: &str, count: u32) -> Result<f64> {
        let start = Instant::now();
        for _ in 0..count {
            self.call(request)?;
        }
        Ok(f64::from(count) / start.elapsed().as_secs_f64())
    }

    /// Requests a second when a thread of its own sends them as fast as they are taken.
    pub(super) fn rate_pipelined(&mut self, request: &str, count: u32) -> Result<f64> {
        let mut input = self.input.take().context("the pipe to the server is closed")?;
        let line = format!("{request}\n");
        let start = Instant::now();
        let input = thread::scope(|scope| -> Result<ChildStdin> {
            let writer = scope.spawn(move || -> std::io::Result<ChildStdin> {
                for _ in 0..count {
                    input.write_all(line.as_bytes())?;
                }
                Ok(input)
            });
            for _ in 0..count {
                self.receive()?;
            }
            let Ok(input) = writer.join() else { bail!("the thread that writes panicked") };
            Ok(input?)
        })?;
        self.input = Some(input);
        Ok(f64::from(count) / start.elapsed().as_secs_f64())
    }

    /// What it has of the machine's memory.
    pub(super) fn memory(&self) -> Result<Memory> {
        let status = self.table("status")?;
        let number = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
            kib.map(|kib| kib * 1024.0).with_context(|| format!("the system does not tell {name}"))
        };
        Ok(Memory { resident: number("VmRSS:")?, own: number("RssAnon:")? })
    }

    /// How many descriptors it holds.
    pub(super) fn descriptors(&self) -> Result<u32> {
        let count = fs::read_dir(format!("/proc/{}/fd", self.child.id()))?.count();
        Ok(u32::try_from(count)?)
    }

    /// Seconds that processors have spent on it.
    pub(super) fn processor_seconds(&self) -> Result<f64> {
        // Not `stat`, whose ticks are longer than all that one of many servers takes.
        let mut taken_ns = 0.0;
        for thread in fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let times = fs::read_to_string(thread?.path().join("schedstat"))?;
            let on_processor = times.split(' ').next().and_then(|field| field.parse::<f64>().ok());
            taken_ns += on_processor.context("the system tells no times")?;
        }
        Ok(taken_ns / 1e9)
    }

    fn table(&self, name: &str) -> Result<String> {
        Ok(fs::read_to_string(format!("/proc/{}/{name}", self.child.id()))?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.input.take());
        // One that has ended already is as dead as it can be.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
