//! Tells the program which compiler made it, because a figure means little without that.

use std::process::Command;

fn main() {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc)
        .arg("--version")
        .output()
        .ok()
        .and_then(|output| String::from_utf8(output.stdout).ok())
        .unwrap_or_default();
    println!("cargo::rustc-env=AMBIENT_BENCHES_RUSTC={}", version.trim());
    println!("cargo::rerun-if-changed=build.rs");
}
