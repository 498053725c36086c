//! `speak`: what may be said, how often, and what becomes of it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ambient_engine::AssistantAct;
use ambient_mcp::Server;
use serde_json::{Value, json};

use super::meeting::{Meeting, appears, eventually};
use crate::client::{answer, failure};
use crate::conversation::{Conversation, converse};

fn speak(client: &mut Conversation, text: &str) -> Value {
    client.call("speak", &json!({"text": text}))
}

fn may_speak(client: &mut Conversation) -> String {
    let heard = client.answer("wait_for_transcript", &json!({"timeout_s": 1}));
    heard["may_speak"].as_str().unwrap().to_owned()
}

#[test]
fn what_is_said_is_heard_counted_and_written_down() {
    let mut meeting = Meeting::begin();
    meeting.set(&json!({"enabled": true, "cooldown_s": 0, "max_per_meeting": 2}));
    meeting.with_client(|meeting, client| {
        client.answer("watch_meeting", &json!({}));
        let said = client.answer("speak", &json!({"text": "  It is Tuesday. ", "emotion": "warm"}));
        assert_eq!(said, json!({"said": "It is Tuesday.", "audio_s": 1.5, "may_still_speak": 1}));
        assert_eq!(meeting.told()[1], "It is Tuesday.");
        assert_eq!(meeting.kinds(), ["joined", "spoke", "began", "spoke"]);
        let spoke = meeting.acts().pop().unwrap();
        assert!(matches!(spoke, AssistantAct::Spoke { first_audio_ms: 5, audio_ms: 1500, emotion, .. } if emotion == "warm"));
        assert_eq!(may_speak(client), "yes");
        assert_eq!(answer(&speak(client, "Really."))["may_still_speak"], 0);
        assert!(failure(&speak(client, "Once more.")).contains("as often as one meeting allows"));
        assert!(may_speak(client).starts_with("not now: "));
        assert_eq!(meeting.told().len(), 3);
        // The limits are those of now, not of when it joined.
        meeting.set(&json!({"enabled": true, "cooldown_s": 1000, "max_per_meeting": 9}));
        assert!(failure(&speak(client, "Once more.")).contains("cooling down"));
        assert!(may_speak(client).contains("cooling down"));
    });
}

#[test]
fn what_cannot_be_said_reaches_no_voice_and_costs_nothing() {
    let mut meeting = Meeting::begin();
    meeting.with_client(|meeting, client| {
        client.answer("watch_meeting", &json!({}));
        assert!(failure(&speak(client, " \n ")).contains("Nothing to say"));
        assert!(failure(&speak(client, &"é".repeat(601))).contains("601"));
        let furious = client.failure("speak", &json!({"text": "Hello.", "emotion": "furious"}));
        assert!(furious.contains("furious") && furious.contains("concerned"), "{furious}");
        assert_eq!((meeting.told().len(), meeting.kinds()), (1, vec!["joined", "spoke"]));
        assert_eq!(answer(&speak(client, &"é".repeat(600)))["may_still_speak"], 9);
    });
}

#[test]
fn a_voice_that_fails_is_told_and_charged() {
    let mut meeting = Meeting::begin();
    meeting.set(&json!({"enabled": true, "cooldown_s": 0, "max_per_meeting": 4}));
    meeting.with_client(|meeting, client| {
        client.answer("watch_meeting", &json!({}));
        for _ in 0..3 {
            let why = failure(&speak(client, "I refuse.")).to_owned();
            assert!(why.starts_with("The voice failed") && why.contains("no sound"), "{why}");
        }
        assert!(failure(&speak(client, "Hello.")).contains("left alone"));
        let failed = meeting.acts().pop().unwrap();
        assert!(matches!(failed, AssistantAct::Failed { stage, text: Some(_), .. } if stage == "voice"));
        let watching = client.answer("watch_meeting", &json!({}));
        assert_eq!(watching["limits"]["spoken"], 3, "what was given up before it began is not charged");
    });
}

#[test]
fn limits_hold_across_watches_and_processes() {
    let mut meeting = Meeting::begin();
    meeting.set(&json!({"enabled": true, "cooldown_s": 1000}));
    meeting.with_client(|_, client| {
        client.answer("watch_meeting", &json!({}));
        answer(&speak(client, "Hello."));
        client.answer("stop_watching", &json!({}));
        assert_eq!(client.answer("watch_meeting", &json!({}))["limits"]["spoken"], 1);
        assert!(failure(&speak(client, "Hello.")).contains("cooling down"));
    });
    meeting.with_client(|_, client| {
        assert_eq!(client.answer("watch_meeting", &json!({}))["limits"]["spoken"], 1);
        assert!(failure(&speak(client, "Hello.")).contains("cooling down"));
    });
}

#[test]
fn of_many_that_speak_at_once_as_many_are_heard_as_may() {
    const SPEAKERS: usize = 4;
    let meeting = Meeting::begin();
    meeting.set(&json!({"enabled": true, "cooldown_s": 0, "max_per_meeting": 2}));
    let said = std::thread::scope(|scope| {
        let speakers: Vec<_> = (0..SPEAKERS)
            .map(|_| {
                scope.spawn(|| {
                    let assistant = meeting.assistant();
                    let server = Server::new(meeting.sessions.root()).with_assistant(&assistant);
                    converse(&server, |client| {
                        // A notice may meet another one; both are heard.
                        client.answer("watch_meeting", &json!({}));
                        let tries = (0..10).map(|_| speak(client, "Hello."));
                        tries.filter(|reply| reply["result"]["isError"] == false).count()
                    })
                })
            })
            .collect();
        speakers.into_iter().map(|speaker| speaker.join().unwrap()).sum::<usize>()
    });
    assert_eq!(said, 2);
    assert_eq!(meeting.kinds().iter().filter(|kind| **kind == "began").count(), 2);
}

