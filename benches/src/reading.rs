//! The cases that read: peers with the same conversation.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use ambient_engine::{Event, FoldedLine};
use anyhow::{Context, Result, ensure};

use crate::floor::{Appended, ReadAll, Tail, atomic_load};
use crate::key::{Floor, Key, Operation, Reading, Subject};
use crate::measure::{Case, Sample, timed};
use crate::peer::{Ambient, Appends, Fjall, Jsonl, JsonlCursor, Lmdb, Peer, Reads, Redb, Sqlite, Sync};
use crate::workload::{Conversation, Edits, HOT_LINE, Workload, naming, scattered};

/// How many events go into a batch while a store is filled.
const FILL_BATCH: usize = 1_000;
/// Batches that are made ahead while a store takes one in.
const FILL_AHEAD: usize = 8;
/// An operation that needs a new line each time may lengthen its conversation by this part in a round.
const GROWTH_PART: u64 = 25;
const GROWTH_MAX: usize = 400;
/// Up to how many lines a whole conversation is folded by every peer to see that they agree.
const COMPARED_LINES_MAX: u64 = 1_000_000;

/// What a store can be asked to do, whatever peer it is of.
trait Shelved {
    /// Times `reading`, which a new line comes before if that is what it is about.
    fn sample(&mut self, reading: Reading, repeats: u32) -> Result<Duration>;

    /// The same in the peer's second way.
    fn sample_otherwise(&mut self, reading: Reading, repeats: u32) -> Result<Duration>;

    /// A digest of its folded lines; makes every line old news.
    fn digest(&mut self) -> Result<u64>;

    /// Makes every line old news.
    fn catch_up(&mut self) -> Result<()>;
}

/// A peer, and the conversation it has been filled from.
struct Store<P: Peer> {
    writer: P::Writer,
    reader: P::Reader,
    conversation: Conversation,
    scattered: Vec<u64>,
}

/// Makes a conversation on one thread and hands it to `append` on another, which takes half the time.
pub(crate) fn fill(
    workload: Workload,
    mut append: impl FnMut(&[Event]) -> Result<()>,
) -> Result<Conversation> {
    let mut conversation = Conversation::with(workload.edits);
    let mut left = usize::try_from(workload.event_count())?;
    let (sender, receiver) = mpsc::sync_channel(FILL_AHEAD);
    std::thread::scope(|scope| {
        let maker = scope.spawn(move || {
            while left > 0 {
                let batch = left.min(FILL_BATCH);
                if sender.send(conversation.next_events(batch)).is_err() {
                    break;
                }
                left -= batch;
            }
            conversation
        });
        receiver.iter().try_for_each(|events| append(&events))?;
        maker.join().map_err(|_| anyhow::anyhow!("the thread that makes events died"))
    })
}

/// Appends the first batch of a conversation again and again: for a store of which nothing is read but
/// whether there is news.
fn fill_with_one_batch(
    workload: Workload,
    mut append: impl FnMut(&[Event]) -> Result<()>,
) -> Result<Conversation> {
    let mut conversation = Conversation::with(workload.edits);
    let batch = conversation.next_events(FILL_BATCH);
    let mut left = usize::try_from(workload.event_count())?;
    while left > 0 {
        let events = &batch[..left.min(FILL_BATCH)];
        append(events)?;
        left -= events.len();
    }
    Ok(conversation)
}

impl<P: Peer> Store<P> {
    fn fill(directory: &Path, workload: Workload, depth: Depth) -> Result<Self> {
        std::fs::create_dir_all(directory)?;
        let (mut writer, reader) = P::create(directory, Sync::Os)?;
        let conversation = if depth == Depth::PollAlone {
            fill_with_one_batch(workload, |events| writer.append(events))?
        } else {
            fill(workload, |events| writer.append(events))?
        };
        if P::TELLS_CHANGES {
            writer.index_changes()?;
        }
        Ok(Self { writer, reader, conversation, scattered: scattered(workload.lines) })
    }

    /// Appends what `reading` is to find, one time in a row each.
    fn prepare(&mut self, reading: Reading) -> Result<()> {
        match reading {
            Reading::OneNewLine | Reading::Last100AfterNews => {
                self.writer.append(&self.conversation.next_line())
            }
            Reading::Changes => {
                let mut events = self.conversation.next_line();
                events.push(naming(self.scattered.first().copied().unwrap_or_default()));
                self.scattered.rotate_left(1);
                self.writer.append(&events)
            }
            _ => Ok(()),
        }
    }
}

impl<P: Peer> Shelved for Store<P> {
    fn sample(&mut self, reading: Reading, repeats: u32) -> Result<Duration> {
        self.prepare(reading)?;
        let reader = &mut self.reader;
        match reading {
            Reading::NoNews => timed(repeats, || reader.has_news()),
            Reading::OneNewLine => timed(repeats, || reader.poll()),
            Reading::Last100 | Reading::Last100AfterNews => timed(repeats, || reader.last(100)),
            Reading::Random100 => timed(repeats, || reader.at(&self.scattered)),
            Reading::HotLine => timed(repeats, || reader.at(&[HOT_LINE])),
            Reading::Changes => timed(repeats, || reader.changes()),
            Reading::Verbatim => timed(repeats, || reader.verbatim()),
            Reading::FullFold => timed(repeats, || reader.fold_all()),
        }
    }

