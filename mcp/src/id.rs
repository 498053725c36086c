//! The id of a request, kept as the text the client wrote.
//!
//! A client recognises its answer by the id alone, so an id is never turned into a number and back: an
//! integer of any size comes back digit by digit. Only strings and integers are ids; `null`, fractions,
//! booleans, arrays and objects are not.

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// A string or an integer, verbatim.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct Id(Box<RawValue>);

impl Id {
    /// The id that `raw` is, if it is one.
    pub(crate) fn read(raw: &RawValue) -> Option<Self> {
        let text = raw.get();
        let is_id = if text.starts_with('"') { decoded(text).is_some() } else { is_integer(text) };
        is_id.then(|| Self(raw.to_owned()))
    }

    /// The id as a value; an integer that no value can hold exactly becomes the string of its digits.
    pub(crate) fn to_value(&self) -> Value {
        match serde_json::from_str(self.0.get()) {
            Ok(Value::Number(number)) if number.is_f64() => Value::String(self.0.get().to_owned()),
            Ok(value) => value,
            Err(_) => Value::String(self.0.get().to_owned()),
        }
    }
}

/// Two ids are the same when they mean the same, whatever escapes a string was written with.
impl PartialEq for Id {
    fn eq(&self, other: &Self) -> bool {
        let (mine, theirs) = (self.0.get(), other.0.get());
        mine == theirs || decoded(mine).is_some_and(|text| decoded(theirs) == Some(text))
    }
}

/// The characters of a JSON string; none if it is no string or not text at all (half a surrogate pair).
fn decoded(text: &str) -> Option<String> {
    serde_json::from_str(text).ok()
}

/// Whether a JSON value is an integer as written: `1.0` and `1e3` are not.
fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Id> {
        Id::read(serde_json::from_str(text).unwrap())
    }

    #[test]
    fn strings_and_integers_come_back_as_they_came() {
        let huge = "9".repeat(400);
        for text in ["0", "-1", "18446744073709551616", &huge, r#""a""#, r#""""#, r#""\u0061\n""#, "\"é\""] {
            let id = read(text).unwrap();
            assert_eq!(serde_json::to_string(&id).unwrap(), text);
        }
    }

    #[test]
    fn nothing_else_is_an_id() {
        for text in ["null", "true", "1.0", "1e3", "1E3", "-0.5", "[]", "[1]", "{}", r#""\ud800""#] {
            assert!(read(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_string_is_the_same_id_however_it_is_escaped_and_never_a_number() {
        assert_eq!(read(r#""a""#), read(r#""\u0061""#));
        assert_ne!(read(r#""1""#), read("1"));
        assert_ne!(read("1"), read("2"));
    }

    #[test]
    fn a_value_never_holds_a_rounded_id() {
        assert_eq!(read("18446744073709551615").unwrap().to_value(), u64::MAX);
        assert_eq!(read("18446744073709551617").unwrap().to_value(), "18446744073709551617");
        assert_eq!(read(&"9".repeat(400)).unwrap().to_value(), "9".repeat(400));
    }
}
