//! Texts without what a search does not look at: case, accents, and which blanks there are.
//!
//! Folded are: upper and lower case; the accents of Latin, Greek and Cyrillic letters; wide, narrow and
//! joined forms of one letter; any run of blanks to one. Marks of other scripts are letters there and stay.

use unicode_normalization::UnicodeNormalization as _;

/// Appends `text`, folded, to `folded`.
pub(super) fn fold_into(text: &str, folded: &mut String) {
    if is_plain(text) {
        let begin = folded.len();
        folded.push_str(text);
        folded[begin..].make_ascii_lowercase();
        return;
    }
    let mut is_behind_blank = false;
    for character in text.chars() {
        fold_character(character, &mut is_behind_blank, folded);
    }
}

/// `text`, folded, and for each byte of that, and for its end, the number of the character that it is from.
pub(super) fn fold_with_places(text: &str) -> (String, Vec<usize>) {
    let (mut folded, mut places) = (String::new(), Vec::new());
    let mut is_behind_blank = false;
    for (number, character) in text.chars().enumerate() {
        fold_character(character, &mut is_behind_blank, &mut folded);
        places.resize(folded.len(), number);
    }
    places.push(text.chars().count());
    (folded, places)
}

/// ASCII whose blanks are single spaces: nearly all English text. Every byte is looked at, even behind one
/// that decides, as only so many are looked at at once.
fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_odd = |byte: u8| !(b' '..0x80).contains(&byte);
    let odd = bytes.iter().fold(0, |found, byte| found | u8::from(is_odd(*byte)));
    let pairs = bytes.iter().zip(bytes.iter().skip(1));
    let wide = pairs.fold(0, |found, (one, next)| found | u8::from(*one == b' ' && *next == b' '));
    odd | wide == 0
}

fn fold_character(character: char, is_behind_blank: &mut bool, folded: &mut String) {
    if character.is_whitespace() {
        if !*is_behind_blank {
            folded.push(' ');
        }
        *is_behind_blank = true;
        return;
    }
    *is_behind_blank = false;
    if character.is_ascii() {
        folded.push(character.to_ascii_lowercase());
        return;
    }
    if is_composed_of_letters(character) {
        folded.extend(std::iter::once(character).nfkc().flat_map(char::to_lowercase));
        return;
    }
    let parts = character.to_lowercase().nfkd().filter(|part| !is_accent(*part));
    folded.extend(parts.flat_map(char::to_lowercase));
}

/// Hangul and kana, whose parts mean something else than the whole.
fn is_composed_of_letters(character: char) -> bool {
    matches!(character, '\u{3040}'..='\u{30FF}' | '\u{AC00}'..='\u{D7A3}' | '\u{FF66}'..='\u{FF9F}')
}

/// The combining marks that are accents: of Unicode's blocks for combining diacritical marks.
fn is_accent(character: char) -> bool {
    matches!(character,
        '\u{0300}'..='\u{036F}' | '\u{1AB0}'..='\u{1AFF}' | '\u{1DC0}'..='\u{1DFF}'
        | '\u{20D0}'..='\u{20FF}' | '\u{FE20}'..='\u{FE2F}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn folded(text: &str) -> String {
        let mut folded = String::new();
        fold_into(text, &mut folded);
        folded
    }

    #[test]
    fn case_accents_and_blanks_do_not_count() {
        let pairs = [
            ("Café", "cafe"),
            ("CAFE\u{301}", "cafe"),
            ("Ёлка", "елка"),
            ("Ναί", "ναι"),
            ("ＡＢＣ　１", "abc 1"),
            ("ﬁne  print\n", "fine print "),
            ("İstanbul", "istanbul"),
            ("会議", "会議"),
            ("각", "각"),
            ("が", "が"),
            ("bd-q3fy C++ foo_bar", "bd-q3fy c++ foo_bar"),
        ];
        for (text, wanted) in pairs {
            assert_eq!(folded(text), wanted, "{text}");
        }
        assert_ne!(folded("कि"), folded("क"), "a vowel sign is no accent");
        assert_ne!(folded("が"), folded("か"));
    }

    proptest! {
        /// Both ways of folding give the same, and folding what is folded changes nothing.
        #[test]
        fn folding_is_one_thing(text in "\\PC{0,20}|[ a-zA-Zéß\t가が]{0,12}") {
            let (with_places, places) = fold_with_places(&text);
            prop_assert_eq!(&folded(&text), &with_places);
            prop_assert_eq!(places.len(), with_places.len() + 1);
            prop_assert!(places.is_sorted());
        }
    }
}
