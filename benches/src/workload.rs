//! The conversation that is measured: the same events for every peer, on every machine.
//!
//! Each event is a pure function of its number, so that nothing has to be kept and the content is no
//! source of noise. Edits come after the lines they are about, one after each stretch of lines, which is
//! also the order that suits the peers best: their indexes only grow at the end.

use ambient_engine::{AudioSpan, Change, Edit, Event, Line, Track};

/// The shortest text of a line.
const TEXT_LEN_MIN_BYTES: u64 = 80;
/// The longest text of a line.
const TEXT_LEN_MAX_BYTES: u64 = 200;
/// Lines for one edit: 5 % edits.
const LINES_PER_EDIT: u64 = 20;
/// Samples a second of the audio that lines point into.
const RATE_HZ: u32 = 48_000;

const WORDS: [&str; 24] = [
    "and", "the", "budget", "we", "should", "ask", "Crea", "about", "numbers", "for", "spring", "before",
    "anyone", "decides", "that", "second", "floor", "needs", "paint", "again", "this", "year", "really",
    "so",
];

/// A conversation without end, from which peers are filled event by event.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conversation {
    next_event: u64,
}

impl Conversation {
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
        let event = event(self.next_event);
        self.next_event += 1;
        event
    }
}

/// How many events hold the first `lines` lines and the edits that belong to them.
pub(crate) fn events_with_lines(lines: u64) -> u64 {
    lines + lines / LINES_PER_EDIT
}

fn event(number: u64) -> Event {
    let stretch = number / (LINES_PER_EDIT + 1);
    match number % (LINES_PER_EDIT + 1) {
        LINES_PER_EDIT => Event::Edit(edit(stretch)),
        within => Event::Line(line(stretch * LINES_PER_EDIT + within)),
    }
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

/// The edit behind stretch number `stretch`, about one of its lines.
fn edit(stretch: u64) -> Edit {
    let mut random = Random(!stretch);
    let line_number = stretch * LINES_PER_EDIT + random.below(LINES_PER_EDIT);
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
        let events = Conversation::default().next_events(usize::try_from(events_with_lines(2_000)).unwrap());
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
