//! Sound as samples: files decoded, native audio on disk, and the 16 kHz stream the models listen to.
//!
//! Everything here streams. No function holds more than a block of sound, whatever the length of the
//! file, and a sample is always named by its number from the start of the track, so that times do not
//! drift.

mod decode;
mod native;
mod resample;
mod riff_repair;

pub use decode::{AudioFile, AudioFileError, Damage};
pub use native::{NativeAudioError, NativeReader, NativeWriter};
pub use resample::{ResampleError, SPEECH_RATE_HZ, SpeechResampler};

/// Sample rates a track may have, in samples a second: from the telephone's lowest to the highest any
/// converter offers.
pub const RATE_RANGE_HZ: std::ops::RangeInclusive<u32> = 2_000..=768_000;

/// Whether `sample` is stored as zero.
pub(crate) fn is_digital_silence(sample: f32) -> bool {
    native::to_i16(sample) == 0
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
