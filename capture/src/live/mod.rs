//! Recording live: two tracks on one clock, lines while people speak, and nothing ever lost.
//!
//! ```text
//! source → placement → native WAV on disk      (one thread, which waits for the disk alone)
//!                          │ read behind the writer
//!                          ▼
//!                  the pipeline → lines and progress, one batch a turn
//! ```
//!
//! The audio on disk is the truth about the sound, the log about everything else. So recognition may be
//! slow, fail or be ended: what was recorded is finished later from the audio, from the last progress on.

mod board;
mod clock;
mod disk;
mod health;
mod level;
mod placement;
mod recording;
mod signs;
mod source;
mod status;
mod writer;

pub use clock::{MachineClock, SessionClock};
pub use disk::{free_bytes, hours_left};
pub use health::{Ailment, TrackHealth};
pub use level::SILENCE_DB;
pub use placement::{Piece, Placement};
pub use recording::{Recording, RecordingSummary, Wish};
pub use signs::{ask_to_pause, ask_to_stop, published_status};
pub use source::{Block, Delivery, Source};
pub use status::{LastLine, Phase, Refused, Status, TrackStatus};
