//! `wait_for_transcript`: what is said next in the meeting that is watched.

use serde_json::{Value, json};

use super::{AnswerShape, Context, Effect, Tool, ToolError, compact, object_schema};
use crate::arguments::Arguments;
use crate::assistant::{WAIT_DEFAULT_S, WAIT_MAX_S};

pub(super) const TOOL: Tool = Tool {
    name: "wait_for_transcript",
    title: "Wait for what is said",
    description: "Waits until something has been said in the meeting you watch, and returns it. Call it in a loop, \
from watch_meeting on, until `status` is not `live`. It returns when the talk pauses for 3 s, 20 s after its first \
line, at once when a line names you, and otherwise when the time is over, with no lines. Returns `status` (`live`; \
`ended`: the recording is over; `off`: the user turned you off; `stopped`: it is not watched any more), `lines` (new \
ones, as `[MM:SS] who: text`), `changed` (earlier lines that somebody named, repaired or took out, as they read \
now), `next` (the index of the first line still to come), `may_speak` (`yes`, or `not now` \
and why) and `spoken` (how often you have). `named_you` is true when someone said your name: they may be talking to \
you, or about you. Lines that are your own voice heard by the microphone are not news; `left_out` shows them, and \
`left_out_as_your_own_voice` counts them, for someone may have answered in the same breath. A wait that fails or is \
cancelled loses nothing: the next one returns its lines. Most waits should end without a word from you.",
    input_schema,
    answer: AnswerShape { schema: answer_schema, list_name: None },
    effect: Effect { only_reads: true, is_idempotent: false },
    max_result_chars: None,
    is_brief: false,
    run,
};

fn input_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "timeout_s": {
                "type": "integer",
                "minimum": 1,
                "maximum": WAIT_MAX_S,
                "default": WAIT_DEFAULT_S,
                "description": "Seconds to wait at most. 55 is the most that every client bears; more, up to \
    120, only if yours does.",
            },
            "since": {
                "type": "integer",
                "minimum": 0,
                "description": "The `next` of an earlier reply, to have the lines from there on again. Left out: \
    all that were not returned yet.",
            },
        },
    })
}

fn answer_schema() -> Value {
    let mut schema = object_schema(&json!({
        "status": {"type": "string", "enum": ["live", "ended", "off", "stopped"]},
        "lines": {"type": "array", "items": {"type": "string"}},
        "next": {"type": "integer", "minimum": 0},
    }));
    for (name, property) in [
        ("changed", json!({"type": "array", "items": {"type": "string"}})),
        ("may_speak", json!({"type": "string"})),
        ("spoken", json!({"type": "integer", "minimum": 0})),
        ("left_out_as_your_own_voice", json!({"type": "integer", "minimum": 1})),
        ("left_out", json!({"type": "array", "items": {"type": "string"}})),
        ("named_you", json!({"type": "boolean"})),
        ("what_next", json!({"type": "string"})),
    ] {
        schema["properties"][name] = property;
    }
    schema
}

fn run(context: &Context<'_>, arguments: &Arguments<'_>) -> Result<String, ToolError> {
    let timeout_s = arguments.whole_number("timeout_s")?;
    let since = arguments.whole_number("since")?;
    compact(&context.assistant()?.wait(context.call, since, timeout_s)?)
}
