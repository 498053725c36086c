//! The one clock of a recording: microseconds since it began.
//!
//! Both tracks are placed by it. It goes on while the machine sleeps, so that an hour of sleep is an hour
//! of the recording, and no correction of the wall clock moves it.

use std::time::Duration;

/// Tells how long a recording has been going on, and waits.
pub trait SessionClock: Sync {
    /// Microseconds since the recording began.
    fn now_us(&self) -> u64;

    /// Lets `time` pass.
    fn rest(&self, time: Duration);
}

/// The machine's own clock, from the moment it was started.
#[derive(Clone, Copy, Debug)]
pub struct MachineClock {
    began: Duration,
}

impl MachineClock {
    /// A clock that begins now.
    pub fn start() -> Self {
        Self { began: since_boot() }
    }
}

impl SessionClock for MachineClock {
    fn now_us(&self) -> u64 {
        u64::try_from(since_boot().saturating_sub(self.began).as_micros()).unwrap_or(u64::MAX)
    }

    fn rest(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

/// Time since the machine was started, sleep included.
fn since_boot() -> Duration {
    // On Linux the monotonic clock stands still while the machine sleeps; elsewhere it goes on.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let clock = rustix::time::ClockId::Boottime;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let clock = rustix::time::ClockId::Monotonic;
    let moment = rustix::time::clock_gettime(clock);
    let nanos = u32::try_from(moment.tv_nsec).unwrap_or(0);
    Duration::new(u64::try_from(moment.tv_sec).unwrap_or(0), nanos)
}
