//! Lines that are the assistant's own voice, heard by the microphones of the meeting.
//!
//! Both must fit, the words and the time: a line is taken for an echo when it was spoken while an
//! utterance could be heard and says, in order, most of it word for word. So someone who repeats or questions
//! what was said, a moment later or in other words, is never kept from the reader. What is left out is
//! reported, since a turn may hold an echo and an answer.

use super::words::words;

/// How much earlier than it was told to, an utterance may be heard: clocks and buffers do not quite agree.
const EARLY_US: i64 = 1_500_000;
/// How much later than it ended.
const LATE_US: i64 = 2_500_000;
/// Up to so many words all of them must be the utterance's.
const FEW_WORDS: usize = 2;
/// No more words of a line are compared: far above what is said in one breath.
const COMPARED_WORDS_MAX: usize = 400;

/// A stretch of wall clock time, in microseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) from_us: i64,
    pub(super) until_us: i64,
}

impl Span {
    fn len_us(self) -> i64 {
        self.until_us.saturating_sub(self.from_us).max(0)
    }

    fn shared_us(self, other: Self) -> i64 {
        let from_us = self.from_us.max(other.from_us);
        Self { from_us, until_us: self.until_us.min(other.until_us) }.len_us()
    }
}

/// Something that was said aloud, and when it could be heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Utterance {
    words: Vec<String>,
    audible: Span,
}

impl Utterance {
    pub(super) fn new(text: &str, audible: Span) -> Self {
        Self { words: words(text), audible }
    }

    /// Whether a line with these words, spoken at `spoken`, is this utterance coming back.
    fn comes_back_in(&self, heard: &[String], spoken: Span) -> bool {
        let window = Span {
            from_us: self.audible.from_us.saturating_sub(EARLY_US),
            until_us: self.audible.until_us.saturating_add(LATE_US),
        };
        let shared_us = window.shared_us(spoken);
        // A line without length is in the window or it is not.
        let is_at_the_time = if spoken.len_us() == 0 {
            (window.from_us..=window.until_us).contains(&spoken.from_us)
        } else {
            shared_us.saturating_mul(2) >= spoken.len_us()
        };
        is_at_the_time && self.is_repeated_by(heard)
    }

    /// Whether most of these words are the utterance's, in its order.
    fn is_repeated_by(&self, heard: &[String]) -> bool {
        let heard = &heard[..heard.len().min(COMPARED_WORDS_MAX)];
        match heard.len() {
            0 => false,
            count @ 1..=FEW_WORDS => self.words.windows(count).any(|said| said == heard),
            count => longest_in_order(heard, &self.words) * 10 >= count * 6,
        }
    }
}

/// Whether a line that says `text`, spoken at `spoken`, is one of the `said` coming back.
pub(super) fn is_echo(text: &str, spoken: Span, said: &[Utterance]) -> bool {
    let heard = words(text);
    said.iter().any(|utterance| utterance.comes_back_in(&heard, spoken))
}

/// Whether `text` says most of `notice` word for word, whenever that was: such a line names the assistant
/// because the notice does. A few words alone are someone who calls it.
pub(super) fn repeats(text: &str, notice: &str) -> bool {
    let (heard, nowhen) = (words(text), Span { from_us: 0, until_us: 0 });
    heard.len() > FEW_WORDS && Utterance::new(notice, nowhen).is_repeated_by(&heard)
}

/// Whether `text` could be `said`, badly recognised: at least a third of its words are there, in their order.
pub(super) fn resembles(text: &str, said: &str) -> bool {
    let heard = words(text);
    let heard = &heard[..heard.len().min(COMPARED_WORDS_MAX)];
    longest_in_order(heard, &words(said)) * 3 >= heard.len()
}

