//! The voice helper, spoken to as the server speaks to it: with scripts in place of the system's programs,
//! so that what they do is known, and once with the real voice.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::{Value, json};

use crate::sandbox::{Run, Sandbox};

/// Longer than any machine takes.
const DEADLINE: Duration = Duration::from_secs(60);

/// Says each sentence as a tenth of a second of the same sound, and writes down that it did.
const VOICE: &str = r#"read -r sentence; echo "$sentence" >> "$HOME/made"
for path; do :; done; /bin/cp "$HOME/tone.wav" "$path""#;
/// Plays nothing, and does not come to an end.
const ENDLESS_PLAYER: &str = r#"echo $$ > "$HOME/playing.new"; /bin/mv "$HOME/playing.new" "$HOME/playing"
exec /bin/sleep 1000"#;
/// Is done at once, and writes down what it played.
const QUICK_PLAYER: &str = r#"echo "$0" >> "$HOME/played"; [ -s "$1" ]"#;
/// What a player says when its sound system does not run.
const FAILING_PLAYER: &str = "echo 'Connection refused' >&2; exit 1";

/// A sandbox whose PATH leads to these scripts and nothing else.
struct Scripted {
    sandbox: Sandbox,
    path: PathBuf,
}

impl Scripted {
    fn new(scripts: &[(&str, &str)]) -> Self {
        let sandbox = Sandbox::new();
        let path = sandbox.folder().join("bin");
        fs::create_dir(&path).unwrap();
        for (name, script) in scripts {
            let file = path.join(name);
            fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let scripted = Self { sandbox, path };
        fs::write(scripted.file("tone.wav"), tone()).unwrap();
        scripted
    }

    /// A file of the scripts' home.
    fn file(&self, name: &str) -> PathBuf {
        self.sandbox.folder().join("home").join(name)
    }

    /// The lines a script has written down, once there are `count`.
    fn written_down(&self, name: &str, count: usize) -> Vec<String> {
        for _ in 0..6_000 {
            let text = fs::read_to_string(self.file(name)).unwrap_or_default();
            if text.lines().count() >= count && text.ends_with('\n') {
                return text.lines().map(str::to_owned).collect();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("{name} never had {count} lines");
    }

    fn start(&self, options: &[&str]) -> Voice {
        Voice::start(&self.sandbox, options, self.path.to_str().unwrap())
    }
}

/// A tenth of a second, mono, 16 bit, 8 kHz: loud.
fn tone() -> Vec<u8> {
    let mut bytes =
        b"RIFF\x64\x06\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\x40\x06\0\0"
            .to_vec();
    bytes.extend((0..800_i16).flat_map(|number| ((number % 8 - 4) * 4_000).to_le_bytes()));
    bytes
}

/// A helper that runs.
struct Voice {
    child: Child,
    input: Option<ChildStdin>,
    events: Receiver<Value>,
}

impl Voice {
    fn start(sandbox: &Sandbox, options: &[&str], path: &str) -> Self {
        let mut command = sandbox.command(&[&["voice-helper"], options].concat());
        command.env("PATH", path).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        let (tell, events) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                let Ok(()) = tell.send(serde_json::from_str(&line.unwrap()).unwrap()) else { return };
            }
        });
        Self { child, input, events }
    }

    fn ask(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(format!("{line}\n").as_bytes()).and_then(|()| input.flush()).unwrap();
    }

    fn say(&mut self, id: u64, text: &str) {
        self.ask(&json!({"op": "say", "id": id, "text": text, "emotion": "warm"}).to_string());
    }

    /// The next event, which is of this kind.
    #[track_caller]
    fn expect(&self, kind: &str) -> Value {
        let event = self.events.recv_timeout(DEADLINE).expect("an event");
        assert_eq!(event["event"], kind, "{event}");
        event
    }

    /// Closes its input and waits for its end: how it ended, and what it told meanwhile.
    fn end(mut self) -> (Run, Vec<Value>) {
        self.input = None;
        let run = Run::from(self.child.wait_with_output().unwrap());
        (run, self.events.iter().collect())
    }
}

