//! Subtitles, read by parsers that forgive nothing: whatever was said, however lines overlap, and also where
//! they last no time or run backwards.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::str::Lines;

use ambient_engine::Track;
use ambient_engine::export::{ExportFormat, LinesByClock, Title, write};
use ambient_engine::rows::width;
use ambient_engine::view::TranscriptLine;
use proptest::prelude::*;

/// A cue as a player has it.
#[derive(Debug, PartialEq)]
struct Cue {
    start_ms: u64,
    end_ms: u64,
    rows: Vec<String>,
}

fn written(format: ExportFormat, lines: &[TranscriptLine]) -> String {
    let mut bytes = Vec::new();
    write(format, Title::default(), &mut LinesByClock::of(lines), &mut bytes).unwrap();
    String::from_utf8(bytes).expect("UTF-8")
}

/// A whole number of digits alone, at least so many.
fn digits(text: &str, at_least: usize) -> Option<u64> {
    let is_number = text.len() >= at_least && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

/// `HH:MM:SS` with two digits or more, two and two, and three behind `mark`.
fn time(text: &str, mark: char) -> Option<u64> {
    let (clock, rest) = text.split_once(mark)?;
    let parts: Vec<_> = clock.split(':').collect();
    let [hours, minutes, seconds] = parts[..] else { return None };
    let sixty = |part: &str| digits(part, 2).filter(|number| part.len() == 2 && *number < 60);
    let ms = digits(rest, 3).filter(|_| rest.len() == 3)?;
    let seconds = digits(hours, 2)? * 3_600 + sixty(minutes)? * 60 + sixty(seconds)?;
    Some(seconds * 1_000 + ms)
}

/// The times and rows of a cue, up to an empty line or the end.
fn cue(lines: &mut Lines<'_>, mark: char) -> Cue {
    let times = lines.next().expect("a cue has times");
    let (start, end) = times.split_once(" --> ").unwrap_or_else(|| panic!("no arrow: {times:?}"));
    let (start_ms, end_ms) = (time(start, mark).expect(start), time(end, mark).expect(end));
    let rows: Vec<String> = lines.take_while(|line| !line.is_empty()).map(str::to_owned).collect();
    assert!(!rows.is_empty() && rows.iter().all(|row| !row.trim().is_empty()), "{rows:?}");
    assert!(rows.iter().all(|row| !row.contains("-->")), "{rows:?}");
    Cue { start_ms, end_ms, rows }
}

fn assert_form(text: &str) {
    assert!(!text.starts_with('\u{feff}') && !text.contains('\r'));
    assert!(!text.ends_with("\n\n") && !text.contains("\n\n\n"), "one blank line between cues");
    assert!(text.chars().all(|character| character == '\n' || !character.is_control()));
}

fn assert_ordered(cues: &[Cue]) {
    assert!(cues.iter().all(|cue| cue.start_ms < cue.end_ms), "each lasts: {cues:?}");
    assert!(cues.windows(2).all(|two| two[0].start_ms <= two[1].start_ms), "in order: {cues:?}");
}

fn parse_srt(text: &str) -> Vec<Cue> {
    assert_form(text);
    assert!(text.is_empty() || text.ends_with('\n'));
    let mut lines = text.lines();
    let mut cues = Vec::new();
    while let Some(number) = lines.next() {
        cues.push(cue(&mut lines, ','));
        assert_eq!(number, cues.len().to_string());
    }
    assert_ordered(&cues);
    cues
}

fn parse_vtt(text: &str) -> Vec<Cue> {
    assert_form(text);
    let rest = text.strip_prefix("WEBVTT\n").expect("the heading");
    let mut lines = rest.lines();
    let mut cues = Vec::new();
    if lines.next().is_some_and(str::is_empty) {
        while lines.clone().next().is_some() {
            cues.push(cue(&mut lines, '.'));
        }
    }
    for row in cues.iter_mut().flat_map(|cue| &mut cue.rows) {
        assert!(!row.contains(['<', '>']), "{row}");
        let marks = ["&amp;", "&lt;", "&gt;"].map(|mark| row.matches(mark).count()).iter().sum::<usize>();
        assert_eq!(row.matches('&').count(), marks, "{row}");
        *row = row.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    }
    assert_ordered(&cues);
    cues
}

fn squeezed(text: &str) -> String {
    text.split(|character: char| character.is_whitespace() || character.is_control()).collect()
}

/// What a line says in a cue, without its blanks; nothing when it has no words.
fn said(line: &TranscriptLine) -> String {
    match line.speaker.as_deref().map(squeezed).filter(|name| !name.is_empty()) {
        Some(name) => format!("{name}:{}", squeezed(&line.text)),
        None => squeezed(&line.text),
    }
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{0,80}",
        "[ a-z]{0,200}",
        "[会議は終わりました。 ]{0,80}",
        "(-->|->|--|&|<|>|&amp;|\n|\r\n|\n\n|\u{85}|\u{2028}|\u{0}|1|00:00:01,000| ){0,12}",
        any::<String>(),
        Just("1\n00:00:00,000 --> 00:00:09,000\nnot a cue\n\n2".to_owned()),
        Just("NOTE\n\nSTYLE\n::cue { color: red }\n\nWEBVTT".to_owned()),
    ]
}

fn any_line() -> impl Strategy<Value = TranscriptLine> {
    let moment = || prop_oneof![0_u64..10_000_000, Just(u64::MAX), Just(359_999_999), any::<u64>()];
    (any::<bool>(), moment(), moment(), proptest::option::of(text()), text()).prop_map(
        |(is_room, start_ms, end_ms, speaker, text)| {
            let track = if is_room { Track::Room } else { Track::Call };
            TranscriptLine { track, start_ms, end_ms, speaker, text }
        },
    )
}

proptest! {
    #[test]
    fn a_strict_parser_reads_what_was_said(mut lines in proptest::collection::vec(any_line(), 0..12)) {
        let (srt, vtt) = (written(ExportFormat::Srt, &lines), written(ExportFormat::Vtt, &lines));
        let (srt, vtt) = (parse_srt(&srt), parse_vtt(&vtt));
        lines.sort_by_key(|line| line.start_ms);
        let expected: Vec<_> = lines.iter().filter(|line| !said(line).is_empty()).collect();
        prop_assert_eq!(vtt.len(), expected.len());
        for ((srt, vtt), line) in srt.iter().zip(&vtt).zip(&expected) {
            prop_assert_eq!(squeezed(&vtt.rows.concat()), said(line));
            let arrow = |text: &str| squeezed(text).replace(['-', '>'], "");
            prop_assert_eq!(arrow(&srt.rows.concat()), arrow(&said(line)), "but for arrows");
            prop_assert_eq!((srt.start_ms, srt.end_ms), (vtt.start_ms, vtt.end_ms));
            if line.start_ms < line.end_ms && line.start_ms < u64::MAX - 1_000 {
                prop_assert_eq!((vtt.start_ms, vtt.end_ms), (line.start_ms, line.end_ms));
            }
        }
        prop_assert_eq!(srt.len(), expected.len());
    }

    #[test]
    fn rows_are_as_wide_as_a_screen_has_room_for(text in "[a-zéü会議。, -]{0,300}") {
        let line = TranscriptLine { track: Track::Room, start_ms: 0, end_ms: 9, speaker: None, text };
        for cue in parse_vtt(&written(ExportFormat::Vtt, &[line])) {
            prop_assert!(cue.rows.iter().all(|row| width(row) <= 42), "{:?}", cue.rows);
        }
    }
}
