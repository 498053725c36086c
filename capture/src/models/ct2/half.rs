//! Half-precision floats: sixteen bits, as weights are stored.
//!
//! Both ways by the letter of IEEE 754, round to nearest, ties to even, so that a converted model has the same
//! bytes whoever converts it.

/// The value of a half, exactly.
///
/// ```
/// assert_eq!(ambient_capture::models::ct2::half::to_f32(0x3c00), 1.0);
/// ```
pub fn to_f32(half: u16) -> f32 {
    let sign = u32::from(half & 0x8000) << 16;
    let exponent = u32::from(half >> 10) & 0x1f;
    let fraction = u32::from(half & 0x3ff);
    let magnitude = match (exponent, fraction) {
        (0, 0) => 0,
        // A subnormal is fraction * 2^-24: move its highest bit to where an f32 leaves it out.
        (0, _) => {
            let shift = fraction.leading_zeros() - 21;
            ((113 - shift) << 23) | (((fraction << shift) & 0x3ff) << 13)
        }
        (0x1f, _) => 0x7f80_0000 | (fraction << 13),
        _ => ((exponent + 112) << 23) | (fraction << 13),
    };
    f32::from_bits(sign | magnitude)
}

/// The half nearest to `value`; infinite where it is out of range.
///
/// ```
/// assert_eq!(ambient_capture::models::ct2::half::from_f32(1.0), 0x3c00);
/// ```
pub fn from_f32(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = ((bits >> 16) & 0x8000) as u16;
    let magnitude = bits & 0x7fff_ffff;
    let half = if magnitude > 0x7f80_0000 {
        0x7e00
    } else if magnitude >= 0x4780_0000 {
        0x7c00
    } else if magnitude >= 0x3880_0000 {
        // A carry out of the fraction rightly raises the exponent, up to infinity.
        round_off(magnitude - 0x3800_0000, 13)
    } else {
        let fraction = (magnitude & 0x7f_ffff) | 0x80_0000;
        round_off(fraction, 126 - (magnitude >> 23))
    };
    sign | half
}

/// `bits >> shift`, rounded to nearest, ties to even. Shifts of 25 and more leave nothing of 24 bits.
fn round_off(bits: u32, shift: u32) -> u16 {
    if shift > 25 {
        return 0;
    }
    let kept = bits >> shift;
    let rest = bits & ((1 << shift) - 1);
    let halfway = 1 << (shift - 1);
    let up = rest > halfway || (rest == halfway && kept & 1 == 1);
    u16::try_from(kept + u32::from(up)).unwrap_or(0x7c00)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_half_comes_back_from_its_value() {
        for half in 0..=u16::MAX {
            let value = to_f32(half);
            if value.is_nan() {
                assert!(to_f32(from_f32(value)).is_nan());
            } else {
                assert_eq!(from_f32(value), half, "{half:#06x} = {value}");
            }
        }
    }

    #[test]
    fn known_values() {
        assert_eq!(to_f32(0x0001).to_bits(), 2f32.powi(-24).to_bits());
        assert_eq!(to_f32(0x7bff).to_bits(), 65504f32.to_bits());
        assert_eq!(from_f32(65520.0), 0x7c00);
        assert_eq!(from_f32(65519.0), 0x7bff);
        assert_eq!(from_f32(2f32.powi(-25)), 0, "a tie goes to even");
        assert_eq!(from_f32(2f32.powi(-25) * 1.001), 1);
        assert_eq!(from_f32(-0.0), 0x8000);
    }

    proptest! {
        #[test]
        fn no_other_half_is_nearer(value in -65504f32..65504f32) {
            let half = from_f32(value);
            let distance = |h: u16| (f64::from(to_f32(h)) - f64::from(value)).abs();
            for neighbour in [half.wrapping_sub(1), half.wrapping_add(1)] {
                if to_f32(neighbour).is_finite() {
                    prop_assert!(distance(half) <= distance(neighbour));
                }
            }
        }
    }
}
