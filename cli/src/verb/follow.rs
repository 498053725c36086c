//! `ambient follow`: a session's lines as they come, and what is corrected later, until it is complete.

use std::time::Duration;

use ambient_engine::session::{SessionDirectory, Work, WorkLock};
use ambient_engine::view::TranscriptLine;
use ambient_engine::{FoldedLine, Mapping, Reader};
use anyhow::Context as _;
use serde::Serialize;

use crate::arguments::Follow;
use crate::exit::Exit;
use crate::time::clock;
use crate::{output, recording};

/// How long to wait for news before looking whether anybody is still at work.
const WAIT: Duration = Duration::from_secs(1);

/// A line as it came, or as it reads since a correction.
#[derive(Serialize)]
struct Said {
    index: u64,
    /// Whether it was printed before and reads differently now.
    corrected: bool,
    /// Whether a correction took it out of the reading.
    hidden: bool,
    #[serde(flatten)]
    line: TranscriptLine,
}

pub(crate) fn run(follow: &Follow) -> anyhow::Result<Exit> {
    let session = recording::named_or_live(follow.session.as_deref())?;
    let no_log = || format!("{} has no log to follow; read it with: ambient show", session.id());
    let mut reader = session.read_log(Mapping::On).with_context(no_log)?;
    let mut cursor = None;
    loop {
        // Before the lines: whoever let go of the lock has written all it will.
        let is_at_work = is_at_work(&session)?;
        let changes = reader.snapshot()?.changes(cursor.as_ref())?;
        for line in changes.new {
            print(follow, said(line, false, follow.verbatim))?;
        }
        for line in changes.changed.into_iter().filter(|_| !follow.verbatim) {
            print(follow, said(line, true, false))?;
        }
        cursor = changes.cursor.or(cursor);
        if !is_at_work {
            return Ok(Exit::Done);
        }
        wait(&mut reader)?;
    }
}

fn is_at_work(session: &SessionDirectory) -> anyhow::Result<bool> {
    Ok(WorkLock::is_held(session, Work::Recording)? || WorkLock::is_held(session, Work::Transcribing)?)
}

fn wait(reader: &mut Reader) -> anyhow::Result<()> {
    reader.wait(WAIT)?;
    Ok(())
}

fn said(line: FoldedLine, corrected: bool, verbatim: bool) -> Said {
    let (index, hidden) = (line.index, line.is_hidden() && !verbatim);
    let line = if verbatim { TranscriptLine::from(line.heard) } else { TranscriptLine::from(line) };
    Said { index, corrected, hidden, line }
}

fn print(follow: &Follow, said: Said) -> anyhow::Result<()> {
    if follow.json {
        return Ok(output::json_line(&said)?);
    }
    // What was never shown need not be taken back.
    if said.hidden && !said.corrected {
        return Ok(());
    }
    let Said { corrected, hidden, line, .. } = said;
    let mark = if corrected { "~" } else { " " };
    let speaker = line.speaker.map_or_else(String::new, |name| format!("{name}: "));
    let text = if hidden { "(taken out)" } else { line.text.trim() };
    output::line(&format!("{mark}[{}] {}  {speaker}{text}", clock(line.start_ms), line.track))?;
    Ok(())
}
