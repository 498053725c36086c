//! Where words end.

use std::ops::Range;

/// Whether no letter or digit that belongs to the same word stands beside `place` in `text`. What does not
/// begin or end with one, such as `C++`, has no word to belong to on that side.
pub(crate) fn stands_alone(text: &str, place: Range<usize>) -> bool {
    let found = &text[place.clone()];
    let before = text[..place.start].chars().next_back();
    let behind = text[place.end..].chars().next();
    let joins = |inner: Option<char>, outer: Option<char>| {
        inner.is_some_and(char::is_alphanumeric) && outer.is_some_and(char::is_alphanumeric)
    };
    !joins(found.chars().next(), before) && !joins(found.chars().next_back(), behind)
}
