//! The log as a run sees it: where it writes to, and what is already there.

use std::error::Error;

use ambient_engine::{Event, Log};

use super::{History, PipelineError};

/// Takes the events of a run.
pub trait Sink {
    /// Appends `events` as one batch: all of them or none.
    ///
    /// # Errors
    /// When they could not be stored. The run ends then, and can be taken up again.
    fn append(&mut self, events: &[Event]) -> Result<(), Box<dyn Error + Send + Sync>>;
}

/// The log of a session on disk.
impl Sink for Log {
    fn append(&mut self, events: &[Event]) -> Result<(), Box<dyn Error + Send + Sync>> {
        Log::append(self, events)?;
        Ok(())
    }
}

/// A sink, and the history that grows with it.
pub(crate) struct Journal<'a> {
    pub(crate) history: History,
    sink: &'a mut dyn Sink,
}

impl<'a> Journal<'a> {
    /// A journal that goes on behind `history`.
    pub(crate) fn new(history: History, sink: &'a mut dyn Sink) -> Self {
        Self { history, sink }
    }

    /// Appends a batch, and takes it into the history once it is stored.
    pub(crate) fn append(&mut self, events: &[Event]) -> Result<(), PipelineError> {
        self.sink.append(events).map_err(PipelineError::Log)?;
        for event in events {
            self.history.note(event);
        }
        Ok(())
    }
}
