//! How far the work on a model is.

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Another process is bringing the same model.
    Waiting,
    /// Bytes are coming in.
    Downloading,
    /// A package is being unpacked.
    Unpacking,
    /// A file is being copied.
    Copying,
    /// A model is being rewritten as a ggml file.
    Converting,
    /// A checksum is being computed.
    Verifying,
    /// The model is being loaded and, where a sentence is given, listens to it.
    Trying,
}

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is being done.
    pub stage: Stage,
    /// How much of it is done.
    pub done_bytes: u64,
    /// How much there is; 0 while that is not known.
    pub total_bytes: u64,
}

impl Progress {
    /// A stage that has just begun and whose extent is not known.
    pub fn beginning(stage: Stage) -> Self {
        Self { stage, done_bytes: 0, total_bytes: 0 }
    }
}
