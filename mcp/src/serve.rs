//! The loop: one thread reads, one answers in order, whole lines go out.
//!
//! The reading thread takes a line apart and hands it on, so that a cancellation is seen while an
//! earlier request is still being worked on. All that depends on the order of lines (the version agreed
//! on, whether a batch may come) belongs to it; the answering thread has no memory. Errors take the same
//! way as results, so replies leave in the order in which requests came.

use std::io::{BufRead, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use anyhow::{Context as _, anyhow};

use crate::arguments::Arguments;
use crate::id::Id;
use crate::in_flight::{InFlight, Ticket};
use crate::input::{InputLine, MAX_LINE_BYTES, read_line};
use crate::message::{Invalid, Line, Message, Notification, Request};
use crate::output::Output;
use crate::rpc::{Reply, RpcError};
use crate::server::{self, Server};
use crate::version::ProtocolVersion;

/// How many lines may wait for their answer before no more is read.
const MAX_WAITING_LINES: usize = 64;

/// What one line asks of the answering thread.
enum Job<'a> {
    One(Question<'a>),
    Batch(Vec<Question<'a>>),
}

/// What is owed one reply.
enum Question<'a> {
    Request(Request, Ticket<'a>),
    Invalid(Invalid),
}

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
    let output = Output::new(writer);
    let read = thread::scope(|scope| {
        let (jobs, waiting) = sync_channel(MAX_WAITING_LINES);
        let output = &output;
        let answering = thread::Builder::new()
            .name("answer".to_owned())
            .spawn_scoped(scope, move || answer(server, &waiting, output))
            .context("cannot start the thread that answers")?;
        let read = Connection { in_flight: &in_flight, jobs, version: None }.read(reader);
        answering.join().map_err(|_| anyhow!("the thread that answers ended before its work"))?;
        read
    });
    output.finish().context("cannot write replies")?;
    read
}

/// The reading side.
struct Connection<'a> {
    in_flight: &'a InFlight,
    jobs: SyncSender<Job<'a>>,
    version: Option<ProtocolVersion>,
}

impl<'a> Connection<'a> {
    /// Hands on everything `reader` brings; ends with it, or when nobody answers any more.
    fn read<R: BufRead>(mut self, mut reader: R) -> anyhow::Result<()> {
        while let Some(line) = read_line(&mut reader).context("cannot read requests")? {
            let job = match line {
                InputLine::Bytes(bytes) => self.job(Line::parse(&bytes)),
                InputLine::TooLong => {
                    self.one(Message::invalid(&format!("a line has at most {MAX_LINE_BYTES} bytes")))
                }
            };
            if job.is_some_and(|job| self.jobs.send(job).is_err()) {
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
        self.question(message).map(Job::One)
    }

    fn batch(&self, messages: Vec<Message>) -> Option<Job<'a>> {
        if !self.version.is_some_and(ProtocolVersion::has_batches) {
            let refused = Invalid::without_id(RpcError::no_batches());
            return Some(Job::One(Question::Invalid(refused)));
        }
        if messages.is_empty() {
            return self.question(Message::invalid("a batch must not be empty")).map(Job::One);
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
        (!questions.is_empty()).then_some(Job::Batch(questions))
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

/// The answering side: one job after the other, until there are no more or nobody reads the answers.
fn answer<W: Write>(server: &Server<'_>, waiting: &Receiver<Job<'_>>, output: &Output<W>) {
    for job in waiting {
        if output.is_closed() {
            return;
        }
        match job {
            Job::One(question) => {
                if let Some(reply) = reply_to(server, question) {
                    output.send(&reply);
                }
            }
            Job::Batch(questions) => {
                let replies: Vec<_> =
                    questions.into_iter().filter_map(|question| reply_to(server, question)).collect();
                if !replies.is_empty() {
                    output.send(&replies);
                }
            }
        }
    }
}

/// The one reply that is owed, unless the client has taken the request back.
fn reply_to(server: &Server<'_>, question: Question<'_>) -> Option<Reply> {
    match question {
        Question::Invalid(Invalid { id, error }) => Some(Reply::refusal(id, error)),
        Question::Request(request, ticket) => {
            if ticket.is_cancelled() {
                ticket.finish();
                return None;
            }
            let outcome = server.answer(&request);
            ticket.finish().then(|| Reply::new(request.id, outcome))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, BufReader, Read};
    use std::path::Path;
    use std::sync::{Condvar, Mutex};

    use serde_json::{Value, json};

    use super::*;
    use crate::tool::Tool;

    /// A door that a tool waits at until a test opens it.
    static DOOR: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());

    const TOOLS: &[Tool] = &[
        tool("panics", |_, _| panic!("a defect")),
        tool("answers", |_, _| Ok("[]".to_owned())),
        tool("waits", |_, _| {
            let open = DOOR.0.lock().unwrap();
            drop(DOOR.1.wait_while(open, |open| !*open).unwrap());
            Ok("[]".to_owned())
        }),
    ];

    const fn tool(name: &'static str, run: crate::tool::Run) -> Tool {
        Tool {
            name,
            title: "",
            description: "",
            input_schema: || json!({"type": "object"}),
            max_result_chars: None,
            run,
        }
    }

    fn server() -> Server<'static> {
        Server::new(Path::new("/nowhere")).with_tools(TOOLS)
    }

    fn call(id: u64, name: &str) -> String {
        let params = json!({"name": name});
        format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}))
    }

