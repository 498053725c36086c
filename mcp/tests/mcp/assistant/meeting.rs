//! A meeting: a recorder that appends what it is told to, settings, and a voice that notes what it is told.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use ambient_engine::session::{Work, WorkLock};
use ambient_engine::{AssistantAct, Event, Line, Mapping, Reader, Recorded, Track};
use ambient_mcp::{Assistant, Server};
use serde_json::{Value, json};

use crate::conversation::{Conversation, PATIENCE, converse};
use crate::jsonl_session::Sessions;
use crate::native_session::NativeSession;

pub(super) const ID: &str = "2026-09-05T1200";
const STARTED_AT: &str = "2026-09-05T12:00:00+02:00";

/// What it does depends on what it is to say.
const VOICE: &str = r#"
echo "$@" >> "$0.started"
echo "warming up"
echo '{"event":"ready","engine":"script"}'
while read -r line; do
    echo "$line" >> "$0.told"
    id=${line#*'"id":'}; id=${id%%,*}
    case "$line" in
        *'"op":"quit"'*) exit 0;;
        *refuse*) echo "{\"event\":\"error\",\"id\":$id,\"message\":\"no sound\"}";;
        *forever*) echo "{\"event\":\"speaking\",\"id\":$id,\"first_audio_ms\":5}"
            echo $$ > "$0.pid.new"; mv "$0.pid.new" "$0.pid"
            sleep 600;;
        *) echo "{\"event\":\"speaking\",\"id\":$id,\"first_audio_ms\":5}"
            echo "{\"event\":\"done\",\"id\":$id,\"audio_s\":1.5,\"total_ms\":1600}";;
    esac
done
"#;

/// A root with one session that is being recorded, and everything an assistant needs.
pub(super) struct Meeting {
    pub(super) sessions: Sessions,
    folder: tempfile::TempDir,
    recorder: Option<(NativeSession, WorkLock)>,
}

impl Meeting {
    /// A meeting with the assistant turned on, without a pause between what it says.
    pub(super) fn begin() -> Self {
        let sessions = Sessions::new();
        let session = NativeSession::begin(sessions.root(), ID, STARTED_AT);
        let recording = session.hold(Work::Recording);
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("voice"), VOICE).unwrap();
        let meeting = Self { sessions, folder, recorder: Some((session, recording)) };
        meeting.set(&json!({"enabled": true, "cooldown_s": 0}));
        meeting
    }

    /// Puts `assistant` into the settings.
    pub(super) fn set(&self, assistant: &Value) {
        let staged = self.folder.path().join("config.json.new");
        fs::write(&staged, json!({"assistant": assistant}).to_string()).unwrap();
        fs::rename(staged, self.settings()).unwrap();
    }

    pub(super) fn turn_off(&self) {
        self.set(&json!({"enabled": false}));
    }

    pub(super) fn settings(&self) -> PathBuf {
        self.folder.path().join("config.json")
    }

    pub(super) fn voice(&self) -> PathBuf {
        self.folder.path().join("voice")
    }

    /// An assistant that speaks by the script.
    pub(super) fn assistant(&self) -> Assistant {
        Assistant::new(self.settings(), "/bin/sh".into(), vec![self.voice().into()])
    }

    /// Holds a conversation with a server that has an assistant of its own.
    pub(super) fn with_client<T>(&mut self, hold: impl FnOnce(&mut Self, &mut Conversation) -> T) -> T {
        let assistant = self.assistant();
        let root = self.sessions.root().to_owned();
        let server = Server::new(&root).with_assistant(&assistant);
        converse(&server, |client| hold(self, client))
    }

    /// Somebody in the room says `text` from `start_ms` on, for a second.
    pub(super) fn say(&mut self, start_ms: u64, text: &str) {
        self.append(&[said(Track::Room, start_ms, text)]);
    }

    pub(super) fn append(&mut self, events: &[Event]) {
        self.recorder.as_mut().unwrap().0.append(events);
    }

    /// The recorder publishes that its tracks are as loud as this, `at_ms` after it began.
    pub(super) fn publish_levels(&self, at_ms: usize, room_db: f64, call_db: f64) {
        let track = |track, level_db| json!({"track": track, "level_db": level_db});
        let status = json!({"elapsed_ms": at_ms, "tracks": [track("room", room_db), track("call", call_db)]});
        let folder = self.sessions.root().join(ID);
        fs::write(folder.join("recording.json.new"), status.to_string()).unwrap();
        fs::rename(folder.join("recording.json.new"), folder.join("recording.json")).unwrap();
    }

    /// The recorder closes the log and is gone.
    pub(super) fn stop_recording(&mut self) {
        let (session, recording) = self.recorder.take().unwrap();
        session.close();
        drop(recording);
    }

    fn events(&self) -> Vec<Recorded> {
        let mut reader = Reader::open(&self.sessions.root().join(ID), Mapping::On).unwrap();
        reader.snapshot().unwrap().events().unwrap()
    }

    /// What the log says that assistants did.
    pub(super) fn acts(&self) -> Vec<AssistantAct> {
        self.timed_acts().into_iter().map(|(_, act)| act).collect()
    }

    /// As [`acts`](Self::acts), with the milliseconds from the beginning of the session.
    pub(super) fn timed_acts(&self) -> Vec<(u64, AssistantAct)> {
        let events = self.events();
        let began_us = events[0].ts_us;
        let acts = events.into_iter().filter_map(|recorded| match recorded.event {
            Event::Assistant(act) => Some((u64::try_from((recorded.ts_us - began_us) / 1000).unwrap(), act)),
            _ => None,
        });
        acts.collect()
    }

    /// The words of the acts, in one word each.
    pub(super) fn kinds(&self) -> Vec<&'static str> {
        let kind = |act: &AssistantAct| match act {
            AssistantAct::Joined { .. } => "joined",
            AssistantAct::Began { .. } => "began",
            AssistantAct::Spoke { .. } => "spoke",
            AssistantAct::Failed { .. } => "failed",
            AssistantAct::Left { .. } => "left",
        };
        self.acts().iter().map(kind).collect()
    }

    /// What the voice was told to say.
    pub(super) fn told(&self) -> Vec<String> {
        let told = fs::read_to_string(self.voice_file("told")).unwrap_or_default();
        let lines = told.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter_map(|told| told["text"].as_str().map(str::to_owned)).collect()
    }

    /// A file that the voice writes.
    pub(super) fn voice_file(&self, extension: &str) -> PathBuf {
        let mut path = self.voice().into_os_string();
        path.push(".");
        path.push(extension);
        path.into()
    }

    /// The signs that are given, if any.
    pub(super) fn signs(&self) -> Vec<Value> {
        let entries = fs::read_dir(self.folder.path().join("assistant")).into_iter().flatten();
        let signs = entries.map(|entry| entry.unwrap().path());
        let signs = signs.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
        signs.filter_map(|path| serde_json::from_slice(&fs::read(path).ok()?).ok()).collect()
    }
}

/// A line of a second.
pub(super) fn said(track: Track, start_ms: u64, text: &str) -> Event {
    Event::Line(Line {
        track,
        start_ms,
        end_ms: start_ms + 1000,
        text: text.to_owned(),
        confidence: 0.9,
        language: None,
        generation: 0,
        audio: None,
        overlap: false,
    })
}

/// Waits until `is_so`.
pub(super) fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "never: {what}");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

/// Waits until there is a file at `path`.
pub(super) fn appears(path: &Path) {
    eventually("the file appears", || path.exists());
}
