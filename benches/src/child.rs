//! What another process does in the course of a measurement: this program started again, with a word for
//! its part. It answers on standard output, a number a line, and is told to go on by a line on its
//! standard input.

use std::ffi::OsStr;
use std::hint::spin_loop;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use ambient_engine::{Event, FoldedLine, Log, Mapping, Reader};
use anyhow::{Context, Result, bail};
use rustix::time::{ClockId, clock_gettime};

use crate::peer::{Ambient, Lmdb, Reads, Shared, Sqlite, Sync, options};
use crate::workload::Conversation;

/// The first argument of such a process.
pub(crate) const VERB: &str = "child";
/// Lines that a reader asks for after it has opened a log.
pub(crate) const LINES_WANTED: u64 = 10;
/// The longest that a waiting reader sleeps at a time.
const WAIT_MAX: Duration = Duration::from_secs(10);
/// New lines that a reader follows before its memory is looked at.
pub(crate) const LINES_FOLLOWED: usize = 200;

/// What a process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Opens a log for reading and reads the last lines; tells how long opening took, in nanoseconds, and
    /// how many bytes reading the lines asked of the system.
    Read,
    /// Opens a log for appending, tells how long that took in nanoseconds, appends a batch, and waits to be
    /// killed.
    Write,
    /// Polls the engine's log as fast as it can, and tells for each new line how old it is.
    PollAmbient,
    /// Sleeps until the engine's log has news, and tells the same.
    WaitAmbient,
    /// The same as polling the engine's log, with SQLite.
    PollSqlite,
    /// The same with LMDB.
    PollLmdb,
    /// Follows a log, and tells how many bytes of memory of its own it has then.
    Follow,
    /// Sends back each line as it came: the least a server can do.
    Echo,
}

impl Part {
    const ALL: [(&'static str, Self); 8] = [
        ("read", Self::Read),
        ("write", Self::Write),
        ("poll-ambient", Self::PollAmbient),
        ("wait-ambient", Self::WaitAmbient),
        ("poll-sqlite", Self::PollSqlite),
        ("poll-lmdb", Self::PollLmdb),
        ("follow", Self::Follow),
        ("echo", Self::Echo),
    ];

    pub(crate) fn named(name: &OsStr) -> Option<Self> {
        Self::ALL.into_iter().find(|(known, _)| name == *known).map(|(_, part)| part)
    }

    pub(crate) fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(_, part)| *part == self).map_or("", |(name, _)| name)
    }
}

/// A process that does its part.
pub(crate) struct Helper {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Helper {
    pub(crate) fn start(part: Part, directory: &Path) -> Result<Self> {
        let program = std::env::current_exe().context("cannot tell where this program lies")?;
        let mut child = Command::new(program)
            .args([OsStr::new(VERB), OsStr::new(part.name()), directory.as_os_str()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start this program again")?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            bail!("a process without its pipes");
        };
        Ok(Self { child, input, output: BufReader::new(output) })
    }

    /// The next number it tells.
    pub(crate) fn number(&mut self) -> Result<u64> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        line.trim().parse().with_context(|| format!("a process told {line:?} where a number belongs"))
    }

