//! The requests that have come and are not answered yet, so that one can be taken back.
//!
//! Whether a cancellation or the answer was first is decided in one place, under one lock: a request
//! that was cancelled before its ticket is given up gets no answer, any other gets exactly one. A
//! cancellation of something unknown or finished does nothing.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::id::Id;

/// All requests in flight.
#[derive(Debug, Default)]
pub(crate) struct InFlight(Mutex<Requests>);

#[derive(Debug, Default)]
struct Requests {
    next_number: u64,
    entered: BTreeMap<u64, Entered>,
}

#[derive(Debug)]
struct Entered {
    id: Id,
    can_be_cancelled: bool,
    is_cancelled: bool,
}

/// One request's place among those in flight.
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
            entered.is_cancelled = entered.can_be_cancelled;
        }
    }

    fn requests(&self) -> MutexGuard<'_, Requests> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ticket<'_> {
    /// Whether the client has taken the request back.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.in_flight.requests().entered.get(&self.number).is_none_or(|entered| entered.is_cancelled)
    }

    /// Gives the ticket up; true if the answer is to be sent.
    pub(crate) fn finish(self) -> bool {
        let entered = self.in_flight.requests().entered.remove(&self.number);
        entered.is_some_and(|entered| !entered.is_cancelled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
