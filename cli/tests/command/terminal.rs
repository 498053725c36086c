//! What changes when a person looks: colour and wrapping on a terminal, neither elsewhere.

use std::fs::{File, OpenOptions};
use std::io::Read as _;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::sandbox::{Sandbox, line};

const COLUMNS: u16 = 60;

/// What the program prints on a terminal of 60 columns.
fn on_terminal(sandbox: &Sandbox, arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&controller).unwrap();
    unlockpt(&controller).unwrap();
    let size = Winsize { ws_row: 24, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 };
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
