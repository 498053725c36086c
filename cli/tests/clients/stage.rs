//! What a client finds: a folder with a finished session and one that is being recorded, settings that let an
//! assistant speak, and the server behind a script that records what passes through.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use ambient_engine::session::{Directory, SessionDirectory, SessionId, Work, WorkLock};
use ambient_engine::{Event, Finished, Line, Log, Opened, Options, Origin, Track};
use serde_json::json;

use crate::expectation;
use crate::plan::{Plan, Report};
use crate::wire::Wire;

/// A session that is complete.
pub(crate) const FINISHED: &str = "2026-09-05T1412-roadmap-sync";
/// A session that is being recorded.
pub(crate) const LIVE: &str = "2026-09-05T1608";

/// Longer than any machine takes for a process to end.
const DEADLINE: Duration = Duration::from_secs(60);

/// Passes on what comes and goes, writes both down, and at the end how the server ended.
const RECORDING_SERVER: &str = r#"#!/bin/sh
folder=$1; shift
tee "$folder/sent" | { "$@"; echo $? > "$folder/ended.new"; mv "$folder/ended.new" "$folder/ended"; } | tee "$folder/received"
"#;

/// The folders of one conversation.
pub(crate) struct Stage {
    folder: tempfile::TempDir,
    /// Says that the live session is being recorded.
    _recording: WorkLock,
    _log: Log,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Directory::open_or_create(&folder.path().join("sessions")).unwrap();
        let (_, mut log) = session(&root, FINISHED);
        let finished = Finished { at: "2026-09-05T15:00:00+02:00".to_owned(), warnings: Vec::new() };
        log.append(&[Event::Finished(finished)]).unwrap();
        log.close().unwrap();
        let (live, log) = session(&root, LIVE);
        let recording = WorkLock::hold(&live, Work::Recording).unwrap();
        let voice = format!("{} voice-helper --no-play", env!("CARGO_BIN_EXE_ambient"));
        let settings = json!({"assistant": {"enabled": true, "name": "Iris"}, "voice": {"command": voice}});
        fs::write(folder.path().join("config.json"), settings.to_string()).unwrap();
        let server = folder.path().join("server");
        fs::write(&server, RECORDING_SERVER).unwrap();
        fs::set_permissions(&server, fs::Permissions::from_mode(0o755)).unwrap();
        Self { folder, _recording: recording, _log: log }
    }

    /// What the client is to do.
    pub(crate) fn plan(&self) -> Plan {
        let path = |name: &str| self.path(name).to_str().unwrap().to_owned();
        let variables = [("AMBIENT_HOME", path("sessions")), ("AMBIENT_CONFIG", path("config.json"))];
        Plan {
            command: "/bin/sh".to_owned(),
            args: vec![path("server"), path(""), env!("CARGO_BIN_EXE_ambient").to_owned(), "mcp".to_owned()],
            env: BTreeMap::from(variables.map(|(name, value)| (name.to_owned(), value))),
            calls: expectation::calls(),
            wait: expectation::wait(),
            pause_ms: 200,
            meanwhile: expectation::meanwhile(),
        }
    }

    /// The same as a file.
    pub(crate) fn plan_file(&self) -> PathBuf {
        let path = self.path("plan.json");
        fs::write(&path, serde_json::to_string(&self.plan()).unwrap()).unwrap();
        path
    }

    /// All went as it should: for the client, on the wire, and for the server's process.
    pub(crate) fn assert_served(&self, client: &str, report: &Report) {
        assert_eq!(self.ended(), "0", "{client}: the server ends well once its client has left");
        let wire = Wire::read(self.folder.path());
        assert_eq!(wire.agreed_version(), "2025-11-25", "{client}");
        wire.assert_each_request_has_its_one_reply();
        expectation::assert_met(client, report, &wire);
    }

    /// The exit code of the server.
    fn ended(&self) -> String {
        let started = Instant::now();
        loop {
            if let Ok(code) = fs::read_to_string(self.path("ended")) {
                return code.trim().to_owned();
            }
            assert!(started.elapsed() < DEADLINE, "the server did not end, or was made to");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// A session of three lines, its log open for more.
fn session(root: &Directory, id: &str) -> (SessionDirectory, Log) {
    let path = root.path().join(id);
    fs::create_dir(&path).unwrap();
    let mut log = Log::create(&path, Options::default()).unwrap();
    let opened = Opened {
        id: id.to_owned(),
        name: Some("Roadmap sync".to_owned()),
        started_at: format!("{}:{}:00+02:00", &id[..13], &id[13..15]),
        origin: Origin::Recorded,
        program: "a test".to_owned(),
        tracks: Vec::new(),
    };
    let lines = ["Shall we begin?", "Yes, \u{201e}gern\u{201c}. \u{2705}", "Then let us."];
    let lines = (0..).zip(lines).map(|(number, text)| heard(number * 4_000, text));
    let events: Vec<Event> = std::iter::once(Event::Opened(opened)).chain(lines).collect();
    log.append(&events).unwrap();
    (SessionDirectory::open(root, &SessionId::new(id).unwrap()).unwrap().unwrap(), log)
}

fn heard(start_ms: u64, text: &str) -> Event {
    Event::Line(Line {
        track: Track::Room,
        start_ms,
        end_ms: start_ms + 3_000,
        text: text.to_owned(),
        confidence: 0.9,
        language: None,
        generation: 0,
        audio: None,
        overlap: false,
    })
}
