//! One line a turn, as text or as JSON.

use super::attributed;
use crate::view::TranscriptLine;

/// `Name: text` or `text`, with a blank line wherever the track changes.
pub(super) fn text(lines: &[TranscriptLine]) -> String {
    let mut text = String::new();
    let mut track = None;
    for line in lines {
        if track.is_some_and(|before| before != line.track) {
            text.push('\n');
        }
        track = Some(line.track);
        text.push_str(&attributed(line));
        text.push('\n');
    }
    text
}

/// The lines as an indented array with the keys that readers know.
pub(super) fn json(lines: &[TranscriptLine]) -> String {
    // Strings, numbers and nothing else: there is no value of these types that cannot be written.
    serde_json::to_string_pretty(lines).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Track;

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
        assert_eq!(text(&lines), "Ana: hello there\nagain\n\nhi\n");
        assert_eq!(text(&[]), "");
    }

    #[test]
    fn json_has_the_known_keys_in_their_order_and_no_newline_at_the_end() {
        let expected = "[\n  {\n    \"track\": \"room\",\n    \"start_ms\": 0,\n    \"end_ms\": 1000,\n    \
                        \"speaker\": \"Ana\",\n    \"text\": \"a \\\"b\\\"\\n\"\n  }\n]";
        assert_eq!(json(&[line(Track::Room, Some("Ana"), "a \"b\"\n")]), expected);
        assert_eq!(json(&[]), "[]");
    }
}
