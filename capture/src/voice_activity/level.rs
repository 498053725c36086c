//! A gate that opens for sound that stands out from the steady noise around it.

use super::FRAME_SAMPLES;

/// What speech must stand above the quiet parts at least, in decibels.
const MARGIN_DB: f32 = 4.0;

/// Level below which nothing is speech, in decibels of full scale.
const LEVEL_MIN_DB: f32 = -62.0;

/// The share of frames that count as quiet: a tenth.
const QUIET_SHARE: usize = 10;

/// Opens for frames louder than the quietest tenth of their surroundings.
#[derive(Clone, Copy, Debug)]
pub struct LevelGate {
    opens_at_db: f32,
}

impl LevelGate {
    /// A gate for the frames of `chunk`, measured on it and on the `context` before it.
    pub fn over(context: &[f32], chunk: &[f32]) -> Self {
        let mut levels: Vec<f32> =
            context.chunks(FRAME_SAMPLES).chain(chunk.chunks(FRAME_SAMPLES)).map(level_db).collect();
        levels.sort_by(f32::total_cmp);
        let quiet_db = levels.get(levels.len() / QUIET_SHARE).copied().unwrap_or(LEVEL_MIN_DB);
        Self { opens_at_db: (quiet_db + MARGIN_DB).max(LEVEL_MIN_DB) }
    }

    /// Whether `frame` is loud enough to hold speech.
    pub fn is_open(&self, frame: &[f32]) -> bool {
        level_db(frame) >= self.opens_at_db
    }
}

/// Level in decibels of full scale, never below the lowest that counts.
#[allow(clippy::cast_precision_loss, reason = "a frame's length is small")]
fn level_db(frame: &[f32]) -> f32 {
    let energy: f32 = frame.iter().filter(|sample| sample.is_finite()).map(|sample| sample * sample).sum();
    let level_db = 10.0 * (energy / frame.len().max(1) as f32).log10();
    level_db.max(2.0 * LEVEL_MIN_DB)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steady_sound_stays_out_at_any_level_and_what_rises_above_it_gets_in() {
        for level in [0.000_5, 0.01, 0.3] {
            let mut chunk = vec![level; 100 * FRAME_SAMPLES];
            let gate = LevelGate::over(&[], &chunk);
            assert!(!gate.is_open(&chunk[..FRAME_SAMPLES]), "{level}");
            chunk[50 * FRAME_SAMPLES..60 * FRAME_SAMPLES].fill(level * 3.0);
            let gate = LevelGate::over(&[], &chunk);
            assert!(gate.is_open(&chunk[52 * FRAME_SAMPLES..53 * FRAME_SAMPLES]), "{level}");
            assert!(!gate.is_open(&chunk[70 * FRAME_SAMPLES..71 * FRAME_SAMPLES]), "{level}");
        }
    }

    #[test]
    fn silence_and_nonsense_are_no_speech() {
        for value in [0.0, f32::NAN, f32::INFINITY] {
            let chunk = vec![value; 10 * FRAME_SAMPLES];
            assert!(!LevelGate::over(&chunk, &chunk).is_open(&chunk[..FRAME_SAMPLES]));
        }
        assert!(!LevelGate::over(&[], &[]).is_open(&[]));
    }
}
