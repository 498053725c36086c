//! The answering side: one job after the other in order, and beside that a few calls that take long.
//!
//! While nothing waits for its turn, a job is tried at once by whoever brings it: of a short answer, most
//! of the time would be the way to another thread. A job that turns out to take longer goes that way.
//!
//! A job that wants to step aside goes on where it stopped, on a thread of its own; what was answered of
//! it before is kept. There is room for [`MAX_CALLS_BESIDE`] of them. The scope that the threads belong to
//! waits for all, so a reply that is owed is written before the connection ends.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Receiver;
use std::thread::{self, Scope};

use serde::Serialize;

use crate::call::{Call, Place};
use crate::in_flight::{InFlight, Ticket};
use crate::message::{Invalid, Request};
use crate::output::Output;
use crate::rpc::{ProgressNotification, Reply, RpcError};
use crate::server::{Answer, Server};

/// How many jobs may be worked on beside those that are answered in order.
pub(crate) const MAX_CALLS_BESIDE: usize = 16;

/// What one line asks, as far as it is not answered yet.
pub(crate) struct Job<'a> {
    questions: VecDeque<Question<'a>>,
    replies: Vec<Reply>,
    is_batch: bool,
}

/// What is owed one reply.
pub(crate) enum Question<'a> {
    /// A request.
    Request(Request, Ticket<'a>),
    /// Something that is to be refused.
    Invalid(Invalid),
}

/// How far a job came.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    Done,
    StepsAside,
}

impl<'a> Job<'a> {
    /// One question, answered by itself.
    pub(crate) fn one(question: Question<'a>) -> Self {
        Self { questions: VecDeque::from([question]), replies: Vec::new(), is_batch: false }
    }

    /// Questions that are answered together.
    pub(crate) fn batch(questions: Vec<Question<'a>>) -> Self {
        Self { questions: questions.into(), replies: Vec::new(), is_batch: true }
    }
}

/// Everything answers are made with.
pub(crate) struct Answering<'a, W> {
    server: &'a Server<'a>,
    in_flight: &'a InFlight,
    output: Output<W>,
    /// Jobs that were handed on to be answered in order and are not done with.
    in_order: AtomicUsize,
    beside: AtomicUsize,
}

impl<'a, W: Write + Send> Answering<'a, W> {
    /// Answers with `server` on `output`.
    pub(crate) fn new(server: &'a Server<'a>, in_flight: &'a InFlight, output: Output<W>) -> Self {
        Self { server, in_flight, output, in_order: AtomicUsize::new(0), beside: AtomicUsize::new(0) }
    }

    /// How writing went.
    ///
    /// # Errors
    /// Writing failed for another reason than that nobody reads.
    pub(crate) fn finish(self) -> io::Result<()> {
        self.output.finish()
    }

    /// Answers `job` in the place of the caller if that keeps nothing else waiting; otherwise gives it back,
    /// to be handed on to [`answer_in_order`](Self::answer_in_order).
    pub(crate) fn answer_at_once(&self, mut job: Job<'a>) -> Option<Job<'a>> {
        // Only the caller adds to them: what it sees at zero stays so.
        if self.in_order.load(Ordering::Acquire) == 0 && self.go_on(&mut job, Place::AtOnce) == Progress::Done
        {
            self.send(job);
            return None;
        }
        self.in_order.fetch_add(1, Ordering::Relaxed);
        Some(job)
    }

    /// Whether nobody reads the answers.
    pub(crate) fn is_closed(&self) -> bool {
        self.output.is_closed()
    }

    /// Answers until there are no more jobs or nobody reads the answers.
    pub(crate) fn answer_in_order<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        waiting: &Receiver<Job<'a>>,
    ) where
        'a: 'scope,
    {
        for mut job in waiting {
            if self.output.is_closed() {
                return;
            }
            match self.go_on(&mut job, Place::InOrder) {
                Progress::Done => self.send(job),
                Progress::StepsAside => self.go_on_beside(scope, job),
            }
            self.in_order.fetch_sub(1, Ordering::Release);
        }
    }

    /// Answers what is left of `job` on a thread of its own; in order, where there is no room for one.
    fn go_on_beside<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>, mut job: Job<'a>)
    where
        'a: 'scope,
    {
        let room = self.beside.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |running| {
            (running < MAX_CALLS_BESIDE).then_some(running + 1)
        });
        if room.is_err() {
            self.go_on(&mut job, Place::InOrderOnly);
            return self.send(job);
        }
        let (hand_over, taken) = std::sync::mpsc::sync_channel::<Job<'a>>(1);
        let started = thread::Builder::new().name("beside".to_owned()).spawn_scoped(scope, move || {
            if let Ok(mut job) = taken.recv() {
                self.go_on(&mut job, Place::Beside);
                self.send(job);
            }
            self.beside.fetch_sub(1, Ordering::Relaxed);
        });
        // A thread that could not be started has taken nothing.
        let unstarted = match started {
            Ok(_) => hand_over.send(job).err().map(|refused| refused.0),
            Err(_) => Some(job),
        };
        if let Some(mut job) = unstarted {
            self.beside.fetch_sub(1, Ordering::Relaxed);
            self.go_on(&mut job, Place::InOrderOnly);
            self.send(job);
        }
    }

    /// Answers the questions of `job` that are left, in their order, until one wants to step aside.
    fn go_on(&self, job: &mut Job<'a>, place: Place) -> Progress {
        while let Some(question) = job.questions.pop_front() {
            let (request, ticket) = match question {
                Question::Request(request, ticket) => (request, ticket),
                Question::Invalid(Invalid { id, error }) => {
                    job.replies.push(Reply::refusal(id, error));
                    continue;
                }
            };
            if ticket.is_cancelled() {
                continue;
            }
            let notify = |notification: &ProgressNotification<'_>| self.write(notification);
            let outcome = match self.server.answer(&request, Call::new(place, &ticket, &notify)) {
                Answer::Outcome(outcome) => outcome,
                Answer::StepAside if matches!(place, Place::AtOnce | Place::InOrder) => {
                    job.questions.push_front(Question::Request(request, ticket));
                    return Progress::StepsAside;
                }
                Answer::StepAside => Err(RpcError::internal("a defect in Ambient: the call never began")),
            };
            if ticket.finish() {
                job.replies.push(Reply::new(request.id, outcome));
            }
        }
        Progress::Done
    }

    /// Writes the replies of a finished job, if any are owed.
    fn send(&self, job: Job<'a>) {
        let Job { replies, is_batch, .. } = job;
        if is_batch && !replies.is_empty() {
            self.write(&replies);
        } else if let Some(reply) = replies.first() {
            self.write(reply);
        }
    }

    /// Writes one message. When nobody reads any more, nothing is worth working on.
    fn write<T: Serialize>(&self, message: &T) {
        self.output.send(message);
        if self.output.is_closed() {
            self.in_flight.end();
        }
    }
}
