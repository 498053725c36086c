//! What the crates of the workspace depend on, as Cargo itself reads their manifests.

use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::tree;

/// One dependency of one crate of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependency {
    /// The crate whose manifest names it.
    pub from: String,
    /// The crate it names.
    pub to: String,
    /// Whether only tests use it.
    pub tests_only: bool,
}

/// The dependencies of every crate of the workspace, its own crates included: never empty.
///
/// # Errors
///
/// When `cargo metadata` fails, answers in an unknown shape, or names no dependency.
pub fn dependencies() -> Result<Vec<Dependency>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--offline", "--locked", "--format-version", "1"])
        .current_dir(tree::root())
        .output()
        .context("cannot run cargo metadata")?;
    if !output.status.success() {
        bail!("cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).context("cargo metadata is not JSON")?;
    let mut dependencies = Vec::new();
    for package in array(&metadata, "packages")? {
        for dependency in array(package, "dependencies")? {
            dependencies.push(Dependency {
                from: text(package, "name")?,
                to: text(dependency, "name")?,
                tests_only: dependency["kind"] == "dev",
            });
        }
    }
    ensure!(!dependencies.is_empty(), "cargo metadata names no dependency: the check itself is broken");
    Ok(dependencies)
}

fn array<'a>(value: &'a Value, key: &str) -> Result<&'a Vec<Value>> {
    value[key].as_array().with_context(|| format!("cargo metadata has no list {key:?}"))
}

fn text(value: &Value, key: &str) -> Result<String> {
    Ok(value[key].as_str().with_context(|| format!("cargo metadata has no text {key:?}"))?.to_owned())
}