#[test]
fn turned_off_it_stops_in_the_middle_and_leaves() {
    let mut meeting = Meeting::begin();
    meeting.with_client(|meeting, client| {
        client.answer("watch_meeting", &json!({}));
        let speaking = client.begin("speak", &json!({"text": "This goes on forever."}));
        appears(&meeting.voice_file("pid"));
        assert_eq!(meeting.signs()[0]["state"], "speaking");
        meeting.turn_off();
        let why = client.reply(speaking);
        assert!(failure(&why).contains("turned off"), "{why}");
        assert_eq!(meeting.kinds(), ["joined", "spoke", "began", "failed", "left"]);
        assert!(meeting.signs().is_empty());
        assert_eq!(client.answer("wait_for_transcript", &json!({}))["status"], "off");
    });
}

#[test]
fn cancelled_it_is_silent_and_may_speak_again() {
    let mut meeting = Meeting::begin();
    meeting.with_client(|meeting, client| {
        client.answer("watch_meeting", &json!({}));
        let speaking = client.begin("speak", &json!({"text": "This goes on forever."}));
        appears(&meeting.voice_file("pid"));
        assert!(failure(&speak(client, "Meanwhile.")).contains("speaking at this moment"));
        client.cancel(speaking);
        eventually("it is written down", || meeting.kinds().last() == Some(&"failed"));
        assert_eq!(answer(&speak(client, "Once more."))["may_still_speak"], 8);
    });
}

#[test]
fn nothing_is_said_in_a_meeting_that_is_over() {
    let mut meeting = Meeting::begin();
    meeting.with_client(|meeting, client| {
        client.answer("watch_meeting", &json!({}));
        meeting.stop_recording();
        assert!(failure(&speak(client, "Goodbye.")).contains("ended"));
        assert_eq!(meeting.told().len(), 1);
        assert_eq!(client.answer("wait_for_transcript", &json!({}))["status"], "ended");
    });
}

/// What `hold` gives, while levels of the room are published, each `step_ms` after the last.
fn with_levels<T>(meeting: &Meeting, step_ms: usize, room_db: f64, hold: impl FnOnce() -> T) -> T {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for at_ms in (1_000..).step_by(step_ms) {
                meeting.publish_levels(at_ms, room_db, -70.0);
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let outcome = hold();
        is_over.store(true, Ordering::Relaxed);
        outcome
    })
}

#[test]
fn while_people_talk_it_says_nothing_and_in_a_pause_it_speaks() {
    let mut meeting = Meeting::begin();
    meeting.with_client(|meeting, client| {
        client.answer("watch_meeting", &json!({}));
        let refused = with_levels(meeting, 2_000, -25.0, || speak(client, "Too late."));
        assert!(failure(&refused).contains("without a pause"), "{refused}");
        assert_eq!((meeting.told().len(), meeting.kinds()), (1, vec!["joined", "spoke"]), "it costs nothing");
        let said = with_levels(meeting, 200, -70.0, || answer(&speak(client, "It is Tuesday.")));
        assert_eq!((&said["said"], &said["may_still_speak"]), (&json!("It is Tuesday."), &json!(9)));
    });
}

#[test]
fn whoever_talks_into_it_is_let_talk() {
    let mut meeting = Meeting::begin();
    meeting.with_client(|meeting, client| {
        client.answer("watch_meeting", &json!({}));
        let speaking = client.begin("speak", &json!({"text": "This goes on forever."}));
        appears(&meeting.voice_file("pid"));
        meeting.say(0, "Said before it began.");
        meeting.say(600_000, "this goes on for ever");
        meeting.say(600_000, "Sorry, may I say something?");
        let why = client.reply(speaking);
        assert!(failure(&why).contains("somebody began to talk"), "{why}");
        assert_eq!(meeting.kinds(), ["joined", "spoke", "began", "failed"]);
        let heard = client.answer("wait_for_transcript", &json!({}));
        assert_eq!((&heard["may_speak"], &heard["next"]), (&json!("yes"), &json!(3)), "it stays and listens");
    });
}

#[test]
fn turned_off_while_it_waits_for_a_pause_it_says_nothing() {
    let mut meeting = Meeting::begin();
    meeting.with_client(|meeting, client| {
        client.answer("watch_meeting", &json!({}));
        let reply = with_levels(meeting, 1, -25.0, || {
            let speaking = client.ask(
                "tools/call",
                &json!({"name": "speak", "arguments": {"text": "Too late."}, "_meta": {"progressToken": 1}}),
            );
            client.hear(|message| message["params"]["message"] == "waiting for a pause");
            meeting.turn_off();
            client.reply(speaking)
        });
        assert!(failure(&reply).contains("turned off"), "{reply}");
        assert_eq!(meeting.kinds(), ["joined", "spoke", "left"], "nothing was begun");
    });
}
