//! What changes when a person looks: colour and wrapping on a terminal, neither elsewhere.

use std::fs::{File, OpenOptions};
use std::io::Read as _;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use ambient_engine::rows::width;
use serde_json::Value;

use crate::sandbox::{Sandbox, line};

const COLUMNS: u16 = 60;

/// What the program prints on a terminal of 60 columns.
fn on_terminal(sandbox: &Sandbox, arguments: &[&str], variables: &[(&str, &str)]) -> String {
    on_terminal_of(COLUMNS, sandbox, arguments, variables)
}

fn on_terminal_of(columns: u16, sandbox: &Sandbox, arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&controller).unwrap();
    unlockpt(&controller).unwrap();
    let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&controller, size).unwrap();
    let name = ptsname(&controller, Vec::new()).unwrap().into_string().unwrap();
    let terminal = OpenOptions::new().read(true).write(true).open(name).unwrap();
    let mut command = sandbox.command(arguments);
    command.env("TERM", "xterm-256color").envs(variables.iter().copied());
    command.stdout(terminal.try_clone().unwrap()).stderr(terminal);
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut shown = Vec::new();
    // The last one to close the terminal ends the reading, with an error on Linux.
    let _ = File::from(controller).read_to_end(&mut shown);
    assert!(child.wait().unwrap().success());
    String::from_utf8(shown).unwrap().replace("\r\n", "\n")
}

#[test]
fn colour_is_for_terminals_and_for_those_who_want_it() {
    let sandbox = Sandbox::with_two_sessions();
    for verb in [&["show", "2026-09-05"][..], &["sessions"], &["config", "list"]] {
        assert!(on_terminal(&sandbox, verb, &[]).contains('\u{1b}'), "{verb:?}");
        assert!(on_terminal(&sandbox, verb, &[("NO_COLOR", "")]).contains('\u{1b}'), "{verb:?}");
        assert!(!on_terminal(&sandbox, verb, &[("NO_COLOR", "1")]).contains('\u{1b}'), "{verb:?}");
        assert!(!on_terminal(&sandbox, verb, &[("TERM", "dumb")]).contains('\u{1b}'), "{verb:?}");
        assert!(!sandbox.run(verb).stdout.contains('\u{1b}'), "{verb:?}");
    }
}

#[test]
fn text_is_wrapped_in_its_own_column() {
    let sandbox = Sandbox::new();
    let text = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen";
    sandbox.session("2026-09-05T1412", "2026-09-05T14:12:03Z", &[line("room", 0, text)], &[]);
    let shown = on_terminal(&sandbox, &["show", "latest"], &[("NO_COLOR", "1")]);
    let rows: Vec<&str> = shown.lines().collect();
    assert!(rows.len() > 1, "{shown}");
    assert!(rows.iter().all(|row| row.len() <= usize::from(COLUMNS)), "{shown}");
    let column = rows[0].find("one").unwrap();
    assert!(rows[1..].iter().all(|row| row.find(|c: char| c != ' ') == Some(column)), "{shown}");
    assert_eq!(sandbox.run(&["show", "latest"]).stdout.lines().count(), 1);
}

#[test]
fn a_narrow_terminal_gives_the_text_rows_of_its_own() {
    let sandbox = Sandbox::with_two_sessions();
    for columns in [20, 33] {
        let shown = on_terminal_of(columns, &sandbox, &["show", "2026-09-05"], &[("NO_COLOR", "1")]);
        assert!(shown.lines().all(|row| width(row) <= usize::from(columns)), "{shown}");
        let words: Vec<_> = shown.split_whitespace().collect();
        assert!(words.windows(3).any(|three| three == ["Yes.", "I", "pushed"]), "{shown}");
    }
}

#[test]
fn wide_and_right_to_left_names_leave_the_text_in_one_column() {
    let sandbox = Sandbox::new();
    let names = ["佐藤", "\u{5d3}\u{5e0}\u{5d4}", "Jose\u{301}", "Ann"];
    let lines: Vec<Value> = (0..4).map(|n| line("room", n * 1000, "begin of it")).collect();
    let edits: Vec<Value> = (0_u64..)
        .zip(names)
        .map(|(n, name)| {
            serde_json::json!({"kind": "speaker", "target": {"track": "room", "start_ms": n * 1000},
                "name": name, "by": "user", "at": "2026-09-05T15:00:00Z"})
        })
        .collect();
    sandbox.session("2026-09-05T1412", "2026-09-05T14:12:03Z", &lines, &edits);
    for shown in [
        sandbox.run(&["show", "latest"]).stdout,
        on_terminal(&sandbox, &["show", "latest"], &[("NO_COLOR", "1")]),
    ] {
        let columns: Vec<_> = shown.lines().map(|row| width(row.split("begin").next().unwrap())).collect();
        assert_eq!(columns.len(), 4);
        assert!(columns.windows(2).all(|two| two[0] == two[1]), "{shown}");
    }
}

#[test]
fn what_is_longer_than_the_terminal_goes_through_the_pager_that_is_named() {
    let sandbox = Sandbox::new();
    let lines: Vec<Value> = (0..30).map(|n| line("room", n * 1000, &format!("sentence {n}"))).collect();
    sandbox.session("2026-09-05T1412", "2026-09-05T14:12:03Z", &lines, &[]);
    let shown = |arguments: &[&str], variables: &[(&str, &str)]| on_terminal(&sandbox, arguments, variables);
    let path = ("PATH", "/usr/bin:/bin");
    let count = ("PAGER", "wc -l");
    assert_eq!(shown(&["show", "latest"], &[path, count]).trim(), "30");
    for (arguments, variables) in [
        (&["show", "latest", "--no-pager"][..], &[path, count][..]),
        (&["show", "latest", "--since", "10"], &[path, count]),
        (&["show", "latest"], &[path, ("PAGER", "")]),
        (&["show", "latest"], &[path, ("PAGER", "cat")]),
        (&["show", "latest"], &[path, ("PAGER", "no-such-program-at-all")]),
        (&["show", "latest"], &[path, count, ("TERM", "dumb")]),
        (&["show", "latest"], &[("PATH", "/nowhere"), count]),
    ] {
        let text = shown(arguments, variables);
        assert!(
            text.contains("sentence 15") && text.contains("sentence 29"),
            "{arguments:?} {variables:?}: {text}"
        );
    }
    // One that ends before it has read everything is what the person wanted.
    assert!(shown(&["show", "latest"], &[path, ("PAGER", "head -n 1")]).contains("sentence 0"));
    assert_eq!(sandbox.run(&["show", "latest"]).expect(0).stdout.lines().count(), 30, "a pipe is not paged");
}
