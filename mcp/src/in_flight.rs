//! The requests that have come and are not answered yet, and what interrupts the work on them.
//!
//! Whether a cancellation or the answer was first is decided in one place, under one lock: a request
//! that was cancelled before its ticket is given up gets no answer, any other gets exactly one. A
//! cancellation of something unknown or finished does nothing. The end of the connection interrupts
//! every request and takes none of them back: it asks for what there is to answer by now.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::id::Id;

/// All requests in flight.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    requests: Mutex<Requests>,
    interrupted: Condvar,
}

#[derive(Debug, Default)]
struct Requests {
    next_number: u64,
    entered: BTreeMap<u64, Entered>,
    is_ending: bool,
}

#[derive(Debug)]
struct Entered {
    id: Id,
    can_be_cancelled: bool,
    is_cancelled: bool,
}

/// Why work on a request should come to an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interruption {
    /// The client has taken the request back: nobody reads what comes of it.
    Cancelled,
    /// No more will be asked: what there is to answer is still read.
    Ending,
}

/// One request's place among those in flight; given up when it is dropped.
#[derive(Debug)]
pub(crate) struct Ticket<'a> {
    in_flight: &'a InFlight,
    number: u64,
}

impl InFlight {
    /// Notes that the request `id` has come, and whether it can be taken back (`initialize` cannot).
    pub(crate) fn enter(&self, id: &Id, can_be_cancelled: bool) -> Ticket<'_> {
        let mut requests = self.requests();
        let number = requests.next_number;
        requests.next_number += 1;
        requests.entered.insert(number, Entered { id: id.clone(), can_be_cancelled, is_cancelled: false });
        Ticket { in_flight: self, number }
    }

    /// Takes back the request `id`: all of them, should the client have used the id twice.
    pub(crate) fn cancel(&self, id: &Id) {
        for entered in self.requests().entered.values_mut().filter(|entered| entered.id == *id) {
            entered.is_cancelled |= entered.can_be_cancelled;
        }
        self.interrupted.notify_all();
    }

    /// Notes that no more will be asked.
    pub(crate) fn end(&self) {
        self.requests().is_ending = true;
        self.interrupted.notify_all();
    }

    fn requests(&self) -> MutexGuard<'_, Requests> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Requests {
    fn interruption(&self, number: u64) -> Option<Interruption> {
        if self.entered.get(&number).is_none_or(|entered| entered.is_cancelled) {
            Some(Interruption::Cancelled)
        } else {
            self.is_ending.then_some(Interruption::Ending)
        }
    }
}

impl Ticket<'_> {
    /// Whether the client has taken the request back.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.interruption() == Some(Interruption::Cancelled)
    }

    /// Why work on the request should come to an end, if it should.
    pub(crate) fn interruption(&self) -> Option<Interruption> {
        self.in_flight.requests().interruption(self.number)
    }

    /// Waits for an interruption, for `timeout` at most.
    pub(crate) fn wait(&self, timeout: Duration) -> Option<Interruption> {
        let goes_on = |requests: &mut Requests| requests.interruption(self.number).is_none();
        let waited =
            self.in_flight.interrupted.wait_timeout_while(self.in_flight.requests(), timeout, goes_on);
        let (requests, _) = waited.unwrap_or_else(PoisonError::into_inner);
        requests.interruption(self.number)
    }

    /// Settles that the request is answered: from now on it cannot be taken back. False: it was before.
    pub(crate) fn settle(&self) -> bool {
        let mut requests = self.in_flight.requests();
        let entered = requests.entered.get_mut(&self.number).filter(|entered| !entered.is_cancelled);
        entered.map(|entered| entered.can_be_cancelled = false).is_some()
    }

    /// Gives the ticket up; true if the answer is to be sent.
    pub(crate) fn finish(self) -> bool {
        self.give_up().is_some_and(|entered| !entered.is_cancelled)
    }

    fn give_up(&self) -> Option<Entered> {
        self.in_flight.requests().entered.remove(&self.number)
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        self.give_up();
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    const LONG: Duration = Duration::from_secs(600);

    fn id(text: &str) -> Id {
        Id::read(serde_json::from_str(text).unwrap()).unwrap()
    }

    #[test]
    fn only_what_is_cancelled_in_time_goes_unanswered() {
        let in_flight = InFlight::default();
        let (first, second) = (in_flight.enter(&id("1"), true), in_flight.enter(&id("\"1\""), true));
        in_flight.cancel(&id("1"));
        in_flight.cancel(&id("3"));
        assert!(first.is_cancelled());
        assert!(!second.is_cancelled());
        assert!(!first.finish());
        assert!(second.finish());
        in_flight.cancel(&id("\"1\""));
        assert!(in_flight.enter(&id("\"1\""), true).finish());
    }

    #[test]
    fn what_cannot_be_cancelled_is_answered() {
        let in_flight = InFlight::default();
        let ticket = in_flight.enter(&id("1"), false);
        in_flight.cancel(&id("1"));
        assert!(ticket.finish());
    }

    #[test]
    fn what_was_settled_first_is_answered_and_what_was_cancelled_first_is_not() {
        let in_flight = InFlight::default();
        let (early, late) = (in_flight.enter(&id("1"), true), in_flight.enter(&id("2"), true));
        in_flight.cancel(&id("1"));
        assert!(!early.settle());
        in_flight.cancel(&id("1"));
        assert!(!early.finish());
        assert!(late.settle());
        in_flight.cancel(&id("2"));
        assert!(late.finish());
    }

    #[test]
    fn a_wait_ends_with_the_request_it_belongs_to_and_not_with_another() {
        let in_flight = InFlight::default();
        let (mine, other) = (in_flight.enter(&id("1"), true), in_flight.enter(&id("2"), true));
        thread::scope(|scope| {
            let waiting = scope.spawn(|| mine.wait(LONG));
            in_flight.cancel(&id("2"));
            assert_eq!(mine.wait(Duration::ZERO), None);
            in_flight.cancel(&id("1"));
            assert_eq!(waiting.join().unwrap(), Some(Interruption::Cancelled));
        });
        assert!(other.is_cancelled());
    }

    #[test]
    fn the_end_interrupts_everything_and_takes_nothing_back() {
        let in_flight = InFlight::default();
        let ticket = in_flight.enter(&id("1"), true);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| ticket.wait(LONG));
            in_flight.end();
            assert_eq!(waiting.join().unwrap(), Some(Interruption::Ending));
        });
        let late = in_flight.enter(&id("2"), true);
        assert_eq!(late.wait(LONG), Some(Interruption::Ending));
        assert!(ticket.finish() && late.finish());
    }
}
