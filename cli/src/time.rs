//! Times as people read and write them.

use ambient_engine::Moment;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

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

/// Milliseconds from the start of a session: seconds, or with minutes and hours before them, and decimals
/// behind. The other direction of [`clock`].
pub(crate) fn of_session(word: &str) -> Result<u64, String> {
    let wrong = || format!("{word:?} is not a time such as 80, 1:20, 01:02:03 or 1:20.5");
    let mut parts = word.split(':').rev();
    let seconds: f64 = parts.next().and_then(|part| part.parse().ok()).ok_or_else(wrong)?;
    let mut whole_s: u64 = 0;
    for unit_s in [60, 3_600] {
        let Some(part) = parts.next() else { break };
        let count: u64 = part.parse().map_err(|_| wrong())?;
        whole_s = count.checked_mul(unit_s).and_then(|s| s.checked_add(whole_s)).ok_or_else(wrong)?;
    }
    let behind = std::time::Duration::try_from_secs_f64(seconds).map_err(|_| wrong())?;
    let behind_ms = u64::try_from(behind.as_millis()).map_err(|_| wrong())?;
    match parts.next() {
        Some(_) => Err(wrong()),
        None => whole_s.checked_mul(1_000).and_then(|ms| ms.checked_add(behind_ms)).ok_or_else(wrong),
    }
}

/// A date, or a date and time, here or with a zone. A date alone is its midnight.
pub(crate) fn date(word: &str) -> Result<Timestamp, String> {
    let here = || word.parse::<DateTime>().ok()?.to_zoned_datetime(TimeZone::system()).ok();
    let moment = word.parse::<Timestamp>().ok().or_else(|| Some(here()?.timestamp()));
    moment.ok_or_else(|| format!("{word:?} is not a date such as 2026-03-01 or 2026-03-01T10:00"))
}

/// A moment in the life of a session's log: the number of an event, or a date and time, here or with a zone.
pub(crate) fn moment(word: &str) -> Result<Moment, String> {
    if let Ok(event) = word.parse() {
        return Ok(Moment::Event(event));
    }
    match date(word) {
        Ok(at) => Ok(Moment::TimeUs(at.as_microsecond())),
        Err(_) => {
            Err(format!("{word:?} is neither the number of an event nor a time such as 2026-03-01T10:00"))
        }
    }
}

/// A moment in microseconds since 1970, as the wall clock here shows it.
pub(crate) fn local(at_us: i64) -> String {
    match Timestamp::from_microsecond(at_us) {
        Ok(at) => at.to_zoned_datetime(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string(),
        Err(_) => at_us.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_a_session_are_read_as_they_are_shown() {
        let read = ["0", "80", "1:20", "01:02:03", "1:20.5", "100:00:00"].map(of_session);
        assert_eq!(read, [Ok(0), Ok(80_000), Ok(80_000), Ok(3_723_000), Ok(80_500), Ok(360_000_000)]);
        for wrong in
            ["", ":", "1:", "a", "-1", "1:-1", "1:2:3:4", "nan", "inf", "1e300", "99999999999999999:0"]
        {
            assert!(of_session(wrong).is_err(), "{wrong:?}");
        }
        for ms in [0, 61_000, 3_599_000, 3_600_000] {
            assert_eq!(of_session(&clock(ms)), Ok(ms));
        }
    }

    #[test]
    fn moments_are_numbers_or_dates() {
        assert_eq!(moment("14"), Ok(Moment::Event(14)));
        assert_eq!(moment("1970-01-01T00:00:01Z"), Ok(Moment::TimeUs(1_000_000)));
        assert!(matches!(moment("2026-03-01T10:00"), Ok(Moment::TimeUs(_))));
        assert!(matches!(moment("2026-03-01 10:00:30"), Ok(Moment::TimeUs(_))));
        for wrong in ["", "noon", "-1", "2026-13-01T00:00Z"] {
            assert!(moment(wrong).is_err(), "{wrong:?}");
        }
        assert!(date("2026-03-01").unwrap() < date("2026-03-01T00:01").unwrap());
        assert!(date("14").is_err());
    }

    #[test]
    fn hours_appear_when_there_are_any() {
        let shown = [0, 999, 61_000, 3_599_999, 3_600_000, 75 * 60_000, 360_000_000].map(clock);
        assert_eq!(shown, ["00:00", "00:00", "01:01", "59:59", "01:00:00", "01:15:00", "100:00:00"]);
    }
}
