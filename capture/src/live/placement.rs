//! Where on the recording's clock each delivered sample belongs.
//!
//! A track's file is its timeline: sample `n` sounded at `n / rate` seconds. A device's own count of
//! samples is what places them; the clock is what tells when that count goes wrong:
//!
//! - **Late is not lost.** A block that comes late because something was busy is followed by the rest
//!   faster than time. So a block behind its time waits until it is clear which of the two it was.
//! - **Lost is silence.** Where samples are missing, silence of that length stands in their place.
//! - **Nothing is silence as time passes,** so that 40 seconds in is 40 seconds.
//! - **Drift is stretched away.** Two devices never count at the same speed. Lateness has many causes and
//!   being early has none, so the least late of the last seconds tells how far the count is off. Some
//!   parts in a thousand longer or shorter is not heard.
//!
//! Nothing that was delivered is ever left out.

use std::collections::VecDeque;

use ambient_engine::{DeviceChange, DeviceNote, Track};

use super::source::{Block, length_us};
use crate::audio::{RATE_RANGE_HZ, Resampler, scaled};

/// From this much on a block is behind its time: 250 ms.
const BEHIND_US: i64 = 250_000;

/// How long such a block waits at most for what comes after it.
const SETTLE_US: u64 = 500_000;

/// How far silence stays behind the clock while nothing comes, at least.
const HOLD_US: u64 = 1_500_000;

/// From this much on drift is corrected, and until it is within that.
const DRIFT_BEGIN_US: i64 = 15_000;
const DRIFT_END_US: i64 = 3_000;

/// One sample in this many is added or left out while drift is corrected.
const DRIFT_SHARE: usize = 500;

/// Half of the time over which the least late block is looked for.
const WINDOW_US: u64 = 5_000_000;

/// Silence that is shorter than this is no event.
const EVENT_MIN_US: u64 = 250_000;

/// Silence at the very start that is shorter than this is only how long a device takes to begin.
const START_MAX_US: u64 = 2_000_000;

/// A stretch of the timeline.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// Samples at the track's rate.
    Sound(Vec<f32>),
    /// That many samples of silence, because nothing was delivered.
    Silence(u64),
}

/// Places the blocks of one track.
pub struct Placement {
    track: Track,
    rate_hz: u32,
    /// Samples on the timeline so far.
    placed: u64,
    padded: u64,
    has_begun: bool,
    /// The rate blocks come in, and what brings them to the track's.
    incoming_hz: u32,
    resampler: Option<Resampler>,
    /// Samples that are still in the resampler.
    in_resampler: u64,
    /// Blocks behind their time, until it is clear why.
    waiting: VecDeque<Block>,
    lateness: LeastLate,
    is_correcting: bool,
    longest_block_us: u64,
    /// Where the silence that is going on began, in samples of the timeline.
    silent_since: Option<u64>,
    pieces: Vec<Piece>,
    notes: Vec<DeviceNote>,
}

