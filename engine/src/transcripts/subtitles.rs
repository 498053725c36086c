//! SRT and `WebVTT`: a line with two times, and rows up to the next blank line.

use super::TranscriptFile;
use crate::Track;
use crate::view::TranscriptLine;

/// A name before a colon has at most so many characters, and so many words.
const NAME_CHARACTERS_MAX: usize = 40;
const NAME_WORDS_MAX: usize = 4;

pub(super) fn read(text: &str, file: &mut TranscriptFile) {
    let mut rows = (1_u64..).zip(text.lines().map(str::trim_end)).peekable();
    while let Some((number, row)) = rows.next() {
        let Some((start, end)) = row.split_once("-->") else { continue };
        let times = time(start.trim()).zip(end.split_whitespace().next().and_then(time));
        let mut said = Vec::new();
        while let Some((_, row)) = rows.next_if(|(_, row)| !row.is_empty() && !row.contains("-->")) {
            said.push(row);
        }
        let Some((start_ms, end_ms)) = times else {
            file.skip(format!("line {number}: {:?} are no times", row.chars().take(60).collect::<String>()));
            continue;
        };
        let (speaker, text) = attributed(&said.join(" "));
        if text.is_empty() {
            file.skip(format!("line {number}: nothing is said"));
            continue;
        }
        let end_ms = end_ms.max(start_ms);
        file.lines.push(TranscriptLine { track: Track::Room, start_ms, end_ms, speaker, text });
    }
}

/// `HH:MM:SS,mmm` or `MM:SS.mmm`, with as many digits behind the mark as there are.
fn time(text: &str) -> Option<u64> {
    let (clock, fraction) = text.split_once([',', '.']).unwrap_or((text, ""));
    let digits = |part: &str| {
        let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if is_number { part.parse::<u64>().ok() } else { None }
    };
    let mut seconds: u64 = 0;
    let mut parts = 0;
    for part in clock.split(':') {
        seconds = seconds.checked_mul(60)?.checked_add(digits(part)?)?;
        parts += 1;
    }
    let ms = if fraction.is_empty() { 0 } else { digits(format!("{fraction}00").get(..3)?)? };
    if (2..=3).contains(&parts) { seconds.checked_mul(1_000)?.checked_add(ms) } else { None }
}

/// Who speaks, and the words without marks.
fn attributed(said: &str) -> (Option<String>, String) {
    let voice = said.trim_start().strip_prefix("<v").and_then(|rest| rest.split_once('>'));
    let voice = voice.map(|(name, _)| plain(name.trim_start_matches(|c| c != ' ')));
    let text = plain(&without_tags(said));
    if let Some(name) = voice.filter(|name| !name.is_empty()) {
        return (Some(name), text);
    }
    match text.split_once(": ") {
        Some((name, words)) if is_name(name) && !words.trim().is_empty() => {
            (Some(name.to_owned()), words.trim().to_owned())
        }
        _ => (None, text),
    }
}

/// Whether what stands before a colon is a name rather than the beginning of a sentence.
fn is_name(text: &str) -> bool {
    text.chars().count() <= NAME_CHARACTERS_MAX
        && text.split(' ').count() <= NAME_WORDS_MAX
        && text.chars().next().is_some_and(|first| first.is_alphanumeric() && !first.is_ascii_digit())
        && !text.contains(['.', ',', ';', '?', '!', '"'])
}

/// `<i>`, `</c>`, `<00:01.000>` and the like taken out.
fn without_tags(text: &str) -> String {
    let mut left = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('<') {
        left.push_str(before);
        match behind.split_once('>') {
            Some((tag, behind)) if tag.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '/') => {
                rest = behind;
            }
            _ => {
                left.push('<');
                rest = behind;
            }
        }
    }
    left + rest
}

/// Entities as what they stand for, and blanks as one.
fn plain(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&nbsp;", " ").replace("&amp;", "&");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::export::{ExportFormat, LinesByClock, Title, write};

    fn lines(text: &str) -> Vec<(u64, u64, Option<String>, String)> {
        let mut file = TranscriptFile::default();
        read(text, &mut file);
        file.lines.into_iter().map(|line| (line.start_ms, line.end_ms, line.speaker, line.text)).collect()
    }

    #[test]
    fn subtitles_of_many_hands_are_read() {
        let said = |start, end, speaker: Option<&str>, text: &str| {
            (start, end, speaker.map(str::to_owned), text.to_owned())
        };
        assert_eq!(
            lines(
                "1\r\n00:00:01,5 --> 00:00:02,25 X1:10\r\n<i>hi</i>\r\nthere\r\n\r\n\r\n2\r\n1:00:00.000 --> 1:00:01.000\r\nAna: 5 < 6\r\n"
            ),
            [said(1500, 2250, None, "hi there"), said(3_600_000, 3_601_000, Some("Ana"), "5 < 6")]
        );
        let vtt = "WEBVTT - a title\n\nNOTE nothing\n\nSTYLE\n::cue {}\n\nid-1\n00:01.000 --> 00:02.000 align:start\n\
            <v.loud Ben>R&amp;D &lt;now&gt;</v>\n\n00:09.000 --> 00:08.000\nIs it so: yes. No\n";
        assert_eq!(
            lines(vtt),
            [said(1000, 2000, Some("Ben"), "R&D <now>"), said(9000, 9000, Some("Is it so"), "yes. No")]
        );
    }

    #[test]
    fn what_is_no_cue_is_named() {
        let mut file = TranscriptFile::default();
        read("1\n00:00:xx,000 --> 00:00:02,000\nlost\n\n2\n00:00:01,000 --> 00:00:02,000\n\n", &mut file);
        assert!(file.lines.is_empty());
        assert!(file.skipped[0].starts_with("line 2:") && file.skipped[1].starts_with("line 6:"), "{file:?}");
    }

    proptest! {
        #[test]
        fn any_text_is_read(text: String, odd in "(-->|:|,|\n|\n\n|<|>|&|0|1|00:00:01,000 --> 9:9:9.9\n){0,30}") {
            lines(&text);
            lines(&odd);
        }

        /// What is exported comes back.
        #[test]
        fn both_forms_come_back(texts in proptest::collection::vec("[a-z]{1,9}( [a-zé&<>]{1,9}){0,20}", 1..8)) {
            let said: Vec<_> = (0_u64..).zip(&texts).map(|(n, text)| TranscriptLine {
                track: Track::Room, start_ms: n * 1000, end_ms: n * 1000 + 500,
                speaker: (n % 2 == 0).then(|| "Ana".to_owned()), text: text.clone(),
            }).collect();
            let mut bytes = Vec::new();
            write(ExportFormat::Vtt, Title::default(), &mut LinesByClock::of(&said), &mut bytes).unwrap();
            let mut file = TranscriptFile::default();
            read(&String::from_utf8(bytes).unwrap(), &mut file);
            prop_assert_eq!(file.lines.len(), said.len());
            for (one, other) in file.lines.iter().zip(&said) {
                prop_assert_eq!((one.start_ms, one.end_ms, &one.speaker), (other.start_ms, other.end_ms, &other.speaker));
            }
        }
    }
}
