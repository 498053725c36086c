//! Room lines that are the loudspeaker heard by the microphone.
//!
//! With loudspeakers the other side is heard twice: clean on the call track, muffled on the room track.
//! A room line is taken for such a copy when a call line was spoken at the same time and shares most of
//! its words. At least three words must be compared: a "yeah" from both sides is two people agreeing.

use std::collections::HashSet;

use crate::Track;
use crate::view::TranscriptLine;

/// With fewer words nothing can be said.
const COMPARED_WORDS_MIN: usize = 3;

/// Which of `lines` are kept, one answer each.
///
/// ```
/// use ambient_engine::Track;
/// use ambient_engine::export::bleed;
/// use ambient_engine::view::TranscriptLine;
/// let line = |track, text: &str| {
///     TranscriptLine { track, start_ms: 0, end_ms: 900, speaker: None, text: text.to_owned() }
/// };
/// let lines = [line(Track::Call, "That is a good idea."), line(Track::Room, "that is good idea")];
/// assert_eq!(bleed::kept(&lines), [true, false]);
/// ```
pub fn kept(lines: &[TranscriptLine]) -> Vec<bool> {
    let calls = CallLines::new(lines);
    lines.iter().map(|line| line.track != Track::Room || !calls.hold_copy_of(line)).collect()
}

struct CallLine {
    start_ms: u64,
    end_ms: u64,
    /// The latest end of this line and all before it.
    latest_end_ms: u64,
    words: Vec<String>,
}

/// The lines of the call by their start.
struct CallLines(Vec<CallLine>);

impl CallLines {
    fn new(lines: &[TranscriptLine]) -> Self {
        let mut calls: Vec<_> = lines
            .iter()
            .filter(|line| line.track == Track::Call)
            .map(|line| CallLine {
                start_ms: line.start_ms,
                end_ms: line.end_ms,
                latest_end_ms: 0,
                words: words(&line.text),
            })
            .collect();
        calls.sort_by_key(|call| call.start_ms);
        let mut latest_end_ms = 0;
        for call in &mut calls {
            latest_end_ms = call.end_ms.max(latest_end_ms);
            call.latest_end_ms = latest_end_ms;
        }
        Self(calls)
    }

    fn hold_copy_of(&self, room: &TranscriptLine) -> bool {
        let begun = self.0.partition_point(|call| call.start_ms < room.end_ms);
        let mut overlapping = self.0[..begun]
            .iter()
            .rev()
            .take_while(|call| call.latest_end_ms > room.start_ms)
            .filter(|call| overlaps_by_half(room, call))
            .peekable();
        if overlapping.peek().is_none() {
            return false;
        }
        let room_words = words(&room.text);
        overlapping.any(|call| is_mostly_contained(&room_words, &call.words))
    }
}

/// Whether the two share at least half of the shorter one's time.
fn overlaps_by_half(room: &TranscriptLine, call: &CallLine) -> bool {
    let shorter_ms = room.end_ms.saturating_sub(room.start_ms).min(call.end_ms.saturating_sub(call.start_ms));
    let shared_ms = room.end_ms.min(call.end_ms).saturating_sub(room.start_ms.max(call.start_ms));
    shorter_ms > 0 && shared_ms >= shorter_ms.div_ceil(2)
}

fn words(text: &str) -> Vec<String> {
    let parts = text.split(|character: char| !character.is_alphanumeric());
    parts.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

/// Whether at least six tenths of the shorter list's words are in the longer one; the room's when they
/// are as long.
fn is_mostly_contained(room: &[String], call: &[String]) -> bool {
    let (shorter, longer) = if call.len() < room.len() { (call, room) } else { (room, call) };
    if shorter.len() < COMPARED_WORDS_MIN {
        return false;
    }
    let known: HashSet<&String> = longer.iter().collect();
    let shared = shorter.iter().filter(|word| known.contains(word)).count();
    shared * 10 >= shorter.len() * 6
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(track: Track, start_ms: u64, end_ms: u64, text: &str) -> TranscriptLine {
        TranscriptLine { track, start_ms, end_ms, speaker: None, text: text.to_owned() }
    }

    fn keeps_room(room: (u64, u64, &str), call: (u64, u64, &str)) -> bool {
        let lines = [line(Track::Room, room.0, room.1, room.2), line(Track::Call, call.0, call.1, call.2)];
        let kept = kept(&lines);
        assert!(kept[1], "a call line is never dropped");
        kept[0]
    }

    #[test]
    fn the_same_words_at_the_same_time_are_a_copy() {
        let call = (60, 9580, "So the incident began with a retry-storm, gone by noon.");
        assert!(!keeps_room((90, 9480, "so the incident began with a retry storm gone by noon"), call));
    }

    #[test]
    fn other_words_or_another_time_are_not() {
        let call = (60, 9580, "the incident began with a retry storm");
        assert!(keeps_room((90, 9480, "shall we order lunch for everybody now"), call));
        assert!(keeps_room((56_060, 65_580, "the incident began with a retry storm"), call));
        assert!(
            keeps_room((9000, 18_000, "the incident began with a retry storm"), call),
            "too little overlap"
        );
    }

    #[test]
    fn two_people_may_agree_at_once() {
        assert!(keeps_room((0, 500, "Yeah."), (100, 600, "yeah")));
        assert!(keeps_room((0, 900, "Oh yeah."), (100, 600, "Yeah, that is what I meant.")));
        assert!(!keeps_room((0, 900, "Oh yeah, sure."), (100, 900, "oh yeah sure")));
    }

    #[test]
    fn spans_without_length_or_turned_round_are_never_copies() {
        let text = "one two three four";
        assert!(keeps_room((500, 500, text), (0, 1000, text)));
        assert!(keeps_room((900, 100, text), (0, 1000, text)));
        assert!(keeps_room((0, u64::MAX, text), (1000, 0, text)));
    }

    #[test]
    fn a_long_call_line_is_found_behind_short_ones() {
        let text = "one two three four five";
        let mut lines = vec![line(Track::Call, 0, 100_000, text)];
        lines.extend((1..50).map(|number| line(Track::Call, number * 100, number * 100 + 50, "no")));
        lines.push(line(Track::Room, 90_000, 95_000, text));
        assert_eq!(kept(&lines).last(), Some(&false));
    }

    #[test]
    fn a_session_of_the_room_alone_keeps_everything() {
        let lines = [line(Track::Room, 0, 9, "a b c"), line(Track::Room, 0, 9, "a b c")];
        assert_eq!(kept(&lines), [true, true]);
    }
}
