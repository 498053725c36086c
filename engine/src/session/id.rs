//! What may name a session, and the names new ones get.
//!
//! An id is the name of a directory directly below the root: one path segment, so that no id can lead
//! anywhere else. New ids begin with the local minute, so that they read well in a file manager; they are
//! never used to order sessions, because local minutes repeat when clocks are put back.

use std::ffi::OsStr;
use std::fmt;

use jiff::civil::DateTime;

/// The name of a session: one path segment.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(String);

/// A word that cannot name a session.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a session id")]
pub struct NotASessionId(pub String);

impl SessionId {
    /// Checks that `word` is one path segment that can name a session.
    ///
    /// ```
    /// use ambient_engine::session::SessionId;
    /// assert!(SessionId::new("2026-09-05T1412-roadmap").is_ok());
    /// assert!(SessionId::new("../elsewhere").is_err());
    /// ```
    ///
    /// # Errors
    /// It is empty, `.` or `..`, holds a `/` or a NUL, or is the name of a session not yet complete.
    pub fn new(word: &str) -> Result<Self, NotASessionId> {
        let is_segment = !matches!(word, "" | "." | "..") && !word.contains(['/', '\0']);
        if is_segment && !is_partial(word) {
            Ok(Self(word.to_owned()))
        } else {
            Err(NotASessionId(word.chars().take(200).collect()))
        }
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The hidden name under which the session is built before it is complete.
    pub(crate) fn partial_name(&self) -> String {
        format!(".{}.partial", self.0)
    }

    /// The local minute the id begins with, when it begins with one.
    pub(crate) fn local_minute(&self) -> Option<DateTime> {
        let minute = self.0.get(..MINUTE_LEN_BYTES)?;
        DateTime::strptime("%Y-%m-%dT%H%M", minute)
            .or_else(|_| DateTime::strptime("%Y-%m-%d-%H%M", minute))
            .ok()
    }
}

impl AsRef<OsStr> for SessionId {
    fn as_ref(&self) -> &OsStr {
        OsStr::new(&self.0)
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

/// Bytes of `YYYY-MM-DDTHHMM`.
const MINUTE_LEN_BYTES: usize = 15;
/// How many sessions of one minute and name there can be.
pub(crate) const CLAIMS_MAX: u32 = 99;
/// Characters of a slug; the name itself is kept whole inside the session.
const SLUG_LEN_MAX_BYTES: usize = 80;

fn is_partial(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(".partial")
}

/// `name` as part of a directory's name: ASCII letters and digits in lower case, everything between them
/// one `-`; none when nothing is left.
///
/// ```
/// use ambient_engine::session::slug;
/// assert_eq!(slug("Hello, World!").as_deref(), Some("hello-world"));
/// assert_eq!(slug("…"), None);
/// ```
pub fn slug(name: &str) -> Option<String> {
    let words: Vec<String> = name
        .split(|character: char| !character.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    let mut slug = words.join("-");
    // Every byte is ASCII, so this cuts no character; a directory name has at most 255 bytes.
    slug.truncate(SLUG_LEN_MAX_BYTES);
    let slug = slug.trim_end_matches('-');
    (!slug.is_empty()).then(|| slug.to_owned())
}

/// The ids a session begun in that local minute may get, best first: without a number, then `-02` to
/// `-99`.
pub(crate) fn candidates(started: DateTime, name: Option<&str>) -> impl Iterator<Item = SessionId> {
    numbered(&SessionId(claim_base(started, name)))
}

/// `id`, then the same with `-02` to `-99`.
pub(crate) fn numbered(id: &SessionId) -> impl Iterator<Item = SessionId> + use<> {
    let SessionId(base) = id.clone();
    (1..=CLAIMS_MAX).map(move |number| match number {
        1 => SessionId(base.clone()),
        _ => SessionId(format!("{base}-{number:02}")),
    })
}

/// `YYYY-MM-DDTHHMM`, and the slug of `name` when it has one.
pub(crate) fn claim_base(started: DateTime, name: Option<&str>) -> String {
    let minute = started.strftime("%Y-%m-%dT%H%M");
    match name.and_then(slug) {
        Some(slug) => format!("{minute}-{slug}"),
        None => minute.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_hold_ascii_letters_and_digits_only() {
        assert_eq!(slug("Hello, World!").as_deref(), Some("hello-world"));
        assert_eq!(slug("  --x--  ").as_deref(), Some("x"));
        assert_eq!(slug(""), None);
        assert_eq!(slug("Ünïcode ok").as_deref(), Some("n-code-ok"));
    }

    #[test]
    fn a_long_name_still_makes_a_directory_name() {
        let slug = slug(&"ab ".repeat(400)).unwrap();
        assert!(slug.len() <= SLUG_LEN_MAX_BYTES && !slug.ends_with('-'));
    }

    #[test]
    fn only_a_single_segment_is_an_id() {
        for word in ["", ".", "..", "a/b", "/", "../x", "a\0b", ".x.partial"] {
            assert!(SessionId::new(word).is_err(), "{word:?}");
        }
        for word in ["2026-09-05T1412", "x", "...", "a b", "ünï", "-02", "nope\\x"] {
            assert!(SessionId::new(word).is_ok(), "{word:?}");
        }
    }

    #[test]
    fn candidates_are_numbered_from_two_to_ninety_nine() {
        let started = jiff::civil::date(2026, 9, 5).at(14, 12, 59, 0);
        let ids: Vec<_> = candidates(started, Some("Roadmap sync")).map(|id| id.to_string()).collect();
        assert_eq!(ids.len(), 99);
        assert_eq!(ids[0], "2026-09-05T1412-roadmap-sync");
        assert_eq!(ids[1], "2026-09-05T1412-roadmap-sync-02");
        assert_eq!(ids[98], "2026-09-05T1412-roadmap-sync-99");
    }

    #[test]
    fn the_minute_is_read_back_from_both_spellings() {
        let minute = jiff::civil::date(2026, 9, 5).at(12, 0, 0, 0);
        for id in ["2026-09-05T1200", "2026-09-05T1200-x-02", "2026-09-05-1200"] {
            assert_eq!(SessionId::new(id).unwrap().local_minute(), Some(minute), "{id}");
        }
        for id in ["x", "2026-13-05T1200", "2026-09-05T12ü0"] {
            assert_eq!(SessionId::new(id).unwrap().local_minute(), None, "{id}");
        }
    }
}
