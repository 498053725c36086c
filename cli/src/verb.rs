//! One file for each verb.

pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod mcp;
pub(crate) mod models;
pub(crate) mod resume;
pub(crate) mod sessions;
pub(crate) mod show;
pub(crate) mod transcribe;
pub(crate) mod version;
