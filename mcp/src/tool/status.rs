//! `status`: what is going on.

use ambient_engine::view;

use super::{Context, Effect, Tool, ToolError, compact, no_arguments};
use crate::arguments::Arguments;

pub(super) const TOOL: Tool = Tool {
    name: "status",
    title: "What Ambient is doing",
    description: "Says whether a conversation is being recorded right now. Cheap; call it first. Returns `live` \
({\"id\":…} of the session being recorded, or null), `awaiting_transcript` (how many sessions have audio \
that is not text yet) and `sessions` (how many `sessions` will list). If `live` is not null, read along \
with `transcript` and that id.",
    input_schema: no_arguments,
    effect: Effect::NONE,
    max_result_chars: None,
    run,
};

fn run(context: &Context<'_>, _arguments: &Arguments<'_>) -> Result<String, ToolError> {
    compact(&view::status(context.root, context.clock)?)
}
