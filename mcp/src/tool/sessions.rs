//! `sessions`: what there is to read.

use ambient_engine::view::SessionsQuery;
use serde_json::{Value, json};

use super::{AnswerShape, Context, Effect, Tool, ToolError, compact, object_schema};
use crate::arguments::Arguments;

pub(super) const TOOL: Tool = Tool {
    name: "sessions",
    title: "List sessions",
    description: "Lists the recorded conversations on this machine, newest first. Use it to find the session a \
question is about: by `name`, by `started_at`, by `duration_s`. Returns a JSON array; each entry has `id` \
(pass it to `transcript`), `dir`, `name`, `started_at` (RFC 3339), `duration_s`, `transcribed` (all of it \
is text), `live` (being recorded now), `transcribing` (being turned into text now) and `error` (why it \
cannot be read, or null). `name`, `started_at` and `duration_s` can be null, for one that is still being \
recorded above all. Where there are many, narrow them with `query` (what it is called, not what was said in \
it), or read them in parts: `limit` 20, then again with `before` set to the last `id`. For the current \
conversation alone, `status` is shorter.",
    input_schema,
    answer: AnswerShape { schema: answer_schema, list_name: Some("sessions") },
    effect: Effect::NONE,
    max_result_chars: None,
    is_brief: false,
    run,
};

fn input_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "limit": {
                "type": "integer",
                "minimum": 0,
                "description": "How many sessions at most, the newest of those that fit. Left out: all.",
            },
            "before": {
                "type": "string",
                "description": "The `id` of a session: only older ones. Or a date or time, such as 2026-09-05 \
    or 2026-09-05T14:00:00+02:00: only sessions that started before it.",
            },
            "query": {
                "type": "string",
                "description": "Words, each of which must be in the id, name, tags or notes of a session, in \
    whatever case. What was said in it is not searched.",
            },
        },
    })
}

/// What there is of one track of a recording.
fn proof_schema() -> Value {
    object_schema(&json!({
        "track": {"enum": ["room", "call"]},
        "source": {"type": "string"},
        "captured_s": {"type": "number"},
        "padded_s": {"type": "number"},
        "silent_s": {"type": "number"},
        "lines": {"type": "integer"},
        "dropped": {"type": "array", "items": object_schema(&json!({
            "reason": {"type": "string"},
            "count": {"type": "integer"},
        }))},
        "worst_lag_s": {"type": "number"},
    }))
}

fn answer_schema() -> Value {
    let mut row = object_schema(&json!({
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
    row["properties"]["proof"] = json!({"type": "array", "items": proof_schema()});
    object_schema(&json!({"sessions": {"type": "array", "items": row}}))
}

fn run(context: &Context<'_>, arguments: &Arguments<'_>) -> Result<String, ToolError> {
    let (before, query) = (arguments.text("before")?, arguments.text("query")?);
    let asked = SessionsQuery {
        limit: arguments.whole_number("limit")?,
        before: before.as_deref(),
        query: query.as_deref(),
    };
    compact(&context.library.sessions(&asked, context.clock)?)
}
