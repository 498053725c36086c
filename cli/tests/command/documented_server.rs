//! `docs/using/mcp.md` shows what the program really says: its commands are run again and its calls made
//! again, on the sessions of the page.

use std::fs;
use std::path::Path;
use std::process::Command;

use ambient_engine::session::{Directory, SessionDirectory, SessionId, Work, WorkLock};
use ambient_engine::{
    Captured, CapturedTrack, Change, Edit, Event, Finished, Line, Log, Opened, Options, Origin, Track,
};
use serde_json::{Value, json};

use crate::sandbox::Sandbox;
use crate::served::Served;

const PAGE: &str = include_str!("../../../docs/using/mcp.md");
const SHOWN_ROOT: &str = "/home/ana/Documents/Ambient";
const FINISHED: &str = "2026-09-05T1412-roadmap-sync";
const LIVE: &str = "2026-09-05T1608";

/// A session that has begun.
fn begin(root: &Path, id: &str, name: Option<&str>, started_at: &str) -> Log {
    fs::create_dir_all(root.join(id)).unwrap();
    let mut log = Log::create(&root.join(id), Options::default()).unwrap();
    let opened = Opened {
        id: id.to_owned(),
        name: name.map(str::to_owned),
        started_at: started_at.to_owned(),
        origin: Origin::Recorded,
        program: "a test".to_owned(),
        tracks: Vec::new(),
    };
    log.append(&[Event::Opened(opened)]).unwrap();
    log
}

fn heard(track: Track, start_ms: u64, end_ms: u64, text: &str) -> Event {
    Event::Line(Line {
        track,
        start_ms,
        end_ms,
        text: text.to_owned(),
        confidence: 0.75,
        language: None,
        generation: 0,
        audio: None,
        overlap: false,
    })
}

fn named(line: u64, name: &str) -> Event {
    let change = Change::Speaker { name: name.to_owned() };
    Event::Edit(Edit { line, by: Edit::PERSON.to_owned(), change })
}

/// The sessions of the page: one that is finished, and one that is being recorded for as long as what is
/// returned is kept.
fn sessions(sandbox: &Sandbox) -> (Log, WorkLock) {
    let root = sandbox.root();
    let mut finished = begin(&root, FINISHED, Some("Roadmap sync"), "2026-09-05T14:12:03+02:00");
    let track = |track| CapturedTrack {
        track,
        rate_hz: 48_000,
        channels: 1,
        samples: 1_184 * 48_000,
        silent_ms: 0,
        padded_ms: 0,
    };
    let ended_at = "2026-09-05T14:31:47+02:00".to_owned();
    let (captured, done) = (
        Captured {
            ended_at: ended_at.clone(),
            tracks: vec![track(Track::Room), track(Track::Call)],
            warnings: vec![],
        },
        Finished { at: ended_at, warnings: vec![] },
    );
    let lines = [
        heard(Track::Room, 0, 2900, "Shall we begin with the release?"),
        heard(Track::Room, 7400, 9600, "Who tested the upgrade?"),
        heard(Track::Call, 3200, 6800, "Yes. The last two fixes went in this morning."),
        named(2, "Priya"),
        Event::Captured(captured),
        Event::Finished(done),
    ];
    for event in lines {
        finished.append(&[event]).unwrap();
    }
    finished.close().unwrap();

    let live = begin(&root, LIVE, None, "2026-09-05T16:08:00+02:00");
    let track = json!({"track": "room", "captured_ms": 64_200, "silent_ms": 1_500, "padded_ms": 0,
        "done_ms": 62_100, "level_db": -30.5});
    let status = json!({"elapsed_ms": 64_200, "tracks": [track], "warnings": []});
    fs::write(root.join(LIVE).join("recording.json"), status.to_string()).unwrap();
    let directory = Directory::open(&root).unwrap();
    let session = SessionDirectory::open(&directory, &SessionId::new(LIVE).unwrap()).unwrap().unwrap();
    (live, WorkLock::hold(&session, Work::Recording).unwrap())
}

/// The contents of the blocks of this kind, in the order of the page.
fn blocks(kind: &str) -> Vec<&'static str> {
    let fence = format!("```{kind}\n");
    PAGE.split(&fence).skip(1).map(|rest| rest.split_once("```").unwrap().0).collect()
}

