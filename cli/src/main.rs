//! The `ambient` command.
//!
//! It parses arguments, composes the engine, the capture and the MCP crate, and prints. What another
//! front end would need as well is not here. One file a verb; printing goes through `output`, outcomes
//! through `exit`.

mod arguments;
mod changes;
mod client_input;
mod exit;
mod interrupt;
mod live_view;
mod model_choice;
mod output;
mod piped_audio;
mod places;
mod progress;
mod recording;
mod retention;
mod session_name;
mod time;
mod transcription;
mod verb;
mod voice;

use std::process::ExitCode;

use clap::FromArgMatches as _;

use arguments::{Arguments, Verb};
use exit::Exit;

fn main() -> ExitCode {
    let parsed = arguments::command().try_get_matches().and_then(|found| Arguments::from_arg_matches(&found));
    match parsed {
        Ok(arguments) => run(arguments.verb).into(),
        // Help and the version are asked for and go to stdout; mistakes go to stderr and give 2.
        Err(error) => error.exit(),
    }
}

fn run(verb: Verb) -> Exit {
    let outcome = match verb {
        Verb::Record(record) => verb::record::run(&record),
        Verb::Stop(stop) => verb::stop::run(&stop),
        Verb::Pause(paused) => verb::pause::run(&paused, true),
        Verb::Unpause(paused) => verb::pause::run(&paused, false),
        Verb::Status(status) => verb::status::run(&status),
        Verb::Follow(follow) => verb::follow::run(&follow),
        Verb::Devices(reading) => verb::devices::run(&reading),
        Verb::Sweep(sweep) => verb::sweep::run(&sweep),
        Verb::Transcribe(transcribe) => verb::transcribe::run(&transcribe),
        Verb::Resume(resume) => verb::resume::run(&resume),
        Verb::Sessions(reading) => verb::sessions::run(&reading),
        Verb::Show(show) => verb::show::run(&show),
        Verb::Export(export) => verb::export::run(&export),
        Verb::Search(wanted) => verb::search::run(&wanted),
        Verb::Name(name) => verb::name::run(&name),
        Verb::Repair(repair) => verb::repair::run(&repair),
        Verb::Hide(hide) => verb::hide::run(&hide),
        Verb::Unhide(unhide) => verb::unhide::run(&unhide),
        Verb::Undo(undo) => verb::undo::run(&undo),
        Verb::Redo(redo) => verb::redo::run(&redo),
        Verb::Edits(list) => verb::edits::run(&list),
        Verb::Why(why) => verb::why::run(&why),
        Verb::Diff(diff) => verb::diff::run(&diff),
        Verb::Meta(meta) => verb::meta::run(&meta),
        Verb::Import(import) => verb::import::run(&import),
        Verb::Models(models) => verb::models::run(models),
        Verb::Mcp(serve) => verb::mcp::run(&serve),
        Verb::VoiceHelper(options) => voice::run(&options),
        Verb::Config(config) => verb::config::run(config),
        Verb::Doctor(reading) => verb::doctor::run(&reading),
        Verb::Completions { shell } => verb::completions::run(shell),
        Verb::Version => verb::version::run(),
    };
    outcome.unwrap_or_else(|error| {
        let exit = exit::of(&error);
        if exit != Exit::Done {
            output::error(&exit::explanation(&error));
        }
        exit
    })
}
