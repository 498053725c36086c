//! What serving costs: `ambient mcp` as its clients start it, over pipes, beside a loop that sends back
//! what it gets and beside the least server through the official Python SDK.
//!
//! What is compared takes turns within each round, so that a machine that is slower for a while is slower
//! for all of them. Calls are made from one processor to a server on another.

mod crowd;
mod process;
mod processor;
mod sessions;

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use self::process::Server;
use self::processor::Processor;
use self::sessions::{LONG_ID, LONG_LINES, SHORT_ID, SHORT_LINES, Sessions};
use crate::figure::{Figure, Goal};
use crate::machine::Machine;
use crate::report::Findings;

const ROUNDS: u32 = 5;
/// Requests of one kind in a round.
const CALLS: u32 = 3_000;
/// Requests of one kind in a round to a server that takes much longer for each.
const CALLS_OF_SLOW: u32 = 300;
/// Calls before memory is looked at the first time, and those from then until the second.
const WARM_UP_CALLS: u32 = 2_000;
const MANY_CALLS: u32 = 100_000;
const LINES_FOLLOWED: u64 = 200;
const STARTS: u32 = 40;
const PINGS: u32 = 40;
/// A call that asks for nothing: what the protocol costs by itself.
const PING: &str = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
/// After which a call that waits is known to wait.
const WAITS_AFTER: Duration = Duration::from_millis(200);

const KIB: f64 = 1024.0;
const MIB: f64 = 1024.0 * 1024.0;

/// Measures `program` on the disk that holds `directory`; `python` is where the official SDK lies.
pub(crate) fn measure(
    directory: &Path,
    program: &Path,
    python: Option<&Path>,
    progress: &mut dyn FnMut(&str),
) -> Result<Findings> {
    let mut machine = Machine::look(directory)?;
    machine.require_disk()?;
    progress("filling sessions");
    let mut sessions = Sessions::fill(directory)?;
    progress("calls");
    let mut figures = calls(program, python, &sessions)?;
    progress("starts and waits");
    figures.push(starts(program, &sessions)?);
    figures.push(ping_beside_a_wait(program, &sessions)?);
    progress("memory");
    figures.extend(growth(program, &sessions)?);
    figures.extend(following(program, &mut sessions)?);
    progress("many servers");
    figures.extend(crowd::figures(program, &mut sessions)?);
    machine.finish();
    Ok(Findings { machine, figures })
}

/// A call that asks for what comes after line `since`.
fn no_news(session: &str, since: u64) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"transcript","arguments":{{"session":"{session}","since":{since}}}}}}}"#
    )
}

/// A call of a tool.
fn tool(id: u32, name: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{name}","arguments":{{}}}}}}"#
    )
}

fn ambient(program: &Path, sessions: &Sessions) -> Result<Server> {
    Server::ambient(program, &sessions.root(), &sessions.settings())
}

/// Rates of the same call to all that take turns.
#[derive(Default)]
struct Rates {
    one_by_one: Vec<f64>,
    pipelined: Vec<f64>,
}

impl Rates {
    fn take(&mut self, server: &mut Server, request: &str, count: u32) -> Result<()> {
        self.one_by_one.push(server.rate_one_by_one(request, count)?);
        self.pipelined.push(server.rate_pipelined(request, count)?);
        Ok(())
    }
}

fn quotients(above: &[f64], below: &[f64]) -> Vec<f64> {
    above.iter().zip(below).map(|(above, below)| above / below).collect()
}

