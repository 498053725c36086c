//! Earshot: a small network that is compiled in, for when no Silero model is there.
//!
//! It takes steady noise for a voice, so it stands behind a [`LevelGate`].

use earshot::Detector;

use super::{CONTEXT_FRAMES, FRAME_SAMPLES, LevelGate, VoiceActivity, VoiceActivityError, sound_probability};

/// Samples the network takes at a time.
const STEP_SAMPLES: usize = 256;

/// The built-in detector.
#[derive(Default)]
pub struct EarshotActivity {
    detector: Box<Detector>,
}

impl EarshotActivity {
    /// A detector, ready to use.
    pub fn new() -> Self {
        Self::default()
    }

    fn step(&mut self, samples: &[f32]) -> f32 {
        let mut step = [0.0; STEP_SAMPLES];
        for (place, sample) in step.iter_mut().zip(samples) {
            *place = if sample.is_finite() { sample.clamp(-1.0, 1.0) } else { 0.0 };
        }
        sound_probability(self.detector.predict_f32(&step))
    }
}

impl VoiceActivity for EarshotActivity {
    fn name(&self) -> &'static str {
        "earshot 1.2, level gate"
    }

    fn probabilities(&mut self, context: &[f32], chunk: &[f32]) -> Result<Vec<f32>, VoiceActivityError> {
        self.detector.reset();
        let context_len = (context.len() / FRAME_SAMPLES).min(CONTEXT_FRAMES) * FRAME_SAMPLES;
        let context = &context[context.len() - context_len..];
        for step in context.chunks(STEP_SAMPLES) {
            self.step(step);
        }
        let gate = LevelGate::over(context, chunk);
        let frames = chunk.chunks(FRAME_SAMPLES).map(|frame| {
            let voice = frame.chunks(STEP_SAMPLES).map(|step| self.step(step)).fold(0.0, f32::max);
            if gate.is_open(frame) { voice } else { 0.0 }
        });
        Ok(frames.collect())
    }
}
