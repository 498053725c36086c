//! File names that every system takes.
//!
//! Windows is the strictest: some characters, some names and some ends are not allowed there, whatever is behind
//! the dot. A file that is carried there must not need another name.

/// Names that are devices on Windows, whatever stands behind a dot.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];
/// Bytes of a name at most, which leaves room for an ending on any file system.
const LEN_MAX_BYTES: usize = 200;

/// `id` as the name of a file, with `extension` behind it: the same wherever every system takes it.
///
/// ```
/// use ambient_engine::export::file_name;
/// assert_eq!(file_name("2026-09-05T1412-roadmap", "srt"), "2026-09-05T1412-roadmap.srt");
/// assert_eq!(file_name("Q3: plan/\u{201c}draft\u{201d}?.", "md"), "Q3- plan-\u{201c}draft\u{201d}-.md");
/// assert_eq!(file_name("con", "md"), "_con.md");
/// ```
pub fn file_name(id: &str, extension: &str) -> String {
    let is_forbidden = |character: char| {
        character.is_control() || matches!(character, '<' | '>' | ':' | '"' | '/' | '\\' | '|' | '?' | '*')
    };
    let mut name: String =
        id.chars().map(|character| if is_forbidden(character) { '-' } else { character }).collect();
    let mut end = name.len().min(LEN_MAX_BYTES);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    name.truncate(end);
    let kept = name.trim_end_matches(['.', ' ']).len();
    name.truncate(kept);
    // A dot or a dash in front hides the file, or reads as an option.
    let is_odd = name.is_empty() || name.starts_with(['.', '-', ' ']) || is_device(&name);
    format!("{}{name}.{extension}", if is_odd { "_" } else { "" })
}

fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).trim_end().to_lowercase();
    let numbered = |prefix: &str| {
        stem.strip_prefix(prefix).is_some_and(|number| {
            matches!(number, "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "¹" | "²" | "³")
        })
    };
    DEVICES.contains(&stem.as_str()) || numbered("com") || numbered("lpt")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn devices_and_odd_ends_get_another_name() {
        for (id, name) in [
            ("CON", "_CON.x"),
            ("nul.txt", "_nul.txt.x"),
            ("Com7", "_Com7.x"),
            ("com0", "com0.x"),
            ("console", "console.x"),
            ("a. .", "a.x"),
            ("...", "_.x"),
            ("", "_.x"),
            ("-rf", "_-rf.x"),
            ("a\0b\nc", "a-b-c.x"),
            ("会議", "会議.x"),
        ] {
            assert_eq!(file_name(id, "x"), name);
        }
    }

    proptest! {
        #[test]
        fn any_id_gives_a_name_that_every_system_takes(id: String) {
            let name = file_name(&id, "assistant.md");
            prop_assert!(name.len() <= 255 && name.ends_with(".assistant.md"));
            prop_assert!(!name.contains(['/', '\\', ':', '*', '?', '"', '<', '>', '|']));
            prop_assert!(!name.chars().any(char::is_control) && !name.starts_with(['.', '-', ' ']));
            prop_assert!(!is_device(&name));
        }
    }
}
