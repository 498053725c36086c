//! The loop: one thread reads, one answers in order, whole lines go out.
//!
//! The reading thread takes a line apart, answers it if that is the work of a moment and nothing is before
//! it, and hands it on otherwise, so that a cancellation is seen while an earlier request is still being
//! worked on. All that depends on the order of lines (the version agreed
//! on, whether a batch may come) belongs to it; the answering side (`answering`) has no memory. When the
//! input ends, what was asked before is still answered; waits are told to end with what they hold.

use std::io::{BufRead, Write};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use anyhow::{Context as _, anyhow};

use crate::answering::{Answering, Job, Question};
use crate::arguments::Arguments;
use crate::id::Id;
use crate::in_flight::InFlight;
use crate::input::{InputLine, MAX_LINE_BYTES, read_line};
use crate::message::{Invalid, Line, Message, Notification};
use crate::output::Output;
use crate::rpc::RpcError;
use crate::server::{self, Server};
use crate::version::ProtocolVersion;

/// How many lines may wait for their answer before no more is read.
const MAX_WAITING_LINES: usize = 64;

/// Serves until the input ends and the last reply is out.
///
/// # Errors
/// Reading or writing failed for another reason than that the other side is gone.
pub(crate) fn run<R: BufRead, W: Write + Send>(
    server: &Server<'_>,
    reader: R,
    writer: W,
) -> anyhow::Result<()> {
    let in_flight = InFlight::default();
    let answering = Answering::new(server, &in_flight, Output::new(writer));
    let read = thread::scope(|scope| {
        let (jobs, waiting) = sync_channel(MAX_WAITING_LINES);
        let answering = &answering;
        let in_order = thread::Builder::new()
            .name("answer".to_owned())
            .spawn_scoped(scope, move || answering.answer_in_order(scope, &waiting))
            .context("cannot start the thread that answers")?;
        let read = Connection { in_flight: &in_flight, answering, jobs, version: None }.read(reader);
        in_flight.end();
        in_order.join().map_err(|_| anyhow!("the thread that answers ended before its work"))?;
        read
    });
    answering.finish().context("cannot write replies")?;
    read
}

/// The reading side.
struct Connection<'a, 'b, W> {
    in_flight: &'a InFlight,
    answering: &'b Answering<'a, W>,
    jobs: SyncSender<Job<'a>>,
    version: Option<ProtocolVersion>,
}

impl<'a, W: Write + Send> Connection<'a, '_, W> {
    /// Hands on everything `reader` brings; ends with it, or when nobody answers any more.
    fn read<R: BufRead>(mut self, mut reader: R) -> anyhow::Result<()> {
        while let Some(line) = read_line(&mut reader).context("cannot read requests")? {
            let job = match line {
                InputLine::Bytes(bytes) => self.job(Line::parse(&bytes)),
                InputLine::TooLong => {
                    self.one(Message::invalid(&format!("a line has at most {MAX_LINE_BYTES} bytes")))
                }
            };
            let left = job.and_then(|job| self.answering.answer_at_once(job));
            if left.is_some_and(|job| self.jobs.send(job).is_err()) || self.answering.is_closed() {
                break;
            }
        }
        Ok(())
    }

    fn job(&mut self, line: Line) -> Option<Job<'a>> {
        match line {
            Line::Blank => None,
            Line::One(message) => self.one(message),
            Line::Batch(messages) => self.batch(messages),
        }
    }

    fn one(&mut self, message: Message) -> Option<Job<'a>> {
        if let Message::Request(request) = &message {
            if request.method == server::INITIALIZE {
                self.version = Some(server::agreed_version(request));
            }
        }
        self.question(message).map(Job::one)
    }

    fn batch(&self, messages: Vec<Message>) -> Option<Job<'a>> {
        if !self.version.is_some_and(ProtocolVersion::has_batches) {
            let refused = Invalid::without_id(RpcError::no_batches());
            return Some(Job::one(Question::Invalid(refused)));
        }
        if messages.is_empty() {
            return self.question(Message::invalid("a batch must not be empty")).map(Job::one);
        }
        let questions: Vec<_> = messages
            .into_iter()
            .filter_map(|message| match message {
                Message::Request(request) if request.method == server::INITIALIZE => {
                    let error = RpcError::invalid_request("`initialize` must not be part of a batch");
                    Some(Question::Invalid(Invalid { id: Some(request.id), error }))
                }
                message => self.question(message),
            })
            .collect();
        (!questions.is_empty()).then_some(Job::batch(questions))
    }

    fn question(&self, message: Message) -> Option<Question<'a>> {
        match message {
            Message::Request(request) => {
                let ticket = self.in_flight.enter(&request.id, request.method != server::INITIALIZE);
                Some(Question::Request(request, ticket))
            }
            Message::Invalid(invalid) => Some(Question::Invalid(invalid)),
            Message::Notification(notification) => {
                if let Some(id) = cancelled_request(&notification) {
                    self.in_flight.cancel(&id);
                }
                None
            }
            Message::Reply => None,
        }
    }
}

/// The request that a notification takes back.
fn cancelled_request(notification: &Notification) -> Option<Id> {
    if notification.method.as_deref() != Some("notifications/cancelled") {
        return None;
    }
    Arguments::read(notification.params.as_deref()?)?.raw("requestId").and_then(Id::read)
}

#[cfg(test)]
mod tests;
