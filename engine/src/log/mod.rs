//! The log of a session: segments that are only ever appended to, and what makes them fast to read.
//!
//! ```text
//! LOCK          held for one batch                    lock
//! WRITERS       shared by every open writer           lock
//! head          how far the log goes (mapped)         head_page
//! lines.idx     where each line is (mapped)           line_index
//! 0000000000.seg, ...   the truth                     segments, window, walk
//! ```
//!
//! Writing: [`Log`] (`writer`) comes to the log by `attach`, lays a batch out (`batch`) and publishes it.
//! Reading: [`Reader`] gives a [`Snapshot`], which folds lines without a lock (`lines`), says what is new
//! (`changes`) and what was (`moment`, `history`). What a log's last bytes mean is decided in `tail` and
//! nowhere else.

mod attach;
mod batch;
mod changes;
mod closed;
mod cursor;
mod disk;
mod error;
mod head_page;
mod history;
mod line_index;
mod lines;
mod lock;
mod moment;
mod options;
mod reader;
mod segments;
mod shared_words;
mod snapshot;
mod tail;
mod waiting;
mod walk;
mod window;
mod writer;

pub use attach::{RecoveryCause, RecoveryReport};
pub use changes::{Changes, News, NewsItem};
pub use cursor::Cursor;
pub use disk::{DiskError, LogDirectory};
pub use error::{AppendError, OpenError, ReadError};
pub use history::{NumberedEdit, Provenance, Recorded};
pub use lines::HeardLine;
pub use lock::LockError;
pub use moment::Moment;
pub use options::{Durability, Mapping, Options};
pub use reader::Reader;
pub use snapshot::Snapshot;
pub use waiting::Woken;
pub use writer::Log;

#[cfg(test)]
mod tests;
