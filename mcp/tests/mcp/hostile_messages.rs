//! Lines that are JSON, or nearly, and meant to confuse; and lines of whatever bytes, held against a second
//! opinion on what each of them is owed.

use std::io::{BufReader, Read, repeat};
use std::path::Path;

use ambient_mcp::Server;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::client::{answer, error_code, request, say, say_lines};

const PING: &str = r#"{"jsonrpc":"2.0","id":99,"method":"ping"}"#;
const OLD: &str =
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}"#;

fn pong() -> Value {
    json!({"jsonrpc": "2.0", "id": 99, "result": {}})
}

#[test]
fn a_name_that_is_no_text_costs_nothing_wherever_it_stands() {
    let ping = r#"{"\ud800":0,"jsonrpc":"2.0","id":1,"method":"ping","params":{"\udc00":1}}"#;
    assert_eq!(say_lines(&[ping, PING]), [json!({"jsonrpc": "2.0", "id": 1, "result": {}}), pong()]);
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":
        {"\ud800":0,"name":"status","arguments":{"\ud800":0},"_meta":{"\ud800":0}}}"#
        .replace('\n', "");
    assert_eq!(answer(&say_lines(&[&call])[0])["sessions"], 0);
    let notification = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","\ud800":0}"#;
    assert_eq!(say_lines(&[notification, PING]), [pong()]);
    let reply = r#"{"jsonrpc":"2.0","id":1,"result":{},"\ud800":0}"#;
    assert_eq!(say_lines(&[reply, PING]), [pong()]);
}

#[test]
fn names_mean_the_same_however_they_are_escaped() {
    let line = r#"{"\u006asonrpc":"2\u002e0","\u0069d":1,"\u006dethod":"p\u0069ng"}"#;
    assert_eq!(say_lines(&[line]), [json!({"jsonrpc": "2.0", "id": 1, "result": {}})]);
}

