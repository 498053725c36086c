//! A recogniser that hears what it is told to: for tests of everything around recognition.

use ambient_engine::ModelReference;

use super::{Recognition, RecognizeError, RecognizeOptions, RecognizedSegment, Recognizer};

type Script<'a> = dyn FnMut(&[f32]) -> Result<Recognition, RecognizeError> + 'a;

/// Answers by a function of the sound it is given.
///
/// ```
/// use ambient_capture::recognizer::{RecognizeOptions, Recognizer, ScriptedRecognizer};
/// let mut recognizer = ScriptedRecognizer::saying(|samples| format!("{} samples", samples.len()));
/// let heard = recognizer.recognize(&[0.0; 160], &RecognizeOptions::default())?;
/// assert_eq!(heard.text(), "160 samples");
/// # Ok::<(), ambient_capture::recognizer::RecognizeError>(())
/// ```
pub struct ScriptedRecognizer<'a> {
    script: Box<Script<'a>>,
    model: ModelReference,
}

impl<'a> ScriptedRecognizer<'a> {
    /// A recogniser that does as `script` says.
    pub fn new(script: impl FnMut(&[f32]) -> Result<Recognition, RecognizeError> + 'a) -> Self {
        let model = ModelReference { name: "script".to_owned(), sha256: String::new() };
        Self { script: Box::new(script), model }
    }

    /// A recogniser that is sure of the words `script` gives.
    pub fn saying(mut script: impl FnMut(&[f32]) -> String + 'a) -> Self {
        Self::new(move |samples| {
            let segment = RecognizedSegment {
                start_ms: 0,
                end_ms: samples.len() as u64 / 16,
                text: script(samples),
                tokens: 1,
                probability: 0.9,
                no_speech_probability: 0.0,
            };
            Ok(Recognition { segments: vec![segment], language: Some("en".to_owned()) })
        })
    }
}

impl Recognizer for ScriptedRecognizer<'_> {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn model(&self) -> &ModelReference {
        &self.model
    }

    fn check(&self, _: &RecognizeOptions) -> Result<(), RecognizeError> {
        Ok(())
    }

    fn recognize(&mut self, samples: &[f32], _: &RecognizeOptions) -> Result<Recognition, RecognizeError> {
        (self.script)(samples)
    }
}
