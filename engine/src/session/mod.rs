//! Session directories: where they are, what names them, how they are made, read and locked.
//!
//! A session is a directory directly below the root. It is opened once, by handle, and everything in it
//! is reached from there (see [`Directory`]).

mod create;
mod derived;
mod directory;
mod guarded;
pub(crate) mod id;
pub(crate) mod listing;
mod lock;
pub(crate) mod metadata;
pub(crate) mod native;
mod proof;
pub(crate) mod recording;
mod resolve;
mod root;
mod session_directory;
mod state;
mod sweep;

pub use create::{CreateError, PartialSession, claim};
pub use derived::write_derived_files;
pub(crate) use derived::{describe, write_document};
pub(crate) use directory::DirectoryIdentity;
pub use directory::{Directory, DirectoryError, Existing};
pub use guarded::{GuardedPlace, refuse_guarded};
pub use id::{NotASessionId, SessionId, slug};
pub use listing::SessionRow;
pub use lock::{Work, WorkLock, WorkLockError};
pub use metadata::{MetadataError, SessionMetadata};
pub use proof::{Refusals, TrackProof};
pub use recording::{RecordingStatus, RecordingTrack};
pub use resolve::SessionPlace;
pub use root::{NoRoot, sessions_root};
pub use session_directory::SessionDirectory;
pub use state::PersonState;
pub use sweep::{Sweep, SweptFile, sweep};
