//! How loud it is in a meeting, by the levels that its recorder publishes several times a second: whether
//! somebody talks is known that way long before their words are.
//!
//! Loud is what stands out of what a track sounds like in its pauses, so that a fan is nobody. A recorder that
//! publishes nothing, or nothing new, tells nothing; then nobody is waited for.

use std::collections::VecDeque;
use std::time::Duration;

use ambient_engine::Track;
use ambient_engine::session::{RecordingStatus, SessionDirectory};

/// What is not as loud as this is nobody, however silent it is otherwise.
const LOUD_MIN_DB: f32 = -50.0;
/// How far somebody stands out of the pauses.
const ABOVE_PAUSES_DB: f32 = 10.0;
/// Below this no microphone is open: zeros say nothing of how the pauses sound.
const ZEROS_DB: f32 = -90.0;
/// For so long levels are remembered.
const REMEMBERED_MS: u64 = 30_000;
/// The share of the levels that are taken for pauses: one in so many.
const PAUSES_ONE_IN: usize = 10;

/// It is silent once it has been for so long.
const SILENT_AFTER_MS: u64 = 700;
/// How long silence is waited for.
pub(super) const LULL_MAX: Duration = Duration::from_secs(10);
/// A recorder that has said nothing new for so long tells nothing.
const STALE_AFTER: Duration = Duration::from_secs(5);

/// A voice that comes back does so within this time.
const COMES_BACK_WITHIN_MS: u64 = 2_000;
/// So many more loud levels than others are somebody who talks, and not a cough.
const TALKING_AT: u32 = 5;

/// The levels of one moment.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Levels {
    /// Milliseconds since the recording began.
    at_ms: u64,
    tracks: Vec<(Track, f32)>,
}

impl Levels {
    /// What the recorder of `session` said last; none where it says nothing.
    pub(super) fn read(session: &SessionDirectory) -> Option<Self> {
        let status = RecordingStatus::read(session.directory())?;
        let level = |track: &ambient_engine::session::RecordingTrack| Some((track.track, track.level_db?));
        let tracks: Vec<_> = status.tracks.iter().filter_map(level).collect();
        (!tracks.is_empty()).then_some(Self { at_ms: status.elapsed_ms, tracks })
    }
}

/// The levels of the last half minute.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Loudness {
    past: VecDeque<Levels>,
}

impl Loudness {
    /// Takes in how loud it was. False: that was known.
    pub(super) fn note(&mut self, levels: &Levels) -> bool {
        match self.past.back() {
            Some(last) if last.at_ms == levels.at_ms => return false,
            // Another recorder, with a clock of its own.
            Some(last) if last.at_ms > levels.at_ms => self.past.clear(),
            _ => {}
        }
        self.past.push_back(levels.clone());
        while self.past.front().is_some_and(|first| first.at_ms.saturating_add(REMEMBERED_MS) < levels.at_ms)
        {
            self.past.pop_front();
        }
        true
    }

    /// The tracks that are loud in `levels`.
    pub(super) fn loud_tracks(&self, levels: &Levels) -> Vec<Track> {
        let is_loud = |(track, level_db): &&(Track, f32)| {
            *level_db >= LOUD_MIN_DB && *level_db >= self.pauses_db(*track) + ABOVE_PAUSES_DB
        };
        levels.tracks.iter().filter(is_loud).map(|(track, _)| *track).collect()
    }

    /// How loud `track` is in its pauses, as far as that is known.
    fn pauses_db(&self, track: Track) -> f32 {
        let of_track = self.past.iter().flat_map(|levels| &levels.tracks);
        let mut levels_db: Vec<f32> = of_track
            .filter(|(other, level_db)| *other == track && *level_db > ZEROS_DB)
            .map(|(_, level_db)| *level_db)
            .collect();
        // While little is known, whoever speaks is not taken for the noise of the room.
        if levels_db.len() < PAUSES_ONE_IN {
            return f32::NEG_INFINITY;
        }
        let place = levels_db.len() / PAUSES_ONE_IN;
        *levels_db.select_nth_unstable_by(place, f32::total_cmp).1
    }
}

