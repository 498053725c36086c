//! `watch_meeting`: who is let in, and that it is said aloud.

use ambient_engine::session::Work;
use ambient_engine::{AssistantAct, Change, Track};
use ambient_mcp::Server;
use serde_json::json;

use super::meeting::{ID, Meeting, said};
use crate::client::{answer, call, error_code, failure};
use crate::native_session::{NativeSession, edit};
use crate::structured_answers::assert_as_told;

#[test]
fn turned_off_nothing_is_heard_said_or_started() {
    let mut meeting = Meeting::begin();
    meeting.turn_off();
    meeting.with_client(|meeting, client| {
        assert!(client.failure("watch_meeting", &json!({})).contains("turned off"));
        assert!(client.failure("speak", &json!({"text": "Hello."})).contains("turned off"));
        assert!(client.failure("wait_for_transcript", &json!({})).contains("watch_meeting"));
        assert!(!meeting.voice_file("started").exists());
        assert_eq!((meeting.acts(), meeting.signs()), (vec![], vec![]));
    });
}

#[test]
fn a_server_without_an_assistant_says_that_it_is_turned_off() {
    let meeting = Meeting::begin();
    let server = Server::new(meeting.sessions.root());
    for tool in ["watch_meeting", "wait_for_transcript", "stop_watching"] {
        assert!(failure(&call(&server, tool, &json!({}))).contains("turned off"), "{tool}");
    }
    assert!(failure(&call(&server, "speak", &json!({"text": "Hello."}))).contains("turned off"));
}

#[test]
fn only_a_meeting_that_is_being_recorded_in_a_log_can_be_watched() {
    let mut meeting = Meeting::begin();
    let other = NativeSession::begin(meeting.sessions.root(), "2026-09-05T1100", "2026-09-05T11:00:00+02:00");
    other.close();
    meeting.sessions.directory("2026-09-05T1300").growing();
    meeting.with_client(|meeting, client| {
        let mut watch = |session: &str| client.failure("watch_meeting", &json!({"session": session}));
        assert!(watch("2026-09-05T1100").contains("not being recorded"));
        assert!(watch("2026-09-05T1300").contains("older layout"));
        assert_eq!(watch("2026-09-05T0900"), "no session 2026-09-05T0900");
        assert!(watch("../x").contains("not a session id"));
        assert_eq!(meeting.acts(), []);
    });
    let nothing = Meeting::begin();
    let assistant = nothing.assistant();
    let empty = tempfile::tempdir().unwrap();
    let server = Server::new(empty.path()).with_assistant(&assistant);
    assert!(failure(&call(&server, "watch_meeting", &json!({}))).contains("not recording"));
}

#[test]
fn the_notice_is_spoken_before_anything_is_shown_and_once() {
    let mut meeting = Meeting::begin();
    meeting.say(1_000, "Shall we begin?");
    meeting.append(&[said(Track::Call, 3_000, "Yes."), said(Track::Room, 3_100, "Yes.")]);
    meeting.append(&[edit(2, Change::Hide { reason: "bleed".to_owned() })]);
    meeting.with_client(|meeting, client| {
        let watching = client.answer("watch_meeting", &json!({"session": null}));
        assert_eq!(watching["watching"], ID);
        assert_eq!(watching["you_are"], "Claude");
        assert_eq!(watching["notice_spoken"], true);
        let recent = ["[00:01] someone in the room: Shall we begin?", "[00:03] someone on the call: Yes."];
        assert_eq!(watching["recent"], json!(recent));
        assert_eq!(watching["limits"], json!({"cooldown_s": 0, "max_per_meeting": 10, "spoken": 0}));
        assert_eq!(watching["next"], 3);
        assert!(watching["what_next"].as_str().unwrap().contains("wait_for_transcript"));
        let told = meeting.told();
        assert!(told.len() == 1 && told[0].contains("Claude") && told[0].contains("listening"), "{told:?}");
        assert_eq!(meeting.kinds(), ["joined", "spoke"]);
        assert!(matches!(&meeting.acts()[0], AssistantAct::Joined { notice } if *notice == told[0]));
        let signs = meeting.signs();
        assert_eq!(
            (signs.len(), &signs[0]["session"], &signs[0]["state"]),
            (1, &json!(ID), &json!("listening"))
        );
        assert_eq!(signs[0]["pid"], std::process::id());
        meeting.say(9_000, "Claude, this is new.");
        let again = client.answer("watch_meeting", &json!({"session": ID}));
        assert_eq!((&again["notice_spoken"], &again["next"]), (&json!(false), &json!(3)));
        assert_eq!(again["recent"], watching["recent"], "what is new is for the wait to tell");
        assert_eq!(meeting.told().len(), 1);
        let heard = client.answer("wait_for_transcript", &json!({}));
        assert_eq!(heard["lines"], json!(["[00:09] someone in the room: Claude, this is new."]));
    });
}

