//! `ambient mcp`: the server on stdin and stdout, until stdin ends or someone asks for the end.

use std::ffi::OsString;
use std::io::{self, BufReader};

use ambient_mcp::{Assistant, Server};
use anyhow::Context as _;

use crate::arguments::ServeMcp;
use crate::client_input::ClientInput;
use crate::exit::Exit;
use crate::places;

pub(crate) fn run(arguments: &ServeMcp) -> anyhow::Result<Exit> {
    let root = places::sessions_dir(&places::settings())?;
    let assistant = assistant(arguments)?;
    let mut server = Server::new(&root)
        .with_structured_content(arguments.structured)
        .with_redacted_verbatim(arguments.redact_verbatim);
    if let Some(assistant) = &assistant {
        server = server.with_assistant(assistant);
    }
    server.serve(BufReader::new(ClientInput::new()?), io::stdout())?;
    Ok(Exit::Done)
}

/// The live assistant; none where nothing can be set, so that it cannot be turned on either.
fn assistant(arguments: &ServeMcp) -> anyhow::Result<Option<Assistant>> {
    let Ok(settings) = places::settings_file() else { return Ok(None) };
    // Its own voice, unless another one is set.
    let program = std::env::current_exe().context("cannot tell where this program is")?;
    let assistant = Assistant::new(settings, program.into(), vec!["voice-helper".into()]);
    Ok(Some(assistant.with_voice_arguments(voice_arguments(arguments)?)))
}

/// What a voice is told when it starts.
fn voice_arguments(arguments: &ServeMcp) -> anyhow::Result<Vec<OsString>> {
    let mut told: Vec<OsString> = Vec::new();
    if arguments.no_play {
        told.push("--no-play".into());
    }
    if let Some(directory) = &arguments.save_audio {
        let directory = std::path::absolute(directory).context("--save-audio names no directory")?;
        told.extend(["--save-audio".into(), directory.into()]);
    }
    Ok(told)
}
