//! `log/lines.idx`, open.
//!
//! Derived from the log: it can be deleted and comes back. Entries are stored before the batch that
//! makes them is published; whoever reads drops those at or behind its own end.

use super::disk::{DiskError, LogDirectory};
use super::shared_words::SharedWords;
use crate::format::SessionUuid;
use crate::format::index::{
    INDEX_ENTRY_LEN_BYTES, INDEX_HEADER_LEN_BYTES, INDEX_HEADER_USED_LEN_BYTES, IndexChecksum, IndexEntry,
    IndexHeader, newest_edit_place, position_place,
};
use crate::format::sealed_word::{NO_POSITION, open, open_unchecked, seal};
use crate::storage::OpenMode;

const INDEX_NAME: &str = "lines.idx";
const TEMPORARY_NAME: &str = "lines.idx.new";

/// Lines for which room is made at first; doubled each time up to [`GROWTH_MAX_LINES`].
const GROWTH_MIN_LINES: u64 = 1 << 10;
const GROWTH_MAX_LINES: u64 = 1 << 16;

/// Words that are loaded at a time when all are checked.
const CHECKED_WORDS: usize = 512;

/// An open line index.
#[derive(Debug)]
pub(crate) struct LineIndex {
    words: SharedWords,
    header: IndexHeader,
}