/// Waiting for a moment in which nobody talks.
#[derive(Debug, Default)]
pub(super) struct Lull {
    /// The recorder's time when it was looked first.
    first_ms: Option<u64>,
    silent_from_ms: Option<u64>,
    /// When something new was heard last, since the wait began.
    fresh: Duration,
}

impl Lull {
    /// Whether the moment is there, at `now` since the wait began, or nobody can tell; false once it has been
    /// waited for long enough.
    pub(super) fn look(
        &mut self,
        loudness: &mut Loudness,
        levels: Option<&Levels>,
        now: Duration,
    ) -> Option<bool> {
        let Some(levels) = levels else { return Some(true) };
        let first_ms = *self.first_ms.get_or_insert(levels.at_ms);
        if loudness.note(levels) {
            self.fresh = now;
            if loudness.loud_tracks(levels).is_empty() {
                let from_ms = *self.silent_from_ms.get_or_insert(levels.at_ms);
                if levels.at_ms.saturating_sub(from_ms) >= SILENT_AFTER_MS {
                    return Some(true);
                }
            } else {
                self.silent_from_ms = None;
            }
        }
        if now.saturating_sub(self.fresh) >= STALE_AFTER {
            return Some(true);
        }
        let waited = now.max(Duration::from_millis(levels.at_ms.saturating_sub(first_ms)));
        (waited >= LULL_MAX).then_some(false)
    }
}

/// Notices that somebody talks while the assistant does. A track on which its own voice comes back, as from a
/// loudspeaker, tells nothing by its level.
#[derive(Debug, Default)]
pub(super) struct Talking {
    audible_from_ms: Option<u64>,
    comes_back_on: Vec<Track>,
    scores: Vec<(Track, u32)>,
}

impl Talking {
    /// Whether somebody does, now that the assistant can be heard.
    pub(super) fn is_heard(&mut self, loudness: &mut Loudness, levels: &Levels) -> bool {
        if !loudness.note(levels) {
            return false;
        }
        let from_ms = *self.audible_from_ms.get_or_insert(levels.at_ms);
        let loud = loudness.loud_tracks(levels);
        if levels.at_ms.saturating_sub(from_ms) <= COMES_BACK_WITHIN_MS {
            self.comes_back_on.extend(loud);
            return false;
        }
        for (track, _) in &levels.tracks {
            if self.comes_back_on.contains(track) {
                continue;
            }
            let Some((_, score)) = self.scores.iter_mut().find(|(other, _)| other == track) else {
                self.scores.push((*track, 0));
                continue;
            };
            *score = if loud.contains(track) { *score + 1 } else { score.saturating_sub(1) };
            if *score >= TALKING_AT {
                return true;
            }
        }
        false
    }

