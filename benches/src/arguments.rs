//! What is asked for on the command line.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::child::{self, Part};

/// What can be asked for.
pub(crate) const USAGE: &str = "\
usage: ambient-benches compare [--quick] [--json FILE] [--markdown FILE] [--dir DIR]

  --quick          at most a minute: fewer cases, fewer and shorter rounds
  --json FILE      writes everything that was measured to FILE as well
  --markdown FILE  puts the page that is printed into FILE as well, in the place of the one it holds
  --dir DIR        measures on the disk that holds DIR; otherwise beside this program
";

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Request {
    Help,
    Compare(Compare),
    /// To be another process in the course of a measurement.
    Child(Part, PathBuf),
}

/// How to compare.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Compare {
    pub(crate) is_quick: bool,
    pub(crate) json: Option<PathBuf>,
    pub(crate) markdown: Option<PathBuf>,
    dir: Option<PathBuf>,
}

impl Compare {
    /// Where to measure: where it was asked for, else beside this program, which lies on a disk and not
    /// in a directory for temporary files that may be memory.
    pub(crate) fn directory(&self) -> Result<PathBuf> {
        if let Some(directory) = &self.dir {
            return Ok(directory.clone());
        }
        let program = std::env::current_exe().context("cannot tell where this program lies; use --dir")?;
        Ok(program.parent().context("this program lies nowhere; use --dir")?.to_owned())
    }
}

/// Reads the arguments behind the program's name.
pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Request> {
    let mut arguments = arguments.into_iter();
    match arguments.next().as_ref().and_then(|verb| verb.to_str()) {
        Some("compare") => {}
        Some(child::VERB) => {
            let part = arguments.next().and_then(|name| Part::named(&name));
            let directory = arguments.next().map(PathBuf::from);
            let (part, directory) = part.zip(directory).context("a part and a directory are missing")?;
            return Ok(Request::Child(part, directory));
        }
        Some("help" | "--help" | "-h") => return Ok(Request::Help),
        Some(verb) => bail!("there is no {verb:?}; use compare"),
        None => bail!("say what to do: compare"),
    }
    let mut compare = Compare::default();
    while let Some(argument) = arguments.next() {
        let mut value =
            |what| arguments.next().map(PathBuf::from).with_context(|| format!("{what} is missing"));
        match argument.to_str() {
            Some("--quick") => compare.is_quick = true,
            Some("--json") => compare.json = Some(value("the FILE behind --json")?),
            Some("--markdown") => compare.markdown = Some(value("the FILE behind --markdown")?),
            Some("--dir") => compare.dir = Some(value("the DIR behind --dir")?),
            Some("--help" | "-h") => return Ok(Request::Help),
            _ => bail!("{} is not known", argument.display()),
        }
    }
    Ok(Request::Compare(compare))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &str) -> Result<Request> {
        parse(words.split_whitespace().map(OsString::from))
    }

    #[test]
    fn everything_may_be_asked_for_in_any_order() {
        let wanted = Compare {
            is_quick: true,
            json: Some("out.json".into()),
            markdown: Some("page.md".into()),
            dir: Some("/srv".into()),
        };
        let words = "compare --dir /srv --quick --markdown page.md --json out.json";
        assert_eq!(parsed(words).unwrap(), Request::Compare(wanted));
        assert_eq!(parsed("compare").unwrap(), Request::Compare(Compare::default()));
        assert_eq!(parsed("compare --help").unwrap(), Request::Help);
    }

    #[test]
    fn what_cannot_be_understood_is_named() {
        let told = |words| parsed(words).unwrap_err().to_string();
        assert_eq!(told(""), "say what to do: compare");
        assert_eq!(told("compares"), "there is no \"compares\"; use compare");
        assert_eq!(told("compare --fast"), "--fast is not known");
        assert_eq!(told("compare --json"), "the FILE behind --json is missing");
    }
}