/// How many words `heard` and `said` have in common in the same order: the length of their longest common
/// subsequence.
fn longest_in_order(heard: &[String], said: &[String]) -> usize {
    let mut best = vec![0; said.len() + 1];
    for word in heard {
        let mut diagonal = 0;
        for (at, other) in said.iter().enumerate() {
            let above = best[at + 1];
            best[at + 1] = if word == other { diagonal + 1 } else { above.max(best[at]) };
            diagonal = above;
        }
    }
    best[said.len()]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SAID: &str = "That ticket was closed on Tuesday, so you can drop it.";

    fn seconds(from: i64, until: i64) -> Span {
        Span { from_us: from * 1_000_000, until_us: until * 1_000_000 }
    }

    /// Whether `text`, spoken from second to second, is an echo of what was said from 100 to 104.
    fn heard(text: &str, from: i64, until: i64) -> bool {
        is_echo(text, seconds(from, until), &[Utterance::new(SAID, seconds(100, 104))])
    }

    #[test]
    fn the_words_at_the_time_are_an_echo() {
        assert!(heard("that ticket was closed on tuesday so you can drop it", 100, 104));
        assert!(heard("the ticket was closed on Tuesday so you can drop", 101, 105), "misheard in parts");
        assert!(heard("closed on Tuesday", 101, 103), "a part of it");
        assert!(heard("drop it", 103, 104), "the last words alone");
    }

    #[test]
    fn someone_who_repeats_or_questions_it_is_not() {
        assert!(!heard("that ticket was closed on Tuesday so you can drop it", 110, 114), "later");
        assert!(!heard("that ticket was closed on Tuesday so you can drop it", 90, 94), "before");
        assert!(!heard("was the deploy ticket closed or not", 101, 104), "in other words");
        assert!(!heard("it drop can you so Tuesday on closed was ticket that", 100, 104), "in another order");
        assert!(!heard("Tuesday closed", 101, 103), "two words that do not follow each other");
        assert!(!heard("no wait", 101, 102), "an interruption");
        assert!(!heard("", 101, 102));
        assert!(!heard("so that ticket was closed on Tuesday?", 98, 130), "mostly at another time");
    }

    #[test]
    fn the_notice_is_known_by_its_words_alone() {
        let notice = "Hello, an AI assistant called Claude is listening and may speak up.";
        assert!(repeats("hello an AI assistant called Claude is listening and may speak", notice));
        assert!(!repeats("Claude, are you listening?", notice));
        assert!(!repeats("Claude?", notice));
        assert!(!repeats("", notice));
    }

    #[test]
    fn a_badly_recognised_echo_resembles_what_was_said_and_an_interruption_does_not() {
        assert!(resembles("that ticket is close on choose day", SAID));
        assert!(resembles("", SAID), "nothing to tell it by");
        assert!(!resembles("wait, that is wrong", SAID));
        assert!(!resembles("sorry, may I say something", SAID));
    }

    fn is_subsequence(short: &[String], long: &[String]) -> bool {
        let mut rest = long.iter();
        short.iter().all(|word| rest.any(|other| other == word))
    }

    proptest! {
        #[test]
        fn what_was_not_audible_then_is_never_left_out(text in "[a-c ]{0,30}", gap in 4_000_001_i64..1_000_000_000) {
            let said = Utterance::new(&text, seconds(1000, 1010));
            let after = Span { from_us: 1_010_000_000 + gap, until_us: 1_012_000_000 + gap };
            let before = Span { from_us: 990_000_000 - gap, until_us: 998_000_000 - gap };
            for spoken in [before, after] {
                prop_assert!(!is_echo(&text, spoken, std::slice::from_ref(&said)));
            }
        }

        #[test]
        fn what_was_said_word_for_word_meanwhile_always_is(words in prop::collection::vec("[a-z]{1,5}", 1..40)) {
            let text = words.join(" ");
            let said = Utterance::new(&text, seconds(10, 20));
            prop_assert!(is_echo(&text, seconds(11, 20), &[said]));
        }

        #[test]
        fn the_common_words_are_a_subsequence_of_both_and_no_longer_than_either(
            heard in prop::collection::vec("[ab]", 0..9),
            said in prop::collection::vec("[ab]", 0..9),
        ) {
            let longest = longest_in_order(&heard, &said);
            // The naive twin: the longest of all the parts of what was heard that stand in what was said.
            let parts = 0..1_u32 << heard.len();
            let expected = parts
                .map(|part| {
                    let chosen = (0..heard.len()).filter(|at| part & (1 << at) != 0);
                    chosen.map(|at| heard[at].clone()).collect::<Vec<_>>()
                })
                .filter(|part| is_subsequence(part, &said))
                .map(|part| part.len())
                .max();
            prop_assert_eq!(Some(longest), expected);
        }

        #[test]
        fn no_moment_is_too_far_away(from: i64, until: i64, said_from: i64, said_until: i64) {
            let said = Utterance::new("a b c", Span { from_us: said_from, until_us: said_until });
            let _ = is_echo("a b c", Span { from_us: from, until_us: until }, &[said]);
        }
    }
}
