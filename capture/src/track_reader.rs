//! One track's native audio, read as turns with the sound a recogniser needs.
//!
//! Sound is looked at in chunks on a grid that begins with the track, and each chunk's probabilities
//! depend on that chunk and the second before it alone. So a reader taken up behind any turn finds the
//! turns that would have come anyway, to the sample, without hearing the track from its beginning. It
//! holds the sound of one turn and one chunk, however long the track is. A track that is still growing is
//! looked at in short chunks, so that a turn is known soon after it ended.

use std::collections::VecDeque;
use std::path::Path;

use crate::audio::{
    NativeAudioError, NativeReader, ResampleError, Resampler, SPEECH_RATE_HZ, millis, scaled,
};
use crate::turns::{Turn, TurnFinder};
use crate::voice_activity::{
    CHUNK_FRAMES, CONTEXT_FRAMES, FRAME_MS, FRAME_SAMPLES, VoiceActivity, VoiceActivityError,
};

/// Seconds before a chunk from which sound is resampled when a reader is taken up there: the context,
/// and what the filter needs to settle.
const LEAD_IN_S: u64 = 4;

/// Frames in a chunk of a track that is still growing: a quarter of a second.
const GROWING_CHUNK_FRAMES: usize = 8;

/// A track that cannot be listened to any further.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListenError {
    /// Its native audio cannot be read.
    #[error(transparent)]
    Native(#[from] NativeAudioError),
    /// It cannot be brought to 16 kHz.
    #[error(transparent)]
    Resample(#[from] ResampleError),
    /// The voice activity detector failed.
    #[error(transparent)]
    VoiceActivity(#[from] VoiceActivityError),
}

/// Where a track's turns go on: what a reader must know to be taken up again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resumption {
    /// Native samples that need not be looked at again.
    pub done_samples: u64,
    /// Whether the last turn was cut there, and its rest comes next.
    pub was_cut: bool,
}

/// A turn, with its sound.
#[derive(Clone, Debug, PartialEq)]
pub struct HeardTurn {
    /// Where it is, in frames.
    pub turn: Turn,
    /// Start of the speech in milliseconds from the start of the track.
    pub start_ms: u64,
    /// End of the speech, likewise.
    pub end_ms: u64,
    /// First native sample of the speech.
    pub start_sample: u64,
    /// One past the last native sample of the speech.
    pub end_sample: u64,
    /// Native samples that need not be looked at again once this turn is dealt with.
    pub done_samples: u64,
    /// The padded turn at 16 kHz.
    pub samples: Vec<f32>,
}

/// What came of reading on.
#[derive(Debug)]
pub enum Advance {
    /// A turn ended.
    Turn(HeardTurn),
    /// Some sound was looked at, and no turn ended in it.
    Nothing,
    /// The track has to grow before more can be looked at.
    Waiting,
    /// The track is at its end, and every turn was given.
    End,
}

/// Reads one track.
pub struct TrackReader {
    native: NativeReader,
    native_samples: u64,
    native_position: u64,
    resampler: Option<Resampler>,
    /// Sound at 16 kHz from `speech_start` on.
    speech: Vec<f32>,
    speech_start: u64,
    /// First frame of the chunk that is looked at next.
    chunk_start: u64,
    chunk_frames: usize,
    is_growing: bool,
    finder: TurnFinder,
    heard: VecDeque<HeardTurn>,
    is_at_end: bool,
    block: Vec<f32>,
}

impl TrackReader {
    /// Opens the native audio at `path` where `resumption` says; its length is what it is now.
    ///
    /// # Errors
    /// When the file cannot be read or its rate cannot be converted.
    pub fn open(path: &Path, resumption: Resumption) -> Result<Self, ListenError> {
        Self::open_with(path, resumption, CHUNK_FRAMES)
    }

    /// Opens native audio that is still being written; [`look_again`](Self::look_again) tells it of more.
    ///
    /// # Errors
    /// When the file cannot be read or its rate cannot be converted.
    pub fn follow(path: &Path, resumption: Resumption) -> Result<Self, ListenError> {
        let reader = Self::open_with(path, resumption, GROWING_CHUNK_FRAMES)?;
        Ok(Self { is_growing: true, ..reader })
    }

    fn open_with(path: &Path, resumption: Resumption, chunk_frames: usize) -> Result<Self, ListenError> {
        let native = NativeReader::open(path)?;
        let rate_hz = native.rate_hz();
        let done = frame_at(resumption.done_samples, rate_hz);
        let finder = if done == 0 { TurnFinder::new() } else { TurnFinder::resume(done, resumption.was_cut) };
        let chunk_start = done / chunk_frames as u64 * chunk_frames as u64;
        let lead_in_s = (chunk_start * FRAME_MS / 1_000).saturating_sub(LEAD_IN_S);
        Ok(Self {
            native_samples: native.samples()?,
            native_position: lead_in_s * u64::from(rate_hz),
            resampler: Some(Resampler::new(rate_hz, SPEECH_RATE_HZ)?),
            native,
            speech: Vec::new(),
            speech_start: lead_in_s * u64::from(SPEECH_RATE_HZ),
            chunk_start,
            chunk_frames,
            is_growing: false,
            finder,
            heard: VecDeque::new(),
            is_at_end: false,
            block: Vec::new(),
        })
    }

    /// Takes note of how long the track is by now, and whether it will grow further.
    ///
    /// # Errors
    /// When the system cannot tell the file's length.
    pub fn look_again(&mut self, is_growing: bool) -> Result<(), ListenError> {
        if self.is_growing {
            self.native_samples = self.native.samples()?;
            self.is_growing = is_growing;
        }
        Ok(())
    }

    /// Start of the turn that is going on, in milliseconds, as far as the sound was looked at.
    pub fn speaking_since_ms(&self) -> Option<u64> {
        self.finder.speaking_since().map(|frame| frame * FRAME_MS)
    }

    /// Length of the track in native samples.
    pub fn native_samples(&self) -> u64 {
        self.native_samples
    }

    /// Samples a second of the native audio.
    pub fn rate_hz(&self) -> u32 {
        self.native.rate_hz()
    }

    /// How far the sound was looked at, in milliseconds from the start of the track.
    pub fn looked_at_ms(&self) -> u64 {
        (self.chunk_start * FRAME_MS).min(self.len_ms())
    }

    /// Length of the track in milliseconds.
    pub fn len_ms(&self) -> u64 {
        millis(self.native_samples, self.rate_hz())
    }

    /// Gives the next turn, or looks at one more chunk.
    ///
    /// # Errors
    /// When the audio cannot be read, or the detector fails.
    pub fn advance(&mut self, voice_activity: &mut dyn VoiceActivity) -> Result<Advance, ListenError> {
        if let Some(turn) = self.heard.pop_front() {
            return Ok(Advance::Turn(turn));
        }
        if self.is_at_end {
            return Ok(Advance::End);
        }
        let chunk_end = self.chunk_start + self.chunk_frames as u64;
        let is_whole = self.resample_until(chunk_end * FRAME_SAMPLES as u64)?;
        if self.is_growing && !is_whole {
            return Ok(Advance::Waiting);
        }
        self.look_at_chunk(chunk_end, voice_activity)?;
        Ok(self.heard.pop_front().map_or(Advance::Nothing, Advance::Turn))
    }

    fn look_at_chunk(
        &mut self,
        chunk_end: u64,
        voice_activity: &mut dyn VoiceActivity,
    ) -> Result<(), ListenError> {
        let context_start = self.chunk_start.saturating_sub(CONTEXT_FRAMES as u64);
        let context = self.slice(context_start, self.chunk_start);
        let chunk = self.slice(self.chunk_start, chunk_end);
        let frames = chunk.len().div_ceil(FRAME_SAMPLES);
        let probabilities = voice_activity.probabilities(context, chunk)?;
        let known =
            usize::try_from(self.finder.position().saturating_sub(self.chunk_start)).unwrap_or(frames);
        for frame in known..frames {
            self.finder.push(probabilities.get(frame).copied().unwrap_or(0.0));
        }
        if frames < self.chunk_frames {
            self.finder.finish();
            self.is_at_end = true;
        }
        self.chunk_start = chunk_end;
        while let Some(turn) = self.finder.next_turn() {
            let heard = self.with_sound(turn);
            self.heard.push_back(heard);
        }
        let next_context = self.chunk_start.saturating_sub(CONTEXT_FRAMES as u64);
        self.forget_before(self.finder.needed_from().min(next_context));
        Ok(())
    }

    /// Reads native audio until there is sound up to sample `end` at 16 kHz, or no more. Says whether it
    /// got there.
    fn resample_until(&mut self, end: u64) -> Result<bool, ListenError> {
        let rate_hz = self.native.rate_hz();
        while self.speech_start + (self.speech.len() as u64) < end {
            let Some(resampler) = &mut self.resampler else { break };
            let left = self.native_samples.saturating_sub(self.native_position);
            let len = u64::from(rate_hz).min(left);
            self.native.read(self.native_position, usize::try_from(len).unwrap_or(0), &mut self.block)?;
            self.native_position += self.block.len() as u64;
            resampler.push(&self.block, &mut self.speech)?;
            if self.block.is_empty() {
                if self.is_growing {
                    break;
                }
                if let Some(resampler) = self.resampler.take() {
                    resampler.finish(&mut self.speech)?;
                }
            }
        }
        Ok(self.speech_start + self.speech.len() as u64 >= end)
    }

    /// The sound from frame `start` to frame `end`, as far as there is any.
    fn slice(&self, start: u64, end: u64) -> &[f32] {
        let place = |frame: u64| {
            let sample = (frame * FRAME_SAMPLES as u64).saturating_sub(self.speech_start);
            usize::try_from(sample).unwrap_or(usize::MAX).min(self.speech.len())
        };
        &self.speech[place(start)..place(end)]
    }

    fn with_sound(&self, turn: Turn) -> HeardTurn {
        let sample = |frame: u64| sample_at(frame, self.rate_hz()).min(self.native_samples);
        HeardTurn {
            turn,
            start_ms: turn.start * FRAME_MS,
            end_ms: (turn.end * FRAME_MS).min(self.len_ms()),
            start_sample: sample(turn.start),
            end_sample: sample(turn.end),
            done_samples: sample(turn.done),
            samples: self.slice(turn.padded_start, turn.padded_end).to_vec(),
        }
    }

    fn forget_before(&mut self, frame: u64) {
        let sample = (frame * FRAME_SAMPLES as u64).saturating_sub(self.speech_start);
        let len = usize::try_from(sample).unwrap_or(usize::MAX).min(self.speech.len());
        self.speech.drain(..len);
        self.speech_start += len as u64;
    }
}

/// The native sample at which frame `frame` begins, rounded down.
fn sample_at(frame: u64, rate_hz: u32) -> u64 {
    let samples =
        u128::from(frame) * FRAME_SAMPLES as u128 * u128::from(rate_hz) / u128::from(SPEECH_RATE_HZ);
    u64::try_from(samples).unwrap_or(u64::MAX)
}

/// The frame that begins at native sample `sample`; the way back from [`sample_at`].
fn frame_at(sample: u64, rate_hz: u32) -> u64 {
    scaled(sample, SPEECH_RATE_HZ, rate_hz).div_ceil(FRAME_SAMPLES as u64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::audio::RATE_RANGE_HZ;

    proptest! {
        #[test]
        fn frames_and_native_samples_lead_to_one_another(
            frame in 0_u64..100_000_000,
            rate_hz in RATE_RANGE_HZ,
        ) {
            prop_assert_eq!(frame_at(sample_at(frame, rate_hz), rate_hz), frame);
        }
    }
}
