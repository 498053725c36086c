//! Whether a track is alive: what a person must hear about before an hour of nothing was recorded.
//!
//! A dead track is told while it is recorded and at the end, with the moment it died. And it must not cry
//! wolf: a meeting in one room leaves the call without a sound, people begin late, quiet rooms hiss. So a
//! microphone is doubted for what no microphone delivers (zeros, one value), and a call only when someone
//! asked for it or had been heard on it.

use ambient_engine::Track;

use crate::audio::to_i16;

/// Length of the stretches that are looked at.
const STEP_MS: u64 = 100;

/// How long a microphone may deliver one value until it is told.
const ROOM_DEAD_MS: u64 = 10_000;

/// How long a call may be without a sound while the room talks until it is told: people do listen.
const CALL_DEAD_MS: u64 = 300_000;

/// A recording shorter than this says nothing about its tracks.
const RECORDING_MIN_MS: u64 = 3_000;

/// Loudest sample of a microphone that hears nothing, and how long it must do so.
const FLOOR_PEAK: u16 = 33;
const FLOOR_MS: u64 = 60_000;

/// Samples at the end of the range count as clipped; this share of a second's sound is too much.
const CLIPPED_AT: u16 = 32_700;
const CLIPPED_SHARE: u64 = 50;

/// Seconds with too much clipping until it is told.
const CLIPPED_STEPS: u64 = 30;

/// Something is wrong with a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ailment {
    /// It has delivered nothing but zeros, or one value, since then.
    Dead {
        /// In milliseconds from the start of the recording.
        since_ms: u64,
    },
    /// It has delivered nothing at all since then.
    Absent {
        /// In milliseconds from the start of the recording.
        since_ms: u64,
    },
    /// It never had a sound.
    NeverHeard,
    /// The microphone hears next to nothing.
    AtTheFloor,
    /// It is too loud: much of it is cut off at the ends of the range.
    Clipping,
}

impl Ailment {
    /// What a person is told about `track`.
    pub fn describe(self, track: Track) -> String {
        let clock = |ms: u64| {
            let seconds = ms / 1_000;
            format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
        };
        match self {
            Self::Dead { since_ms: 0 } => {
                format!("{track}: nothing but zeros from the start; is it muted, or the wrong source?")
            }
            Self::Dead { since_ms } => {
                format!("{track}: nothing but zeros since {}; was it muted or unplugged?", clock(since_ms))
            }
            Self::Absent { since_ms } => {
                format!("{track}: the device has delivered nothing since {}", clock(since_ms))
            }
            Self::NeverHeard => {
                format!("{track}: never a sound; choose the source of the other side with --system")
            }
            Self::AtTheFloor => {
                format!(
                    "{track}: next to nothing is heard; raise the microphone's level, or choose another with --mic"
                )
            }
            Self::Clipping => format!("{track}: too loud, much of it is cut off; lower the level"),
        }
    }
}

/// Watches one track.
#[derive(Debug)]
pub struct TrackHealth {
    track: Track,
    is_expected: bool,
    rate_hz: u32,
    /// Samples seen, silence in place of what was not delivered included.
    seen: u64,
    step: Step,
    /// Since when each step was one value, in samples.
    one_value_since: Option<u64>,
    /// Since when nothing was delivered, in samples.
    absent_since: Option<u64>,
    was_heard: bool,
    loudest: u16,
    clipped_steps: u64,
}

#[derive(Clone, Copy, Debug)]
struct Step {
    start: u64,
    lowest: i16,
    highest: i16,
    clipped: u64,
}

impl Step {
    fn at(start: u64) -> Self {
        Self { start, lowest: i16::MAX, highest: i16::MIN, clipped: 0 }
    }
}

impl TrackHealth {
    /// Nothing of `track` was seen yet. `is_expected`: someone asked for this very source.
    pub fn new(track: Track, rate_hz: u32, is_expected: bool) -> Self {
        Self {
            track,
            is_expected,
            rate_hz,
            seen: 0,
            step: Step::at(0),
            one_value_since: None,
            absent_since: None,
            was_heard: false,
            loudest: 0,
            clipped_steps: 0,
        }
    }

    /// Looks at sound.
    pub fn take(&mut self, samples: &[f32]) {
        self.absent_since = None;
        let step_len = (u64::from(self.rate_hz) * STEP_MS / 1_000).max(1);
        for sample in samples {
            let value = to_i16(*sample);
            self.step.lowest = self.step.lowest.min(value);
            self.step.highest = self.step.highest.max(value);
            self.step.clipped += u64::from(value.unsigned_abs() >= CLIPPED_AT);
            self.seen += 1;
            if self.seen - self.step.start >= step_len {
                self.end_step();
            }
        }
    }

    /// Nothing was delivered for that many samples, or nothing was wanted, in a pause.
    pub fn skip(&mut self, samples: u64, is_paused: bool) {
        if is_paused {
            self.absent_since = None;
        } else {
            self.absent_since.get_or_insert(self.seen);
        }
        self.one_value_since = None;
        self.seen += samples;
        self.step = Step::at(self.seen);
    }

    /// Whether there ever was a sound.
    pub fn was_heard(&self) -> bool {
        self.was_heard
    }

    fn end_step(&mut self) {
        let step = std::mem::replace(&mut self.step, Step::at(self.seen));
        if step.lowest == step.highest {
            self.one_value_since.get_or_insert(step.start);
        } else {
            self.one_value_since = None;
            self.was_heard = true;
        }
        self.loudest = self.loudest.max(step.lowest.unsigned_abs()).max(step.highest.unsigned_abs());
        if step.clipped * CLIPPED_SHARE >= self.seen - step.start {
            self.clipped_steps += 1;
        }
    }