#[test]
fn of_equal_names_the_last_one_counts_at_every_depth() {
    let call = |params: &str| {
        let line =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":1,"params":{params}}}"#);
        say_lines(&[&line]).remove(0)
    };
    let status = call(r#"{"name":7,"name":"status","arguments":[],"arguments":{"a":1,"a":2}}"#);
    assert_eq!(answer(&status)["sessions"], 0);
    assert_eq!(error_code(&call(r#"{"name":"status","arguments":{},"arguments":[]}"#)), -32602);
    let since = r#"{"name":"transcript","arguments":{"session":"x","since":0,"since":"1"}}"#;
    assert_eq!(error_code(&call(since)), -32602);
    let ids = r#"{"jsonrpc":"2.0","id":1,"id":null,"method":"ping"}"#;
    assert_eq!((error_code(&say_lines(&[ids])[0]), &say_lines(&[ids])[0]["id"]), (-32600, &Value::Null));
}

#[test]
fn unknown_methods_are_refused_alike_before_and_after_initialize() {
    let methods = ["server/discover", "no/such/method", "PING", "ping ", "tools", "logging/setLevel", "\0"];
    let unknown: Vec<_> = (1..).zip(methods).map(|(id, method)| request(id, method, &json!({}))).collect();
    let unknown: Vec<_> = unknown.iter().map(String::as_str).collect();
    let replies = say_lines(&[&unknown[..], &[OLD], &unknown[..]].concat());
    let (before, after) = (&replies[..methods.len()], &replies[methods.len() + 1..]);
    assert_eq!(before, after);
    assert!(before.iter().all(|reply| error_code(reply) == -32601));
    assert_eq!(
        before.iter().filter_map(|reply| reply["id"].as_u64()).collect::<Vec<_>>(),
        [1, 2, 3, 4, 5, 6, 7]
    );
}

#[test]
fn a_number_of_any_size_is_refused_or_passed_over_but_never_misread() {
    let digits = "9".repeat(200_000);
    for number in [&digits, &format!("-{digits}"), "1e999999999", "18446744073709551616"] {
        let line =
            |params: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
        let since =
            line(&format!(r#"{{"name":"transcript","arguments":{{"session":"x","since":{number}}}}}"#));
        let unknown = line(&format!(r#"{{"name":"status","arguments":{{"x":{number}}}}}"#));
        let version = format!(
            r#"{{"jsonrpc":"2.0","id":2,"method":"initialize","params":{{"protocolVersion":{number}}}}}"#
        );
        let replies = say_lines(&[&since, &unknown, &version, number]);
        assert_eq!(error_code(&replies[0]), -32602);
        assert_eq!(answer(&replies[1])["sessions"], 0);
        assert_eq!(replies[2]["result"]["protocolVersion"], "2025-11-25");
        assert_eq!(error_code(&replies[3]), -32600);
        assert!(replies.iter().all(|reply| reply.to_string().len() < 4096));
    }
}

#[test]
fn a_byte_order_mark_is_passed_over_in_front_and_nowhere_else() {
    let batch = format!("\u{feff}[{PING}]\r");
    let replies = say_lines(&["\u{feff}", "\u{feff}\r", &format!("\u{feff}{OLD}\r"), &batch, "\r"]);
    assert_eq!((replies.len(), &replies[0]["id"], &replies[1]), (2, &json!(0), &json!([pong()])));
    for line in [format!("\u{feff}\u{feff}{PING}"), format!("{PING}\u{feff}"), format!(" \u{feff}{PING}")] {
        assert_eq!(error_code(&say_lines(&[&line])[0]), -32700, "{line}");
    }
    let wide: Vec<u8> = "\u{feff}{}".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(error_code(&say(&Server::new(Path::new("/nowhere")), &wide)[0]), -32700);
}

#[test]
fn only_what_json_calls_white_space_is_an_empty_line() {
    assert_eq!(say_lines(&["", " ", "\t", "\r", " \t \r", PING]), [pong()]);
    for line in ["\x0c", "\x0b", "\0", "\u{a0}", "\u{2028}"] {
        let replies = say_lines(&[line, PING]);
        assert_eq!((replies.len(), error_code(&replies[0])), (2, -32700), "{line:?}");
    }
}

#[test]
fn a_line_of_64_mib_is_refused_while_it_flows_by() {
    let input = repeat(b'[').take(64 << 20).chain(&b"\n"[..]).chain(PING.as_bytes());
    let mut output = Vec::new();
    Server::new(Path::new("/nowhere")).serve(BufReader::new(input), &mut output).unwrap();
    let output = String::from_utf8(output).unwrap();
    let replies: Vec<Value> = output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((replies.len(), error_code(&replies[0]), &replies[1]), (2, -32600, &pong()));
    assert!(replies[0]["error"]["message"].as_str().unwrap().contains("1048576"), "{}", replies[0]);
}

#[test]
fn every_message_of_a_batch_is_judged_by_itself() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let batch = format!(
        r#"[{deep},null,"x",{{}},{{"id":1}},{{"jsonrpc":"2.0","id":2}},{{"jsonrpc":"2.0","id":null,"method":"ping"}},
        {{"jsonrpc":"2.0","id":3,"result":{{}}}},{{"method":7}},{{"jsonrpc":"2.0","id":4,"method":"tools/call"}},
        {{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{{"name":"status","arguments":null}}}},{PING},{PING}]"#
    )
    .replace('\n', "");
    let replies = say_lines(&[OLD, &batch, PING]);
    let judged: Vec<_> = replies[1]
        .as_array()
        .unwrap()
        .iter()
        .map(|reply| json!([reply["id"], reply["error"]["code"]]))
        .collect();
    let invalid = json!([null, -32600]);
    let mut expected = vec![invalid.clone(); 4];
    expected.extend([json!([1, -32600]), json!([2, -32600]), invalid, json!([4, -32602])]);
    expected.extend([json!([5, null]), json!([99, null]), json!([99, null])]);
    assert_eq!(judged, expected);
    assert_eq!(replies[2], pong());
}

#[test]
fn a_batch_changes_nothing_about_what_was_agreed() {
    let begin =
        r#"[{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}]"#;
    let quiet = r#"[{"jsonrpc":"2.0","method":"a"}]"#;
    for batch in [begin, quiet, "[]", "[7]"] {
        let replies = say_lines(&[batch, batch, PING]);
        assert_eq!((replies.len(), error_code(&replies[0]), error_code(&replies[1])), (3, -32600, -32600));
        assert_eq!(replies[2], pong(), "{batch}");
    }
    let refused = say_lines(&[OLD, begin, &format!("[{PING}]")]);
    assert_eq!((&refused[1][0]["id"], error_code(&refused[1][0])), (&json!(1), -32600));
    assert_eq!(refused[2], json!([pong()]));
    let broken = r#"{"id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}"#;
    assert_eq!(error_code(&say_lines(&[broken, quiet])[1]), -32600);
}

/// A message that must be answered, cut somewhere and with bytes put in.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let whole = prop::sample::select(vec![
        PING,
        r#"{"jsonrpc":"2.0","id":"\ud83d\ude00","method":"tools/call","params":{"name":"status","arguments":{}}}"#,
        r#"[{"jsonrpc":"2.0","id":7,"method":"tools/list"}]"#,
        r#"{"jsonrpc":"2.0","id":-1,"method":"prompts/get","params":{"name":"watch"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#,
        OLD,
    ]);
    (whole, any::<prop::sample::Index>(), prop::collection::vec(any::<u8>(), 0..4), 0usize..3).prop_map(
        |(whole, at, put_in, cut)| {
            let at = at.index(whole.len());
            let bytes = whole.as_bytes();
            let mut line = [&bytes[..at], &put_in, &bytes[(at + cut).min(bytes.len())..]].concat();
            line.retain(|&byte| byte != b'\n');
            line
        },
    )
}

/// Any bytes that make one line.
fn noise() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>().prop_filter("no end", |&byte| byte != b'\n'), 0..80)
}

/// How many replies `line` is owed: none, or one. `None` for a batch, which depends on what was agreed.
fn owed(line: &[u8]) -> Option<usize> {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
    if line.iter().all(|byte| b" \t\r".contains(byte)) {
        return Some(0);
    }
    match serde_json::from_slice(line) {
        Ok(Value::Array(_)) => None,
        Ok(Value::Object(fields)) => {
            let (id, method) = (fields.get("id"), fields.get("method"));
            let is_reply =
                method.is_none() && (fields.contains_key("result") || fields.contains_key("error"));
            Some(usize::from(!is_reply && (id.is_some() || method.is_none())))
        }
        _ => Some(1),
    }
}

proptest! {
    #[test]
    fn every_line_is_answered_as_often_as_it_is_owed(lines in prop::collection::vec(prop_oneof![noise(), damaged()], 0..30)) {
        let input = lines.iter().flat_map(|line| [line, &b"\n"[..]].concat()).chain(PING.bytes()).collect::<Vec<_>>();
        let replies = say(&Server::new(Path::new("/nowhere")), &input);
        prop_assert_eq!(replies.last(), Some(&pong()));
        let least: usize = lines.iter().filter_map(|line| owed(line)).sum();
        let batches = lines.iter().filter(|line| owed(line).is_none()).count();
        prop_assert!((least..=least + batches).contains(&(replies.len() - 1)), "{} {:?}", least, replies);
        for reply in replies.iter().flat_map(|reply| reply.as_array().cloned().unwrap_or_else(|| vec![reply.clone()])) {
            prop_assert_eq!(&reply["jsonrpc"], "2.0");
            prop_assert!(reply.get("result").is_some() != reply.get("error").is_some());
            let code = reply["error"]["code"].as_i64();
            prop_assert!(code.is_none_or(|code| [-32700, -32600, -32601, -32602].contains(&code)), "{}", reply);
        }
    }
}
