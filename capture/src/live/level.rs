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
    level_db: f32,
}

impl LevelMeter {
    /// A meter of sound at `rate_hz`.
    pub(super) fn new(rate_hz: u32) -> Self {
        Self { rate_hz, energy: 0.0, samples: 0, peak: 0.0, held: 0.0, held_for: 0, level_db: SILENCE_DB }
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

    /// Level since the last reading, and the peak that is shown, in decibels of full scale. Sound comes in
    /// blocks: where none came since, the level is that of the last.
    #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "a figure for the eye")]
    pub(super) fn read(&mut self) -> (f32, f32) {
        if self.peak >= self.held || self.held_for >= u64::from(self.rate_hz) * HOLD_MS / 1_000 {
            self.held = self.peak;
            self.held_for = 0;
        }
        if self.samples > 0 {
            self.level_db = decibels((self.energy / self.samples as f64).sqrt() as f32);
        }
        (self.energy, self.samples, self.peak) = (0.0, 0, 0.0);
        (self.level_db, decibels(self.held))
    }
}

fn decibels(amplitude: f32) -> f32 {
    (20.0 * amplitude.log10()).max(SILENCE_DB)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_two_blocks_the_level_is_that_of_the_last() {
        let mut meter = LevelMeter::new(1_000);
        let is_at = |meter: &mut LevelMeter, level_db: f32| (meter.read().0 - level_db).abs() < 0.01;
        assert!(is_at(&mut meter, SILENCE_DB));
        meter.take(&[0.1; 200]);
        for _ in 0..3 {
            assert!(is_at(&mut meter, -20.0));
        }
        meter.pass(200);
        assert!(is_at(&mut meter, SILENCE_DB), "silence is a block too");
    }
}
