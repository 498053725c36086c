//! What the command line accepts.
//!
//! One definition serves parsing, help and completions. Every verb leads its help with examples, because
//! that is what people read; `command` puts them there.

mod editing;
mod exchange;
mod models;
mod recording;
mod search;

use std::path::PathBuf;

use ambient_engine::Moment;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueHint};
use clap_complete::Shell;

pub(crate) use recording::{Follow, LiveSession, Record, Status, Stop, Sweep};

pub(crate) use editing::{
    BackOrForth, Diff, Hide, ListEdits, Meta, MetaField, Name, RepairWords, Telling, Unhide, Which, Why,
};
pub(crate) use exchange::{Export, ExportForm, ImportSession};
pub(crate) use models::{Import, ModelAction, ModelSource, Models};
pub(crate) use search::SearchFor;

/// How help is laid out: what it is, examples, then the details.
const HELP_TEMPLATE: &str =
    "{about-with-newline}\n{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}";

const EXAMPLES: &str = "\
Examples:
  ambient record --name \"Weekly talk\"
  ambient transcribe talk.mp3 --name \"Weekly talk\"
  ambient transcribe --room me.wav --call them.wav
  ambient show latest
  ambient export latest --format srt --out talk.srt
  ambient models fetch tiny.en
  ambient doctor";

const SESSION_HELP: &str = "A session: its id, the beginning of one, a path, or latest";

const EXIT_CODES: &str = "\
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 busy or several to choose from,
5 done with warnings, 130 interrupted.";

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "ambient",
    version,
    about = "Turns conversations into text on this machine, and lets people and assistants read them.",
    before_long_help = EXAMPLES,
    before_help = EXAMPLES,
    after_help = EXIT_CODES,
    arg_required_else_help = true,
    disable_help_subcommand = false
)]
pub(crate) struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// What can be done.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Record what the microphone hears and this machine plays, with text while people speak
    #[command(before_help = "\
Examples:
  ambient record --name \"Planning\"
  ambient record --system none --for 45m
  ambient record --mic USB --yes --quiet --until 17:00")]
    Record(Record),

    /// End a recording, from anywhere
    #[command(before_help = "\
Examples:
  ambient stop
  ambient stop 2026-03-01T0930-planning
  ambient stop --no-wait")]
    Stop(Stop),

    /// Keep a recording from listening for a while
    #[command(before_help = "\
Examples:
  ambient pause
  ambient pause 2026-03-01T0930-planning")]
    Pause(LiveSession),

    /// Have a paused recording listen again
    #[command(before_help = "\
Examples:
  ambient unpause
  ambient unpause 2026-03-01T0930-planning")]
    Unpause(LiveSession),

    /// Show how recordings are doing
    #[command(before_help = "\
Examples:
  ambient status
  ambient status --watch
  ambient status --json")]
    Status(Status),

    /// Print a session's lines as they come
    #[command(before_help = "\
Examples:
  ambient follow
  ambient follow latest --json
  ambient follow 2026-03-01T0930-planning --verbatim")]
    Follow(Follow),

    /// List the devices that can be recorded from
    #[command(before_help = "\
Examples:
  ambient devices
  ambient devices --json")]
    Devices(Reading),

    /// Delete the audio of complete sessions that was kept long enough
    #[command(before_help = "\
Examples:
  ambient sweep --dry-run
  ambient sweep")]
    Sweep(Sweep),

    /// Turn audio files into sessions
    #[command(before_help = "\
Examples:
  ambient transcribe talk.mp3
  ambient transcribe --room me.wav --call them.wav --name \"Planning\"
  ambient transcribe call.wav --split-channels
  ambient transcribe recordings/ talk.m4a --model base --language de
  arecord -f S16_LE -r 16000 -t raw | ambient transcribe - --rate 16000
  ambient show \"$(ambient transcribe --quiet talk.mp3)\"")]
    Transcribe(Transcribe),

    /// Finish a session that was interrupted
    #[command(before_help = "\
