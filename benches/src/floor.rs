//! What the machine itself asks for: the same bytes, with nothing kept, checked or promised.
//!
//! A figure divided by its floor travels from one machine to another; the figure alone does not.

use std::fs::File;
use std::hint::black_box;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result};

use crate::peer::{Ambient, Pace, Sync};

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
    pub(crate) fn create(directory: &Path, len_bytes: usize, sync: Sync) -> Result<Self> {
        let file = File::create_new(directory.join("floor"))?;
        Ok(Self { file, offset: 0, bytes: vec![0x5A; len_bytes], pace: Pace::new(sync) })
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
    use crate::peer::{Appends, Peer};
    use crate::workload::Conversation;

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
            let mut floor = WriteLoop::create(directory.path(), 24, sync).unwrap();
            floor.append().unwrap();
            floor.append().unwrap();
            assert_eq!(std::fs::metadata(directory.path().join("floor")).unwrap().len(), 48);
        }
    }
}
