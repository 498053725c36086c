//! `ambient mcp` in a meeting: the built program, its own voice, and a recorder that holds the lock.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Stdio};

use ambient_engine::session::{Directory, SessionDirectory, SessionId, Work, WorkLock};
use ambient_engine::{Event, Line, Mapping, Options, Track};
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

const ID: &str = "2026-09-05T1412";

/// A recorder: it holds the lock, and appends what is said.
struct Recorder {
    session: SessionDirectory,
    _recording: WorkLock,
}

impl Recorder {
    fn start(sandbox: &Sandbox) -> Self {
        sandbox.interrupted_session(ID);
        let root = Directory::open(&sandbox.root()).unwrap();
        let session = SessionDirectory::open(&root, &SessionId::new(ID).unwrap()).unwrap().unwrap();
        let recording = WorkLock::hold(&session, Work::Recording).unwrap();
        Self { session, _recording: recording }
    }

    fn say(&self, start_ms: u64, text: &str) {
        let line = Line {
            track: Track::Room,
            start_ms,
            end_ms: start_ms + 900,
            text: text.to_owned(),
            confidence: 0.9,
            language: None,
            generation: 0,
            audio: None,
            overlap: false,
        };
        self.session.open_log(Options::default()).unwrap().append(&[Event::Line(line)]).unwrap();
    }

    /// How often the log says that an assistant did something.
    fn acts(&self) -> usize {
        let mut reader = self.session.read_log(Mapping::On).unwrap();
        let events = reader.snapshot().unwrap().events().unwrap();
        events.iter().filter(|recorded| matches!(recorded.event, Event::Assistant(_))).count()
    }
}

/// The server, and the one who asks it.
struct Client {
    server: Child,
    next_id: u64,
}

impl Client {
    fn start(sandbox: &Sandbox) -> Self {
        let mut command = sandbox.command(&["mcp", "--no-play", "--save-audio", "said"]);
        command.env("PATH", std::env::var("PATH").unwrap_or_default());
        let server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        Self { server, next_id: 1 }
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        let call = json!({"jsonrpc": "2.0", "id": self.next_id, "method": "tools/call", "params": params});
        self.next_id += 1;
        writeln!(self.server.stdin.as_mut().unwrap(), "{call}").unwrap();
        // Each call is answered before the next one is made, so nothing is read ahead and lost.
        let mut reply = String::new();
        BufReader::new(self.server.stdout.as_mut().unwrap()).read_line(&mut reply).unwrap();
        let reply: Value = serde_json::from_str(&reply).unwrap();
        let text = reply["result"]["content"][0]["text"].as_str().unwrap();
        assert_eq!(reply["result"]["isError"], false, "{text}");
        serde_json::from_str(text).unwrap()
    }

    fn end(mut self) {
        drop(self.server.stdin.take());
        assert!(self.server.wait().unwrap().success());
    }
}

#[test]
fn it_says_the_notice_with_its_own_voice_hears_its_name_and_answers() {
    let path = std::env::var("PATH").unwrap_or_default();
    if !std::env::split_paths(&path).any(|folder| folder.join("espeak-ng").is_file()) {
        assert!(std::env::var_os("AMBIENT_REQUIRE_TOOLS").is_none_or(|value| value != "1"), "no espeak-ng");
        println!("nothing was tested: espeak-ng is not on PATH");
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.run(&["config", "set", "assistant.enabled", "true"]).expect(0);
    sandbox.run(&["config", "set", "assistant.name", "Iris"]).expect(0);
    let recorder = Recorder::start(&sandbox);
    let mut client = Client::start(&sandbox);
    let watching = client.call("watch_meeting", &json!({}));
    assert_eq!((&watching["watching"], &watching["you_are"]), (&json!(ID), &json!("Iris")));
    let said = |number: u32| fs::read(sandbox.folder().join(format!("said/reply-{number}.wav"))).unwrap();
    assert!(said(1).iter().filter(|byte| **byte != 0).count() > 10_000, "the notice is not silent");
    recorder.say(600_000, "Iris, who tested the upgrade?");
    let heard = client.call("wait_for_transcript", &json!({}));
    assert_eq!((&heard["named_you"], &heard["may_speak"]), (&json!(true), &json!("yes")));
    let spoken = client.call("speak", &json!({"text": "Dana did, on Monday.", "emotion": "warm"}));
    assert!(spoken["audio_s"].as_f64().unwrap() > 0.3, "{spoken}");
    assert!(said(2).len() > 10_000);
    client.end();
    // Joined, the notice, begun, spoken, left.
    assert_eq!(recorder.acts(), 5);
}
