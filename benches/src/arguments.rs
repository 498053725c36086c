//! What is asked for on the command line.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::child::{self, Part};

/// What can be asked for.
pub(crate) const USAGE: &str = "\
usage: ambient-benches compare [--quick] [--json FILE] [--markdown FILE] [--dir DIR]
       ambient-benches server [--program FILE] [--python DIR] [--json FILE] [--markdown FILE] [--dir DIR]
       ambient-benches library [--program FILE] [--dir DIR]

compare measures the engine beside its peers; server measures `ambient mcp`; library measures what a person waits for.

  --quick          at most a minute: fewer cases, fewer and shorter rounds
  --program FILE   the `ambient` to measure; otherwise the one beside this program
  --python DIR     where Python finds the official SDK, to measure its server too
  --json FILE      writes everything that was measured to FILE as well
  --markdown FILE  puts the page that is printed into FILE as well, in the place of the one it holds
  --dir DIR        measures on the disk that holds DIR; otherwise beside this program
";

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Request {
    Help,
    Measure(Measure),
    /// To be another process in the course of a measurement.
    Child(Part, PathBuf),
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// The engine, beside its peers.
    Engine,
    /// `ambient mcp`.
    Server,
    /// The verbs over a library of sessions.
    Library,
}

/// What to measure, and what becomes of the result.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Measure {
    pub(crate) subject: Subject,
    pub(crate) is_quick: bool,
    pub(crate) json: Option<PathBuf>,
    pub(crate) markdown: Option<PathBuf>,
    pub(crate) python: Option<PathBuf>,
    program: Option<PathBuf>,
    dir: Option<PathBuf>,
}

impl Measure {
    fn of(subject: Subject) -> Self {
        Self { subject, is_quick: false, json: None, markdown: None, python: None, program: None, dir: None }
    }

    /// Where to measure: where it was asked for, else beside this program, which lies on a disk and not
    /// in a directory for temporary files that may be memory.
    pub(crate) fn directory(&self) -> Result<PathBuf> {
        if let Some(directory) = &self.dir {
            return Ok(directory.clone());
        }
        let program = std::env::current_exe().context("cannot tell where this program lies; use --dir")?;
        Ok(program.parent().context("this program lies nowhere; use --dir")?.to_owned())
    }

    /// The `ambient` that is measured.
    pub(crate) fn program(&self) -> Result<PathBuf> {
        if let Some(program) = &self.program {
            return Ok(program.clone());
        }
        let this = std::env::current_exe().context("cannot tell where this program lies; use --program")?;
        let program = this.with_file_name(format!("ambient{}", std::env::consts::EXE_SUFFIX));
        if !program.is_file() {
            bail!(
                "no {}: build it with `cargo build --release -p ambient`, or name one with --program",
                program.display()
            );
        }
        Ok(program)
    }
}

/// Reads the arguments behind the program's name.
pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Request> {
    let mut arguments = arguments.into_iter();
    let mut measure = match arguments.next().as_ref().and_then(|verb| verb.to_str()) {
        Some("compare") => Measure::of(Subject::Engine),
        Some("server") => Measure::of(Subject::Server),
        Some("library") => Measure::of(Subject::Library),
        Some(child::VERB) => {
            let part = arguments.next().and_then(|name| Part::named(&name));
            let directory = arguments.next().map(PathBuf::from);
            let (part, directory) = part.zip(directory).context("a part and a directory are missing")?;
            return Ok(Request::Child(part, directory));
        }
        Some("help" | "--help" | "-h") => return Ok(Request::Help),
        Some(verb) => bail!("there is no {verb:?}; use compare, server or library"),
        None => bail!("say what to do: compare, server or library"),
    };
    let subject = measure.subject;
    let has_program = subject != Subject::Engine;
    let has_place = subject != Subject::Library;
    while let Some(argument) = arguments.next() {
        let mut value =
            |what| arguments.next().map(PathBuf::from).with_context(|| format!("{what} is missing"));
        match argument.to_str() {
            Some("--quick") if subject == Subject::Engine => measure.is_quick = true,
            Some("--program") if has_program => measure.program = Some(value("the FILE behind --program")?),
            Some("--python") if subject == Subject::Server => {
                measure.python = Some(value("the DIR behind --python")?);
            }
            Some("--json") if has_place => measure.json = Some(value("the FILE behind --json")?),
            Some("--markdown") if has_place => measure.markdown = Some(value("the FILE behind --markdown")?),
            Some("--dir") => measure.dir = Some(value("the DIR behind --dir")?),
            Some("--help" | "-h") => return Ok(Request::Help),
            _ => bail!("{} is not known", argument.display()),
        }
    }
    Ok(Request::Measure(measure))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &str) -> Result<Request> {
        parse(words.split_whitespace().map(OsString::from))
    }

    #[test]
    fn everything_may_be_asked_for_in_any_order() {
        let wanted = Measure {
            is_quick: true,
            json: Some("out.json".into()),
            markdown: Some("page.md".into()),
            dir: Some("/srv".into()),
            ..Measure::of(Subject::Engine)
        };
        let words = "compare --dir /srv --quick --markdown page.md --json out.json";
        assert_eq!(parsed(words).unwrap(), Request::Measure(wanted));
        assert_eq!(parsed("compare").unwrap(), Request::Measure(Measure::of(Subject::Engine)));
        assert_eq!(parsed("compare --help").unwrap(), Request::Help);
        let wanted =
            Measure { program: Some("a".into()), python: Some("p".into()), ..Measure::of(Subject::Server) };
        assert_eq!(parsed("server --python p --program a").unwrap(), Request::Measure(wanted));
    }

    #[test]
    fn what_cannot_be_understood_is_named() {
        let told = |words| parsed(words).unwrap_err().to_string();
        assert_eq!(told(""), "say what to do: compare, server or library");
        assert_eq!(told("compares"), "there is no \"compares\"; use compare, server or library");
        assert_eq!(told("compare --fast"), "--fast is not known");
        assert_eq!(told("compare --python p"), "--python is not known");
        assert_eq!(told("server --quick"), "--quick is not known");
        assert_eq!(told("compare --json"), "the FILE behind --json is missing");
    }
}
