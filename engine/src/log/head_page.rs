//! `log/head`: the page through which a writer tells readers, and other writers, how far the log goes.
//!
//! It is a cache. It is believed only where its identity fits this boot, this file and this log, and it
//! never says where to write. One that does not fit is written anew in place, so that it never moves
//! away under those who have it mapped.

use std::io;
use std::time::Duration;

use super::disk::{DiskError, LogDirectory};
use super::shared_words::SharedWords;
use crate::format::SessionUuid;
use crate::format::head::{
    BELL_WORD, DURABLE_PLACE, DURABLE_WORD, END_PLACE, END_WORD, HEAD_LEN_BYTES, HeadIdentity, IDENTITY_WORD,
    IDENTITY_WORDS, LINES_WORD, NONCE_WORD, STATE_OK, STATE_SYNC_FAILED, STATE_WORD,
};
use crate::format::sealed_word::{open, seal};
use crate::planted::{Defect, is_planted};
use crate::storage::{FileIdentity, OpenMode};

const HEAD_NAME: &str = "head";

/// The word that says that the last published batch ends at `end`.
pub(crate) fn end_word(end: u64) -> u64 {
    seal(end, END_PLACE)
}

/// The words of the head, as they were when they were loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HeadWords {
    pub(crate) end: u64,
    pub(crate) durable: u64,
    pub(crate) lines: u64,
}

/// An open head page.
#[derive(Debug)]
pub(crate) struct HeadPage {
    words: SharedWords,
    place: FileIdentity,
    boot: Option<[u8; 16]>,
}

impl HeadPage {
    /// Opens the page for reading; none when there is no usable file.
    pub(crate) fn open(directory: &LogDirectory, mapped: bool) -> Result<Option<Self>, DiskError> {
        let file = match directory.open_file(HEAD_NAME, OpenMode::Read) {
            Ok(file) => file,
            Err(error) if error.is_missing() => return Ok(None),
            Err(error) => return Err(error),
        };
        if file.len_bytes()? < HEAD_LEN_BYTES {
            return Ok(None);
        }
        let place = directory.identity_of(HEAD_NAME)?;
        Ok(Some(Self { words: SharedWords::new(file, mapped, false)?, place, boot: directory.boot_id() }))
    }

    /// Opens the page for writing and makes it if it is not there.
    pub(crate) fn open_or_create(directory: &LogDirectory, mapped: bool) -> Result<Self, DiskError> {
        let file = directory.open_file(HEAD_NAME, OpenMode::WriteOrCreate)?;
        file.grow(HEAD_LEN_BYTES)?;
        let place = directory.identity_of(HEAD_NAME)?;
        Ok(Self { words: SharedWords::new(file, mapped, true)?, place, boot: directory.boot_id() })
    }

