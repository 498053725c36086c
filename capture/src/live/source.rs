//! What delivers sound to a recording: a device for real, a script for tests.

use ambient_engine::DeviceChange;

/// A stretch of sound as it was delivered.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// When its first sample sounded, in microseconds on the recording's clock.
    pub at_us: u64,
    /// Samples a second.
    pub rate_hz: u32,
    /// One channel of samples.
    pub samples: Vec<f32>,
}

impl Block {
    /// When its last sample had sounded.
    pub fn end_us(&self) -> u64 {
        self.at_us + length_us(self.samples.len(), self.rate_hz)
    }

    /// Takes off what sounded after `end_us`.
    pub(super) fn cut_at(&mut self, end_us: u64) {
        let kept = u128::from(end_us.saturating_sub(self.at_us)) * u128::from(self.rate_hz) / 1_000_000;
        self.samples.truncate(usize::try_from(kept).unwrap_or(usize::MAX));
    }
}

/// Microseconds that `samples` last.
pub(super) fn length_us(samples: usize, rate_hz: u32) -> u64 {
    (samples as u64).saturating_mul(1_000_000) / u64::from(rate_hz.max(1))
}

/// What comes from a source.
#[derive(Clone, Debug, PartialEq)]
pub enum Delivery {
    /// Sound.
    Block(Block),
    /// Something happened to the device.
    Change(DeviceChange),
}

/// Delivers the sound of one track.
pub trait Source: Send {
    /// Name of the device, as people know it.
    fn name(&self) -> &str;

    /// Samples a second at the start; the track keeps this rate.
    fn rate_hz(&self) -> u32;

    /// Channels of the device before they were mixed to one.
    fn channels(&self) -> u16;

    /// Whether someone asked for this very source, so that its silence is a fault and not a meeting in one
    /// room.
    fn is_expected(&self) -> bool;

    /// Hands over what came since the last call, in order, without waiting.
    fn deliver(&mut self, take: &mut dyn FnMut(Delivery));
}
