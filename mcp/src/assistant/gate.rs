//! Whether the assistant may speak now.
//!
//! A pure rule over what the session's log tells ([`Acts`]) and today's settings. It is asked once to
//! tell, and once more under the log's lock to decide, so two processes never both pass where one may.

use std::fmt;

use ambient_engine::settings::AssistantSettings;

use super::acts::Acts;

/// Why it may not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hold {
    /// It has spoken as often as it may in one meeting.
    Spent,
    /// An assistant is speaking at this moment, this one or another.
    Speaking,
    /// It spoke a short while ago.
    CoolingDown {
        /// Whole seconds until it may again, at least 1.
        left_s: u64,
    },
}

impl fmt::Display for Hold {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spent => write!(formatter, "it has spoken as often as one meeting allows"),
            Self::Speaking => write!(formatter, "an assistant is speaking at this moment"),
            Self::CoolingDown { left_s } => write!(formatter, "cooling down ({left_s}s left)"),
        }
    }
}

/// What keeps the assistant from speaking at `now_us`, if anything does.
pub(super) fn hold(acts: &Acts, limits: &AssistantSettings, now_us: i64) -> Option<Hold> {
    if acts.spoken >= limits.max_per_meeting {
        return Some(Hold::Spent);
    }
    if acts.is_speaking(now_us) {
        return Some(Hold::Speaking);
    }
    // A clock that was put back makes nobody wait longer than the whole pause.
    let elapsed_us = now_us.saturating_sub(acts.last_spoken_us?).max(0);
    let pause_us = i64::from(limits.cooldown_s) * 1_000_000;
    let left_s = u64::try_from(pause_us.saturating_sub(elapsed_us)).unwrap_or(0).div_ceil(1_000_000);
    (left_s > 0).then_some(Hold::CoolingDown { left_s })
}

/// How often it may still speak.
pub(super) fn left(acts: &Acts, limits: &AssistantSettings) -> u32 {
    limits.max_per_meeting.saturating_sub(acts.spoken)
}

#[cfg(test)]
mod tests {
    use ambient_engine::AssistantAct;
    use ambient_engine::settings::Settings;
    use proptest::prelude::*;

    use super::*;

    fn limits(cooldown_s: u32, max_per_meeting: u32) -> AssistantSettings {
        AssistantSettings { cooldown_s, max_per_meeting, ..Settings::default().assistant() }
    }

    fn spoken_at(times_us: &[i64]) -> Acts {
        let mut acts = Acts::default();
        for at_us in times_us {
            let (text, emotion) = ("Yes.".to_owned(), "neutral".to_owned());
            acts.note(&AssistantAct::Began { text: text.clone(), emotion: emotion.clone() }, *at_us);
            let spoke = AssistantAct::Spoke { text, emotion, first_audio_ms: 0, audio_ms: 0, took_ms: 0 };
            acts.note(&spoke, *at_us);
        }
        acts
    }

    #[test]
    fn the_cap_comes_before_the_pause_and_nought_is_never() {
        assert_eq!(hold(&Acts::default(), &limits(0, 0), 0), Some(Hold::Spent));
        let once = spoken_at(&[0]);
        assert_eq!(hold(&once, &limits(60, 1), 1), Some(Hold::Spent));
        assert_eq!(hold(&once, &limits(60, 2), 1), Some(Hold::CoolingDown { left_s: 60 }));
        assert_eq!(hold(&once, &limits(60, 2), 59_999_999), Some(Hold::CoolingDown { left_s: 1 }));
        assert_eq!(hold(&once, &limits(60, 2), 60_000_000), None);
        assert_eq!(hold(&once, &limits(60, 2), -5), Some(Hold::CoolingDown { left_s: 60 }));
        assert_eq!(hold(&once, &limits(0, 2), 1), None);
    }

    proptest! {
        #[test]
        fn nobody_speaks_more_often_or_sooner_than_the_limits_say(
            cooldown_s in 0_u32..100,
            max_per_meeting in 0_u32..10,
            pauses_us in prop::collection::vec(0_i64..120_000_000, 0..40),
        ) {
            let limits = limits(cooldown_s, max_per_meeting);
            let mut spoken: Vec<i64> = Vec::new();
            let mut now_us = 0;
            for pause_us in pauses_us {
                now_us += pause_us;
                let acts = spoken_at(&spoken);
                let allowed = hold(&acts, &limits, now_us).is_none();
                prop_assert_eq!(left(&acts, &limits) == 0, acts.spoken >= max_per_meeting);
                if allowed {
                    spoken.push(now_us);
                }
            }
            prop_assert!(spoken.len() <= max_per_meeting as usize);
            let pause_us = i64::from(cooldown_s) * 1_000_000;
            prop_assert!(spoken.windows(2).all(|pair| pair[1] - pair[0] >= pause_us));
        }
    }
}
