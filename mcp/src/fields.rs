//! The fields of an object that a client sent, each value as the text it was sent as.
//!
//! Names are compared as bytes: JSON can write a name that is no text (half of a surrogate pair). Nobody
//! asks for such a name, so it must not cost the message it stands in. Of two equal names the last one
//! counts.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde_json::value::RawValue;

/// The fields of an object by name.
#[derive(Debug, Default)]
pub(crate) struct Fields<'a>(BTreeMap<Name, &'a RawValue>);

impl<'a> Fields<'a> {
    /// The fields of `raw`; `None` if it is not an object.
    pub(crate) fn read(raw: &'a RawValue) -> Option<Self> {
        serde_json::from_str(raw.get()).ok().map(Self)
    }

    /// The value of the field `name`.
    pub(crate) fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0.get(name.as_bytes()).copied()
    }
}

/// The bytes of a name, its escapes undone.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Name(Box<[u8]>);

impl Borrow<[u8]> for Name {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(NameVisitor)
    }
}

struct NameVisitor;

impl Visitor<'_> for NameVisitor {
    type Value = Name;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a name")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Name, E> {
        Ok(Name(bytes.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Fields<'_>> {
        Fields::read(serde_json::from_str(text).unwrap())
    }

    #[test]
    fn a_name_is_found_however_it_is_escaped_and_the_last_of_equal_ones_counts() {
        let fields = read(r#"{"\u0069d": 1, "é": 2, "id": 3}"#).unwrap();
        assert_eq!(fields.get("id").unwrap().get(), "3");
        assert_eq!(fields.get("\u{e9}").unwrap().get(), "2");
        assert!(fields.get("absent").is_none());
    }

    #[test]
    fn a_name_that_is_no_text_hides_no_other() {
        let fields = read(r#"{"\ud800": 1, "\udfffx": 2, "": 3, "a\u0000b": 4}"#).unwrap();
        assert_eq!(fields.get("").unwrap().get(), "3");
        assert_eq!(fields.get("a\0b").unwrap().get(), "4");
        assert!(fields.get("\u{fffd}").is_none());
    }

    #[test]
    fn nothing_but_an_object_has_fields() {
        for text in ["null", "[]", "[[\"id\",1]]", "1", "\"id\"", "true"] {
            assert!(read(text).is_none(), "{text}");
        }
    }
}
