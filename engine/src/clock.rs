//! The wall clock as a value that is handed in.
//!
//! Liveness, ids and time stamps depend on "now". A function that needs it takes a [`Clock`], so that
//! tests choose the moment instead of racing it.

use std::time::{Duration, SystemTime};

/// Tells the time.
pub trait Clock: Sync {
    /// The present moment of the wall clock.
    fn now(&self) -> SystemTime;

    /// The present moment in microseconds since 1970, as frames carry it.
    fn now_us(&self) -> i64 {
        micros_since_1970(self.now())
    }
}

/// The machine's own clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }
}

/// A clock that stands still at a chosen moment, for tests.
///
/// ```
/// use ambient_engine::{Clock, FixedClock};
/// assert_eq!(FixedClock::at_us(5_000_000).now_us(), 5_000_000);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct FixedClock(pub SystemTime);

impl FixedClock {
    /// A clock that stands at `us` microseconds after 1970.
    pub fn at_us(us: u64) -> Self {
        Self(SystemTime::UNIX_EPOCH + Duration::from_micros(us))
    }
}

impl Clock for FixedClock {
    fn now(&self) -> SystemTime {
        self.0
    }
}

/// `moment` in microseconds since 1970; clamped to what an `i64` holds.
pub fn micros_since_1970(moment: SystemTime) -> i64 {
    match moment.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_micros()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_micros()).map_or(i64::MIN, |us| -us),
    }
}
