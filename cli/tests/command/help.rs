//! Help, suggestions, completions: all from one definition.

use crate::sandbox::Sandbox;

/// Every verb and sub-verb.
const VERBS: &[&[&str]] = &[
    &[],
    &["record"],
    &["stop"],
    &["pause"],
    &["unpause"],
    &["status"],
    &["follow"],
    &["devices"],
    &["sweep"],
    &["transcribe"],
    &["resume"],
    &["sessions"],
    &["show"],
    &["export"],
    &["search"],
    &["name"],
    &["repair"],
    &["hide"],
    &["unhide"],
    &["undo"],
    &["redo"],
    &["edits"],
    &["why"],
    &["diff"],
    &["meta"],
    &["meta", "x", "name"],
    &["meta", "x", "notes"],
    &["meta", "x", "pinned"],
    &["meta", "x", "tag"],
    &["meta", "x", "untag"],
    &["import"],
    &["models"],
    &["models", "list"],
    &["models", "fetch"],
    &["models", "path"],
    &["models", "import"],
    &["models", "remove"],
    &["mcp"],
    &["config"],
    &["config", "get"],
    &["config", "set"],
    &["config", "list"],
    &["doctor"],
    &["completions"],
    &["version"],
];

#[test]
fn the_help_of_every_verb_shows_examples_of_that_verb() {
    let sandbox = Sandbox::new();
    for verb in VERBS {
        let run = sandbox.run(&[verb, &["--help"][..]].concat()).expect(0);
        let examples = run.stdout.split("Examples:\n").nth(1).expect("examples");
        let example = examples.lines().find(|line| line.starts_with("  ambient ")).expect("an example");
        let usage = run.stdout.find("Usage:").unwrap();
        assert!(run.stdout.find("Examples:").unwrap() < usage, "{}", run.stdout);
        let head = format!("ambient {}", verb.first().unwrap_or(&""));
        assert!(example.contains(head.trim_end()), "{example}");
    }
}

#[test]
fn an_example_of_the_help_is_understood() {
    // Each is parsed with --help at its end, so that nothing is done but everything before is looked at.
    let sandbox = Sandbox::new();
    for verb in VERBS {
        let help = sandbox.run(&[verb, &["--help"][..]].concat()).stdout;
        let lines = help.lines().filter_map(|line| line.strip_prefix("  ambient "));
        for example in lines.filter(|line| !line.contains(['$', '|', '>'])) {
            let words: Vec<&str> = example.split_whitespace().collect();
            let words: Vec<&str> = words.iter().map(|word| word.trim_matches('"')).collect();
            let quoted = example.contains('"');
            let run = sandbox.run(&[&words, &["--help"][..]].concat());
            assert!(run.code == 0 || quoted, "{example}: {run:?}");
        }
    }
}

#[test]
fn an_unknown_verb_is_an_error_with_a_suggestion() {
    let run = Sandbox::new().run(&["sesions"]).expect(2);
    assert!(run.stderr.contains("'sessions'"), "{}", run.stderr);
}

#[test]
fn no_verb_at_all_shows_help_and_is_an_error() {
    let run = Sandbox::new().run(&[]).expect(2);
    assert!(run.stderr.contains("Examples:"), "{}", run.stderr);
}

#[test]
fn wrong_usage_names_what_is_wrong() {
    let sandbox = Sandbox::new();
    let cases: &[(&[&str], &str)] = &[
        (&["show"], "<SESSION>"),
        (&["show", "x", "--since", "-1"], "--since"),
        (&["show", "x", "--json", "--plain"], "--plain"),
        (&["export", "x", "--format", "docx"], "markdown"),
        (&["record", "--for", "soon"], "1h30m"),
        (&["record", "--until", "25:00"], "17:00"),
        (&["record", "--mic", "none", "--system", "none"], "nothing to record"),
        (&["transcribe"], "--room"),
        (&["transcribe", "a.wav", "--room", "b.wav"], "--room"),
        (&["completions", "tcsh"], "bash"),
        (&["config", "set", "model"], "<VALUE>"),
    ];
    for (arguments, named) in cases {
        let run = sandbox.run(arguments).expect(2);
        assert!(run.stderr.contains(named), "{arguments:?}: {}", run.stderr);
    }
}

#[test]
fn completions_know_every_verb_in_every_shell() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = sandbox.run(&["completions", shell]).expect(0).stdout;
        for verb in VERBS.iter().filter_map(|verb| verb.last()) {
            assert!(script.contains(verb), "{shell} does not know {verb}");
        }
    }
}

#[test]
fn the_version_is_said_in_both_ways() {
    let sandbox = Sandbox::new();
    let version = format!("ambient {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(sandbox.run(&["version"]).expect(0).stdout, version);
    assert_eq!(sandbox.run(&["--version"]).expect(0).stdout, version);
}
