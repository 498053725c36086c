//! Many servers that follow one recording: what they take together, and what they leave to the recorder.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::no_news;
use super::process::Server;
use super::sessions::{LONG_ID, Sessions};
use crate::figure::{Figure, Goal};

const SERVERS: u32 = 500;
/// How often each of them is asked for news.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// How long the recorder appends in one round, alone and beside them.
const ROUND: Duration = Duration::from_secs(5);
const ROUNDS: u32 = 3;

/// Appends alone and beside polling servers by turns.
pub(super) fn figures(program: &Path, sessions: &mut Sessions) -> Result<Vec<Figure>> {
    let (root, settings) = (sessions.root(), sessions.settings());
    let mut servers =
        (0..SERVERS).map(|_| Server::ambient(program, &root, &settings)).collect::<Result<Vec<_>>>()?;
    // A cursor far behind the end, so that lines that come meanwhile are no news either.
    let request = no_news(LONG_ID, u64::from(u32::MAX));
    for server in &mut servers {
        server.call(&request)?;
    }
    let (mut cores, mut shares) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let alone = append_rate(sessions)?;
        let before = processor_seconds(&servers)?;
        let start = Instant::now();
        let beside = thread::scope(|scope| {
            let polling = scope.spawn(|| poll(&mut servers, &request, start + ROUND));
            let rate = append_rate(sessions)?;
            polling.join().ok().context("the thread that polls panicked")??;
            anyhow::Ok(rate)
        })?;
        cores.push((processor_seconds(&servers)? - before) / start.elapsed().as_secs_f64());
        shares.push(beside / alone);
    }
    let name = |what: &str| {
        format!("{SERVERS} servers polled at 2 Hz while a line is appended again and again: {what}")
    };
    Ok(vec![
        Figure::over_rounds(&name("all of them together"), &cores, "cores", Some(Goal::AtMost(1.0))),
        Figure::over_rounds(&name("appends a second / alone"), &shares, "", Some(Goal::AtLeast(0.9))),
    ])
}

fn processor_seconds(servers: &[Server]) -> Result<f64> {
    servers.iter().map(Server::processor_seconds).sum()
}

/// Polls each of them in each interval, one after the other and evenly, until `end`.
fn poll(servers: &mut [Server], request: &str, end: Instant) -> Result<()> {
    let step = POLL_INTERVAL / SERVERS;
    let mut due = Instant::now();
    while due < end {
        for server in &mut *servers {
            due += step;
            thread::sleep(due.saturating_duration_since(Instant::now()));
            server.call(request)?;
        }
    }
    Ok(())
}

/// Lines a second that the recorder appends, each one durable before the next.
fn append_rate(sessions: &mut Sessions) -> Result<f64> {
    let (start, mut appended) = (Instant::now(), 0_u32);
    while start.elapsed() < ROUND {
        sessions.append_line()?;
        appended += 1;
    }
    Ok(f64::from(appended) / start.elapsed().as_secs_f64())
}
