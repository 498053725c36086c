//! `sessions`: what there is to read.

use ambient_engine::view;

use serde_json::{Value, json};

use super::{AnswerShape, Context, Effect, Tool, ToolError, compact, no_arguments, object_schema};
use crate::arguments::Arguments;

pub(super) const TOOL: Tool = Tool {
    name: "sessions",
    title: "List sessions",
    description: "Lists the recorded conversations on this machine, newest first. Use it to find the session a \
question is about: by `name`, by `started_at`, by `duration_s`. Returns a JSON array; each entry has `id` \
(pass it to `transcript`), `dir`, `name`, `started_at` (RFC 3339), `duration_s`, `transcribed` (all of it \
is text), `live` (being recorded now), `transcribing` (being turned into text now) and `error` (why it \
cannot be read, or null). `name`, `started_at` and `duration_s` can be null, for one that is still being \
recorded above all. For the current conversation alone, `status` is shorter.",
    input_schema: no_arguments,
    answer: AnswerShape { schema: answer_schema, list_name: Some("sessions") },
    effect: Effect::NONE,
    max_result_chars: None,
    run,
};

fn answer_schema() -> Value {
    let row = object_schema(&json!({
        "id": {"type": "string"},
        "dir": {"type": "string"},
        "name": {"type": ["string", "null"]},
        "started_at": {"type": ["string", "null"], "description": "RFC 3339"},
        "duration_s": {"type": ["number", "null"]},
        "transcribed": {"type": "boolean"},
        "live": {"type": "boolean"},
        "transcribing": {"type": "boolean"},
        "error": {"type": ["string", "null"]},
    }));
    object_schema(&json!({"sessions": {"type": "array", "items": row}}))
}

fn run(context: &Context<'_>, _arguments: &Arguments<'_>) -> Result<String, ToolError> {
    compact(&view::sessions(context.root, context.clock)?)
}
