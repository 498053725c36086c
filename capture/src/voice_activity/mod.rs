//! How likely each thirty-second part of a second holds a voice.
//!
//! A detector is asked about one chunk of sound at a time, with the second before it as context, and
//! remembers nothing in between. So what it says about a frame depends on the sound around that frame
//! alone, and a run that is taken up again in the middle hears what it would have heard anyway. Chunks
//! lie on a grid that begins with the track.

mod earshot;
mod level;
mod silero;

pub use self::earshot::EarshotActivity;
pub use self::level::LevelGate;
pub use self::silero::SileroActivity;

/// Samples at 16 kHz in a frame.
pub const FRAME_SAMPLES: usize = 512;

/// Length of a frame.
pub const FRAME_MS: u64 = 32;

/// Frames in a chunk: 8 s, a whole number of seconds and of frames.
pub const CHUNK_FRAMES: usize = 250;

/// Frames of context before a chunk: about a second.
pub const CONTEXT_FRAMES: usize = 32;

/// A detector that could not be made, or failed at its work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VoiceActivityError {
    /// The model file is missing or is not what it should be.
    #[error("the voice activity model {path} cannot be used: {reason}", path = path.display())]
    Model {
        /// The file.
        path: std::path::PathBuf,
        /// Why.
        reason: String,
    },
    /// The detector failed on some sound.
    #[error("voice activity detection failed: {0}")]
    Failed(String),
}

/// Tells speech from everything else.
pub trait VoiceActivity {
    /// Name and model, as the log keeps them: `silero v6.2.0`.
    fn name(&self) -> &str;

    /// The probability of speech, 0 to 1, for each frame of `chunk`; the last frame may be short. Both
    /// are samples at 16 kHz, and `context` is what comes directly before, as far as there is any.
    ///
    /// # Errors
    /// When the detector fails.
    fn probabilities(&mut self, context: &[f32], chunk: &[f32]) -> Result<Vec<f32>, VoiceActivityError>;
}

/// A probability that can be relied on: what is not a number is no speech.
pub(crate) fn sound_probability(probability: f32) -> f32 {
    if probability.is_finite() { probability.clamp(0.0, 1.0) } else { 0.0 }
}
