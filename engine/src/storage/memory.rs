//! A directory in memory, for tests: it keeps a record of every operation, so that whatever a crash could
//! have left can be made from it, and it can let a chosen call fail.
//!
//! What processes see (`image`) and what the disk holds (`on_disk`) are two things here, as they are on a
//! machine: a sync carries the one over to the other, and a failed sync throws away what it should have
//! carried, while the cache goes on showing it.

#![allow(clippy::unwrap_used)] // a test that cannot go on should stop

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use super::{Directory, FileIdentity, FileSystem, LockStep, OpenMode, SharedPage, StoredFile};

/// One change, in the order in which it was made. Files are numbered in the order of their making.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Create {
        name: String,
        file: usize,
    },
    Write {
        file: usize,
        offset: u64,
        bytes: Vec<u8>,
    },
    /// One word of a mapped page; never torn.
    Store {
        file: usize,
        word: usize,
        value: u64,
    },
    Grow {
        file: usize,
        len_bytes: u64,
    },
    Rename {
        from: String,
        to: String,
        file: usize,
    },
    Remove {
        name: String,
    },
    SyncFile {
        file: usize,
    },
    SyncNames,
    /// Sleepers on a word were woken.
    Wake {
        file: usize,
        word: usize,
    },
}

/// The names and the bytes of a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Image {
    pub(crate) names: BTreeMap<String, usize>,
    pub(crate) files: Vec<Vec<u8>>,
}

impl Image {
    /// Whether a name is that of a segment.
    pub(crate) fn is_segment(name: &str) -> bool {
        name.strip_suffix(".seg").is_some()
    }

    pub(crate) fn file_mut(&mut self, file: usize) -> &mut Vec<u8> {
        if self.files.len() <= file {
            self.files.resize(file + 1, Vec::new());
        }
        &mut self.files[file]
    }

    /// The bytes of the file that `name` names.
    pub(crate) fn bytes(&self, name: &str) -> Option<&Vec<u8>> {
        self.files.get(*self.names.get(name)?)
    }

    pub(crate) fn bytes_mut(&mut self, name: &str) -> Option<&mut Vec<u8>> {
        let file = *self.names.get(name)?;
        self.files.get_mut(file)
    }

    pub(crate) fn write(&mut self, file: usize, offset: u64, bytes: &[u8]) {
        let content = self.file_mut(file);
        let offset = usize::try_from(offset).unwrap();
        if content.len() < offset + bytes.len() {
            content.resize(offset + bytes.len(), 0);
        }
        content[offset..offset + bytes.len()].copy_from_slice(bytes);
    }

    pub(crate) fn apply(&mut self, operation: &Operation) {
        match operation {
            Operation::Create { name, file } => {
                self.file_mut(*file);
                self.names.insert(name.clone(), *file);
            }
            Operation::Write { file, offset, bytes } => self.write(*file, *offset, bytes),
            Operation::Store { file, word, value } => {
                self.write(*file, *word as u64 * 8, &value.to_le_bytes());
            }
            Operation::Grow { file, len_bytes } => {
                let len_bytes = usize::try_from(*len_bytes).unwrap();
                let content = self.file_mut(*file);
                content.resize(len_bytes.max(content.len()), 0);
            }
            Operation::Rename { from, to, file } => {
                self.file_mut(*file);
                self.names.remove(from);
                self.names.insert(to.clone(), *file);
            }
            Operation::Remove { name } => {
                self.names.remove(name);
            }
            Operation::SyncFile { .. } | Operation::SyncNames | Operation::Wake { .. } => {}
        }
    }
}

/// How a chosen call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// With this error of the system.
    Errno(rustix::io::Errno),
    /// A write or read moves half of what it was given; other calls are not concerned.
    Short,
    /// Only syncs fail; the call fails and takes what was not yet on the disk with it.
    Sync,
}

/// What a boot id is made from; a machine that starts again has another one.
pub(crate) type Boot = u8;

#[derive(Debug, Default)]
struct State {
    boot: Boot,
    image: Image,
    on_disk: Image,
    /// Changes of a file that no sync has carried to the disk yet.
    unsynced: HashMap<usize, Vec<Operation>>,
    journal: Vec<Operation>,
    locks: HashMap<usize, Lock>,
    openings: u64,
    calls: usize,
    failing: Option<(usize, Failure)>,
    has_failed: bool,
    has_failed_sync: bool,
}

#[derive(Debug, Default)]
struct Lock {
    alone: Option<u64>,
    together: BTreeSet<u64>,
}

/// A directory in memory; a clone is another process's view of the same one.
#[derive(Clone, Debug, Default)]
pub(crate) struct MemoryDirectory {
    state: Arc<Mutex<State>>,
    changed: Arc<Condvar>,
}

