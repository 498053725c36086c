//! One recording from its first sound to its last line, with its three threads.
//!
//! The writer takes sound to the disk. The supervisor, several times a second, tells everyone how it
//! goes, looks whether the end is asked for, and writes to the log what happened to devices and, at the
//! end, what was captured. The caller's thread turns sound into lines. Recognition that fails ends
//! neither of the others.

use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ambient_engine::session::{Directory, SessionDirectory};
use ambient_engine::{Captured, CapturedTrack, Clock, Event, Opened, Track, TrackSource};

use super::board::{Board, Ended};
use super::clock::SessionClock;
use super::source::Source;
use super::status::{Status, TrackStatus};
use super::writer::{self, TrackWriter};
use super::{disk, signs};
use crate::audio::NativeWriter;
use crate::pipeline::{Feed, History, Journal, Pipeline, PipelineError, Sink, native_path, rfc3339};
use crate::progress::ProgressReport;
use crate::recognizer::{RecognizeOptions, Recognizer};
use crate::voice_activity::VoiceActivity;

/// Between two looks of the supervisor.
const WATCH_EVERY: Duration = Duration::from_millis(200);

/// How long the worker waits for more sound.
const WORKER_REST: Duration = Duration::from_millis(25);

/// What the one who watches wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Go on.
    GoOn,
    /// End the recording; the rest of its sound becomes lines.
    Stop,
}

/// All that a recording works with.
pub struct Recording<'a> {
    /// Its directory, which the caller has locked.
    pub session: &'a SessionDirectory,
    /// The session's folder for audio.
    pub audio: &'a Directory,
    /// Turns sound into words; serves every track.
    pub recognizer: &'a mut dyn Recognizer,
    /// Tells speech from other sound; serves every track.
    pub voice_activity: &'a mut dyn VoiceActivity,
    /// What to listen for.
    pub options: RecognizeOptions,
    /// Tells the time for the log.
    pub clock: &'a dyn Clock,
    /// Tells how long the recording has been going on.
    pub session_clock: &'a dyn SessionClock,
    /// Microseconds after which it ends, if not before.
    pub ends_at_us: Option<u64>,
    /// When raised, everything ends soon, with the audio kept for later.
    pub interrupted: &'a AtomicBool,
    /// Told several times a second how things stand, from another thread.
    pub watch: &'a mut (dyn FnMut(&Status) -> Wish + Send),
}

/// What came of a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordingSummary {
    /// What was captured.
    pub tracks: Vec<CapturedTrack>,
    /// How it stood at the end.
    pub status: Status,
    /// What a person should know.
    pub warnings: Vec<String>,
}

impl Recording<'_> {
    /// Records from `sources` until the end is asked for; `opened`, with the sources as its tracks, is the
    /// first event of the log.
    ///
    /// # Errors
    /// When nothing could begin, before the log is written to; else what kept the lines from being
    /// complete. The audio is kept then.
    pub fn run(
        self,
        mut opened: Opened,
        sources: Vec<(Track, Box<dyn Source>)>,
        sink: &mut (dyn Sink + Send),
    ) -> Result<RecordingSummary, PipelineError> {
        self.recognizer.check(&self.options)?;
        let mut writers = Vec::new();
        for (track, source) in sources {
            opened.tracks.push(TrackSource { track, name: source.name().to_owned(), len_bytes: None });
            let native = NativeWriter::create(&native_path(self.audio.path(), track), source.rate_hz())?;
            writers.push(TrackWriter::new(track, source, native));
        }
        if writers.is_empty() {
            return Err(PipelineError::NoSources);
        }
        disk::reserve(self.audio)?;
        sink.append(&[Event::Opened(opened.clone())]).map_err(PipelineError::Log)?;
        let board = Board::new(writers.iter().map(TrackWriter::first_status).collect());
        let desk = Desk { board, sink: Mutex::new(sink), session_clock: self.session_clock };
        let board = &desk.board;
        let tracks: Vec<Track> = writers.iter().map(TrackWriter::track).collect();
        let supervisor = Supervisor {
            session: self.session,
            audio: self.audio,
            clock: self.clock,
            watch: self.watch,
            interrupted: self.interrupted,
            desk: &desk,
        };
        let mut pipeline = Pipeline {
            audio_folder: self.audio.path(),
            recognizer: self.recognizer,
            voice_activity: self.voice_activity,
            options: self.options,
            clock: self.clock,
            interrupted: self.interrupted,
            on_progress: &mut |report: &ProgressReport<'_>| desk.note_progress(report),
        };
        let (worked, supervised) = std::thread::scope(|scope| {
            scope.spawn(|| {
                let _guard = Farewell(|| board.note_ended(Ended::by_a_fault()));
                writer::run(writers, self.session_clock, self.ends_at_us, board);
            });
            let supervised = scope.spawn(|| supervisor.run());
            let _guard = Farewell(|| board.note_worker_done());
            let mut shared = &desk;
            let history = History::from_events([Event::Opened(opened)]);
            let mut journal = Journal::new(history, &mut shared);
            let worked = pipeline.transcribe_from(&mut journal, &tracks, &[], board);
            match &worked {
                Ok(()) => {}
                Err(PipelineError::Interrupted) => board.request_stop(),
                Err(error) => {
                    board.note_fault(format!("no more text: {error}; the sound is recorded further"));
                }
            }
            board.note_worker_done();
            (worked, supervised.join())
        });
        signs::withdraw(self.session);
        let captured = supervised.unwrap_or_else(|_| Err("the supervisor failed".into()));
        worked?;
        let (tracks, warnings) = captured.map_err(PipelineError::Log)?;
        Ok(RecordingSummary { tracks, warnings, status: board.status() })
    }
}

