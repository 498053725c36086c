//! Silero, by way of whisper.cpp: the detector of choice. It tells voices from noise, music and tones.
//!
//! whisper.cpp forgets the network's state at every call, so each chunk is heard together with its
//! context, whose probabilities are thrown away.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use whisper_rs::{WhisperVadContext, WhisperVadContextParams};

use super::{CONTEXT_FRAMES, FRAME_SAMPLES, VoiceActivity, VoiceActivityError, sound_probability};
use crate::models::ggml;
use crate::recognizer::quiet_whisper;

/// The network has some 220,000 weights of four bytes; a shorter file is cut off.
const LEN_MIN_BYTES: u64 = 800_000;

/// The Silero detector.
pub struct SileroActivity {
    context: WhisperVadContext,
    name: String,
    samples: Vec<f32>,
}

impl SileroActivity {
    /// Loads the model, a ggml file of about 1 MB.
    ///
    /// # Errors
    /// When the file is not there or whisper.cpp does not take it.
    pub fn load(path: &Path) -> Result<Self, VoiceActivityError> {
        let error =
            |reason: &str| VoiceActivityError::Model { path: path.to_owned(), reason: reason.to_owned() };
        check_start(path).map_err(|reason| error(&reason))?;
        let text = path.to_str().filter(|text| !text.contains('\0')).ok_or_else(|| {
            error("whisper.cpp only opens paths that are valid Unicode; move the models elsewhere")
        })?;
        quiet_whisper();
        let mut parameters = WhisperVadContextParams::default();
        parameters.set_n_threads(1);
        parameters.set_use_gpu(false);
        let context = WhisperVadContext::new(text, parameters)
            .map_err(|_| error("it is not a Silero model in ggml form"))?;
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("silero");
        let name = stem.strip_prefix("ggml-").unwrap_or(stem).replacen('-', " ", 1);
        Ok(Self { context, name, samples: Vec::new() })
    }
}

impl VoiceActivity for SileroActivity {
    fn name(&self) -> &str {
        &self.name
    }

    fn probabilities(&mut self, context: &[f32], chunk: &[f32]) -> Result<Vec<f32>, VoiceActivityError> {
        let frames = chunk.len().div_ceil(FRAME_SAMPLES);
        if frames == 0 {
            return Ok(Vec::new());
        }
        let context_frames = (context.len() / FRAME_SAMPLES).min(CONTEXT_FRAMES);
        self.samples.clear();
        self.samples.extend_from_slice(&context[context.len() - context_frames * FRAME_SAMPLES..]);
        self.samples.extend_from_slice(chunk);
        self.samples.resize((context_frames + frames) * FRAME_SAMPLES, 0.0);
        self.context
            .detect_speech(&self.samples)
            .map_err(|error| VoiceActivityError::Failed(error.to_string()))?;
        let heard = self.context.probabilities().get(context_frames..context_frames + frames);
        let heard = heard.ok_or_else(|| {
            VoiceActivityError::Failed(format!("no answer for {frames} frames behind {context_frames}"))
        })?;
        Ok(heard.iter().map(|probability| sound_probability(*probability)).collect())
    }
}

/// Says what keeps the file from being a model, as far as its first bytes and its length tell. whisper.cpp
/// itself takes a file that ends within its header for a model without content.
fn check_start(path: &Path) -> Result<(), String> {
    let read = |source: std::io::Error| source.to_string();
    let mut file = File::open(path).map_err(read)?;
    let mut magic = [0; 4];
    file.read_exact(&mut magic).map_err(|_| "it is too short to be a model".to_owned())?;
    if u32::from_le_bytes(magic) != ggml::MAGIC {
        return Err("it is not in ggml form".to_owned());
    }
    let len_bytes = file.metadata().map_err(read)?.len();
    if len_bytes < LEN_MIN_BYTES {
        return Err(format!("it has {len_bytes} bytes, too few for a Silero model; fetch it again"));
    }
    Ok(())
}
