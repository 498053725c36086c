//! What comes along with a session that is brought in from elsewhere: its sound, and all that other
//! programs keep beside it. What the log says is not copied, and what only meant something while the
//! session was made is left behind.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};

use rustix::fs::OFlags;

use super::source::Source;
use crate::LogDirectory;
use crate::jsonl::reader::{EDITS_FILE, RAW_FILE};
use crate::jsonl::state::TRANSCRIPT_FILE;
use crate::session::metadata::METADATA_FILE;
use crate::session::{Directory, DirectoryError};

/// In the log, or derived from it.
const SAID_BY_THE_LOG: [&str; 4] = [RAW_FILE, EDITS_FILE, METADATA_FILE, TRANSCRIPT_FILE];
/// Signs between processes.
const PASSING: [&str; 4] = ["STOP", "status", "recording.lock", "recording.json"];
/// Begins the names of locks, and of what is staged for them.
const LOCK_PREFIX: &[u8] = b"transcribing.lock";
/// The directory of the sound, the only one that is taken along.
const AUDIO: &str = "audio";
/// Bytes copied between two reports of progress.
const COPIED_A_REPORT_BYTES: usize = 1 << 20;

/// What is taken along.
pub(super) struct Along {
    files: Vec<OsString>,
    audio_files: Vec<OsString>,
    len_bytes: u64,
    /// What is not, and why, one sentence each.
    pub(super) left_out: Vec<String>,
}

impl Along {
    /// Looks at everything that is to be taken along, before anything is made.
    pub(super) fn of(source: &Source<'_>) -> Result<Self, DirectoryError> {
        let mut along =
            Self { files: Vec::new(), audio_files: Vec::new(), len_bytes: 0, left_out: Vec::new() };
        let directory = source.directory();
        for name in directory.names()? {
            if is_left_behind(&name) || (name == AUDIO && directory.holds_directory(AUDIO)?) {
                continue;
            }
            if along.can_take(directory, &name)? {
                along.files.push(name);
            }
        }
        if let Ok(Some(audio)) = directory.subdirectory(AUDIO) {
            for name in audio.names()? {
                if along.can_take(&audio, &name)? {
                    along.audio_files.push(name);
                }
            }
        }
        Ok(along)
    }

    fn can_take(&mut self, directory: &Directory, name: &OsStr) -> Result<bool, DirectoryError> {
        match directory.open_file(name) {
            Ok(Some(_)) if name == LogDirectory::NAME => {
                self.leave_out(directory, name, "its name is needed");
                Ok(false)
            }
            Ok(Some(file)) => {
                self.len_bytes += file.metadata().map_or(0, |metadata| metadata.len());
                Ok(true)
            }
            Ok(None) => Ok(false),
            Err(error @ (DirectoryError::Symlink(_) | DirectoryError::NotAFile { .. })) => {
                self.leave_out(directory, name, &error.to_string());
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    fn leave_out(&mut self, directory: &Directory, name: &OsStr, why: &str) {
        self.left_out.push(format!("{} did not come along: {why}", directory.path().join(name).display()));
    }

    /// Bytes of all of it.
    pub(super) fn len_bytes(&self) -> u64 {
        self.len_bytes
    }

    /// Copies all of it, durably.
    pub(super) fn copy(
        &self,
        source: &Directory,
        session: &Directory,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), DirectoryError> {
        let mut copied_bytes = 0;
        if let Some(from) = source.subdirectory(AUDIO).ok().flatten().filter(|_| !self.audio_files.is_empty())
        {
            let audio = session.create_subdirectory(AUDIO)?;
            copy_all(&self.audio_files, &from, &audio, &mut copied_bytes, progress)?;
        }
        copy_all(&self.files, source, session, &mut copied_bytes, progress)
    }
}

fn is_left_behind(name: &OsStr) -> bool {
    let bytes = name.as_encoded_bytes();
    SAID_BY_THE_LOG.iter().chain(&PASSING).any(|known| name == *known)
        || bytes.starts_with(LOCK_PREFIX)
        || bytes.ends_with(b".tmp")
        || bytes.ends_with(b".partial")
}

fn copy_all(
    names: &[OsString],
    from: &Directory,
    to: &Directory,
    copied_bytes: &mut u64,
    progress: &mut dyn FnMut(u64),
) -> Result<(), DirectoryError> {
    for name in names {
        // One that is gone since is as if it had never been there.
        let Some(mut file) = from.open_file(name)? else { continue };
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let failed = |source| DirectoryError::Io { action: "copy to", path: to.path().join(name), source };
        let Some(mut copy) = to.open_file_with(name, flags)? else {
            return Err(failed(io::ErrorKind::NotFound.into()));
        };
        copy_file(&mut file, &mut copy, copied_bytes, progress).map_err(failed)?;
    }
    to.sync()
}

fn copy_file(
    from: &mut File,
    to: &mut File,
    copied_bytes: &mut u64,
    progress: &mut dyn FnMut(u64),
) -> io::Result<()> {
    let mut piece = vec![0; COPIED_A_REPORT_BYTES];
    loop {
        match from.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => {
                to.write_all(&piece[..read])?;
                *copied_bytes += read as u64;
                progress(*copied_bytes);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    // How old the sound is decides how long it is kept.
    if let Ok(modified_at) = from.metadata().and_then(|metadata| metadata.modified()) {
        to.set_modified(modified_at)?;
    }
    to.sync_all()
}
