//! What is said to a voice, and what it says: one JSON object a line.
//!
//! A line that is no JSON, or is about something else, is passed over: engines print what they like.

use serde::{Deserialize, Serialize};

/// What the server tells the voice.
#[derive(Debug, Serialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub(super) enum Told<'a> {
    /// Say this.
    Say {
        /// By which the answers name it.
        id: u64,
        /// The words.
        text: &'a str,
        /// The tone.
        emotion: &'a str,
    },
    /// Be silent now.
    Stop,
    /// End.
    Quit,
}

/// What the voice says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// It can be told to say something.
    Ready,
    /// An utterance can be heard.
    Speaking { id: u64, first_audio_ms: u64 },
    /// An utterance was heard to its end.
    Done { id: u64, audio_ms: u64 },
    /// An utterance was ended because it was told to stop.
    Stopped { id: u64 },
    /// An utterance was not, or without an id, nothing will be.
    Error { id: Option<u64>, message: String },
}

/// A line as it comes.
#[derive(Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum Line {
    Ready {},
    Speaking {
        id: u64,
        #[serde(default)]
        first_audio_ms: f64,
    },
    Done {
        id: u64,
        #[serde(default)]
        audio_s: f64,
    },
    Stopped {
        id: u64,
    },
    Error {
        id: Option<u64>,
        #[serde(default)]
        message: String,
    },
}

impl Heard {
    /// What a line says; `None` if it is not for us.
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        Some(match serde_json::from_slice(line).ok()? {
            Line::Ready {} => Self::Ready,
            Line::Speaking { id, first_audio_ms } => {
                Self::Speaking { id, first_audio_ms: whole_ms(first_audio_ms) }
            }
            Line::Done { id, audio_s } => Self::Done { id, audio_ms: whole_ms(audio_s * 1000.0) },
            Line::Stopped { id } => Self::Stopped { id },
            Line::Error { id, message } if message.trim().is_empty() => {
                Self::Error { id, message: "it does not say why".to_owned() }
            }
            Line::Error { id, message } => Self::Error { id, message },
        })
    }
}

/// Milliseconds as a whole number; what is no length of time is 0.
fn whole_ms(ms: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast saturates, NaN is 0")]
    let whole = ms.round() as u64;
    whole
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_for_us_is_understood_and_the_rest_passed_over() {
        let heard = |line: &str| Heard::read(line.as_bytes());
        assert_eq!(heard(r#"{"event":"ready","engine":"kokoro","rate":24000}"#), Some(Heard::Ready));
        let speaking = r#"{"event":"speaking","id":7,"first_audio_ms":412.6}"#;
        assert_eq!(heard(speaking), Some(Heard::Speaking { id: 7, first_audio_ms: 413 }));
        let done = r#"{"event":"done","id":7,"audio_s":1.25,"total_ms":1700}"#;
        assert_eq!(heard(done), Some(Heard::Done { id: 7, audio_ms: 1250 }));
        let error = r#"{"event":"error","id":7,"message":"no such voice"}"#;
        let message = "no such voice".to_owned();
        assert_eq!(heard(error), Some(Heard::Error { id: Some(7), message }));
        assert!(matches!(heard(r#"{"event":"error"}"#), Some(Heard::Error { id: None, .. })));
        for line in ["loading…", "{}", "[]", r#"{"event":"meter","level":3}"#, r#"{"event":"done"}"#, ""] {
            assert_eq!(heard(line), None, "{line}");
        }
        assert_eq!(
            heard(r#"{"event":"done","id":1,"audio_s":-3}"#),
            Some(Heard::Done { id: 1, audio_ms: 0 })
        );
    }

    #[test]
    fn what_is_told_is_one_object_with_its_op() {
        let say = Told::Say { id: 3, text: "Ja — \"so\"\n", emotion: "warm" };
        let written = serde_json::to_string(&say).unwrap();
        assert_eq!(written, r#"{"op":"say","id":3,"text":"Ja — \"so\"\n","emotion":"warm"}"#);
        assert_eq!(serde_json::to_string(&Told::Stop).unwrap(), r#"{"op":"stop"}"#);
        assert_eq!(serde_json::to_string(&Told::Quit).unwrap(), r#"{"op":"quit"}"#);
    }

    proptest! {
        #[test]
        fn any_line_is_judged_without_a_panic(line: Vec<u8>) {
            let _ = Heard::read(&line);
        }
    }
}
