//! `ambient mcp` as a process that a test talks to.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread::{self, JoinHandle};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// A server that was started and has answered once.
pub(crate) struct Served {
    process: Child,
    /// None once nothing more is asked.
    stdin: Option<ChildStdin>,
    /// None once nobody reads its replies.
    stdout: Option<BufReader<ChildStdout>>,
    next_id: u64,
    /// What came while something else was waited for.
    heard: Vec<Value>,
}

impl Served {
    /// Starts the server by `command`.
    pub(crate) fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let (stdin, stdout) = (process.stdin.take(), process.stdout.take().map(BufReader::new));
        let mut served = Self { process, stdin, stdout, next_id: 1, heard: Vec::new() };
        let ping = served.ask("ping", &json!({}));
        assert_eq!(served.reply(ping)["result"], json!({}));
        served
    }

    /// Sends these bytes.
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(bytes).and_then(|()| stdin.flush()).unwrap();
    }

    /// Sends `bytes` and nothing more, while its replies are read here.
    pub(crate) fn send_all_beside(&mut self, bytes: Vec<u8>) -> JoinHandle<()> {
        let mut stdin = self.stdin.take().unwrap();
        thread::spawn(move || stdin.write_all(&bytes).unwrap())
    }

    /// Asks for `method`; gives the id.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.send(format!("{request}\n").as_bytes());
        id
    }

    /// Calls `tool`; gives the id.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> u64 {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": 1}}))
    }

    /// What `tool` answers.
    pub(crate) fn answer(&mut self, tool: &str, arguments: &Value) -> Value {
        serde_json::from_str(&self.answer_text(tool, arguments)).unwrap()
    }

    /// What `tool` answers, letter by letter.
    pub(crate) fn answer_text(&mut self, tool: &str, arguments: &Value) -> String {
        let id = self.call(tool, arguments);
        let reply = self.reply(id);
        assert_eq!(reply["result"]["isError"], false, "{reply}");
        reply["result"]["content"][0]["text"].as_str().unwrap().to_owned()
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
            assert_ne!(self.stdout.as_mut().unwrap().read_line(&mut line).unwrap(), 0, "it has ended");
            let message: Value = serde_json::from_str(&line).unwrap();
            if is_meant(&message) {
                return message;
            }
            self.heard.push(message);
        }
    }

    /// Its process id.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).unwrap();
    }

    /// Asks for nothing more.
    pub(crate) fn end_input(&mut self) {
        self.stdin = None;
    }

    /// Reads no more replies.
    pub(crate) fn close_output(&mut self) {
        self.stdout = None;
    }

    /// What it still says; fails unless it ends with 0 and without a word of complaint.
    pub(crate) fn expect_end(mut self) -> Vec<Value> {
        let mut rest = String::new();
        if let Some(stdout) = &mut self.stdout {
            stdout.read_to_string(&mut rest).unwrap();
        }
        let mut stderr = String::new();
        self.process.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!((self.process.wait().unwrap().code(), stderr.as_str()), (Some(0), ""));
        assert!(rest.is_empty() || rest.ends_with('\n'), "no reply is cut");
        rest.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Drop for Served {
    /// A test that fails leaves no server behind.
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
