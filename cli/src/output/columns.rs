//! Fitting text into columns, counted as a terminal shows them: a wide character takes two.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Columns `text` takes.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// `text`, or its beginning with an ellipsis when it takes more than `columns`.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut kept = take(text, columns.saturating_sub(1)).to_owned();
    kept.push('…');
    kept
}

/// The longest beginning of `text` that fits into `columns`.
fn take(text: &str, columns: usize) -> &str {
    let mut used = 0;
    for (at, character) in text.char_indices() {
        used += character.width().unwrap_or(0);
        if used > columns {
            return &text[..at];
        }
    }
    text
}

/// `text` in rows of at most `columns`, broken between words, and inside a word that is longer than a
/// row. Always at least one row.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(2);
    let mut rows = vec![String::new()];
    let mut used = 0;
    for word in text.split_whitespace() {
        let mut word = word;
        if used > 0 && used + 1 + width(word) <= columns {
            push(&mut rows, " ");
            used += 1;
        } else if used > 0 {
            rows.push(String::new());
            used = 0;
        }
        while used + width(word) > columns {
            let part = take(word, columns);
            push(&mut rows, part);
            rows.push(String::new());
            word = &word[part.len()..];
        }
        push(&mut rows, word);
        used += width(word);
    }
    rows
}

fn push(rows: &mut [String], text: &str) {
    if let Some(row) = rows.last_mut() {
        row.push_str(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_fit_and_no_word_is_lost() {
        let text = "Right, shall we start with the migration? 会議は終わりました incomprehensibilities";
        for columns in 2..40 {
            let rows = wrap(text, columns);
            assert!(rows.iter().all(|row| width(row) <= columns), "{columns}: {rows:?}");
            let squeezed = |text: &str| text.split_whitespace().collect::<String>();
            assert_eq!(squeezed(&rows.concat()), squeezed(text), "{columns}");
        }
    }

    #[test]
    fn words_are_kept_whole_where_they_fit() {
        assert_eq!(wrap("one two three", 9), ["one two", "three"]);
        assert_eq!(wrap("", 10), [""]);
    }

    #[test]
    fn a_cut_text_says_so() {
        assert_eq!(cut("planning", 5), "plan…");
        assert_eq!(cut("会議会議", 5), "会議…");
        assert_eq!(cut("short", 5), "short");
    }
}
