//! What every source file keeps to, so that a stranger finds the same house behind every door.

use ambient_tidy::tree::{self, TextFile};

/// The longest a source file may be: about one concept.
const MAX_LINES: usize = 600;

/// Files that may be longer, each with its reason.
const LONGER_FILES: &[(&str, &str)] = &[];

/// The only files where `unsafe` is allowed, each with its reason.
const UNSAFE_FILES: &[(&str, &str)] = &[
    ("benches/src/peer/lmdb.rs", "LMDB maps a file that others may write; only the benchmarks use it"),
    ("capture/src/recognizer/abort.rs", "whisper.cpp takes a function and a pointer to be stopped by"),
    ("engine/src/storage/mapped_page.rs", "atomics in a mapping that other processes write"),
];

/// Marks of work that was put off. An issue is the place for that.
const UNFINISHED_MARKS: &[&str] = &["TODO", "FIXME", "XXX", "HACK"];

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
fn no_file_names_a_folder_of_the_machine_it_was_written_on() {
    let mut folders = vec!["/root/".to_owned(), tree::root().canonicalize().unwrap().display().to_string()];
    folders.extend(std::env::var("HOME").ok().filter(|home| home.len() > 1).map(|home| home + "/"));
    let found = violations(&tree::text_files().unwrap(), |file, line| {
        !is_this_crate(file) && folders.iter().any(|folder| line.contains(folder))
    });
    assert_none("such a path helps nobody else", &found);
}

#[test]
fn no_file_hides_what_it_says() {
    let found = violations(&tree::text_files().unwrap(), |_, line| line.chars().any(is_hidden));
    assert_none("invisible letters, or letters that change the direction of a line: write \\u{...}", &found);
}

/// Zero-width letters and those that make a line read in another order than it runs.
fn is_hidden(letter: char) -> bool {
    let from_to = |first, last| (first..=last).contains(&letter);
    from_to('\u{200b}', '\u{200f}')
        || from_to('\u{202a}', '\u{202e}')
        || from_to('\u{2060}', '\u{206f}')
        || letter == '\u{feff}'
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
