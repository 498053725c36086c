//! How a meeting is left: once, for the right reason, and with the last lines.

use ambient_engine::AssistantAct;
use serde_json::{Value, json};

use super::meeting::{Meeting, appears, eventually};
use crate::client::answer;

fn why(meeting: &Meeting) -> String {
    match meeting.acts().pop() {
        Some(AssistantAct::Left { why, .. }) => why,
        other => panic!("{other:?}"),
    }
}

fn lines(heard: &Value) -> usize {
    heard["lines"].as_array().unwrap().len()
}

#[test]
fn the_last_lines_come_with_the_end() {
    let mut meeting = Meeting::begin();
    meeting.with_client(|meeting, client| {
        client.answer("watch_meeting", &json!({}));
        let waiting = client.begin("wait_for_transcript", &json!({"timeout_s": 120}));
        meeting.say(1_000, "The last but one.");
        meeting.say(2_000, "The last word.");
        meeting.stop_recording();
        let heard = answer(&client.reply(waiting));
        assert_eq!((&heard["status"], lines(&heard), &heard["next"]), (&json!("ended"), 2, &json!(2)));
        assert_eq!(why(meeting), "the meeting ended");
        assert!(meeting.signs().is_empty());
        assert!(client.failure("wait_for_transcript", &json!({})).contains("Not watching"));
    });
    assert_eq!(meeting.kinds(), ["joined", "spoke", "left"]);
}

#[test]
fn a_meeting_that_ends_between_calls_is_left_and_its_last_lines_are_kept() {
    let mut meeting = Meeting::begin();
    meeting.with_client(|meeting, client| {
        client.answer("watch_meeting", &json!({}));
        meeting.say(1_000, "The last word.");
        meeting.stop_recording();
        eventually("it is left", || meeting.kinds().last() == Some(&"left"));
        let heard = client.answer("wait_for_transcript", &json!({}));
        assert_eq!((&heard["status"], lines(&heard)), (&json!("ended"), 1));
    });
}

#[test]
fn turned_off_a_wait_ends_with_what_was_said() {
    let mut meeting = Meeting::begin();
    meeting.with_client(|meeting, client| {
        client.answer("watch_meeting", &json!({}));
        let waiting = client.begin("wait_for_transcript", &json!({"timeout_s": 120}));
        meeting.say(1_000, "Turn it off.");
        meeting.turn_off();
        let heard = answer(&client.reply(waiting));
        assert_eq!((&heard["status"], lines(&heard)), (&json!("off"), 1));
        assert_eq!(why(meeting), "the assistant was turned off");
        assert!(client.failure("watch_meeting", &json!({})).contains("turned off"));
        // Turned on again it is as if it had never been there.
        meeting.set(&json!({"enabled": true}));
        assert_eq!(client.answer("watch_meeting", &json!({}))["notice_spoken"], true);
    });
}

#[test]
fn turned_off_between_calls_it_leaves_by_itself() {
    let mut meeting = Meeting::begin();
    meeting.with_client(|meeting, client| {
        client.answer("watch_meeting", &json!({}));
        meeting.turn_off();
        eventually("it leaves", || meeting.kinds().last() == Some(&"left"));
        eventually("it takes the sign back", || meeting.signs().is_empty());
    });
}

#[test]
fn stopped_while_a_wait_waits_both_are_answered() {
    let mut meeting = Meeting::begin();
    meeting.with_client(|meeting, client| {
        client.answer("watch_meeting", &json!({}));
        let waiting = client.begin("wait_for_transcript", &json!({"timeout_s": 120}));
        assert_eq!(client.answer("stop_watching", &json!({}))["spoken"], 0);
        let heard = client.reply(waiting);
        // Which of the two came first is open.
        assert!(
            heard.to_string().contains("stopped") || heard.to_string().contains("Not watching"),
            "{heard}"
        );
        assert_eq!(why(meeting), "the agent stopped watching");
    });
}

#[test]
fn when_the_server_ends_it_leaves_and_no_voice_outlives_it() {
    let mut meeting = Meeting::begin();
    meeting.with_client(|meeting, client| {
        client.answer("watch_meeting", &json!({}));
        client.begin("speak", &json!({"text": "This goes on forever."}));
        appears(&meeting.voice_file("pid"));
        client.end();
    });
    assert_eq!(why(&meeting), "the MCP server stopped");
    assert!(meeting.signs().is_empty());
    let pid = std::fs::read_to_string(meeting.voice_file("pid")).unwrap();
    let is_running =
        || std::process::Command::new("kill").args(["-0", pid.trim()]).output().unwrap().status.success();
    eventually("the voice is gone", || !is_running());
}
