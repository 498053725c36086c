//! Subtitles.
//!
//! A cue ends at the first empty line, and `-->` marks a line of times; neither can come out of what was
//! said. `WebVTT` also reads `<` and `&` as marks, `SubRip` has no way to write them differently.

use std::fmt::Write;

use super::{attributed, times};
use crate::view::TranscriptLine;

/// `SubRip`: numbered from 1, a comma before the milliseconds. Without lines, nothing.
pub(super) fn srt(lines: &[TranscriptLine]) -> String {
    let mut srt = String::new();
    for (number, cue) in (1_u64..).zip(cues(lines, ',')) {
        if number > 1 {
            srt.push('\n');
        }
        // Writing to a string cannot fail.
        let _ = writeln!(srt, "{number}\n{}\n{}", cue.times, cue.text.replace("-->", "-- >"));
    }
    srt
}

/// `WebVTT`: a heading, no numbers, a dot before the milliseconds.
pub(super) fn vtt(lines: &[TranscriptLine]) -> String {
    let mut vtt = String::from("WEBVTT\n");
    for cue in cues(lines, '.') {
        let text = cue.text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let _ = writeln!(vtt, "\n{}\n{text}", cue.times);
    }
    vtt
}

struct Cue {
    times: String,
    text: String,
}

/// The cues of all lines that have words.
fn cues(lines: &[TranscriptLine], mark: char) -> impl Iterator<Item = Cue> + use<'_> {
    lines
        .iter()
        .map(move |line| {
            let end_ms = line.end_ms.max(line.start_ms);
            Cue {
                times: format!("{} --> {}", times::cue(line.start_ms, mark), times::cue(end_ms, mark)),
                text: attributed(line),
            }
        })
        .filter(|cue| !cue.text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Track;

    fn line(track: Track, span: (u64, u64), speaker: Option<&str>, text: &str) -> TranscriptLine {
        let speaker = speaker.map(str::to_owned);
        TranscriptLine { track, start_ms: span.0, end_ms: span.1, speaker, text: text.to_owned() }
    }

    fn conversation() -> [TranscriptLine; 2] {
        [line(Track::Room, (0, 1500), Some("Ana"), "hello"), line(Track::Call, (1500, 4000), None, "hi")]
    }

    #[test]
    fn subrip_is_what_players_expect() {
        assert_eq!(
            srt(&conversation()),
            "1\n00:00:00,000 --> 00:00:01,500\nAna: hello\n\n2\n00:00:01,500 --> 00:00:04,000\nhi\n"
        );
        assert_eq!(srt(&[]), "");
    }

    #[test]
    fn webvtt_is_what_browsers_expect() {
        assert_eq!(
            vtt(&conversation()),
            "WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nAna: hello\n\n00:00:01.500 --> 00:00:04.000\nhi\n"
        );
        assert_eq!(vtt(&[]), "WEBVTT\n");
    }

    #[test]
    fn what_was_said_cannot_end_a_cue_or_begin_one() {
        let evil =
            line(Track::Room, (0, 9), Some("A\n\nB"), "x\n\n2\n00:00:00,000 --> 00:00:09,000\n<b>& --->");
        for (text, arrows) in [(srt(std::slice::from_ref(&evil)), 1), (vtt(std::slice::from_ref(&evil)), 1)] {
            assert_eq!(text.matches("-->").count(), arrows, "{text}");
            assert_eq!(text.lines().filter(|line| line.contains("A B: x 2")).count(), 1, "{text}");
        }
        assert!(vtt(&[evil]).contains("&lt;b&gt;&amp;"));
    }

    #[test]
    fn a_line_without_words_is_no_cue_and_a_span_never_runs_backwards() {
        let lines = [line(Track::Room, (0, 9), None, " \n "), line(Track::Room, (2000, 1000), None, "x")];
        assert_eq!(srt(&lines), "1\n00:00:02,000 --> 00:00:02,000\nx\n");
    }
}
