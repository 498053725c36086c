//! What is looked for.

use std::ops::Range;

use memchr::memmem::Finder;
use regex::Regex;

use super::folding::{fold_into, fold_with_places};
use crate::words::stands_alone;

/// What is looked for: words, or a regular expression. Nothing that a person types as words is an error but
/// nothing at all.
#[derive(Clone, Debug)]
pub struct Needle {
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Words { finder: Box<Finder<'static>>, are_whole: bool },
    Regex(Regex),
}

/// Why something cannot be looked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NeedleError {
    /// There is nothing in it to look for.
    #[error("there is nothing to look for")]
    Empty,
    /// Not a regular expression.
    #[error("not a regular expression: {0}")]
    Regex(#[from] regex::Error),
}

impl Needle {
    /// `words` one behind the other as they are written, within other words too. Case, accents and the kind of
    /// blanks between them do not count.
    ///
    /// # Errors
    /// Nothing is left of them without blanks.
    pub fn words(words: &str) -> Result<Self, NeedleError> {
        Self::literal(words, false)
    }

    /// As [`Needle::words`], and not within other words.
    ///
    /// # Errors
    /// As [`Needle::words`].
    pub fn whole_words(words: &str) -> Result<Self, NeedleError> {
        Self::literal(words, true)
    }

    fn literal(words: &str, are_whole: bool) -> Result<Self, NeedleError> {
        let mut folded = String::new();
        fold_into(words.trim(), &mut folded);
        if folded.is_empty() {
            return Err(NeedleError::Empty);
        }
        let finder = Box::new(Finder::new(folded.as_bytes()).into_owned());
        Ok(Self { kind: Kind::Words { finder, are_whole } })
    }

    /// A regular expression in the syntax of the crate `regex`, over texts as they are written.
    ///
    /// # Errors
    /// It is empty or not one.
    pub fn regex(source: &str) -> Result<Self, NeedleError> {
        if source.is_empty() {
            return Err(NeedleError::Empty);
        }
        Ok(Self { kind: Kind::Regex(Regex::new(source)?) })
    }

    /// Whether `text` holds it. `room` is memory that is used again.
    pub(super) fn is_in(&self, text: &str, room: &mut String) -> bool {
        match &self.kind {
            Kind::Words { finder, are_whole } => {
                room.clear();
                fold_into(text, room);
                if *are_whole {
                    whole(finder, room).next().is_some()
                } else {
                    finder.find(room.as_bytes()).is_some()
                }
            }
            Kind::Regex(regex) => regex.find_iter(text).any(|found| !found.is_empty()),
        }
    }

    /// Where in `text` it is: first character and one past the last, and whether that is a word of its own.
    pub(super) fn places(&self, text: &str) -> Vec<(Range<usize>, bool)> {
        match &self.kind {
            Kind::Words { finder, are_whole } => {
                let (folded, numbers) = fold_with_places(text);
                let places = all(finder, &folded).map(|place| (stands_alone(&folded, place.clone()), place));
                let places = places.filter(|(is_whole, _)| *is_whole || !are_whole);
                let characters = |place: Range<usize>| {
                    let number = |byte: usize| numbers.get(byte).copied().unwrap_or(0);
                    // Up to the next letter, so that an accent comes along, and at least to the end of the
                    // last character, which may have become several.
                    number(place.start)..number(place.end).max(number(place.end - 1) + 1)
                };
                places.map(|(is_whole, place)| (characters(place), is_whole)).collect()
            }
            Kind::Regex(regex) => {
                let number = |byte: usize| text[..byte].chars().count();
                let found = regex.find_iter(text).filter(|found| !found.is_empty());
                let place = |found: regex::Match<'_>| {
                    (number(found.start())..number(found.end()), stands_alone(text, found.range()))
                };
                found.map(place).collect()
            }
        }
    }
}

/// Every place of the words in `folded`, none overlapping another.
fn all<'text>(finder: &Finder<'static>, folded: &'text str) -> impl Iterator<Item = Range<usize>> + 'text {
    let len_bytes = finder.needle().len();
    let finder = finder.clone();
    let mut from = 0;
    std::iter::from_fn(move || {
        let begin = from + finder.find(folded.as_bytes().get(from..)?)?;
        from = begin + len_bytes;
        Some(begin..from)
    })
}

/// Those places that are words of their own.
fn whole<'text>(finder: &Finder<'static>, folded: &'text str) -> impl Iterator<Item = Range<usize>> + 'text {
    all(finder, folded).filter(|place| stands_alone(folded, place.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(needle: &Needle, text: &str) -> Vec<(usize, usize)> {
        needle.places(text).into_iter().map(|(place, _)| (place.start, place.end)).collect()
    }

    #[test]
    fn places_are_counted_in_characters_of_the_text_as_it_is() {
        let cafe = Needle::words("CAFÉ").unwrap();
        assert_eq!(places(&cafe, "Ein café, cafe\u{301}!"), [(4, 8), (10, 15)]);
        assert_eq!(
            places(&Needle::words("fi").unwrap(), "aﬁb"),
            [(1, 2)],
            "one character that is two letters"
        );
        assert_eq!(places(&Needle::words("a b").unwrap(), "a \t b"), [(0, 5)]);
        assert_eq!(places(&Needle::words("会議").unwrap(), "今日の会議は"), [(3, 5)]);
    }

    #[test]
    fn whole_words_stand_alone() {
        let mut room = String::new();
        let art = Needle::whole_words("art").unwrap();
        assert!(art.is_in("The Art of it", &mut room) && !art.is_in("start party", &mut room));
        assert!(art.is_in("party art", &mut room));
        assert!(Needle::words("art").unwrap().is_in("party", &mut room));
        assert!(Needle::whole_words("c++").unwrap().is_in("in C++17", &mut room));
    }

    #[test]
    fn nothing_typed_is_an_error_but_nothing() {
        for words in ["(", "a AND b", "\"", "*", "foo_bar:1", "\\", "-x"] {
            let mut room = String::new();
            assert!(Needle::words(words).unwrap().is_in(&format!("say {words} now"), &mut room), "{words}");
        }
        for nothing in ["", " ", "\n\t"] {
            assert!(matches!(Needle::words(nothing), Err(NeedleError::Empty)), "{nothing:?}");
        }
        assert!(matches!(Needle::words("\u{301}"), Err(NeedleError::Empty)), "an accent alone");
        assert!(matches!(Needle::regex("("), Err(NeedleError::Regex(_))));
    }
}
