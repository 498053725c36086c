//! The loop from outside: what keeps whom waiting, what ends it, in which order replies leave.

use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::answering::MAX_CALLS_BESIDE;
use crate::call::Waited;
use crate::in_flight::Interruption;
use crate::tool::{AnswerShape, Context, Effect, Tool, ToolError};

/// Longer than any test may take.
const LONG: Duration = Duration::from_secs(600);

/// A door that a tool waits at until a test opens it.
static DOOR: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());

const TOOLS: &[Tool] = &[
    tool("panics", |_, _| panic!("a defect")),
    tool("panics beside", |context, _| {
        context.call.require_beside()?;
        panic!("a defect")
    }),
    tool("answers", |_, _| Ok("[]".to_owned())),
    brief("names its thread", |_, _| Ok(format!("{:?}", std::thread::current().id()))),
    brief("is not brief this time", |context, _| {
        context.call.prefer_in_order()?;
        Ok(format!("{:?}", std::thread::current().id()))
    }),
    tool("waits", |_, _| {
        let open = DOOR.0.lock().unwrap();
        drop(DOOR.1.wait_while(open, |open| !*open).unwrap());
        Ok("[]".to_owned())
    }),
    tool("rests", |context, _| rest(context)),
    tool("hurries", |context, _| {
        context.call.prefer_beside()?;
        Ok("[]".to_owned())
    }),
    tool("listens", |context, _| {
        context.call.require_beside()?;
        let waited = context.call.wait_for(LONG, |patience| {
            std::thread::sleep(patience);
            Ok::<Option<()>, ToolError>(None)
        })?;
        assert_eq!(waited, Waited::Interrupted(Interruption::Ending));
        Ok("\"held\"".to_owned())
    }),
    tool("tells", |context, _| {
        for (done, total) in [(0, None), (1, Some(2)), (1, None), (0, None), (2, Some(2))] {
            context.call.report(done, total, "on its way");
        }
        Ok("[]".to_owned())
    }),
];

/// Waits beside the others for as long as it is let.
fn rest(context: &Context<'_>) -> Result<String, ToolError> {
    context.call.require_beside()?;
    match context.call.sleep(LONG) {
        Some(interruption) => Ok(format!("\"{interruption:?}\"")),
        None => Ok("\"rested\"".to_owned()),
    }
}

const fn tool(name: &'static str, run: crate::tool::Run) -> Tool {
    Tool {
        name,
        title: "",
        description: "",
        input_schema: || json!({"type": "object"}),
        answer: AnswerShape { schema: || json!({"type": "object"}), list_name: None },
        effect: Effect::NONE,
        max_result_chars: None,
        is_brief: false,
        run,
    }
}

/// A tool whose calls are the work of a moment.
const fn brief(name: &'static str, run: crate::tool::Run) -> Tool {
    Tool { is_brief: true, ..tool(name, run) }
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
fn what_is_the_work_of_a_moment_is_answered_where_it_is_read_and_nothing_else_is() {
    let here = format!("{:?}", std::thread::current().id());
    for (name, is_here) in [("names its thread", true), ("is not brief this time", false)] {
        let mut output = Vec::new();
        server().serve(call(1, name).as_bytes(), &mut output).unwrap();
        let reply = &replies(&output)[0];
        assert_eq!(reply["result"]["content"][0]["text"] == json!(here), is_here, "{name}: {reply}");
    }
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
fn a_panic_beside_the_others_is_answered_too_and_leaves_its_place_free() {
    Conversation::hold(|client| {
        for id in 0..=MAX_CALLS_BESIDE as u64 {
            client.say(&call(id, "panics beside"));
            let reply = client.hear();
            assert_eq!((&reply["id"], &reply["error"]["code"]), (&json!(id), &json!(-32603)));
            client.say(&ping(id));
            assert_eq!(client.hear()["result"], json!({}));
        }
    });
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

/// A client that goes on talking while it listens.
struct Conversation {
    said: Sender<Vec<u8>>,
    replies: Receiver<Value>,
}

impl Conversation {
    /// Holds a conversation with the server, and checks that it ends after `hold` has let go of it.
    fn hold(hold: impl FnOnce(&Self)) -> Vec<Value> {
        let (said, lines) = mpsc::channel();
        let (told, replies) = mpsc::channel();
        thread::scope(|scope| {
            let served = scope.spawn(move || {
                server().serve(BufReader::new(Said { lines, rest: Vec::new() }), Told(told, Vec::new()))
            });
            let conversation = Self { said, replies };
            hold(&conversation);
            let Self { said, replies } = conversation;
            drop(said);
            served.join().unwrap().unwrap();
            replies.iter().collect()
        })
    }

    fn say(&self, line: &str) {
        self.said.send(line.trim_end().as_bytes().to_vec()).unwrap();
    }

    fn hear(&self) -> Value {
        self.replies.recv_timeout(LONG).unwrap()
    }
}

/// The input: lines as they are said.
struct Said {
    lines: Receiver<Vec<u8>>,
    rest: Vec<u8>,
}

impl Read for Said {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.rest.is_empty() {
            let Ok(line) = self.lines.recv() else { return Ok(0) };
            self.rest = line;
            self.rest.push(b'\n');
        }
        let len = self.rest.len().min(into.len());
        into[..len].copy_from_slice(&self.rest[..len]);
        self.rest.drain(..len);
        Ok(len)
    }
}

/// The output: whole lines, as they are flushed.
struct Told(Sender<Value>, Vec<u8>);

impl Write for Told {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.1.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let line = std::mem::take(&mut self.1);
        assert_eq!(line.iter().position(|&byte| byte == b'\n'), Some(line.len() - 1));
        let _ = self.0.send(serde_json::from_slice(&line).unwrap());
        Ok(())
    }
}

fn cancel(id: u64) -> String {
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}).to_string()
}

