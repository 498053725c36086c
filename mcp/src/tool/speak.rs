//! `speak`: says something in the meeting that is watched.

use serde_json::{Value, json};

use super::{AnswerShape, Context, Effect, Tool, ToolError, compact, object_schema};
use crate::arguments::Arguments;
use crate::assistant::{EMOTIONS, TEXT_MAX_CHARS};

pub(super) const TOOL: Tool = Tool {
    name: "speak",
    title: "Speak in the meeting",
    description: "Says `text` aloud in the meeting you watch, so that everybody in it hears it. Use it when someone \
speaks to you, when a question of fact stays unanswered and you know the answer, or when a clear error is about to be \
acted on; otherwise keep listening. One to three short sentences of plain speech, about 40 words: no lists, no \
markup, no addresses. It returns when it has been heard, with `said`, `audio_s` (seconds of sound) and \
`may_still_speak` (how often you still may in this meeting). It waits some seconds for a pause in the talk. It is refused, \
and nothing is heard, while you cool down, when you have spoken as often as you may, when no pause comes, and when the \
meeting is over; do not insist, go on with wait_for_transcript. When somebody talks into it, or the user turns you off, \
it stops in the middle of a word.",
    input_schema,
    answer: AnswerShape { schema: answer_schema, list_name: None },
    effect: Effect { only_reads: false, is_idempotent: false },
    max_result_chars: None,
    is_brief: false,
    run,
};

fn input_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "text": {
                "type": "string",
                "description": format!("What to say, at most {TEXT_MAX_CHARS} characters."),
            },
            "emotion": {
                "type": "string",
                "enum": EMOTIONS,
                "default": EMOTIONS[0],
                "description": "The tone to say it in.",
            },
        },
        "required": ["text"],
    })
}

fn answer_schema() -> Value {
    let mut schema = object_schema(&json!({
        "said": {"type": "string"},
        "audio_s": {"type": "number", "minimum": 0},
        "may_still_speak": {"type": "integer", "minimum": 0},
    }));
    schema["properties"]["note"] = json!({"type": "string"});
    schema
}

fn run(context: &Context<'_>, arguments: &Arguments<'_>) -> Result<String, ToolError> {
    let text = arguments.required_text("text")?;
    let emotion = arguments.text("emotion")?;
    compact(&context.assistant()?.speak(context.call, &text, emotion.as_deref())?)
}