#[test]
fn without_its_notice_nobody_listens() {
    for name in ["Refusenik who must refuse", "Iris"] {
        let mut meeting = Meeting::begin();
        let is_refused = name.contains("refuse");
        if is_refused {
            meeting.set(&json!({"enabled": true, "name": name}));
        } else {
            std::fs::write(meeting.voice(), "exit 3").unwrap();
        }
        meeting.with_client(|meeting, client| {
            let why = client.failure("watch_meeting", &json!({}));
            assert!(why.contains("listening notice"), "{why}");
            assert!(why.contains(if is_refused { "no sound" } else { "status 3" }), "{why}");
            assert!(client.failure("wait_for_transcript", &json!({})).contains("Not watching"));
            assert!(client.failure("speak", &json!({"text": "Hello."})).contains("Not watching"));
            assert_eq!(meeting.signs(), [] as [serde_json::Value; 0]);
            let expected = if is_refused { &["joined", "failed", "left"][..] } else { &["failed"] };
            assert_eq!(meeting.kinds(), expected);
        });
    }
}

#[test]
fn the_voice_is_the_one_that_is_set_and_gets_the_arguments_of_the_server() {
    let meeting = Meeting::begin();
    let settings = json!({"assistant": {"enabled": true}, "voice": {
        "command": format!("sh '{}' --engine kokoro", meeting.voice().display())}});
    std::fs::write(meeting.settings(), settings.to_string()).unwrap();
    let assistant = ambient_mcp::Assistant::new(meeting.settings(), "/nowhere/voice".into(), vec![])
        .with_voice_arguments(vec!["--no-play".into()]);
    let server = Server::new(meeting.sessions.root()).with_assistant(&assistant);
    crate::conversation::converse(&server, |client| {
        client.answer("watch_meeting", &json!({}));
    });
    let started = std::fs::read_to_string(meeting.voice_file("started")).unwrap();
    assert_eq!(started, "--engine kokoro --no-play\n");
}

