//! The built program, run as people and scripts run it: what it prints where, and how it ends.

// Clippy's allowance for tests reaches only the functions marked as such, not what they share.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod doctor;
mod documented_server;
mod editing;
mod first_light;
mod help;
mod importing;
mod manners;
mod reading;
mod sandbox;
mod searching;
mod served;
mod serving;
mod settings;
mod terminal;
mod transcribing;
mod voice;
mod watching;
mod writing;
