//! Where delivered sound lands on the clock: jitter, bursts, drift, gaps, silence as time passes, another
//! rate. Everything by a script on a clock that is only a number.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "test signals are small"
)]

use ambient_capture::live::{Block, Piece, Placement};
use ambient_engine::{DeviceChange, DeviceNote, Track};
use proptest::prelude::*;

const RATE_HZ: u32 = 48_000;
const SECOND_US: u64 = 1_000_000;

/// A placement, and the file it would have become: each sample of sound carries the number it was
/// delivered under, silence is 0.
struct Timeline {
    placement: Placement,
    samples: Vec<f32>,
    notes: Vec<DeviceNote>,
}

impl Timeline {
    fn new() -> Self {
        Self { placement: Placement::new(Track::Room, RATE_HZ), samples: Vec::new(), notes: Vec::new() }
    }

    fn take(&mut self, at_us: u64, samples: &[f32]) {
        self.placement.take(Block { at_us, rate_hz: RATE_HZ, samples: samples.to_vec() });
        self.fetch();
    }

    fn pass(&mut self, now_us: u64) {
        self.placement.pass(now_us);
        self.fetch();
    }

    fn end(&mut self, end_us: u64) {
        self.placement.end(end_us);
        self.fetch();
    }

    fn fetch(&mut self) {
        for piece in self.placement.take_pieces() {
            match piece {
                Piece::Sound(samples) => self.samples.extend(samples),
                Piece::Silence(samples) => self.samples.resize(self.samples.len() + samples as usize, 0.0),
            }
        }
        self.notes.extend(self.placement.take_notes());
        assert_eq!(self.samples.len() as u64, self.placement.placed());
    }

    fn millis(&self) -> u64 {
        self.samples.len() as u64 * 1_000 / u64::from(RATE_HZ)
    }

    /// Where the sound of `value` begins, in milliseconds.
    fn found_ms(&self, value: f32) -> u64 {
        let place = self.samples.iter().position(|sample| (sample - value).abs() < 1e-6).unwrap();
        place as u64 * 1_000 / u64::from(RATE_HZ)
    }

    fn gaps(&self) -> Vec<(u64, u64)> {
        let gap = |note: &DeviceNote| match note.change {
            DeviceChange::Gap { len_ms } => Some((note.at_ms, len_ms)),
            _ => None,
        };
        self.notes.iter().filter_map(gap).collect()
    }
}

fn steady(value: f32, len_ms: u64) -> Vec<f32> {
    vec![value; (u64::from(RATE_HZ) * len_ms / 1_000) as usize]
}

#[test]
fn jitter_is_not_padded_and_changes_no_sample() {
    let mut timeline = Timeline::new();
    let mut delivered = Vec::new();
    for block in 0..500_u64 {
        let samples: Vec<f32> = (0..960).map(|n| (block * 960 + n) as f32 / 1e6).collect();
        let late_us = [0, 7_000, 31_000, 2_000, 90_000][block as usize % 5];
        timeline.take(block * 20_000 + late_us, &samples);
        timeline.pass(block * 20_000 + 20_000 + late_us);
        delivered.extend(samples);
    }
    timeline.end(10 * SECOND_US);
    assert_eq!(timeline.samples, delivered);
    assert_eq!(timeline.placement.padded(), 0);
    assert!(timeline.notes.is_empty());
}

#[test]
fn a_burst_after_a_stall_is_late_and_not_lost() {
    let mut timeline = Timeline::new();
    let block = steady(0.5, 20);
    let mut delivered = 0;
    for number in 0..200_u64 {
        // From second 1 to 1.4 the machine was busy: what sounded then arrives at once.
        let arrival_us = (number + 1) * 20_000;
        let arrival_us = if (50..70).contains(&number) { 1_400_000 } else { arrival_us };
        timeline.take(arrival_us - 20_000, &block);
        timeline.pass(arrival_us);
        delivered += block.len();
    }
    timeline.end(4 * SECOND_US);
    assert_eq!(timeline.samples.len(), delivered);
    assert!(timeline.gaps().is_empty());
}

#[test]
fn a_hole_is_silence_of_its_length_at_its_place() {
    let mut timeline = Timeline::new();
    for number in (0..100_u64).chain(205..400) {
        let value = if number < 100 { 0.25 } else { 0.5 };
        timeline.take(number * 20_000, &steady(value, 20));
        timeline.pass((number + 1) * 20_000);
    }
    timeline.end(8 * SECOND_US);
    assert_eq!(timeline.millis(), 8_000);
    assert_eq!(timeline.found_ms(0.5), 4_100, "what came after the hole is where it sounded");
    assert_eq!(timeline.gaps(), [(2_000, 2_100)]);
}

#[test]
fn nothing_is_silence_as_time_passes_and_begins_with_the_recording() {
    let mut timeline = Timeline::new();
    for tick in 1..=1_000_u64 {
        timeline.pass(tick * 40_000);
    }
    assert!((38_000..=40_000).contains(&timeline.millis()), "{} ms after 40 s", timeline.millis());
    timeline.take(50 * SECOND_US, &steady(0.5, 1_000));
    timeline.end(51 * SECOND_US);
    assert_eq!((timeline.found_ms(0.5), timeline.millis()), (50_000, 51_000));
    assert_eq!(timeline.gaps(), [(0, 50_000)]);
}

