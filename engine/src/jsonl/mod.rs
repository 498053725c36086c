//! The predecessor's layout, read where it lies.
//!
//! A session of this layout has its lines in `raw.jsonl` and later edits in `edits.jsonl`, one JSON object
//! a line. Nothing here writes either file. [`JsonlReader`] reads and follows them; `state` tells what
//! such a session is doing from the files beside them; [`JsonlImport`] turns one into a log, and
//! [`export::jsonl`](crate::export::jsonl) gives it back.

mod damage;
mod fold;
mod import;
mod reader;
pub(crate) mod record;
pub(crate) mod session;
pub(crate) mod state;
mod tail;
pub(crate) mod written;

pub use damage::{Damage, SkipReason, SkippedLine};
pub use import::{Imported, JsonlImport, JsonlImportError};
pub use reader::JsonlReader;
pub(crate) use reader::{EDITS_FILE, RAW_FILE};
pub use session::sessions_below;
