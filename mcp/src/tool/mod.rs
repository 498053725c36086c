//! The tools as a table: what a model is told about each, and the function that runs.
//!
//! A tool reads its arguments, asks the engine one question and gives the answer as compact JSON. It
//! checks every argument before it touches the disk.

mod sessions;
mod speak;
mod status;
mod stop_watching;
mod transcript;
mod wait_for_transcript;
mod watch_meeting;

use ambient_engine::Clock;
use ambient_engine::view::{Library, ViewError};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::arguments::Arguments;
use crate::assistant::Assistant;
use crate::call::Call;
use crate::rpc::RpcError;

/// Every tool, in the order in which they are listed.
pub(crate) const TOOLS: &[Tool] = &[
    sessions::TOOL,
    transcript::TOOL,
    status::TOOL,
    watch_meeting::TOOL,
    wait_for_transcript::TOOL,
    speak::TOOL,
    stop_watching::TOOL,
];

/// One tool.
pub(crate) struct Tool {
    /// What it is called by.
    pub(crate) name: &'static str,
    /// What people see.
    pub(crate) title: &'static str,
    /// What the model reads: when to use it, what comes back, what to do next. Under 2,048 characters,
    /// where some clients cut.
    pub(crate) description: &'static str,
    /// The JSON schema of its arguments.
    pub(crate) input_schema: fn() -> Value,
    /// What its answer looks like, for clients that want it as a value.
    pub(crate) answer: AnswerShape,
    /// What calling it does.
    pub(crate) effect: Effect,
    /// How many characters a reply may have before a client that knows the hint puts it aside.
    pub(crate) max_result_chars: Option<u32>,
    /// Whether it is the work of a moment, but for calls that say otherwise ([`Call::prefer_in_order`]).
    pub(crate) is_brief: bool,
    /// What it does.
    pub(crate) run: Run,
}

/// What an answer looks like. As a value it is always an object, which is what clients take; as text it is
/// the bare JSON.
#[derive(Clone, Copy)]
pub(crate) struct AnswerShape {
    /// The JSON schema of the answer as a value.
    pub(crate) schema: fn() -> Value,
    /// The name under which the value holds an answer that is a list.
    pub(crate) list_name: Option<&'static str>,
}

impl AnswerShape {
    /// The value of the answer whose text is `text`.
    pub(crate) fn value(&self, text: &str) -> Option<Value> {
        let value: Value = serde_json::from_str(text).ok()?;
        Some(match self.list_name {
            Some(name) => json!({name: value}),
            None => value,
        })
    }
}

/// What calling a tool does to the world. No tool destroys anything, and none reaches beyond this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Effect {
    /// Nothing is changed.
    pub(crate) only_reads: bool,
    /// Calling it again with the same arguments does no more than calling it once.
    pub(crate) is_idempotent: bool,
}

impl Effect {
    /// Nothing, however often it is called.
    pub(crate) const NONE: Self = Self { only_reads: true, is_idempotent: true };
}

/// Answers a call with the JSON that becomes its text.
pub(crate) type Run = fn(&Context<'_>, &Arguments<'_>) -> Result<String, ToolError>;

/// What a tool works with.
pub(crate) struct Context<'a> {
    /// The sessions.
    pub(crate) library: &'a Library,
    /// What time it is.
    pub(crate) clock: &'a dyn Clock,
    /// The call it works on.
    pub(crate) call: &'a Call<'a>,
    /// The live assistant, if the server has one.
    pub(crate) assistant: Option<&'a Assistant>,
    /// Whether hidden lines stay hidden from whoever asks for lines as they were heard.
    pub(crate) redacts_verbatim: bool,
}

impl<'a> Context<'a> {
    /// The live assistant.
    ///
    /// # Errors
    /// The server has none.
    fn assistant(&self) -> Result<&'a Assistant, ToolError> {
        self.assistant.ok_or_else(|| {
            ToolError::Failed(
                "The live assistant is turned off: this server was started without one.".to_owned(),
            )
        })
    }
}

/// Why a tool gives no answer.
#[derive(Debug)]
pub(crate) enum ToolError {
    /// It was called wrongly: an error of the protocol.
    Refused(RpcError),
    /// It ran and failed: a result that says so.
    Failed(String),
    /// It has done nothing yet and wants to be called again beside the calls that are answered in order;
    /// comes from [`Call`] alone.
    StepAside,
}

impl From<RpcError> for ToolError {
    fn from(error: RpcError) -> Self {
        Self::Refused(error)
    }
}

impl From<ViewError> for ToolError {
    fn from(error: ViewError) -> Self {
        Self::Failed(error.to_string())
    }
}

impl Tool {
    /// Its entry in `tools/list`, with the schema of its answer if answers are given as values too.
    pub(crate) fn descriptor(&self, is_structured: bool) -> Value {
        let mut descriptor = json!({
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": (self.input_schema)(),
            "annotations": {
                "title": self.title,
                "readOnlyHint": self.effect.only_reads,
                "destructiveHint": false,
                "idempotentHint": self.effect.is_idempotent,
                "openWorldHint": false,
            },
        });
        if is_structured {
            descriptor["outputSchema"] = (self.answer.schema)();
        }
        if let Some(max_chars) = self.max_result_chars {
            descriptor["_meta"] = json!({"anthropic/maxResultSizeChars": max_chars});
        }
        descriptor
    }
}

/// The schema of a tool without arguments.
fn no_arguments() -> Value {
    json!({"type": "object", "properties": {}})
}

/// The schema of an object that always has all of `properties`, and may have others.
fn object_schema(properties: &Value) -> Value {
    let required: Vec<_> = properties.as_object().into_iter().flat_map(Map::keys).collect();
    json!({"type": "object", "required": required, "properties": properties})
}

/// A view as the text of a result.
fn compact<T: Serialize>(view: &T) -> Result<String, ToolError> {
    serde_json::to_string(view)
        .map_err(|error| ToolError::Failed(format!("cannot write the answer: {error}")))
}
