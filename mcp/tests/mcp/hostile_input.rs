//! Nothing a client sends ends the connection, and every request is answered once and in order.

use std::path::Path;

use ambient_mcp::{MAX_LINE_BYTES, Server};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::client::{error_code, request, say};

const PING: &[u8] = br#"{"jsonrpc":"2.0","id":99,"method":"ping"}"#;

/// The reply to `line`, after which a ping was answered.
fn reply_then_ping(line: &[u8]) -> Value {
    let mut replies = say(&Server::new(Path::new("/nowhere")), &[line, b"\n", PING].concat());
    assert_eq!(replies.len(), 2);
    assert_eq!(replies.remove(1), json!({"jsonrpc": "2.0", "id": 99, "result": {}}));
    replies.remove(0)
}

#[test]
fn bytes_that_are_no_json_cost_one_line() {
    let lines: [&[u8]; 8] = [
        b"\xff\xfe\x00",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}",
        b"\0\0\0",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\0b\"}",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\x1bb\"}",
        b"\"\\x\"",
        b"01",
        b"NaN",
    ];
    for line in lines {
        let reply = reply_then_ping(line);
        assert_eq!((error_code(&reply), &reply["id"]), (-32700, &Value::Null), "{line:?}");
    }
}

#[test]
fn depth_is_harmless_wherever_it_stands() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let in_call = |params: &str| {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{params}}}")
    };
    let code = |line: String| error_code(&reply_then_ping(line.as_bytes()));
    assert_eq!(code(deep.clone()), -32600);
    assert_eq!(code("[".repeat(100_000)), -32700);
    assert_eq!(code("{\"a\":".repeat(100_000)), -32700);
    assert_eq!(code(in_call(&deep)), -32602);
    assert_eq!(code(in_call(&format!("{{\"name\":{deep}}}"))), -32602);
    assert_eq!(code(in_call(&format!("{{\"name\":\"status\",\"arguments\":{deep}}}"))), -32602);
    let id = format!("{{\"jsonrpc\":\"2.0\",\"id\":{deep},\"method\":\"ping\"}}");
    assert_eq!(code(id), -32600);
    let unknown =
        format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"x\":{deep},\"params\":{deep}}}");
    assert_eq!(reply_then_ping(unknown.as_bytes())["result"], json!({}));
}

#[test]
fn a_line_beyond_the_limit_is_refused_and_passed_over() {
    let mut line = vec![b'"'; 64 << 20];
    assert_eq!(error_code(&reply_then_ping(&line)), -32600);
    line.truncate(MAX_LINE_BYTES + 1);
    assert_eq!(error_code(&reply_then_ping(&line)), -32600);
}

#[test]
fn a_request_of_the_longest_line_is_answered() {
    let start = br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":""#;
    let filling = vec![b'x'; MAX_LINE_BYTES - start.len() - 2];
    let line = [&start[..], &filling, b"\"}"].concat();
    assert_eq!(reply_then_ping(&line)["result"], json!({}));
}

#[test]
fn errors_do_not_repeat_what_was_sent_at_length() {
    let long = "x".repeat(500_000);
    for line in [
        request(1, &long, &json!({})),
        request(1, "tools/call", &json!({"name": &long})),
        request(1, "tools/call", &json!({"name": "transcript", "arguments": {"session": &long}})),
        request(1, "tools/call", &json!({"name": "transcript", "arguments": {"session": 1, "since": &long}})),
    ] {
        assert!(reply_then_ping(line.as_bytes()).to_string().len() < 600);
    }
}

#[test]
fn of_equal_keys_the_last_one_counts() {
    let line = br#"{"jsonrpc":"2.0","id":1,"id":2,"method":"none","method":"ping"}"#;
    assert_eq!(reply_then_ping(line), json!({"jsonrpc": "2.0", "id": 2, "result": {}}));
}

#[test]
fn numbers_and_half_surrogates_in_unknown_places_are_nobodys_business() {
    let line = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":
        {"name":"status","arguments":{"a":1e99999,"b":"\ud800","c":-0.0}}}"#;
    let line: Vec<_> = line.iter().copied().filter(|&byte| byte != b'\n').collect();
    assert!(reply_then_ping(&line)["result"].is_object());
}

/// A line, and the id of the reply that it is owed if it is a request.
fn line() -> impl Strategy<Value = (Vec<u8>, Option<u32>)> {
    let noise = prop::collection::vec(any::<u8>().prop_filter("no end", |&byte| byte != b'\n'), 0..60)
        .prop_map(|bytes| (bytes, None));
    let piece = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\\",
        "\"jsonrpc\"",
        "\"2.0\"",
        "\"method\"",
        "\"ping\"",
        "\"params\"",
        "null",
        "true",
        "1",
        "-",
        ".",
        "e",
        " ",
        "\u{feff}",
        "\"initialize\"",
        "\"2025-03-26\"",
    ]);
    let soup = prop::collection::vec(piece, 0..24).prop_map(|pieces| (pieces.concat().into_bytes(), None));
    let value = prop::sample::select(vec![
        "null",
        "{}",
        "[]",
        "1",
        "\"x\"",
        "{\"name\":\"status\"}",
        "{\"name\":\"transcript\",\"arguments\":{}}",
        "{\"name\":\"sessions\",\"arguments\":null}",
        "{\"name\":5}",
        "{\"protocolVersion\":\"2025-03-26\"}",
    ]);
    let method = prop::sample::select(vec![
        "\"ping\"",
        "\"initialize\"",
        "\"tools/list\"",
        "\"tools/call\"",
        "\"none\"",
        "7",
        "null",
    ]);
    let request = (any::<u32>(), method, value).prop_map(|(id, method, params)| {
        let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":{method},\"params\":{params}}}");
        (line.into_bytes(), Some(id))
    });
    prop_oneof![noise, soup, request]
}

proptest! {
    #[test]
    fn every_request_gets_one_reply_in_order_whatever_stands_between(lines in prop::collection::vec(line(), 0..40)) {
        let input = lines.iter().map(|(line, _)| &line[..]).collect::<Vec<_>>().join(&b'\n');
        let replies = say(&Server::new(Path::new("/nowhere")), &input);
        let owed: Vec<_> = lines.iter().filter_map(|(_, id)| *id).collect();
        let answered: Vec<_> = replies
            .iter()
            .filter_map(|reply| reply["id"].as_u64())
            .collect();
        prop_assert_eq!(answered, owed.into_iter().map(u64::from).collect::<Vec<_>>());
        for reply in replies.iter().filter(|reply| reply.is_object()) {
            prop_assert_eq!(&reply["jsonrpc"], "2.0");
            prop_assert!(reply.get("result").is_some() != reply.get("error").is_some());
            let code = reply["error"]["code"].as_i64().unwrap_or_default();
            prop_assert!(!(-32099..=-32020).contains(&code));
        }
    }
}
