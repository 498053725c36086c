//! What the machine itself asks for: the same bytes, with nothing kept, checked or promised.
//!
//! A figure divided by its floor travels from one machine to another; the figure alone does not.

use std::fs::File;
use std::hint::black_box;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ambient_engine::Log;
use anyhow::{Context, Result};

use crate::measure::timed;
use crate::peer::{Ambient, Appends, Pace, Peer, Sync};
use crate::workload::Conversation;

/// How much is read at a time when a whole log is read.
const SEQUENTIAL_LEN_BYTES: usize = 256 << 10;

/// Loads a word as a reader of shared memory does.
pub(crate) fn atomic_load() -> u64 {
    static WORD: AtomicU64 = AtomicU64::new(1);
    black_box(&WORD).load(Ordering::Acquire)
}

/// The last bytes of a file, again and again: read, copied, or summed up.
pub(crate) struct Tail {
    file: File,
    offset: u64,
    bytes: Vec<u8>,
    copy: Vec<u8>,
}

impl Tail {
    /// The last `len_bytes` of the newest segment of the log in `directory`, as it is now.
    pub(crate) fn of(directory: &Path, len_bytes: usize) -> Result<Self> {
        let paths = Ambient::segment_paths(directory)?;
        let file = File::open(paths.last().context("the log has no segment")?)?;
        let offset = file.metadata()?.len().saturating_sub(len_bytes as u64);
        let mut tail = Self { file, offset, bytes: vec![0; len_bytes], copy: vec![0; len_bytes] };
        tail.read()?;
        Ok(tail)
    }

    pub(crate) fn read(&mut self) -> Result<usize> {
        Ok(self.file.read_at(&mut self.bytes, self.offset)?)
    }

    pub(crate) fn copy(&mut self) -> u8 {
        self.copy.copy_from_slice(black_box(&self.bytes));
        black_box(&self.copy).first().copied().unwrap_or_default()
    }

    pub(crate) fn crc(&self) -> u32 {
        crc32fast::hash(black_box(&self.bytes))
    }
}

/// A log that gains a line each time, whose bytes are read from the file as they are.
pub(crate) struct Appended {
    log: Log,
    conversation: Conversation,
    file: File,
    bytes: Vec<u8>,
}

impl Appended {
    pub(crate) fn create(directory: &Path) -> Result<Self> {
        std::fs::create_dir_all(directory)?;
        let (log, _) = Ambient::create(directory, Sync::Os)?;
        let paths = Ambient::segment_paths(directory)?;
        let file = File::open(paths.last().context("the log has no segment")?)?;
        Ok(Self { log, conversation: Conversation::default(), file, bytes: Vec::new() })
    }

    /// Appends a line and times one read of its bytes.
    pub(crate) fn read(&mut self) -> Result<Duration> {
        let offset = self.file.metadata()?.len();
        Appends::append(&mut self.log, &self.conversation.next_line())?;
        self.bytes.resize(usize::try_from(self.file.metadata()?.len() - offset)?, 0);
        timed(1, || Ok(self.file.read_at(&mut self.bytes, offset)?))
    }
}

/// Reads all files of a log from beginning to end.
pub(crate) struct ReadAll {
    files: Vec<File>,
    buffer: Vec<u8>,
}

impl ReadAll {
    pub(crate) fn of(directory: &Path) -> Result<Self> {
        let files = Ambient::segment_paths(directory)?.iter().map(File::open).collect::<Result<_, _>>()?;
        Ok(Self { files, buffer: vec![0; SEQUENTIAL_LEN_BYTES] })
    }

    pub(crate) fn read(&mut self) -> Result<u64> {
        let mut total = 0;
        for file in &self.files {
            let mut offset = 0;
            loop {
                let filled = file.read_at(&mut self.buffer, offset)? as u64;
                if filled == 0 {
                    break;
                }
                offset += filled;
            }
            total += offset;
        }
        Ok(total)
    }
}

/// Appends the same bytes to a file again and again. The file grows with each write, as a segment does.
pub(crate) struct WriteLoop {
    file: File,
    offset: u64,
    bytes: Vec<u8>,
    pace: Pace,
}

impl WriteLoop {
    pub(crate) fn create(directory: &Path, bytes: Vec<u8>, sync: Sync) -> Result<Self> {
        let file = File::create_new(directory.join("floor"))?;
        Ok(Self { file, offset: 0, bytes, pace: Pace::new(sync) })
    }

    pub(crate) fn append(&mut self) -> Result<()> {
        self.file.write_all_at(&self.bytes, self.offset)?;
        self.offset += self.bytes.len() as u64;
        if self.pace.is_due() {
            self.file.sync_data()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floors_move_the_bytes_of_the_log() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path();
        let (mut log, _reader) = Ambient::create(place, Sync::Os).unwrap();
        let empty_len_bytes = Ambient::len_bytes(place).unwrap();
        Appends::append(&mut log, &Conversation::default().next_events(50)).unwrap();
        let added = usize::try_from(Ambient::len_bytes(place).unwrap() - empty_len_bytes).unwrap();
        assert_eq!(ReadAll::of(place).unwrap().read().unwrap(), Ambient::len_bytes(place).unwrap());
        let mut tail = Tail::of(place, added).unwrap();
        assert_eq!(tail.read().unwrap(), added);
        tail.copy();
        assert_eq!(tail.copy, tail.bytes);
    }

    #[test]
    fn a_write_loop_makes_its_file_longer_each_time() {
        for sync in [Sync::Os, Sync::Each] {
            let directory = tempfile::tempdir().unwrap();
            let mut floor = WriteLoop::create(directory.path(), vec![7; 24], sync).unwrap();
            floor.append().unwrap();
            floor.append().unwrap();
            assert_eq!(std::fs::metadata(directory.path().join("floor")).unwrap().len(), 48);
        }
    }
}
