//! Words of a file that several processes load and store: through a mapping where that is safe, else by
//! reads and writes of 8 bytes.

use std::io;
use std::time::Duration;

use super::disk::{DiskError, LogFile};
use crate::storage::SharedPage;

/// A file seen as words of 8 bytes.
#[derive(Debug)]
pub(crate) struct SharedWords {
    file: LogFile,
    /// None: by aligned reads and writes of 8 bytes.
    page: Option<Box<dyn SharedPage>>,
    len_words: usize,
    writable: bool,
}

impl SharedWords {
    /// Opens the words of `file` as it is long now. `mapped` chooses the way; `writable` must agree with
    /// how the file was opened.
    pub(crate) fn new(file: LogFile, mapped: bool, writable: bool) -> Result<Self, DiskError> {
        let page = if mapped { Some(file.map(writable)?) } else { None };
        let mut words = Self { file, page, len_words: 0, writable };
        words.len_words = words.reachable_words()?;
        Ok(words)
    }

    pub(crate) fn file(&self) -> &LogFile {
        &self.file
    }

    /// Words that can be reached.
    pub(crate) fn len_words(&self) -> usize {
        self.len_words
    }

    fn reachable_words(&self) -> Result<usize, DiskError> {
        match &self.page {
            Some(page) => Ok(page.len_words()),
            None => Ok(usize::try_from(self.file.len_bytes()? / 8).unwrap_or(usize::MAX / 8)),
        }
    }

    /// Reaches what the file has grown to since.
    pub(crate) fn follow_growth(&mut self) -> Result<(), DiskError> {
        if self.page.is_some() {
            self.page = Some(self.file.map(self.writable)?);
        }
        self.len_words = self.reachable_words()?;
        Ok(())
    }

    fn outside(&self, word: usize) -> DiskError {
        DiskError {
            action: "use",
            path: self.file.path().to_owned(),
            source: io::Error::new(
                io::ErrorKind::UnexpectedEof,
                format!("word {word} lies behind its end ({} words)", self.len_words),
            ),
        }
    }

    /// Loads one word; everything its writer stored before it is visible afterwards.
    pub(crate) fn load(&self, word: usize) -> Result<u64, DiskError> {
        match &self.page {
            Some(page) => page.load(word).ok_or_else(|| self.outside(word)),
            None => self.read(word),
        }
    }

    /// Loads the words from `first` on into `words`. Without a mapping each is whole, but they are not
    /// promised to be of one moment: for an index at rest.
    pub(crate) fn load_run(&self, first: usize, words: &mut [u64]) -> Result<(), DiskError> {
        if let Some(page) = &self.page {
            return page.load_run(first, words).ok_or_else(|| self.outside(first + words.len()));
        }
        for (word, value) in (first..).zip(words) {
            *value = self.read(word)?;
        }
        Ok(())
    }

    /// Whether a word is `value`, where one load tells; false where it takes more than that to know.
    #[inline]
    pub(crate) fn holds(&self, word: usize, value: u64) -> bool {
        self.page.as_ref().is_some_and(|page| page.holds(word, value))
    }

    /// Reads until two reads agree: a read of 8 aligned bytes is not promised to be one step.
    fn read(&self, word: usize) -> Result<u64, DiskError> {
        let read = || {
            let mut bytes = [0; 8];
            match self.file.read_at(&mut bytes, word as u64 * 8)? {
                8 => Ok(u64::from_le_bytes(bytes)),
                _ => Err(self.outside(word)),
            }
        };
        let mut before = read()?;
        loop {
            let after = read()?;
            if after == before {
                return Ok(after);
            }
            before = after;
        }
    }

    /// Stores one word; whoever loads it sees everything stored before.
    pub(crate) fn store(&self, word: usize, value: u64) -> Result<(), DiskError> {
        match &self.page {
            Some(page) => page.store(word, value).ok_or_else(|| self.outside(word)),
            None => self.file.write_all_at(&value.to_le_bytes(), word as u64 * 8),
        }
    }

    /// Wakes whoever sleeps on a word. False: that is not to be had here.
    pub(crate) fn wake(&self, word: usize) -> bool {
        self.page.as_ref().is_some_and(|page| page.wake(word))
    }

    /// Sleeps while a word is `seen` and nobody wakes its sleepers, for `timeout` at most. False: that is not
    /// to be had here.
    pub(crate) fn sleep(&self, word: usize, seen: u64, timeout: Duration) -> bool {
        self.page.as_ref().is_some_and(|page| page.sleep(word, seen, timeout))
    }
}
