//! A client that stays: it asks, hears, asks again, and may ask for the next thing before it has heard.

use std::io::{BufRead, BufReader, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use ambient_mcp::Server;
use serde_json::{Value, json};

use crate::client;

/// How long a reply may take before a test gives up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// One end of a connection.
pub(crate) struct Conversation {
    to: UnixStream,
    from: BufReader<UnixStream>,
    next_id: u64,
    /// What came while something else was waited for.
    heard: Vec<Value>,
}

/// Holds a conversation with `server`, until `hold` returns.
pub(crate) fn converse<T>(server: &Server<'_>, hold: impl FnOnce(&mut Conversation) -> T) -> T {
    let (client, serving) = UnixStream::pair().unwrap();
    client.set_read_timeout(Some(PATIENCE)).unwrap();
    let from = BufReader::new(client.try_clone().unwrap());
    let mut conversation = Conversation { to: client, from, next_id: 1, heard: Vec::new() };
    std::thread::scope(|scope| {
        let reader = BufReader::new(serving.try_clone().unwrap());
        let answering = scope.spawn(move || server.serve(reader, serving).unwrap());
        let outcome = hold(&mut conversation);
        conversation.end();
        drop(conversation);
        answering.join().unwrap();
        outcome
    })
}

impl Conversation {
    /// Asks for `method`; gives the id.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        writeln!(self.to, "{}", client::request(id, method, params)).unwrap();
        id
    }

    /// Calls `tool`; gives the id.
    pub(crate) fn begin(&mut self, tool: &str, arguments: &Value) -> u64 {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// The reply to a call of `tool`.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let id = self.begin(tool, arguments);
        self.reply(id)
    }

    /// What `tool` answers.
    pub(crate) fn answer(&mut self, tool: &str, arguments: &Value) -> Value {
        client::answer(&self.call(tool, arguments))
    }

    /// Why `tool` fails.
    pub(crate) fn failure(&mut self, tool: &str, arguments: &Value) -> String {
        client::failure(&self.call(tool, arguments)).to_owned()
    }

    /// Takes a request back.
    pub(crate) fn cancel(&mut self, id: u64) {
        let cancelled =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
        writeln!(self.to, "{cancelled}").unwrap();
    }

    /// The reply to the request `id`.
    pub(crate) fn reply(&mut self, id: u64) -> Value {
        self.hear(|message| message["id"] == id)
    }

    /// The first message that `is_meant`.
    pub(crate) fn hear(&mut self, is_meant: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.heard.iter().position(&is_meant) {
            return self.heard.remove(at);
        }
        loop {
            let mut line = String::new();
            assert_ne!(self.from.read_line(&mut line).unwrap(), 0, "the server has ended");
            let message: Value = serde_json::from_str(&line).unwrap();
            if is_meant(&message) {
                return message;
            }
            self.heard.push(message);
        }
    }

    /// Asks for nothing more.
    pub(crate) fn end(&mut self) {
        // The other end may be gone already.
        let _ = self.to.shutdown(Shutdown::Write);
    }
}
