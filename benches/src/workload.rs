//! The conversation that is measured: the same events for every peer, on every machine.
//!
//! Each event is a pure function of its number, so that nothing has to be kept and the content is no
//! source of noise. Edits come after the lines they are about, one after each stretch of lines, which is
//! also the order that suits the peers best: their indexes only grow at the end.

use std::fmt;

use ambient_engine::{AudioSpan, Change, Edit, Event, Line, Track};

/// The shortest text of a line.
const TEXT_LEN_MIN_BYTES: u64 = 80;
/// The longest text of a line.
const TEXT_LEN_MAX_BYTES: u64 = 200;
/// The line that every edit is about where one line is hot.
pub(crate) const HOT_LINE: u64 = 0;
/// Samples a second of the audio that lines point into.
const RATE_HZ: u32 = 48_000;

const WORDS: [&str; 24] = [
    "and", "the", "budget", "we", "should", "ask", "Crea", "about", "numbers", "for", "spring", "before",
    "anyone", "decides", "that", "second", "floor", "needs", "paint", "again", "this", "year", "really",
    "so",
];

/// How often lines are edited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Edits {
    /// Never.
    Never,
    /// One edit after every 20 lines, about one of them: 5 %.
    #[default]
    OneInTwenty,
    /// One edit after every 2 lines, about one of them: 50 %.
    OneInTwo,
    /// One edit after every line, all about [`HOT_LINE`].
    OfOneLine,
}

impl Edits {
    fn lines_per_edit(self) -> Option<u64> {
        match self {
            Self::Never => None,
            Self::OneInTwenty => Some(20),
            Self::OneInTwo => Some(2),
            Self::OfOneLine => Some(1),
        }
    }
}

/// A conversation of a length, with its edits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Workload {
    pub(crate) lines: u64,
    pub(crate) edits: Edits,
}

impl Workload {
    /// How many events hold the lines and the edits that belong to them.
    pub(crate) fn event_count(self) -> u64 {
        self.lines + self.edits.lines_per_edit().map_or(0, |lines| self.lines / lines)
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lines, edits } = self;
        match edits {
            Edits::Never => write!(formatter, "{lines}, no edits"),
            Edits::OneInTwenty => write!(formatter, "{lines}"),
            Edits::OneInTwo => write!(formatter, "{lines}, 50 % edits"),
            Edits::OfOneLine => write!(formatter, "{lines}, {lines} edits of one line"),
        }
    }
}

/// A conversation without end, from which peers are filled event by event.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conversation {
    edits: Edits,
    next_event: u64,
}

impl Conversation {
    /// A conversation that is edited in this way.
    pub(crate) fn with(edits: Edits) -> Self {
        Self { edits, next_event: 0 }
    }

    /// The next `count` events.
    pub(crate) fn next_events(&mut self, count: usize) -> Vec<Event> {
        (0..count).map(|_| self.next_event()).collect()
    }

    /// The events up to and including the next line: that line, at times behind an edit of an earlier one.
    pub(crate) fn next_line(&mut self) -> Vec<Event> {
        let mut events = vec![self.next_event()];
        while !matches!(events.last(), Some(Event::Line(_))) {
            events.push(self.next_event());
        }
        events
    }

    fn next_event(&mut self) -> Event {
        let event = event(self.next_event, self.edits);
        self.next_event += 1;
        event
    }
}

/// A person names who spoke line `number`.
pub(crate) fn naming(number: u64) -> Event {
    let change = Change::Speaker { name: "Wren".to_owned() };
    Event::Edit(Edit { line: number, by: Edit::PERSON.to_owned(), change })
}

/// A hundred line numbers below `lines`, the same each time.
pub(crate) fn scattered(lines: u64) -> Vec<u64> {
    let mut random = Random(lines);
    (0..100).map(|_| random.below(lines.max(1))).collect()
}

fn event(number: u64, edits: Edits) -> Event {
    let Some(lines_per_edit) = edits.lines_per_edit() else { return Event::Line(line(number)) };
    let stretch = number / (lines_per_edit + 1);
    let within = number % (lines_per_edit + 1);
    if within < lines_per_edit {
        return Event::Line(line(stretch * lines_per_edit + within));
    }
    let mut random = Random(!stretch);
    let within = random.below(lines_per_edit);
    let line_number = if edits == Edits::OfOneLine { HOT_LINE } else { stretch * lines_per_edit + within };
    Event::Edit(edit(line_number, &mut random))
}

