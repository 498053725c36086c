//! Clients that others wrote drive the built server over pipes, as they do on a user's machine: the official
//! SDKs for Python, TypeScript (both generations) and Rust.
//!
//! All of them get one plan, and what each reports is held against one expectation. Beside that, what went
//! over the pipes is held against the protocol: one reply for each request, none for one that was taken back.
//!
//! The Python and Node.js packages are installed by `scripts/test`, pinned. Where they are not, the tests say
//! so and do nothing, unless `AMBIENT_REQUIRE_CLIENTS=1`.

// Clippy's allowance for tests reaches only the functions marked as such, not what they share.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod expectation;
mod plan;
mod programs;
mod rust_sdk;
mod stage;
mod wire;

use std::path::Path;
use std::process::Command;

use plan::Report;
use stage::Stage;

/// A script that drives the server, in this crate's sources.
fn script(path: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(path).to_str().unwrap().to_owned()
}

/// What a driver reports that runs as a program of its own.
fn report_of(command: &mut Command) -> Report {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed: {said}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

#[test]
fn the_python_sdk_is_served() {
    let Some(programs) = programs::find() else { return };
    let stage = Stage::new();
    let mut python = Command::new("python3");
    python.env("PYTHONPATH", programs.python_path());
    let report = report_of(python.arg(script("python/drive.py")).arg(stage.plan_file()));
    stage.assert_served("mcp", &report);
}

#[test]
fn both_generations_of_the_typescript_sdk_are_served() {
    let Some(programs) = programs::find() else { return };
    for generation in ["1", "2"] {
        let stage = Stage::new();
        let mut node = Command::new(programs.node());
        node.arg(script("typescript/drive.cjs")).arg(stage.plan_file());
        let report = report_of(node.arg(programs.node_modules()).arg(generation));
        stage.assert_served("drive", &report);
    }
}

#[test]
fn the_rust_sdk_is_served() {
    let stage = Stage::new();
    let report = rust_sdk::drive(&stage.plan());
    stage.assert_served("rmcp", &report);
}
