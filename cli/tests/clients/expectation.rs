//! The calls that every client makes, and what must come back: the same for all of them, whatever each puts on
//! the wire to ask.

use serde_json::{Value, json};

use crate::plan::{Call, Outcome, Report};
use crate::stage::{FINISHED, LIVE};
use crate::wire::Wire;

/// Some hosts cut a longer description without a word.
const DESCRIPTION_MAX_CHARS: usize = 2_048;

/// What must come back.
enum Expected {
    /// A result: JSON with these members at least.
    Answer(Value),
    /// A result that is a list, in which the first has these members.
    List(Value),
    /// A result that says that it cannot be done, with these words in it.
    Refusal(&'static str),
    /// An error of the protocol.
    Error(i64),
}

fn steps() -> Vec<(&'static str, Value, Expected)> {
    use Expected::{Answer, Error, List, Refusal};
    let line =
        json!({"track": "room", "start_ms": 8000, "end_ms": 11000, "speaker": null, "text": "Then let us."});
    vec![
        (
            "status",
            json!(null),
            Answer(json!({"live": {"id": LIVE}, "awaiting_transcript": 0, "sessions": 2})),
        ),
        ("status", json!({}), Answer(json!({"sessions": 2}))),
        ("sessions", json!(null), List(json!({"id": LIVE, "live": true, "name": "Roadmap sync"}))),
        (
            "transcript",
            json!({"session": FINISHED, "since": 2}),
            Answer(json!({"session": FINISHED, "state": "done", "next": 3, "lines": [line]})),
        ),
        (
            "transcript",
            json!({"session": LIVE, "since": 3}),
            Answer(json!({"state": "live", "next": 3, "lines": []})),
        ),
        ("transcript", json!({"session": "nope"}), Refusal("no session nope")),
        ("transcript", json!({"session": "../x"}), Refusal("is not a session id")),
        ("transcript", json!({"session": 5}), Error(-32_602)),
        ("transcript", json!(null), Error(-32_602)),
        ("record", json!({}), Error(-32_602)),
        ("stop_watching", json!(null), Answer(json!({"stopped_watching": null}))),
        ("wait_for_transcript", json!(null), Refusal("watch_meeting")),
        ("speak", json!({"text": "Hello."}), Refusal("watch_meeting")),
        ("watch_meeting", json!(null), Answer(json!({"watching": LIVE, "you_are": "Iris"}))),
        ("wait_for_transcript", json!({"timeout_s": "soon"}), Error(-32_602)),
    ]
}

fn call(tool: &str, arguments: &Value) -> Call {
    Call { tool: tool.to_owned(), arguments: arguments.as_object().cloned() }
}

/// The calls, one after the other.
pub(crate) fn calls() -> Vec<Call> {
    steps().iter().map(|(tool, arguments, _)| call(tool, arguments)).collect()
}

/// The call that waits until it is taken back: nothing is said in the meeting.
pub(crate) fn wait() -> Call {
    call("wait_for_transcript", &json!({"timeout_s": 50}))
}

/// The call that is answered while that one waits.
pub(crate) fn meanwhile() -> Call {
    call("status", &json!(null))
}

/// Everything came back as it must.
pub(crate) fn assert_met(client: &str, report: &Report, wire: &Wire) {
    assert_eq!(report.server, "ambient", "{client}");
    for tool in wire.tools() {
        assert_described(tool);
        assert!(steps().iter().any(|(name, ..)| tool["name"] == *name), "{client}: no step calls {tool}");
    }
    assert_eq!(report.calls.len(), steps().len(), "{client}");
    for ((tool, arguments, expected), outcome) in steps().iter().zip(&report.calls) {
        let is_offered = report.tools.iter().any(|offered| offered == tool);
        let expected = if is_offered { expected } else { &Expected::Error(-32_602) };
        assert_is(expected, outcome, &format!("{client}: {tool} {arguments}"));
    }
    if report.tools.contains(&wait().tool) {
        let status = Expected::Answer(json!({"sessions": 2}));
        let meanwhile = report.meanwhile.as_ref().expect("a call beside the wait");
        assert_is(&status, meanwhile, &format!("{client}: beside a wait"));
        assert_eq!(wire.cancelled_tool(), Some(&json!(wait().tool)), "{client}");
    }
    for prompt in &report.prompts {
        assert_eq!((prompt.name.as_str(), prompt.role.as_str()), ("watch", "user"), "{client}");
        assert!(prompt.text.contains("Iris"), "{client}: it says who the assistant is");
    }
}

/// A model is told what the tool is for, and what each argument means.
fn assert_described(tool: &Value) {
    let description = tool["description"].as_str().expect("a description");
    assert!((1..=DESCRIPTION_MAX_CHARS).contains(&description.chars().count()), "{tool}");
    assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
    for (name, argument) in tool["inputSchema"]["properties"].as_object().into_iter().flatten() {
        assert!(argument["description"].is_string(), "{}: {name}", tool["name"]);
    }
}

fn assert_is(expected: &Expected, outcome: &Outcome, about: &str) {
    let answer =
        |text: &str| -> Value { serde_json::from_str(text).unwrap_or_else(|_| panic!("{about}: {text}")) };
    match (expected, outcome) {
        (Expected::Answer(members), Outcome::Result { text, is_error: false }) => {
            assert_members(members, &answer(text), about);
        }
        (Expected::List(members), Outcome::Result { text, is_error: false }) => {
            assert_members(members, &answer(text)[0], about);
        }
        (Expected::Refusal(words), Outcome::Result { text, is_error: true }) => {
            assert!(text.contains(words), "{about}: {text}");
        }
        (Expected::Error(code), Outcome::Error { code: found }) => assert_eq!(code, found, "{about}"),
        (_, outcome) => panic!("{about}: {outcome:?}"),
    }
}

fn assert_members(members: &Value, answer: &Value, about: &str) {
    for (name, value) in members.as_object().unwrap() {
        assert_eq!(&answer[name], value, "{about}: {name}");
    }
}
