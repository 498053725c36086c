//! `stop_watching`: leaves the meeting that is watched.

use serde_json::{Value, json};

use super::{AnswerShape, Context, Effect, Tool, ToolError, compact, no_arguments, object_schema};
use crate::arguments::Arguments;

pub(super) const TOOL: Tool = Tool {
    name: "stop_watching",
    title: "Stop watching the meeting",
    description: "Leaves the meeting you watch: you hear and say nothing in it any more, and the sign that you \
listen goes away. Use it when the user asks you to leave before the meeting is over; when a wait says `ended` or \
`off`, it has been left already. Returns `stopped_watching` (the id of the session, or null if none was watched) \
and `spoken` (how often you spoke in it). The recording goes on.",
    input_schema: no_arguments,
    answer: AnswerShape { schema: answer_schema, list_name: None },
    effect: Effect { only_reads: false, is_idempotent: true },
    max_result_chars: None,
    is_brief: false,
    run,
};

fn answer_schema() -> Value {
    let mut schema = object_schema(&json!({"stopped_watching": {"type": ["string", "null"]}}));
    schema["properties"]["spoken"] = json!({"type": "integer", "minimum": 0});
    schema["properties"]["note"] = json!({"type": "string"});
    schema
}

fn run(context: &Context<'_>, _arguments: &Arguments<'_>) -> Result<String, ToolError> {
    compact(&context.assistant()?.stop_watching()?)
}