Examples:
  ambient resume
  ambient resume latest
  ambient resume 2026-03-01T0930-planning")]
    Resume(Resume),

    /// List the sessions, newest first
    #[command(before_help = "\
Examples:
  ambient sessions
  ambient sessions --json")]
    Sessions(Reading),

    /// Show what was said in a session
    #[command(before_help = "\
Examples:
  ambient show latest
  ambient show 2026-03-01T0930 --from 14:00 --to 20:00 --speaker Priya
  ambient show latest --at 2026-03-01T11:30
  ambient show latest --plain | grep -i budget
  ambient show latest --json")]
    Show(Show),

    /// Write transcripts as files, or whole sessions in the older JSONL layout
    #[command(before_help = "\
Examples:
  ambient export latest
  ambient export latest --format srt --out talk.srt
  ambient export 2026-03-01T0930 2026-03-02T1400 --format text,srt --out ~/talks
  ambient export latest --format text --out -
  ambient export latest --archive --audio --out /mnt/backup/
  ambient export latest --format jsonl --out old-layout")]
    Export(Export),

    /// Find where something was said, in every session
    #[command(before_help = "\
Examples:
  ambient search release date
  ambient search --whole art --speaker Priya
  ambient search bd-q3fy --since 2026-03-01 -C 2
  ambient search --regex '(?i)ticket \\d+' --json")]
    Search(SearchFor),

    /// Say who spoke
    #[command(before_help = "\
Examples:
  ambient name latest call-1 Priya
  ambient name latest call-1 call-3 \"Priya N.\"
  ambient name latest --line 12 Ben
  ambient name latest --from 1:20 --to 2:05 --track room Ben --dry-run")]
    Name(Name),

    /// Put the words in that were said, where others were heard
    #[command(before_help = "\
Examples:
  ambient repair latest Crea Priya
  ambient repair latest Crea Priya --all --dry-run
  ambient repair latest --regex \"(?i)cloud ?flow\" Cloudflare --all
  ambient repair latest uh \"\" --line 12")]
    Repair(RepairWords),

    /// Take lines out of what everyone reads; what was heard stays in the log
    #[command(before_help = "\
Examples:
  ambient hide latest --line 12
  ambient hide latest --from 14:00 --to 15:30 --reason private
  ambient hide latest --words \"my salary\"
  ambient hide latest --secrets --dry-run")]
    Hide(Hide),

    /// Show hidden lines again
    #[command(before_help = "\
Examples:
  ambient unhide latest --line 12
  ambient unhide latest --all")]
    Unhide(Unhide),

    /// Take back what the last command did to a session's lines
    #[command(before_help = "\
Examples:
  ambient undo latest
  ambient undo latest --dry-run
  ambient undo latest --seq 14")]
    Undo(BackOrForth),

    /// Do again what was taken back
    #[command(before_help = "\
Examples:
  ambient redo latest
  ambient redo latest --seq 14")]
    Redo(BackOrForth),

    /// List everything that was done to a session's lines
    #[command(before_help = "\
Examples:
  ambient edits latest
  ambient edits latest --json")]
    Edits(ListEdits),

    /// Tell why a line reads as it does
    #[command(before_help = "\
Examples:
  ambient why latest 12
  ambient why latest 12 --json")]
    Why(Why),

    /// Show which lines read differently at two moments
    #[command(before_help = "\
Examples:
  ambient diff latest --from 120
  ambient diff latest --from 2026-03-01T10:00 --to 2026-03-01T11:30
  ambient diff latest --json")]
    Diff(Diff),

    /// Say something about a whole session: its name, notes, tags, whether it is kept
    #[command(before_help = "\
Examples:
  ambient meta latest name \"Weekly planning\"
  ambient meta latest tag roadmap
  ambient meta latest pinned yes")]
    Meta(Meta),

    /// Bring in sessions of the older JSONL layout, archives, and transcripts of other programs
    #[command(before_help = "\
