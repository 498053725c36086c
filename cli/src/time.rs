//! Times as people read them.

/// A moment or a length in milliseconds: minutes and seconds, and hours where there are any.
pub(crate) fn clock(ms: u64) -> String {
    let seconds = ms / 1000;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        format!("{hours:02}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes:02}:{seconds:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_appear_when_there_are_any() {
        let shown = [0, 999, 61_000, 3_599_999, 3_600_000, 75 * 60_000, 360_000_000].map(clock);
        assert_eq!(shown, ["00:00", "00:00", "01:01", "59:59", "01:00:00", "01:15:00", "100:00:00"]);
    }
}
