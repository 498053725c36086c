//! From sound to lines: devices and audio files, voice activity, turns, recognition, and the pipeline that joins
//! them into events of the engine's log.
//!
//! ```text
//! device or file → native WAV (the recoverable source) → 16 kHz → voice activity → turns → recognition → guard → log
//! ```
//!
//! Nothing here prints, and nothing here knows JSON-RPC: progress goes to a callback, events go to a
//! [`Sink`](pipeline::Sink).

pub mod audio;
pub mod devices;
pub mod guard;
pub mod live;
pub mod models;
pub mod pipeline;
pub mod progress;
pub mod recognizer;
pub mod track_reader;
pub mod turns;
pub mod voice_activity;
