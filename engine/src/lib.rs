//! The engine of Ambient: the append-only log of a conversation, the fold that applies edits to it, and
//! the views people and assistants read.
//!
//! What was heard is never rewritten. A session's log holds lines and later edits in checksummed
//! segments; names, repairs and undo are events of their own; the folded and the verbatim view are
//! computed. No audio, no models, no JSON-RPC, no terminal and no async here.

pub mod archive;
mod clock;
pub mod editing;
mod event;
pub mod export;
mod fold;
mod format;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
pub mod jsonl;
mod log;
mod planted;
mod replay;
pub mod rows;
pub mod search;
pub mod session;
pub mod settings;
mod storage;
mod track;
pub mod transcripts;
pub mod view;
mod words;

pub use clock::{Clock, FixedClock, SystemClock, micros_since_1970};
pub use event::{
    AssistantAct, AudioSpan, Captured, CapturedTrack, Change, Closed, DeviceChange, DeviceNote, Dropped,
    Edit, EditTarget, Event, Finished, Generation, Kept, KeptFile, Kind, Line, LineView, MetaChange,
    ModelReference, Opened, Origin, PAYLOAD_SCHEMA, PayloadError, Progress, TrackSource, UnknownKind,
};
pub use fold::{FoldedLine, FoldedView, PlacedEdit, Standing, VoiceChange, fold, fold_view, standings};
pub use format::{HeaderError, PAYLOAD_LEN_MAX_BYTES, SEGMENT_LEN_MAX_BYTES, SessionUuid};
pub use log::{
    AppendError, Changes, Cursor, DiskError, Durability, HeardLine, LockError, Log, LogDirectory, Mapping,
    Moment, News, NewsItem, NumberedEdit, OpenError, Options, Provenance, ReadError, Reader, Recorded,
    RecoveryCause, RecoveryReport, Snapshot, Woken,
};
pub use replay::Replay;
pub use track::{Track, UnknownTrack};
