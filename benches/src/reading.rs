//! The cases that read: peers with the same conversation.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use ambient_engine::{Event, FoldedLine};
use anyhow::{Context, Result, ensure};

use crate::floor::{ReadAll, Tail, atomic_load};
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

    /// Times the peer's second way to ask for news.
    fn sample_other_poll(&mut self, repeats: u32) -> Result<Duration>;

    /// A digest of its folded lines; makes every line old news.
    fn digest(&mut self) -> Result<u64>;
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

impl<P: Peer> Store<P> {
    fn fill(directory: &Path, workload: Workload) -> Result<Self> {
        std::fs::create_dir_all(directory)?;
        let (mut writer, reader) = P::create(directory, Sync::Os)?;
        let conversation = fill(workload, |events| writer.append(events))?;
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

    fn sample_other_poll(&mut self, repeats: u32) -> Result<Duration> {
        timed(repeats, || self.reader.has_news_otherwise())
    }

    fn digest(&mut self) -> Result<u64> {
        let mut hasher = DefaultHasher::new();
        for line in self.reader.poll()? {
            hash(&line, &mut hasher);
        }
        self.reader.has_news()?;
        if P::TELLS_CHANGES {
            self.reader.changes()?;
        }
        Ok(hasher.finish())
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
    /// The subject that its second way to ask for news is shown as.
    other_poll: Option<Subject>,
    store: RefCell<Box<dyn Shelved>>,
}

/// Which of the cases are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Those of the figures to be reached, and their peers.
    Quick,
    /// All that can be done in reasonable time.
    Full,
    /// The engine's poll alone: for a length that it takes too long to fill more stores with.
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
                Subject::Ambient => shown::<Ambient>(&place, workload, subject),
                Subject::Sqlite => shown::<Sqlite>(&place, workload, subject),
                Subject::Lmdb => shown::<Lmdb>(&place, workload, subject),
                Subject::Redb => shown::<Redb>(&place, workload, subject),
                Subject::Fjall => shown::<Fjall>(&place, workload, subject),
                Subject::Jsonl => shown::<Jsonl>(&place, workload, subject),
                _ => shown::<JsonlCursor>(&place, workload, subject),
            };
            stores.push(shown.with_context(|| format!("filling {subject:?}"))?);
        }
        let mut digests = BTreeMap::new();
        for shown in stores.iter().filter(|_| workload.lines <= COMPARED_LINES_MAX) {
            let digest = shown.store.borrow_mut().digest()?;
            digests.insert(digest, shown.subject);
        }
        ensure!(digests.len() <= 1, "peers give other folded lines than each other: {:?}", digests.values());
        let len_bytes = Ambient::len_bytes(&ambient_directory)?;
        let frame_len_bytes = usize::try_from(len_bytes / workload.event_count().max(1))?;
        Ok(Self { workload, depth, stores, ambient_directory, frame_len_bytes })
    }

    /// All cases for one operation.
    pub(crate) fn cases(&self, reading: Reading) -> Result<Vec<Case<'_>>> {
        let is_of_one_line = self.workload.edits == Edits::OfOneLine;
        if (self.depth == Depth::PollAlone && reading != Reading::NoNews)
            || is_of_one_line != (reading == Reading::HotLine)
        {
            return Ok(Vec::new());
        }
        let mut cases = Vec::new();
        for shown in self.stores.iter().filter(|shown| self.is_measured(shown, reading)) {
            cases.push(self.case(reading, shown.subject, move |repeats| {
                shown.store.borrow_mut().sample(reading, repeats)
            }));
            if let (Reading::NoNews, Some(subject)) = (reading, shown.other_poll) {
                cases.push(self.case(reading, subject, move |repeats| {
                    shown.store.borrow_mut().sample_other_poll(repeats)
                }));
            }
        }
        let floors = self.floors(reading)?;
        cases.extend(floors.into_iter().map(|(floor, sample)| {
            let key = self.key(reading, Subject::Floor(floor));
            match floor {
                Floor::Clock => Case::single(key, GROWTH_MAX, sample),
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
                vec![(Floor::Pread, read(tail(1)?)), (Floor::Clock, clock)]
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

fn shown<P: Peer + 'static>(directory: &Path, workload: Workload, subject: Subject) -> Result<Shown> {
    let other_poll = P::HAS_OTHER_POLL.then_some(match subject {
        Subject::Lmdb => Subject::LmdbLastTransaction,
        _ => Subject::AmbientSnapshot,
    });
    let store = RefCell::new(Box::new(Store::<P>::fill(directory, workload)?) as Box<dyn Shelved>);
    Ok(Shown { subject, tells_changes: P::TELLS_CHANGES, other_poll, store })
}