impl Placement {
    /// An empty timeline of `rate_hz` samples a second.
    pub fn new(track: Track, rate_hz: u32) -> Self {
        Self {
            track,
            rate_hz,
            placed: 0,
            padded: 0,
            has_begun: false,
            incoming_hz: rate_hz,
            resampler: None,
            in_resampler: 0,
            waiting: VecDeque::new(),
            lateness: LeastLate::default(),
            is_correcting: false,
            longest_block_us: 0,
            silent_since: None,
            pieces: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Samples on the timeline, those not yet fetched included.
    pub fn placed(&self) -> u64 {
        self.placed
    }

    /// How many of them are silence because nothing was delivered.
    pub fn padded(&self) -> u64 {
        self.padded
    }

    /// Microseconds on the timeline.
    pub fn placed_us(&self) -> u64 {
        to_us(self.placed, self.rate_hz)
    }

    /// What is to be appended to the track's file, in order.
    pub fn take_pieces(&mut self) -> Vec<Piece> {
        std::mem::take(&mut self.pieces)
    }

    /// Gaps and changes since the last call.
    pub fn take_notes(&mut self) -> Vec<DeviceNote> {
        std::mem::take(&mut self.notes)
    }

    /// Something happened to the device.
    pub fn note(&mut self, change: DeviceChange) {
        let at_ms = self.placed_us() / 1_000;
        self.notes.push(DeviceNote { track: self.track, at_ms, change });
    }

    /// Places the next block, or lets it wait. One without a usable rate is ignored.
    pub fn take(&mut self, block: Block) {
        if block.samples.is_empty() || !RATE_RANGE_HZ.contains(&block.rate_hz) {
            return;
        }
        self.longest_block_us = self.longest_block_us.max(length_us(block.samples.len(), block.rate_hz));
        let end_us = block.end_us();
        self.waiting.push_back(block);
        self.settle(end_us);
    }

    /// Lets time pass up to `now_us`: what waited too long is placed, and where nothing came there is
    /// silence.
    pub fn pass(&mut self, now_us: u64) {
        self.settle(now_us);
        let hold_us = HOLD_US.max(self.longest_block_us * 3 / 2);
        if self.waiting.is_empty() {
            self.pad_to(now_us.saturating_sub(hold_us));
        }
    }

    /// The recording ended at `end_us`: everything is placed, and the timeline reaches just there.
    pub fn end(&mut self, end_us: u64) {
        self.settle(u64::MAX);
        self.flush_resampler();
        self.pad_to(end_us);
        self.end_silence();
    }

    /// Places the blocks that wait, once it is clear whether samples are missing before them.
    fn settle(&mut self, now_us: u64) {
        let Some(first) = self.waiting.front() else { return };
        let waited_us = now_us.saturating_sub(first.end_us());
        let least_us = self.least_behind_us();
        if !self.has_begun {
            if waited_us < SETTLE_US {
                return;
            }
            // Both tracks begin with the recording, whenever their devices begin to deliver. The first block
            // alone does not tell when that was: it may be late because the machine was busy.
            self.has_begun = true;
            self.pad(least_us);
        } else if least_us >= BEHIND_US {
            if waited_us < SETTLE_US {
                return;
            }
            self.pad(least_us);
        }
        while let Some(block) = self.waiting.pop_front() {
            self.place(block);
        }
    }

    /// Where on the clock the next sample to come belongs by the device's count.
    fn position_us(&self) -> u64 {
        to_us(self.placed + self.in_resampler, self.rate_hz)
    }

    /// How far the blocks that wait are behind their time: the least of them, in microseconds.
    fn least_behind_us(&self) -> i64 {
        let mut position_us = self.position_us();
        let mut least_us = i64::MAX;
        for block in &self.waiting {
            least_us = least_us.min(signed(block.at_us) - signed(position_us));
            position_us += length_us(block.samples.len(), block.rate_hz);
        }
        least_us
    }

    fn place(&mut self, block: Block) {
        self.end_silence();
        self.lateness.note(block.at_us, signed(block.at_us) - signed(self.position_us()));
        if block.rate_hz != self.incoming_hz {
            self.change_rate(block.rate_hz);
        }
        let samples = match &mut self.resampler {
            None => block.samples,
            Some(resampler) => {
                let mut samples = Vec::new();
                // The rates were looked at when the resampler was made; it has no other reason to fail.
                if resampler.push(&block.samples, &mut samples).is_err() {
                    samples.clear();
                }
                self.in_resampler += scaled(block.samples.len() as u64, self.rate_hz, block.rate_hz);
                self.in_resampler = self.in_resampler.saturating_sub(samples.len() as u64);
                samples
            }
        };
        let samples = self.correct(samples);
        self.placed += samples.len() as u64;
        self.pieces.push(Piece::Sound(samples));
    }

    /// Makes a block a little longer or shorter while the count is off.
    fn correct(&mut self, samples: Vec<f32>) -> Vec<f32> {
        let Some(off_us) = self.lateness.least_us() else { return samples };
        let limit_us = if self.is_correcting { DRIFT_END_US } else { DRIFT_BEGIN_US };
        self.is_correcting = off_us.abs() >= limit_us;
        if !self.is_correcting || samples.len() < 2 {
            return samples;
        }
        let share = samples.len().div_ceil(DRIFT_SHARE);
        let len =
            if off_us > 0 { samples.len() + share } else { samples.len() - share.min(samples.len() - 2) };
        self.lateness.shift(to_us_signed(samples.len(), len, self.rate_hz));
        stretch(&samples, len)
    }

    fn change_rate(&mut self, rate_hz: u32) {
        self.flush_resampler();
        self.note(DeviceChange::Rate { rate_hz });
        self.incoming_hz = rate_hz;
        if rate_hz != self.rate_hz {
            self.resampler = Resampler::new(rate_hz, self.rate_hz).ok();
        }
    }

    fn flush_resampler(&mut self) {
        let Some(resampler) = self.resampler.take() else { return };
        self.in_resampler = 0;
        let mut samples = Vec::new();
        if resampler.finish(&mut samples).is_ok() && !samples.is_empty() {
            self.placed += samples.len() as u64;
            self.pieces.push(Piece::Sound(samples));
        }
    }

    /// Silence up to `us` on the clock, where the timeline is not there yet.
    fn pad_to(&mut self, us: u64) {
        self.pad(signed(us) - signed(self.placed_us()));
    }

    fn pad(&mut self, len_us: i64) {
        let Ok(len_us) = u64::try_from(len_us) else { return };
        let samples = to_samples(len_us, self.rate_hz);
        if samples == 0 {
            return;
        }
        self.silent_since.get_or_insert(self.placed);
        self.placed += samples;
        self.padded += samples;
        self.lateness = LeastLate::default();
        self.is_correcting = false;
        match self.pieces.last_mut() {
            Some(Piece::Silence(last)) => *last += samples,
            _ => self.pieces.push(Piece::Silence(samples)),
        }
    }

    /// The silence that was going on ended: it is told, when it is worth telling.
    fn end_silence(&mut self) {
        let Some(since) = self.silent_since.take() else { return };
        let len_us = to_us(self.placed - since, self.rate_hz);
        let least_us = if since == 0 { START_MAX_US } else { EVENT_MIN_US };
        if len_us >= least_us {
            let change = DeviceChange::Gap { len_ms: len_us / 1_000 };
            let at_ms = to_us(since, self.rate_hz) / 1_000;
            self.notes.push(DeviceNote { track: self.track, at_ms, change });
        }
    }
}

/// The least late block of the last five to ten seconds; everything in microseconds.
#[derive(Default)]
struct LeastLate {
    since: Option<u64>,
    current: Option<i64>,
    before: Option<i64>,
}

impl LeastLate {
    fn note(&mut self, at_us: u64, late_us: i64) {
        let since = *self.since.get_or_insert(at_us);
        if at_us.saturating_sub(since) >= WINDOW_US {
            self.before = self.current.take();
            self.since = Some(at_us);
        }
        self.current = Some(self.current.map_or(late_us, |least| least.min(late_us)));
    }

    /// None until enough time was looked at.
    fn least_us(&self) -> Option<i64> {
        Some(self.before?.min(self.current?))
    }

    /// The timeline was made longer by `us`.
    fn shift(&mut self, us: i64) {
        for least_us in [&mut self.current, &mut self.before].into_iter().flatten() {
            *least_us -= us;
        }
    }
}

/// `samples` on `len` places, by straight lines between them; the first and the last stay.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "places within a block are small and not negative"
)]
fn stretch(samples: &[f32], len: usize) -> Vec<f32> {
    let step = (samples.len() - 1) as f64 / (len - 1) as f64;
    (0..len)
        .map(|place| {
            let at = place as f64 * step;
            let before = (at as usize).min(samples.len() - 2);
            let share = (at - before as f64) as f32;
            samples[before] + (samples[before + 1] - samples[before]) * share
        })
        .collect()
}

fn signed(us: u64) -> i64 {
    i64::try_from(us).unwrap_or(i64::MAX)
}

fn to_us(samples: u64, rate_hz: u32) -> u64 {
    let us = u128::from(samples) * 1_000_000 / u128::from(rate_hz.max(1));
    u64::try_from(us).unwrap_or(u64::MAX)
}

fn to_samples(us: u64, rate_hz: u32) -> u64 {
    let samples = u128::from(us) * u128::from(rate_hz) / 1_000_000;
    u64::try_from(samples).unwrap_or(u64::MAX)
}

/// By how much `after` samples last longer than `before`.
fn to_us_signed(before: usize, after: usize, rate_hz: u32) -> i64 {
    signed(length_us(after, rate_hz)) - signed(length_us(before, rate_hz))
}
