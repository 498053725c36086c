//! Which crate may know which, where versions are written, and that each dependency has its reason.

use std::collections::BTreeSet;
use std::fs;

use ambient_tidy::manifest;
use ambient_tidy::tree;

/// Pairs (a crate, a crate it must not know), each with its reason.
const FORBIDDEN: &[(&str, &str, &str)] = &[
    ("ambient-engine", "ambient-capture", "the log knows no audio"),
    ("ambient-engine", "ambient-mcp", "the log knows no protocol"),
    ("ambient-engine", "ambient", "a library knows no front end"),
    ("ambient-mcp", "ambient-capture", "an assistant's server must not be able to record"),
    ("ambient-mcp", "ambient", "a library knows no front end"),
    ("ambient-capture", "ambient-mcp", "recording knows no protocol"),
    ("ambient-capture", "ambient", "a library knows no front end"),
];

/// Crates that only tests may depend on.
const FOR_TESTS_ALONE: &[&str] = &["loom", "proptest", "rmcp", "tokio"];

/// Crates that nothing a user builds may depend on.
const UNPUBLISHED: &[&str] = &["ambient-benches", "ambient-tidy"];

#[test]
fn crates_know_only_what_they_may() {
    let mut wrong = Vec::new();
    for dependency in manifest::dependencies().unwrap() {
        for (from, to, reason) in FORBIDDEN {
            if dependency.from == *from && dependency.to == *to {
                wrong.push(format!("{from} -> {to}: {reason}"));
            }
        }
        if FOR_TESTS_ALONE.contains(&dependency.to.as_str()) && !dependency.tests_only {
            wrong.push(format!("{} -> {}: for tests alone", dependency.from, dependency.to));
        }
        if UNPUBLISHED.contains(&dependency.to.as_str()) {
            wrong.push(format!("{} -> {}: not for users", dependency.from, dependency.to));
        }
    }
    assert!(wrong.is_empty(), "dependencies that must not be:\n{}", wrong.join("\n"));
}

#[test]
fn versions_are_written_in_the_root_table_alone() {
    let mut wrong = Vec::new();
    for file in tree::files_with_extension("toml").unwrap() {
        // The fuzz targets are a workspace of their own, which a user's build never sees.
        if !file.path.ends_with("/Cargo.toml") || file.path == "fuzz/Cargo.toml" {
            continue;
        }
        let mut in_dependencies = false;
        for line in file.text.lines() {
            if line.starts_with('[') {
                in_dependencies = line.contains("dependencies");
            } else if in_dependencies && line.contains('=') && !line.contains("workspace = true") {
                wrong.push(format!("{}: {line}", file.path));
            }
        }
    }
    assert!(wrong.is_empty(), "versions outside of the root table:\n{}", wrong.join("\n"));
}

#[test]
fn every_version_in_the_root_table_is_used() {
    let manifest = fs::read_to_string(tree::root().join("Cargo.toml")).unwrap();
    let table = manifest.split("[workspace.dependencies]").nth(1).unwrap().split("\n[").next().unwrap();
    let used: BTreeSet<String> =
        manifest::dependencies().unwrap().into_iter().map(|dependency| dependency.to).collect();
    let unused: Vec<&str> = table
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(" = "))
        .map(|(name, _)| name)
        .filter(|name| !used.contains(*name))
        .collect();
    assert!(unused.is_empty(), "in the root table, but used by no crate: {unused:?}");
}

#[test]
fn the_architecture_page_gives_a_reason_for_every_dependency_and_no_other() {
    let page = fs::read_to_string(tree::root().join("docs/design/ARCHITECTURE.md")).unwrap();
    let section = page.split("## Dependencies").nth(1).unwrap();
    let reasoned: BTreeSet<String> = section
        .lines()
        .filter_map(|row| row.strip_prefix("| `")?.split_once("` |"))
        .map(|(name, _)| name.to_owned())
        .collect();
    let used: BTreeSet<String> = manifest::dependencies()
        .unwrap()
        .into_iter()
        .map(|dependency| dependency.to)
        .filter(|name| !name.starts_with("ambient"))
        .collect();
    assert_eq!(used, reasoned, "crates depended upon (left) and rows of the table (right)");
}
