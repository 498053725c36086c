//! Waiting for news at no cost: [`Reader::wait`].
//!
//! A reader that came in by a writer's head page sleeps in the system on the low half of `end`, and the writer
//! wakes it after it has stored the word. Whether the word is still the one that was seen is checked by the
//! system itself when it puts the reader to sleep, so news between the look and the sleep is never slept
//! through. An event on a segment is never taken as publication.
//!
//! Where nothing can wake a sleeper (no shared page, no such call, writers that do not map) the reader looks
//! again after pauses that grow up to [`PAUSE_MAX`].

use std::time::{Duration, Instant};

use super::cursor::Cursor;
use super::error::ReadError;
use super::reader::{LOOK_AROUND_EVERY, Reader, Source};

/// How long a reader that nobody wakes pauses at first.
const PAUSE_MIN: Duration = Duration::from_millis(1);
/// How long it pauses at most.
const PAUSE_MAX: Duration = Duration::from_millis(50);

/// Why waiting ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// Something was appended: the next [`Reader::snapshot`] goes further.
    News,
    /// Nothing was, for as long as was asked.
    TimedOut,
}

impl Reader {
    /// Waits until something has been appended since the last [`Reader::snapshot`], by any process, for
    /// `timeout` at most. Returns at once if that is so already. With a live writer on the same machine it
    /// costs nothing while it waits but a look once a second whether `head` is still the file that is open.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use ambient_engine::{Event, Finished, Log, Mapping, Options, Reader, Woken};
    /// # let session = tempfile::tempdir()?;
    /// # let mut log = Log::create(session.path(), Options::default())?;
    /// let mut reader = Reader::open(session.path(), Mapping::On)?;
    /// assert_eq!(reader.wait(Duration::from_millis(5))?, Woken::TimedOut);
    /// log.append(&[Event::Finished(Finished { at: "2026-11-30T12:00:00Z".into(), warnings: vec![] })])?;
    /// assert_eq!(reader.wait(Duration::from_secs(60))?, Woken::News);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The disk refuses, or the log changed in a way that cannot be followed.
    pub fn wait(&mut self, timeout: Duration) -> Result<Woken, ReadError> {
        self.wait_until(Instant::now().checked_add(timeout), Self::sleep)
    }

    /// Waits until an event stands behind the one that `cursor` names, for `timeout` at most. The cursor may
    /// come from an earlier run.
    ///
    /// # Errors
    /// As [`Reader::wait`], and [`ReadError::CursorLost`] when the cursor's frame is not there.
    pub fn wait_behind(&mut self, cursor: &Cursor, timeout: Duration) -> Result<Woken, ReadError> {
        let deadline = Instant::now().checked_add(timeout);
        loop {
            if self.snapshot()?.has_events_behind(cursor)? {
                return Ok(Woken::News);
            }
            // News may be no event, such as a segment that was begun.
            if self.wait_until(deadline, Self::sleep)? == Woken::TimedOut {
                return Ok(Woken::TimedOut);
            }
        }
    }

    /// Looks for news, and sleeps between the looks as `sleep` does. Without a deadline the wait has no end.
    pub(super) fn wait_until(
        &mut self,
        deadline: Option<Instant>,
        mut sleep: impl FnMut(&Self, Duration, Duration) -> Result<bool, ReadError>,
    ) -> Result<Woken, ReadError> {
        let mut pause = PAUSE_MIN;
        loop {
            if self.has_news()? {
                return Ok(Woken::News);
            }
            let left = deadline.map_or(Duration::MAX, |end| end.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return Ok(Woken::TimedOut);
            }
            if sleep(self, left, pause)? {
                pause = (pause * 2).min(PAUSE_MAX);
            }
            self.look_around_if_due()?;
        }
    }

    /// Sleeps until it is worth looking again, for `left` at most. True: nobody would have woken it, so
    /// that it slept for `pause` only.
    pub(super) fn sleep(&self, left: Duration, pause: Duration) -> Result<bool, ReadError> {
        if let Source::Head { head, .. } = &self.source {
            let is_by_word = !head.is_belled()?;
            let step = if is_by_word { LOOK_AROUND_EVERY } else { pause };
            if head.sleep_while_end_is(self.seen.end, step.min(left)) {
                return Ok(!is_by_word);
            }
        }
        std::thread::sleep(pause.min(left));
        Ok(true)
    }
}
