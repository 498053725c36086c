//! Reads a model file front to back; what is wrong with it is told with the position.
//!
//! No length a file claims is believed before it is compared with the file, so that a hostile one costs an error and
//! not memory.

use super::parts::Parts;
use std::io;
use std::path::PathBuf;

/// What can be wrong with a model file.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be read, or ends in the middle of something.
    #[error("{}: cannot read {what} at byte {position}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What stands there.
        what: &'static str,
        /// Where.
        position: u64,
        /// What the system said.
        source: io::Error,
    },
    /// The bytes make no sense.
    #[error("{}: at byte {position}: {what}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Where.
        position: u64,
        /// What is wrong.
        what: String,
    },
}

/// A place in a file that moves forward as it is read.
#[derive(Debug)]
pub struct Cursor<'a> {
    parts: &'a Parts,
    position: u64,
}

impl<'a> Cursor<'a> {
    /// At the beginning of the file.
    pub fn new(parts: &'a Parts) -> Self {
        Self { parts, position: 0 }
    }

    /// How many bytes stand before it.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// How many bytes are left.
    pub fn left_bytes(&self) -> u64 {
        self.parts.len_bytes().saturating_sub(self.position)
    }

    /// The error that the file makes no sense at `position`.
    pub fn invalid(&self, position: u64, what: String) -> ReadError {
        ReadError::Invalid { path: self.parts.name().to_owned(), position, what }
    }

    /// The next `N` bytes, which are called `what` should they be missing.
    ///
    /// # Errors
    /// [`ReadError::Io`]; so do all that follow.
    pub fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], ReadError> {
        let mut bytes = [0; N];
        self.fill(&mut bytes, what)?;
        Ok(bytes)
    }

    /// The next `len` bytes; the caller has bounded `len`.
    ///
    /// # Errors
    /// See [`Cursor::array`].
    pub fn bytes(&mut self, len: usize, what: &'static str) -> Result<Vec<u8>, ReadError> {
        let mut bytes = vec![0; len];
        self.fill(&mut bytes, what)?;
        Ok(bytes)
    }

    /// The next byte.
    ///
    /// # Errors
    /// See [`Cursor::array`].
    pub fn u8(&mut self, what: &'static str) -> Result<u8, ReadError> {
        self.array(what).map(u8::from_le_bytes)
    }

    /// The next two bytes.
    ///
    /// # Errors
    /// See [`Cursor::array`].
    pub fn u16(&mut self, what: &'static str) -> Result<u16, ReadError> {
        self.array(what).map(u16::from_le_bytes)
    }

    /// The next four bytes.
    ///
    /// # Errors
    /// See [`Cursor::array`].
    pub fn u32(&mut self, what: &'static str) -> Result<u32, ReadError> {
        self.array(what).map(u32::from_le_bytes)
    }

    /// Steps over the data of `name`.
    ///
    /// # Errors
    /// [`ReadError::Invalid`] when the file ends before them.
    pub fn step_over(&mut self, len_bytes: u64, name: &str) -> Result<(), ReadError> {
        let left = self.left_bytes();
        if len_bytes > left {
            let what = format!("{name} is {len_bytes} bytes long, the file ends after {left}");
            return Err(self.invalid(self.position, what));
        }
        self.position += len_bytes;
        Ok(())
    }

    fn fill(&mut self, buffer: &mut [u8], what: &'static str) -> Result<(), ReadError> {
        let position = self.position;
        self.parts.read_exact_at(buffer, position).map_err(|source| ReadError::Io {
            path: self.parts.name().to_owned(),
            what,
            position,
            source,
        })?;
        self.position += buffer.len() as u64;
        Ok(())
    }
}