fn text(reply: &Value) -> &str {
    reply["result"]["content"][0]["text"].as_str().unwrap()
}

#[test]
fn what_waits_beside_keeps_nobody_waiting_and_ends_with_the_input() {
    let rest = Conversation::hold(|client| {
        client.say(&call(1, "rests"));
        client.say(&call(2, "listens"));
        client.say(&ping(3));
        assert_eq!(client.hear()["id"], 3);
        client.say(&call(4, "answers"));
        assert_eq!(client.hear()["id"], 4);
    });
    let mut texts: Vec<_> = rest.iter().map(|reply| (reply["id"].as_u64().unwrap(), text(reply))).collect();
    texts.sort_unstable();
    assert_eq!(texts, [(1, "\"Ending\""), (2, "\"held\"")]);
}

#[test]
fn a_wait_that_is_taken_back_ends_without_a_reply() {
    let rest = Conversation::hold(|client| {
        client.say(&call(1, "rests"));
        client.say(&call(2, "rests"));
        client.say(&cancel(1));
        client.say(&ping(3));
        assert_eq!(client.hear()["id"], 3);
    });
    assert_eq!(rest.len(), 1);
    assert_eq!((&rest[0]["id"], text(&rest[0])), (&json!(2), "\"Ending\""));
}

#[test]
fn what_was_asked_before_the_end_of_the_input_is_answered_waits_included() {
    let mut output = Vec::new();
    let input = call(1, "rests") + &call(2, "answers") + &call(3, "hurries");
    server().serve(input.as_bytes(), &mut output).unwrap();
    let mut ids = ids(&output);
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 3]);
}

#[test]
fn only_so_many_wait_and_one_more_is_told() {
    let most = MAX_CALLS_BESIDE as u64;
    let rest = Conversation::hold(|client| {
        (0..=most).for_each(|id| client.say(&call(id, "rests")));
        let refused = client.hear();
        assert_eq!((&refused["id"], &refused["result"]["isError"]), (&json!(most), &json!(true)));
        assert!(text(&refused).contains("waiting already"));
        client.say(&call(100, "hurries"));
        assert_eq!(client.hear()["id"], 100, "what need not wait is answered all the same");
        client.say(&cancel(0));
        while {
            client.say(&call(200, "rests"));
            client.say(&ping(201));
            client.hear()["id"] != 201
        } {
            client.hear();
        }
    });
    assert_eq!(rest.len() as u64, most, "the place of the one that was taken back was free again");
}

#[test]
fn progress_is_told_to_who_asked_in_rising_order_and_before_the_reply() {
    let ask = |id: u64, token: &str| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\
             \"params\":{{\"name\":\"tells\",\"_meta\":{{\"progressToken\":{token}}}}}}}\n"
        )
    };
    let mut output = Vec::new();
    let huge = "123456789012345678901234567890";
    let input = call(1, "tells") + &ask(2, "\"t\"") + &ask(3, huge) + &ask(4, "{}");
    server().serve(input.as_bytes(), &mut output).unwrap();
    assert_eq!(String::from_utf8_lossy(&output).matches(huge).count(), 3);
    let told = replies(&output);
    let told: Vec<_> = told
        .iter()
        .map(|message| match message["id"].as_u64() {
            Some(id) => json!(id),
            None => json!([message["params"]["progress"], message["params"]["total"]]),
        })
        .collect();
    let rising = [json!([0, null]), json!([1, 2]), json!([2, 2])];
    let expected = [&[json!(1)], &rising[..], &[json!(2)], &rising[..], &[json!(3), json!(4)]].concat();
    assert_eq!(told, expected);
}

#[test]
fn a_batch_in_which_something_waits_is_answered_as_one_and_keeps_nobody_waiting() {
    let rest = Conversation::hold(|client| {
        let version = json!({"protocolVersion": "2025-03-26"});
        client
            .say(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": version}).to_string());
        assert_eq!(client.hear()["id"], 0);
        let batch = [call(1, "answers"), call(2, "rests"), call(3, "rests"), ping(4)];
        client.say(&format!("[{}]", batch.join(",").replace('\n', "")));
        client.say(&ping(5));
        assert_eq!(client.hear()["id"], 5);
        client.say(&cancel(3));
        client.say(&cancel(2));
    });
    assert_eq!(rest.len(), 1);
    let ids: Vec<_> = rest[0].as_array().unwrap().iter().map(|reply| reply["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, [1, 4]);
}

#[test]
fn a_client_that_is_gone_ends_what_waits() {
    let reader = || {
        let first = io::Cursor::new(call(1, "rests"));
        BufReader::with_capacity(256, first.chain(Endless(Vec::new())))
    };
    assert!(server().serve(reader(), Fails(io::ErrorKind::BrokenPipe)).is_ok());
}
