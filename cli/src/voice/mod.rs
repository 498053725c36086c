//! The built-in voice: a process that says aloud what it is told, for the assistant in a meeting.
//!
//! `ambient voice-helper` is started by the MCP server, or by whoever speaks its protocol
//! (`docs/using/voice.md`): one JSON object a line, asked on stdin and told on stdout. It speaks with the
//! system's own voice and has no model. A text is said sentence by sentence, and while one is heard the
//! next is made, so that a long text begins as soon as a short one.
//!
//! One thread decides everything; others only wait, for a line, for a program to end, for a signal. So a
//! `stop` is obeyed in the middle of a word, and whatever ends the helper also ends what it plays.

mod happening;
mod helper;
mod message;
mod player;
mod program;
mod sentence;
mod system_voice;
mod utterance;

use std::sync::mpsc::channel;

use crate::arguments::VoiceHelper;
use crate::exit::{self, Exit};
use crate::output;
use happening::{Happening, watch_input, watch_signals};
use helper::Helper;
use message::{Event, Request};
use player::Player;
use system_voice::SystemVoice;

/// Says what stdin asks for until it ends or says so. An error has been told on stdout as well, for the
/// program that reads there.
pub(crate) fn run(options: &VoiceHelper) -> anyhow::Result<Exit> {
    match serve(options) {
        Err(error) if error.downcast_ref::<output::StdoutError>().is_none() => {
            output::json_line(&Event::Error { id: None, message: &exit::explanation(&error) })?;
            Err(error)
        }
        outcome => outcome,
    }
}

fn serve(options: &VoiceHelper) -> anyhow::Result<Exit> {
    let voice = SystemVoice::find()?;
    let players = if options.no_play { Vec::new() } else { Player::find_all()? };
    let (happens, happenings) = channel();
    watch_signals(&happens)?;
    let mut helper = Helper::new(voice, players, options.save_audio.clone(), happens.clone())?;
    output::json_line(&Event::Ready { voice: voice.name(), plays: !options.no_play })?;
    watch_input(&happens)?;
    for happening in happenings {
        match happening {
            Happening::Asked(request) => helper.obey(request)?,
            Happening::Misheard(fault) => fault.tell()?,
            Happening::Ended(ended) => helper.go_on_after(&ended)?,
            Happening::InputEnded => helper.obey(Request::Quit)?,
            Happening::Interrupted => {
                helper.obey(Request::Quit)?;
                return Ok(Exit::Interrupted);
            }
        }
        if helper.has_quit() {
            break;
        }
    }
    Ok(Exit::Done)
}
