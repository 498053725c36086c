//! Making a session of an archive.

use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::PathBuf;
use std::time::{Duration, UNIX_EPOCH};

use rustix::fs::OFlags;

use super::manifest::{FOLDERS, Manifest, Member};
use super::write::copy;
use super::{
    ArchiveError, BLOCK_LEN_BYTES, END, MANIFEST_LEN_MAX_BYTES, MANIFEST_NAME, PIECE_LEN_BYTES, header,
    header_of, padding, seal,
};
use crate::session::{Directory, PartialSession, SessionDirectory, SessionId};

/// What came of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// The session's id, which is another one than before only when that was taken.
    pub id: String,
    /// Where it is.
    pub directory: PathBuf,
    /// Whether it was there already, with the same files, and nothing was done.
    pub was_there: bool,
    /// How many files it has.
    pub files: u64,
    /// Their bytes together.
    pub len_bytes: u64,
}

/// Makes a session below `root` of `archive`; with `is_dry_run` it is only checked. The session is shown once
/// everything was found to be as it was written.
///
/// # Errors
/// It is no archive, it was altered, or the session cannot be made; then there is none.
pub fn restore(archive: File, root: Directory, is_dry_run: bool) -> Result<Restored, ArchiveError> {
    let mut archive = BufReader::with_capacity(PIECE_LEN_BYTES, archive);
    let manifest = read_manifest(&mut archive)?;
    let id =
        SessionId::new(&manifest.session).map_err(|error| ArchiveError::NotAnArchive(error.to_string()))?;
    let restored = |id: &SessionId, directory: PathBuf, was_there| Restored {
        id: id.to_string(),
        directory,
        was_there,
        files: manifest.files.len() as u64,
        len_bytes: manifest.files.iter().map(|member| member.len_bytes).sum(),
    };
    if is_dry_run {
        read_members(&mut archive, &manifest, None)?;
        let was_there = is_there(&root, &id, &manifest)?;
        return Ok(restored(&id, root.path().join(id.as_str()), was_there));
    }
    if is_there(&root, &id, &manifest)? {
        read_members(&mut archive, &manifest, None)?;
        return Ok(restored(&id, root.path().join(id.as_str()), true));
    }
    let partial = PartialSession::begin_as(root, &id)?;
    match read_members(&mut archive, &manifest, Some(partial.session().directory())) {
        Ok(()) => {
            let shown = partial.finish()?;
            Ok(restored(shown.id(), shown.directory().path().to_owned(), false))
        }
        Err(error) => {
            // Best effort: what is left is never listed, and begun anew by the next import.
            let _ = partial.discard();
            Err(error)
        }
    }
}

fn read_manifest(archive: &mut dyn Read) -> Result<Manifest, ArchiveError> {
    let wrong = |why: &str| ArchiveError::NotAnArchive(why.to_owned());
    let mut block = [0; 512];
    archive.read_exact(&mut block).map_err(|_| wrong("it is too short"))?;
    let found = tar::Header::from_byte_slice(&block);
    let is_ours = found.path_bytes().as_ref() == MANIFEST_NAME.as_bytes();
    let len_bytes = found.entry_size().unwrap_or(u64::MAX);
    if !is_ours || len_bytes > MANIFEST_LEN_MAX_BYTES {
        return Err(wrong("it does not begin with a list of its files"));
    }
    if header(MANIFEST_NAME, len_bytes, 0)?.as_bytes() != &block {
        return Err(ArchiveError::Altered("the header of its list differs".to_owned()));
    }
    let mut bytes = Vec::new();
    archive.take(len_bytes).read_to_end(&mut bytes)?;
    let manifest = Manifest::read(&bytes)?;
    if manifest.to_json() != bytes {
        return Err(ArchiveError::Altered("its list is not as it was written".to_owned()));
    }
    expect(archive, padding(len_bytes), "its list")?;
    Ok(manifest)
}

