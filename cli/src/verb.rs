//! One file for each verb.

pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod edits;
pub(crate) mod export;
pub(crate) mod hide;
pub(crate) mod import;
pub(crate) mod mcp;
pub(crate) mod meta;
pub(crate) mod models;
pub(crate) mod name;
pub(crate) mod redo;
pub(crate) mod repair;
pub(crate) mod resume;
pub(crate) mod search;
pub(crate) mod sessions;
pub(crate) mod show;
pub(crate) mod transcribe;
pub(crate) mod undo;
pub(crate) mod unhide;
pub(crate) mod version;
pub(crate) mod why;
