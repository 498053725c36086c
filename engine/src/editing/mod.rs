//! What people do to the lines of a session: name, repair, hide, and take back.
//!
//! Every change is decided from one snapshot while the log's lock is held, and appended as one batch: what
//! was looked at is still so when it is in, and `undo` takes back exactly what one command did. Nothing is
//! rewritten. The files that are derived from the log follow. What was done can be read back (`account`).

mod account;
mod change;
mod draft;
mod error;
mod hide;
mod name;
mod pattern;
mod repair;
mod secret;
mod selection;
mod undo;

pub use account::{Account, Difference, EditRow, EditWhat, Recognizer, Sound, diff, edits, why};
pub use change::{LineChange, Meaning};
pub use draft::{Draft, apply, describe, preview};
pub use error::EditError;
pub use hide::Matching;
pub use pattern::{Pattern, PatternError};
pub use repair::{Reach, Repair};
pub use selection::Selection;
