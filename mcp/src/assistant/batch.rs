//! What a wait has gathered, and when it is time to hand it over.
//!
//! A model that is called for every half sentence answers too early and costs too much. So lines are
//! gathered until the talk pauses, but not for long, and not at all once the assistant is spoken to.
//!
//! With loudspeakers the other side is heard twice, and the copy may come first. Which lines are copies is
//! told when they are handed over, with those before them in view.

use std::time::Duration;

use ambient_engine::FoldedLine;

use super::rendered::{rendered, rendered_once};

/// How long lines are gathered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pace {
    /// After a line, this long nothing may come.
    pub(super) settle: Duration,
    /// After the first line it never takes longer than this.
    pub(super) longest: Duration,
}

impl Pace {
    /// What people's talk asks for.
    pub(super) const TALK: Self = Self { settle: Duration::from_secs(3), longest: Duration::from_secs(20) };
}

/// The lines of one wait. Moments are told as the time since it began.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Batch {
    /// The lines, behind those from before that one of them may be a copy of.
    lines: Vec<FoldedLine>,
    /// How many are from before.
    earlier: usize,
    /// Lines taken for the assistant's own voice, as they are shown.
    pub(super) left_out: Vec<String>,
    /// Whether a line says the assistant's name.
    pub(super) is_named: bool,
    first: Option<Duration>,
    last: Option<Duration>,
}

impl Batch {
    /// An empty batch behind the lines `before`.
    pub(super) fn behind(before: Vec<FoldedLine>) -> Self {
        Self { earlier: before.len(), lines: before, ..Self::default() }
    }

    /// Adds a line that was seen at `now`.
    pub(super) fn add(&mut self, line: FoldedLine, is_named: bool, now: Duration) {
        self.lines.push(line);
        self.is_named |= is_named;
        self.first.get_or_insert(now);
        self.last = Some(now);
    }

    /// Adds a line that is the assistant's own voice. Nothing is handed over for it alone.
    pub(super) fn leave_out(&mut self, line: &FoldedLine) {
        self.left_out.push(rendered(line));
    }

    /// Takes over how a line reads now, which may be not at all.
    pub(super) fn renew(&mut self, line: &FoldedLine) {
        // They come in the order of the log.
        let Ok(place) = self.lines.binary_search_by_key(&line.index, |old| old.index) else { return };
        if line.is_hidden() {
            self.lines.remove(place);
            self.earlier -= usize::from(place < self.earlier);
        } else {
            self.lines[place] = line.clone();
        }
    }

    /// The lines as they are shown, without copies.
    pub(super) fn shown(&self) -> Vec<String> {
        rendered_once(&self.lines, self.earlier)
    }

    /// Where all lines are copies there is nothing to hand over, nor a name that was not handed over before.
    pub(super) fn pass_over_copies(&mut self) {
        if self.shown().is_empty() {
            self.earlier = self.lines.len();
            self.is_named = false;
            (self.first, self.last) = (None, None);
        }
    }

    /// How much longer lines are gathered, if nothing comes; none: for as long as is asked.
    pub(super) fn due_in(&self, pace: Pace, now: Duration) -> Option<Duration> {
        let (first, last) = (self.first?, self.last?);
        if self.is_named {
            return Some(Duration::ZERO);
        }
        let due = (last + pace.settle).min(first + pace.longest);
        Some(due.saturating_sub(now))
    }
}

#[cfg(test)]
mod tests {
    use ambient_engine::{Line, Track};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_that_is_changed_before_it_is_handed_over_reads_as_it_does_then() {
        let numbered = |index, text: &str| FoldedLine { index, ..line(Track::Room, 0, text) };
        let mut batch = Batch::behind(vec![numbered(3, "before")]);
        for (index, text) in [(4, "one"), (5, "two")] {
            batch.add(numbered(index, text), false, Duration::ZERO);
        }
        let hidden = |index| FoldedLine { hidden: Some("on request".to_owned()), ..numbered(index, "") };
        batch.renew(&FoldedLine { speaker: Some("Ana".to_owned()), ..numbered(5, "two") });
        for gone in [hidden(3), hidden(4), hidden(9)] {
            batch.renew(&gone);
        }
        assert_eq!(batch.shown(), ["[00:00] Ana: two"]);
    }

