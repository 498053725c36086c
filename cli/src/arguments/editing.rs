//! Arguments of the verbs that change how lines read, and of those that tell what was changed.

use ambient_engine::editing::Selection;
use ambient_engine::{Moment, Track};
use clap::{Args, Subcommand};

use super::SESSION_HELP;
use crate::time;

/// Which lines a verb is about.
#[derive(Debug, Args)]
#[command(next_help_heading = "Which lines")]
pub(crate) struct Which {
    /// A line by its number in the order in which they were written, or several as 12-20; may be repeated
    #[arg(long = "line", value_name = "NUMBER", value_parser = line_range)]
    lines: Vec<(u64, u64)>,

    /// Lines that begin at this time of the session or later, such as 1:20 or 01:02:03
    #[arg(long, value_name = "TIME", value_parser = time::of_session)]
    from: Option<u64>,

    /// Lines that begin before this time of the session
    #[arg(long, value_name = "TIME", value_parser = time::of_session)]
    to: Option<u64>,

    /// Lines of this track: room or call
    #[arg(long, value_name = "TRACK")]
    track: Option<Track>,

    /// Lines of whoever is called so now; may be repeated
    #[arg(long, value_name = "NAME")]
    speaker: Vec<String>,
}

impl Which {
    /// The lines that are meant.
    pub(crate) fn selection(&self) -> Selection {
        Selection {
            lines: self.lines.iter().map(|(first, last)| *first..=*last).collect(),
            from_ms: self.from,
            to_ms: self.to,
            track: self.track,
            speakers: self.speaker.clone(),
        }
    }

    /// Whether nothing was said about which lines.
    pub(crate) fn is_any(&self) -> bool {
        self.selection() == Selection::default()
    }
}

/// How the outcome of a change is told.
#[derive(Debug, Args)]
pub(crate) struct Telling {
    /// Show what would change, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `ambient name`.
#[derive(Debug, Args)]
#[command(override_usage = "ambient name <SESSION> [LABEL]... <NAME> [OPTIONS]")]
pub(crate) struct Name {
    #[arg(help = SESSION_HELP)]
    pub(crate) session: String,

    /// Who speaks so far, such as call-1, and last the person's name
    #[arg(value_name = "LABEL NAME", required = true)]
    pub(crate) words: Vec<String>,

    #[command(flatten)]
    pub(crate) which: Which,

    #[command(flatten)]
    pub(crate) telling: Telling,
}

/// `ambient repair`.
#[derive(Debug, Args)]
pub(crate) struct RepairWords {
    #[arg(help = SESSION_HELP)]
    pub(crate) session: String,

    /// What was heard
    pub(crate) heard: String,

    /// What was said; may be empty
    pub(crate) said: String,

    /// Repair every line that holds it, not only one
    #[arg(long)]
    pub(crate) all: bool,

    /// Within other words, too
    #[arg(long, conflicts_with = "regex")]
    pub(crate) part: bool,

    /// What was heard is a regular expression; $1 in what was said is its first group
    #[arg(long)]
    pub(crate) regex: bool,

    #[command(flatten)]
    pub(crate) which: Which,

    #[command(flatten)]
    pub(crate) telling: Telling,
}

/// `ambient hide`.
#[derive(Debug, Args)]
pub(crate) struct Hide {
    #[arg(help = SESSION_HELP)]
    pub(crate) session: String,

    /// Lines that hold these words
    #[arg(long, value_name = "WORDS", conflicts_with_all = ["regex", "secrets"])]
    pub(crate) words: Option<String>,

    /// Lines that hold a match of this regular expression
    #[arg(long, value_name = "REGEX", conflicts_with = "secrets")]
    pub(crate) regex: Option<String>,

    /// Lines that hold what looks like a password, a token or a private key
    #[arg(long)]
    pub(crate) secrets: bool,

    /// Why, in a few words; it is kept in the log
    #[arg(long, default_value = "hidden by hand")]
    pub(crate) reason: String,

    #[command(flatten)]
    pub(crate) which: Which,

