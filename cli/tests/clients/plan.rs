//! What every client is asked to do with the server, and what it reports: one shape for all of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a client does, in this order: it connects, lists the tools, makes the calls, reads the prompts, and if
/// the server has the tool to wait with, calls it, makes another call beside it, takes the wait back and sends a
/// ping. Then it leaves.
#[derive(Debug, Serialize)]
pub(crate) struct Plan {
    /// The server: a program, its arguments and the variables it is given.
    pub(crate) command: String,
    pub(crate) args: Vec<String>,
    pub(crate) env: BTreeMap<String, String>,
    /// Calls, one after the other.
    pub(crate) calls: Vec<Call>,
    /// A call that takes long.
    pub(crate) wait: Call,
    /// Milliseconds that it is given to begin.
    pub(crate) pause_ms: u64,
    /// A call that is made while that one waits.
    pub(crate) meanwhile: Call,
}

/// One call of a tool. Without arguments, a client leaves them out if that is how it does it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Call {
    pub(crate) tool: String,
    pub(crate) arguments: Option<Map<String, Value>>,
}

/// What came back.
#[derive(Debug, Deserialize)]
pub(crate) struct Report {
    /// What the server calls itself.
    pub(crate) server: String,
    /// The names of the tools it offers.
    pub(crate) tools: Vec<String>,
    /// For each call of the plan, how it went.
    pub(crate) calls: Vec<Outcome>,
    /// The prompts it offers.
    pub(crate) prompts: Vec<PromptReport>,
    /// How the call beside the wait went, if there was a wait.
    pub(crate) meanwhile: Option<Outcome>,
}

/// How a call went, as the client's user sees it.
#[derive(Debug, Deserialize, PartialEq)]
#[serde(untagged)]
pub(crate) enum Outcome {
    /// A result.
    Result { text: String, is_error: bool },
    /// An error of the protocol.
    Error { code: i64 },
}

/// A prompt, got without arguments.
#[derive(Debug, Deserialize)]
pub(crate) struct PromptReport {
    pub(crate) name: String,
    pub(crate) role: String,
    pub(crate) text: String,
}