Examples:
  ambient import 2026-03-01T0930-planning
  ambient import /mnt/old --dry-run
  ambient import 2026-03-01T0930-planning.ambient.tar
  ambient import talk.srt
  ambient import /mnt/old/2026-03-01T0930-planning
  ambient import ./2026-03-01T0930-planning --json")]
    Import(ImportSession),

    /// List, fetch, import and remove the models speech is recognised with
    #[command(
        before_help = "\
Examples:
  ambient models
  ambient models fetch tiny.en
  ambient models import ./faster-whisper-base --name base
  ambient models remove base --yes",
        args_conflicts_with_subcommands = true
    )]
    Models(Models),

    /// Serve sessions to an assistant over stdin and stdout (Model Context Protocol)
    #[command(before_help = "\
Examples:
  ambient mcp
  echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}' | ambient mcp
  ambient mcp --structured")]
    Mcp(ServeMcp),

    /// Say aloud what is asked for on stdin, a JSON object a line; started by the server for its assistant
    #[command(
        hide = true,
        before_help = "\
Examples:
  ambient voice-helper
  ambient voice-helper --no-play --save-audio /tmp/said"
    )]
    VoiceHelper(VoiceHelper),

    /// Read and change the settings
    #[command(
        before_help = "\
Examples:
  ambient config
  ambient config set model base
  ambient config set language default
  ambient config get sessions_dir",
        args_conflicts_with_subcommands = true
    )]
    Config(Config),

    /// Check that everything needed is there
    #[command(before_help = "\
Examples:
  ambient doctor
  ambient doctor --json")]
    Doctor(Reading),

    /// Print a completion script for a shell
    #[command(before_help = "\
Examples:
  ambient completions bash > ~/.local/share/bash-completion/completions/ambient
  ambient completions zsh > \"${fpath[1]}/_ambient\"
  ambient completions fish > ~/.config/fish/completions/ambient.fish")]
    Completions {
        /// The shell
        shell: Shell,
    },

    /// Print the version
    #[command(before_help = "\
Examples:
  ambient version")]
    Version,
}

/// Options of a verb that only reads.
#[derive(Debug, Args)]
pub(crate) struct Reading {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What a transcription may be told.
#[derive(Debug, Args)]
pub(crate) struct Recognition {
    /// Model to recognise speech with; see `ambient models`
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,

    /// Language that is spoken, such as en; by default it is detected
    #[arg(long, value_name = "CODE")]
    pub(crate) language: Option<String>,

    /// Show no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// `ambient transcribe`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("audio").required(true).multiple(true).args(["files", "room", "call"]))]
pub(crate) struct Transcribe {
    /// Audio files, a session each: wav, flac, mp3, m4a, ogg, mka, aiff or caf, or a film's sound; a folder for all in it; - for stdin
    #[arg(conflicts_with_all = ["room", "call"], value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub(crate) files: Vec<PathBuf>,

    /// Audio of the microphone
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) room: Option<PathBuf>,

    /// Audio of the other side
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) call: Option<PathBuf>,

    /// Take the channels apart: the left one is the room, the right one the call
    #[arg(long, conflicts_with_all = ["room", "call"])]
    pub(crate) split_channels: bool,

    /// Stdin brings bare samples, 16 bit and little-endian, this many a second
    #[arg(long, value_name = "HZ", value_parser = clap::value_parser!(u32).range(2_000..=768_000))]
    pub(crate) rate: Option<u32>,

    /// Channels of the bare samples
    #[arg(long, value_name = "COUNT", requires = "rate", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) channels: u16,

    /// Name of the session; of several, each gets that of its file
    #[arg(long)]
    pub(crate) name: Option<String>,

    #[command(flatten)]
    pub(crate) recognition: Recognition,
}