#[test]
fn a_text_is_said_sentence_by_sentence_and_kept_as_one_file() {
    let scripted = Scripted::new(&[("espeak-ng", VOICE), ("paplay", QUICK_PLAYER)]);
    let mut voice = scripted.start(&["--save-audio", "said"]);
    assert_eq!(voice.expect("ready"), json!({"event": "ready", "voice": "espeak-ng", "plays": true}));
    for (id, name) in [(7, "reply-1.wav"), (3, "reply-2.wav")] {
        voice.say(id, "One. Two? Three!");
        assert_eq!(voice.expect("speaking")["id"], id);
        let done = voice.expect("done");
        assert_eq!((&done["id"], &done["audio_s"]), (&json!(id), &json!(0.3)));
        let kept = fs::read(scripted.sandbox.folder().join("said").join(name)).unwrap();
        let samples = &tone()[44..];
        assert!(kept.ends_with(&samples.repeat(3)), "all sentences are in it, in order");
    }
    assert_eq!(scripted.written_down("made", 6), ["One.", "Two?", "Three!", "One.", "Two?", "Three!"]);
    assert_eq!(scripted.written_down("played", 6).len(), 6);
    let (run, rest) = voice.end();
    assert_eq!((run.code, rest), (0, vec![]));
}

#[test]
fn without_playing_no_player_is_needed() {
    let scripted = Scripted::new(&[("espeak-ng", VOICE)]);
    let mut voice = scripted.start(&["--no-play"]);
    assert_eq!(voice.expect("ready")["plays"], false);
    voice.say(1, "One. Two.");
    voice.expect("speaking");
    assert_eq!(voice.expect("done")["audio_s"], 0.2);
}

