//! One rate to another, streaming: any to the 16 kHz the models listen to, and a device's new one to that
//! of its track.
//!
//! The filter's state is kept from block to block and its delay is taken off, so that sample `n` of the
//! result is the sound at `n / to_hz` seconds, exactly, for any length. The filter works in blocks that
//! divide a second: a stream begun anew at a whole second gives, after its first second, the very same
//! samples as one that came from the beginning. A resumed run can rely on that.

use rubato::audioadapter_buffers::direct::SequentialSlice;
use rubato::{Fft, FixedSync, Indexing, Resampler as _, WindowFunction};

use super::{RATE_RANGE_HZ, scaled};

/// Samples a second of what the models listen to.
pub const SPEECH_RATE_HZ: u32 = 16_000;

/// Longest block of the filter in milliseconds, unless the rates share no shorter one.
const BLOCK_MAX_MS: u32 = 50;

/// A rate that cannot be converted, or a fault of the filter.
#[derive(Debug, thiserror::Error)]
#[error("sound at {from_hz} Hz cannot be brought to {to_hz} Hz: {reason}")]
pub struct ResampleError {
    /// The rate that came in.
    pub from_hz: u32,
    /// The rate that was wanted.
    pub to_hz: u32,
    /// What the filter said.
    pub reason: String,
}

/// Brings samples of one rate to another.
///
/// ```
/// use ambient_capture::audio::{Resampler, SPEECH_RATE_HZ};
/// # fn main() -> Result<(), ambient_capture::audio::ResampleError> {
/// let mut resampler = Resampler::new(48_000, SPEECH_RATE_HZ)?;
/// let mut speech = Vec::new();
/// resampler.push(&[0.0; 4_801], &mut speech)?;
/// resampler.finish(&mut speech)?;
/// assert_eq!(speech.len(), 1_601);
/// # Ok(())
/// # }
/// ```
pub struct Resampler {
    from_hz: u32,
    to_hz: u32,
    /// None where the rates are the same and samples pass through.
    filter: Option<Filter>,
    samples_in: u64,
    samples_out: u64,
}

struct Filter {
    fft: Fft<f32>,
    pending: Vec<f32>,
    /// Samples of the filter's delay still to be taken off.
    delay: usize,
    output: Vec<f32>,
}

impl Resampler {
    /// A resampler of sound at `from_hz` to `to_hz`.
    ///
    /// # Errors
    /// When a rate is out of range.
    pub fn new(from_hz: u32, to_hz: u32) -> Result<Self, ResampleError> {
        let error = |reason: String| ResampleError { from_hz, to_hz, reason };
        if !(RATE_RANGE_HZ.contains(&from_hz) && RATE_RANGE_HZ.contains(&to_hz)) {
            return Err(error("the rate is out of range".to_owned()));
        }
        let filter = if from_hz == to_hz {
            None
        } else {
            let fft = Fft::new_custom(
                from_hz as usize,
                to_hz as usize,
                block_len(from_hz, to_hz),
                1,
                1,
                WindowFunction::BlackmanHarris2,
                FixedSync::Input,
            )
            .map_err(|fault| error(fault.to_string()))?;
            let output = vec![0.0; fft.output_frames_max()];
            Some(Filter { delay: fft.output_delay(), fft, pending: Vec::new(), output })
        };
        Ok(Self { from_hz, to_hz, filter, samples_in: 0, samples_out: 0 })
    }

    /// Takes the next samples and appends to `into` what is ready.
    ///
    /// # Errors
    /// When the filter fails, which no input should make it do.
    pub fn push(&mut self, samples: &[f32], into: &mut Vec<f32>) -> Result<(), ResampleError> {
        self.samples_in += samples.len() as u64;
        let before = into.len();
        match &mut self.filter {
            None => into.extend_from_slice(samples),
            Some(filter) => filter.push(samples, into).map_err(|reason| ResampleError {
                from_hz: self.from_hz,
                to_hz: self.to_hz,
                reason,
            })?,
        }
        self.samples_out += (into.len() - before) as u64;
        Ok(())
    }

    /// Appends what is still in the filter. All in all, as many samples have come out as the sound lasts.
    ///
    /// # Errors
    /// When the filter fails, which no input should make it do.
    pub fn finish(mut self, into: &mut Vec<f32>) -> Result<(), ResampleError> {
        let due = scaled(self.samples_in, self.to_hz, self.from_hz);
        if let Some(filter) = &mut self.filter {
            let missing = usize::try_from(due.saturating_sub(self.samples_out)).unwrap_or(0);
            let end = into.len() + missing;
            while into.len() < end {
                let silence = vec![0.0; filter.fft.input_frames_next() - filter.pending.len()];
                filter.push(&silence, into).map_err(|reason| ResampleError {
                    from_hz: self.from_hz,
                    to_hz: self.to_hz,
                    reason,
                })?;
            }
            into.truncate(end);
        }
        Ok(())
    }
}

impl Filter {
    fn push(&mut self, samples: &[f32], into: &mut Vec<f32>) -> Result<(), String> {
        self.pending.extend_from_slice(samples);
        let mut start = 0;
        loop {
            let block_len = self.fft.input_frames_next();
            let Some(block) = self.pending.get(start..start + block_len) else { break };
            let input = SequentialSlice::new(block, 1, block_len).map_err(|fault| fault.to_string())?;
            let capacity = self.output.len();
            let mut output =
                SequentialSlice::new_mut(&mut self.output, 1, capacity).map_err(|fault| fault.to_string())?;
            let (_, made) = self
                .fft
                .process_into_buffer(&input, &mut output, None::<&Indexing>)
                .map_err(|fault| fault.to_string())?;
            let skipped = self.delay.min(made);
            self.delay -= skipped;
            into.extend_from_slice(&self.output[skipped..made]);
            start += block_len;
        }
        self.pending.drain(..start);
        Ok(())
    }
}

/// The longest block up to [`BLOCK_MAX_MS`] of which a whole number makes a second, in samples at
/// `from_hz`, such that as many whole samples at `to_hz` correspond to it.
fn block_len(from_hz: u32, to_hz: u32) -> usize {
    let shared = greatest_common_divisor(from_hz, to_hz);
    let smallest = from_hz / shared;
    let wanted = from_hz / (1_000 / BLOCK_MAX_MS) / smallest;
    let multiple = (1..=wanted.max(1)).rev().find(|multiple| shared.is_multiple_of(*multiple)).unwrap_or(1);
    (smallest * multiple) as usize
}

fn greatest_common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}