/// `ambient resume`.
#[derive(Debug, Args)]
pub(crate) struct Resume {
    #[arg(help = format!("{SESSION_HELP}; by default the one that was interrupted"))]
    pub(crate) session: Option<String>,

    #[command(flatten)]
    pub(crate) recognition: Recognition,
}

/// `ambient show`.
#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools)] // flags, each of which stands alone
pub(crate) struct Show {
    #[arg(help = SESSION_HELP)]
    pub(crate) session: String,

    /// Leave out the first COUNT lines, in the order in which they were written
    #[arg(long, value_name = "COUNT", default_value_t = 0, allow_negative_numbers = true)]
    pub(crate) since: u64,

    /// Show the words as they were heard, without later corrections and names
    #[arg(long)]
    pub(crate) verbatim: bool,

    /// Show the session as it read then: the number of an event of its log, or a time such as 2026-03-01T11:30
    #[arg(long, value_name = "MOMENT", value_parser = crate::time::moment)]
    pub(crate) at: Option<Moment>,

    /// Print JSON
    #[arg(long, conflicts_with = "plain")]
    pub(crate) json: bool,

    /// Print one line a turn with tabs between time, track, speaker and text
    #[arg(long)]
    pub(crate) plain: bool,

    /// Print what is longer than the terminal straight on, and not through $PAGER or less
    #[arg(long)]
    pub(crate) no_pager: bool,

    #[command(flatten)]
    pub(crate) which: Which,
}

/// `ambient mcp`.
#[derive(Debug, Args)]
pub(crate) struct ServeMcp {
    /// Give each answer as a JSON value too, beside the text that holds it, and tell the schemas of the answers
    #[arg(long)]
    pub(crate) structured: bool,

    /// Keep lines that were hidden from assistants that ask for the words as they were heard, too
    #[arg(long)]
    pub(crate) redact_verbatim: bool,

    /// Let the assistant's voice make no sound
    #[arg(long)]
    pub(crate) no_play: bool,

    /// Keep what the assistant says as audio files in this directory
    #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
    pub(crate) save_audio: Option<PathBuf>,
}

/// `ambient voice-helper`.
#[derive(Debug, Args)]
pub(crate) struct VoiceHelper {
    /// Make the sound and do not play it
    #[arg(long)]
    pub(crate) no_play: bool,

    /// Keep what is said in this folder, as reply-1.wav, reply-2.wav, …
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) save_audio: Option<PathBuf>,
}

/// `ambient config`.
#[derive(Debug, Args)]
pub(crate) struct Config {
    #[command(subcommand)]
    pub(crate) action: Option<ConfigAction>,

    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// What can be done with settings.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigAction {
    /// Print one setting
    #[command(before_help = "\
Examples:
  ambient config get model
  ambient config get audio_retention_days --json")]
    Get {
        /// The setting's name; see `ambient config list`
        key: String,

        #[command(flatten)]
        reading: Reading,
    },

    /// Change one setting
    #[command(before_help = "\
Examples:
  ambient config set model base
  ambient config set audio_retention_days forever
  ambient config set model default")]
    Set {
        /// The setting's name; see `ambient config list`
        key: String,

        /// The value, or default
        #[arg(allow_hyphen_values = true)]
        value: String,
    },

    /// List all settings with their values
    #[command(before_help = "\
Examples:
  ambient config list
  ambient config list --json")]
    List(Reading),
}

/// The command line's definition, laid out for reading.
pub(crate) fn command() -> clap::Command {
    lay_out(Arguments::command())
}

fn lay_out(command: clap::Command) -> clap::Command {
    let command = match command.get_before_help().map(ToString::to_string) {
        Some(examples) => command.before_help(format!("{examples}\n\n")).help_template(HELP_TEMPLATE),
        None => command,
    };
    command.mut_subcommands(lay_out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_holds_together() {
        command().debug_assert();
    }
}
