//! whisper.cpp, by way of whisper-rs.
//!
//! The model is loaded once and serves every track. Each turn is heard on its own, without the words
//! before it, so that one invented sentence does not bring forth the next. The encoder is told how long
//! the turn is instead of listening to 30 s each time, which makes it more than twice as fast. Now and
//! then that leads it astray; a thorough hearing gives it the whole window it was trained on.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ambient_engine::ModelReference;
use whisper_rs::{
    FullParams, SamplingStrategy, WhisperContext, WhisperContextParameters, WhisperError, WhisperSegment,
    WhisperState,
};

use super::abort::full_unless;
use super::threads::worker_threads;
use super::{Recognition, RecognizeError, RecognizeOptions, RecognizedSegment, Recognizer, quiet_whisper};
use crate::models::ggml::{self, Hyperparameters};

/// Fewer samples than these (1.1 s) are filled up with silence: whisper hears nothing in less than a second.
const SAMPLES_MIN: usize = 17_600;

/// Samples for each of the encoder's positions.
const SAMPLES_PER_POSITION: usize = 320;

/// Positions the encoder gets beyond the turn's own, and the fewest and most it works with.
const POSITIONS_SPARE: usize = 128;
const POSITIONS_MIN: usize = 384;
const POSITIONS_MAX: usize = 1_500;

/// No probability reaches this: whether silence was heard is decided by the guard, which keeps the words.
const NO_SPEECH_NEVER: f32 = 1.1;

/// How whisper works, whatever it hears.
#[derive(Clone, Debug, Default)]
pub struct WhisperSettings {
    /// Threads; none takes one less than the machine has cores.
    pub threads: Option<usize>,
    /// When raised, recognition stops within about a second and says so.
    pub interrupted: Arc<AtomicBool>,
}

/// The whisper.cpp recogniser.
pub struct WhisperRecognizer {
    context: WhisperContext,
    state: WhisperState,
    parameters: Option<(Option<String>, FullParams<'static, 'static>)>,
    settings: WhisperSettings,
    name: String,
    model: ModelReference,
    samples: Vec<f32>,
}

impl WhisperRecognizer {
    /// Loads the ggml model at `path`, which the log will know as `model`.
    ///
    /// # Errors
    /// When the file is not there or whisper.cpp does not take it.
    pub fn load(
        path: &Path,
        model: ModelReference,
        settings: WhisperSettings,
    ) -> Result<Self, RecognizeError> {
        let error = |reason: String| RecognizeError::Model { path: path.to_owned(), reason };
        check_header(path).map_err(error)?;
        quiet_whisper();
        let mut parameters = WhisperContextParameters::default();
        parameters.use_gpu(false);
        let context = WhisperContext::new_with_params(path, parameters)
            .map_err(|_| error("it is not a whole whisper model in ggml form; fetch it again".to_owned()))?;
        let state = context.create_state().map_err(|fault| error(fault.to_string()))?;
        let name = format!("whisper.cpp {}", whisper_rs::get_whisper_version());
        Ok(Self { context, state, parameters: None, settings, name, model, samples: Vec::new() })
    }

    fn parameters_for(
        &mut self,
        options: &RecognizeOptions,
    ) -> Result<FullParams<'static, 'static>, RecognizeError> {
        if let Some((language, parameters)) = &self.parameters
            && *language == options.language
        {
            return Ok(parameters.clone());
        }
        let language = self.language(options)?;
        let mut parameters = FullParams::new(SamplingStrategy::Greedy { best_of: 1 });
        let threads = self.settings.threads.unwrap_or_else(worker_threads);
        parameters.set_n_threads(i32::try_from(threads).unwrap_or(1).max(1));
        parameters.set_language(language);
        parameters.set_no_context(true);
        parameters.set_suppress_blank(true);
        parameters.set_suppress_nst(true);
        parameters.set_no_speech_thold(NO_SPEECH_NEVER);
        parameters.set_print_progress(false);
        parameters.set_print_realtime(false);
        parameters.set_print_special(false);
        parameters.set_print_timestamps(false);
        self.parameters = Some((options.language.clone(), parameters.clone()));
        Ok(parameters)
    }

