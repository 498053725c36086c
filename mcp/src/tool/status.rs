//! `status`: what is going on.

use ambient_engine::view;

use serde_json::{Value, json};

use super::{AnswerShape, Context, Effect, Tool, ToolError, compact, no_arguments, object_schema};
use crate::arguments::Arguments;

pub(super) const TOOL: Tool = Tool {
    name: "status",
    title: "What Ambient is doing",
    description: "Says whether a conversation is being recorded right now. Cheap; call it first. Returns `live` \
({\"id\":…} of the session being recorded, or null), `awaiting_transcript` (how many sessions have audio \
that is not text yet) and `sessions` (how many `sessions` will list). If `live` is not null, read along \
with `transcript` and that id.",
    input_schema: no_arguments,
    answer: AnswerShape { schema: answer_schema, list_name: None },
    effect: Effect::NONE,
    max_result_chars: None,
    run,
};

fn answer_schema() -> Value {
    object_schema(&json!({
        "live": {"type": ["object", "null"], "required": ["id"], "properties": {"id": {"type": "string"}}},
        "awaiting_transcript": {"type": "integer", "minimum": 0},
        "sessions": {"type": "integer", "minimum": 0},
    }))
}

fn run(context: &Context<'_>, _arguments: &Arguments<'_>) -> Result<String, ToolError> {
    compact(&view::status(context.root, context.clock)?)
}