    /// Tells it to go on.
    pub(crate) fn go_on(&mut self) -> Result<()> {
        Ok(self.input.write_all(b"\n").and_then(|()| self.input.flush())?)
    }
}

impl Drop for Helper {
    /// Kills it: no destructor of its own runs, as in a crash.
    fn drop(&mut self) {
        // One that has ended already is as dead as it can be.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Does a part on the conversation in `directory`.
pub(crate) fn run(part: Part, directory: &Path) -> Result<()> {
    match part {
        Part::Read => read(directory),
        Part::Write => write(directory),
        Part::PollAmbient => poll::<Ambient>(directory),
        Part::WaitAmbient => wait(directory),
        Part::PollSqlite => poll::<Sqlite>(directory),
        Part::PollLmdb => poll::<Lmdb>(directory),
        Part::Follow => follow(directory),
        Part::Echo => echo(),
    }
}

fn echo() -> Result<()> {
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let mut line = String::new();
    while input.read_line(&mut line)? > 0 {
        output.write_all(line.as_bytes())?;
        output.flush()?;
        line.clear();
    }
    Ok(())
}

fn tell(number: u64) -> Result<()> {
    let mut output = io::stdout().lock();
    writeln!(output, "{number}")?;
    Ok(output.flush()?)
}

/// Waits for the word to go on; false when there will be none.
fn is_told_to_go_on() -> Result<bool> {
    Ok(io::stdin().lock().read_line(&mut String::new())? > 0)
}

/// Nanoseconds on the clock that all processes of a machine share.
pub(crate) fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let (seconds, nanoseconds) = (now.tv_sec.cast_unsigned(), now.tv_nsec.cast_unsigned());
    seconds * 1_000_000_000 + nanoseconds
}

fn elapsed_ns(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

fn read(directory: &Path) -> Result<()> {
    let start = Instant::now();
    let mut reader = Reader::open(directory, Mapping::On)?;
    let lines = reader.snapshot()?.lines();
    let opened_ns = elapsed_ns(start);
    let before = bytes_asked_for();
    reader.snapshot()?.since(lines.saturating_sub(LINES_WANTED))?;
    let asked_for = bytes_asked_for().zip(before).map_or(0, |(after, before)| after - before);
    tell(opened_ns)?;
    tell(asked_for)
}

/// Bytes that this process has asked the system to read so far, where the system tells.
fn bytes_asked_for() -> Option<u64> {
    number_in(&PathBuf::from("/proc/self/io"), "rchar:")
}

/// The number behind `name` in one of the system's tables.
fn number_in(table: &Path, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(table).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

fn write(directory: &Path) -> Result<()> {
    let start = Instant::now();
    let mut log = Log::open(directory, options(Sync::Os))?;
    let opened_ns = elapsed_ns(start);
    log.append(&Conversation::default().next_line())?;
    tell(opened_ns)?;
    while is_told_to_go_on()? {}
    Ok(())
}

/// An event whose line says when it was made, in place of when it was spoken.
pub(crate) fn line_made_now(conversation: &mut Conversation) -> Vec<Event> {
    let mut events = conversation.next_line();
    if let Some(Event::Line(line)) = events.last_mut() {
        line.start_ms = now_ns();
    }
    events
}

fn poll<P: Shared>(directory: &Path) -> Result<()> {
    let mut reader = P::follow(directory)?;
    while is_told_to_go_on()? {
        reader.poll()?;
        reader.has_news()?;
        tell(0)?;
        let lines = next_lines(&mut reader)?;
        let seen_ns = now_ns();
        tell(lines.last().map_or(0, |line| seen_ns.saturating_sub(line.heard.start_ms)))?;
    }
    Ok(())
}

/// As [`poll`], asleep until the log is appended to.
fn wait(directory: &Path) -> Result<()> {
    let mut reader = Reader::open(directory, Mapping::On)?;
    while is_told_to_go_on()? {
        let known = reader.snapshot()?.lines();
        tell(0)?;
        let mut lines = Vec::new();
        while lines.is_empty() {
            reader.wait(WAIT_MAX)?;
            lines = reader.snapshot()?.since(known)?;
        }
        let seen_ns = now_ns();
        tell(lines.last().map_or(0, |line| seen_ns.saturating_sub(line.heard.start_ms)))?;
    }
    Ok(())
}

fn next_lines(reader: &mut impl Reads) -> Result<Vec<FoldedLine>> {
    loop {
        if reader.has_news()? {
            let lines = reader.poll()?;
            if !lines.is_empty() {
                return Ok(lines);
            }
        }
        spin_loop();
    }
}

fn follow(directory: &Path) -> Result<()> {
    let mut reader = Reader::open(directory, Mapping::On)?;
    let mut known = reader.snapshot()?.lines();
    tell(known)?;
    for _ in 0..LINES_FOLLOWED {
        if !is_told_to_go_on()? {
            return Ok(());
        }
        let lines = reader.snapshot()?.since(known)?;
        known += lines.len() as u64;
        tell(known)?;
    }
    let status = PathBuf::from("/proc/self/status");
    let own = number_in(&status, "RssAnon:").context("the system does not tell a process's own memory")?;
    tell(own * 1024)
}
