//! What assistants have done in a session, as its log tells it.
//!
//! Everything that limits an assistant and everything it must not hear again comes from here, so that it
//! holds across processes and across watches: each process reads the same acts in the same order.

use std::collections::VecDeque;

use ambient_engine::AssistantAct;

use super::echo::{Span, Utterance};

/// An utterance of which nothing more was heard has ended after this long: whoever spoke it has died.
const OPEN_MAX_US: i64 = 150_000_000;
/// So many utterances are remembered: those of many minutes.
const SAID_MAX: usize = 32;

/// The acts so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Acts {
    /// How often an assistant began to speak. The notice does not count; what could not be heard does.
    pub(super) spoken: u32,
    /// When it last did, or stopped doing so, in microseconds since 1970.
    pub(super) last_spoken_us: Option<i64>,
    said: VecDeque<Utterance>,
    open: Option<Open>,
}

/// An utterance that has begun.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Open {
    text: String,
    from_us: i64,
    is_notice: bool,
}

impl Acts {
    /// Takes in the next act, appended at `at_us`.
    pub(super) fn note(&mut self, act: &AssistantAct, at_us: i64) {
        match act {
            AssistantAct::Joined { notice } => self.begin(notice, at_us, true),
            AssistantAct::Began { text, .. } => {
                self.spoken = self.spoken.saturating_add(1);
                self.last_spoken_us = Some(at_us);
                self.begin(text, at_us, false);
            }
            AssistantAct::Spoke { first_audio_ms, .. } => self.end(*first_audio_ms, at_us),
            AssistantAct::Failed { .. } | AssistantAct::Left { .. } => self.end(0, at_us),
        }
    }

    /// Whether someone is speaking at `now_us`.
    pub(super) fn is_speaking(&self, now_us: i64) -> bool {
        self.open.as_ref().is_some_and(|open| now_us.saturating_sub(open.from_us) < OPEN_MAX_US)
    }

    /// What was said lately, and what is being said.
    pub(super) fn said(&self) -> Vec<Utterance> {
        let open = self.open.as_ref().map(|open| {
            let until_us = open.from_us.saturating_add(OPEN_MAX_US);
            Utterance::new(&open.text, Span { from_us: open.from_us, until_us })
        });
        self.said.iter().cloned().chain(open).collect()
    }

    fn begin(&mut self, text: &str, at_us: i64, is_notice: bool) {
        self.end(0, at_us);
        self.open = Some(Open { text: text.to_owned(), from_us: at_us, is_notice });
    }

    /// The open utterance, if there is one, could be heard until `at_us`.
    fn end(&mut self, first_audio_ms: u64, at_us: i64) {
        let Some(open) = self.open.take() else { return };
        if !open.is_notice {
            self.last_spoken_us = Some(at_us.max(open.from_us));
        }
        let silent_us = i64::try_from(first_audio_ms).unwrap_or(i64::MAX).saturating_mul(1000);
        let until_us = at_us.min(open.from_us.saturating_add(OPEN_MAX_US));
        let from_us = open.from_us.saturating_add(silent_us).min(until_us);
        self.said.push_back(Utterance::new(&open.text, Span { from_us, until_us }));
        if self.said.len() > SAID_MAX {
            self.said.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn joined() -> AssistantAct {
        AssistantAct::Joined { notice: "Hello.".to_owned() }
    }

    fn began(text: &str) -> AssistantAct {
        AssistantAct::Began { text: text.to_owned(), emotion: "neutral".to_owned() }
    }

    fn spoke(text: &str, first_audio_ms: u64) -> AssistantAct {
        AssistantAct::Spoke {
            text: text.to_owned(),
            emotion: "neutral".to_owned(),
            first_audio_ms,
            audio_ms: 0,
            took_ms: 0,
        }
    }

    fn failed(stage: &str) -> AssistantAct {
        AssistantAct::Failed { stage: stage.to_owned(), message: String::new(), text: None }
    }

    fn left() -> AssistantAct {
        AssistantAct::Left { why: String::new(), spoke: 0 }
    }

    fn after(acts: &[AssistantAct]) -> Acts {
        let mut noted = Acts::default();
        for (at_s, act) in (1..).zip(acts) {
            noted.note(act, at_s * 1_000_000);
        }
        noted
    }

    #[test]
    fn the_notice_does_not_count_and_what_was_not_heard_does() {
        let acts = after(&[joined(), spoke("Hello.", 0)]);
        assert_eq!((acts.spoken, acts.last_spoken_us), (0, None));
        let acts = after(&[joined(), spoke("Hello.", 0), began("Yes."), failed("voice")]);
        assert_eq!((acts.spoken, acts.last_spoken_us), (1, Some(4_000_000)));
    }

    #[test]
    fn an_utterance_could_be_heard_from_its_first_sound_to_its_end() {
        let acts = after(&[began("Yes."), spoke("Yes.", 250)]);
        let audible = Span { from_us: 1_250_000, until_us: 2_000_000 };
        assert_eq!(acts.said(), [Utterance::new("Yes.", audible)]);
    }

    #[test]
    fn someone_speaks_until_it_is_said_how_it_went_or_nothing_more_comes() {
        for opening in [joined(), began("Yes.")] {
            let acts = after(std::slice::from_ref(&opening));
            assert!(acts.is_speaking(2_000_000));
            assert!(!acts.is_speaking(OPEN_MAX_US + 1_000_000), "whoever it was has died");
            for ending in [spoke("", 0), failed("notice"), left()] {
                assert!(!after(&[opening.clone(), ending]).is_speaking(2_500_000));
            }
        }
    }

    proptest! {
        #[test]
        fn any_acts_at_any_time_are_counted_and_never_panic(
            acts in prop::collection::vec((0..5_usize, any::<i64>(), any::<u64>()), 0..80),
        ) {
            let mut noted = Acts::default();
            let mut begun = 0;
            for (kind, at_us, first_audio_ms) in acts {
                let act = match kind {
                    0 => joined(),
                    1 => began("a b"),
                    2 => spoke("a b", first_audio_ms),
                    3 => failed("voice"),
                    _ => left(),
                };
                begun += u32::from(kind == 1);
                noted.note(&act, at_us);
                prop_assert!(noted.said().len() <= SAID_MAX + 1);
                let _ = noted.is_speaking(at_us);
            }
            prop_assert_eq!(noted.spoken, begun);
            prop_assert_eq!(noted.last_spoken_us.is_some(), begun > 0);
        }
    }
}
