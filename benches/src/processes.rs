//! The cases that take more than one process: opening a log after what may have happened to it, and how
//! long a line takes to another process.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use ambient_engine::{Log, SEGMENT_LEN_MAX_BYTES};
use anyhow::{Context, Result, ensure};

use crate::child::{Helper, LINES_FOLLOWED, LINES_WANTED, Part, line_made_now};
use crate::key::{Key, Opening, Operation, Subject};
use crate::measure::{Case, Sample};
use crate::peer::{Ambient, Appends, Lmdb, Peer, Shared, Sqlite, Sync, options};
use crate::reading::fill;
use crate::workload::{Conversation, Workload};

/// Times a log is opened in one round at most.
const OPENINGS_MAX: usize = 20;
/// Lines that are sent to another process in one round at most.
const SEEN_MAX: usize = 1_000;
/// After which a reader that was told to wait is asleep.
const ASLEEP_AFTER: Duration = Duration::from_millis(1);
/// Bytes of a frame that a killed writer has written of its batch.
const HALF_A_FRAME_LEN_BYTES: usize = 100;
/// Where the first frame of a segment begins.
const FIRST_FRAME_OFFSET: usize = 256;

/// A log of its own to close, kill and open.
pub(crate) struct Reopened {
    directory: PathBuf,
    workload: Workload,
}

/// What following a log and reading its end cost a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Footprint {
    /// Memory of its own, without mapped pages, in bytes.
    pub(crate) own: u64,
    /// Bytes it asked the system to read for the last ten lines.
    pub(crate) read: u64,
    /// Bytes that those lines take in the log.
    pub(crate) wanted: u64,
}

impl Reopened {
    pub(crate) fn fill(directory: &Path, workload: Workload) -> Result<Rc<Self>> {
        fs::create_dir_all(directory)?;
        let (mut log, _) = Ambient::create(directory, Sync::Os)?;
        fill(workload, |events| Appends::append(&mut log, events))?;
        log.close()?;
        Ok(Rc::new(Self { directory: directory.to_owned(), workload }))
    }

    pub(crate) fn cases(self: &Rc<Self>) -> Vec<Case<'static>> {
        let case = |opening| {
            let (operation, subject) = (Operation::Open(opening), Subject::Ambient);
            let reopened = Rc::clone(self);
            let sample: Sample<'static> = Box::new(move |_| reopened.open_after(opening));
            Case::single(Key { operation, workload: Some(self.workload), subject }, OPENINGS_MAX, sample)
        };
        Opening::ALL.into_iter().map(case).collect()
    }

    /// Brings the log into its state and opens it in a new process, which tells how long that took.
    fn open_after(&self, opening: Opening) -> Result<Duration> {
        match opening {
            Opening::Closed => self.close()?,
            Opening::ClosedOnOtherBoot => {
                self.close()?;
                self.forget_this_boot()?;
            }
            Opening::Killed => self.kill_a_writer()?,
            Opening::KilledWithinBatch => {
                self.kill_a_writer()?;
                self.write_half_a_batch()?;
            }
            Opening::PowerLoss => {
                self.kill_a_writer()?;
                self.forget_this_boot()?;
            }
        }
        let is_reading = matches!(opening, Opening::Closed | Opening::ClosedOnOtherBoot);
        let part = if is_reading { Part::Read } else { Part::Write };
        Ok(Duration::from_nanos(Helper::start(part, &self.directory)?.number()?))
    }

    fn close(&self) -> Result<()> {
        Ok(Log::open(&self.directory, options(Sync::Os))?.close()?)
    }

    fn kill_a_writer(&self) -> Result<()> {
        Helper::start(Part::Write, &self.directory)?.number()?;
        Ok(())
    }

    /// The head says which start of the machine it is of: without it, the log is as after another one.
    fn forget_this_boot(&self) -> Result<()> {
        fs::remove_file(self.directory.join("log/head")).context("the head page is not where it was")
    }

    fn write_half_a_batch(&self) -> Result<()> {
        let paths = Ambient::segment_paths(&self.directory)?;
        let (first, last) = paths.first().zip(paths.last()).context("the log has no segment")?;
        let mut bytes = [0; FIRST_FRAME_OFFSET + HALF_A_FRAME_LEN_BYTES];
        File::open(first)?.read_exact(&mut bytes)?;
        let mut segment = File::options().append(true).open(last)?;
        ensure!(segment.metadata()?.len() < SEGMENT_LEN_MAX_BYTES, "no room for half a batch");
        segment.write_all(&bytes[FIRST_FRAME_OFFSET..])?;
        Ok(())
    }

    /// What a reader in a process of its own takes that follows the log.
    pub(crate) fn footprint(&self) -> Result<Footprint> {
        let mut log = Log::open(&self.directory, options(Sync::Os))?;
        let mut conversation = Conversation::default();
        let mut follower = Helper::start(Part::Follow, &self.directory)?;
        follower.number()?;
        let before = Ambient::len_bytes(&self.directory)?;
        for _ in 0..LINES_FOLLOWED {
            Appends::append(&mut log, &conversation.next_line())?;
            follower.go_on()?;
            ensure!(follower.number()? == log.lines(), "the follower did not see the line");
        }
        let own = follower.number()?;
        let written = Ambient::len_bytes(&self.directory)? - before;
        let mut reader = Helper::start(Part::Read, &self.directory)?;
        reader.number()?;
        let read = reader.number()?;
        Ok(Footprint { own, read, wanted: written * LINES_WANTED / LINES_FOLLOWED as u64 })
    }
}

/// How long a line takes from the beginning of its append until another process has read it.
pub(crate) fn seen_cases(directory: &Path) -> Result<Vec<Case<'static>>> {
    let samples: [(Subject, Sample<'static>); 4] = [
        (Subject::Ambient, seen::<Ambient>(&directory.join("ambient"), Part::PollAmbient)?),
        (Subject::AmbientWaiting, seen::<Ambient>(&directory.join("waiting"), Part::WaitAmbient)?),
        (Subject::Sqlite, seen::<Sqlite>(&directory.join("sqlite"), Part::PollSqlite)?),
        (Subject::Lmdb, seen::<Lmdb>(&directory.join("lmdb"), Part::PollLmdb)?),
    ];
    let key = |subject| Key { operation: Operation::Seen, workload: None, subject };
    Ok(samples.into_iter().map(|(subject, sample)| Case::single(key(subject), SEEN_MAX, sample)).collect())
}

fn seen<P: Shared + 'static>(directory: &Path, part: Part) -> Result<Sample<'static>> {
    fs::create_dir_all(directory)?;
    let (mut writer, _) = P::create(directory, Sync::Os)?;
    let mut conversation = Conversation::default();
    let mut watcher = Helper::start(part, directory)?;
    Ok(Box::new(move |_| {
        watcher.go_on()?;
        // It says that it is ready, and polls.
        watcher.number()?;
        if part == Part::WaitAmbient {
            thread::sleep(ASLEEP_AFTER);
        }
        writer.append(&line_made_now(&mut conversation))?;
        Ok(Duration::from_nanos(watcher.number()?))
    }))
}