    /// What is wrong with the track as it stands. `other_was_heard`: the other track had a sound. `is_over`:
    /// nothing more comes, so that what was short is all there is.
    pub fn ailment(&self, other_was_heard: bool, is_over: bool) -> Option<Ailment> {
        let seen_ms = self.millis(self.seen);
        if seen_ms < RECORDING_MIN_MS {
            return None;
        }
        let dead_ms = if is_over { ROOM_DEAD_MS.min(seen_ms) } else { ROOM_DEAD_MS };
        if let Some(since) = self.absent_since
            && (self.track == Track::Room || self.is_expected)
            && self.millis(self.seen - since) >= dead_ms
        {
            return Some(Ailment::Absent { since_ms: self.millis(since) });
        }
        let dead = self.one_value_since.map(|since| (self.millis(since), self.millis(self.seen - since)));
        match (self.track, dead) {
            (Track::Room, Some((since_ms, len_ms))) if len_ms >= dead_ms => {
                return Some(Ailment::Dead { since_ms });
            }
            (Track::Call, Some((since_ms, len_ms))) if other_was_heard => {
                if !self.was_heard && self.is_expected {
                    return Some(Ailment::NeverHeard);
                }
                if self.was_heard && len_ms >= CALL_DEAD_MS {
                    return Some(Ailment::Dead { since_ms });
                }
            }
            _ => {}
        }
        if self.track == Track::Room && seen_ms >= FLOOR_MS && self.loudest <= FLOOR_PEAK {
            return Some(Ailment::AtTheFloor);
        }
        (self.clipped_steps >= CLIPPED_STEPS).then_some(Ailment::Clipping)
    }

    fn millis(&self, samples: u64) -> u64 {
        crate::audio::millis(samples, self.rate_hz)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE_HZ: u32 = 8_000;

    fn seconds(len_s: u32, value: impl Fn(u32) -> f32) -> Vec<f32> {
        (0..len_s * RATE_HZ).map(value).collect()
    }

    fn hiss(level: f32) -> impl Fn(u32) -> f32 {
        move |n| if n.wrapping_mul(2_654_435_761) & 0x8000 == 0 { level } else { -level }
    }

    fn after(track: Track, is_expected: bool, parts: &[Vec<f32>]) -> TrackHealth {
        let mut health = TrackHealth::new(track, RATE_HZ, is_expected);
        for part in parts {
            health.take(part);
        }
        health
    }

    #[test]
    fn a_microphone_that_gives_zeros_or_one_value_is_dead() {
        for value in [0.0, 0.25] {
            let health = after(Track::Room, false, &[seconds(12, |_| value)]);
            assert_eq!(health.ailment(false, false), Some(Ailment::Dead { since_ms: 0 }), "{value}");
        }
    }

    #[test]
    fn seconds_are_waited_for_and_count_once_nothing_more_comes() {
        let health = after(Track::Room, false, &[seconds(5, |_| 0.0)]);
        assert_eq!(health.ailment(false, false), None);
        assert_eq!(health.ailment(false, true), Some(Ailment::Dead { since_ms: 0 }));
    }

    #[test]
    fn it_is_told_since_when() {
        let health = after(Track::Room, false, &[seconds(20, hiss(0.1)), seconds(11, |_| 0.0)]);
        assert_eq!(health.ailment(false, false), Some(Ailment::Dead { since_ms: 20_000 }));
        let mut health = after(Track::Room, false, &[seconds(20, hiss(0.1))]);
        health.skip(u64::from(RATE_HZ) * 11, false);
        assert_eq!(health.ailment(false, false), Some(Ailment::Absent { since_ms: 20_000 }));
    }

    #[test]
    fn dither_a_quiet_minute_and_a_short_mute_are_no_ailment() {
        let dither = seconds(50, hiss(1.0 / 32_768.0));
        assert_eq!(after(Track::Room, true, std::slice::from_ref(&dither)).ailment(false, false), None);
        let parts = [dither, seconds(60, hiss(0.05)), seconds(9, |_| 0.0), seconds(1, hiss(0.05))];
        assert_eq!(after(Track::Room, true, &parts).ailment(true, false), None);
    }

    #[test]
    fn a_meeting_in_one_room_has_a_silent_call_and_that_is_right() {
        let silent = seconds(3_600, |_| 0.0);
        assert_eq!(after(Track::Call, false, std::slice::from_ref(&silent)).ailment(true, false), None);
        let asked_for = after(Track::Call, true, std::slice::from_ref(&silent));
        assert_eq!(asked_for.ailment(true, false), Some(Ailment::NeverHeard));
        assert_eq!(asked_for.ailment(false, false), None, "nobody spoke at all");
    }

    #[test]
    fn a_call_that_was_heard_and_fell_silent_is_told_after_minutes() {
        let listening = [seconds(60, hiss(0.1)), seconds(200, |_| 0.0)];
        assert_eq!(after(Track::Call, false, &listening).ailment(true, false), None);
        let dead = [seconds(60, hiss(0.1)), seconds(301, |_| 0.0)];
        assert_eq!(
            after(Track::Call, false, &dead).ailment(true, false),
            Some(Ailment::Dead { since_ms: 60_000 })
        );
    }

    #[test]
    fn the_floor_and_the_ceiling_are_told() {
        let floor = after(Track::Room, false, &[seconds(61, hiss(0.000_5))]);
        assert_eq!(floor.ailment(false, false), Some(Ailment::AtTheFloor));
        let ceiling = after(Track::Room, false, &[seconds(10, hiss(1.0))]);
        assert_eq!(ceiling.ailment(false, false), Some(Ailment::Clipping));
    }
}
