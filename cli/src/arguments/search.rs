//! Arguments of `ambient search`.

use ambient_engine::Track;
use clap::Args;
use jiff::Timestamp;

use crate::time;

/// `ambient search`.
#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools)] // flags, each of which stands alone
pub(crate) struct SearchFor {
    /// What to look for: words one behind the other, as they are written
    #[arg(required = true)]
    pub(crate) words: Vec<String>,

    /// Not within other words
    #[arg(long, short = 'w', conflicts_with = "regex")]
    pub(crate) whole: bool,

    /// What to look for is a regular expression
    #[arg(long)]
    pub(crate) regex: bool,

    /// Only in sessions whose ids begin so
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,

    /// Only lines of whoever is called so
    #[arg(long, value_name = "NAME")]
    pub(crate) speaker: Option<String>,

    /// Only lines of this track: room or call
    #[arg(long, value_name = "TRACK")]
    pub(crate) track: Option<Track>,

    /// Only in sessions that began then or later, such as 2026-03-01 or 2026-03-01T10:00
    #[arg(long, value_name = "DATE", value_parser = time::date)]
    pub(crate) since: Option<Timestamp>,

    /// Only in sessions that began before
    #[arg(long, value_name = "DATE", value_parser = time::date)]
    pub(crate) until: Option<Timestamp>,

    /// Lines to show before and behind each
    #[arg(long, short = 'C', value_name = "LINES", default_value_t = 0)]
    pub(crate) context: u64,

    /// Lines to find at most
    #[arg(long, value_name = "COUNT", default_value_t = 50)]
    pub(crate) limit: usize,

    /// Lines to leave out at the beginning: those of the pages before
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    pub(crate) skip: usize,

    /// The best first, instead of the newest
    #[arg(long)]
    pub(crate) rank: bool,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
