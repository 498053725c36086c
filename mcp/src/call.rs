//! What a tool can ask about the call it works on: where it runs, whether it should end, who wants to hear
//! how far it is.
//!
//! Calls are answered in order by one thread; while that has nothing to do, the thread that reads tries
//! first, which spares the way from one to the other. A tool that may take long says so before it has done
//! anything ([`Call::prefer_in_order`], [`Call::prefer_beside`], [`Call::require_beside`]) and is then
//! called once more: on the thread that answers in order, or beside it. There, waiting is the tool's own business; it ends when the call is interrupted.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::answering::MAX_CALLS_BESIDE;
use crate::arguments::Arguments;
use crate::id::Id;
use crate::in_flight::{Interruption, Ticket};
use crate::rpc::ProgressNotification;
use crate::tool::ToolError;

/// How long a wait looks for news before it looks whether the call is still wanted.
const LOOK_MAX: Duration = Duration::from_millis(100);

/// How long a call may go on that is no wait, once the server is asked to end.
pub const ENDING_GRACE: Duration = Duration::from_secs(2);

/// Where a call runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// On the thread that reads, which nothing may keep for long.
    AtOnce,
    /// On the thread that answers in order.
    InOrder,
    /// On that thread, because there is no room beside it.
    InOrderOnly,
    /// On a thread of its own.
    Beside,
}

/// One call of a tool.
pub(crate) struct Call<'a> {
    place: Place,
    /// None for a call that nothing can interrupt.
    ticket: Option<&'a Ticket<'a>>,
    notify: Option<Notify<'a>>,
    /// By which someone knows the call who wants to hear how far it is.
    progress_token: Option<Id>,
    /// The least progress that is worth telling.
    next_progress: AtomicU64,
}

/// Sends a notification.
pub(crate) type Notify<'a> = &'a (dyn Fn(&ProgressNotification<'_>) + Sync);

/// How waiting ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waited<T> {
    /// With what was waited for.
    For(T),
    /// Without, after the whole time.
    TimedOut,
    /// Without, because the call should end.
    Interrupted(Interruption),
}

impl<'a> Call<'a> {
    /// A call that is worked on in the place of its caller; nothing interrupts it.
    pub(crate) const fn alone() -> Self {
        Self {
            place: Place::Beside,
            ticket: None,
            notify: None,
            progress_token: None,
            next_progress: AtomicU64::new(0),
        }
    }

    /// The call that holds `ticket`; `notify` reaches whoever made it.
    pub(crate) fn new(place: Place, ticket: &'a Ticket<'a>, notify: Notify<'a>) -> Self {
        Self { place, ticket: Some(ticket), notify: Some(notify), ..Self::alone() }
    }

    /// The same call, with the wish for progress that its request's `params` may hold.
    pub(crate) fn with_progress(self, params: Option<&Arguments<'_>>) -> Self {
        let progress_token = params
            .and_then(|params| Arguments::read(params.raw("_meta")?))
            .and_then(|meta| Id::read(meta.raw("progressToken")?));
        Self { progress_token, ..self }
    }

    /// Makes sure that the call does not keep others waiting. Asked before anything is done; the error is
    /// passed on as it is.
    ///
    /// # Errors
    /// It does, and will be called again where it does not; or too many calls run already.
    pub(crate) fn require_beside(&self) -> Result<(), ToolError> {
        match self.place {
            Place::Beside => Ok(()),
            Place::AtOnce | Place::InOrder => Err(ToolError::StepAside),
            Place::InOrderOnly => Err(ToolError::Failed(format!(
                "{MAX_CALLS_BESIDE} calls are waiting already; let one of them end, or cancel it, then call again"
            ))),
        }
    }

    /// As [`require_beside`](Self::require_beside), but where there is no room the call goes on.
    ///
    /// # Errors
    /// It will be called again in a better place.
    pub(crate) fn prefer_beside(&self) -> Result<(), ToolError> {
        if matches!(self.place, Place::AtOnce | Place::InOrder) {
            return Err(ToolError::StepAside);
        }
        Ok(())
    }

    /// Makes sure that the call does not keep the thread that reads. Asked before anything is done.
    ///
    /// # Errors
    /// It does, and will be called again where it does not.
    pub(crate) fn prefer_in_order(&self) -> Result<(), ToolError> {
        if self.place == Place::AtOnce { Err(ToolError::StepAside) } else { Ok(()) }
    }

    /// Why the call should end, if it should. A wait ends at once with what it holds; anything else has
    /// [`ENDING_GRACE`] when the connection ends.
    pub(crate) fn interruption(&self) -> Option<Interruption> {
        self.ticket.and_then(Ticket::interruption)
    }

    /// Settles that the call is answered, so that what it gives away is certain to reach whoever called. False:
    /// the call was taken back, and nobody reads its answer.
    pub(crate) fn settle(&self) -> bool {
        self.ticket.is_none_or(Ticket::settle)
    }

    /// Sleeps for `timeout`, or until the call should end.
    #[cfg_attr(not(test), expect(dead_code, reason = "for calls that take long"))]
    pub(crate) fn sleep(&self, timeout: Duration) -> Option<Interruption> {
        let Some(ticket) = self.ticket else {
            std::thread::sleep(timeout);
            return None;
        };
        ticket.wait(timeout)
    }

    /// Waits until `look` has something, for `timeout` at most. `look` is given how long it may block:
    /// news wakes it, an interruption is noticed between two looks. Unless the call was taken back it looks
    /// at least once, whatever the time.
    ///
    /// # Errors
    /// Those of `look`.
    pub(crate) fn wait_for<T, E>(
        &self,
        timeout: Duration,
        mut look: impl FnMut(Duration) -> Result<Option<T>, E>,
    ) -> Result<Waited<T>, E> {
        let began = Instant::now();
        loop {
            let left = timeout.saturating_sub(began.elapsed());
            let (interruption, patience) = match self.interruption() {
                Some(Interruption::Cancelled) => return Ok(Waited::Interrupted(Interruption::Cancelled)),
                Some(Interruption::Ending) => (Some(Interruption::Ending), Duration::ZERO),
                None => (None, left.min(LOOK_MAX)),
            };
            if let Some(found) = look(patience)? {
                return Ok(Waited::For(found));
            }
            if let Some(interruption) = interruption {
                return Ok(Waited::Interrupted(interruption));
            }
            if left.is_zero() {
                return Ok(Waited::TimedOut);
            }
        }
    }

    /// Tells whoever wants to hear it that `done` of `total` is done. What is not more than was told
    /// before, and what comes of a call that was taken back, is not told.
    pub(crate) fn report(&self, done: u64, total: Option<u64>, message: &str) {
        let (Some(token), Some(notify)) = (&self.progress_token, self.notify) else { return };
        if self.interruption() == Some(Interruption::Cancelled)
            || self.next_progress.fetch_max(done.saturating_add(1), Ordering::Relaxed) > done
        {
            return;
        }
        notify(&ProgressNotification::new(token, done, total, message));
    }
}
