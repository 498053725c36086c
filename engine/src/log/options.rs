//! How a log is written.

use std::sync::Arc;
use std::time::Duration;

use crate::{Clock, SystemClock};

/// When the bytes of a batch are forced to the disk, and so what a power failure can take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Each batch, before it is visible to anyone. Nothing that was acknowledged is lost.
    Each,
    /// By the append that finds this much time elapsed since the last sync, by `flush` and at the end. At
    /// most what came since then is lost.
    Interval(Duration),
    /// At the end of a segment and of the log only. A killed process loses nothing; a power failure can
    /// take what the system had not written yet.
    Os,
}

/// How the shared words of `head` and the index are reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mapping {
    /// Through a memory mapping: a poll without news is one load.
    On,
    /// By reads and writes of 8 bytes: for file systems that copy on write, and where an outsider may
    /// truncate files, which would end a process that has them mapped.
    Off,
}

/// How a log is written.
#[derive(Clone)]
pub struct Options {
    /// When bytes are forced to the disk.
    pub durability: Durability,
    /// How shared words are reached.
    pub mapping: Mapping,
    /// How long to wait for another writer's batch.
    pub lock_timeout: Duration,
    /// Gives the time stamps of the events.
    pub clock: Arc<dyn Clock + Send>,
}

impl Default for Options {
    /// Every batch synced before it is visible, mapped, 5 seconds of patience, the machine's clock.
    fn default() -> Self {
        Self {
            durability: Durability::Each,
            mapping: Mapping::On,
            lock_timeout: Duration::from_secs(5),
            clock: Arc::new(SystemClock),
        }
    }
}

impl Options {
    /// The default with another durability.
    pub fn with_durability(durability: Durability) -> Self {
        Self { durability, ..Self::default() }
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Options")
            .field("durability", &self.durability)
            .field("mapping", &self.mapping)
            .field("lock_timeout", &self.lock_timeout)
            .finish_non_exhaustive()
    }
}
