//! What a wait has gathered, and when it is time to hand it over.
//!
//! A model that is called for every half sentence answers too early and costs too much. So lines are
//! gathered until the talk pauses, but not for long, and not at all once the assistant is spoken to.

use std::time::Duration;

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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Batch {
    /// The lines, as they are shown.
    pub(super) lines: Vec<String>,
    /// Lines taken for the assistant's own voice.
    pub(super) left_out: Vec<String>,
    /// Whether a line says the assistant's name.
    pub(super) is_named: bool,
    first: Option<Duration>,
    last: Option<Duration>,
}

impl Batch {
    /// Adds a line that was seen at `now`.
    pub(super) fn add(&mut self, line: String, is_named: bool, now: Duration) {
        self.lines.push(line);
        self.is_named |= is_named;
        self.first.get_or_insert(now);
        self.last = Some(now);
    }

    /// Adds a line that is the assistant's own voice. Nothing is handed over for it alone.
    pub(super) fn leave_out(&mut self, line: String) {
        self.left_out.push(line);
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
    use proptest::prelude::*;

    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn lines_are_gathered_until_the_talk_pauses() {
        let mut batch = Batch::default();
        assert_eq!(batch.due_in(Pace::TALK, MS(9_000)), None, "nothing to hand over");
        batch.leave_out("echo".to_owned());
        assert_eq!(batch.due_in(Pace::TALK, MS(9_000)), None, "nor for an echo");
        batch.add("one".to_owned(), false, MS(1_000));
        assert_eq!(batch.due_in(Pace::TALK, MS(1_500)), Some(MS(2_500)));
        batch.add("two".to_owned(), false, MS(3_000));
        assert_eq!(batch.due_in(Pace::TALK, MS(4_000)), Some(MS(2_000)));
        assert_eq!(batch.due_in(Pace::TALK, MS(6_000)), Some(MS(0)));
    }

    #[test]
    fn a_name_is_handed_over_at_once() {
        let mut batch = Batch::default();
        batch.add("one".to_owned(), true, MS(1_000));
        batch.add("two".to_owned(), false, MS(1_000));
        assert_eq!(batch.due_in(Pace::TALK, MS(1_000)), Some(MS(0)));
    }

    proptest! {
        #[test]
        fn it_takes_no_longer_than_the_longest_and_no_less_than_a_pause(pauses in prop::collection::vec(0_u64..4_000, 1..40)) {
            let mut batch = Batch::default();
            let mut now = MS(500);
            for pause in pauses {
                batch.add(String::new(), false, now);
                let left = batch.due_in(Pace::TALK, now).unwrap();
                prop_assert!(now + left <= MS(500) + Pace::TALK.longest || left.is_zero());
                prop_assert!(left <= Pace::TALK.settle);
                now += MS(pause);
            }
        }
    }
}
