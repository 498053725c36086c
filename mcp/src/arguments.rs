//! Named values of known types out of an object that may hold anything.
//!
//! The rules are the same for every tool: `null` counts as absent, an unknown name is ignored, a whole
//! number may be written `1.0`, and a value of the wrong type is refused with its name, what it must be
//! and what it is.

use serde_json::value::RawValue;

use crate::fields::Fields;
use crate::rpc::RpcError;

/// The most characters of a number that an error repeats.
const MAX_SHOWN_NUMBER_CHARS: usize = 24;

/// Up to here every whole number that is written with a point or an exponent is itself.
const MAX_EXACT_FLOAT: f64 = 9_007_199_254_740_992.0;

/// The fields of an object.
#[derive(Debug, Default)]
pub(crate) struct Arguments<'a>(Fields<'a>);

impl<'a> Arguments<'a> {
    /// The fields of `raw`; `None` if it is not an object.
    pub(crate) fn read(raw: &'a RawValue) -> Option<Self> {
        Fields::read(raw).map(Self)
    }

    /// The field `name`, if it is there and not null.
    pub(crate) fn raw(&self, name: &str) -> Option<&'a RawValue> {
        self.0.get(name).filter(|raw| raw.get() != "null")
    }

    /// The text `name`.
    ///
    /// # Errors
    /// It is not a string.
    pub(crate) fn text(&self, name: &str) -> Result<Option<String>, RpcError> {
        self.typed(name, "a string", |text| serde_json::from_str(text).ok())
    }

    /// The text `name`, which must be there.
    ///
    /// # Errors
    /// It is absent or not a string.
    pub(crate) fn required_text(&self, name: &str) -> Result<String, RpcError> {
        self.text(name)?
            .ok_or_else(|| RpcError::invalid_params(&format!("`{name}` is missing; it must be a string")))
    }

    /// The whole number `name`.
    ///
    /// # Errors
    /// It is not a number, negative, fractional, or too large.
    pub(crate) fn whole_number(&self, name: &str) -> Result<Option<u64>, RpcError> {
        self.typed(name, "a whole number of 0 or more that fits 64 bits", whole_number)
    }

    /// The whole number `name`, which must not be 0.
    ///
    /// # Errors
    /// As [`whole_number`](Self::whole_number), or it is 0.
    pub(crate) fn positive_number(&self, name: &str) -> Result<Option<u64>, RpcError> {
        let expected = "a whole number of 1 or more that fits 64 bits";
        self.typed(name, expected, |text| whole_number(text).filter(|number| *number > 0))
    }

    /// The truth value `name`.
    ///
    /// # Errors
    /// It is neither true nor false.
    pub(crate) fn boolean(&self, name: &str) -> Result<Option<bool>, RpcError> {
        self.typed(name, "true or false", |text| text.parse().ok())
    }

    fn typed<T>(
        &self,
        name: &str,
        expected: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, RpcError> {
        let Some(raw) = self.raw(name) else {
            return Ok(None);
        };
        read(raw.get()).map(Some).ok_or_else(|| {
            RpcError::invalid_params(&format!("`{name}` must be {expected}, got {}", described(raw.get())))
        })
    }
}

/// A JSON number as a whole number, if it is exactly one.
fn whole_number(text: &str) -> Option<u64> {
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    let number: f64 = text.parse().ok()?;
    let is_exact = number.fract() == 0.0 && (0.0..=MAX_EXACT_FLOAT).contains(&number);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and in range")]
    is_exact.then_some(number as u64)
}

/// What a JSON value is, for an error: its type, and the value itself where that is short.
fn described(text: &str) -> String {
    match text.as_bytes().first() {
        Some(b'"') => "a string".to_owned(),
        Some(b'{') => "an object".to_owned(),
        Some(b'[') => "an array".to_owned(),
        _ if text.len() <= MAX_SHOWN_NUMBER_CHARS => text.to_owned(),
        _ => "a number of too many digits".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn since(value: &str) -> Result<Option<u64>, String> {
        let object = format!("{{\"since\":{value}}}");
        let raw: &RawValue = serde_json::from_str(&object).unwrap();
        let read = Arguments::read(raw).unwrap().whole_number("since");
        read.map_err(|error| serde_json::to_value(error).unwrap()["message"].as_str().unwrap().to_owned())
    }

    #[test]
    fn a_whole_number_may_be_written_in_any_way() {
        for (written, number) in [("0", 0), ("7", 7), ("1.0", 1), ("1e3", 1000), ("-0", 0), ("-0.0", 0)] {
            assert_eq!(since(written), Ok(Some(number)), "{written}");
        }
        assert_eq!(since("18446744073709551615"), Ok(Some(u64::MAX)));
        assert_eq!(since("null"), Ok(None));
    }

    #[test]
    fn what_is_no_whole_number_is_named_with_what_was_expected_and_what_came() {
        for (written, got) in [
            ("-1", "got -1"),
            ("1.5", "got 1.5"),
            ("18446744073709551616", "got 18446744073709551616"),
            ("1e999", "got 1e999"),
            ("9007199254740993.5e3", "got 9007199254740993.5e3"),
            ("\"1\"", "got a string"),
            ("true", "got true"),
            ("[1]", "got an array"),
            ("{}", "got an object"),
        ] {
            let message = since(written).unwrap_err();
            assert!(message.starts_with("`since` must be a whole number"), "{message}");
            assert!(message.ends_with(got), "{message}");
        }
        assert!(since(&"9".repeat(100_000)).unwrap_err().len() < 120);
    }

    #[test]
    fn half_a_surrogate_pair_is_no_string() {
        let raw: &RawValue = serde_json::from_str(r#"{"session":"\ud800","other":"\ud800"}"#).unwrap();
        let arguments = Arguments::read(raw).unwrap();
        assert!(arguments.text("session").is_err());
        assert_eq!(arguments.text("absent"), Ok(None));
    }
}
