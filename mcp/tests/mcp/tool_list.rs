//! What a model is told about the tools.

use serde_json::{Value, json};

use crate::client::{request, say_lines};

fn tools() -> Vec<Value> {
    let reply = say_lines(&[&request(1, "tools/list", &json!({}))]).remove(0);
    reply["result"]["tools"].as_array().unwrap().clone()
}

#[test]
fn the_tools_are_listed_in_their_order() {
    let tools = tools();
    let names: Vec<_> = tools.iter().map(|tool| &tool["name"]).collect();
    assert_eq!(
        json!(names),
        json!([
            "sessions",
            "transcript",
            "status",
            "watch_meeting",
            "wait_for_transcript",
            "speak",
            "stop_watching"
        ])
    );
    assert!(tools.iter().all(|tool| tool["inputSchema"]["type"] == "object"));
}

#[test]
fn the_schemas_name_every_argument_and_say_what_it_is() {
    let expected = json!({
        "sessions": {"limit": "integer", "before": "string", "query": "string"},
        "transcript": {"session": "string", "since": "integer", "cursor": "string", "limit": "integer",
            "max_chars": "integer", "clock": "boolean", "confidence": "boolean", "verbatim": "boolean"},
        "status": {},
        "watch_meeting": {"session": "string"},
        "wait_for_transcript": {"timeout_s": "integer", "since": "integer"},
        "speak": {"text": "string", "emotion": "string"},
        "stop_watching": {},
    });
    for tool in tools() {
        let schema = &tool["inputSchema"];
        let properties = schema["properties"].as_object().unwrap();
        let types: serde_json::Map<_, _> =
            properties.iter().map(|(name, property)| (name.clone(), property["type"].clone())).collect();
        assert_eq!(Value::Object(types), expected[tool["name"].as_str().unwrap()]);
        assert!(properties.values().all(|property| property["description"].is_string()));
        let required = match tool["name"].as_str() {
            Some("transcript") => json!(["session"]),
            Some("speak") => json!(["text"]),
            _ => Value::Null,
        };
        assert_eq!(schema["required"], required);
    }
}

#[test]
fn every_tool_says_what_it_does_to_the_world_and_fits_what_clients_keep() {
    for tool in tools() {
        let hints = &tool["annotations"];
        let name = tool["name"].as_str().unwrap();
        let (reads, is_idempotent) = match name {
            "sessions" | "transcript" | "status" => (true, true),
            "wait_for_transcript" => (true, false),
            "watch_meeting" | "stop_watching" => (false, true),
            _ => (false, false),
        };
        assert_eq!(
            (&hints["readOnlyHint"], &hints["idempotentHint"]),
            (&json!(reads), &json!(is_idempotent)),
            "{name}"
        );
        assert_eq!(hints["destructiveHint"], false);
        assert_eq!(hints["openWorldHint"], false);
        assert!(tool["title"].is_string());
        let description = tool["description"].as_str().unwrap();
        assert!((80..2048).contains(&description.chars().count()), "{name}");
    }
    assert_eq!(tools()[1]["_meta"]["anthropic/maxResultSizeChars"], 500_000);
}