    fn sample_otherwise(&mut self, reading: Reading, repeats: u32) -> Result<Duration> {
        self.prepare(reading)?;
        timed(repeats, || self.reader.otherwise(reading))
    }

    fn digest(&mut self) -> Result<u64> {
        let mut hasher = DefaultHasher::new();
        for line in self.reader.poll()? {
            hash(&line, &mut hasher);
        }
        self.catch_up()?;
        Ok(hasher.finish())
    }

    fn catch_up(&mut self) -> Result<()> {
        self.reader.poll()?;
        self.reader.has_news()?;
        if P::TELLS_CHANGES {
            self.reader.changes()?;
        }
        Ok(())
    }
}

/// What of a folded line must be equal in all peers.
fn hash(line: &FoldedLine, hasher: &mut impl Hasher) {
    let heard = &line.heard;
    (line.index, line.text(), &line.speaker, &line.hidden, &heard.text).hash(hasher);
    (heard.track, heard.start_ms, heard.end_ms, heard.confidence.to_bits()).hash(hasher);
    (&heard.language, heard.generation, heard.overlap).hash(hasher);
    heard.audio.map(|audio| (audio.start_sample, audio.end_sample, audio.rate_hz)).hash(hasher);
}

/// A store on the shelf.
struct Shown {
    subject: Subject,
    tells_changes: bool,
    /// What it does in a second way, and the subject that this is shown as.
    second_ways: &'static [(Reading, Subject)],
    store: RefCell<Box<dyn Shelved>>,
}

/// Which of the cases are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Those of the figures to be reached, and their peers.
    Quick,
    /// All that can be done in reasonable time.
    Full,
    /// The polls alone, of the peers that do not read everything again: for a length that takes too long
    /// otherwise.
    Polls,
    /// The engine's no-news poll alone.
    PollAlone,
}

/// Peers with the same conversation.
pub(crate) struct Shelf {
    workload: Workload,
    depth: Depth,
    stores: Vec<Shown>,
    ambient_directory: PathBuf,
    /// How long a frame is, on average.
    frame_len_bytes: usize,
}

impl Shelf {
    /// Fills the stores and makes sure that they give the same lines.
    pub(crate) fn fill(directory: &Path, workload: Workload, depth: Depth) -> Result<Self> {
        let place = |subject: Subject| directory.join(format!("{subject:?}"));
        let ambient_directory = place(Subject::Ambient);
        let mut stores = Vec::new();
        for subject in subjects(workload, depth) {
            let place = place(subject);
            let shown = match subject {
                Subject::Ambient => shown::<Ambient>(&place, workload, subject, depth),
                Subject::Sqlite => shown::<Sqlite>(&place, workload, subject, depth),
                Subject::Lmdb => shown::<Lmdb>(&place, workload, subject, depth),
                Subject::Redb => shown::<Redb>(&place, workload, subject, depth),
                Subject::Fjall => shown::<Fjall>(&place, workload, subject, depth),
                Subject::Jsonl => shown::<Jsonl>(&place, workload, subject, depth),
                _ => shown::<JsonlCursor>(&place, workload, subject, depth),
            };
            stores.push(shown.with_context(|| format!("filling {subject:?}"))?);
        }
        let mut digests = BTreeMap::new();
        for shown in stores.iter().filter(|_| workload.lines <= COMPARED_LINES_MAX) {
            let digest = shown.store.borrow_mut().digest()?;
            digests.insert(digest, shown.subject);
        }
        if depth == Depth::Polls {
            stores.iter().try_for_each(|shown| shown.store.borrow_mut().catch_up())?;
        }
        ensure!(digests.len() <= 1, "peers give other folded lines than each other: {:?}", digests.values());
        let len_bytes = Ambient::len_bytes(&ambient_directory)?;
        let frame_len_bytes = usize::try_from(len_bytes / workload.event_count().max(1))?;
        Ok(Self { workload, depth, stores, ambient_directory, frame_len_bytes })
    }