impl LineIndex {
    /// Opens the index of the log with `uuid`; none when there is no usable one.
    pub(crate) fn open(
        directory: &LogDirectory,
        uuid: SessionUuid,
        mapped: bool,
        writable: bool,
    ) -> Result<Option<Self>, DiskError> {
        let mode = if writable { OpenMode::Write } else { OpenMode::Read };
        let file = match directory.open_file(INDEX_NAME, mode) {
            Ok(file) => file,
            Err(error) if error.is_missing() => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut block = [0; INDEX_HEADER_USED_LEN_BYTES];
        if file.len_bytes()? < INDEX_HEADER_LEN_BYTES || file.read_at(&mut block, 0)? < block.len() {
            return Ok(None);
        }
        let Some(header) = IndexHeader::decode(&block).filter(|header| header.uuid == uuid) else {
            return Ok(None);
        };
        Ok(Some(Self { words: SharedWords::new(file, mapped, writable)?, header }))
    }

    /// Writes a new index with `entries` and puts it in the place of the old one.
    pub(crate) fn rebuild(
        directory: &LogDirectory,
        header: IndexHeader,
        entries: &[IndexEntry],
        mapped: bool,
    ) -> Result<Self, DiskError> {
        directory.remove(TEMPORARY_NAME)?;
        let file = directory.open_file(TEMPORARY_NAME, OpenMode::CreateNew)?;
        let room = (entries.len() as u64).next_multiple_of(GROWTH_MIN_LINES).max(GROWTH_MIN_LINES);
        file.grow(INDEX_HEADER_LEN_BYTES + room * INDEX_ENTRY_LEN_BYTES)?;
        file.write_all_at(&header.encode(), 0)?;
        let mut offset = INDEX_HEADER_LEN_BYTES;
        let mut line = 0;
        for chunk in entries.chunks(4096) {
            let mut bytes = Vec::with_capacity(chunk.len() * 16);
            for entry in chunk {
                bytes.extend(seal(entry.position, position_place(line)).to_le_bytes());
                bytes.extend(seal(entry.newest_edit, newest_edit_place(line)).to_le_bytes());
                line += 1;
            }
            file.write_all_at(&bytes, offset)?;
            offset += bytes.len() as u64;
        }
        directory.rename_replacing(TEMPORARY_NAME, INDEX_NAME)?;
        Ok(Self { words: SharedWords::new(file, mapped, true)?, header })
    }

    /// Which making of the index this is.
    pub(crate) fn nonce(&self) -> u64 {
        self.header.nonce
    }

    /// Lines for which there are entries, used or not.
    pub(crate) fn capacity_lines(&self) -> u64 {
        (self.words.len_words() as u64 * 8).saturating_sub(INDEX_HEADER_LEN_BYTES) / INDEX_ENTRY_LEN_BYTES
    }

    /// Makes room on the disk for `lines` lines, so that storing their entries cannot fail for want of it.
    pub(crate) fn reserve(&mut self, lines: u64) -> Result<(), DiskError> {
        let have = self.capacity_lines();
        if lines <= have {
            return Ok(());
        }
        let room = lines.max(have + have.clamp(GROWTH_MIN_LINES, GROWTH_MAX_LINES));
        self.words.file().grow(INDEX_HEADER_LEN_BYTES + room * INDEX_ENTRY_LEN_BYTES)?;
        self.words.follow_growth()
    }

    /// Reaches entries up to `lines` lines if the file has grown to hold them.
    pub(crate) fn follow(&mut self, lines: u64) -> Result<(), DiskError> {
        if lines > self.capacity_lines() { self.words.follow_growth() } else { Ok(()) }
    }

    fn word_of(line: u64) -> usize {
        usize::try_from((INDEX_HEADER_LEN_BYTES + line.saturating_mul(INDEX_ENTRY_LEN_BYTES)) / 8)
            .unwrap_or(usize::MAX / 2)
    }

    /// Where `line` is; [`NO_POSITION`] when the index does not tell.
    pub(crate) fn position(&self, line: u64) -> Result<u64, DiskError> {
        let word = self.words.load(Self::word_of(line))?;
        Ok(open(word, position_place(line)).unwrap_or(NO_POSITION))
    }

    /// Where the newest edit of `line` is; 0 for none, [`NO_POSITION`] when the index does not tell.
    pub(crate) fn newest_edit(&self, line: u64) -> Result<u64, DiskError> {
        let word = self.words.load(Self::word_of(line) + 1)?;
        Ok(open(word, newest_edit_place(line)).unwrap_or(NO_POSITION))
    }

    #[cfg(test)]
    pub(crate) fn entry(&self, line: u64) -> Result<IndexEntry, DiskError> {
        Ok(IndexEntry { position: self.position(line)?, newest_edit: self.newest_edit(line)? })
    }

    /// Stores a new line's entry.
    pub(crate) fn set_entry(&self, line: u64, entry: IndexEntry) -> Result<(), DiskError> {
        let word = Self::word_of(line);
        self.words.store(word, seal(entry.position, position_place(line)))?;
        self.words.store(word + 1, seal(entry.newest_edit, newest_edit_place(line)))
    }

    /// Stores where the newest edit of `line` is.
    pub(crate) fn set_newest_edit(&self, line: u64, position: u64) -> Result<(), DiskError> {
        self.words.store(Self::word_of(line) + 1, seal(position, newest_edit_place(line)))
    }

    /// The checksum over the positions in the first `lines` entries; none when the index does not hold that
    /// many. It tells whether the positions are those of the closed log; whether each word is whole is
    /// looked at when it is used.
    pub(crate) fn checksum(&self, lines: u64) -> Result<Option<u32>, DiskError> {
        if lines > self.capacity_lines() {
            return Ok(None);
        }
        let mut checksum = IndexChecksum::default();
        let mut words = [0; CHECKED_WORDS];
        let (mut first, end) = (Self::word_of(0), Self::word_of(lines));
        while first < end {
            let words = &mut words[..(end - first).min(CHECKED_WORDS)];
            self.words.load_run(first, words)?;
            first += words.len();
            for word in &mut *words {
                *word = open_unchecked(*word);
            }
            checksum.add(words);
        }
        Ok(Some(checksum.finish()))
    }

    /// Makes the entries durable, before a `closed` frame vouches for them.
    pub(crate) fn sync(&self) -> Result<(), DiskError> {
        self.words.file().sync()
    }
}
