//! Methods, versions, error classes and ids.

use serde_json::{Value, json};

use crate::client::{error_code, request, say_lines};

const PING: &str = r#"{"jsonrpc":"2.0","id":99,"method":"ping"}"#;

fn initialize(version: &Value) -> Value {
    let client = json!({"name": "t", "version": "0"});
    let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client});
    say_lines(&[&request(1, "initialize", &params)]).remove(0)
}

#[test]
fn initialize_names_the_server_and_what_it_can_do() {
    let reply = initialize(&json!("2025-11-25"));
    let result = &reply["result"];
    assert_eq!(result["protocolVersion"], "2025-11-25");
    assert!(result["capabilities"]["tools"].is_object());
    assert_eq!(result["serverInfo"]["name"], "ambient");
    assert_eq!(result["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
    let instructions = result["instructions"].as_str().unwrap();
    assert!(instructions.chars().count() < 2048);
}

#[test]
fn a_known_version_is_echoed_and_the_newest_known_stands_in_for_any_other() {
    for version in ["2025-11-25", "2025-06-18", "2025-03-26"] {
        assert_eq!(initialize(&json!(version))["result"]["protocolVersion"], version);
    }
    for version in [json!("2026-07-28"), json!("1"), json!(5), json!(null), json!(["2025-03-26"])] {
        assert_eq!(initialize(&version)["result"]["protocolVersion"], "2025-11-25");
    }
    let bare = r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#;
    assert_eq!(say_lines(&[bare])[0]["result"]["protocolVersion"], "2025-11-25");
}

#[test]
fn what_asks_for_no_answer_gets_none() {
    let silent = [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
        r#"{"jsonrpc":"2.0","method":"ping"}"#,
        r#"{"method":7}"#,
        r#"{"jsonrpc":"2.0","id":9,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":9,"error":{"code":1,"message":""}}"#,
        "",
        " \t\r",
        PING,
    ];
    let replies = say_lines(&silent);
    assert_eq!(replies, [json!({"jsonrpc": "2.0", "id": 99, "result": {}})]);
}

#[test]
fn each_error_has_its_class_and_the_next_request_is_answered() {
    for (line, code, id) in [
        ("not json", -32700, json!(null)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping""#, -32700, json!(null)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping"} x"#, -32700, json!(null)),
        (r#"{"id":1,"method":"ping"}"#, -32600, json!(1)),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600, json!(1)),
        (r#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#, -32600, json!(1)),
        (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600, json!(1)),
        (r#"{"jsonrpc":"2.0","id":1}"#, -32600, json!(1)),
        ("{}", -32600, json!(null)),
        ("7", -32600, json!(null)),
        ("\"ping\"", -32600, json!(null)),
        ("null", -32600, json!(null)),
        ("[]", -32600, json!(null)),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600, json!(null)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"no/such/method"}"#, -32601, json!(1)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#, -32601, json!(1)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"resources/list"}"#, -32601, json!(1)),
        (r#"{"jsonrpc":"2.0","id":1,"method":""}"#, -32601, json!(1)),
    ] {
        let replies = say_lines(&[line, PING]);
        assert_eq!(replies.len(), 2, "{line}");
        assert_eq!((error_code(&replies[0]), &replies[0]["id"]), (code, &id), "{line}");
        assert_eq!(replies[1]["result"], json!({}));
    }
}

#[test]
fn a_call_of_the_wrong_shape_is_refused() {
    for params in [
        json!(null),
        json!([]),
        json!("status"),
        json!({}),
        json!({"name": 5}),
        json!({"name": null}),
        json!({"name": "no such tool"}),
        json!({"name": "search"}),
        json!({"name": "status", "arguments": []}),
        json!({"name": "status", "arguments": "x"}),
        json!({"name": "status", "arguments": 0}),
        json!({"name": "status", "arguments": false}),
    ] {
        let replies = say_lines(&[&request(1, "tools/call", &params), PING]);
        assert_eq!(error_code(&replies[0]), -32602, "{params}");
        assert_eq!(replies.len(), 2);
    }
    let without = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#;
    assert_eq!(error_code(&say_lines(&[without])[0]), -32602);
}

#[test]
fn an_id_comes_back_as_it_was_written() {
    let huge = "7".repeat(300);
    for id in ["0", "-5", "18446744073709551616", &huge, r#""a""#, r#""""#, r#""\u00e9\/""#] {
        let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}");
        let mut output = Vec::new();
        ambient_mcp::serve(line.as_bytes(), &mut output, "/nowhere".as_ref()).unwrap();
        let expected = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n");
        assert_eq!(String::from_utf8(output).unwrap(), expected);
    }
}

#[test]
fn what_is_neither_a_string_nor_an_integer_is_no_id() {
    for id in ["null", "1.5", "1.0", "1e2", "true", "{}", "[1]", r#""\ud800""#] {
        let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}");
        let reply = &say_lines(&[&line])[0];
        assert_eq!((error_code(reply), &reply["id"]), (-32600, &json!(null)), "{id}");
    }
}

#[test]
fn batches_are_answered_only_where_the_agreed_version_has_them() {
    let old = request(0, "initialize", &json!({"protocolVersion": "2025-03-26"}));
    let new = request(0, "initialize", &json!({"protocolVersion": "2025-06-18"}));
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},
        {"jsonrpc":"2.0","method":"notifications/initialized"}, 7, [],
        {"jsonrpc":"2.0","id":"x","method":"none"},
        {"jsonrpc":"2.0","id":2,"method":"initialize","params":{}}]"#
        .replace('\n', " ");
    let replies = say_lines(&[&old, &batch, PING, &new, &batch, PING]);
    let codes: Vec<_> = replies[1].as_array().unwrap().iter().map(|reply| &reply["error"]["code"]).collect();
    assert_eq!(json!(codes), json!([null, -32600, -32600, -32601, -32600]));
    let ids: Vec<_> = replies[1].as_array().unwrap().iter().map(|reply| &reply["id"]).collect();
    assert_eq!(json!(ids), json!([1, null, null, "x", 2]));
    assert_eq!(replies[2]["id"], 99);
    assert_eq!((error_code(&replies[4]), replies.len()), (-32600, 6));
}

#[test]
fn a_batch_owes_nothing_for_notifications_and_one_error_for_emptiness_or_excess() {
    let old = request(0, "initialize", &json!({"protocolVersion": "2025-03-26"}));
    let notifications = r#"[{"jsonrpc":"2.0","method":"a"},{"jsonrpc":"2.0","method":"b"}]"#;
    let too_many = format!("[{}]", vec!["7"; ambient_mcp::MAX_BATCH_MESSAGES + 1].join(","));
    let replies = say_lines(&[&old, notifications, "[]", &too_many, PING]);
    assert_eq!(replies.len(), 4);
    assert_eq!((error_code(&replies[1]), error_code(&replies[2])), (-32600, -32600));
    assert_eq!(replies[3]["id"], 99);
}

#[test]
fn the_last_line_needs_no_end_and_lines_may_end_as_windows_ends_them() {
    assert_eq!(say_lines(&[PING]).len(), 1);
    let replies = say_lines(&[&format!("{PING}\r"), &format!("\u{feff}{PING}\r"), ""]);
    assert_eq!(replies.iter().filter(|reply| reply["id"] == 99).count(), 2);
}

#[test]
fn one_line_at_a_time_is_answered_alike() {
    let root = std::path::Path::new("/nowhere");
    for line in [PING, "x", r#"{"jsonrpc":"2.0","id":1,"method":"none"}"#, "[]", "{}", "7"] {
        assert_eq!(ambient_mcp::handle(line, root).as_ref(), say_lines(&[line]).first(), "{line}");
    }
    for line in ["", r#"{"jsonrpc":"2.0","method":"ping"}"#, r#"{"id":1,"result":{}}"#] {
        assert_eq!(ambient_mcp::handle(line, root), None, "{line}");
    }
}
