//! `ambient mcp`: the server on stdin and stdout, until stdin ends.

use std::io;

use crate::exit::Exit;
use crate::places;

pub(crate) fn run() -> anyhow::Result<Exit> {
    let root = places::sessions_dir(&places::settings())?;
    ambient_mcp::serve(io::stdin().lock(), io::stdout(), &root)?;
    Ok(Exit::Done)
}
