//! A session as one file that can be checked.
//!
//! A tar whose first member lists all others with their lengths and SHA-256, and whose last holds that of the list. Nothing in it depends on who wrote it
//! or when, so there is exactly one archive for the same files: whoever reads one writes it again, into a hash, and
//! refuses what differs by a single byte, paddings included. What the hashes cannot tell is whether somebody made
//! another archive: there is no signature.
//!
//! Members are files that lie in the session, in its `log/` or its `audio/`, by plain names; nothing else is taken,
//! in or out, so no archive can reach outside of the session it becomes.

mod manifest;
mod read;
mod write;

use std::io;
use std::path::PathBuf;

use sha2::{Digest as _, Sha256};
use tar::{EntryType, Header};

use manifest::Member;

pub use read::{Restored, restore};
pub use write::{ArchiveWritten, write_archive};

use crate::session::{CreateError, DirectoryError};
use crate::view::ViewError;

/// The ending of archives, without the dot in front.
pub const ARCHIVE_EXTENSION: &str = "ambient.tar";
/// The first member.
const MANIFEST_NAME: &str = "ambient-archive.json";
/// The last member.
const SEAL_NAME: &str = "ambient-archive.sha256";
/// A longer list is none.
const MANIFEST_LEN_MAX_BYTES: u64 = 16 << 20;
/// Bytes that are read at once.
const PIECE_LEN_BYTES: usize = 256 << 10;
/// Tar is made of blocks.
const BLOCK_LEN_BYTES: u64 = 512;

/// An archive could not be written, or is not to be trusted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// Somebody is at work on the session.
    #[error("{0} is being worked on; archive it once that has ended")]
    Busy(String),
    /// A file of the session was written to meanwhile.
    #[error("{} changed while it was archived; do it again", .0.display())]
    Changed(PathBuf),
    /// It is no archive of a session.
    #[error("not an archive of a session: {0}")]
    NotAnArchive(String),
    /// It is one, and something in it is not as it was.
    #[error("the archive was altered or is damaged: {0}; nothing was imported")]
    Altered(String),
    /// It cannot be read, or written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A file of the session cannot be used, or made.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// No name for it, or its directory cannot be made.
    #[error(transparent)]
    Create(#[from] CreateError),
    /// The session cannot be read.
    #[error(transparent)]
    View(#[from] ViewError),
}

/// The header of a member: the same wherever and by whomever it is written.
fn header(path: &str, len_bytes: u64, modified_s: u64) -> io::Result<Header> {
    let mut header = Header::new_ustar();
    header.set_path(path)?;
    header.set_entry_type(EntryType::Regular);
    header.set_size(len_bytes);
    header.set_mode(0o600);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(modified_s);
    header.set_cksum();
    Ok(header)
}

fn header_of(member: &Member) -> io::Result<Header> {
    header(&member.path, member.len_bytes, member.modified_s)
}

/// Zeros behind a member, up to the next block.
fn padding(len_bytes: u64) -> &'static [u8] {
    const ZEROS: [u8; 512] = [0; 512];
    let rest = (BLOCK_LEN_BYTES - len_bytes % BLOCK_LEN_BYTES) % BLOCK_LEN_BYTES;
    &ZEROS[..usize::try_from(rest).unwrap_or(0)]
}

/// The last member: the hash of the first.
fn seal(list: &[u8]) -> io::Result<Vec<u8>> {
    let text = format!("{}\n", write::hex(&Sha256::digest(list)));
    let mut bytes = header(SEAL_NAME, text.len() as u64, 0)?.as_bytes().to_vec();
    bytes.extend_from_slice(text.as_bytes());
    bytes.extend_from_slice(padding(text.len() as u64));
    Ok(bytes)
}

/// What ends an archive.
const END: [u8; 1024] = [0; 1024];
