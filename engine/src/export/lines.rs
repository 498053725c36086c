//! A session's lines by the clock, read from where they lie.
//!
//! Of each line only its place is kept, and its words are read again each time they are gone through: a document
//! can be made of any session without holding what was said in it.

use std::io;

use serde::Serialize;

use super::ExportError;
use crate::jsonl::JsonlReader;
use crate::session::native::is_damage;
use crate::view::{TranscriptLine, ViewError};
use crate::{FoldedView, Snapshot, Track};

/// Lines that follow each other in the log are read together, so many at most.
const RUN_LINES: usize = 4096;
/// Shorter runs are gathered, so many lines at once, rather than read one by one.
const RUN_LINES_MIN: usize = 16;
const GATHERED_LINES: usize = 512;
/// Lines of the log that are read at most to gather those.
const GATHERED_SPAN_LINES: u64 = 2048;

/// A line as it is written somewhere: lent, with the five keys that readers know.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SpokenLine<'text> {
    /// Where it was heard.
    pub track: Track,
    /// Start in milliseconds.
    pub start_ms: u64,
    /// End in milliseconds.
    pub end_ms: u64,
    /// Who spoke, when something has named them.
    pub speaker: Option<&'text str>,
    /// The words.
    pub text: &'text str,
}

impl<'text> From<&'text TranscriptLine> for SpokenLine<'text> {
    fn from(line: &'text TranscriptLine) -> Self {
        let TranscriptLine { track, start_ms, end_ms, speaker, text } = line;
        Self { track: *track, start_ms: *start_ms, end_ms: *end_ms, speaker: speaker.as_deref(), text }
    }
}

impl From<SpokenLine<'_>> for TranscriptLine {
    fn from(line: SpokenLine<'_>) -> Self {
        let SpokenLine { track, start_ms, end_ms, speaker, text } = line;
        Self { track, start_ms, end_ms, speaker: speaker.map(str::to_owned), text: text.to_owned() }
    }
}

/// Is handed one line after the other.
pub(super) type See<'a> = &'a mut dyn FnMut(SpokenLine<'_>) -> io::Result<()>;

/// The lines of a session by the clock; lines that begin together stay in the order they were written.
///
/// ```
/// use ambient_engine::export::LinesByClock;
/// use ambient_engine::{Track, view::TranscriptLine};
/// let line = |start_ms, text: &str| TranscriptLine {
///     track: Track::Room, start_ms, end_ms: start_ms + 900, speaker: None, text: text.into(),
/// };
/// let said = [line(2000, "morning"), line(0, "good")];
/// let mut words = Vec::new();
/// LinesByClock::of(&said).each(&mut |line| {
///     words.push(line.text.to_owned());
///     Ok(())
/// })?;
/// assert_eq!(words, ["good", "morning"]);
/// # Ok::<(), ambient_engine::export::ExportError>(())
/// ```
pub struct LinesByClock<'a> {
    source: Source<'a>,
    places: Vec<Place>,
}

