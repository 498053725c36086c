//! A voice that is a shell script, well-behaved and otherwise.

use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use super::*;

/// How long anything may take before a test gives up.
const PATIENCE: Duration = Duration::from_secs(60);

/// Answers every `say` with `answer`, in which `$id` is its id.
fn script(answer: &str) -> String {
    format!(
        r#"echo "loading"; echo '{{"event":"ready"}}'
        while read -r line; do
            case "$line" in *quit*) exit 0;; esac
            id=${{line#*'"id":'}}; id=${{id%%,*}}
            {answer}
        done"#
    )
}

const SPEAKS: &str = r#"
    echo "{\"event\":\"speaking\",\"id\":$id,\"first_audio_ms\":12}"
    echo "{\"event\":\"done\",\"id\":99,\"audio_s\":9}"
    echo "{\"event\":\"done\",\"id\":$id,\"audio_s\":0.5,\"total_ms\":600}""#;

fn voice(script: &str) -> Voice {
    let arguments = ["-c".into(), script.into()];
    Voice::new(VoiceCommand::new("/bin/sh".into(), arguments.to_vec()), Arc::default())
}

fn go_on() -> Option<&'static str> {
    None
}

fn say_on(_is_audible: bool) -> Option<&'static str> {
    None
}

fn failure(outcome: Result<Spoken, VoiceError<&'static str>>) -> String {
    match outcome {
        Err(VoiceError::Failed(why)) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_said_is_answered_by_its_own_id() {
    let mut voice = voice(&script(SPEAKS));
    voice.make_ready(go_on).unwrap();
    for _ in 0..3 {
        let spoken = voice.say("Hello.", "warm", say_on).unwrap();
        assert_eq!((spoken.first_audio_ms, spoken.audio_ms), (12, 500));
    }
}

#[test]
fn one_that_dies_in_the_middle_is_started_again_and_asked_once_more() {
    let scratch = tempfile::tempdir().unwrap();
    let count = scratch.path().join("count");
    let died_once =
        format!(r#"echo x >> "{0}"; [ $(wc -l < "{0}") -gt 1 ] || exit 7; {SPEAKS}"#, count.display());
    let mut voice = voice(&script(&died_once));
    assert_eq!(voice.say("Hello.", "warm", say_on).unwrap().audio_ms, 500);
    assert_eq!(fs::read_to_string(&count).unwrap().lines().count(), 2);
}

#[test]
fn what_it_says_it_cannot_do_is_believed_and_it_is_kept() {
    let refuses = r#"echo "{\"event\":\"error\",\"id\":$id,\"message\":\"no such tone, $$\"}""#;
    let mut voice = voice(&script(refuses));
    let first = failure(voice.say("Hello.", "warm", say_on));
    assert!(first.starts_with("no such tone"), "{first}");
    assert_eq!(failure(voice.say("Hello.", "warm", say_on)), first, "the same process");
}

#[test]
fn after_three_failures_in_a_row_it_is_left_alone() {
    let scratch = tempfile::tempdir().unwrap();
    let starts = scratch.path().join("starts");
    let mut dies = voice(&format!("echo x >> {}; exit 3", starts.display()));
    for _ in 0..3 {
        assert!(failure(dies.say("Hello.", "warm", say_on)).contains("status 3"));
    }
    assert_eq!(dies.say("Hello.", "warm", say_on), Err(VoiceError::GivenUp));
    assert_eq!(dies.make_ready(go_on), Err(VoiceError::GivenUp));
    assert_eq!(fs::read_to_string(&starts).unwrap().lines().count(), 6, "each time once more");
}

#[test]
fn a_success_forgets_earlier_failures() {
    let odd = format!(
        r#"if [ $((id % 2)) -eq 1 ]; then {{ {SPEAKS}
        }}; else echo "{{\"event\":\"error\",\"id\":$id}}"; fi"#
    );
    let mut voice = voice(&script(&odd));
    for _ in 0..4 {
        voice.say("Hello.", "warm", say_on).unwrap();
        failure(voice.say("Hello.", "warm", say_on));
    }
}

#[test]
fn a_program_that_is_not_there_or_never_gets_ready_is_a_failure_that_says_so() {
    let missing = VoiceCommand::parse("/nowhere/voice --loud").unwrap();
    let why = failure(Voice::new(missing, Arc::default()).say("Hello.", "warm", say_on));
    assert!(why.contains("/nowhere/voice"), "{why}");
    let why =
        failure(voice(r#"echo '{"event":"error","message":"no model"}'; read x"#).say("Hi.", "warm", say_on));
    assert_eq!(why, "no model");
}

/// Whether the process of this number is gone, within patience.
fn is_gone(pid: &Path) -> bool {
    let number = fs::read_to_string(pid).unwrap();
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        let number = Pid::from_raw(number.trim().parse().unwrap()).unwrap();
        if rustix::process::test_kill_process(number).is_err() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

use rustix::process::Pid;

#[test]
fn told_to_stop_it_is_silent_at_once_with_all_it_started_and_may_speak_again() {
    let scratch = tempfile::tempdir().unwrap();
    let player = scratch.path().join("player");
    // The first time a player makes sound that takes for ever.
    let plays = format!(
        r#"if [ -e "{0}" ]; then {{ {SPEAKS}
        }}; else sleep 600 & echo $! > "{0}.new"; mv "{0}.new" "{0}"; wait; fi"#,
        player.display()
    );
    let mut voice = voice(&script(&plays));
    let stop = |_| player.exists().then_some("the switch");
    assert_eq!(voice.say("Hello.", "warm", stop), Err(VoiceError::Stopped("the switch")));
    assert!(is_gone(&player));
    assert_eq!(voice.say("Hello.", "warm", say_on).unwrap().audio_ms, 500, "a stop is no failure");
}

#[test]
fn one_that_can_stop_by_itself_is_kept() {
    let scratch = tempfile::tempdir().unwrap();
    let begun = scratch.path().join("begun");
    let stops = format!(
        r#"case "$line" in *stop*) echo "{{\"event\":\"stopped\",\"id\":$last,\"audio_s\":1}}"; continue;; esac
        last=$id; echo "$$" >> "{0}""#,
        begun.display()
    );
    let mut voice = voice(&script(&stops));
    for utterances in 1..=3 {
        let stop = |_| {
            (fs::read_to_string(&begun).unwrap_or_default().lines().count() == utterances).then_some("enough")
        };
        assert_eq!(voice.say("Hello.", "warm", stop), Err(VoiceError::Stopped("enough")));
    }
    let pids = fs::read_to_string(&begun).unwrap();
    assert!(pids.lines().all(|pid| Some(pid) == pids.lines().next()), "the same process: {pids}");
}

#[test]
fn one_that_talks_without_end_of_something_else_is_stopped_all_the_same() {
    let floods = r#"while :; do echo "{\"event\":\"speaking\",\"id\":99,\"first_audio_ms\":1}"; done"#;
    let mut voice = voice(&script(floods));
    let asked = Cell::new(0);
    let stop = |is_audible: bool| {
        assert!(!is_audible, "what it says is about something else");
        asked.set(asked.get() + 1);
        (asked.get() > 200).then_some("enough")
    };
    assert_eq!(voice.say("Hello.", "warm", stop), Err(VoiceError::Stopped("enough")));
    assert!(voice.process.is_none(), "it was ended");
}

#[test]
fn whether_it_can_be_heard_is_known_meanwhile() {
    let waits = r#"echo "{\"event\":\"speaking\",\"id\":$id,\"first_audio_ms\":1}"; read -r line"#;
    let mut voice = voice(&script(waits));
    let stop = |is_audible: bool| is_audible.then_some("heard");
    assert_eq!(voice.say("Hello.", "warm", stop), Err(VoiceError::Stopped("heard")));
}

#[test]
fn asked_to_end_it_ends_and_one_that_does_not_is_made_to() {
    for ending in ["trap '' TERM; read line; exit 0", "trap '' TERM; while :; do sleep 600; done"] {
        let scratch = tempfile::tempdir().unwrap();
        let pid = scratch.path().join("pid");
        let endings = Arc::new(Endings::default());
        let text = format!(r#"echo $$ > "{}"; echo '{{"event":"ready"}}'; {ending}"#, pid.display());
        let command = VoiceCommand::new("/bin/sh".into(), vec!["-c".into(), text.into()]);
        let mut voice = Voice::new(command, Arc::clone(&endings));
        voice.make_ready(go_on).unwrap();
        drop(voice);
        endings.finish(Duration::from_millis(200));
        assert!(is_gone(&pid));
    }
}

#[test]
fn it_is_asked_at_every_step_whether_it_should_go_on() {
    let asked = Cell::new(0);
    let stop = || {
        asked.set(asked.get() + 1);
        (asked.get() > 2).then_some("enough")
    };
    assert_eq!(voice("read line").make_ready(stop), Err(VoiceError::Stopped("enough")));
}
