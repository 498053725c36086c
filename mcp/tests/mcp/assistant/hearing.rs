//! `wait_for_transcript`: each line once, in time, and none lost.

use ambient_engine::{AssistantAct, Change, Track};
use serde_json::{Value, json};

use super::meeting::{Meeting, said};
use crate::native_session::edit;

fn wait(client: &mut crate::conversation::Conversation) -> Value {
    client.answer("wait_for_transcript", &json!({}))
}

#[test]
fn lines_are_gathered_until_the_talk_pauses_and_come_once() {
    let mut meeting = Meeting::begin();
    meeting.with_client(|meeting, client| {
        client.answer("watch_meeting", &json!({}));
        let waiting = client.begin("wait_for_transcript", &json!({}));
        meeting.say(1_000, "One.");
        meeting.say(2_000, "  ");
        meeting.append(&[said(Track::Call, 3_000, "Two.")]);
        let heard = crate::client::answer(&client.reply(waiting));
        let lines = ["[00:01] someone in the room: One.", "[00:03] someone on the call: Two."];
        let expected = json!({"status": "live", "lines": lines, "next": 3, "may_speak": "yes", "spoken": 0});
        assert_eq!(heard, expected);
        let nothing = client.answer("wait_for_transcript", &json!({"timeout_s": 1}));
        assert_eq!((&nothing["lines"], &nothing["next"]), (&json!([]), &json!(3)));
        let again = client.answer("wait_for_transcript", &json!({"since": 2, "timeout_s": 1}));
        assert_eq!((&again["lines"], &again["next"]), (&json!([lines[1]]), &json!(3)));
        let beyond = client.answer("wait_for_transcript", &json!({"since": 99, "timeout_s": 1}));
        assert_eq!((&beyond["lines"], &beyond["next"]), (&json!([]), &json!(3)));
    });
}

#[test]
fn a_wait_is_woken_when_it_is_spoken_to_and_others_are_answered_meanwhile() {
    let mut meeting = Meeting::begin();
    meeting.set(&json!({"enabled": true, "name": "Ambient Bot"}));
    meeting.with_client(|meeting, client| {
        client.answer("watch_meeting", &json!({}));
        let waiting = client.begin("wait_for_transcript", &json!({"timeout_s": 120}));
        let ping = client.ask("ping", &json!({}));
        assert_eq!(client.hear(|message| message["id"].is_u64())["id"], ping, "before the wait is over");
        assert_eq!(client.answer("status", &json!({}))["sessions"], 1);
        meeting.say(1_000, "What does the ambient bot think?");
        let heard = crate::client::answer(&client.reply(waiting));
        assert_eq!((&heard["named_you"], &heard["lines"].as_array().unwrap().len()), (&json!(true), &1));
    });
}

#[test]
fn a_line_that_was_hidden_is_passed_over() {
    let mut meeting = Meeting::begin();
    meeting.with_client(|meeting, client| {
        client.answer("watch_meeting", &json!({}));
        meeting.append(&[
            said(Track::Call, 1_000, "That is a good idea."),
            said(Track::Room, 1_100, "that is a good idea"),
            edit(1, Change::Hide { reason: "bleed".to_owned() }),
        ]);
        meeting.say(3_000, "Claude?");
        let heard = wait(client);
        let lines =
            ["[00:01] someone on the call: That is a good idea.", "[00:03] someone in the room: Claude?"];
        assert_eq!((&heard["lines"], &heard["next"]), (&json!(lines), &json!(3)));
    });
}

#[test]
fn what_reads_differently_since_it_was_handed_over_is_told_once() {
    let mut meeting = Meeting::begin();
    meeting.say(0, "Shall we begin?");
    meeting.with_client(|meeting, client| {
        client.answer("watch_meeting", &json!({}));
        let speaker = |name: &str| Change::Speaker { name: name.to_owned() };
        meeting.append(&[said(Track::Room, 1_000, "One."), said(Track::Room, 2_000, "Two.")]);
        meeting.append(&[said(Track::Room, 3_000, "Three."), edit(3, speaker("Ana"))]);
        let heard = wait(client);
        let lines =
            ["[00:01] someone in the room: One.", "[00:02] someone in the room: Two.", "[00:03] Ana: Three."];
        assert_eq!((&heard["lines"], &heard["changed"]), (&json!(lines), &Value::Null));
        meeting.append(&[
            edit(0, speaker("Bo")),
            edit(1, speaker("Bo")),
            edit(2, Change::Hide { reason: "private".to_owned() }),
        ]);
        meeting.append(&[said(Track::Room, 4_000, "Four."), said(Track::Room, 5_000, "Claude?")]);
        meeting.append(&[edit(4, speaker("Cy"))]);
        let heard = wait(client);
        let changed = ["[00:00] Bo: Shall we begin?", "[00:01] Bo: One.", "[00:02] taken out"];
        let lines = ["[00:04] Cy: Four.", "[00:05] someone in the room: Claude?"];
        assert_eq!((&heard["lines"], &heard["changed"]), (&json!(lines), &json!(changed)));
        let nothing = client.answer("wait_for_transcript", &json!({"timeout_s": 1}));
        assert_eq!((&nothing["lines"], &nothing["changed"]), (&json!([]), &Value::Null));
        meeting.append(&[edit(4, speaker("Di"))]);
        meeting.stop_recording();
        let last = wait(client);
        assert_eq!((&last["status"], &last["changed"]), (&json!("ended"), &json!(["[00:04] Di: Four."])));
    });
}

