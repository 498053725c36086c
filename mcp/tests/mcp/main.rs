//! The server as a client meets it: bytes in, bytes out, real directories.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod assistant;
mod client;
mod conversation;
mod documented_limits;
mod hostile_input;
mod hostile_messages;
mod jsonl_session;
mod native_session;
mod protocol;
mod reading_in_parts;
mod reading_jsonl_sessions;
mod reading_native_sessions;
mod structured_answers;
mod swapped_for_links;
mod tool_list;
mod tool_results;
