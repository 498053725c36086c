//! What the threads of a recording tell one another: the writer how far the sound is, the worker how far
//! the lines are, the supervisor when to stop.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ambient_engine::{CapturedTrack, DeviceNote, Event, Track};

use super::status::{LastLine, Phase, Refused, Status, TrackStatus};

/// What became of the sound, once no more is taken in.
#[derive(Debug)]
pub(super) struct Ended {
    /// What each track holds.
    pub(super) tracks: Vec<CapturedTrack>,
    /// What a person should know.
    pub(super) warnings: Vec<String>,
}

impl Ended {
    /// The writer failed as it must not; what it wrote is on the disk, and nothing more is known of it.
    pub(super) fn by_a_fault() -> Self {
        let warning = "the recording ended by a fault of this program; its sound is kept up to there";
        Self { tracks: Vec::new(), warnings: vec![warning.to_owned()] }
    }
}

/// Shared by the threads of one recording.
pub(super) struct Board {
    stop: AtomicBool,
    is_pause_asked: AtomicBool,
    is_over: AtomicBool,
    is_worker_done: AtomicBool,
    state: Mutex<State>,
}

struct State {
    status: Status,
    /// What went wrong beside the tracks.
    faults: Vec<String>,
    notes: VecDeque<DeviceNote>,
    ended: Option<Ended>,
}

impl Board {
    /// A board for these tracks.
    pub(super) fn new(tracks: Vec<TrackStatus>) -> Self {
        let status = Status { tracks, ..Status::default() };
        Self {
            stop: AtomicBool::new(false),
            is_pause_asked: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            is_worker_done: AtomicBool::new(false),
            state: Mutex::new(State { status, faults: Vec::new(), notes: VecDeque::new(), ended: None }),
        }
    }

    /// Asks for the end of the recording.
    pub(super) fn request_stop(&self) {
        self.stop.store(true, Ordering::Release);
    }

    /// Whether someone asked for the end.
    pub(super) fn is_stop_requested(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    /// Asks the writer not to listen, or to listen again.
    pub(super) fn ask_to_pause(&self, pause: bool) {
        self.is_pause_asked.store(pause, Ordering::Release);
    }

    /// Whether the writer is not to listen.
    pub(super) fn is_pause_asked(&self) -> bool {
        self.is_pause_asked.load(Ordering::Acquire)
    }

    /// All sound is on disk, and the log says so.
    pub(super) fn note_over(&self) {
        self.is_over.store(true, Ordering::Release);
    }

    /// Whether all sound is on disk.
    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    /// No line will be added any more.
    pub(super) fn note_worker_done(&self) {
        self.is_worker_done.store(true, Ordering::Release);
    }

    /// Whether the worker is done.
    pub(super) fn is_worker_done(&self) -> bool {
        self.is_worker_done.load(Ordering::Acquire)
    }

    /// The writer tells how a track is.
    pub(super) fn update(&self, track: Track, change: impl FnOnce(&mut TrackStatus)) {
        let mut state = self.lock();
        if let Some(status) = state.status.tracks.iter_mut().find(|status| status.track == track) {
            change(status);
        }
    }

    /// The writer tells what happened to devices.
    pub(super) fn add_notes(&self, notes: Vec<DeviceNote>) {
        self.lock().notes.extend(notes);
    }

    /// What happened to devices since the last call.
    pub(super) fn take_notes(&self) -> Vec<DeviceNote> {
        self.lock().notes.drain(..).collect()
    }

    /// The writer tells what it does, for how long the recording has been going on, and what is wrong with it.
    pub(super) fn note_time(&self, phase: Phase, elapsed_ms: u64, warnings: Vec<String>) {
        let mut state = self.lock();
        state.status.phase = phase;
        state.status.elapsed_ms = elapsed_ms;
        state.status.warnings = warnings;
        let faults = state.faults.clone();
        state.status.warnings.extend(faults);
    }

    /// Something beside the tracks went wrong; the recording goes on.
    pub(super) fn note_fault(&self, fault: String) {
        self.lock().faults.push(fault);
    }

    /// The writer is done.
    pub(super) fn note_ended(&self, ended: Ended) {
        self.lock().ended = Some(ended);
    }

    /// What the writer left, once.
    pub(super) fn take_ended(&self) -> Option<Ended> {
        self.lock().ended.take()
    }

    /// Events were stored `now_ms` after the recording began.
    pub(super) fn note_events(&self, events: &[Event], now_ms: u64) {
        for event in events {
            match event {
                Event::Line(line) => {
                    self.lock().status.last_line =
                        Some(LastLine { track: line.track, text: line.text.clone() });
                    self.update(line.track, |status| {
                        status.lines += 1;
                        status.worst_lag_ms = status.worst_lag_ms.max(now_ms.saturating_sub(line.end_ms));
                    });
                }
                Event::Dropped(dropped) => self.update(dropped.track, |status| {
                    match status.dropped.iter_mut().find(|refused| refused.reason == dropped.reason) {
                        Some(refused) => refused.count += 1,
                        None => status.dropped.push(Refused { reason: dropped.reason.clone(), count: 1 }),
                    }
                }),
                _ => {}
            }
        }
    }

    /// How things stand.
    pub(super) fn status(&self) -> Status {
        self.lock().status.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A thread that panicked left figures behind, nothing that could be half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
