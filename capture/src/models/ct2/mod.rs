//! CTranslate2 (faster-whisper) models, and how they become ggml files.

pub mod convert;
pub mod correspondence;
pub mod half;
pub mod mel;
pub mod read;
pub mod vocabulary;
