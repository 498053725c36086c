//! What to look for in a text: words, a part of words, or a regular expression.

use std::fmt;
use std::ops::Range;

use regex::{Captures, Regex};

use crate::words::stands_alone;

/// What to look for. Never matches nothing.
#[derive(Clone, Debug)]
pub struct Pattern {
    regex: Regex,
    kind: Kind,
    source: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Words,
    Part,
    Regex,
}

/// Why something cannot be looked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// Nothing was given.
    #[error("there is nothing to look for")]
    Empty,
    /// Not a regular expression.
    #[error("not a regular expression: {0}")]
    Regex(#[from] regex::Error),
}

impl Pattern {
    /// `words` as they are written, and not within other words.
    ///
    /// ```
    /// use ambient_engine::editing::Pattern;
    /// let pattern = Pattern::words("Crea")?;
    /// assert_eq!(pattern.replaced("Crea and Create", "Priya").as_deref(), Some("Priya and Create"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// There are none.
    pub fn words(words: &str) -> Result<Self, PatternError> {
        Self::new(&regex::escape(words), words, Kind::Words)
    }

    /// `part` as it is written, within other words too.
    ///
    /// # Errors
    /// It is empty.
    pub fn part(part: &str) -> Result<Self, PatternError> {
        Self::new(&regex::escape(part), part, Kind::Part)
    }

    /// A regular expression in the syntax of the crate `regex`; `$1` in what is put in its place is the first
    /// group.
    ///
    /// # Errors
    /// It is empty or not one.
    pub fn regex(source: &str) -> Result<Self, PatternError> {
        Self::new(source, source, Kind::Regex)
    }

    fn new(regex: &str, source: &str, kind: Kind) -> Result<Self, PatternError> {
        if source.is_empty() {
            return Err(PatternError::Empty);
        }
        Ok(Self { regex: Regex::new(regex)?, kind, source: source.to_owned() })
    }

    /// Whether `text` holds it.
    pub fn is_in(&self, text: &str) -> bool {
        self.matches(text).next().is_some()
    }

    /// `text` with `to` in its place everywhere; none when it does not hold it.
    pub fn replaced(&self, text: &str, to: &str) -> Option<String> {
        let mut replaced = String::new();
        let mut rest = 0;
        for Replacement { place, to } in self.replacements(text, to) {
            replaced += &text[rest..place.start];
            replaced += &to;
            rest = place.end;
        }
        (rest > 0).then(|| replaced + &text[rest..])
    }

    /// Each place where `text` holds it, and what comes there.
    pub(super) fn replacements(&self, text: &str, to: &str) -> Vec<Replacement> {
        let replacement = |found: Captures<'_>| {
            let mut own = String::new();
            if self.kind == Kind::Regex {
                found.expand(to, &mut own);
            } else {
                own += to;
            }
            Replacement { place: found.get_match().range(), to: own }
        };
        self.matches(text).map(replacement).collect()
    }

    fn matches<'text>(&self, text: &'text str) -> impl Iterator<Item = Captures<'text>> {
        let is_whole = move |found: &Captures<'_>| {
            let place = found.get_match().range();
            !place.is_empty() && (self.kind != Kind::Words || stands_alone(text, place))
        };
        self.regex.captures_iter(text).filter(is_whole)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::Regex => write!(formatter, "/{}/", self.source),
            Kind::Words | Kind::Part => write!(formatter, "{:?}", self.source),
        }
    }
}

/// What comes where.
#[derive(Debug)]
pub(super) struct Replacement {
    pub(super) place: Range<usize>,
    pub(super) to: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_not_looked_for_within_others() {
        let crea = Pattern::words("Crea").unwrap();
        assert_eq!(crea.replaced("Crea, Create, Crea's", "Priya").unwrap(), "Priya, Create, Priya's");
        assert!(!crea.is_in("McCrea Creation crea"));
        assert!(Pattern::words("C++").unwrap().is_in("we use C++17"), "nothing ends a word there");
        assert!(Pattern::words("é").unwrap().is_in("à é"));
        assert!(!Pattern::words("é").unwrap().is_in("thé"));
        assert_eq!(Pattern::part("Crea").unwrap().replaced("Create", "Formula").unwrap(), "Formulate");
    }

    #[test]
    fn groups_of_an_expression_may_be_used_and_dollars_of_words_are_dollars() {
        let dates = Pattern::regex(r"(\d+)\.(\d+)\.").unwrap();
        assert_eq!(dates.replaced("on 3.12. or 4.12.", "$2/$1").unwrap(), "on 12/3 or 12/4");
        assert_eq!(Pattern::words("ten").unwrap().replaced("ten", "$10").unwrap(), "$10");
        assert!(!Pattern::regex("x*").unwrap().is_in("abc"), "nothing is not found");
    }

    #[test]
    fn nonsense_is_named() {
        assert!(matches!(Pattern::words(""), Err(PatternError::Empty)));
        assert!(Pattern::regex("(").unwrap_err().to_string().starts_with("not a regular expression"));
        assert_eq!(Pattern::words("(").unwrap().to_string(), "\"(\"");
    }
}