    /// Whether the path still names the file that is open here.
    pub(crate) fn is_in_place(&self, directory: &LogDirectory) -> Result<bool, DiskError> {
        match directory.identity_of(HEAD_NAME) {
            Ok(place) => Ok(place == self.place),
            Err(error) if error.is_missing() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The identity on the page, if it fits this boot, this file and the log with `uuid`, and the words it
    /// vouches for are whole.
    pub(crate) fn fitting_identity(&self, uuid: SessionUuid) -> Result<Option<HeadIdentity>, DiskError> {
        let are_words_whole = open(self.words.load(END_WORD)?, END_PLACE).is_some()
            && open(self.words.load(DURABLE_WORD)?, DURABLE_PLACE).is_some();
        if !are_words_whole {
            return Ok(None);
        }
        let mut words = [0; IDENTITY_WORDS];
        for (index, word) in words.iter_mut().enumerate() {
            *word = self.words.load(IDENTITY_WORD + index)?;
        }
        Ok(HeadIdentity::from_words(&words).filter(|found| {
            let boot = if is_planted(Defect::IndexTrustedAfterCrash) { Some(found.boot) } else { self.boot };
            boot.is_some_and(|boot| *found == self.identity(boot, uuid, found.index_nonce))
        }))
    }

    fn identity(&self, boot: [u8; 16], uuid: SessionUuid, index_nonce: u64) -> HeadIdentity {
        let FileIdentity { device, inode, birth_ns } = self.place;
        HeadIdentity { boot, device, inode, birth_ns, uuid, index_nonce }
    }

    /// Writes the page anew. Nobody believes it until its identity is whole, which comes last.
    pub(crate) fn initialise(
        &self,
        uuid: SessionUuid,
        index_nonce: u64,
        words: HeadWords,
    ) -> Result<(), DiskError> {
        for index in 0..IDENTITY_WORDS {
            self.words.store(IDENTITY_WORD + index, 0)?;
        }
        self.words.store(STATE_WORD, STATE_OK)?;
        self.words.store(DURABLE_WORD, seal(words.durable, DURABLE_PLACE))?;
        self.words.store(LINES_WORD, words.lines)?;
        self.words.store(END_WORD, end_word(words.end))?;
        // Where the system does not tell the boot id, a page of zeros fits nowhere either.
        let identity = self.identity(self.boot.unwrap_or_default(), uuid, index_nonce);
        for (index, word) in identity.to_words().into_iter().enumerate() {
            self.words.store(IDENTITY_WORD + index, word)?;
        }
        // Whoever sleeps on what stood here before has to look again.
        self.ring()
    }

    /// Which making of `lines.idx` the page belongs to. Loaded after the words, it tells whether they are
    /// about that index.
    pub(crate) fn index_nonce(&self) -> Result<u64, DiskError> {
        self.words.load(NONCE_WORD)
    }

    /// Where the last published batch ends.
    ///
    /// # Errors
    /// It cannot be read, or is not a whole word.
    pub(crate) fn end(&self) -> Result<u64, DiskError> {
        open(self.words.load(END_WORD)?, END_PLACE).ok_or_else(|| self.damaged())
    }

    /// Whether one load tells that `end` is still the word that [`end_word`] gives. The one load that a poll
    /// without news costs.
    #[inline]
    pub(crate) fn is_end_word(&self, word: u64) -> bool {
        self.words.holds(END_WORD, word)
    }

    fn damaged(&self) -> DiskError {
        DiskError {
            action: "use",
            path: self.words.file().path().to_owned(),
            source: io::Error::new(io::ErrorKind::InvalidData, "its words are damaged; it can be deleted"),
        }
    }

    /// The words, `end` first: what it publishes is there when the others are loaded.
    pub(crate) fn load(&self) -> Result<HeadWords, DiskError> {
        let end = self.end()?;
        let lines = self.words.load(LINES_WORD)?;
        let durable = open(self.words.load(DURABLE_WORD)?, DURABLE_PLACE).ok_or_else(|| self.damaged())?;
        Ok(HeadWords { end, durable, lines })
    }

    /// Publishes a batch: the count, then the one word that makes it visible, then the bell.
    pub(crate) fn publish(&self, end: u64, lines: u64) -> Result<(), DiskError> {
        self.words.store(LINES_WORD, lines)?;
        if is_planted(Defect::BellBeforeEnd) {
            self.ring()?;
            return self.words.store(END_WORD, end_word(end));
        }
        self.words.store(END_WORD, end_word(end))?;
        self.ring()
    }

    /// Says that everything before `position` is on the disk.
    pub(crate) fn set_durable(&self, position: u64) -> Result<(), DiskError> {
        self.words.store(DURABLE_WORD, seal(position, DURABLE_PLACE))
    }

    pub(crate) fn has_failed_sync(&self) -> Result<bool, DiskError> {
        Ok(self.words.load(STATE_WORD)? != STATE_OK)
    }

    pub(crate) fn set_failed_sync(&self) -> Result<(), DiskError> {
        self.words.store(STATE_WORD, STATE_SYNC_FAILED)
    }

    /// Sleeps while `end` is `seen` and no writer rings, for `timeout` at most; may return early. False: that
    /// is not to be had here.
    pub(crate) fn sleep_while_end_is(&self, seen: u64, timeout: Duration) -> bool {
        self.words.sleep(END_WORD, end_word(seen), timeout)
    }

    /// Whether some writer of this page could not wake sleepers and wrote the bell word instead.
    pub(crate) fn is_belled(&self) -> Result<bool, DiskError> {
        Ok(self.words.load(BELL_WORD)? != 0)
    }

    /// Wakes whoever sleeps on `end`.
    fn ring(&self) -> Result<(), DiskError> {
        if self.words.wake(END_WORD) {
            return Ok(());
        }
        let end = self.words.load(END_WORD)?;
        self.words.file().write_all_at(&end.to_le_bytes(), BELL_WORD as u64 * 8)
    }
}
