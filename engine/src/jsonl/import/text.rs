//! One of the two JSONL files, gone through line by line, its bytes kept where that is asked for.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use super::JsonlImportError;
use super::builder::{LogBuilder, PIECE_LEN_BYTES};
use crate::jsonl::tail::{RawLine, Tail};
use crate::session::DirectoryError;
use crate::{AppendError, KeptFile};

/// A file that is imported.
pub(super) struct Text<'a> {
    pub(super) file: &'a File,
    pub(super) path: PathBuf,
    pub(super) kind: KeptFile,
}

/// Why going through it ended early.
pub(super) enum Stopped {
    Reading(io::Error),
    Writing(JsonlImportError),
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Self {
        Self::Reading(error)
    }
}

impl From<JsonlImportError> for Stopped {
    fn from(error: JsonlImportError) -> Self {
        Self::Writing(error)
    }
}

impl From<AppendError> for Stopped {
    fn from(error: AppendError) -> Self {
        Self::Writing(error.into())
    }
}

impl Text<'_> {
    /// Hands every line to `each`, and keeps the unfinished one at the end.
    pub(super) fn each_line(
        &self,
        log: &mut LogBuilder,
        mut each: impl FnMut(&mut LogBuilder, u64, RawLine<'_>) -> Result<(), Stopped>,
    ) -> Result<(), JsonlImportError> {
        let mut tail = Tail::default();
        let outcome = tail.read(self.file, |number, line| each(log, number, line)).and_then(|()| {
            let end = self.file.metadata()?.len();
            self.keep_stretch(log, tail.offset(), end.saturating_sub(tail.offset()))
        });
        outcome.map_err(|stopped| match stopped {
            Stopped::Reading(source) => {
                DirectoryError::Io { action: "read", path: self.path.clone(), source }.into()
            }
            Stopped::Writing(error) => error,
        })
    }

    /// Keeps `line` with its newline; with `stands_for_next` it is what the next event says.
    pub(super) fn keep(
        &self,
        log: &mut LogBuilder,
        line: &RawLine<'_>,
        stands_for_next: bool,
    ) -> Result<(), Stopped> {
        match line {
            RawLine::Whole(bytes) => {
                Ok(log.keep(self.kind, &[bytes, &b"\n"[..]].concat(), stands_for_next)?)
            }
            RawLine::TooLong { offset, len_bytes } => self.keep_stretch(log, *offset, *len_bytes),
        }
    }

    fn keep_stretch(&self, log: &mut LogBuilder, offset: u64, len_bytes: u64) -> Result<(), Stopped> {
        let mut piece = vec![0; PIECE_LEN_BYTES];
        let mut done_bytes = 0;
        while done_bytes < len_bytes {
            let wanted = usize::try_from(len_bytes - done_bytes).unwrap_or(usize::MAX).min(piece.len());
            match self.file.read_at(&mut piece[..wanted], offset + done_bytes) {
                // It was cut: whoever did that is noticed at the end.
                Ok(0) => break,
                Ok(read) => {
                    log.keep(self.kind, &piece[..read], false)?;
                    done_bytes += read as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// Bytes of a line with its newline.
pub(super) fn len_bytes(line: &RawLine<'_>) -> u64 {
    match line {
        RawLine::Whole(bytes) => bytes.len() as u64 + 1,
        RawLine::TooLong { len_bytes, .. } => *len_bytes,
    }
}

/// Whether `record` is the bytes of `line`.
pub(super) fn is_same(line: &RawLine<'_>, record: &[u8]) -> bool {
    matches!(line, RawLine::Whole(bytes) if record.strip_suffix(b"\n") == Some(bytes))
}
