//! An assistant in a meeting that is really being recorded: it says that it listens, hears people, is called by
//! its name, speaks in a pause, is interrupted, and leaves at the end. Its voice is the system's own, and
//! comes back in the call, as it does for whoever records a call.

use std::process::Command;
use std::time::Duration;

use ambient_engine::{AssistantAct, Event, Mapping, Reader};
use serde_json::{Value, json};

use crate::served::Served;
use crate::sound_system::{Studio, wait_until, with_one_retry};
use crate::{RECORD, live_over_mcp};

/// What the president calls those he speaks to, so that somebody does call the assistant.
const NAME: &str = "Americans";
/// Long enough to be talked into.
const LONG: &str = "The upgrade was tested on Monday and again on Wednesday. Nothing was found but a missing page in the \
manual. The release can go out this week, as soon as that page has been written and somebody has read it.";

/// Has the server hear until `is_enough` of what a wait answers; gives all that was heard.
fn hear_until(served: &mut Served, is_enough: impl Fn(&Value) -> bool) -> Vec<Value> {
    let mut heard = Vec::new();
    wait_until("enough is heard", || {
        let reply = served.answer("wait_for_transcript", &json!({"timeout_s": 4}));
        heard.push(reply);
        heard.last().is_some_and(&is_enough)
    });
    heard
}

fn texts(heard: &[Value], key: &str) -> String {
    let lists = heard.iter().filter_map(|reply| reply[key].as_array()).flatten();
    lists.map(|line| line.as_str().unwrap()).collect::<Vec<_>>().join(" ").to_lowercase()
}

fn with_path(mut command: Command) -> Command {
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command
}

fn has_left_out(reply: &Value) -> bool {
    reply["left_out"].is_array()
}

#[test]
fn an_assistant_sits_in_on_a_meeting_from_the_notice_to_the_end() {
    with_one_retry(sit_in);
}

fn sit_in() {
    let Some(studio) = Studio::open() else { return };
    let sandbox = &studio.sandbox;
    for (key, value) in [("enabled", "true"), ("name", NAME), ("cooldown_s", "0")] {
        sandbox.run(&["config", "set", &format!("assistant.{key}"), value]).expect(0);
    }
    let recorder = studio.start(&RECORD);
    wait_until("a session is live", || live_over_mcp(sandbox).is_some());
    let mut served = Served::start(with_path(studio.command(&["mcp"])));

    let watching = served.answer("watch_meeting", &json!({}));
    assert_eq!((&watching["you_are"], &watching["notice_spoken"]), (&json!(NAME), &json!(true)));
    let heard = hear_until(&mut served, has_left_out);
    assert!(texts(&heard, "left_out").contains("assistant"), "{heard:?}");
    assert_eq!(texts(&heard, "lines"), "", "the notice is no news");
    assert!(heard.iter().all(|reply| reply.get("named_you").is_none()), "nor is anybody called: {heard:?}");

    let players = [studio.play("room", "room_feed"), studio.play("call", "call_out")];
    let mut heard = hear_until(&mut served, |reply| reply["named_you"] == true);
    assert!(texts(&heard, "lines").contains("fellow americans"), "{heard:?}");
    for mut player in players {
        player.wait().unwrap();
    }

    let said = served.answer("speak", &json!({"text": "The release is on Thursday, and the page is ready."}));
    assert!(said["audio_s"].as_f64().unwrap() > 1.0, "{said}");
    let own = hear_until(&mut served, has_left_out);
    assert!(texts(&own, "left_out").contains("release"), "{own:?}");
    assert!(own.iter().all(|reply| reply.get("named_you").is_none()), "{own:?}");
    heard.extend(own);
    assert!(texts(&heard, "lines").contains("leisure to consider"), "the room is heard: {heard:?}");

    let speaking = served.call("speak", &json!({"text": LONG}));
    served.hear(|message| message["params"]["message"] == "speaking");
    // Whoever begins together with it is not told from its own voice coming back.
    std::thread::sleep(Duration::from_secs(3));
    let mut player = studio.play("room", "room_feed");
    let interrupted = served.reply(speaking);
    player.kill().unwrap();
    player.wait().unwrap();
    let why = interrupted["result"]["content"][0]["text"].as_str().unwrap();
    assert!(why.contains("somebody began to talk"), "{why}");

    studio.run(&["stop"]).expect(0);
    let last = hear_until(&mut served, |reply| reply["status"] != "live").pop().unwrap();
    assert_eq!(last["status"], "ended");
    served.end_input();
    served.expect_end();
    crate::sandbox::Run::from(recorder.wait_with_output().unwrap()).expect(0);
    let id = watching["watching"].as_str().unwrap();
    let mut reader = Reader::open(&sandbox.root().join(id), Mapping::On).unwrap();
    let events = reader.snapshot().unwrap().events().unwrap();
    let acts: Vec<_> = events
        .iter()
        .filter_map(|recorded| match &recorded.event {
            Event::Assistant(AssistantAct::Joined { .. }) => Some("joined"),
            Event::Assistant(AssistantAct::Began { .. }) => Some("began"),
            Event::Assistant(AssistantAct::Spoke { .. }) => Some("spoke"),
            Event::Assistant(AssistantAct::Failed { .. }) => Some("failed"),
            Event::Assistant(AssistantAct::Left { why, .. }) => {
                assert_eq!(why, "the meeting ended");
                Some("left")
            }
            _ => None,
        })
        .collect();
    assert_eq!(acts, ["joined", "spoke", "began", "spoke", "began", "failed", "left"]);
}
