//! JSON: an array of lines, as `ambient export` writes it, or under `segments` (Whisper), `transcription`
//! (whisper.cpp) or `lines`.

use serde_json::Value;

use super::TranscriptFile;
use crate::view::TranscriptLine;

/// Where programs keep the array.
const KEYS: [&str; 3] = ["segments", "transcription", "lines"];

pub(super) fn read(text: &str, file: &mut TranscriptFile) {
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => return file.skip(format!("not JSON: {error}")),
    };
    let array = value.as_array().or_else(|| KEYS.iter().find_map(|key| value.get(key)?.as_array()));
    for (number, element) in array.into_iter().flatten().enumerate() {
        match line(element) {
            Some(line) => file.lines.push(line),
            None => file.skip(format!("element {number} has no text, or no time")),
        }
    }
}

fn line(element: &Value) -> Option<TranscriptLine> {
    let text = element.get("text")?.as_str()?.trim();
    let moment = |ms: &str, offset: &str, seconds: &str| {
        let whole = element.get(ms).and_then(Value::as_u64);
        let offset = || element.get("offsets")?.get(offset)?.as_u64();
        let seconds = || {
            let duration = std::time::Duration::try_from_secs_f64(element.get(seconds)?.as_f64()?).ok()?;
            u64::try_from(duration.as_millis()).ok()
        };
        whole.or_else(offset).or_else(seconds)
    };
    let start_ms = moment("start_ms", "from", "start")?;
    let end_ms = moment("end_ms", "to", "end").unwrap_or(start_ms).max(start_ms);
    let track = element.get("track").and_then(Value::as_str).and_then(|word| word.parse().ok());
    let speaker =
        element.get("speaker").and_then(Value::as_str).map(str::trim).filter(|name| !name.is_empty());
    let is_said = !text.is_empty();
    is_said.then(|| TranscriptLine {
        track: track.unwrap_or(crate::Track::Room),
        start_ms,
        end_ms,
        speaker: speaker.map(str::to_owned),
        text: text.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Track;

    #[test]
    fn arrays_of_many_hands_are_read() {
        for text in [
            r#"[{"track":"call","start_ms":1000,"end_ms":1500,"speaker":"Ana","text":" hi "}]"#,
            r#"{"segments":[{"start":1.0,"end":1.5,"text":"hi","track":"call","speaker":"Ana"}]}"#,
            r#"{"transcription":[{"offsets":{"from":1000,"to":1500},"text":"hi","track":"call","speaker":"Ana"}]}"#,
        ] {
            let mut file = TranscriptFile::default();
            read(text, &mut file);
            let expected = TranscriptLine {
                track: Track::Call,
                start_ms: 1000,
                end_ms: 1500,
                speaker: Some("Ana".into()),
                text: "hi".into(),
            };
            assert_eq!(file.lines, [expected], "{text}");
        }
    }

    #[test]
    fn what_is_no_line_is_named() {
        let mut file = TranscriptFile::default();
        read(r#"[{"text":"no time"},{"start":-1,"text":"x"},7,{"start_ms":1,"text":""}]"#, &mut file);
        assert_eq!((file.lines.len(), file.skipped.len()), (0, 4));
        read("{", &mut file);
        assert_eq!(file.skipped.len(), 5);
    }
}
