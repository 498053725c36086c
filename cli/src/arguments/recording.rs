//! What the verbs of recording accept.

use std::time::Duration;

use clap::Args;
use jiff::SignedDuration;
use jiff::civil::Time;

use super::{Reading, Recognition, SESSION_HELP};

/// `ambient record`.
#[derive(Debug, Args)]
pub(crate) struct Record {
    /// Microphone: part of its name, or none; see `ambient devices`
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub(crate) mic: String,

    /// Sound that this machine plays: part of the source's name, none, or auto for the default output
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub(crate) system: String,

    /// Name of the session
    #[arg(long)]
    pub(crate) name: Option<String>,

    #[command(flatten)]
    pub(crate) recognition: Recognition,

    /// Do not ask: everybody who is recorded has agreed
    #[arg(long, short)]
    pub(crate) yes: bool,

    /// End after this long, such as 90s, 45m or 1h30m
    #[arg(long = "for", value_name = "DURATION", value_parser = duration)]
    pub(crate) length: Option<Duration>,

    /// End at this time of day, such as 17:00
    #[arg(long, value_name = "TIME", value_parser = time_of_day)]
    pub(crate) until: Option<Time>,

    /// End once there was no sound for this long
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) stop_after_silence: Option<Duration>,
}

fn duration(text: &str) -> Result<Duration, String> {
    let parsed = text.parse::<SignedDuration>().ok().and_then(|length| Duration::try_from(length).ok());
    parsed.filter(|length| !length.is_zero()).ok_or_else(|| "write it as 90s, 45m or 1h30m".to_owned())
}

fn time_of_day(text: &str) -> Result<Time, String> {
    text.parse().map_err(|_| "write it as 17:00".to_owned())
}

/// `ambient stop`.
#[derive(Debug, Args)]
pub(crate) struct Stop {
    #[arg(help = format!("{SESSION_HELP}; by default the one that is being recorded"))]
    pub(crate) session: Option<String>,

    /// Return at once, not when its last line is there
    #[arg(long)]
    pub(crate) no_wait: bool,
}

/// `ambient pause` and `ambient unpause`.
#[derive(Debug, Args)]
pub(crate) struct LiveSession {
    #[arg(help = format!("{SESSION_HELP}; by default the one that is being recorded"))]
    pub(crate) session: Option<String>,
}

/// `ambient status`.
#[derive(Debug, Args)]
pub(crate) struct Status {
    #[command(flatten)]
    pub(crate) reading: Reading,

    /// Show it again each second, until nothing is being recorded
    #[arg(long)]
    pub(crate) watch: bool,
}

/// `ambient follow`.
#[derive(Debug, Args)]
pub(crate) struct Follow {
    #[arg(help = format!("{SESSION_HELP}; by default the one that is being recorded"))]
    pub(crate) session: Option<String>,

    /// Print the words as they were heard, without later corrections and names
    #[arg(long)]
    pub(crate) verbatim: bool,

    /// Print one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// `ambient sweep`.
#[derive(Debug, Args)]
pub(crate) struct Sweep {
    /// Only say what would be deleted
    #[arg(long)]
    pub(crate) dry_run: bool,
}
