//! How loud a track is, for the eye: the level of the last moments and the highest of the last seconds.

/// How long a peak is shown.
const HOLD_MS: u64 = 2_000;

/// What is shown for no sound at all.
pub const SILENCE_DB: f32 = -96.0;

/// Measures a track's level.
#[derive(Debug)]
pub(super) struct LevelMeter {
    rate_hz: u32,
    energy: f64,
    samples: u64,
    peak: f32,
    held: f32,
    held_for: u64,
}

impl LevelMeter {
    /// A meter of sound at `rate_hz`.
    pub(super) fn new(rate_hz: u32) -> Self {
        Self { rate_hz, energy: 0.0, samples: 0, peak: 0.0, held: 0.0, held_for: 0 }
    }

    /// Measures on.
    pub(super) fn take(&mut self, samples: &[f32]) {
        for sample in samples {
            self.energy += f64::from(*sample) * f64::from(*sample);
            self.peak = self.peak.max(sample.abs());
        }
        self.pass(samples.len() as u64);
    }

    /// That many samples of silence.
    pub(super) fn pass(&mut self, samples: u64) {
        self.samples += samples;
        self.held_for += samples;
    }

    /// Level since the last reading, and the peak that is shown, in decibels of full scale.
    #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "a figure for the eye")]
    pub(super) fn read(&mut self) -> (f32, f32) {
        if self.peak >= self.held || self.held_for >= u64::from(self.rate_hz) * HOLD_MS / 1_000 {
            self.held = self.peak;
            self.held_for = 0;
        }
        let mean = (self.energy / self.samples.max(1) as f64).sqrt() as f32;
        (self.energy, self.samples, self.peak) = (0.0, 0, 0.0);
        (decibels(mean), decibels(self.held))
    }
}

fn decibels(amplitude: f32) -> f32 {
    (20.0 * amplitude.log10()).max(SILENCE_DB)
}
