//! A client that says its lines, closes its end and reads what came back.

use std::path::Path;

use ambient_mcp::Server;
use serde_json::{Value, json};

/// What comes back for `input`, one value a line; checks that nothing but whole lines of JSON does.
pub(crate) fn say(server: &Server<'_>, input: &[u8]) -> Vec<Value> {
    let mut output = Vec::new();
    server.serve(input, &mut output).unwrap();
    assert!(output.is_empty() || output.ends_with(b"\n"));
    let text = String::from_utf8(output).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What comes back for `lines`, where there are no sessions.
pub(crate) fn say_lines(lines: &[&str]) -> Vec<Value> {
    say(&Server::new(Path::new("/nowhere")), lines.join("\n").as_bytes())
}

/// A request as a line without its end.
pub(crate) fn request(id: u64, method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

/// The reply to a call of `tool`.
pub(crate) fn call(server: &Server<'_>, tool: &str, arguments: &Value) -> Value {
    let line = request(1, "tools/call", &json!({"name": tool, "arguments": arguments}));
    let mut replies = say(server, line.as_bytes());
    assert_eq!(replies.len(), 1);
    replies.remove(0)
}

/// What a tool answered; checks the shape that every answer has.
pub(crate) fn answer(reply: &Value) -> Value {
    let text = result_text(reply, false);
    let value: Value = serde_json::from_str(text).unwrap();
    assert_eq!(value.to_string().len(), text.len(), "the text is compact");
    value
}

/// Why a tool that ran failed.
pub(crate) fn failure(reply: &Value) -> &str {
    result_text(reply, true)
}

/// The code of an error reply.
pub(crate) fn error_code(reply: &Value) -> i64 {
    assert!(reply.get("result").is_none(), "{reply}");
    reply["error"]["code"].as_i64().unwrap()
}

fn result_text(reply: &Value, is_error: bool) -> &str {
    let text = reply["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{reply}"));
    let expected = json!({"content": [{"type": "text", "text": text}], "isError": is_error});
    assert_eq!(reply["result"], expected);
    text
}
