//! The lines of the protocol: what may be asked, and what is told.
//!
//! A line that cannot be honoured gets an `error` with the id it came with, if that can be read, and
//! nothing else happens. Members nobody knows are ignored, so that either side may learn more.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::output::{self, StdoutError};

/// The most that is said in one go.
const TEXT_MAX_CHARS: usize = 10_000;

/// How something is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Emotion {
    #[default]
    Neutral,
    Warm,
    Amused,
    Excited,
    Apologetic,
    Concerned,
}

impl Emotion {
    const ALL: [(&'static str, Self); 6] = [
        ("neutral", Self::Neutral),
        ("warm", Self::Warm),
        ("amused", Self::Amused),
        ("excited", Self::Excited),
        ("apologetic", Self::Apologetic),
        ("concerned", Self::Concerned),
    ];

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(known, _)| *known == name).map(|(_, emotion)| emotion)
    }
}

/// What can be asked.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// Say `text`; every event about it carries `id`.
    Say { id: u64, text: String, emotion: Emotion },
    /// Be silent now.
    Stop,
    /// Be silent now, and end.
    Quit,
}

/// Why a line was not understood.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    id: Option<u64>,
    message: String,
}

impl Fault {
    pub(super) fn new(id: Option<u64>, message: impl Into<String>) -> Self {
        Self { id, message: message.into() }
    }

    /// Tells whoever asked.
    pub(super) fn tell(&self) -> Result<(), StdoutError> {
        output::json_line(&Event::Error { id: self.id, message: &self.message })
    }
}

impl Request {
    /// What `line` asks for.
    pub(super) fn read(line: &[u8]) -> Result<Self, Fault> {
        let value = serde_json::from_slice(line)
            .map_err(|error| Fault::new(None, format!("this line is not JSON: {error}")))?;
        let Value::Object(message) = value else {
            return Err(Fault::new(None, "expected a JSON object with an `op`"));
        };
        let id = message.get("id").and_then(Value::as_u64);
        match message.get("op").and_then(Value::as_str) {
            Some("say") => Self::read_say(id, &message).map_err(|message| Fault::new(id, message)),
            Some("stop") => Ok(Self::Stop),
            Some("quit") => Ok(Self::Quit),
            Some(_) => Err(Fault::new(id, "unknown `op`; it is say, stop or quit")),
            None => Err(Fault::new(id, "`op` must be a string: say, stop or quit")),
        }
    }

    fn read_say(id: Option<u64>, message: &Map<String, Value>) -> Result<Self, String> {
        let id = id.ok_or("`id` must be a whole number, 0 or more")?;
        let text = message.get("text").and_then(Value::as_str).ok_or("`text` must be a string")?.trim();
        if text.is_empty() {
            return Err("nothing to say: `text` is empty".to_owned());
        }
        let chars = text.chars().count();
        if chars > TEXT_MAX_CHARS {
            return Err(format!("`text` has {chars} characters; the most is {TEXT_MAX_CHARS}"));
        }
        let emotion = match message.get("emotion") {
            None | Some(Value::Null) => Emotion::default(),
            Some(value) => value.as_str().and_then(Emotion::named).ok_or_else(|| {
                let names = Emotion::ALL.map(|(name, _)| name).join(", ");
                format!("unknown `emotion`; it is one of {names}")
            })?,
        };
        Ok(Self::Say { id, text: text.to_owned(), emotion })
    }
}

/// What is told.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(super) enum Event<'a> {
    /// It can speak, with this voice; `plays` says whether it will be heard.
    Ready { voice: &'a str, plays: bool },
    /// The first sound of an utterance begins, this long after it was asked for.
    Speaking { id: u64, first_audio_ms: u64 },
    /// An utterance is over.
    Done { id: u64, audio_s: f64, total_ms: u64 },
    /// An utterance was ended by a `stop`; `audio_s` counts the sentences that were begun.
    Stopped { id: u64, audio_s: f64, total_ms: u64 },
    /// Something could not be done; with an id, that utterance is over.
    Error { id: Option<u64>, message: &'a str },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(line: &str) -> (Option<u64>, String) {
        let fault = Request::read(line.as_bytes()).unwrap_err();
        (fault.id, fault.message)
    }

    #[test]
    fn a_text_comes_with_its_id_and_tone() {
        let asked = Request::read(br#"{"op":"say","id":7,"text":" Hello. ","emotion":"warm","extra":[1]}"#);
        assert_eq!(asked, Ok(Request::Say { id: 7, text: "Hello.".to_owned(), emotion: Emotion::Warm }));
        for plain in [r#"{"op":"say","id":0,"text":"x"}"#, r#"{"op":"say","id":0,"text":"x","emotion":null}"#]
        {
            let asked = Request::read(plain.as_bytes()).unwrap();
            assert_eq!(asked, Request::Say { id: 0, text: "x".to_owned(), emotion: Emotion::Neutral });
        }
    }

    #[test]
    fn what_is_wrong_is_named_under_the_id_that_can_be_read() {
        for (line, id, named) in [
            ("{", None, "not JSON"),
            ("[]", None, "`op`"),
            (r#"{"id":3}"#, Some(3), "`op`"),
            (r#"{"op":"sing","id":3}"#, Some(3), "say, stop or quit"),
            (r#"{"op":"say","text":"x"}"#, None, "`id`"),
            (r#"{"op":"say","id":-1,"text":"x"}"#, None, "`id`"),
            (r#"{"op":"say","id":4,"text":5}"#, Some(4), "`text` must be a string"),
            (r#"{"op":"say","id":4,"text":" \n"}"#, Some(4), "empty"),
            (r#"{"op":"say","id":4,"text":"x","emotion":"angry"}"#, Some(4), "apologetic"),
        ] {
            let (of, message) = fault(line);
            assert_eq!(of, id, "{line}");
            assert!(message.contains(named), "{line}: {message}");
        }
        let long = format!(r#"{{"op":"say","id":4,"text":"{}"}}"#, "ä".repeat(TEXT_MAX_CHARS + 1));
        assert!(fault(&long).1.contains("10001"), "characters are counted, not bytes");
    }

    #[test]
    fn bytes_that_are_no_text_are_no_message() {
        assert!(Request::read(b"{\"op\":\"say\",\"id\":1,\"text\":\"\xff\"}").is_err());
    }
}
