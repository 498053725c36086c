//! The server as a client meets it: bytes in, bytes out, real directories.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod client;
mod hostile_input;
mod protocol;
mod tool_list;
mod tool_results;
