//! What every source file keeps to, so that a stranger finds the same house behind every door.

use ambient_tidy::tree::{self, TextFile};

/// The longest a source file may be: about one concept.
const MAX_LINES: usize = 600;

/// Files that may be longer, each with its reason.
const LONGER_FILES: &[(&str, &str)] = &[];

/// The only files where `unsafe` is allowed, each with its reason.
const UNSAFE_FILES: &[(&str, &str)] = &[];

/// Marks of work that was put off. An issue is the place for that.
const UNFINISHED_MARKS: &[&str] = &["TODO", "FIXME", "XXX", "HACK"];

/// Names of machines' own folders: a path that only exists where it was written helps nobody.
const MACHINE_PATHS: &[&str] = &["/home/", "/root/", "/Users/", "C:\\Users"];

fn violations(files: &[TextFile], breaks_rule: impl Fn(&TextFile, &str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for file in files {
        for (index, line) in file.text.lines().enumerate() {
            if breaks_rule(file, line) {
                found.push(format!("{}:{}: {}", file.path, index + 1, line.trim()));
            }
        }
    }
    found
}

fn assert_none(rule: &str, found: &[String]) {
    assert!(found.is_empty(), "{rule}:\n{}", found.join("\n"));
}

fn is_this_crate(file: &TextFile) -> bool {
    file.path.starts_with("tidy/")
}

fn is_test(file: &TextFile) -> bool {
    file.path.contains("/tests/")
}

#[test]
fn every_source_file_says_at_its_top_what_it_keeps_and_why() {
    let silent: Vec<String> = tree::files_with_extension("rs")
        .unwrap()
        .into_iter()
        .filter(|file| !file.text.trim_start().starts_with("//!"))
        .map(|file| file.path)
        .collect();
    assert_none("these files do not begin with a //! header", &silent);
}

#[test]
fn no_source_file_is_long_without_a_reason() {
    let mut wrong = Vec::new();
    for file in tree::files_with_extension("rs").unwrap() {
        let lines = file.text.lines().count();
        let listed = LONGER_FILES.iter().any(|(path, _)| *path == file.path);
        if lines > MAX_LINES && !listed {
            wrong.push(format!("{}: {lines} lines, more than {MAX_LINES}", file.path));
        } else if lines <= MAX_LINES && listed {
            wrong.push(format!("{}: short again; take it off the list", file.path));
        }
    }
    assert_none("one file, one concept", &wrong);
}

#[test]
fn unsafe_code_is_allowed_in_the_listed_files_alone() {
    let mut allowed: Vec<String> = tree::files_with_extension("rs")
        .unwrap()
        .into_iter()
        .filter(|file| !is_this_crate(file) && file.text.contains("allow(unsafe_code"))
        .map(|file| file.path)
        .collect();
    allowed.sort();
    let mut listed: Vec<&str> = UNSAFE_FILES.iter().map(|(path, _)| *path).collect();
    listed.sort_unstable();
    assert_eq!(allowed, listed, "files that allow unsafe code (left) and the list with reasons (right)");
}

#[test]
fn nothing_is_marked_as_unfinished() {
    let found = violations(&tree::files_with_extension("rs").unwrap(), |file, line| {
        let marked = line
            .split(|letter: char| !letter.is_ascii_alphanumeric())
            .any(|word| UNFINISHED_MARKS.contains(&word));
        !is_this_crate(file) && (marked || line.contains("#[ignore]"))
    });
    assert_none("finish it, or file an issue; an ignored test says why: #[ignore = \"...\"]", &found);
}

#[test]
fn no_file_names_a_folder_of_one_machine() {
    let found = violations(&tree::text_files().unwrap(), |file, line| {
        !is_this_crate(file) && MACHINE_PATHS.iter().any(|path| line.contains(path))
    });
    assert_none("a path of one machine", &found);
}

#[test]
fn source_text_is_ascii_outside_of_tests() {
    // Tests hold every script there is; elsewhere a look-alike letter or an invisible one only hides things.
    let mut found = Vec::new();
    for file in tree::files_with_extension("rs").unwrap().iter().filter(|file| !is_test(file)) {
        let code = file.text.split("#[cfg(test)]").next().unwrap_or_default();
        for (index, line) in code.lines().enumerate().filter(|(_, line)| !line.is_ascii()) {
            found.push(format!("{}:{}: {}", file.path, index + 1, line.trim()));
        }
    }
    assert_none("write \\u{...} in strings and plain words in comments", &found);
}

#[test]
fn every_text_file_has_plain_line_ends() {
    let mut wrong = Vec::new();
    for file in tree::text_files().unwrap() {
        let of_ours = ["rs", "toml", "md"].iter().any(|end| file.path.ends_with(&format!(".{end}")));
        if of_ours && (file.text.contains('\r') || !file.text.ends_with('\n')) {
            wrong.push(file.path);
        }
    }
    assert_none("lines end with \\n, the last one too", &wrong);
}
