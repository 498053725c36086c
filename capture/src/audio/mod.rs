//! Sound as samples: files decoded, native audio on disk, and the 16 kHz stream the models listen to.
//!
//! Everything here streams. No function holds more than a block of sound, whatever the length of the
//! file, and a sample is always named by its number from the start of the track, so that times do not
//! drift.

mod decode;
mod native;
mod resample;
mod riff_repair;
mod silence;

pub use decode::{AudioFile, AudioFileError, Damage};
pub(crate) use native::to_i16;
pub use native::{NativeAudioError, NativeReader, NativeWriter};
pub use resample::{ResampleError, Resampler, SPEECH_RATE_HZ};
pub(crate) use silence::SilenceCount;

/// Sample rates a track may have, in samples a second: from the telephone's lowest to the highest any
/// converter offers.
pub const RATE_RANGE_HZ: std::ops::RangeInclusive<u32> = 2_000..=768_000;

/// Appends to `mono` the mean of each frame of `interleaved`: how every source becomes one channel. What is
/// not a number is silence.
#[allow(clippy::cast_precision_loss, reason = "a source has few channels")]
pub(crate) fn mix_to_mono(interleaved: &[f32], channels: usize, mono: &mut Vec<f32>) {
    let share = 1.0 / channels.max(1) as f32;
    mono.extend(interleaved.chunks_exact(channels.max(1)).map(|frame| {
        let mean = frame.iter().sum::<f32>() * share;
        if mean.is_finite() { mean } else { 0.0 }
    }));
}

/// Whether `sample` is stored as zero.
pub(crate) fn is_digital_silence(sample: f32) -> bool {
    to_i16(sample) == 0
}

/// Milliseconds that `samples` last at `rate_hz`, rounded up; 0 at a rate of 0.
///
/// ```
/// assert_eq!(ambient_capture::audio::millis(44_101, 44_100), 1001);
/// ```
pub fn millis(samples: u64, rate_hz: u32) -> u64 {
    scaled(samples, 1_000, rate_hz)
}

/// `samples` at `from_hz` counted at `to_hz` instead, rounded up; 0 when `from_hz` is 0.
pub fn scaled(samples: u64, to_hz: u32, from_hz: u32) -> u64 {
    if from_hz == 0 {
        return 0;
    }
    let scaled = (u128::from(samples) * u128::from(to_hz)).div_ceil(u128::from(from_hz));
    u64::try_from(scaled).unwrap_or(u64::MAX)
}
