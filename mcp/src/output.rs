//! The one place that writes: whole lines, each flushed, never two at once.

use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;

/// The way back to the client, shared by everyone who answers.
#[derive(Debug)]
pub(crate) struct Output<W>(Mutex<State<W>>);

#[derive(Debug)]
struct State<W> {
    writer: W,
    failure: Option<io::Error>,
}

impl<W: Write> Output<W> {
    /// Writes to `writer`.
    pub(crate) fn new(writer: W) -> Self {
        Self(Mutex::new(State { writer, failure: None }))
    }

    /// Writes one message; after a failure, nothing more.
    pub(crate) fn send<T: Serialize>(&self, message: &T) {
        let written = serde_json::to_vec(message).map_err(io::Error::from).and_then(|mut line| {
            line.push(b'\n');
            let mut state = self.state();
            if state.failure.is_none() {
                state.writer.write_all(&line)?;
                state.writer.flush()?;
            }
            Ok(())
        });
        if let Err(error) = written {
            self.state().failure.get_or_insert(error);
        }
    }

    /// Whether writing has failed.
    pub(crate) fn is_closed(&self) -> bool {
        self.state().failure.is_some()
    }

    /// How writing went: a client that has gone away is no error.
    ///
    /// # Errors
    /// Writing failed for another reason.
    pub(crate) fn finish(self) -> io::Result<()> {
        let state = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        match state.failure {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
            _ => Ok(()),
        }
    }

    fn state(&self) -> MutexGuard<'_, State<W>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
