//! A model is tried before it is called usable: it must load, and a recogniser can be made to listen to a sentence whose
//! words are known.

use super::catalogue::Purpose;
use std::path::{Path, PathBuf};
use whisper_rs::{
    FullParams, SamplingStrategy, WhisperContext, WhisperContextParameters, WhisperError, WhisperVadContext,
    WhisperVadContextParams,
};

/// Percent of wrong words beyond which a model is called unusable. The smallest model gets about one word in
/// eighteen wrong; one whose weights are mixed up gets none right.
const WRONG_WORDS_CEILING_PERCENT: usize = 35;
/// whisper.cpp is given at least this much sound: 1.1 s at 16 kHz.
const LEAST_SAMPLES: usize = 17_600;
/// Samples that one frame of the encoder stands for.
const FRAME_SAMPLES: usize = 320;

/// Why a model is not usable.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// It cannot be loaded.
    #[error("{}: whisper.cpp cannot load it: {reason}", path.display())]
    Load {
        /// The model.
        path: PathBuf,
        /// What was said.
        reason: String,
    },
    /// It loads but does not run.
    #[error("{}: it loads, but recognition fails: {reason}", path.display())]
    Run {
        /// The model.
        path: PathBuf,
        /// What was said.
        reason: String,
    },
    /// It runs but hears other words.
    #[error("{}: of a known sentence it heard {heard:?}, where {expected:?} is said; it is no usable model", path.display())]
    Words {
        /// The model.
        path: PathBuf,
        /// What it heard.
        heard: String,
        /// What is said.
        expected: String,
    },
}

/// Speech whose words are known.
#[derive(Clone, Copy, Debug)]
pub struct KnownSentence<'a> {
    /// The sound: mono, 16 kHz, from -1 to 1; at most 30 s.
    pub samples: &'a [f32],
    /// What is said.
    pub words: &'a str,
    /// In which language, as a code such as `en`.
    pub language: &'a str,
}

/// Loads the model and lets go of it again. Nothing is printed.
///
/// # Errors
/// [`TrialError::Load`].
pub fn load(path: &Path, purpose: Purpose) -> Result<(), TrialError> {
    match purpose {
        Purpose::Recognition => recogniser(path).map(drop),
        Purpose::VoiceActivity => {
            whisper_rs::install_logging_hooks();
            let not_loaded = |reason: String| TrialError::Load { path: path.to_owned(), reason };
            let text = path.to_str().filter(|text| !text.contains('\0'));
            let text = text.ok_or_else(|| not_loaded("its path is not UTF-8".into()))?;
            WhisperVadContext::new(text, WhisperVadContextParams::new())
                .map(drop)
                .map_err(|e| not_loaded(e.to_string()))
        }
    }
}

/// Has a recogniser listen to a sentence; gives what it heard.
///
/// # Errors
/// [`TrialError`], also when more than a third of the words are wrong.
pub fn listen(path: &Path, sentence: &KnownSentence<'_>) -> Result<String, TrialError> {
    let not_run = |e: WhisperError| TrialError::Run { path: path.to_owned(), reason: e.to_string() };
    let context = recogniser(path)?;
    let mut state = context.create_state().map_err(not_run)?;
    let mut parameters = FullParams::new(SamplingStrategy::Greedy { best_of: 1 });
    parameters.set_language(Some(sentence.language));
    // whisper.cpp's threads wait for each other busily: one core is left to the rest of the machine.
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    parameters.set_n_threads(i32::try_from(cores - 1).unwrap_or(1).clamp(1, 8));
    parameters.set_print_progress(false);
    parameters.set_print_realtime(false);
    parameters.set_print_timestamps(false);
    parameters.set_print_special(false);
    let mut samples = sentence.samples.to_vec();
    samples.resize(samples.len().max(LEAST_SAMPLES), 0.0);
    // The encoder looks at the sentence and a little silence instead of 30 s.
    let frames = (samples.len() / FRAME_SAMPLES + 128).clamp(384, 1500);
    parameters.set_audio_ctx(i32::try_from(frames).unwrap_or(0));
    state.full(parameters, &samples).map_err(not_run)?;
    let mut heard = String::new();
    for segment in state.as_iter() {
        heard.push_str(&segment.to_str_lossy().map_err(not_run)?);
    }
    let heard = heard.trim().to_owned();
    if wrong_words(&heard, sentence.words) * 100 > words(sentence.words).len() * WRONG_WORDS_CEILING_PERCENT {
        let expected = sentence.words.to_owned();
        return Err(TrialError::Words { path: path.to_owned(), heard, expected });
    }
    Ok(heard)
}

fn recogniser(path: &Path) -> Result<WhisperContext, TrialError> {
    whisper_rs::install_logging_hooks();
    WhisperContext::new_with_params(path, WhisperContextParameters::default())
        .map_err(|e| TrialError::Load { path: path.to_owned(), reason: e.to_string() })
}

/// How many words to change, add or drop to get from `heard` to `expected`.
fn wrong_words(heard: &str, expected: &str) -> usize {
    let (heard, expected) = (words(heard), words(expected));
    let mut row: Vec<usize> = (0..=heard.len()).collect();
    for (done, wanted) in expected.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = done + 1;
        for (at, word) in heard.iter().enumerate() {
            let changed = diagonal + usize::from(word != wanted);
            diagonal = row[at + 1];
            row[at + 1] = changed.min(row[at] + 1).min(diagonal + 1);
        }
    }
    row[heard.len()]
}

/// Words without case and punctuation.
fn words(text: &str) -> Vec<String> {
    let bare =
        |word: &str| word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    text.split_whitespace().map(bare).filter(|word: &String| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_without_case_and_punctuation() {
        let heard = "He was not, an ill-disposed young man!";
        assert_eq!(wrong_words(heard, "he was not an illdisposed young man"), 0);
        assert_eq!(wrong_words("", "one two"), 2);
        assert_eq!(wrong_words("one three", "one two"), 1);
        assert_eq!(wrong_words("one and two", "one two"), 1);
        assert_eq!(wrong_words("two", "one two three four"), 3);
        assert_eq!(wrong_words("anything", ""), 1);
    }

    #[test]
    fn what_is_not_there_cannot_be_loaded() {
        let path = Path::new("/nonexistent/ggml-tiny.bin");
        for purpose in [Purpose::Recognition, Purpose::VoiceActivity] {
            let message = load(path, purpose).unwrap_err().to_string();
            assert!(message.starts_with("/nonexistent/ggml-tiny.bin: "), "{message}");
        }
    }
}
