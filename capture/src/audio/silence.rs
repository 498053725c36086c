//! How much of a track is digital silence: samples that are stored as zero.
//!
//! A living room never gives that. It is what a source delivers that is muted, dead or not playing.

use super::{is_digital_silence, millis};

/// Length of the stretches that are looked at.
const STEP_MS: u64 = 10;

/// Counts stretches in which every sample is zero once it is stored.
pub(crate) struct SilenceCount {
    step_len: u64,
    in_step: u64,
    step_is_silent: bool,
    silent_samples: u64,
    rate_hz: u32,
}

impl SilenceCount {
    /// Nothing is counted yet.
    pub(crate) fn new(rate_hz: u32) -> Self {
        let step_len = (u64::from(rate_hz) * STEP_MS / 1_000).max(1);
        Self { step_len, in_step: 0, step_is_silent: true, silent_samples: 0, rate_hz }
    }

    /// Counts on with `block`.
    pub(crate) fn take(&mut self, block: &[f32]) {
        for sample in block {
            self.step_is_silent &= is_digital_silence(*sample);
            self.in_step += 1;
            if self.in_step == self.step_len {
                self.end_step();
            }
        }
    }

    fn end_step(&mut self) {
        if self.step_is_silent {
            self.silent_samples += self.in_step;
        }
        self.in_step = 0;
        self.step_is_silent = true;
    }

    /// Counts on with that many samples of silence.
    pub(crate) fn skip(&mut self, samples: u64) {
        if self.in_step > 0 {
            self.end_step();
        }
        self.silent_samples += samples;
    }

    /// Milliseconds of silence so far.
    pub(crate) fn millis(&self) -> u64 {
        let open = if self.step_is_silent { self.in_step } else { 0 };
        millis(self.silent_samples + open, self.rate_hz)
    }
}
