//! Answers as values: only where they are asked for, the same as the text, and as their schema says.

use ambient_mcp::Server;
use serde_json::{Value, json};

use crate::client::{call, request, say};
use crate::jsonl_session::Sessions;

const FINISHED: &str = "2026-09-05T1412-roadmap-sync";

fn sessions() -> Sessions {
    let sessions = Sessions::new();
    sessions.directory("2026-09-05T1608").growing();
    sessions
        .directory(FINISHED)
        .summary("2026-09-05T14:12:03+02:00")
        .heard(&[("room", 0), ("call", 500)])
        .transcribed();
    sessions
}

fn calls() -> Vec<(&'static str, Value)> {
    vec![
        ("status", json!({})),
        ("sessions", json!({})),
        ("transcript", json!({"session": FINISHED})),
        ("transcript", json!({"session": "2026-09-05T1608"})),
    ]
}

/// Fails unless the value of `reply` is what the schema of `tool` says.
#[track_caller]
pub(crate) fn assert_as_told(server: &Server<'_>, tool: &str, reply: &Value) {
    let schema = &descriptor(server, tool)["outputSchema"];
    assert_eq!(schema["type"], "object");
    assert_conforms(&reply["result"]["structuredContent"], schema);
}

fn descriptor(server: &Server<'_>, name: &str) -> Value {
    let listed = say(server, request(1, "tools/list", &json!({})).as_bytes()).remove(0);
    let tools = listed["result"]["tools"].as_array().unwrap();
    tools.iter().find(|tool| tool["name"] == name).unwrap().clone()
}

/// Fails unless `value` is what `schema` says, for the part of JSON Schema that the tools use.
#[track_caller]
fn assert_conforms(value: &Value, schema: &Value) {
    let types: Vec<_> = match &schema["type"] {
        Value::String(one) => vec![one.as_str()],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => vec![],
    };
    let is = |name: &&str| match *name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("a type this test does not know: {other}"),
    };
    assert!(types.is_empty() || types.iter().any(is), "{value} is not {types:?}");
    if let Some(values) = schema["enum"].as_array() {
        assert!(values.contains(value), "{value} is not in {values:?}");
    }
    if let (Some(fields), Some(properties)) = (value.as_object(), schema["properties"].as_object()) {
        for name in schema["required"].as_array().into_iter().flatten() {
            assert!(fields.contains_key(name.as_str().unwrap()), "{name} is missing in {value}");
        }
        for (name, field) in fields {
            let property = properties.get(name).unwrap_or_else(|| panic!("{name} is not told of"));
            assert_conforms(field, property);
        }
    }
    for item in value.as_array().into_iter().flatten() {
        assert_conforms(item, &schema["items"]);
    }
}

#[test]
fn a_value_is_the_text_as_an_object_and_what_its_schema_says() {
    let sessions = sessions();
    let server = sessions.server().with_structured_content(true);
    for (tool, arguments) in calls() {
        let reply = call(&server, tool, &arguments);
        let result = &reply["result"];
        let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        let value = &result["structuredContent"];
        assert_eq!(if tool == "sessions" { &value["sessions"] } else { value }, &text);
        assert_as_told(&server, tool, &reply);
    }
    let failed = call(&server, "transcript", &json!({"session": "nope"}));
    assert_eq!(failed["result"].get("structuredContent"), None);
}

#[test]
fn without_being_asked_answers_are_text_alone() {
    let sessions = sessions();
    for (tool, arguments) in calls() {
        assert_eq!(call(&sessions.server(), tool, &arguments)["result"].get("structuredContent"), None);
        assert_eq!(descriptor(&sessions.server(), tool).get("outputSchema"), None);
    }
}
