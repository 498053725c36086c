//! `status`: what is going on.

use serde_json::{Value, json};

use super::{AnswerShape, Context, Effect, Tool, ToolError, compact, no_arguments, object_schema};
use crate::arguments::Arguments;

pub(super) const TOOL: Tool = Tool {
    name: "status",
    title: "What Ambient is doing",
    description: "Says whether a conversation is being recorded right now. Cheap; call it first. Returns `live` \
({\"id\":…} of the session being recorded, or null), `awaiting_transcript` (how many sessions have audio \
that is not text yet) and `sessions` (how many `sessions` will list). While a recording runs there may also \
be `recording`: `tracks` (for each, how many seconds were captured, and of those silent or padded because \
the device delivered nothing; a track that is all silence is probably the wrong device), `lag_s` (how far \
the text is behind the sound) and `warnings`. If `live` is not null, read along with `transcript` and that id.",
    input_schema: no_arguments,
    answer: AnswerShape { schema: answer_schema, list_name: None },
    effect: Effect::NONE,
    max_result_chars: None,
    is_brief: false,
    run,
};

fn answer_schema() -> Value {
    let seconds = json!({"type": "number", "minimum": 0});
    let track = object_schema(&json!({
        "track": {"enum": ["room", "call"]},
        "captured_s": seconds,
        "silent_s": seconds,
        "padded_s": seconds,
        "lag_s": seconds,
    }));
    let recording = object_schema(&json!({
        "tracks": {"type": "array", "items": track},
        "lag_s": seconds,
        "warnings": {"type": "array", "items": {"type": "string"}},
    }));
    let mut schema = object_schema(&json!({
        "live": {"type": ["object", "null"], "required": ["id"], "properties": {"id": {"type": "string"}}},
        "awaiting_transcript": {"type": "integer", "minimum": 0},
        "sessions": {"type": "integer", "minimum": 0},
    }));
    schema["properties"]["recording"] = recording;
    schema
}

fn run(context: &Context<'_>, _arguments: &Arguments<'_>) -> Result<String, ToolError> {
    compact(&context.library.status(context.clock)?)
}
