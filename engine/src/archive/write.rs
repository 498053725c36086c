//! Writing an archive.

use std::fs::File;
use std::io::{Read, Write};
use std::time::UNIX_EPOCH;

use sha2::{Digest as _, Sha256};

use super::manifest::{FOLDERS, Manifest, Member, is_plain};
use super::{ArchiveError, END, MANIFEST_NAME, PIECE_LEN_BYTES, SEAL_NAME, header, header_of, padding, seal};
use crate::LogDirectory;
use crate::session::{Directory, SessionDirectory, Work, WorkLock};

/// What only means something on this machine while it runs, or while somebody works.
const PASSING: [&str; 7] =
    ["STOP", "status", "recording.lock", "recording.json", "transcribing.lock", MANIFEST_NAME, SEAL_NAME];
/// The same in `log/`.
const PASSING_IN_LOG: [&str; 3] = ["LOCK", "WRITERS", "head"];
/// The folder of the sound.
const AUDIO: &str = "audio";

/// What an archive holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArchiveWritten {
    /// How many files.
    pub files: u64,
    /// Their bytes together.
    pub len_bytes: u64,
    /// What was not taken along, and why, one sentence each.
    pub left_out: Vec<String>,
}

/// Writes `session` to `out`, with its sound where `with_audio` says so.
///
/// # Errors
/// Somebody is at work on it, a file cannot be read or changed meanwhile, or `out` fails.
pub fn write_archive(
    session: &SessionDirectory,
    with_audio: bool,
    out: &mut dyn Write,
) -> Result<ArchiveWritten, ArchiveError> {
    for work in [Work::Recording, Work::Transcribing] {
        if WorkLock::is_held(session, work).map_err(crate::view::ViewError::from)? {
            return Err(ArchiveError::Busy(session.id().to_string()));
        }
    }
    let mut written = ArchiveWritten::default();
    let files = members(session, with_audio, &mut written)?;
    let manifest = Manifest::new(session.id().as_str(), files);
    let list = manifest.to_json();
    out.write_all(header(MANIFEST_NAME, list.len() as u64, 0)?.as_bytes())?;
    out.write_all(&list)?;
    out.write_all(padding(list.len() as u64))?;
    for member in &manifest.files {
        out.write_all(header_of(member)?.as_bytes())?;
        let path = session.directory().path().join(&member.path);
        let file = open(session, &member.path)?.ok_or_else(|| ArchiveError::Changed(path.clone()))?;
        // A log may have grown since; what was listed is still what it begins with.
        let (len_bytes, sha256) = copy(&mut file.take(member.len_bytes), out)?;
        if (len_bytes, &sha256) != (member.len_bytes, &member.sha256) {
            return Err(ArchiveError::Changed(path));
        }
        out.write_all(padding(len_bytes))?;
        written.files += 1;
        written.len_bytes += len_bytes;
    }
    out.write_all(&seal(&list)?)?;
    out.write_all(&END)?;
    Ok(written)
}

/// Every file that is taken, by its path.
fn members(
    session: &SessionDirectory,
    with_audio: bool,
    written: &mut ArchiveWritten,
) -> Result<Vec<Member>, ArchiveError> {
    let mut members = Vec::new();
    for path in paths(session.directory(), with_audio, written)? {
        let Some(mut file) = open(session, &path)? else { continue };
        let modified = file.metadata()?.modified()?.duration_since(UNIX_EPOCH);
        let (len_bytes, sha256) = copy(&mut file, &mut std::io::sink())?;
        let modified_s = modified.map_or(0, |since| since.as_secs());
        members.push(Member { path, len_bytes, sha256, modified_s });
    }
    Ok(members)
}

fn paths(
    directory: &Directory,
    with_audio: bool,
    written: &mut ArchiveWritten,
) -> Result<Vec<String>, ArchiveError> {
    let mut paths = Vec::new();
    let mut look = |folder: Option<&str>, directory: &Directory| -> Result<(), ArchiveError> {
        let passing: &[&str] = if folder == Some(LogDirectory::NAME) { &PASSING_IN_LOG } else { &PASSING };
        for name in directory.names()? {
            let is_passing = passing.iter().any(|known| name == *known)
                || name.as_encoded_bytes().starts_with(b".")
                || name.as_encoded_bytes().starts_with(b"transcribing.lock");
            if is_passing || (folder.is_none() && FOLDERS.iter().any(|known| name == *known)) {
                continue;
            }
            let path =
                name.to_str().map(|name| folder.map_or(name.to_owned(), |folder| format!("{folder}/{name}")));
            match path.filter(|path| is_plain(path)) {
                Some(path) if directory.holds_file(&name)? => paths.push(path),
                _ => written
                    .left_out
                    .push(format!("{} is not in the archive", directory.path().join(&name).display())),
            }
        }
        Ok(())
    };
    look(None, directory)?;
    for folder in FOLDERS {
        if folder == AUDIO && !with_audio {
            continue;
        }
        if let Some(inside) = directory.subdirectory(folder)? {
            look(Some(folder), &inside)?;
        }
    }
    paths.sort();
    Ok(paths)
}

/// The file at `path` in the session.
fn open(session: &SessionDirectory, path: &str) -> Result<Option<File>, ArchiveError> {
    Ok(match path.split_once('/') {
        Some((folder, name)) => match session.directory().subdirectory(folder)? {
            Some(folder) => folder.open_file(name)?,
            None => None,
        },
        None => session.directory().open_file(path)?,
    })
}

/// Copies what is left of `from`: how many bytes those are, and their hash.
pub(super) fn copy(from: &mut dyn Read, to: &mut dyn Write) -> Result<(u64, String), ArchiveError> {
    let mut hasher = Sha256::new();
    let mut piece = vec![0; PIECE_LEN_BYTES];
    let mut len_bytes = 0;
    loop {
        match from.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => {
                hasher.update(&piece[..read]);
                to.write_all(&piece[..read])?;
                len_bytes += read as u64;
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok((len_bytes, hex(&hasher.finalize())))
}

pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