enum Source<'a> {
    Log(Box<Snapshot<'a>>),
    Jsonl(&'a JsonlReader),
    Memory(&'a [TranscriptLine]),
}

/// Where a line is, and when.
#[derive(Clone, Copy)]
struct Place {
    index: u64,
    start_ms: u64,
}

impl<'a> LinesByClock<'a> {
    /// Lines that are in memory, in the order they were written.
    pub fn of(lines: &'a [TranscriptLine]) -> Self {
        let places = (0..).zip(lines).map(|(index, line)| Place { index, start_ms: line.start_ms });
        Self::new(Source::Memory(lines), places.collect())
    }

    pub(super) fn of_jsonl(reader: &'a JsonlReader) -> Self {
        let places = (0..).zip(reader.since(0, false));
        let places = places.map(|(index, (line, _))| Place { index, start_ms: line.start_ms }).collect();
        Self::new(Source::Jsonl(reader), places)
    }

    /// The lines of a log that are not hidden. A damaged one is left out and told in `warnings`.
    pub(crate) fn of_log(mut snapshot: Snapshot<'a>, warnings: &mut Vec<String>) -> Result<Self, ViewError> {
        let mut places = Vec::with_capacity(usize::try_from(snapshot.lines()).unwrap_or(0));
        let note = |places: &mut Vec<Place>, line: FoldedView<'_>| {
            if !line.is_hidden() {
                places.push(Place { index: line.index, start_ms: line.heard.start_ms });
            }
        };
        match snapshot.each(.., |line| note(&mut places, line)) {
            Err(error) if is_damage(&error) => {
                places.clear();
                for index in 0..snapshot.lines() {
                    match snapshot.each(index..=index, |line| note(&mut places, line)) {
                        Err(error) if is_damage(&error) => {
                            warnings.push(format!("line {index} is left out: {error}"));
                        }
                        seen => seen?,
                    }
                }
            }
            seen => seen?,
        }
        Ok(Self::new(Source::Log(Box::new(snapshot)), places))
    }

    fn new(source: Source<'a>, mut places: Vec<Place>) -> Self {
        places.sort_by_key(|place| place.start_ms);
        Self { source, places }
    }

    /// Hands each line to `see`, until that fails.
    ///
    /// # Errors
    /// A line cannot be read, or `see` failed.
    pub fn each(&mut self, see: &mut dyn FnMut(SpokenLine<'_>) -> io::Result<()>) -> Result<(), ExportError> {
        let Self { source, places } = self;
        match source {
            Source::Memory(lines) => {
                let lines: &[TranscriptLine] = lines;
                for line in places.iter().filter_map(|place| lines.get(usize::try_from(place.index).ok()?)) {
                    see(line.into())?;
                }
            }
            Source::Jsonl(reader) => {
                for place in places.iter() {
                    let index = usize::try_from(place.index).unwrap_or(usize::MAX);
                    if let Some((line, _)) = reader.since(index.min(reader.len()), false).next() {
                        see((&line).into())?;
                    }
                }
            }
            Source::Log(snapshot) => {
                let mut places = places.as_slice();
                while !places.is_empty() {
                    let run = run_length(places);
                    let done = if run >= RUN_LINES_MIN || run == places.len() {
                        see_run(snapshot, places, run, see)?;
                        run
                    } else {
                        see_gathered(snapshot, places, see)?
                    };
                    places = places.get(done..).unwrap_or_default();
                }
            }
        }
        Ok(())
    }
}

/// How many of `places` from the first on follow each other in the log.
fn run_length(places: &[Place]) -> usize {
    let follows = |two: &&[Place]| two[1].index == two[0].index + 1;
    1 + places.windows(2).take(RUN_LINES - 1).take_while(follows).count()
}

/// The first `run` of `places`, which follow each other in the log.
fn see_run(
    snapshot: &mut Snapshot<'_>,
    places: &[Place],
    run: usize,
    see: See<'_>,
) -> Result<(), ExportError> {
    let Some(first) = places.first().map(|place| place.index) else { return Ok(()) };
    let mut seen = Ok(());
    let lines = first..first + run as u64;
    snapshot.each(lines, |line| {
        if seen.is_ok() {
            seen = see(spoken(&line));
        }
    })?;
    Ok(seen?)
}

/// The first of `places`, which lie beside each other in the log and not in its order. How many those were.
fn see_gathered(snapshot: &mut Snapshot<'_>, places: &[Place], see: See<'_>) -> Result<usize, ExportError> {
    let (mut low, mut high) = (u64::MAX, 0);
    let mut count = 0;
    for place in places.iter().take(GATHERED_LINES) {
        let (lower, higher) = (low.min(place.index), high.max(place.index));
        if count > 0 && higher - lower >= GATHERED_SPAN_LINES {
            break;
        }
        (low, high, count) = (lower, higher, count + 1);
    }
    let mut gathered: Vec<Option<TranscriptLine>> = Vec::new();
    let mut wanted: Vec<u64> = places.iter().take(count).map(|place| place.index).collect();
    wanted.sort_unstable();
    let mut from = 0;
    while let Some(first) = wanted.get(from).copied() {
        // A stretch without those that are left out: one of them may be damaged.
        let mut len = 1;
        while wanted.get(from + len).is_some_and(|next| *next == first + len as u64) {
            len += 1;
        }
        let slot = |index: u64| usize::try_from(index - low).unwrap_or(usize::MAX);
        gathered.resize_with(slot(high) + 1, || None);
        snapshot.each(first..first + len as u64, |line| {
            if let Some(place) = gathered.get_mut(slot(line.index)) {
                *place = Some(line.into());
            }
        })?;
        from += len;
    }
    for place in places.iter().take(count) {
        let slot = usize::try_from(place.index - low).unwrap_or(usize::MAX);
        if let Some(Some(line)) = gathered.get(slot) {
            see(line.into())?;
        }
    }
    Ok(count)
}

fn spoken<'text>(line: &'text FoldedView<'_>) -> SpokenLine<'text> {
    SpokenLine {
        track: line.heard.track,
        start_ms: line.heard.start_ms,
        end_ms: line.heard.end_ms,
        speaker: line.speaker,
        text: &line.text,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Change, Edit, Event, Line, Log, Mapping, Options, Reader};

    fn heard(start_ms: u64, text: String) -> Event {
        let (track, end_ms) = (Track::Room, start_ms + 10);
        Event::Line(Line {
            track,
            start_ms,
            end_ms,
            text,
            confidence: 0.5,
            language: None,
            generation: 0,
            audio: None,
            overlap: false,
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        /// From the log one reads what is in memory, in whatever order it was written and whatever is hidden.
        #[test]
        fn a_log_gives_its_lines_by_the_clock(
            starts in proptest::collection::vec(0_u64..5_000, 1..3_000),
            hidden in proptest::collection::vec(0_u64..3_000, 0..20),
            near: bool,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let mut log = Log::create(folder.path(), Options::default()).unwrap();
            let starts: Vec<u64> = (0..).zip(starts).map(|(n, start)| if near { n * 100 + start % 250 } else { start }).collect();
            let lines: Vec<_> = (0..).zip(&starts).map(|(n, start)| heard(*start, format!("line {n}"))).collect();
            log.append(&lines).unwrap();
            let hidden: Vec<u64> = hidden.into_iter().filter(|line| *line < starts.len() as u64).collect();
            for line in &hidden {
                let change = Change::Hide { reason: "private".into() };
                log.append(&[Event::Edit(Edit { line: *line, by: "user".into(), change })]).unwrap();
            }
            let mut expected: Vec<_> = (0_u64..).zip(starts).filter(|(n, _)| !hidden.contains(n)).collect();
            expected.sort_by_key(|(_, start)| *start);
            let mut reader = Reader::open(folder.path(), Mapping::On).unwrap();
            let mut lines = LinesByClock::of_log(reader.snapshot().unwrap(), &mut Vec::new()).unwrap();
            for _ in 0..2 {
                let mut seen = Vec::new();
                lines
                    .each(&mut |line| {
                        seen.push((line.text.to_owned(), line.start_ms));
                        Ok(())
                    })
                    .unwrap();
                let expected: Vec<_> = expected.iter().map(|(n, start)| (format!("line {n}"), *start)).collect();
                prop_assert_eq!(seen, expected);
            }
        }
    }

    #[test]
    fn one_who_has_seen_enough_ends_it() {
        let lines = [0, 1, 2].map(|start_ms| TranscriptLine {
            track: Track::Room,
            start_ms,
            end_ms: 9,
            speaker: None,
            text: String::new(),
        });
        let mut count = 0;
        let mut see = |_: SpokenLine<'_>| {
            count += 1;
            Err(io::ErrorKind::BrokenPipe.into())
        };
        assert!(matches!(LinesByClock::of(&lines).each(&mut see), Err(ExportError::Write(_))));
        assert_eq!(count, 1);
    }
}