fn line(number: u64) -> Line {
    let mut random = Random(number);
    let start_ms = number * 2_500;
    let end_ms = start_ms + 1_000 + random.below(1_400);
    let samples_per_ms = u64::from(RATE_HZ / 1_000);
    Line {
        track: if random.below(2) == 0 { Track::Room } else { Track::Call },
        start_ms,
        end_ms,
        text: text(&mut random),
        // A quarter is exact in every notation, so that no peer can differ by rounding.
        confidence: if random.below(4) == 0 { 0.5 } else { 0.75 },
        language: Some("en".to_owned()),
        generation: 0,
        audio: Some(AudioSpan {
            start_sample: start_ms * samples_per_ms,
            end_sample: end_ms * samples_per_ms,
            rate_hz: RATE_HZ,
        }),
        overlap: random.below(8) == 0,
    }
}

fn text(random: &mut Random) -> String {
    let wanted = TEXT_LEN_MIN_BYTES + random.below(TEXT_LEN_MAX_BYTES - TEXT_LEN_MIN_BYTES + 1);
    let wanted = usize::try_from(wanted).unwrap_or_default();
    let mut text = String::with_capacity(wanted + 8);
    while text.len() < wanted {
        text.push_str(random.word());
        text.push(' ');
    }
    // The words are ASCII, so that every byte is a boundary.
    text.truncate(wanted);
    text
}

/// Half of the edits are repairs, four in ten names, one in ten hides.
fn edit(line_number: u64, random: &mut Random) -> Edit {
    let (by, change) = match random.below(10) {
        0..5 => {
            let heard = line(line_number).text;
            let from = heard.split(' ').next().unwrap_or_default().to_owned();
            (Edit::PERSON, Change::Repair { from, to: "Priya".to_owned() })
        }
        5..7 => ("diarize", Change::Speaker { name: "Speaker 2".to_owned() }),
        7..9 => (Edit::PERSON, Change::Speaker { name: "Priya".to_owned() }),
        _ => ("bleed", Change::Hide { reason: "heard on both tracks".to_owned() }),
    };
    Edit { line: line_number, by: by.to_owned(), change }
}

/// The generator splitmix64: small, and the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn word(&mut self) -> &'static str {
        let choice = usize::try_from(self.below(WORDS.len() as u64)).unwrap_or_default();
        WORDS[choice]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_event_in_twenty_lines_is_an_edit_of_one_of_them() {
        let workload = Workload { lines: 2_000, edits: Edits::OneInTwenty };
        let events = Conversation::default().next_events(usize::try_from(workload.event_count()).unwrap());
        let mut lines = 0;
        let mut edits = 0;
        for event in &events {
            match event {
                Event::Line(line) => {
                    lines += 1;
                    assert!((80..=200).contains(&line.text.len()), "{:?}", line.text);
                }
                Event::Edit(edit) => {
                    edits += 1;
                    assert!((lines - 20..lines).contains(&edit.line));
                }
                other => panic!("not part of the workload: {other:?}"),
            }
        }
        assert_eq!((lines, edits), (2_000, 100));
    }

    #[test]
    fn as_many_edits_come_as_were_asked_for_and_each_has_its_line() {
        for (edits, expected) in
            [(Edits::Never, 0), (Edits::OneInTwo, 50), (Edits::OneInTwenty, 5), (Edits::OfOneLine, 100)]
        {
            let count = Workload { lines: 100, edits }.event_count();
            let events = Conversation::with(edits).next_events(usize::try_from(count).unwrap());
            let mut lines = 0;
            let mut edited = Vec::new();
            for event in &events {
                match event {
                    Event::Edit(edit) => {
                        assert!(edit.line < lines, "an edit comes after its line");
                        edited.push(edit.line);
                    }
                    _ => lines += 1,
                }
            }
            assert_eq!((lines, edited.len()), (100, expected), "{edits:?}");
            assert!(edits != Edits::OfOneLine || edited.iter().all(|line| *line == HOT_LINE));
        }
    }

    #[test]
    fn the_same_events_come_every_time_and_in_any_portions() {
        let mut whole = Conversation::default();
        let mut parts = Conversation::default();
        let mut from_parts = parts.next_events(20);
        let behind_an_edit = parts.next_line();
        assert_eq!(behind_an_edit.len(), 2);
        from_parts.extend(behind_an_edit);
        assert_eq!(whole.next_events(22), from_parts);
    }
}