    /// Whether the level of `track` shows that the assistant's own voice does not come back on it.
    pub(super) fn is_free_of_it(&self, track: Track) -> bool {
        self.scores.iter().any(|(known, _)| *known == track)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SILENT_DB: f32 = -70.0;
    const TALK_DB: f32 = -25.0;

    fn levels(at_ms: u64, room_db: f32, call_db: f32) -> Levels {
        Levels { at_ms, tracks: vec![(Track::Room, room_db), (Track::Call, call_db)] }
    }

    /// Half a minute of `level_db` on both tracks, which ends at 30 s.
    fn after(level_db: f32) -> Loudness {
        let mut loudness = Loudness::default();
        for moment in 0..=150 {
            loudness.note(&levels(moment * 200, level_db, level_db));
        }
        loudness
    }

    #[test]
    fn loud_is_what_stands_out_of_the_pauses() {
        let loud =
            |pauses_db, level_db| !after(pauses_db).loud_tracks(&levels(0, level_db, SILENT_DB)).is_empty();
        assert!(loud(SILENT_DB, TALK_DB));
        assert!(!loud(SILENT_DB, -55.0), "next to nothing");
        assert!(!loud(-35.0, -33.0), "a fan");
        assert!(loud(-35.0, -20.0), "somebody beside a fan");
        assert!(loud(-96.0, TALK_DB), "a microphone that was just opened");
        let talk = Loudness::default().loud_tracks(&levels(0, TALK_DB, SILENT_DB));
        assert_eq!(talk, [Track::Room], "nothing is known of the pauses");
    }

    /// Whether and when the wait ends, in milliseconds, if a level comes every 200.
    fn lull_after(level_db: impl Fn(u64) -> Option<f32>) -> (bool, u64) {
        let (mut lull, mut loudness) = (Lull::default(), after(SILENT_DB));
        let mut last = None;
        let mut looks = (0..200).map(|look| look * 100);
        let ended = looks.find_map(|now_ms| {
            if now_ms % 200 == 0
                && let Some(level_db) = level_db(now_ms)
            {
                last = Some(levels(40_000 + now_ms, level_db, SILENT_DB));
            }
            let outcome = lull.look(&mut loudness, last.as_ref(), Duration::from_millis(now_ms))?;
            Some((outcome, now_ms))
        });
        ended.expect("the wait ends")
    }

    #[test]
    fn a_lull_is_a_moment_of_silence_and_a_pause_between_two_words_is_none() {
        let talks_if = |talks: bool| Some(if talks { TALK_DB } else { SILENT_DB });
        assert_eq!(lull_after(|_| talks_if(false)), (true, 800));
        assert_eq!(lull_after(|now_ms| talks_if(now_ms < 3_000)), (true, 3_800));
        assert_eq!(lull_after(|now_ms| talks_if(now_ms % 600 == 0)), (false, 10_000));
        assert_eq!(lull_after(|_| talks_if(true)), (false, 10_000));
    }

    #[test]
    fn who_says_nothing_or_nothing_new_is_not_waited_for() {
        assert_eq!(lull_after(|_| None), (true, 0));
        assert_eq!(lull_after(|now_ms| (now_ms == 0).then_some(TALK_DB)), (true, 5_000));
    }

    /// When somebody is heard, in milliseconds from the first sound of the voice; none within 10 s.
    fn talking(level_db: impl Fn(u64) -> (f32, f32)) -> Option<u64> {
        let (mut talking, mut loudness) = (Talking::default(), after(SILENT_DB));
        (0..50).map(|moment| moment * 200).find(|now_ms| {
            let (room_db, call_db) = level_db(*now_ms);
            talking.is_heard(&mut loudness, &levels(40_000 + now_ms, room_db, call_db))
        })
    }

    #[test]
    fn somebody_who_talks_is_heard_where_the_voice_does_not_come_back() {
        assert_eq!(talking(|_| (SILENT_DB, SILENT_DB)), None);
        assert_eq!(talking(|_| (TALK_DB, TALK_DB)), None, "its own voice");
        let headphones = |now_ms| (if now_ms >= 4_000 { TALK_DB } else { SILENT_DB }, TALK_DB);
        assert_eq!(talking(headphones), Some(4_800));
        let cough = |now_ms| (if (4_000..4_600).contains(&now_ms) { TALK_DB } else { SILENT_DB }, TALK_DB);
        assert_eq!(talking(cough), None);
    }

    proptest! {
        #[test]
        fn no_level_is_too_odd(moments in prop::collection::vec((any::<u64>(), any::<f32>(), any::<f32>()), 0..60)) {
            let (mut loudness, mut lull, mut talking) =
                (Loudness::default(), Lull::default(), Talking::default());
            for (at_ms, room_db, call_db) in moments {
                let levels = levels(at_ms, room_db, call_db);
                lull.look(&mut loudness, Some(&levels), Duration::from_millis(at_ms));
                talking.is_heard(&mut loudness, &levels);
            }
        }
    }
}
