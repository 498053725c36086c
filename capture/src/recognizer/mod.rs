//! From a turn's sound to words, behind a trait: whisper.cpp for real, a scripted one for tests.

mod abort;
mod scripted;
mod threads;
mod whisper;

use std::path::PathBuf;
use std::sync::Once;

use ambient_engine::ModelReference;

pub use scripted::ScriptedRecognizer;
pub use whisper::{WhisperRecognizer, WhisperSettings};

/// What to listen for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecognizeOptions {
    /// Language as an ISO 639-1 code; none lets the recogniser find out.
    pub language: Option<String>,
    /// Whether to take all the time it needs: for a turn that came out wrong when it was heard quickly.
    pub thorough: bool,
}

/// A piece of what was recognised.
#[derive(Clone, Debug, PartialEq)]
pub struct RecognizedSegment {
    /// Start in milliseconds from the first sample.
    pub start_ms: u64,
    /// End in milliseconds from the first sample.
    pub end_ms: u64,
    /// The words, with the space before them where the language has one.
    pub text: String,
    /// Tokens the words were made of.
    pub tokens: u32,
    /// Mean probability of those tokens, 0 to 1.
    pub probability: f32,
    /// Probability that there was no speech, 0 to 1.
    pub no_speech_probability: f32,
}

/// What was recognised in a turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recognition {
    /// The pieces in order.
    pub segments: Vec<RecognizedSegment>,
    /// Language as an ISO 639-1 code, when known.
    pub language: Option<String>,
}

impl Recognition {
    /// All words on one line, single spaces between them.
    pub fn text(&self) -> String {
        let joined: String = self.segments.iter().map(|segment| segment.text.as_str()).collect();
        joined.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Mean probability of all tokens, 0 to 1; 0 when there are none.
    #[allow(clippy::cast_precision_loss, reason = "a turn has few tokens")]
    pub fn confidence(&self) -> f32 {
        let tokens: u32 = self.segments.iter().map(|segment| segment.tokens).sum();
        let sum: f32 = self.segments.iter().map(|segment| segment.probability * segment.tokens as f32).sum();
        let mean = sum / tokens.max(1) as f32;
        if mean.is_finite() { mean.clamp(0.0, 1.0) } else { 0.0 }
    }

    /// The lowest probability of a piece that there was no speech; 0 when there are no pieces.
    pub fn no_speech_probability(&self) -> f32 {
        let lowest =
            self.segments.iter().map(|segment| segment.no_speech_probability).fold(f32::INFINITY, f32::min);
        if lowest.is_finite() { lowest } else { 0.0 }
    }
}

/// A recogniser that could not be made, or failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecognizeError {
    /// The model file is missing or is not what it should be.
    #[error("the recognition model {path} cannot be used: {reason}", path = path.display())]
    Model {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The language is not known, or not to this model.
    #[error("the language {language:?} cannot be recognised: {reason}")]
    Language {
        /// What was asked for.
        language: String,
        /// Why not.
        reason: String,
    },
    /// It was told to stop; nothing was recognised.
    #[error("recognition was interrupted")]
    Interrupted,
    /// It failed on some sound.
    #[error("recognition failed: {0}")]
    Failed(String),
}

/// Turns sound into words.
pub trait Recognizer {
    /// Name and version, as the log keeps them: `whisper.cpp 1.8.3`.
    fn name(&self) -> &str;

    /// The model it works with.
    fn model(&self) -> &ModelReference;

    /// Says before any work whether `options` can be met.
    ///
    /// # Errors
    /// When the language is unknown, or the model does not speak it.
    fn check(&self, options: &RecognizeOptions) -> Result<(), RecognizeError>;

    /// Recognises the words in `samples`, a turn of at most 30 s at 16 kHz.
    ///
    /// # Errors
    /// When it is interrupted or fails.
    fn recognize(
        &mut self,
        samples: &[f32],
        options: &RecognizeOptions,
    ) -> Result<Recognition, RecognizeError>;
}

/// Keeps what whisper.cpp has to say off the terminal: it goes to the `log` facade, for whoever listens.
pub(crate) fn quiet_whisper() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(whisper_rs::install_logging_hooks);
}