#[test]
fn a_device_that_begins_late_begins_in_its_place_without_an_event() {
    let mut timeline = Timeline::new();
    timeline.take(180_000, &steady(0.5, 100));
    timeline.end(280_000);
    assert_eq!((timeline.found_ms(0.5), timeline.millis()), (180, 280));
    assert!(timeline.gaps().is_empty());
}

#[test]
fn a_first_block_that_comes_late_moves_nothing() {
    let mut timeline = Timeline::new();
    for number in 0..100_u64 {
        // The device begins at 40 ms; the machine has no time for its first blocks until 400 ms.
        let arrival_us = (60_000 + number * 20_000).max(400_000);
        timeline.take(arrival_us - 20_000, &steady(0.5, 20));
        timeline.pass(arrival_us);
    }
    timeline.end(2_040_000);
    assert_eq!((timeline.found_ms(0.5), timeline.millis()), (40, 2_040));
}

#[test]
fn silence_between_and_at_the_end_is_told_once_each() {
    let mut timeline = Timeline::new();
    timeline.take(0, &steady(0.5, 1_000));
    for tick in 25..250_u64 {
        timeline.pass(tick * 40_000);
    }
    timeline.take(10 * SECOND_US, &steady(0.5, 1_000));
    timeline.pass(11 * SECOND_US);
    timeline.end(15 * SECOND_US);
    assert_eq!(timeline.gaps(), [(1_000, 9_000), (11_000, 4_000)]);
    assert_eq!(timeline.millis(), 15_000);
}

/// Two hours from a device whose clock is off by `ppm`, in blocks with jitter. Gives how far its count is
/// from the clock at the end, in microseconds.
fn off_after_two_hours(ppm: i64, jitter_us: u64) -> i64 {
    let mut placement = Placement::new(Track::Call, RATE_HZ);
    let (mut delivered, mut seed) = (0_u64, 1_u64);
    let real_rate = f64::from(RATE_HZ) * (1.0 + ppm as f64 / 1e6);
    while delivered < u64::from(RATE_HZ) * 7_200 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let late_us = (seed >> 33) % (jitter_us + 1);
        let at_us = (delivered as f64 / real_rate * 1e6) as u64 + late_us;
        placement.take(Block { at_us, rate_hz: RATE_HZ, samples: vec![0.1; 4_800] });
        placement.take_pieces();
        delivered += 4_800;
    }
    assert!(placement.take_notes().is_empty());
    let true_us = (delivered as f64 / real_rate * 1e6) as i64;
    placement.placed_us() as i64 - true_us
}

#[test]
fn devices_eighty_parts_in_a_million_apart_end_together() {
    for ppm in [80, -80, 200, -200, 0] {
        let off_us = off_after_two_hours(ppm, 30_000);
        assert!(off_us.abs() < 50_000, "{ppm} ppm: {off_us} us off");
    }
}

#[test]
fn another_rate_goes_on_in_the_right_place_and_pitch() {
    let mut placement = Placement::new(Track::Room, RATE_HZ);
    let mut samples = Vec::new();
    let tone = |rate_hz: u32, from: u64, len: u64| -> Vec<f32> {
        let turn = |n: u64| (n as f64 * 440.0 * std::f64::consts::TAU / f64::from(rate_hz)).sin() as f32;
        (from..from + len).map(turn).collect()
    };
    for block in 0..20_u64 {
        let (rate_hz, first) = if block < 10 { (48_000, 0) } else { (16_000, 10) };
        let len = u64::from(rate_hz) / 10;
        let sound = tone(rate_hz, (block - first) * len, len);
        placement.take(Block { at_us: block * 100_000, rate_hz, samples: sound });
    }
    placement.end(2 * SECOND_US);
    for piece in placement.take_pieces() {
        match piece {
            Piece::Sound(sound) => samples.extend(sound),
            Piece::Silence(len) => assert!(len < 100, "{len} samples of silence"),
        }
    }
    let changes: Vec<_> = placement.take_notes().into_iter().map(|note| (note.at_ms, note.change)).collect();
    assert_eq!(changes, [(1_000, DeviceChange::Rate { rate_hz: 16_000 })]);
    assert!(samples.len().abs_diff(96_000) < 100, "{}", samples.len());
    let rises = samples[60_000..84_000].windows(2).filter(|pair| pair[0] < 0.0 && pair[1] >= 0.0).count();
    assert!((218..=222).contains(&rises), "{rises} periods in half a second of 440 Hz");
}

proptest! {
    #[test]
    fn nothing_that_was_delivered_is_left_out(
        lates_us in prop::collection::vec(prop_oneof![0_u64..40_000, 0_u64..3_000_000], 1..80),
    ) {
        let mut timeline = Timeline::new();
        let mut arrival_us = 0;
        let mut delivered = 0;
        for late_us in lates_us {
            arrival_us += 20_000 + late_us;
            timeline.pass(arrival_us);
            timeline.take(arrival_us - 20_000, &steady(0.5, 20));
            delivered += 960;
        }
        timeline.end(arrival_us);
        let sound = timeline.samples.iter().filter(|sample| **sample > 0.4).count();
        // Drift may make it a little shorter or longer, and nothing else.
        prop_assert!(sound.abs_diff(delivered) <= delivered / 250 + 2, "{sound} of {delivered}");
        prop_assert_eq!(timeline.samples.len() as u64 - timeline.placement.padded(), sound as u64);
        let end = arrival_us * u64::from(RATE_HZ) / SECOND_US;
        prop_assert!(timeline.samples.len() as u64 >= end, "the timeline reaches the end");
    }
}