    fn ping(id: u64) -> String {
        format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": "ping"}))
    }

    fn replies(output: &[u8]) -> Vec<Value> {
        output
            .split(|&byte| byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect()
    }

    fn ids(output: &[u8]) -> Vec<u64> {
        replies(output).iter().map(|reply| reply["id"].as_u64().unwrap()).collect()
    }

    /// Brings `text`, and does something when it is asked for more: everything before has then been
    /// handed on.
    struct ThenDo<F>(io::Cursor<String>, F);

    impl<F: FnMut() -> io::Result<usize>> Read for ThenDo<F> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            match self.0.read(into)? {
                0 => (self.1)(),
                len => Ok(len),
            }
        }
    }

    #[test]
    fn a_request_taken_back_while_an_earlier_one_is_worked_on_gets_no_reply() {
        let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": {"requestId": 2, "reason": "no longer needed"}});
        let first = call(1, "waits") + &call(2, "answers") + &call(3, "answers");
        let reader = ThenDo(io::Cursor::new(format!("{first}{cancel}\n")), || {
            *DOOR.0.lock().unwrap() = true;
            DOOR.1.notify_all();
            Ok(0)
        });
        let mut output = Vec::new();
        server().serve(BufReader::new(reader), &mut output).unwrap();
        assert_eq!(ids(&output), [1, 3]);
    }

    #[test]
    fn a_panic_in_a_tool_costs_that_request_alone() {
        let mut output = Vec::new();
        let input = call(1, "panics") + &call(2, "answers") + &call(3, "panics") + &ping(4);
        server().serve(input.as_bytes(), &mut output).unwrap();
        let replies = replies(&output);
        assert_eq!(ids(&output), [1, 2, 3, 4]);
        assert_eq!(replies[0]["error"]["code"], -32603);
        assert_eq!(replies[1]["result"]["isError"], false);
        assert_eq!(replies[2]["error"]["code"], -32603);
        assert_eq!(replies[3]["result"], json!({}));
    }

    #[test]
    fn replies_leave_in_the_order_in_which_requests_came_errors_included() {
        let mut output = Vec::new();
        let input: String = (0..500)
            .map(|id| match id % 3 {
                0 => ping(id),
                1 => call(id, "answers"),
                _ => call(id, "there is none"),
            })
            .collect();
        server().serve(input.as_bytes(), &mut output).unwrap();
        assert_eq!(ids(&output), (0..500).collect::<Vec<_>>());
    }

    /// Fails at the first write.
    struct Fails(io::ErrorKind);

    impl Write for Fails {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Brings pings without end.
    struct Endless(Vec<u8>);

    impl Read for Endless {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            if self.0.len() < into.len() {
                self.0.extend(ping(1).as_bytes().repeat(into.len()));
            }
            let rest = self.0.split_off(into.len());
            into.copy_from_slice(&self.0);
            self.0 = rest;
            Ok(into.len())
        }
    }

    #[test]
    fn a_client_that_is_gone_ends_it_quietly_though_its_input_goes_on() {
        let reader = || BufReader::with_capacity(256, Endless(Vec::new()));
        assert!(server().serve(reader(), Fails(io::ErrorKind::BrokenPipe)).is_ok());
        assert!(server().serve(reader(), Fails(io::ErrorKind::StorageFull)).is_err());
    }

    #[test]
    fn an_input_that_breaks_is_an_error_after_what_came_before_is_answered() {
        let reader = ThenDo(io::Cursor::new(ping(1)), || Err(io::ErrorKind::ConnectionReset.into()));
        let mut output = Vec::new();
        assert!(server().serve(BufReader::new(reader), &mut output).is_err());
        assert_eq!(ids(&output), [1]);
    }
}
