//! `ambient search` by the built program.

use serde_json::json;

use crate::sandbox::Sandbox;

#[test]
fn hits_are_lines_with_session_number_time_and_speaker() {
    let sandbox = Sandbox::with_two_sessions();
    let run = sandbox.run(&["search", "SCHEMA", "change"]).expect(0);
    let row = "2026-09-05T1412-weekly-sync  2     00:03    Priya         Yes. I pushed the schema change on Friday.\n";
    assert_eq!(run.stdout, row);
    let found = sandbox.run(&["search", "schema change", "--json"]).expect(0).json();
    assert_eq!(found["more"], json!(false));
    assert_eq!(found["hits"][0]["line"], json!(2));
    assert_eq!(found["hits"][0]["places"], json!([[18, 31]]));
}

#[test]
fn what_is_narrowed_paged_or_not_there_is_said() {
    let sandbox = Sandbox::with_two_sessions();
    let run = sandbox.run(&["search", "a", "--limit", "1"]).expect(0);
    assert_eq!((run.stdout.lines().count(), run.stderr.as_str()), (1, "there is more: --skip 1\n"));
    let run = sandbox.run(&["search", "nowhere"]).expect(0);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", "nothing found\n"));
    let of_priya = sandbox.run(&["search", "a", "--speaker", "Priya"]).expect(0).stdout;
    assert_eq!(of_priya.lines().count(), 1);
    let later = sandbox.run(&["search", "l", "--since", "2026-09-06"]).expect(0).stdout;
    assert!(later.starts_with("2026-09-06T0900") && later.lines().count() == 1, "{later}");
    let beside = sandbox.run(&["search", "backfill", "-C", "1"]).expect(0).stdout;
    assert_eq!(beside.lines().count(), 3, "{beside}");
}

#[test]
fn nothing_typed_is_an_error_but_nothing_and_a_bad_expression() {
    let sandbox = Sandbox::with_two_sessions();
    for words in ["(", "\"", "a AND", "*", "foo:bar", "\\"] {
        sandbox.run(&["search", words]).expect(0);
    }
    sandbox.run(&["search"]).expect(2);
    sandbox.run(&["search", " "]).expect(2);
    assert!(sandbox.run(&["search", "(", "--regex"]).expect(2).stderr.contains("not a regular expression"));
    sandbox.run(&["search", "x", "--since", "soon"]).expect(2);
}

#[test]
fn a_session_that_cannot_be_read_is_named() {
    let sandbox = Sandbox::with_two_sessions();
    std::fs::write(sandbox.root().join("2026-09-06T0900/raw.jsonl"), "not json\n").unwrap();
    let run = sandbox.run(&["search", "migration"]);
    assert!(run.stdout.contains("migration"), "{run:?}");
}
