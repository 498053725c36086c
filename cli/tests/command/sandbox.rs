//! A machine of its own for each test: an empty environment, and folders that go away.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use ambient_engine::{Event, Log, Opened, Options, Origin, Track, TrackSource};
use serde_json::{Value, json};

/// Folders and environment of one test.
pub(crate) struct Sandbox {
    folder: tempfile::TempDir,
    root: PathBuf,
    models: PathBuf,
}

/// How a run ended and what it printed.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// stdout as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Fails unless the run ended with `code` and, when that is an error, left stdout empty.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        if !matches!(code, 0 | 5) {
            assert_eq!(self.stdout, "", "an error prints no data: {self:?}");
            assert_ne!(self.stderr, "", "an error says what happened");
        }
        self
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
        }
    }
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("home")).unwrap();
        let (root, models) = (folder.path().join("sessions"), folder.path().join("models"));
        Self { folder, root, models }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A folder for files of the test.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The sessions.
    pub(crate) fn root(&self) -> PathBuf {
        self.root.clone()
    }

    /// Has the program keep its sessions elsewhere in the sandbox from now on.
    pub(crate) fn use_root(&mut self, name: &str) {
        self.root = self.path(name);
    }

    /// Has the program use models from outside the sandbox.
    pub(crate) fn use_models(&mut self, folder: &Path) {
        folder.clone_into(&mut self.models);
    }

    /// The settings file.
    pub(crate) fn config(&self) -> PathBuf {
        self.path("config.json")
    }

    /// The program with `arguments` and nothing else of the outer environment.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ambient"));
        command.args(arguments).env_clear().current_dir(self.folder()).stdin(Stdio::null());
        command.env("HOME", self.path("home")).env("TZ", "UTC");
        command.env("AMBIENT_HOME", self.root()).env("AMBIENT_CONFIG", self.config());
        command.env("AMBIENT_MODELS", &self.models);
        command
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        self.command(arguments).output().unwrap().into()
    }

    /// Runs the program to its end with `input` on stdin.
    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &str) -> Run {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait_with_output().unwrap().into()
    }

    /// What the tool `name` of the MCP server answers.
    pub(crate) fn tool(&self, name: &str, arguments: &Value) -> Value {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": name, "arguments": arguments}});
        let run = self.run_with_input(&["mcp"], &format!("{call}\n")).expect(0);
        let reply = run.json();
        assert_eq!(reply["result"]["isError"], json!(false), "{reply}");
        serde_json::from_str(reply["result"]["content"][0]["text"].as_str().unwrap()).unwrap()
    }

    /// A finished session in the predecessor's layout. `lines` are its records, `edits` the later changes.
    pub(crate) fn session(&self, id: &str, started_at: &str, lines: &[Value], edits: &[Value]) -> PathBuf {
        let folder = self.root().join(id);
        fs::create_dir_all(&folder).unwrap();
        let metadata = json!({"id": id, "name": "Weekly sync", "started_at": started_at,
            "ended_at": started_at, "duration_s": 3725.5, "device_hz": 48000, "mic_hz": 48000,
            "channels": 2, "mic_channels": 1, "apps": [], "model": "tiny.en"});
        fs::write(folder.join("session.json"), metadata.to_string()).unwrap();
        let records =
            |values: &[Value]| values.iter().map(Value::to_string).collect::<Vec<_>>().join("\n") + "\n";
        fs::write(folder.join("raw.jsonl"), records(lines)).unwrap();
        fs::write(folder.join("edits.jsonl"), records(edits)).unwrap();
        fs::write(folder.join("transcript.md"), "").unwrap();
        folder
    }

    /// A session of our own that was begun and left, without its sound.
    pub(crate) fn interrupted_session(&self, id: &str) -> PathBuf {
        let folder = self.root().join(id);
        fs::create_dir_all(&folder).unwrap();
        let mut log = Log::create(&folder, Options::default()).unwrap();
        let source = TrackSource { track: Track::Room, name: "/nowhere/talk.wav".into(), len_bytes: None };
        let opened = Opened {
            id: id.to_owned(),
            name: None,
            started_at: format!("{}:{}:00Z", &id[..13], &id[13..15]),
            origin: Origin::Transcribed,
            program: "a test".to_owned(),
            tracks: vec![source],
        };
        log.append(&[Event::Opened(opened)]).unwrap();
        folder
    }

    /// A second of silence.
    pub(crate) fn wav(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        let mut bytes =
            b"RIFF\x24\x7d\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x80\x3e\0\0\0\x7d\0\0\x02\0\x10\0data\0\x7d\0\0"
                .to_vec();
        bytes.resize(bytes.len() + 32_000, 0);
        fs::write(&path, bytes).unwrap();
        path
    }

    /// Two sessions: an older one with four lines on both tracks, one of them named, and a newer one.
    pub(crate) fn with_two_sessions() -> Self {
        let sandbox = Self::new();
        let lines = [
            line("room", 0, "Right, shall we start with the migration?"),
            line("room", 8_200, "Did the backfill finish?"),
            line("call", 3_400, "Yes. I pushed the schema change on Friday."),
            line("call", 3_725_000, "That is all."),
        ];
        let edits = [json!({"kind": "speaker", "target": {"track": "call", "start_ms": 3400},
            "name": "Priya", "by": "user", "at": "2026-09-05T15:00:00Z"})];
        sandbox.session("2026-09-05T1412-weekly-sync", "2026-09-05T14:12:03Z", &lines, &edits);
        sandbox.session("2026-09-06T0900", "2026-09-06T09:00:00Z", &[line("room", 0, "Hello.")], &[]);
        sandbox
    }
}

/// A record of the predecessor's `raw.jsonl`.
pub(crate) fn line(track: &str, start_ms: u64, text: &str) -> Value {
    json!({"track": track, "start_ms": start_ms, "end_ms": start_ms + 1000, "text": text, "confidence": 0.9})
}