/// Reads every member, and what ends the archive. Files are made in `session`, if there is one.
fn read_members(
    archive: &mut dyn Read,
    manifest: &Manifest,
    session: Option<&Directory>,
) -> Result<(), ArchiveError> {
    for member in &manifest.files {
        expect(archive, header_of(member)?.as_bytes(), &member.path)?;
        let mut content = archive.take(member.len_bytes);
        let found = match session {
            Some(session) => make(session, member, &mut content)?,
            None => copy(&mut content, &mut std::io::sink())?,
        };
        if found != (member.len_bytes, member.sha256.clone()) {
            return Err(ArchiveError::Altered(format!("{} is not what was written", member.path)));
        }
        expect(archive, padding(member.len_bytes), &member.path)?;
    }
    expect(archive, &seal(&manifest.to_json())?, "the hash of its list")?;
    expect(archive, &END, "its end")?;
    let mut more = [0];
    match archive.read(&mut more)? {
        0 => {}
        _ => return Err(ArchiveError::Altered("there is something behind its end".to_owned())),
    }
    if let Some(session) = session {
        for folder in FOLDERS {
            if let Some(folder) = session.subdirectory(folder)? {
                folder.sync()?;
            }
        }
        session.sync()?;
    }
    Ok(())
}

/// Takes the next bytes, which must be these.
fn expect(archive: &mut dyn Read, bytes: &[u8], of: &str) -> Result<(), ArchiveError> {
    debug_assert!(bytes.len() as u64 <= 2 * BLOCK_LEN_BYTES);
    let mut found = vec![0; bytes.len()];
    let cut = |_| ArchiveError::Altered(format!("it ends within {of}"));
    archive.read_exact(&mut found).map_err(cut)?;
    if found == bytes {
        Ok(())
    } else {
        Err(ArchiveError::Altered(format!("{of} is not where it was written")))
    }
}

/// Makes the file of `member`: how many bytes it got, and their hash.
fn make(session: &Directory, member: &Member, content: &mut dyn Read) -> Result<(u64, String), ArchiveError> {
    let inside;
    let (folder, name) = match member.path.split_once('/') {
        Some((folder, name)) => {
            inside = session.open_or_create_subdirectory(folder)?;
            (&inside, name)
        }
        None => (session, member.path.as_str()),
    };
    let failed = |source| folder.failed("write", name, source);
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
    let file = folder.open_file_with(std::ffi::OsStr::new(name), flags)?;
    let mut file = file.ok_or_else(|| failed(std::io::ErrorKind::NotFound.into()))?;
    let found = copy(content, &mut file)?;
    file.flush().map_err(failed)?;
    // How old the sound is decides how long it is kept, and that of `transcript.md` when it was complete.
    if let Some(modified) = UNIX_EPOCH.checked_add(Duration::from_secs(member.modified_s)) {
        file.set_modified(modified).map_err(failed)?;
    }
    file.sync_all().map_err(failed)?;
    Ok(found)
}

/// Whether the session `id` is below `root` and its files begin with those of the archive: it may have been edited
/// since.
fn is_there(root: &Directory, id: &SessionId, manifest: &Manifest) -> Result<bool, ArchiveError> {
    let Some(session) = SessionDirectory::open(root, id)? else { return Ok(false) };
    for member in manifest.files.iter().filter(|member| is_lasting(&member.path)) {
        let file = match member.path.split_once('/') {
            Some((folder, name)) => match session.directory().subdirectory(folder)? {
                Some(folder) => folder.open_file(name)?,
                None => None,
            },
            None => session.directory().open_file(&member.path)?,
        };
        let Some(file) = file else { return Ok(false) };
        if copy(&mut file.take(member.len_bytes), &mut std::io::sink())?.1 != member.sha256 {
            return Ok(false);
        }
    }
    Ok(manifest.files.iter().any(|member| is_lasting(&member.path)))
}

/// Whether a file is only ever added to.
fn is_lasting(path: &str) -> bool {
    matches!(path, "raw.jsonl" | "edits.jsonl")
        || std::path::Path::new(path).extension().is_some_and(|ending| ending == "seg")
}
