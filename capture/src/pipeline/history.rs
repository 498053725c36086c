//! What a session's log already says about its own making: the journal that a resumed run goes by.

use std::borrow::Borrow;

use ambient_engine::{AudioSpan, Captured, DeviceChange, DeviceNote, Event, Generation, Opened, Track};

use crate::track_reader::Resumption;

/// What is known from the log before a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// How the session was opened.
    pub opened: Option<Opened>,
    /// What was captured, once all sources were.
    pub captured: Option<Captured>,
    /// The newest run of recognition, once one began.
    pub generation: Option<Generation>,
    /// Whether that run is finished.
    pub is_finished: bool,
    room: TrackHistory,
    call: TrackHistory,
    room_padded_ms: u64,
    call_padded_ms: u64,
}

/// What the newest run of recognition did on a track.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrackHistory {
    /// Lines of this run.
    pub lines: u64,
    /// Recognitions of this run that the guard refused.
    pub dropped: u64,
    /// End of the last of both, in milliseconds from the start of the session.
    pub last_end_ms: u64,
    done_samples: u64,
    last_end_sample: Option<u64>,
}

impl TrackHistory {
    /// Where the track's turns go on.
    pub fn resumption(&self) -> Resumption {
        let was_cut = self.last_end_sample == Some(self.done_samples);
        Resumption { done_samples: self.done_samples, was_cut }
    }

    fn note_end(&mut self, end_ms: u64, audio: Option<AudioSpan>) {
        self.last_end_ms = self.last_end_ms.max(end_ms);
        self.last_end_sample = audio.map(|audio| audio.end_sample);
    }
}

impl History {
    /// Reads the events of a log, in their order.
    pub fn from_events<E: Borrow<Event>>(events: impl IntoIterator<Item = E>) -> Self {
        let mut history = Self::default();
        for event in events {
            history.note(event.borrow());
        }
        history
    }

    /// What the newest run did on `track`.
    pub fn track(&self, track: Track) -> &TrackHistory {
        match track {
            Track::Room => &self.room,
            Track::Call => &self.call,
        }
    }

    /// Milliseconds of `track` that are told to be silence because its device delivered nothing.
    pub fn padded_ms(&self, track: Track) -> u64 {
        match track {
            Track::Room => self.room_padded_ms,
            Track::Call => self.call_padded_ms,
        }
    }

    /// Takes in the next event of the log.
    pub fn note(&mut self, event: &Event) {
        match event {
            Event::Opened(opened) => self.opened = Some(opened.clone()),
            Event::Captured(captured) => self.captured = Some(captured.clone()),
            Event::Finished(_) => self.is_finished = true,
            Event::Generation(generation) => self.begin(generation),
            Event::Line(line) if self.is_current(line.generation) => {
                let track = self.track_mut(line.track);
                track.lines += 1;
                track.note_end(line.end_ms, line.audio);
            }
            Event::Dropped(dropped) if self.is_current(dropped.generation) => {
                let track = self.track_mut(dropped.track);
                track.dropped += 1;
                track.note_end(dropped.end_ms, dropped.audio);
            }
            Event::Device(DeviceNote { track, change: DeviceChange::Gap { len_ms }, .. }) => match track {
                Track::Room => self.room_padded_ms += len_ms,
                Track::Call => self.call_padded_ms += len_ms,
            },
            Event::Progress(progress) if self.is_current(progress.generation) => {
                self.track_mut(progress.track).done_samples = progress.done_samples;
            }
            _ => {}
        }
    }

    fn begin(&mut self, generation: &Generation) {
        self.generation = Some(generation.clone());
        self.is_finished = false;
        self.room = TrackHistory::default();
        self.call = TrackHistory::default();
    }

    fn is_current(&self, generation: u32) -> bool {
        self.generation.as_ref().is_some_and(|current| current.number == generation)
    }

    fn track_mut(&mut self, track: Track) -> &mut TrackHistory {
        match track {
            Track::Room => &mut self.room,
            Track::Call => &mut self.call,
        }
    }
}