    /// The language whisper is to use; none has it find out.
    fn language(&self, options: &RecognizeOptions) -> Result<Option<&'static str>, RecognizeError> {
        let multilingual = self.context.is_multilingual();
        let Some(wanted) = options.language.as_deref().filter(|wanted| *wanted != "auto") else {
            return Ok(if multilingual { None } else { Some("en") });
        };
        let refused = |reason: &str| RecognizeError::Language {
            language: wanted.to_owned(),
            reason: reason.to_owned(),
        };
        let known = Some(wanted)
            .filter(|wanted| !wanted.contains('\0'))
            .and_then(whisper_rs::get_lang_id)
            .and_then(whisper_rs::get_lang_str)
            .ok_or_else(|| refused("use a code such as en, de or ja, or leave it out"))?;
        if !multilingual && known != "en" {
            return Err(refused("this model knows English only; choose one without .en in its name"));
        }
        Ok(Some(known))
    }

    fn segment(&self, segment: &WhisperSegment<'_>) -> Result<RecognizedSegment, RecognizeError> {
        let text = segment.to_str_lossy().map_err(|error| RecognizeError::Failed(error.to_string()))?;
        let first_special = self.context.token_eot();
        let (mut tokens, mut sum) = (0_u32, 0.0_f32);
        for token in (0..segment.n_tokens()).filter_map(|index| segment.get_token(index)) {
            let probability = token.token_probability();
            if token.token_id() < first_special && probability.is_finite() {
                tokens += 1;
                sum += probability;
            }
        }
        #[allow(clippy::cast_precision_loss, reason = "a segment has few tokens")]
        let probability = sum / tokens.max(1) as f32;
        Ok(RecognizedSegment {
            start_ms: centiseconds(segment.start_timestamp()),
            end_ms: centiseconds(segment.end_timestamp()),
            text: text.into_owned(),
            tokens,
            probability,
            no_speech_probability: segment.no_speech_probability(),
        })
    }
}

/// Says what keeps the file from being a whisper model, as far as its first bytes tell. whisper.cpp itself
/// takes a file that ends within its header for a model without content.
fn check_header(path: &Path) -> Result<(), String> {
    let mut file = File::open(path).map_err(|source| source.to_string())?;
    let mut header = [0; 4 * 12];
    file.read_exact(&mut header).map_err(|_| "it is too short to be a model; fetch it again".to_owned())?;
    let mut numbers = [0; 12];
    for (number, bytes) in numbers.iter_mut().zip(header.as_chunks().0) {
        *number = u32::from_le_bytes(*bytes);
    }
    let [magic, shape @ ..] = numbers;
    if magic != ggml::MAGIC {
        return Err("it is not in ggml form".to_owned());
    }
    Hyperparameters::from_header(&shape).map(|_| ())
}

fn centiseconds(count: i64) -> u64 {
    u64::try_from(count).unwrap_or(0).saturating_mul(10)
}

impl Recognizer for WhisperRecognizer {
    fn name(&self) -> &str {
        &self.name
    }

    fn model(&self) -> &ModelReference {
        &self.model
    }

    fn check(&self, options: &RecognizeOptions) -> Result<(), RecognizeError> {
        self.language(options).map(|_| ())
    }

    fn recognize(
        &mut self,
        samples: &[f32],
        options: &RecognizeOptions,
    ) -> Result<Recognition, RecognizeError> {
        let mut parameters = self.parameters_for(options)?;
        self.samples.clear();
        self.samples.extend_from_slice(samples);
        self.samples.resize(samples.len().max(SAMPLES_MIN), 0.0);
        let fitted = self.samples.len().div_ceil(SAMPLES_PER_POSITION) + POSITIONS_SPARE;
        let positions =
            if options.thorough { POSITIONS_MAX } else { fitted.clamp(POSITIONS_MIN, POSITIONS_MAX) };
        parameters.set_audio_ctx(i32::try_from(positions).unwrap_or(0));
        let interrupted = self.settings.interrupted.as_ref();
        let outcome = full_unless(interrupted, &mut self.state, parameters, &self.samples);
        if interrupted.load(Ordering::Relaxed) {
            return Err(RecognizeError::Interrupted);
        }
        outcome.map_err(|error: WhisperError| RecognizeError::Failed(error.to_string()))?;
        let segments =
            self.state.as_iter().map(|segment| self.segment(&segment)).collect::<Result<_, _>>()?;
        let language = whisper_rs::get_lang_str(self.state.full_lang_id_from_state()).map(str::to_owned);
        Ok(Recognition { segments, language })
    }
}
