//! Times as people and subtitle players read them.

use std::fmt::Write as _;

/// `MM:SS`, from one hour on `HH:MM:SS`.
pub(super) fn clock(ms: u64) -> String {
    let (hours, minutes, seconds) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
    if hours == 0 {
        format!("{minutes:02}:{seconds:02}")
    } else {
        format!("{hours:02}:{minutes:02}:{seconds:02}")
    }
}

/// Appends `HH:MM:SS` and the milliseconds behind `mark`.
pub(super) fn cue_into(ms: u64, mark: char, text: &mut String) {
    let (hours, minutes, seconds, rest) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60, ms % 1000);
    // Writing to a string cannot fail.
    let _ = write!(text, "{hours:02}:{minutes:02}:{seconds:02}{mark}{rest:03}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minutes_become_hours_after_one() {
        for (ms, expected) in
            [(0, "00:00"), (999, "00:00"), (61_000, "01:01"), (3_599_999, "59:59"), (3_600_000, "01:00:00")]
        {
            assert_eq!(clock(ms), expected);
        }
        assert_eq!(clock(360_000_000), "100:00:00");
    }

    #[test]
    fn cue_times_have_milliseconds() {
        let mut text = String::new();
        cue_into(3_661_007, ',', &mut text);
        cue_into(1_500, '.', &mut text);
        assert_eq!(text, "01:01:01,00700:00:01.500");
    }
}
