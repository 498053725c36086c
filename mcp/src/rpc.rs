//! Replies and errors as JSON-RPC 2.0 writes them.
//!
//! Five error codes are used and no others: the range -32099 to -32020 means something to newer
//! clients and is never touched. A message is for a person to read; it names what was wrong without
//! repeating what was sent at length.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::id::Id;

/// The most characters of a message, and of a name that a message repeats.
const MAX_MESSAGE_CHARS: usize = 300;
const MAX_NAME_CHARS: usize = 40;

/// Why a request is not answered with a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct RpcError {
    code: i32,
    message: String,
}

impl RpcError {
    /// The line is not JSON.
    pub(crate) fn not_json() -> Self {
        Self::new(-32700, "the line is not JSON in UTF-8")
    }

    /// JSON, but not a request.
    pub(crate) fn invalid_request(message: &str) -> Self {
        Self::new(-32600, message)
    }

    /// An array of messages where no version with batches has been agreed on.
    pub(crate) fn no_batches() -> Self {
        Self::invalid_request("expected an object; batches belong to protocol version 2025-03-26")
    }

    /// A method this server does not have.
    pub(crate) fn no_such_method(method: &str) -> Self {
        Self::new(-32601, &format!("no such method {:?}", shortened(method, MAX_NAME_CHARS)))
    }

    /// A tool this server does not have.
    pub(crate) fn no_such_tool(name: &str) -> Self {
        Self::invalid_params(&format!(
            "no such tool {:?}; tools/list names them",
            shortened(name, MAX_NAME_CHARS)
        ))
    }

    /// Parameters or arguments of the wrong shape.
    pub(crate) fn invalid_params(message: &str) -> Self {
        Self::new(-32602, message)
    }

    /// A defect of this server.
    pub(crate) fn internal(message: &str) -> Self {
        Self::new(-32603, message)
    }

    fn new(code: i32, message: &str) -> Self {
        Self { code, message: shortened(message, MAX_MESSAGE_CHARS) }
    }
}

/// The answer to one request; without an id, to something in which none could be read.
#[derive(Debug, Serialize)]
pub(crate) struct Reply {
    jsonrpc: &'static str,
    id: Option<Id>,
    #[serde(flatten)]
    outcome: Outcome,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum Outcome {
    Result(Value),
    Error(RpcError),
}

impl Reply {
    /// The answer to the request `id`.
    pub(crate) fn new(id: Id, outcome: Result<Value, RpcError>) -> Self {
        let outcome = outcome.map_or_else(Outcome::Error, Outcome::Result);
        Self { jsonrpc: "2.0", id: Some(id), outcome }
    }

    /// The answer to something that is no request.
    pub(crate) fn refusal(id: Option<Id>, error: RpcError) -> Self {
        Self { jsonrpc: "2.0", id, outcome: Outcome::Error(error) }
    }

    /// The reply as a value.
    pub(crate) fn into_value(self) -> Value {
        let id = self.id.map_or(Value::Null, |id| id.to_value());
        match self.outcome {
            Outcome::Result(result) => json!({"jsonrpc": self.jsonrpc, "id": id, "result": result}),
            Outcome::Error(error) => json!({"jsonrpc": self.jsonrpc, "id": id, "error": error}),
        }
    }
}

/// How far a call is, for a client that asked to hear it.
#[derive(Debug, Serialize)]
pub(crate) struct ProgressNotification<'a> {
    jsonrpc: &'static str,
    method: &'static str,
    params: ProgressParams<'a>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ProgressParams<'a> {
    progress_token: &'a Id,
    progress: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<u64>,
    message: &'a str,
}

impl<'a> ProgressNotification<'a> {
    /// `progress` of `total` is done of the call that has the token; the message is for people.
    pub(crate) fn new(progress_token: &'a Id, progress: u64, total: Option<u64>, message: &'a str) -> Self {
        let params = ProgressParams { progress_token, progress, total, message };
        Self { jsonrpc: "2.0", method: "notifications/progress", params }
    }
}

/// The result of a tool that ran and failed.
pub(crate) fn failure(message: &str) -> Value {
    json!({"content": [{"type": "text", "text": shortened(message, MAX_MESSAGE_CHARS)}], "isError": true})
}

/// The result of a tool that ran: its JSON as text and, for clients that want that, as a value.
pub(crate) fn success(text: String, structured: Option<Value>) -> Value {
    // Moved and not copied: a text can be long.
    let block = [("type".to_owned(), "text".into()), ("text".to_owned(), Value::String(text))];
    let content = vec![Value::Object(block.into_iter().collect())];
    let mut result = Map::new();
    result.insert("content".to_owned(), Value::Array(content));
    result.insert("isError".to_owned(), false.into());
    if let Some(value) = structured {
        result.insert("structuredContent".to_owned(), value);
    }
    Value::Object(result)
}

/// `text`, or its first characters and a mark when it is longer than `max_chars`.
fn shortened(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_cut_between_characters() {
        assert_eq!(shortened("éé", 2), "éé");
        assert_eq!(shortened("ééé", 2), "éé…");
        let error = RpcError::no_such_method(&"\u{1F600}".repeat(100_000));
        assert!(error.message.chars().count() <= MAX_MESSAGE_CHARS + 1);
    }

    #[test]
    fn a_reply_is_one_object_whichever_way_it_is_made() {
        let id = || Id::read(serde_json::from_str("7").unwrap()).unwrap();
        let written = serde_json::to_string(&Reply::new(id(), Ok(json!({})))).unwrap();
        assert_eq!(written, r#"{"jsonrpc":"2.0","id":7,"result":{}}"#);
        let refused = || Reply::refusal(None, RpcError::not_json());
        let written: Value = serde_json::from_str(&serde_json::to_string(&refused()).unwrap()).unwrap();
        assert_eq!(written, refused().into_value());
        assert_eq!(written["id"], Value::Null);
    }
}
