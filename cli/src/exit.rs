//! How the program ends: one number for each kind of outcome.
//!
//! Scripts rely on the numbers, so they are part of the interface (`docs/using/commands.md`). A verb says
//! which one by raising a [`Refusal`]; an error that carries none is a plain failure.

use std::error::Error;
use std::process::ExitCode;
use std::{fmt, io};

use ambient_capture::audio::AudioFileError;
use ambient_capture::devices::DeviceError;
use ambient_capture::models::directory::DirectoryError;
use ambient_capture::models::fetch::FetchError;
use ambient_capture::models::import::ImportError;
use ambient_capture::recognizer::RecognizeError;
use ambient_engine::archive::ArchiveError;
use ambient_engine::editing::{EditError, PatternError};
use ambient_engine::export::JsonlWriteError;
use ambient_engine::jsonl::JsonlImportError;
use ambient_engine::search::NeedleError;
use ambient_engine::session::WorkLockError;
use ambient_engine::settings::SettingsError;
use ambient_engine::view::ViewError;
use ambient_engine::{AppendError, LockError, OpenError};

use crate::output::StdoutError;

/// The outcome of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// What was asked for is done.
    Done = 0,
    /// It could not be done.
    Failed = 1,
    /// It was asked for in a way that makes no sense; nothing was tried.
    Usage = 2,
    /// What it was to be done with does not exist.
    NotFound = 3,
    /// Someone else is at it, or several fit and one must be chosen.
    Busy = 4,
    /// Done, and there is something a person should look at.
    Warnings = 5,
    /// Ended from outside; what was begun can be finished later.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// An error with an outcome of its own.
#[derive(Debug)]
pub(crate) struct Refusal {
    exit: Exit,
    message: String,
}

impl Refusal {
    /// An error that ends the program with `exit`, saying `message`.
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl Error for Refusal {}

/// The outcome an error stands for.
pub(crate) fn of(error: &anyhow::Error) -> Exit {
    error.chain().find_map(of_cause).unwrap_or(Exit::Failed)
}

/// The error and its causes in one line. A cause that the error before it already quotes is not said twice.
pub(crate) fn explanation(error: &anyhow::Error) -> String {
    let mut said = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if said.is_empty() {
            said = cause;
        } else if !said.ends_with(&cause) {
            said = format!("{said}: {cause}");
        }
    }
    said
}

fn of_cause(cause: &(dyn Error + 'static)) -> Option<Exit> {
    if let Some(refusal) = cause.downcast_ref::<Refusal>() {
        return Some(refusal.exit);
    }
    if cause.downcast_ref::<StdoutError>().is_some_and(StdoutError::is_broken_pipe) {
        return Some(Exit::Done);
    }
    of_settings(cause)
        .or_else(|| of_editing(cause))
        .or_else(|| of_session(cause))
        .or_else(|| of_models(cause))
        .or_else(|| of_audio(cause))
}

fn of_settings(cause: &(dyn Error + 'static)) -> Option<Exit> {
    match cause.downcast_ref()? {
        SettingsError::UnknownKey(_) | SettingsError::BadValue { .. } => Some(Exit::Usage),
        _ => None,
    }
}

fn of_editing(cause: &(dyn Error + 'static)) -> Option<Exit> {
    match cause.downcast_ref() {
        Some(EditError::NotAName { .. } | EditError::Pattern(_) | EditError::SeveralLines { .. }) => {
            return Some(Exit::Usage);
        }
        Some(EditError::NoSuchLine { .. } | EditError::NoSuchEdit { .. } | EditError::NotHeld(_)) => {
            return Some(Exit::NotFound);
        }
        Some(EditError::NothingSelected) => return Some(Exit::NotFound),
        _ => {}
    }
    if let Some(AppendError::Lock(LockError::Busy { .. })) = cause.downcast_ref() {
        return Some(Exit::Busy);
    }
    let is_nonsense = cause.is::<PatternError>() || cause.is::<NeedleError>();
    is_nonsense.then_some(Exit::Usage)
}

fn of_session(cause: &(dyn Error + 'static)) -> Option<Exit> {
    if let Some(WorkLockError::Busy { .. }) = cause.downcast_ref() {
        return Some(Exit::Busy);
    }
    if let Some(OpenError::Lock(LockError::Busy { .. })) = cause.downcast_ref() {
        return Some(Exit::Busy);
    }
    if let Some(JsonlImportError::Busy { .. }) = cause.downcast_ref() {
        return Some(Exit::Busy);
    }
    if let Some(ArchiveError::Busy(_)) = cause.downcast_ref() {
        return Some(Exit::Busy);
    }
    if let Some(JsonlWriteError::Busy(_)) = cause.downcast_ref() {
        return Some(Exit::Busy);
    }
    match cause.downcast_ref()? {
        ViewError::NotAnId(_) | ViewError::NoSession(_) => Some(Exit::NotFound),
        ViewError::Ambiguous { .. } => Some(Exit::Usage),
        _ => None,
    }
}

fn of_models(cause: &(dyn Error + 'static)) -> Option<Exit> {
    if let Some(FetchError::Interrupted) = cause.downcast_ref() {
        return Some(Exit::Interrupted);
    }
    match cause.downcast_ref() {
        Some(ImportError::Interrupted) => return Some(Exit::Interrupted),
        Some(ImportError::Source { source, .. }) => return of_io(source),
        _ => {}
    }
    match cause.downcast_ref()? {
        DirectoryError::Missing { .. } => Some(Exit::NotFound),
        DirectoryError::Name { .. } => Some(Exit::Usage),
        _ => None,
    }
}

fn of_audio(cause: &(dyn Error + 'static)) -> Option<Exit> {
    match cause.downcast_ref() {
        Some(AudioFileError::Io { source, .. }) => return of_io(source),
        Some(_) => return None,
        None => {}
    }
    if let Some(device) = cause.downcast_ref::<DeviceError>() {
        return device.is_missing().then_some(Exit::NotFound);
    }
    match cause.downcast_ref()? {
        RecognizeError::Language { .. } => Some(Exit::Usage),
        RecognizeError::Interrupted => Some(Exit::Interrupted),
        _ => None,
    }
}

/// The outcome when a file that was named cannot be used.
fn of_io(error: &io::Error) -> Option<Exit> {
    (error.kind() == io::ErrorKind::NotFound).then_some(Exit::NotFound)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_said_once() {
        let system = || io::Error::other("no such file");
        let quoting = anyhow::Error::new(system()).context("talk.wav: no such file");
        assert_eq!(explanation(&quoting), "talk.wav: no such file");
        let silent = anyhow::Error::new(system()).context("talk.wav").context("could not begin");
        assert_eq!(explanation(&silent), "could not begin: talk.wav: no such file");
    }
}
