//! `ambient mcp` as a process: what ends it, and that it ends well.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// A server that was started and has answered once.
struct Served {
    process: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Served {
    fn start(sandbox: &Sandbox) -> Self {
        let mut command = sandbox.command(&["mcp"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let (stdin, stdout) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        let mut served = Self { process, stdin, stdout: BufReader::new(stdout) };
        served.ping(1);
        assert_eq!(served.hear()["id"], 1);
        served
    }

    fn ping(&mut self, id: u64) {
        writeln!(self.stdin, "{}", json!({"jsonrpc": "2.0", "id": id, "method": "ping"})).unwrap();
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.process.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }
}

/// Fails unless it ends with 0 and without a word of complaint.
fn expect_end(mut process: Child) {
    let mut stderr = String::new();
    process.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!((process.wait().unwrap().code(), stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_signal_ends_a_server_that_waits_for_input_and_no_reply_is_cut() {
    for signal in [Signal::TERM, Signal::INT] {
        let mut served = Served::start(&Sandbox::new());
        served.signal(signal);
        let mut rest = String::new();
        served.stdout.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "");
        expect_end(served.process);
    }
}

#[test]
fn a_server_whose_replies_nobody_reads_any_more_ends_though_its_input_stays_open() {
    let Served { process, stdin, stdout } = Served::start(&Sandbox::new());
    drop(stdout);
    expect_end(process);
    drop(stdin);
}

#[test]
fn what_was_asked_before_the_input_ended_is_answered() {
    let mut served = Served::start(&Sandbox::new());
    (2..200).for_each(|id| served.ping(id));
    let Served { process, stdin, stdout } = served;
    drop(stdin);
    let ids =
        stdout.lines().map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap()["id"].as_u64());
    assert!(ids.eq((2..200).map(Some)));
    expect_end(process);
}

/// The block of the page that follows `heading` in the given language.
fn shown_after(heading: &str, language: &str) -> &'static str {
    let page = include_str!("../../../docs/using/mcp.md");
    let section = page.split_once(heading).unwrap().1;
    section.split_once(&format!("```{language}\n")).unwrap().1.split_once("```").unwrap().0
}

#[test]
fn what_the_page_runs_in_a_shell_prints_what_the_page_shows() {
    let sandbox = Sandbox::new();
    let session = sandbox.root().join("2026-09-05T1412-roadmap-sync");
    std::fs::create_dir_all(&session).unwrap();
    let line = |track, start_ms, end_ms, text| {
        json!({"track": track, "start_ms": start_ms, "end_ms": end_ms, "text": text}).to_string() + "\n"
    };
    let raw = line("room", 0, 2900, "Shall we begin with the release?")
        + &line("room", 7400, 9600, "Who tested the upgrade?")
        + &line("call", 3200, 6800, "Yes. The last two fixes went in this morning.");
    let edit = json!({"kind": "speaker", "target": {"track": "call", "start_ms": 3200}, "name": "Priya",
        "by": "user", "at": "2026-09-05T15:00:00+02:00"});
    std::fs::write(session.join("raw.jsonl"), raw).unwrap();
    std::fs::write(session.join("edits.jsonl"), format!("{edit}\n")).unwrap();
    std::fs::write(session.join("transcript.md"), "").unwrap();
    let heading = "The same without a client";
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_ambient")).parent().unwrap();
    let mut shell = std::process::Command::new("/bin/sh");
    shell.args(["-c", shown_after(heading, "sh")]).env_clear();
    shell.env("PATH", program).env("HOME", sandbox.folder()).env("AMBIENT_HOME", sandbox.root());
    let output = shell.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), shown_after(heading, "text"));
}

/// The most memory that the process has ever had, in KiB.
#[cfg(target_os = "linux")]
fn peak_memory_kib(process: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn a_line_of_64_mib_is_refused_without_being_held() {
    let mut served = Served::start(&Sandbox::new());
    let before_kib = peak_memory_kib(&served.process);
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..64 {
        served.stdin.write_all(&piece).unwrap();
    }
    writeln!(served.stdin).unwrap();
    assert_eq!(served.hear()["error"]["code"], -32600);
    served.ping(2);
    assert_eq!(served.hear()["id"], 2, "the next line is answered as if nothing had happened");
    let grown_kib = peak_memory_kib(&served.process) - before_kib;
    assert!(grown_kib < 16 * 1024, "{grown_kib} KiB for a line that was refused");
    drop(served.stdin);
    expect_end(served.process);
}

#[test]
fn any_bytes_are_answered_with_protocol_and_end_with_0() {
    let Served { process, mut stdin, stdout } = Served::start(&Sandbox::new());
    let pieces: [&[u8]; 16] = [
        b"{\"jsonrpc\":\"2.0\"",
        b",\"id\":",
        b"1",
        b"\"method\":",
        b"\"tools/call\"",
        b"\"ping\"",
        b"}",
        b"[",
        b"]",
        b"\xff\xfe",
        b"\0",
        b"\xef\xbb\xbf",
        b"\r",
        b"1e999999",
        b"\"\\ud800\"",
        b",\"params\":{\"name\":\"transcript\"",
    ];
    let talking = std::thread::spawn(move || {
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        for _ in 0..5_000 {
            let mut line = Vec::new();
            for _ in 0..state % 9 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                line.extend_from_slice(pieces[usize::try_from(state >> 60).unwrap()]);
            }
            state =
                state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407) >> 1;
            line.push(b'\n');
            stdin.write_all(&line).unwrap();
        }
    });
    let replies: Vec<Value> =
        stdout.lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    talking.join().unwrap();
    assert!(replies.len() > 1_000, "{}", replies.len());
    for reply in replies.iter().flat_map(|reply| reply.as_array().cloned().unwrap_or(vec![reply.clone()])) {
        let code = reply["error"]["code"].as_i64();
        assert!(code.is_none_or(|code| !(-32099..=-32020).contains(&code)), "{reply}");
    }
    expect_end(process);
}
