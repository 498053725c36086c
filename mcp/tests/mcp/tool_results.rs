//! What every result of a tool looks like, and which arguments are refused.

use std::path::Path;

use ambient_mcp::Server;
use serde_json::json;

use crate::client::{answer, call, error_code, failure, request, say_lines};

#[test]
fn a_tool_that_ran_answers_with_compact_json_and_one_that_failed_says_why() {
    let server = Server::new(Path::new("/nowhere"));
    let status = answer(&call(&server, "status", &json!({})));
    assert_eq!(status, json!({"live": null, "awaiting_transcript": 0, "sessions": 0}));
    assert_eq!(answer(&call(&server, "sessions", &json!({}))), json!([]));
    let missing = call(&server, "transcript", &json!({"session": "nope"}));
    assert_eq!(failure(&missing), "no session nope");
}

#[test]
fn arguments_may_be_left_out_or_null_and_unknown_ones_are_ignored() {
    for params in [
        json!({"name": "status"}),
        json!({"name": "status", "arguments": null}),
        json!({"name": "status", "arguments": {"verbose": 3}, "_meta": {"progressToken": 0}, "task": {}}),
    ] {
        let reply = say_lines(&[&request(1, "tools/call", &params)]).remove(0);
        assert_eq!(answer(&reply)["sessions"], 0, "{params}");
    }
}

#[test]
fn an_argument_of_the_wrong_type_is_refused_before_the_session_is_looked_for() {
    let server = Server::new(Path::new("/nowhere"));
    for (arguments, named) in [
        (json!({}), "`session`"),
        (json!({"session": null}), "`session`"),
        (json!({"session": 5}), "`session`"),
        (json!({"session": ["nope"]}), "`session`"),
        (json!({"session": "nope", "since": "1"}), "`since`"),
        (json!({"session": "nope", "since": -1}), "`since`"),
        (json!({"session": "nope", "since": 1.5}), "`since`"),
        (json!({"session": "nope", "since": 1e20}), "`since`"),
        (json!({"session": "nope", "since": true}), "`since`"),
        (json!({"session": "nope", "verbatim": "yes"}), "`verbatim`"),
        (json!({"session": "nope", "verbatim": 1}), "`verbatim`"),
        (json!({"session": "nope", "limit": "?"}), "`limit`"),
        (json!({"session": "nope", "limit": -1}), "`limit`"),
        (json!({"session": "nope", "max_chars": 0}), "`max_chars`"),
        (json!({"session": "nope", "max_chars": "x"}), "`max_chars`"),
        (json!({"session": "nope", "clock": 1}), "`clock`"),
        (json!({"session": "nope", "confidence": "?"}), "`confidence`"),
        (json!({"session": "nope", "cursor": 7}), "`cursor`"),
        (json!({"session": "nope", "cursor": "", "since": 0}), "`since` and `cursor`"),
    ] {
        let reply = call(&server, "transcript", &arguments);
        assert_eq!(error_code(&reply), -32602, "{arguments}");
        assert!(reply["error"]["message"].as_str().unwrap().contains(named), "{reply}");
    }
    let optional = json!({"session": "nope", "since": null, "verbatim": null, "cursor": null, "lines": "?"});
    assert_eq!(failure(&call(&server, "transcript", &optional)), "no session nope");
    assert_eq!(
        failure(&call(&server, "transcript", &json!({"session": "nope", "since": 1.0}))),
        "no session nope"
    );
}