/// What a thread that panics still says, so that the others do not wait for it for ever.
struct Farewell<F: FnMut()>(F);

impl<F: FnMut()> Drop for Farewell<F> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            (self.0)();
        }
    }
}

/// The log and the board, as the worker and the supervisor share them.
struct Desk<'a> {
    board: Board,
    sink: Mutex<&'a mut (dyn Sink + Send + 'a)>,
    session_clock: &'a dyn SessionClock,
}

type LogError = Box<dyn Error + Send + Sync>;

impl Desk<'_> {
    fn store(&self, events: &[Event]) -> Result<(), LogError> {
        self.sink.lock().unwrap_or_else(PoisonError::into_inner).append(events)?;
        self.board.note_events(events, self.session_clock.now_us() / 1_000);
        Ok(())
    }

    fn note_progress(&self, report: &ProgressReport<'_>) {
        for progress in report.tracks {
            self.board.update(progress.track, |status: &mut TrackStatus| status.done_ms = progress.done_ms);
        }
    }
}

impl Sink for &Desk<'_> {
    fn append(&mut self, events: &[Event]) -> Result<(), LogError> {
        self.store(events)
    }
}

impl Feed for Board {
    fn is_growing(&self) -> bool {
        !self.is_over()
    }

    fn rest(&self) {
        std::thread::sleep(WORKER_REST);
    }
}

/// Watches over a recording.
struct Supervisor<'a, 'd> {
    session: &'a SessionDirectory,
    audio: &'a Directory,
    clock: &'a dyn Clock,
    watch: &'a mut (dyn FnMut(&Status) -> Wish + Send),
    interrupted: &'a AtomicBool,
    desk: &'a Desk<'d>,
}

impl Supervisor<'_, '_> {
    /// Watches until the sound is on disk and its lines are done, and gives what was captured. A log that
    /// refuses is told at the end: the sound goes on without it.
    fn run(self) -> Result<(Vec<CapturedTrack>, Vec<String>), LogError> {
        let board = &self.desk.board;
        let mut captured = None;
        let mut refused = None;
        loop {
            let notes = board.take_notes();
            if !notes.is_empty() {
                let events: Vec<Event> = notes.into_iter().map(Event::Device).collect();
                refused = self.desk.store(&events).err().or(refused);
            }
            if let Some(ended) = board.take_ended() {
                // Room for what is still to be said, on a disk that may be full.
                disk::give_back(self.audio);
                refused = self.desk.store(&[self.captured(&ended)]).err().or(refused);
                captured = Some((ended.tracks, ended.warnings));
                board.note_over();
            }
            let mut status = board.status();
            status.free_bytes = disk::free_bytes(self.audio.path());
            signs::publish(self.session, &status);
            let is_asked = (self.watch)(&status) == Wish::Stop
                || self.interrupted.load(Ordering::Relaxed)
                || signs::take_stop(self.session);
            if is_asked {
                board.request_stop();
            }
            board.ask_to_pause(signs::is_pause_asked(self.session));
            if let (Some(captured), true) = (&captured, board.is_worker_done()) {
                return refused.map_or_else(|| Ok(captured.clone()), Err);
            }
            std::thread::sleep(WATCH_EVERY);
        }
    }

    fn captured(&self, ended: &Ended) -> Event {
        Event::Captured(Captured {
            ended_at: rfc3339(self.clock),
            tracks: ended.tracks.clone(),
            warnings: ended.warnings.clone(),
        })
    }
}