    #[command(flatten)]
    pub(crate) telling: Telling,
}

/// `ambient unhide`.
#[derive(Debug, Args)]
pub(crate) struct Unhide {
    #[arg(help = SESSION_HELP)]
    pub(crate) session: String,

    /// Every hidden line
    #[arg(long)]
    pub(crate) all: bool,

    #[command(flatten)]
    pub(crate) which: Which,

    #[command(flatten)]
    pub(crate) telling: Telling,
}

/// `ambient undo` and `ambient redo`.
#[derive(Debug, Args)]
pub(crate) struct BackOrForth {
    #[arg(help = SESSION_HELP)]
    pub(crate) session: String,

    /// One edit by its number (see `ambient edits`) instead of what the last command did
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seq: Option<u64>,

    #[command(flatten)]
    pub(crate) telling: Telling,
}

/// `ambient edits`.
#[derive(Debug, Args)]
pub(crate) struct ListEdits {
    #[arg(help = SESSION_HELP)]
    pub(crate) session: String,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `ambient why`.
#[derive(Debug, Args)]
pub(crate) struct Why {
    #[arg(help = SESSION_HELP)]
    pub(crate) session: String,

    /// The line's number, in the order in which they were written
    pub(crate) line: u64,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `ambient diff`.
#[derive(Debug, Args)]
pub(crate) struct Diff {
    #[arg(help = SESSION_HELP)]
    pub(crate) session: String,

    /// The earlier moment: the number of an event (see `ambient edits`), or a date and time; by default the
    /// beginning
    #[arg(long, value_name = "MOMENT", value_parser = time::moment)]
    pub(crate) from: Option<Moment>,

    /// The later moment; by default now
    #[arg(long, value_name = "MOMENT", value_parser = time::moment)]
    pub(crate) to: Option<Moment>,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `ambient meta`.
#[derive(Debug, Args)]
pub(crate) struct Meta {
    #[arg(help = SESSION_HELP)]
    pub(crate) session: String,

    #[command(subcommand)]
    pub(crate) change: MetaField,
}

/// What can be said about a session.
#[derive(Debug, Subcommand)]
pub(crate) enum MetaField {
    /// Name the session
    #[command(before_help = "\
Examples:
  ambient meta latest name \"Weekly planning\"")]
    Name {
        /// The name; an empty one takes the name away
        value: String,
    },
    /// Keep a note with the session
    #[command(before_help = "\
Examples:
  ambient meta latest notes \"Ben was late; see the board\"
  ambient meta latest notes \"\"")]
    Notes {
        /// The note; an empty one takes it away
        value: String,
    },
    /// Whether the session is kept when old audio is cleared away
    #[command(before_help = "\
Examples:
  ambient meta latest pinned yes")]
    Pinned {
        /// yes or no
        value: String,
    },
    /// Add a tag
    #[command(before_help = "\
Examples:
  ambient meta latest tag roadmap")]
    Tag {
        /// The tag
        value: String,
    },
    /// Take a tag away
    #[command(before_help = "\
Examples:
  ambient meta latest untag roadmap")]
    Untag {
        /// The tag
        value: String,
    },
}

/// A number, or two with a dash between them.
fn line_range(word: &str) -> Result<(u64, u64), String> {
    let number = |word: &str| word.trim().parse::<u64>().map_err(|error| format!("{error}: {word:?}"));
    let (first, last) = match word.split_once('-') {
        Some((first, last)) => (number(first)?, number(last)?),
        None => (number(word)?, number(word)?),
    };
    if first > last {
        return Err(format!("{last} comes before {first}"));
    }
    Ok((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_a_number_or_two() {
        assert_eq!(line_range("12"), Ok((12, 12)));
        assert_eq!(line_range("12-20"), Ok((12, 20)));
        for wrong in ["", "-", "a", "3-", "-3", "4-3", "1-2-3", "99999999999999999999"] {
            assert!(line_range(wrong).is_err(), "{wrong:?}");
        }
    }
}
