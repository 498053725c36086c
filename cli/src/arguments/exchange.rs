//! Arguments of `ambient export` and `ambient import`.

use std::path::PathBuf;

use ambient_engine::export::ExportFormat;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};

use super::SESSION_HELP;

/// `ambient export`.
#[derive(Debug, Args)]
pub(crate) struct Export {
    #[arg(help = format!("{SESSION_HELP}; several may be named"), value_name = "SESSION", required = true)]
    pub(crate) sessions: Vec<String>,

    /// The form; several with commas between them
    #[arg(long = "format", value_name = "FORMAT", value_delimiter = ',', default_value = ExportFormat::Markdown.as_str(), value_parser = form_parser())]
    pub(crate) formats: Vec<ExportForm>,

    /// File to write, a folder for files that are called like their sessions, or - for stdout; by default
    /// transcript.md, .txt, … in the session. For jsonl the directory to make, by default jsonl in the session
    #[arg(long, short, visible_alias = "output", value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) out: Option<PathBuf>,

    /// Replace files that are there already
    #[arg(long)]
    pub(crate) force: bool,

    /// Write each session as one file that can be checked and imported; by default into this directory
    #[arg(long, conflicts_with = "formats")]
    pub(crate) archive: bool,

    /// Put the sound into the archive, too
    #[arg(long, requires = "archive")]
    pub(crate) audio: bool,
}

/// What a session can be exported as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExportForm {
    /// Its text, as one file.
    File(ExportFormat),
    /// All of it, as a directory in the older layout.
    Jsonl,
    /// All of it, as one file; with its sound or without.
    Archive { with_audio: bool },
}

impl Export {
    /// What each session is written as.
    pub(crate) fn forms(&self) -> Vec<ExportForm> {
        if self.archive { vec![ExportForm::Archive { with_audio: self.audio }] } else { self.formats.clone() }
    }
}

/// The word for a directory in the older layout.
const JSONL: &str = "jsonl";

/// The words the engine has for its formats, so that a new one needs no change here, and one more.
fn form_parser() -> impl TypedValueParser<Value = ExportForm> {
    let words = ExportFormat::ALL.map(ExportFormat::as_str).into_iter().chain([JSONL]);
    PossibleValuesParser::new(words).try_map(|word| match word.as_str() {
        JSONL => Ok(ExportForm::Jsonl),
        _ => word.parse::<ExportFormat>().map(ExportForm::File),
    })
}

/// `ambient import`.
#[derive(Debug, Args)]
pub(crate) struct ImportSession {
    /// A session's directory, a directory of sessions, an archive, a transcript (SRT, VTT, JSON), or the id of a session of the older layout among
    /// yours
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) session: String,

    /// Tell what would be imported, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