#[test]
fn while_one_sentence_is_heard_the_next_is_made_and_a_stop_silences_it_in_the_middle() {
    let scripted = Scripted::new(&[("espeak-ng", VOICE), ("paplay", ENDLESS_PLAYER)]);
    let mut voice = scripted.start(&[]);
    voice.expect("ready");
    voice.say(1, "One. Two. Three.");
    voice.expect("speaking");
    scripted.written_down("made", 2);
    let player: i32 = scripted.written_down("playing", 1)[0].parse().unwrap();
    voice.say(2, "Not now.");
    assert_eq!(voice.expect("error")["id"], 2, "one after the other");
    voice.ask(r#"{"op":"stop"}"#);
    let stopped = voice.expect("stopped");
    assert_eq!((&stopped["id"], &stopped["audio_s"]), (&json!(1), &json!(0.1)));
    assert!(test_kill_process(Pid::from_raw(player).unwrap()).is_err(), "the player has ended");
    assert_eq!(scripted.written_down("made", 2), ["One.", "Two."], "one ahead, no more");
    voice.ask(r#"{"op":"stop"}"#);
    voice.say(4, "Again.");
    assert_eq!(voice.expect("speaking")["id"], 4, "a stop when nothing is said is nothing");
    voice.ask(r#"{"op":"quit"}"#);
    assert_eq!(voice.expect("stopped")["id"], 4);
    assert_eq!(voice.end().0.code, 0);
}

#[test]
fn when_nobody_is_there_any_more_it_falls_silent_and_ends() {
    for end_by_signal in [false, true] {
        let scripted = Scripted::new(&[("espeak-ng", VOICE), ("paplay", ENDLESS_PLAYER)]);
        let mut voice = scripted.start(&[]);
        voice.expect("ready");
        voice.say(1, "One. Two.");
        let player: i32 = scripted.written_down("playing", 1)[0].parse().unwrap();
        if end_by_signal {
            kill_process(Pid::from_child(&voice.child), Signal::TERM).unwrap();
            assert_eq!(voice.child.wait().unwrap().code(), Some(130));
        }
        assert_eq!(voice.end().0.code, if end_by_signal { 130 } else { 0 });
        assert!(test_kill_process(Pid::from_raw(player).unwrap()).is_err(), "the player has ended");
    }
}

#[test]
fn a_reader_that_is_gone_ends_it_quietly() {
    let scripted = Scripted::new(&[("espeak-ng", VOICE)]);
    let mut command = scripted.sandbox.command(&["voice-helper", "--no-play"]);
    command.env("PATH", &scripted.path).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    // Whichever comes first, its word that it is ready or this line, finds nobody who reads.
    let _ = child.stdin.as_mut().unwrap().write_all(b"{\"op\":\"say\",\"id\":1,\"text\":\"One.\"}\n");
    let run = Run::from(child.wait_with_output().unwrap());
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run:?}");
}

#[test]
fn what_cannot_be_understood_costs_that_line_alone() {
    let scripted = Scripted::new(&[("espeak-ng", VOICE)]);
    let mut voice = scripted.start(&["--no-play"]);
    voice.expect("ready");
    for (line, id) in [
        ("not JSON", json!(null)),
        ("[1]", json!(null)),
        (r#"{"op":"sing","id":5}"#, json!(5)),
        (r#"{"op":"say","id":6,"text":""}"#, json!(6)),
        (r#"{"op":"say","id":6,"text":"x","emotion":"furious"}"#, json!(6)),
        (&format!(r#"{{"op":"say","id":1,"text":"{}"}}"#, "x".repeat(1 << 20)), json!(null)),
    ] {
        voice.ask(line);
        assert_eq!(voice.expect("error")["id"], id);
    }
    voice.say(8, "Still here.");
    voice.expect("speaking");
    assert_eq!(voice.expect("done")["id"], 8);
}

#[test]
fn what_a_program_says_when_it_fails_is_passed_on_and_the_next_text_may_come() {
    let failing = format!(
        "read -r text\n[ \"$text\" != bad ] || {{ {FAILING_PLAYER}\n}}\necho \"$text\" | {{ {VOICE}\n}}"
    );
    let scripted = Scripted::new(&[("espeak-ng", &failing)]);
    let mut voice = scripted.start(&["--no-play"]);
    voice.expect("ready");
    voice.say(1, "bad");
    let error = voice.expect("error");
    assert_eq!(error["id"], 1);
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("espeak-ng") && message.contains("Connection refused"), "{message}");
    voice.say(2, "good");
    voice.expect("speaking");
    voice.expect("done");
}

#[test]
fn a_player_that_fails_gives_way_to_the_next_until_none_is_left() {
    let voice_and =
        |last| Scripted::new(&[("espeak-ng", VOICE), ("pw-play", FAILING_PLAYER), ("aplay", last)]);
    let scripted = voice_and("echo $2 >> \"$HOME/played\"");
    let mut voice = scripted.start(&[]);
    voice.expect("ready");
    voice.say(1, "One. Two.");
    voice.expect("speaking");
    voice.expect("done");
    assert_eq!(scripted.written_down("played", 2).len(), 2, "no sentence is lost on the way");

    let scripted = voice_and(FAILING_PLAYER);
    let mut voice = scripted.start(&[]);
    voice.expect("ready");
    voice.say(1, "One.");
    voice.expect("speaking");
    let message = voice.expect("error")["message"].as_str().unwrap().to_owned();
    assert!(message.contains("could not be played") && message.contains("Connection refused"), "{message}");
}

#[test]
fn a_missing_voice_or_player_is_told_to_program_and_person_with_what_to_install() {
    for (scripts, named) in [
        (&[][..], "apt-get install espeak-ng"),
        (&[("espeak-ng", VOICE)][..], "apt-get install pulseaudio-utils"),
    ] {
        let (run, told) = Scripted::new(scripts).start(&[]).end();
        assert_eq!((run.code, told.len()), (3, 1), "{run:?}");
        assert_eq!((&told[0]["event"], &told[0]["id"]), (&json!("error"), &json!(null)));
        assert!(told[0]["message"].as_str().unwrap().contains(named), "{told:?}");
        assert!(run.stderr.contains(named), "{}", run.stderr);
    }
}

#[test]
fn the_real_voice_says_the_notice_and_it_can_be_heard() {
    let path = std::env::var("PATH").unwrap_or_default();
    let is_here = std::env::split_paths(&path).any(|folder| folder.join("espeak-ng").is_file());
    if !is_here {
        assert!(std::env::var_os("AMBIENT_REQUIRE_TOOLS").is_none_or(|value| value != "1"), "no espeak-ng");
        println!("nothing was tested: espeak-ng is not on PATH");
        return;
    }
    let sandbox = Sandbox::new();
    let mut voice = Voice::start(&sandbox, &["--no-play", "--save-audio", "said"], &path);
    voice.expect("ready");
    voice.say(1, "Hello, everyone. An AI assistant called Ambient is listening, and may speak up.");
    voice.expect("speaking");
    let done = voice.expect("done");
    let audio_s = done["audio_s"].as_f64().unwrap();
    assert!((2.0..20.0).contains(&audio_s), "{done}");
    assert_is_speech(&sandbox.folder().join("said/reply-1.wav"), audio_s);
}

/// Loud enough, and neither one tone nor one step.
fn assert_is_speech(path: &Path, audio_s: f64) {
    let mut reader = ambient_capture::audio::NativeReader::open(path).unwrap();
    let count = reader.samples().unwrap();
    let lasts_s = f64::from(u32::try_from(count).unwrap()) / f64::from(reader.rate_hz());
    assert!((lasts_s - audio_s).abs() < 0.01, "{lasts_s} s in the file");
    let mut samples = Vec::new();
    reader.read(0, usize::try_from(count).unwrap(), &mut samples).unwrap();
    let loud = samples.iter().filter(|sample| sample.abs() > 0.02).count();
    assert!(loud * 10 > samples.len(), "{loud} of {} samples are loud", samples.len());
    let mut levels: Vec<String> = samples.iter().map(|sample| format!("{sample:.3}")).collect();
    levels.sort_unstable();
    levels.dedup();
    assert!(levels.len() > 100, "speech has many levels");
}
