//! The mel filters a Whisper file carries: which frequencies belong to which band.
//!
//! The published files carry the Slaney filterbank as librosa computes it, in f32 weights scaled in f64. Here it
//! is computed from additions, multiplications and divisions alone, which IEEE 754 makes the same on every
//! machine; the exponential of a system's mathematics library may differ in its last bit, and then the
//! checksum of a converted model would.

use super::super::ggml::FREQUENCY_BINS;

/// Hertz a mel spans where the scale is linear, below 1000 Hz.
const LINEAR_STEP_HZ: f64 = 200.0 / 3.0;
/// Where the scale turns logarithmic.
const KNEE_HZ: f64 = 1000.0;
/// ln(6.4) / 27: the logarithmic step from one mel to the next above the knee.
const LOG_STEP: f64 = 1.856_297_990_365_626_3 / 27.0;
/// ln(8): whisper's highest frequency, 8000 Hz, stands eight times above the knee.
const LOG_TOP: f64 = 2.079_441_541_679_835_7;
/// Hertz between two bins: 16 000 samples a second in a window of 400.
const BIN_HZ: f64 = 40.0;

/// Filters for `mels` bands: row by row, [`FREQUENCY_BINS`] weights each.
///
/// ```
/// let filters = ambient_capture::models::ct2::mel::filters(80);
/// assert_eq!(filters.len(), 80 * 201);
/// ```
pub fn filters(mels: u32) -> Vec<f32> {
    let knee_mels = KNEE_HZ / LINEAR_STEP_HZ;
    let top_mels = knee_mels + LOG_TOP / LOG_STEP;
    let edge_hz = |band: u32| {
        let at = top_mels * f64::from(band) / f64::from(mels + 1);
        if at < knee_mels { at * LINEAR_STEP_HZ } else { KNEE_HZ * exponential(LOG_STEP * (at - knee_mels)) }
    };
    let mut weights = Vec::new();
    for band in 0..mels {
        let (low, middle, high) = (edge_hz(band), edge_hz(band + 1), edge_hz(band + 2));
        let scale = 2.0 / (high - low);
        for bin in 0..FREQUENCY_BINS {
            let hz = f64::from(bin) * BIN_HZ;
            let slope = ((hz - low) / (middle - low)).min((high - hz) / (high - middle)).max(0.0);
            weights.push(narrowed(f64::from(narrowed(slope)) * scale));
        }
    }
    weights
}

#[expect(clippy::cast_possible_truncation, reason = "rounding to f32 is what the published files do")]
fn narrowed(weight: f64) -> f32 {
    weight as f32
}

/// e to the power of `x`, for `x` from 0 to 3: the series, summed from its smallest term.
fn exponential(x: f64) -> f64 {
    (1..=40).rev().fold(1.0, |sum, n| 1.0 + x / f64::from(n) * sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_is_that_of_the_mathematics_library_to_a_few_last_bits() {
        for step in 0..300 {
            let x = f64::from(step) / 100.0;
            assert!((exponential(x) / x.exp() - 1.0).abs() < 1e-15, "{x}");
        }
    }

    #[test]
    fn bands_rise_and_fall_once_and_the_ends_hear_nothing() {
        for mels in [80_u32, 128] {
            let all = filters(mels);
            let mut last_peak = 0;
            for row in all.chunks(FREQUENCY_BINS as usize) {
                let peak = (0..row.len()).max_by(|a, b| row[*a].total_cmp(&row[*b])).unwrap();
                assert!(row[..peak].is_sorted() && row[peak..].is_sorted_by(|a, b| a >= b));
                assert!(peak >= last_peak);
                assert_eq!((row[0], row[row.len() - 1]), (0.0, 0.0));
                last_peak = peak;
            }
        }
    }
}
