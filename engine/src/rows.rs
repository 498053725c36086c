//! Text in rows of so many columns, for subtitles and for whoever reads on a screen.
//!
//! Columns are counted as they are seen: a wide character takes two, a mark on a letter none. Rows end where a
//! reader expects it: between words, between the characters of scripts that have no blanks, and inside a word
//! only when that alone is longer than a row; never inside of what is seen as one character.

use unicode_linebreak::linebreaks;
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// Columns that `text` takes.
///
/// ```
/// assert_eq!(ambient_engine::rows::width("会議 ok"), 7);
/// ```
pub fn width(text: &str) -> usize {
    text.width()
}

/// `text`, or its beginning with an ellipsis when it takes more than `columns`.
///
/// ```
/// assert_eq!(ambient_engine::rows::cut("planning", 5), "plan…");
/// ```
pub fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut kept = beginning(text, columns.saturating_sub(1)).to_owned();
    kept.push('…');
    kept
}

/// The longest beginning of `text` that fits into `columns`.
fn beginning(text: &str, columns: usize) -> &str {
    let mut used = 0;
    for (at, grapheme) in text.grapheme_indices(true) {
        used += width(grapheme);
        if used > columns {
            return &text[..at];
        }
    }
    text
}

/// `text` in rows of at most `columns`, which is at least 2; every run of blanks in it is one. Always at least
/// one row.
///
/// ```
/// assert_eq!(ambient_engine::rows::wrap("one two three", 9), ["one two", "three"]);
/// ```
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    if text.len() <= columns {
        // Nothing takes more columns than bytes.
        return vec![text.split_whitespace().collect::<Vec<_>>().join(" ")];
    }
    let mut rows = Rows { rows: vec![String::new()], columns: columns.max(2) };
    if text.is_ascii() {
        text.split_ascii_whitespace().for_each(|word| rows.add(word, true));
        return rows.rows;
    }
    let mut from = 0;
    let mut is_behind_blank = false;
    for (to, _) in linebreaks(text) {
        let piece = &text[from..to];
        from = to;
        // A mark that allows a break may stand between blanks that do not, so the piece may hold several words.
        let starts_with_blank = piece.starts_with(char::is_whitespace);
        for (number, word) in piece.split_whitespace().enumerate() {
            rows.add(word, number > 0 || is_behind_blank || starts_with_blank);
            is_behind_blank = false;
        }
        is_behind_blank |= piece.ends_with(char::is_whitespace);
    }
    rows.rows
}

struct Rows {
    rows: Vec<String>,
    columns: usize,
}

impl Rows {
    /// Adds `word`, on the last row if it fits there.
    fn add(&mut self, word: &str, is_behind_blank: bool) {
        let columns = self.columns;
        let Some(row) = self.rows.last_mut() else { return };
        let gap = usize::from(is_behind_blank && !row.is_empty());
        // The bytes first: they are at least as many as the columns of what is not wide, and cost nothing.
        let fits = |row: &str, word: &str| {
            row.len() + gap + word.len() <= columns || width(row) + gap + width(word) <= columns
        };
        if fits(row, word) {
            row.extend(std::iter::repeat_n(' ', gap));
            row.push_str(word);
            return;
        }
        let mut rest = word;
        if !row.is_empty() {
            self.rows.push(String::new());
        }
        while width(rest) > columns {
            let mut part = beginning(rest, columns);
            if part.is_empty() {
                // One that is wider than a row by itself.
                part = rest.graphemes(true).next().unwrap_or(rest);
            }
            self.push(part);
            rest = &rest[part.len()..];
            if rest.is_empty() {
                return;
            }
            self.rows.push(String::new());
        }
        self.push(rest);
    }

    fn push(&mut self, text: &str) {
        if let Some(row) = self.rows.last_mut() {
            row.push_str(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn squeezed(text: &str) -> String {
        text.split_whitespace().collect()
    }

    #[test]
    fn rows_fit_and_no_word_is_lost() {
        let text = "Right, shall we start with the migration? 会議は終わりました incomprehensibilities";
        for columns in 2..40 {
            let rows = wrap(text, columns);
            assert!(rows.iter().all(|row| width(row) <= columns), "{columns}: {rows:?}");
            assert_eq!(squeezed(&rows.concat()), squeezed(text), "{columns}");
        }
    }

    #[test]
    fn words_are_kept_whole_where_they_fit() {
        assert_eq!(wrap("one two three", 9), ["one two", "three"]);
        assert_eq!(wrap("", 10), [""]);
        assert_eq!(wrap("  a \n b  ", 10), ["a b"]);
        assert_eq!(wrap("naïve, (façade)", 8), ["naïve,", "(façade)"]);
    }

    #[test]
    fn scripts_without_blanks_break_between_characters_and_not_before_a_full_stop() {
        assert_eq!(wrap("会議は終わりました。", 8), ["会議は終", "わりまし", "た。"]);
        assert_eq!(wrap("会議会。", 6), ["会議", "会。"]);
    }

    #[test]
    fn what_is_seen_as_one_character_stays_whole() {
        let family = "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}";
        let rows = wrap(&family.repeat(5), 4);
        assert!(rows.iter().all(|row| row.replace(family, "").is_empty()), "{rows:?}");
        assert_eq!(wrap("e\u{301}e\u{301}e\u{301}", 2), ["e\u{301}e\u{301}", "e\u{301}"]);
    }

    #[test]
    fn a_cut_text_says_so() {
        assert_eq!(cut("planning", 5), "plan…");
        assert_eq!(cut("会議会議", 5), "会議…");
        assert_eq!(cut("short", 5), "short");
    }

    proptest! {
        #[test]
        fn no_row_is_too_long_and_nothing_is_lost(text in "[ a-zé\u{301}会議。, \u{5d0}\u{1F600}-]{0,60}", columns in 2_usize..30) {
            let rows = wrap(&text, columns);
            let is_one = |row: &String| row.graphemes(true).count() == 1;
            prop_assert!(rows.iter().all(|row| width(row) <= columns || is_one(row)), "{:?}", rows);
            prop_assert_eq!(squeezed(&rows.concat()), squeezed(&text));
            prop_assert!(rows.len() == 1 || rows.iter().all(|row| !row.trim().is_empty()));
        }

        #[test]
        fn any_text_is_wrapped(text: String, columns in 0_usize..50) {
            prop_assert_eq!(squeezed(&wrap(&text, columns).concat()), squeezed(&text));
        }
    }
}
