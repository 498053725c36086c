//! Subtitles.
//!
//! Written for the strictest reader there is: cues are in order and each lasts, a cue ends at the first empty line
//! and `-->` marks a line of times, so neither can come out of what was said. `WebVTT` also reads `<` and `&` as
//! marks; `SubRip` has no way to write them differently. Texts are in rows that fit on a screen.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

use super::{ExportError, LinesByClock, SpokenLine, attributed, times};
use crate::rows::wrap;

/// Columns of a row, as is usual for subtitles.
const ROW_COLUMNS: usize = 42;
/// What a line is given that lasts no time, or runs backwards: long enough to be seen.
const UNKNOWN_LEN_MS: u64 = 1_000;

/// `SubRip`: numbered from 1, a comma before the milliseconds. Without lines, nothing.
pub(super) fn srt(lines: &mut LinesByClock<'_>, out: &mut dyn Write) -> Result<(), ExportError> {
    let mut number: u64 = 0;
    let escape = |row: &mut String| {
        if row.contains("-->") {
            *row = row.replace("-->", "-- >");
        }
    };
    each_cue(lines, ',', &escape, &mut |cue| {
        number += 1;
        let gap = if number > 1 { "\n" } else { "" };
        write!(out, "{gap}{number}\n{cue}")
    })
}

/// `WebVTT`: a heading, no numbers, a dot before the milliseconds.
pub(super) fn vtt(lines: &mut LinesByClock<'_>, out: &mut dyn Write) -> Result<(), ExportError> {
    out.write_all(b"WEBVTT\n")?;
    let escape = |row: &mut String| {
        if row.contains(['&', '<', '>']) {
            *row = row.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        }
    };
    each_cue(lines, '.', &escape, &mut |cue| write!(out, "\n{cue}"))
}

/// Hands the cue of each line that has words to `see`: its times, then its rows.
fn each_cue(
    lines: &mut LinesByClock<'_>,
    mark: char,
    escape: &dyn Fn(&mut String),
    see: &mut dyn FnMut(&str) -> io::Result<()>,
) -> Result<(), ExportError> {
    let mut cue = String::new();
    lines.each(&mut |line| {
        let text: Cow<'_, str> = attributed(&line);
        if text.is_empty() {
            return Ok(());
        }
        let (start_ms, end_ms) = span(&line);
        cue.clear();
        times::cue_into(start_ms, mark, &mut cue);
        cue.push_str(" --> ");
        times::cue_into(end_ms, mark, &mut cue);
        cue.push('\n');
        for mut row in wrap(&text, ROW_COLUMNS) {
            escape(&mut row);
            // Writing to a string cannot fail.
            let _ = writeln!(cue, "{row}");
        }
        see(&cue)
    })
}

/// When a line is seen: from its start on, for some time.
fn span(line: &SpokenLine<'_>) -> (u64, u64) {
    let start_ms = line.start_ms.min(u64::MAX - UNKNOWN_LEN_MS);
    (start_ms, if line.end_ms > start_ms { line.end_ms } else { start_ms + UNKNOWN_LEN_MS })
}

#[cfg(test)]
mod tests {
    use super::super::{ExportFormat, written};
    use crate::Track;
    use crate::view::TranscriptLine;

    fn line(track: Track, span: (u64, u64), speaker: Option<&str>, text: &str) -> TranscriptLine {
        let speaker = speaker.map(str::to_owned);
        TranscriptLine { track, start_ms: span.0, end_ms: span.1, speaker, text: text.to_owned() }
    }

    fn srt(lines: &[TranscriptLine]) -> String {
        written(ExportFormat::Srt, lines, None)
    }

    fn vtt(lines: &[TranscriptLine]) -> String {
        written(ExportFormat::Vtt, lines, None)
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
        for text in [srt(std::slice::from_ref(&evil)), vtt(std::slice::from_ref(&evil))] {
            assert_eq!(text.matches("-->").count(), 1, "{text}");
            assert_eq!(text.lines().filter(|line| line.contains("A B: x 2")).count(), 1, "{text}");
        }
        assert!(vtt(&[evil]).contains("&lt;b&gt;&amp;"));
    }

    #[test]
    fn a_line_without_words_is_no_cue_and_every_cue_lasts() {
        let lines = [
            line(Track::Room, (0, 9), None, " \n "),
            line(Track::Room, (2000, 1000), None, "x"),
            line(Track::Room, (3000, 3000), None, "y"),
        ];
        assert_eq!(
            srt(&lines),
            "1\n00:00:02,000 --> 00:00:03,000\nx\n\n2\n00:00:03,000 --> 00:00:04,000\ny\n"
        );
        assert_eq!(srt(&[line(Track::Room, (u64::MAX, 0), None, "x")]).lines().count(), 3);
    }

    #[test]
    fn long_texts_are_in_rows() {
        let text = "one two three four five six seven eight nine ten eleven";
        let shown = srt(&[line(Track::Room, (0, 9), None, text)]);
        assert!(shown.ends_with("one two three four five six seven eight\nnine ten eleven\n"), "{shown}");
    }
}
