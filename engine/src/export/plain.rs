//! One line a turn, as text or as JSON.

use std::io::{self, Write};

use serde::Serializer as _;
use serde::ser::SerializeSeq as _;

use super::{ExportError, LinesByClock, attributed};

/// `Name: text` or `text`, with a blank line wherever the track changes.
pub(super) fn text(lines: &mut LinesByClock<'_>, out: &mut dyn Write) -> Result<(), ExportError> {
    let mut track = None;
    lines.each(&mut |line| {
        if track.is_some_and(|before| before != line.track) {
            out.write_all(b"\n")?;
        }
        track = Some(line.track);
        out.write_all(attributed(&line).as_bytes())?;
        out.write_all(b"\n")
    })
}

/// The lines as an indented array with the keys that readers know.
pub(super) fn json(lines: &mut LinesByClock<'_>, out: &mut dyn Write) -> Result<(), ExportError> {
    let mut serializer = serde_json::Serializer::pretty(out);
    let mut array = serializer.serialize_seq(None).map_err(io::Error::from)?;
    lines.each(&mut |line| array.serialize_element(&line).map_err(io::Error::from))?;
    Ok(array.end().map_err(io::Error::from)?)
}

#[cfg(test)]
mod tests {
    use super::super::{ExportFormat, written};
    use crate::Track;
    use crate::view::TranscriptLine;

    fn line(track: Track, speaker: Option<&str>, text: &str) -> TranscriptLine {
        let speaker = speaker.map(str::to_owned);
        TranscriptLine { track, start_ms: 0, end_ms: 1000, speaker, text: text.to_owned() }
    }

    #[test]
    fn the_track_changing_leaves_a_gap() {
        let lines = [
            line(Track::Room, Some("Ana"), "hello\nthere "),
            line(Track::Room, Some(" "), "again"),
            line(Track::Call, None, "hi"),
        ];
        assert_eq!(written(ExportFormat::Text, &lines, None), "Ana: hello there\nagain\n\nhi\n");
        assert_eq!(written(ExportFormat::Text, &[], None), "");
    }

    #[test]
    fn json_has_the_known_keys_in_their_order_and_no_newline_at_the_end() {
        let expected = "[\n  {\n    \"track\": \"room\",\n    \"start_ms\": 0,\n    \"end_ms\": 1000,\n    \
                        \"speaker\": \"Ana\",\n    \"text\": \"a \\\"b\\\"\\n\"\n  }\n]";
        let lines = [line(Track::Room, Some("Ana"), "a \"b\"\n")];
        assert_eq!(written(ExportFormat::Json, &lines, None), expected);
        assert_eq!(serde_json::to_string_pretty(&lines).unwrap(), expected);
        assert_eq!(written(ExportFormat::Json, &[], None), "[]");
    }
}