impl MemoryDirectory {
    /// One that holds `image`, all of it on the disk, on the start of the machine numbered `boot`.
    pub(crate) fn holding(image: Image, boot: Boot) -> Self {
        let state = State { boot, on_disk: image.clone(), image, ..State::default() };
        Self { state: Arc::new(Mutex::new(state)), changed: Arc::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// What processes see.
    pub(crate) fn image(&self) -> Image {
        self.state().image.clone()
    }

    /// What the disk holds for certain: all that was not synced is gone.
    pub(crate) fn on_disk(&self) -> Image {
        self.state().on_disk.clone()
    }

    /// Every change so far.
    pub(crate) fn journal(&self) -> Vec<Operation> {
        self.state().journal.clone()
    }

    /// How many changes there were so far.
    pub(crate) fn journal_len(&self) -> usize {
        self.state().journal.len()
    }

    /// Lets the call with this number, counted from now, fail; [`Self::has_failed`] tells whether it did.
    pub(crate) fn fail_call(&self, call: usize, failure: Failure) {
        let mut state = self.state();
        state.failing = Some((state.calls + call, failure));
        state.has_failed = false;
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.state().has_failed
    }

    /// Whether a sync of a file failed, in whichever way.
    pub(crate) fn has_failed_sync(&self) -> bool {
        self.state().has_failed_sync
    }

    /// Lets every lock go, as the death of all processes does.
    pub(crate) fn free_locks(&self) {
        self.state().locks.clear();
    }
}

impl State {
    fn record(&mut self, operation: Operation) {
        self.image.apply(&operation);
        match &operation {
            Operation::Write { file, .. } | Operation::Store { file, .. } | Operation::Grow { file, .. } => {
                self.unsynced.entry(*file).or_default().push(operation.clone());
            }
            Operation::SyncFile { file } => {
                for unsynced in self.unsynced.remove(file).unwrap_or_default() {
                    self.on_disk.apply(&unsynced);
                }
            }
            Operation::SyncNames => {
                self.on_disk.names.clone_from(&self.image.names);
                for file in self.image.names.values() {
                    self.on_disk.file_mut(*file);
                }
            }
            _ => {}
        }
        self.journal.push(operation);
    }

    /// Counts a call, and fails it if it is the chosen one.
    fn call(&mut self, is_sync: bool, can_be_short: bool) -> io::Result<bool> {
        self.calls += 1;
        let Some((_, failure)) = self.failing.filter(|(at, _)| *at + 1 == self.calls) else {
            return Ok(false);
        };
        match failure {
            Failure::Errno(errno) => {
                self.has_failed = true;
                Err(errno.into())
            }
            Failure::Sync if is_sync => {
                self.has_failed = true;
                Err(rustix::io::Errno::IO.into())
            }
            Failure::Short if can_be_short => {
                self.has_failed = true;
                Ok(true)
            }
            Failure::Short | Failure::Sync => {
                // Not a call of that kind: the next one is chosen.
                self.failing = Some((self.calls, failure));
                Ok(false)
            }
        }
    }

    fn file_of(&self, name: &str) -> io::Result<usize> {
        self.image.names.get(name).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl Directory for MemoryDirectory {
    fn names(&self) -> io::Result<Vec<String>> {
        let mut state = self.state();
        state.call(false, false)?;
        Ok(state.image.names.keys().cloned().collect())
    }

    fn open(&self, name: &str, mode: OpenMode) -> io::Result<Box<dyn StoredFile>> {
        let mut state = self.state();
        state.call(false, false)?;
        let file = match (state.file_of(name), mode) {
            (Ok(_), OpenMode::CreateNew) => return Err(io::ErrorKind::AlreadyExists.into()),
            (Ok(file), _) => file,
            (Err(error), OpenMode::Read | OpenMode::Write) => return Err(error),
            (Err(_), OpenMode::WriteOrCreate | OpenMode::CreateNew) => {
                let file = state.image.files.len();
                state.record(Operation::Create { name: name.to_owned(), file });
                file
            }
        };
        state.openings += 1;
        let opening = state.openings;
        Ok(Box::new(MemoryFile { directory: self.clone(), file, opening, writable: mode != OpenMode::Read }))
    }

    fn rename(&self, from: &str, to: &str, replacing: bool) -> io::Result<()> {
        let mut state = self.state();
        state.call(false, false)?;
        let file = state.file_of(from)?;
        if !replacing && state.file_of(to).is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        state.record(Operation::Rename { from: from.to_owned(), to: to.to_owned(), file });
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut state = self.state();
        state.call(false, false)?;
        state.file_of(name)?;
        state.record(Operation::Remove { name: name.to_owned() });
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.state();
        state.call(true, false)?;
        state.record(Operation::SyncNames);
        Ok(())
    }

    fn identity_of(&self, name: &str) -> io::Result<FileIdentity> {
        let mut state = self.state();
        state.call(false, false)?;
        let inode = state.file_of(name)? as u64;
        Ok(FileIdentity { device: 1, inode, birth_ns: inode })
    }

    fn file_system(&self) -> io::Result<FileSystem> {
        self.state().call(false, false)?;
        Ok(FileSystem::Local)
    }

    fn boot_id(&self) -> Option<[u8; 16]> {
        Some([self.state().boot; 16])
    }
}

/// An open file in memory.
#[derive(Debug)]
struct MemoryFile {
    directory: MemoryDirectory,
    file: usize,
    opening: u64,
    writable: bool,
}

impl Drop for MemoryFile {
    fn drop(&mut self) {
        // A test that has failed already must not fail again here.
        if let Ok(mut state) = self.directory.state.lock() {
            unlock(&mut state, self.file, self.opening);
        }
        self.directory.changed.notify_all();
    }
}

fn unlock(state: &mut State, file: usize, opening: u64) {
    if let Some(lock) = state.locks.get_mut(&file) {
        lock.alone = lock.alone.filter(|holder| *holder != opening);
        lock.together.remove(&opening);
    }
}

impl StoredFile for MemoryFile {
    fn len_bytes(&self) -> io::Result<u64> {
        let mut state = self.directory.state();
        state.call(false, false)?;
        Ok(state.image.files[self.file].len() as u64)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut state = self.directory.state();
        let is_short = state.call(false, true)?;
        let bytes = &state.image.files[self.file];
        let rest = usize::try_from(offset).ok().and_then(|offset| bytes.get(offset..)).unwrap_or_default();
        let mut count = rest.len().min(buffer.len());
        if is_short {
            count = count.div_ceil(2);
        }
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        assert!(self.writable, "a file that was opened for reading is written");
        let mut state = self.directory.state();
        let count = if state.call(false, true)? { bytes.len().div_ceil(2) } else { bytes.len() };
        let bytes = bytes[..count].to_vec();
        state.record(Operation::Write { file: self.file, offset, bytes });
        Ok(count)
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.directory.state();
        if let Err(error) = state.call(true, false) {
            // The system calls the pages clean although the disk does not hold them.
            state.has_failed_sync = true;
            state.unsynced.remove(&self.file);
            return Err(error);
        }
        state.record(Operation::SyncFile { file: self.file });
        Ok(())
    }

    fn allocate(&self, _from: u64, to: u64) -> io::Result<()> {
        let mut state = self.directory.state();
        state.call(false, false)?;
        state.record(Operation::Grow { file: self.file, len_bytes: to });
        Ok(())
    }

    fn forget_cached_pages(&self) -> io::Result<()> {
        let mut state = self.directory.state();
        state.call(false, false)?;
        let mut image = Image { files: vec![Vec::new(); self.file + 1], ..Image::default() };
        image.files[self.file].clone_from(state.on_disk.file_mut(self.file));
        for operation in state.unsynced.get(&self.file).into_iter().flatten() {
            image.apply(operation);
        }
        state.image.files[self.file] = image.files.swap_remove(self.file);
        Ok(())
    }

    fn lock(&self, step: LockStep) -> io::Result<bool> {
        let mut state = self.directory.state();
        state.call(false, false)?;
        loop {
            let lock = state.locks.entry(self.file).or_default();
            let others_alone = lock.alone.is_some_and(|holder| holder != self.opening);
            let others_together = lock.together.iter().any(|holder| *holder != self.opening);
            match step {
                LockStep::Unlock => {
                    unlock(&mut state, self.file, self.opening);
                    self.directory.changed.notify_all();
                    return Ok(true);
                }
                LockStep::Shared if !others_alone => {
                    lock.alone = None;
                    lock.together.insert(self.opening);
                    return Ok(true);
                }
                LockStep::Exclusive | LockStep::TryExclusive if !others_alone && !others_together => {
                    lock.together.clear();
                    lock.alone = Some(self.opening);
                    return Ok(true);
                }
                LockStep::TryExclusive => return Ok(false),
                LockStep::Shared | LockStep::Exclusive => {
                    state = self.directory.changed.wait(state).unwrap();
                }
            }
        }
    }

    fn map(&self, writable: bool) -> io::Result<Box<dyn SharedPage>> {
        let mut state = self.directory.state();
        state.call(false, false)?;
        let len_words = state.image.files[self.file].len() / 8;
        Ok(Box::new(MemoryPage { directory: self.directory.clone(), file: self.file, len_words, writable }))
    }
}

/// A file in memory, seen as words.
#[derive(Debug)]
struct MemoryPage {
    directory: MemoryDirectory,
    file: usize,
    len_words: usize,
    writable: bool,
}

impl SharedPage for MemoryPage {
    fn len_words(&self) -> usize {
        self.len_words
    }

    fn load(&self, word: usize) -> Option<u64> {
        let state = self.directory.state();
        let bytes = state.image.files[self.file].get(word * 8..word * 8 + 8)?;
        (word < self.len_words).then(|| u64::from_le_bytes(bytes.try_into().unwrap()))
    }

    fn store(&self, word: usize, value: u64) -> Option<()> {
        if word >= self.len_words || !self.writable {
            return None;
        }
        self.directory.state().record(Operation::Store { file: self.file, word, value });
        Some(())
    }

    fn wake(&self, word: usize) -> bool {
        self.directory.state().record(Operation::Wake { file: self.file, word });
        self.directory.changed.notify_all();
        true
    }

    fn sleep(&self, word: usize, seen: u64, timeout: Duration) -> bool {
        if self.load(word) == Some(seen) {
            let state = self.directory.state();
            drop(self.directory.changed.wait_timeout(state, timeout).unwrap());
        }
        true
    }
}
