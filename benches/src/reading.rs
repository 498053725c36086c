//! The cases that read: three peers with the same conversation, short and long.

use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::time::Duration;

use ambient_engine::FoldedLine;
use anyhow::{Context, Result, ensure};

use crate::floor::{ReadAll, ReadTail, atomic_load};
use crate::measure::{Case, Key, Operation, Reading, Sample, Subject, timed};
use crate::peer::{Ambient, Jsonl, Peer, Sqlite, Sync};
use crate::workload::{Conversation, events_with_lines};

/// How many events go into a batch while a store is filled.
const FILL_BATCH: usize = 1_000;
/// An operation that needs a new line each time may lengthen its conversation by this part in a round.
const GROWTH_PART: u64 = 25;
const GROWTH_MAX: usize = 400;

/// A peer, and the conversation it has been filled from.
struct Store<P> {
    peer: P,
    conversation: Conversation,
}

impl<P: Peer> Store<P> {
    /// Fills a new store and gives it with a digest of its folded lines.
    fn fill(directory: &Path, lines: u64) -> Result<(RefCell<Self>, u64)> {
        std::fs::create_dir_all(directory)?;
        let mut conversation = Conversation::default();
        let mut peer = P::create(directory, Sync::Os)?;
        let mut left = usize::try_from(events_with_lines(lines))?;
        while left > 0 {
            let batch = left.min(FILL_BATCH);
            peer.append(&conversation.next_events(batch))?;
            left -= batch;
        }
        let folded = peer.poll()?;
        ensure!(folded.len() as u64 == lines, "{} lines came back of {lines}", folded.len());
        Ok((RefCell::new(Self { peer, conversation }), digest(&folded)))
    }

    /// Times `reading`, which a new line comes before if that is what it is about.
    fn sample(&mut self, reading: Reading, repeats: u32) -> Result<Duration> {
        if !reading.is_repeatable() {
            self.peer.append(&self.conversation.next_line())?;
        }
        let peer = &mut self.peer;
        match reading {
            Reading::NoNews => timed(repeats, || peer.has_news()),
            Reading::OneNewLine => timed(repeats, || peer.poll()),
            Reading::Last100 | Reading::Last100AfterNews => timed(repeats, || peer.last(100)),
            Reading::FullFold => timed(repeats, || peer.fold_all()),
        }
    }
}

/// What of folded lines must be equal in all peers.
fn digest(lines: &[FoldedLine]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for line in lines {
        let heard = &line.heard;
        (line.index, &line.text, &line.speaker, &line.hidden, &heard.text).hash(&mut hasher);
        (heard.track, heard.start_ms, heard.end_ms, heard.confidence.to_bits()).hash(&mut hasher);
        (&heard.language, heard.generation, heard.overlap).hash(&mut hasher);
        heard.audio.map(|audio| (audio.start_sample, audio.end_sample, audio.rate_hz)).hash(&mut hasher);
    }
    hasher.finish()
}

/// The three peers with a conversation of the same length.
pub(crate) struct Shelf {
    lines: u64,
    ambient: RefCell<Store<Ambient>>,
    sqlite: RefCell<Store<Sqlite>>,
    jsonl: RefCell<Store<Jsonl>>,
    /// How long a frame is, on average.
    frame_len_bytes: usize,
}

impl Shelf {
    /// Fills the stores and makes sure that they give the same lines.
    pub(crate) fn fill(directory: &Path, lines: u64) -> Result<Self> {
        let (ambient, expected) =
            Store::<Ambient>::fill(&directory.join("ambient"), lines).context("ambient")?;
        let (sqlite, from_sqlite) =
            Store::<Sqlite>::fill(&directory.join("sqlite"), lines).context("SQLite")?;
        let (jsonl, from_jsonl) = Store::<Jsonl>::fill(&directory.join("jsonl"), lines).context("JSONL")?;
        ensure!(from_sqlite == expected, "SQLite gives other folded lines than ambient");
        ensure!(from_jsonl == expected, "JSONL gives other folded lines than ambient");
        let len_bytes = ambient.borrow().peer.len_bytes()?;
        let frame_len_bytes = usize::try_from(len_bytes / events_with_lines(lines).max(1))?;
        Ok(Self { lines, ambient, sqlite, jsonl, frame_len_bytes })
    }

    /// All cases for one operation.
    pub(crate) fn cases(&self, reading: Reading) -> Result<Vec<Case<'_>>> {
        let mut cases = vec![
            self.peer_case(&self.ambient, reading, Subject::Ambient),
            self.peer_case(&self.sqlite, reading, Subject::Sqlite),
        ];
        if reading != Reading::Last100AfterNews {
            // Nothing is kept from one reading to the next, so that news changes nothing.
            cases.push(self.peer_case(&self.jsonl, reading, Subject::Jsonl));
        }
        let sample: Sample<'_> = match reading {
            Reading::NoNews => Box::new(|repeats| timed(repeats, || Ok(atomic_load()))),
            Reading::OneNewLine => self.read_tail(1)?,
            Reading::Last100 | Reading::Last100AfterNews => self.read_tail(events_with_lines(100))?,
            Reading::FullFold => {
                let mut floor = ReadAll::of(&self.ambient.borrow().peer)?;
                Box::new(move |repeats| timed(repeats, || floor.read()))
            }
        };
        cases.push(Case::repeatable(self.key(reading, Subject::Floor), sample));
        match reading {
            Reading::NoNews => cases.push(self.snapshot_case()),
            Reading::OneNewLine => cases.push(self.clock_case()),
            Reading::Last100 | Reading::Last100AfterNews | Reading::FullFold => {}
        }
        Ok(cases)
    }

    fn key(&self, reading: Reading, subject: Subject) -> Key {
        Key { operation: Operation::Read(reading), lines: Some(self.lines), subject }
    }

    fn peer_case<'store, P: Peer>(
        &self,
        store: &'store RefCell<Store<P>>,
        reading: Reading,
        subject: Subject,
    ) -> Case<'store> {
        let key = self.key(reading, subject);
        let sample: Sample<'store> = Box::new(move |repeats| store.borrow_mut().sample(reading, repeats));
        if reading.is_repeatable() {
            return Case::repeatable(key, sample);
        }
        Case::single(
            key,
            usize::try_from(self.lines / GROWTH_PART).unwrap_or(GROWTH_MAX).min(GROWTH_MAX),
            sample,
        )
    }

    /// The public call that gives everything, asked when nothing is new.
    fn snapshot_case(&self) -> Case<'_> {
        let sample = |repeats| {
            let peer = &mut self.ambient.borrow_mut().peer;
            timed(repeats, || peer.snapshot_lines())
        };
        Case::repeatable(self.key(Reading::NoNews, Subject::AmbientSnapshot), Box::new(sample))
    }

    fn clock_case(&self) -> Case<'static> {
        Case::single(
            self.key(Reading::OneNewLine, Subject::Clock),
            GROWTH_MAX,
            Box::new(|_| timed(1, || Ok(()))),
        )
    }

    fn read_tail(&self, frames: u64) -> Result<Sample<'static>> {
        let len_bytes = usize::try_from(frames)? * self.frame_len_bytes;
        let mut floor = ReadTail::of(&self.ambient.borrow().peer, len_bytes)?;
        Ok(Box::new(move |repeats| timed(repeats, || floor.read())))
    }
}