/// Runs `command` in a shell that finds the program; gives what it prints, with the folder of the page.
fn printed(sandbox: &Sandbox, command: &str) -> String {
    let folder = Path::new(env!("CARGO_BIN_EXE_ambient")).parent().unwrap();
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", command]).current_dir(sandbox.folder()).env_clear();
    shell.envs(sandbox.command(&[]).get_envs().filter_map(|(key, value)| Some((key, value?))));
    shell.env("PATH", format!("{}:/usr/bin:/bin", folder.display()));
    let output = shell.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    String::from_utf8(output.stdout).unwrap().replace(sandbox.root().to_str().unwrap(), SHOWN_ROOT)
}

#[test]
fn the_commands_of_the_page_print_what_it_shows() {
    let sandbox = Sandbox::new();
    let _held = sessions(&sandbox);
    let mut commands = 0;
    for shown in blocks("console").iter().flat_map(|block| block.split("$ ").skip(1)) {
        let (command, output) = shown.split_once('\n').unwrap();
        assert_eq!(printed(&sandbox, command), output, "{command}");
        commands += 1;
    }
    assert_eq!(commands, 3);
    let following = PAGE.split_once("The same without a client").unwrap().1;
    let (_, following) = following.split_once("```sh\n").unwrap();
    let (script, following) = following.split_once("```").unwrap();
    let output = following.split_once("```text\n").unwrap().1.split_once("```").unwrap().0;
    assert_eq!(printed(&sandbox, script), output);
}

/// `text` as it is compared: the page breaks lines, the program does not.
fn without_blanks(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_whitespace()).collect()
}

/// The calls that the page shows, each with what it answers.
fn calls() -> Vec<(&'static str, Value, &'static str)> {
    let parts = PAGE.split(" answers:\n\n```json\n").collect::<Vec<_>>();
    let ends = parts.iter().zip(&parts[1..]);
    let call = |(before, after): (&&'static str, &&'static str)| {
        let sentence = before.rsplit_once(" with `{").unwrap();
        let tool = sentence.0.rsplit('`').nth(1).unwrap();
        let arguments = format!("{{{}", sentence.1.strip_suffix('`').unwrap());
        let answer = after.split_once("```").unwrap().0;
        (tool, serde_json::from_str(&arguments).unwrap(), answer)
    };
    ends.map(call).collect()
}

#[test]
fn the_calls_of_the_page_are_answered_as_it_shows() {
    let sandbox = Sandbox::new();
    let _held = sessions(&sandbox);
    let mut served = Served::start(sandbox.command(&["mcp"]));
    let begun = served.answer("transcript", &json!({"session": FINISHED, "cursor": ""}));
    let mut log = Log::open(&sandbox.root().join(FINISHED), Options::default()).unwrap();
    let (calls, root) = (calls(), sandbox.root());
    let root = root.to_str().unwrap();
    assert_eq!(calls.len(), 6, "{calls:?}");
    for (tool, mut arguments, shown) in calls {
        if arguments["cursor"] == "…" {
            arguments["cursor"] = begun["cursor"].clone();
            log.append(&[named(1, "Ben")]).unwrap();
        }
        let mut answer = served.answer_text(tool, &arguments).replace(root, SHOWN_ROOT);
        let value: Value = serde_json::from_str(&answer).unwrap();
        if let Some(cursor) = value["cursor"].as_str() {
            answer = answer.replace(cursor, "…");
        }
        assert_eq!(without_blanks(shown), without_blanks(&answer), "{tool} {arguments}");
    }
}

#[test]
fn a_registration_of_the_page_starts_a_server_that_reads_the_folder_it_names() {
    let sandbox = Sandbox::new();
    let _held = sessions(&sandbox);
    let mut tried = 0;
    for block in blocks("json") {
        let Ok(file) = serde_json::from_str::<Value>(block) else { continue };
        let servers = ["mcpServers", "context_servers"].iter().find_map(|key| file.get(key));
        let Some(entry) = servers.map(|servers| &servers["ambient"]) else { continue };
        assert_eq!(entry["command"], "/path/to/ambient");
        let arguments: Vec<&str> =
            entry["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
        let mut command = sandbox.command(&arguments);
        let shares = entry["env"]["AMBIENT_HOME"].is_string();
        if shares {
            command.env("AMBIENT_HOME", sandbox.folder().join("shared"));
        }
        let mut served = Served::start(command);
        assert_eq!(served.answer("status", &json!({}))["sessions"], if shares { 0 } else { 2 });
        tried += 1;
    }
    assert_eq!(tried, 3);
    let table = blocks("toml").concat();
    assert!(table.contains("[mcp_servers.ambient]") && table.contains("args = [\"mcp\"]"));
}