/// How many calls are answered in a second, and what the length of the session changes about it.
fn calls(program: &Path, python: Option<&Path>, sessions: &Sessions) -> Result<Vec<Figure>> {
    let short = no_news(SHORT_ID, SHORT_LINES);
    let long = no_news(LONG_ID, LONG_LINES);
    let (mut echo, mut server, mut sdk) = processor::on(Processor::Last, || {
        Ok((Server::echo()?, ambient(program, sessions)?, python.map(Server::python_sdk).transpose()?))
    })?;
    for request in [&short, &long] {
        let reply = server.call(request)?;
        ensure!(reply.contains(r#"\"lines\":[]"#), "not the reply of a call without news: {reply}");
    }
    let [mut of_echo, mut of_ping, mut of_short, mut of_long, mut of_sdk] =
        [(); 5].map(|()| Rates::default());
    processor::on(Processor::First, || {
        for _ in 0..ROUNDS {
            of_echo.take(&mut echo, &short, CALLS)?;
            of_ping.take(&mut server, PING, CALLS)?;
            of_short.take(&mut server, &short, CALLS)?;
            of_long.take(&mut server, &long, CALLS)?;
            if let Some(sdk) = &mut sdk {
                of_sdk.take(sdk, &tool(7, "status"), CALLS_OF_SLOW)?;
            }
        }
        Ok(())
    })?;
    let growth = quotients(&of_short.one_by_one, &of_long.one_by_one);
    let name = "transcript without news: time at 1000000 lines / at 1000 lines";
    let mut figures = vec![Figure::over_rounds(name, &growth, "", Some(Goal::AtMost(1.5)))];
    let manners = [
        ("one by one", [&of_long, &of_echo, &of_sdk, &of_ping].map(|rates| &rates.one_by_one)),
        ("pipelined", [&of_long, &of_echo, &of_sdk, &of_ping].map(|rates| &rates.pipelined)),
    ];
    for (manner, [ours, floor, sdk, ping]) in manners {
        let name = |what: &str| format!("calls a second, {manner}: {what}");
        figures.push(Figure::over_rounds(&name("transcript without news"), ours, "", None));
        let share = quotients(ours, floor);
        figures.push(Figure::over_rounds(&name("/ echo loop"), &share, "", Some(Goal::AtLeast(0.5))));
        let share = quotients(ping, floor);
        figures.push(Figure::over_rounds(&name("ping / echo loop"), &share, "", None));
        if !sdk.is_empty() {
            let share = quotients(ours, sdk);
            figures.push(Figure::over_rounds(&name("/ official Python SDK"), &share, "", None));
        }
    }
    Ok(figures)
}

/// From the start of a process to its first reply.
fn starts(program: &Path, sessions: &Sessions) -> Result<Figure> {
    let mut taken_ms = Vec::new();
    for _ in 0..STARTS {
        let start = Instant::now();
        let server = ambient(program, sessions)?;
        taken_ms.push(start.elapsed().as_secs_f64() * 1e3);
        drop(server);
    }
    Ok(Figure::over_rounds("start to first reply", &taken_ms, "ms", Some(Goal::AtMost(20.0))))
}

/// A ping while another call waits for somebody to say something.
fn ping_beside_a_wait(program: &Path, sessions: &Sessions) -> Result<Figure> {
    let mut server = ambient(program, sessions)?;
    let reply = server.call(&tool(1, "watch_meeting"))?;
    ensure!(!reply.contains(r#""isError":true"#), "watch_meeting: {reply}");
    server.send(&tool(2, "wait_for_transcript"))?;
    thread::sleep(WAITS_AFTER);
    let mut taken_ms = Vec::new();
    for id in 0..PINGS {
        let start = Instant::now();
        let reply = server.call(&format!(r#"{{"jsonrpc":"2.0","id":{},"method":"ping"}}"#, 100 + id))?;
        ensure!(reply.contains(&format!(r#""id":{}"#, 100 + id)), "the wait ended: {reply}");
        taken_ms.push(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok(Figure::over_rounds("ping beside a wait", &taken_ms, "ms", Some(Goal::AtMost(100.0))))
}

/// What many calls leave behind.
fn growth(program: &Path, sessions: &Sessions) -> Result<Vec<Figure>> {
    let mut server = ambient(program, sessions)?;
    let request = no_news(SHORT_ID, SHORT_LINES - 10);
    server.rate_pipelined(&request, WARM_UP_CALLS)?;
    let (memory, descriptors) = (server.memory()?, server.descriptors()?);
    server.rate_pipelined(&request, MANY_CALLS)?;
    let grown = (server.memory()?.own - memory.own) / KIB;
    let more = f64::from(server.descriptors()?) - f64::from(descriptors);
    let name = |what: &str| format!("after {MANY_CALLS} calls that bring ten lines each: {what}");
    Ok(vec![
        Figure::once(&name("more memory of its own"), grown, "KiB", Some(Goal::AtMost(256.0))),
        Figure::once(&name("more descriptors"), more, "", Some(Goal::AtMost(0.0))),
    ])
}

/// The memory of a server that follows the long session line by line.
fn following(program: &Path, sessions: &mut Sessions) -> Result<Vec<Figure>> {
    let mut server = ambient(program, sessions)?;
    for number in 0..LINES_FOLLOWED {
        sessions.append_line()?;
        let reply = server.call(&no_news(LONG_ID, LONG_LINES + number))?;
        ensure!(!reply.contains(r#"\"lines\":[]"#), "line {number} did not come: {reply}");
    }
    let memory = server.memory()?;
    let name = |what: &str| format!("following a session of {LONG_LINES} lines: {what}");
    Ok(vec![
        Figure::once(&name("resident memory"), memory.resident / MIB, "MiB", Some(Goal::AtMost(12.0))),
        Figure::once(&name("of that its own"), memory.own / MIB, "MiB", None),
    ])
}
