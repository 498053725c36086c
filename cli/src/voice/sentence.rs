//! Where one sentence ends and the next begins, so that a text can be heard before all of it is made.
//!
//! A cut too many is a pause in the wrong place, one too few only a later beginning. So a dot behind a
//! single letter or a usual abbreviation is no end.

/// Words whose dot ends no sentence.
const ABBREVIATIONS: &[&str] =
    &["mr", "mrs", "ms", "dr", "prof", "st", "vs", "approx", "e.g", "i.e", "no", "nr", "z.b", "bzw"];

/// What closes a quotation or a bracket.
const CLOSING: &[char] = &['"', '”', '’', '\'', ')', '»'];

/// The sentences of `text` in their order, without the blanks around them; none is empty.
pub(super) fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let next = letters.peek().map(|(_, next)| *next);
        let is_end = match letter {
            '.' => next.is_none_or(char::is_whitespace) && !is_abbreviation(&text[start..at]),
            '!' | '?' | '…' => next.is_none_or(char::is_whitespace),
            '\n' | '。' | '！' | '？' => true,
            // What closes a quotation or a bracket belongs to the sentence that ended within it.
            _ if CLOSING.contains(&letter) => {
                let within = text[start..at].trim_end_matches(CLOSING);
                within.ends_with(['.', '!', '?', '…']) && next.is_none_or(char::is_whitespace)
            }
            _ => false,
        };
        if is_end {
            found.push(&text[start..at + letter.len_utf8()]);
            start = at + letter.len_utf8();
        }
    }
    found.push(&text[start..]);
    found.into_iter().map(str::trim).filter(|sentence| !sentence.is_empty()).collect()
}

/// Whether the last word before a dot is one that is written with it.
fn is_abbreviation(before: &str) -> bool {
    let word =
        before.rsplit(|letter: char| letter.is_whitespace() || letter == '(').next().unwrap_or_default();
    let is_initial = word.chars().count() == 1 && word.chars().all(char::is_uppercase);
    is_initial || ABBREVIATIONS.contains(&word.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_where_a_speaker_would_pause() {
        let text = "Hello, Dr. Ana Lee! It costs 4.5 million (J. Smith said \"no.\") Why? I see… Good";
        let expected =
            ["Hello, Dr. Ana Lee!", "It costs 4.5 million (J. Smith said \"no.\")", "Why?", "I see…", "Good"];
        assert_eq!(sentences(text), expected);
        assert_eq!(sentences("one\n\n two.\nthree"), ["one", "two.", "three"]);
        assert_eq!(sentences("是。不是！"), ["是。", "不是！"]);
        assert_eq!(sentences(" \n "), [""; 0]);
    }

    #[test]
    fn nothing_is_lost_and_nothing_said_twice() {
        for text in ["a. b? c! d", "...", "“So?” he said. “No.” End", "x.y.z. Mr. Q.", "ä…ö。ü"]
        {
            let without_blanks = |text: &str| text.split_whitespace().collect::<String>();
            assert_eq!(without_blanks(&sentences(text).concat()), without_blanks(text));
        }
    }
}
