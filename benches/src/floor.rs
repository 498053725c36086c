//! What the machine itself asks for: the same bytes, with nothing kept, checked or promised.
//!
//! A figure divided by its floor travels from one machine to another; the figure alone does not.

use std::fs::File;
use std::hint::black_box;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result};

use crate::peer::{Ambient, Sync};

/// How much is read at a time when a whole log is read.
const SEQUENTIAL_LEN_BYTES: usize = 256 << 10;

/// Loads a word as a reader of shared memory does.
pub(crate) fn atomic_load() -> u64 {
    static WORD: AtomicU64 = AtomicU64::new(1);
    black_box(&WORD).load(Ordering::Acquire)
}

/// Reads the last bytes of a file again and again.
pub(crate) struct ReadTail {
    file: File,
    offset: u64,
    buffer: Vec<u8>,
}

impl ReadTail {
    /// The last `len_bytes` of the newest segment of `log`, as it is now.
    pub(crate) fn of(log: &Ambient, len_bytes: usize) -> Result<Self> {
        let paths = log.segment_paths()?;
        let file = File::open(paths.last().context("the log has no segment")?)?;
        let offset = file.metadata()?.len().saturating_sub(len_bytes as u64);
        Ok(Self { file, offset, buffer: vec![0; len_bytes] })
    }

    pub(crate) fn read(&mut self) -> Result<usize> {
        Ok(self.file.read_at(&mut self.buffer, self.offset)?)
    }
}

/// Reads all files of a log from beginning to end.
pub(crate) struct ReadAll {
    files: Vec<File>,
    buffer: Vec<u8>,
}

impl ReadAll {
    pub(crate) fn of(log: &Ambient) -> Result<Self> {
        let files = log.segment_paths()?.iter().map(File::open).collect::<Result<_, _>>()?;
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
    sync: Sync,
}

impl WriteLoop {
    pub(crate) fn create(directory: &Path, len_bytes: usize, sync: Sync) -> Result<Self> {
        let file = File::create_new(directory.join("floor"))?;
        Ok(Self { file, offset: 0, bytes: vec![0x5A; len_bytes], sync })
    }

    pub(crate) fn append(&mut self) -> Result<()> {
        self.file.write_all_at(&self.bytes, self.offset)?;
        self.offset += self.bytes.len() as u64;
        if self.sync == Sync::Each {
            self.file.sync_data()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peer::Peer;
    use crate::workload::Conversation;

    #[test]
    fn floors_move_the_bytes_of_the_log() {
        let directory = tempfile::tempdir().unwrap();
        let mut log = Ambient::create(directory.path(), Sync::Os).unwrap();
        let empty_len_bytes = log.len_bytes().unwrap();
        log.append(&Conversation::default().next_events(50)).unwrap();
        let added = usize::try_from(log.len_bytes().unwrap() - empty_len_bytes).unwrap();
        assert_eq!(ReadAll::of(&log).unwrap().read().unwrap(), log.len_bytes().unwrap());
        assert_eq!(ReadTail::of(&log, added).unwrap().read().unwrap(), added);
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