    /// All cases for one operation.
    pub(crate) fn cases(&self, reading: Reading) -> Result<Vec<Case<'_>>> {
        let is_of_one_line = self.workload.edits == Edits::OfOneLine;
        let is_in_reach = match self.depth {
            Depth::PollAlone => reading == Reading::NoNews,
            Depth::Polls => matches!(reading, Reading::NoNews | Reading::OneNewLine | Reading::Last100),
            Depth::Quick | Depth::Full => true,
        };
        if !is_in_reach || is_of_one_line != (reading == Reading::HotLine) {
            return Ok(Vec::new());
        }
        let mut cases = Vec::new();
        for shown in self.stores.iter().filter(|shown| self.is_measured(shown, reading)) {
            cases.push(self.case(reading, shown.subject, move |repeats| {
                shown.store.borrow_mut().sample(reading, repeats)
            }));
            for (_, subject) in shown.second_ways.iter().filter(|(way_of, _)| *way_of == reading) {
                cases.push(self.case(reading, *subject, move |repeats| {
                    shown.store.borrow_mut().sample_otherwise(reading, repeats)
                }));
            }
        }
        let floors = self.floors(reading)?;
        cases.extend(floors.into_iter().map(|(floor, sample)| {
            let key = self.key(reading, Subject::Floor(floor));
            match floor {
                Floor::Clock | Floor::PreadAfterAppend => Case::single(key, GROWTH_MAX, sample),
                _ => Case::repeatable(key, sample),
            }
        }));
        Ok(cases)
    }

    /// Whether a store is asked for `reading`: not for what it cannot tell, nor for what would take minutes.
    fn is_measured(&self, shown: &Shown, reading: Reading) -> bool {
        let can_tell = reading != Reading::Changes || shown.tells_changes;
        // What is read again as a whole costs the same for every reading.
        let is_worth_it = shown.subject != Subject::Jsonl
            || reading == Reading::FullFold
            || (self.workload.lines < 1_000_000 && reading != Reading::Last100AfterNews)
            || (self.depth == Depth::Full && reading == Reading::NoNews);
        can_tell && is_worth_it
    }

    fn key(&self, reading: Reading, subject: Subject) -> Key {
        Key { operation: Operation::Read(reading), workload: Some(self.workload), subject }
    }

    fn case<'store>(
        &self,
        reading: Reading,
        subject: Subject,
        sample: impl FnMut(u32) -> Result<Duration> + 'store,
    ) -> Case<'store> {
        let key = self.key(reading, subject);
        let growth = usize::try_from(self.workload.lines / GROWTH_PART).unwrap_or(GROWTH_MAX).min(GROWTH_MAX);
        let case = if reading.is_repeatable() {
            Case::repeatable(key, Box::new(sample))
        } else {
            Case::single(key, growth, Box::new(sample))
        };
        let is_slow =
            matches!(reading, Reading::FullFold | Reading::Verbatim) && self.workload.lines >= 1_000_000;
        if is_slow && self.depth == Depth::Quick { case.in_rounds(1) } else { case }
    }

    fn floors(&self, reading: Reading) -> Result<Vec<(Floor, Sample<'static>)>> {
        let directory = &self.ambient_directory;
        let tail = |lines| Tail::of(directory, usize::try_from(lines).unwrap_or(0) * self.frame_len_bytes);
        Ok(match reading {
            Reading::NoNews => {
                vec![(Floor::AtomicLoad, Box::new(|repeats| timed(repeats, || Ok(atomic_load()))))]
            }
            Reading::OneNewLine => {
                let clock: Sample<'static> = Box::new(|_| timed(1, || Ok(())));
                let mut appended = Appended::create(&directory.with_extension("floor"))?;
                let after_append: Sample<'static> = Box::new(move |_| appended.read());
                vec![
                    (Floor::Pread, read(tail(1)?)),
                    (Floor::PreadAfterAppend, after_append),
                    (Floor::Clock, clock),
                ]
            }
            Reading::Last100 | Reading::Last100AfterNews => {
                let events = Workload { lines: 100, ..self.workload }.event_count();
                let (mut copied, summed) = (tail(events)?, tail(events)?);
                vec![
                    (Floor::Pread, read(tail(events)?)),
                    (Floor::Copy, Box::new(move |repeats| timed(repeats, || Ok(copied.copy())))),
                    (Floor::Crc, Box::new(move |repeats| timed(repeats, || Ok(summed.crc())))),
                ]
            }
            Reading::Verbatim | Reading::FullFold => {
                let mut all = ReadAll::of(directory)?;
                vec![(Floor::Pread, Box::new(move |repeats| timed(repeats, || all.read())))]
            }
            Reading::Random100 | Reading::HotLine | Reading::Changes => Vec::new(),
        })
    }
}

fn read(mut tail: Tail) -> Sample<'static> {
    Box::new(move |repeats| timed(repeats, || tail.read()))
}

/// Who is measured on a conversation.
fn subjects(workload: Workload, depth: Depth) -> Vec<Subject> {
    let mut subjects = vec![Subject::Ambient];
    if depth == Depth::PollAlone {
        return subjects;
    }
    subjects.extend([Subject::Sqlite, Subject::Lmdb]);
    if workload.lines <= 1_000_000 {
        subjects.push(Subject::Jsonl);
        if depth == Depth::Full {
            subjects.extend([Subject::JsonlCursor, Subject::Redb, Subject::Fjall]);
        }
    }
    subjects
}

fn shown<P: Peer + 'static>(
    directory: &Path,
    workload: Workload,
    subject: Subject,
    depth: Depth,
) -> Result<Shown> {
    let store = RefCell::new(Box::new(Store::<P>::fill(directory, workload, depth)?) as Box<dyn Shelved>);
    Ok(Shown { subject, tells_changes: P::TELLS_CHANGES, second_ways: P::SECOND_WAYS, store })
}
