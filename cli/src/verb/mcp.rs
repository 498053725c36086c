//! `ambient mcp`: the server on stdin and stdout, until stdin ends or someone asks for the end.

use std::io::{self, BufReader};

use ambient_mcp::Server;

use crate::arguments::ServeMcp;
use crate::client_input::ClientInput;
use crate::exit::Exit;
use crate::places;

pub(crate) fn run(arguments: &ServeMcp) -> anyhow::Result<Exit> {
    let root = places::sessions_dir(&places::settings())?;
    let server = Server::new(&root).with_structured_content(arguments.structured);
    server.serve(BufReader::new(ClientInput::new()?), io::stdout())?;
    Ok(Exit::Done)
}
