//! Sessions on disk in the predecessor's layout, at a moment the test chooses.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use ambient_engine::FixedClock;
use ambient_mcp::Server;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder of sessions, and a folder beside it that nothing may be read from.
pub(crate) struct Sessions {
    root: TempDir,
    outside: TempDir,
    clock: FixedClock,
}

impl Sessions {
    pub(crate) fn new() -> Self {
        let noon = SystemTime::UNIX_EPOCH + Duration::from_secs(1_788_696_000);
        let folder = || tempfile::tempdir().unwrap();
        Self { root: folder(), outside: folder(), clock: FixedClock(noon) }
    }

    pub(crate) fn server(&self) -> Server<'_> {
        Server::new(self.root.path()).with_clock(&self.clock)
    }

    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    /// A new, empty directory under the root.
    pub(crate) fn directory(&self, id: &str) -> Directory<'_> {
        Directory::new(self.root.path().join(id), &self.clock)
    }

    /// A new, empty directory that is not under the root.
    pub(crate) fn outside(&self, name: &str) -> Directory<'_> {
        Directory::new(self.outside.path().join(name), &self.clock)
    }

    /// A link under the root.
    pub(crate) fn link(&self, name: &str, target: &Path) {
        symlink(target, self.root.path().join(name)).unwrap();
    }
}

/// One directory, filled piece by piece.
pub(crate) struct Directory<'a> {
    path: PathBuf,
    clock: &'a FixedClock,
}

impl<'a> Directory<'a> {
    fn new(path: PathBuf, clock: &'a FixedClock) -> Self {
        fs::create_dir(&path).unwrap();
        Self { path, clock }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn file(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        fs::write(self.path.join(name), content).unwrap();
        self
    }

    pub(crate) fn link(self, name: &str, target: &Path) -> Self {
        symlink(target, self.path.join(name)).unwrap();
        self
    }

    /// `session.json`, as it is written when capture ends.
    pub(crate) fn summary(self, started_at: &str) -> Self {
        let id = self.path.file_name().unwrap().to_str().unwrap();
        let summary = json!({
            "id": id, "name": "Roadmap sync", "started_at": started_at, "ended_at": started_at,
            "duration_s": 1184.0, "device_hz": 48000, "mic_hz": 48000, "channels": 2, "mic_channels": 1,
            "apps": [], "model": "parakeet", "warnings": [], "tags": [], "notes": "", "pinned": false,
        });
        self.file("session.json", serde_json::to_string_pretty(&summary).unwrap())
    }

    /// `raw.jsonl`, with one line of speech for each track and start.
    pub(crate) fn heard(self, lines: &[(&str, u64)]) -> Self {
        self.file(
            "raw.jsonl",
            lines.iter().map(|&(track, start_ms)| heard(track, start_ms)).collect::<String>(),
        )
    }

    /// `transcript.md`, which says that nothing more will come.
    pub(crate) fn transcribed(self) -> Self {
        self.file("transcript.md", "# Roadmap sync\n")
    }

    /// Audio whose last sample was written a second ago.
    pub(crate) fn growing(self) -> Self {
        fs::create_dir(self.path.join("audio")).unwrap();
        let this = self.file("audio/room.native.wav", "RIFF");
        let audio = fs::File::options().write(true).open(this.path.join("audio/room.native.wav")).unwrap();
        audio.set_modified(this.clock.0 - Duration::from_secs(1)).unwrap();
        this
    }
}

/// One record of `raw.jsonl`.
pub(crate) fn heard(track: &str, start_ms: u64) -> String {
    let end_ms = start_ms + 1000;
    let text = format!("{track} at {start_ms}");
    let record =
        json!({"track": track, "start_ms": start_ms, "end_ms": end_ms, "text": text, "confidence": 0.9});
    format!("{record}\n")
}

/// How that record reads while no edit has touched it.
pub(crate) fn line(track: &str, start_ms: u64) -> Value {
    let text = format!("{track} at {start_ms}");
    json!({"track": track, "start_ms": start_ms, "end_ms": start_ms + 1000, "speaker": null, "text": text})
}
