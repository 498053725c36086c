//! Sessions on disk in the native layout: a log, written by the engine.

use std::path::Path;

use ambient_engine::session::{Directory, SessionDirectory, SessionId, Work, WorkLock};
use ambient_engine::{
    Captured, CapturedTrack, Change, Edit, Event, Finished, Line, Log, Opened, Options, Origin, Track,
};

/// A session whose log is open for writing.
pub(crate) struct NativeSession {
    directory: SessionDirectory,
    log: Log,
}

impl NativeSession {
    /// A new session under `root` that has begun and holds nothing yet.
    pub(crate) fn begin(root: &Path, id: &str, started_at: &str) -> Self {
        std::fs::create_dir(root.join(id)).unwrap();
        let log = Log::create(&root.join(id), Options::default()).unwrap();
        let root = Directory::open(root).unwrap();
        let directory = SessionDirectory::open(&root, &SessionId::new(id).unwrap()).unwrap().unwrap();
        let opened = Opened {
            id: id.to_owned(),
            name: Some("Roadmap sync".to_owned()),
            started_at: started_at.to_owned(),
            origin: Origin::Recorded,
            program: "ambient".to_owned(),
            tracks: Vec::new(),
        };
        Self { directory, log }.with(&[Event::Opened(opened)])
    }

    /// A session that is there, opened for writing.
    pub(crate) fn open(root: &Path, id: &str) -> Self {
        let log = Log::open(&root.join(id), Options::default()).unwrap();
        let root = Directory::open(root).unwrap();
        let directory = SessionDirectory::open(&root, &SessionId::new(id).unwrap()).unwrap().unwrap();
        Self { directory, log }
    }

    /// Appends `events` as one batch.
    pub(crate) fn append(&mut self, events: &[Event]) {
        self.log.append(events).unwrap();
    }

    pub(crate) fn with(mut self, events: &[Event]) -> Self {
        self.append(events);
        self
    }

    /// Says that `work` is being done on it for as long as the answer is kept.
    pub(crate) fn hold(&self, work: Work) -> WorkLock {
        WorkLock::hold(&self.directory, work).unwrap()
    }

    /// Leaves the log, as a writer does that has nothing more to write.
    pub(crate) fn close(self) {
        self.log.close().unwrap();
    }
}

/// A line of speech a second long.
pub(crate) fn heard(track: Track, start_ms: u64) -> Event {
    Event::Line(Line {
        track,
        start_ms,
        end_ms: start_ms + 1000,
        text: format!("{track} at {start_ms}"),
        confidence: 0.9,
        language: None,
        generation: 0,
        audio: None,
        overlap: false,
    })
}

/// A person's edit.
pub(crate) fn edit(line: u64, change: Change) -> Event {
    Event::Edit(Edit { line, by: Edit::PERSON.to_owned(), change })
}

/// Capture ended after `seconds` on the room track.
pub(crate) fn captured(seconds: u64) -> Event {
    let room = CapturedTrack {
        track: Track::Room,
        rate_hz: 48_000,
        channels: 1,
        samples: seconds * 48_000,
        silent_ms: 0,
        padded_ms: 0,
    };
    Event::Captured(Captured {
        ended_at: "2026-09-05T13:00:00Z".to_owned(),
        tracks: vec![room],
        warnings: Vec::new(),
    })
}

/// All of it is text.
pub(crate) fn finished() -> Event {
    Event::Finished(Finished { at: "2026-09-05T13:01:00Z".to_owned(), warnings: Vec::new() })
}
