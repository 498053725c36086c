//! `ambient mcp` as a process: what ends it, and that it ends well.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// A server that was started and has answered once.
struct Served {
    process: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Served {
    fn start(sandbox: &Sandbox) -> Self {
        let mut command = sandbox.command(&["mcp"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let (stdin, stdout) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        let mut served = Self { process, stdin, stdout: BufReader::new(stdout) };
        served.ping(1);
        assert_eq!(served.hear()["id"], 1);
        served
    }

    fn ping(&mut self, id: u64) {
        writeln!(self.stdin, "{}", json!({"jsonrpc": "2.0", "id": id, "method": "ping"})).unwrap();
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.process.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }
}

/// Fails unless it ends with 0 and without a word of complaint.
fn expect_end(mut process: Child) {
    let mut stderr = String::new();
    process.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!((process.wait().unwrap().code(), stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_signal_ends_a_server_that_waits_for_input_and_no_reply_is_cut() {
    for signal in [Signal::TERM, Signal::INT] {
        let mut served = Served::start(&Sandbox::new());
        served.signal(signal);
        let mut rest = String::new();
        served.stdout.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "");
        expect_end(served.process);
    }
}

#[test]
fn a_server_whose_replies_nobody_reads_any_more_ends_though_its_input_stays_open() {
    let Served { process, stdin, stdout } = Served::start(&Sandbox::new());
    drop(stdout);
    expect_end(process);
    drop(stdin);
}

#[test]
fn what_was_asked_before_the_input_ended_is_answered() {
    let mut served = Served::start(&Sandbox::new());
    (2..200).for_each(|id| served.ping(id));
    let Served { process, stdin, stdout } = served;
    drop(stdin);
    let ids =
        stdout.lines().map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap()["id"].as_u64());
    assert!(ids.eq((2..200).map(Some)));
    expect_end(process);
}