    fn line(track: Track, start_ms: u64, text: &str) -> FoldedLine {
        let heard = Line {
            track,
            start_ms,
            end_ms: start_ms + 1000,
            text: text.to_owned(),
            confidence: 0.0,
            language: None,
            generation: 0,
            audio: None,
            overlap: false,
        };
        FoldedLine::unedited(0, heard)
    }

    fn some() -> FoldedLine {
        line(Track::Room, 0, "one")
    }

    #[test]
    fn what_the_loudspeaker_says_is_shown_once_whichever_came_first() {
        let call = line(Track::Call, 5_000, "That is a good idea.");
        let copy = line(Track::Room, 5_100, "that is good idea");
        let own = line(Track::Room, 5_200, "I do not think so.");
        let shown = [
            "[00:05] someone on the call: That is a good idea.",
            "[00:05] someone in the room: I do not think so.",
        ];
        for order in [[&call, &copy, &own], [&copy, &call, &own]] {
            let mut batch = Batch::default();
            for line in order {
                batch.add(line.clone(), false, Duration::ZERO);
            }
            assert_eq!(batch.shown(), shown);
        }
    }

    #[test]
    fn a_copy_of_what_was_handed_over_before_is_nothing_to_hand_over() {
        let mut batch = Batch::behind(vec![line(Track::Call, 5_000, "Claude, is it a good idea?")]);
        batch.add(line(Track::Room, 5_100, "Claude is it good idea"), true, Duration::ZERO);
        batch.pass_over_copies();
        assert_eq!((batch.shown(), batch.is_named), (Vec::new(), false));
        assert_eq!(batch.due_in(Pace::TALK, MS(60_000)), None);
        batch.add(line(Track::Room, 5_200, "I do not think so."), false, MS(60_000));
        batch.pass_over_copies();
        assert_eq!(batch.shown(), ["[00:05] someone in the room: I do not think so."]);
        assert_eq!(batch.due_in(Pace::TALK, MS(60_000)), Some(Pace::TALK.settle));
    }

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn lines_are_gathered_until_the_talk_pauses() {
        let mut batch = Batch::default();
        assert_eq!(batch.due_in(Pace::TALK, MS(9_000)), None, "nothing to hand over");
        batch.leave_out(&some());
        assert_eq!(batch.due_in(Pace::TALK, MS(9_000)), None, "nor for an echo");
        batch.add(some(), false, MS(1_000));
        assert_eq!(batch.due_in(Pace::TALK, MS(1_500)), Some(MS(2_500)));
        batch.add(some(), false, MS(3_000));
        assert_eq!(batch.due_in(Pace::TALK, MS(4_000)), Some(MS(2_000)));
        assert_eq!(batch.due_in(Pace::TALK, MS(6_000)), Some(MS(0)));
    }

    #[test]
    fn a_name_is_handed_over_at_once() {
        let mut batch = Batch::default();
        batch.add(some(), true, MS(1_000));
        batch.add(some(), false, MS(1_000));
        assert_eq!(batch.due_in(Pace::TALK, MS(1_000)), Some(MS(0)));
    }

    proptest! {
        #[test]
        fn it_takes_no_longer_than_the_longest_and_no_less_than_a_pause(pauses in prop::collection::vec(0_u64..4_000, 1..40)) {
            let mut batch = Batch::default();
            let mut now = MS(500);
            for pause in pauses {
                batch.add(some(), false, now);
                let left = batch.due_in(Pace::TALK, now).unwrap();
                prop_assert!(now + left <= MS(500) + Pace::TALK.longest || left.is_zero());
                prop_assert!(left <= Pace::TALK.settle);
                now += MS(pause);
            }
        }
    }
}
