//! `ambient mcp` as a process: what ends it, and that it ends well, whatever it was sent.

use std::fs;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::sandbox::{Sandbox, line};
use crate::served::Served;

fn start(sandbox: &Sandbox, options: &[&str]) -> Served {
    Served::start(sandbox.command(&[&["mcp"], options].concat()))
}

#[test]
fn a_signal_ends_a_server_that_waits_for_input_and_no_reply_is_cut() {
    for signal in [Signal::TERM, Signal::INT] {
        let served = start(&Sandbox::new(), &[]);
        served.signal(signal);
        // Its input is still open.
        assert_eq!(served.expect_end(), [json!(null); 0]);
    }
}

#[test]
fn a_server_whose_replies_nobody_reads_any_more_ends_though_its_input_stays_open() {
    let mut served = start(&Sandbox::new(), &[]);
    served.close_output();
    served.expect_end();
}

#[test]
fn what_was_asked_before_the_input_ended_is_answered() {
    let mut served = start(&Sandbox::new(), &[]);
    let ids: Vec<u64> = (0..200).map(|_| served.ask("ping", &json!({}))).collect();
    served.end_input();
    let answered: Vec<_> = served.expect_end().iter().map(|reply| reply["id"].as_u64().unwrap()).collect();
    assert_eq!(answered, ids);
}

/// The most memory a process has had, in KiB.
#[cfg(target_os = "linux")]
fn peak_memory_kib(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn a_line_of_64_mib_is_refused_without_being_held() {
    let mut served = start(&Sandbox::new(), &[]);
    let before_kib = peak_memory_kib(served.id());
    let piece = vec![b'a'; 1 << 20];
    served.send(br#"{"jsonrpc":"2.0","id":99,"method":"ping","params":{"text":""#);
    for _ in 0..64 {
        served.send(&piece);
    }
    served.send(b"\"}}\n");
    let refused = served.hear(|message| message.get("error").is_some());
    assert_eq!((&refused["error"]["code"], &refused["id"]), (&json!(-32600), &json!(null)));
    let grown_kib = peak_memory_kib(served.id()) - before_kib;
    assert!(grown_kib < 8 << 10, "grew by {grown_kib} KiB");
    let ping = served.ask("ping", &json!({}));
    assert_eq!(served.reply(ping)["result"], json!({}));
    served.end_input();
    assert_eq!(served.expect_end(), [json!(null); 0]);
}

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

/// A request, and what becomes of requests on bad lines: bytes changed, cut, doubled, or nothing but noise.
fn random_line(dice: &mut Dice) -> Vec<u8> {
    const SOUND: [&str; 6] = [
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"transcript","arguments":{"session":"2026-09-06T0900","since":0}}}"#,
        r#"{"jsonrpc":"2.0","id":"é\ud83d\ude00","method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#,
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2}]"#,
        r#"{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"wait_for_transcript"}}"#,
        r#"{"jsonrpc":"2.0","id":9,"method":"prompts/get","params":{"name":"watch","arguments":{"focus":[[[[]]]]}}}"#,
    ];
    let mut line = SOUND[dice.roll(SOUND.len())].as_bytes().to_vec();
    for _ in 0..dice.roll(4) {
        let at = dice.roll(line.len());
        match dice.roll(5) {
            0 => line[at] = u8::try_from(dice.roll(256)).unwrap(),
            1 => line.truncate(at + 1),
            2 => line.extend_from_within(at..),
            3 => drop(line.splice(at..at, vec![b'['; dice.roll(2_000)])),
            _ => line = (0..=dice.roll(300)).map(|_| u8::try_from(dice.roll(256)).unwrap()).collect(),
        }
    }
    line
}

#[test]
fn after_any_lines_it_answers_and_ends_well() {
    let sandbox = Sandbox::with_two_sessions();
    for seed in 0..4 {
        let (mut served, mut dice) = (start(&sandbox, &[]), Dice(seed));
        let lines: Vec<Vec<u8>> = (0..500).map(|_| random_line(&mut dice)).collect();
        let last = json!({"jsonrpc": "2.0", "id": "last", "method": "ping"}).to_string();
        let sending = served.send_all_beside([lines.join(&b'\n'), last.into_bytes()].join(&b'\n'));
        let replies = served.expect_end();
        sending.join().unwrap();
        let answered =
            replies.iter().filter(|reply| **reply == json!({"jsonrpc": "2.0", "id": "last", "result": {}}));
        assert_eq!(answered.count(), 1);
        for reply in replies.iter().flat_map(|reply| reply.as_array().cloned().unwrap_or(vec![reply.clone()]))
        {
            let code = reply["error"]["code"].as_i64();
            assert!(code.is_none_or(|code| !(-32099..=-32020).contains(&code)), "{reply}");
        }
    }
}

#[test]
fn it_takes_what_nobody_reads_for_the_end_in_the_middle_of_a_long_reply_too() {
    let sandbox = Sandbox::new();
    let lines: Vec<Value> = (0..20_000).map(|at| line("room", 1_000 * at, "What was said.")).collect();
    sandbox.session("2026-09-05T1412", "2026-09-05T14:12:03Z", &lines, &[]);
    let mut served = start(&sandbox, &["--structured"]);
    served.call("transcript", &json!({"session": "2026-09-05T1412"}));
    served.close_output();
    served.expect_end();
}
