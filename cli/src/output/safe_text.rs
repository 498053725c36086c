//! Text of others, made harmless for a terminal.
//!
//! Terminals obey control characters, and some directional marks make text read as something else than it
//! is. They are shown as escapes instead: nothing is hidden, nothing is obeyed.

use std::fmt::Write as _;

/// Whether a terminal would act on `character` instead of showing it.
fn is_obeyed(character: char) -> bool {
    character.is_control() || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn escape_unless(text: &str, keep: impl Fn(char) -> Option<char>) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match keep(character) {
            Some(kept) => safe.push(kept),
            None if is_obeyed(character) => safe.extend(character.escape_unicode()),
            None => safe.push(character),
        }
    }
    safe
}

/// `text` on one line: line ends and tabs become blanks, other control characters are shown as escapes.
pub(crate) fn one_line(text: &str) -> String {
    let is_gap = |character| matches!(character, '\n' | '\r' | '\t' | '\u{85}' | '\u{2028}' | '\u{2029}');
    escape_unless(text, |character| is_gap(character).then_some(' '))
}

/// `text` with its lines and tabs; other control characters are shown as escapes.
pub(super) fn escape_controls(text: &str) -> String {
    escape_unless(text, |character| matches!(character, '\n' | '\t').then_some(character))
}

/// JSON with the control characters escaped that JSON itself allows: DEL and those from U+0080 to U+009F.
/// It means the same.
pub(super) fn escape_json_controls(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for character in json.chars() {
        if is_obeyed(character) && character != '\n' {
            let _ = write!(safe, "\\u{:04x}", u32::from(character));
        } else {
            safe.push(character);
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "a\x1b]0;owned\x07b\u{9b}2Jc\x7fd\u{202e}e\rf";

    #[test]
    fn nothing_a_terminal_obeys_is_left() {
        for safe in [one_line(HOSTILE), escape_controls(HOSTILE)] {
            assert!(!safe.chars().any(is_obeyed), "{safe:?}");
        }
    }

    #[test]
    fn one_line_is_one_line_and_keeps_the_words() {
        assert_eq!(
            one_line("two\nwords\tand\u{2028}more — déjà vu 会議"),
            "two words and more — déjà vu 会議"
        );
    }

    #[test]
    fn escaped_json_means_the_same() {
        let json = serde_json::to_string_pretty(&[HOSTILE]).unwrap();
        let safe = escape_json_controls(&json);
        assert!(!safe.chars().any(|character| is_obeyed(character) && character != '\n'), "{safe:?}");
        let back: Vec<String> = serde_json::from_str(&safe).unwrap();
        assert_eq!(back, [HOSTILE]);
    }
}
