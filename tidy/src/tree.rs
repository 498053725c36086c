//! The files of the repository, as a newcomer's clone has them: no build output, nothing hidden but
//! `.ci`, `.cargo` and `.github`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

/// A text file of the repository.
#[derive(Debug, Clone)]
pub struct TextFile {
    /// Where it is, relative to the root of the repository, with `/` between the parts.
    pub path: String,
    /// All of its text.
    pub text: String,
}

/// The root of the repository, as Cargo names it when it runs a test. What it was when the test was built
/// does not count: two checkouts may share their build output.
pub fn root() -> PathBuf {
    let this_crate = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or(env!("CARGO_MANIFEST_DIR").into());
    Path::new(&this_crate).join("..")
}

/// All files whose bytes are UTF-8 text, sorted by path.
///
/// # Errors
///
/// When a folder or a file cannot be read.
pub fn text_files() -> Result<Vec<TextFile>> {
    let root = root();
    let mut files = Vec::new();
    collect(&root, "", &mut files)?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// The text files with this extension (`"rs"`, `"md"`): at least one, so that no rule passes for want of
/// files to look at.
///
/// # Errors
///
/// As [`text_files`], and when there is none.
pub fn files_with_extension(extension: &str) -> Result<Vec<TextFile>> {
    let mut files = text_files()?;
    files.retain(|file| Path::new(&file.path).extension().is_some_and(|found| found == extension));
    ensure!(!files.is_empty(), "the repository has no .{extension} file: the check itself is broken");
    Ok(files)
}

fn collect(folder: &Path, prefix: &str, files: &mut Vec<TextFile>) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    for entry in entries {
        let entry = entry.with_context(|| format!("cannot list {}", folder.display()))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        let kind = entry.file_type().with_context(|| format!("cannot look at {path}"))?;
        if kind.is_dir() && belongs(&name, prefix) {
            collect(&entry.path(), &format!("{path}/"), files)?;
        } else if kind.is_file() {
            let bytes = fs::read(entry.path()).with_context(|| format!("cannot read {path}"))?;
            if let Ok(text) = String::from_utf8(bytes) {
                files.push(TextFile { path, text });
            }
        }
    }
    Ok(())
}

fn belongs(folder_name: &str, prefix: &str) -> bool {
    let build_output = prefix.is_empty() && (folder_name == "target" || folder_name.starts_with("target-"));
    let hidden = folder_name.starts_with('.') && ![".ci", ".cargo", ".github"].contains(&folder_name);
    !build_output && !hidden
}