#[test]
fn a_voice_that_is_no_command_is_told() {
    let mut meeting = Meeting::begin();
    std::fs::write(meeting.settings(), r#"{"assistant":{"enabled":true},"voice":{"command":"say \"hi"}}"#)
        .unwrap();
    meeting.with_client(|_, client| {
        assert!(client.failure("watch_meeting", &json!({})).contains("voice.command"));
    });
}

#[test]
fn every_argument_is_checked_for_its_type() {
    let mut meeting = Meeting::begin();
    meeting.with_client(|meeting, client| {
        for (tool, arguments) in [
            ("watch_meeting", json!({"session": 5})),
            ("wait_for_transcript", json!({"timeout_s": "10"})),
            ("wait_for_transcript", json!({"timeout_s": -1})),
            ("wait_for_transcript", json!({"timeout_s": 1.5})),
            ("wait_for_transcript", json!({"since": true})),
            ("speak", json!({})),
            ("speak", json!({"text": 5})),
            ("speak", json!({"text": "Hello.", "emotion": 5})),
        ] {
            assert_eq!(error_code(&client.call(tool, &arguments)), -32602, "{tool} {arguments}");
        }
        assert_eq!(meeting.acts(), []);
    });
}

#[test]
fn a_meeting_that_is_left_can_be_watched_again_and_nothing_in_between_is_lost() {
    let mut meeting = Meeting::begin();
    meeting.with_client(|meeting, client| {
        client.answer("watch_meeting", &json!({}));
        meeting.say(1_000, "Claude?");
        client.answer("wait_for_transcript", &json!({}));
        client.answer("stop_watching", &json!({}));
        for number in 0..60 {
            meeting.say(2_000 + number, "In between.");
        }
        meeting.say(9_000, "And Claude is back.");
        let watching = client.answer("watch_meeting", &json!({}));
        assert_eq!((&watching["notice_spoken"], &watching["next"]), (&json!(true), &json!(1)));
        let heard = client.answer("wait_for_transcript", &json!({}));
        assert_eq!(heard["lines"].as_array().unwrap().len(), 61);
    });
    assert_eq!(meeting.kinds(), ["joined", "spoke", "left", "joined", "spoke", "left"]);
}

#[test]
fn another_meeting_is_watched_in_place_of_the_first() {
    let mut meeting = Meeting::begin();
    let later = NativeSession::begin(meeting.sessions.root(), "2026-09-05T1400", "2026-09-05T14:00:00+02:00");
    let _recording = later.hold(Work::Recording);
    meeting.with_client(|meeting, client| {
        assert_eq!(client.answer("watch_meeting", &json!({"session": ID}))["watching"], ID);
        let watching = client.answer("watch_meeting", &json!({}));
        assert_eq!(watching["watching"], "2026-09-05T1400");
        assert_eq!(watching["notice_spoken"], true);
        let left = meeting.acts().pop();
        assert_eq!(left, Some(AssistantAct::Left { why: "a new meeting was watched".to_owned(), spoke: 0 }));
    });
}

#[test]
fn the_prompt_names_the_assistant_as_it_is_set() {
    let mut meeting = Meeting::begin();
    meeting.set(&json!({"name": "Iris"}));
    meeting.with_client(|_, client| {
        let id =
            client.ask("prompts/get", &json!({"name": "watch", "arguments": {"focus": "Budget numbers."}}));
        let reply = client.reply(id);
        let text = reply["result"]["messages"][0]["content"]["text"].as_str().unwrap();
        assert!(text.contains("You are Iris") && text.ends_with("The user adds: Budget numbers."), "{text}");
        let id = client.ask("prompts/list", &json!({}));
        assert_eq!(client.reply(id)["result"]["prompts"][0]["name"], "watch");
        let id = client.ask("prompts/get", &json!({"name": "other"}));
        assert_eq!(error_code(&client.reply(id)), -32602);
    });
}

#[test]
fn stop_watching_is_never_an_error() {
    let mut meeting = Meeting::begin();
    meeting.with_client(|_, client| {
        let nothing = client.call("stop_watching", &json!({}));
        assert_eq!(answer(&nothing)["stopped_watching"], json!(null));
        assert!(answer(&nothing)["note"].is_string());
        client.answer("watch_meeting", &json!({}));
        assert_eq!(client.answer("stop_watching", &json!({})), json!({"stopped_watching": ID, "spoken": 0}));
        assert_eq!(client.answer("stop_watching", &json!({}))["stopped_watching"], json!(null));
    });
}

#[test]
fn every_answer_is_what_its_schema_says() {
    let mut meeting = Meeting::begin();
    let assistant = meeting.assistant();
    let root = meeting.sessions.root().to_owned();
    let server = Server::new(&root).with_assistant(&assistant).with_structured_content(true);
    crate::conversation::converse(&server, |client| {
        let mut check = |tool: &str, arguments: &serde_json::Value| {
            let reply = client.call(tool, arguments);
            assert_as_told(&server, tool, &reply);
            reply["result"]["structuredContent"].clone()
        };
        check("stop_watching", &json!({}));
        check("watch_meeting", &json!({}));
        check("speak", &json!({"text": "Hello."}));
        meeting.say(600_000, "Hello Claude.");
        check("wait_for_transcript", &json!({}));
        check("stop_watching", &json!({}));
        check("watch_meeting", &json!({}));
        meeting.stop_recording();
        assert_eq!(check("wait_for_transcript", &json!({}))["status"], "ended");
    });
}

#[test]
fn the_page_says_what_is_said_and_shows_the_keys_of_the_answers() {
    const PAGE: &str = include_str!("../../../../docs/using/assistant.md");
    let shown_after = |heading: &str| -> Vec<String> {
        let section = PAGE.split_once(heading).unwrap().1;
        let block = section.split_once("```json\n").unwrap().1.split_once("```").unwrap().0;
        let shown: serde_json::Value = serde_json::from_str(block).unwrap();
        shown.as_object().unwrap().keys().cloned().collect()
    };
    let mut meeting = Meeting::begin();
    meeting.set(&json!({"enabled": true, "cooldown_s": 0, "name": "Iris"}));
    meeting.with_client(|meeting, client| {
        let mut check = |tool: &str, arguments: &serde_json::Value| {
            let answer = client.answer(tool, arguments);
            let keys: Vec<_> = answer.as_object().unwrap().keys().cloned().collect();
            assert_eq!(keys, shown_after(&format!("### `{tool}`")), "{tool}");
        };
        check("watch_meeting", &json!({}));
        assert!(PAGE.contains(&meeting.told()[0]));
        meeting.say(600_000, "Iris, who tested the upgrade?");
        check("wait_for_transcript", &json!({}));
        check("speak", &json!({"text": "Dana tested it on Monday."}));
    });
}