#[test]
fn what_the_loudspeaker_says_comes_once() {
    let mut meeting = Meeting::begin();
    meeting.with_client(|meeting, client| {
        client.answer("watch_meeting", &json!({}));
        meeting.append(&[said(Track::Room, 900_100, "that is a good idea")]);
        meeting.append(&[said(Track::Call, 900_000, "That is a good idea.")]);
        meeting.say(903_000, "Claude?");
        let heard = wait(client);
        let lines =
            ["[15:00] someone on the call: That is a good idea.", "[15:03] someone in the room: Claude?"];
        assert_eq!((&heard["lines"], &heard["next"]), (&json!(lines), &json!(3)));
    });
}

#[test]
fn what_a_cancelled_wait_had_gathered_comes_with_the_next() {
    let mut meeting = Meeting::begin();
    meeting.with_client(|meeting, client| {
        client.answer("watch_meeting", &json!({}));
        for number in 1..=3 {
            let waiting = client.begin("wait_for_transcript", &json!({}));
            meeting.say(1_000 * number, "Nobody is named.");
            client.cancel(waiting);
            // It has been dealt with by the time that this is answered.
            let ping = client.ask("ping", &json!({}));
            client.reply(ping);
        }
        meeting.say(9_000, "Claude?");
        let heard = wait(client);
        assert_eq!((heard["lines"].as_array().unwrap().len(), &heard["next"]), (4, &json!(4)));
    });
}

#[test]
fn at_the_end_of_the_input_a_wait_returns_what_it_holds() {
    let mut meeting = Meeting::begin();
    meeting.with_client(|meeting, client| {
        client.answer("watch_meeting", &json!({}));
        meeting.say(1_000, "Nobody is named.");
        let waiting = client.begin("wait_for_transcript", &json!({"timeout_s": 120}));
        client.end();
        let heard = crate::client::answer(&client.reply(waiting));
        assert_eq!(heard["lines"], json!(["[00:01] someone in the room: Nobody is named."]));
    });
}

#[test]
fn who_asks_for_it_is_told_that_the_wait_goes_on() {
    let mut meeting = Meeting::begin();
    meeting.with_client(|meeting, client| {
        client.answer("watch_meeting", &json!({}));
        let params = json!({"name": "wait_for_transcript", "_meta": {"progressToken": "mine"}});
        let waiting = client.ask("tools/call", &params);
        let progress = client.hear(|message| message["method"] == "notifications/progress");
        assert_eq!(
            (&progress["params"]["progressToken"], &progress["params"]["total"]),
            (&json!("mine"), &json!(30))
        );
        meeting.say(1_000, "Claude?");
        client.reply(waiting);
    });
}

/// The milliseconds in which something could be heard that the assistant said last.
fn audible(meeting: &Meeting) -> (u64, u64) {
    let acts = meeting.timed_acts();
    let began = acts.iter().rev().find(|(_, act)| matches!(act, AssistantAct::Began { .. })).unwrap().0;
    let spoke = acts.iter().rev().find(|(_, act)| matches!(act, AssistantAct::Spoke { .. })).unwrap().0;
    (began, spoke)
}

#[test]
fn its_own_voice_is_no_news_but_whoever_repeats_it_is() {
    const WORDS: &str = "That ticket was closed on Tuesday, so you can drop it.";
    let mut meeting = Meeting::begin();
    meeting.with_client(|meeting, client| {
        client.answer("watch_meeting", &json!({}));
        client.answer("speak", &json!({"text": WORDS}));
        let (began, spoke) = audible(meeting);
        meeting.say(began + (spoke - began) / 2, "that ticket was closed on Tuesday so you can drop it");
        meeting.say(spoke, "was the deploy ticket closed or not");
        meeting.say(spoke + 60_000, "So that ticket was closed on Tuesday, Claude?");
        let heard = wait(client);
        let lines: Vec<_> =
            heard["lines"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
        assert_eq!(lines.len(), 2, "{heard}");
        assert!(lines[0].ends_with("was the deploy ticket closed or not"));
        assert!(lines[1].ends_with("So that ticket was closed on Tuesday, Claude?"));
        assert_eq!(heard["left_out_as_your_own_voice"], 1);
        assert!(heard["left_out"][0].as_str().unwrap().ends_with("so you can drop it"), "{heard}");
        assert_eq!((&heard["named_you"], &heard["next"]), (&json!(true), &json!(3)));
    });
}

#[test]
fn the_notice_coming_back_names_nobody() {
    let mut meeting = Meeting::begin();
    meeting.with_client(|meeting, client| {
        client.answer("watch_meeting", &json!({}));
        let (spoke, _) = meeting.timed_acts().pop().unwrap();
        let notice = meeting.told().remove(0);
        meeting.say(spoke, &notice);
        // As if clocks had gone apart: too late to be an echo.
        meeting.say(spoke + 600_000, &notice);
        let heard = wait(client);
        assert_eq!(heard["left_out_as_your_own_voice"], 1);
        assert_eq!((heard["lines"].as_array().unwrap().len(), heard.get("named_you")), (1, None));
        for called in ["Claude, are you listening?", "Claude?"] {
            meeting.say(spoke, called);
            let heard = wait(client);
            assert_eq!((&heard["named_you"], heard.get("left_out")), (&json!(true), None), "{called}");
        }
    });
}
