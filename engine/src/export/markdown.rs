//! The transcript as a document: front matter, a heading, and a paragraph a turn.
//!
//! This is also what `transcript.md` holds. Room lines that are the call heard by the microphone are left
//! out and counted at the end; every other format keeps both copies.

use std::fmt::Write;

use serde_json::Value;

use super::{bleed, on_one_line, speaker, times};
use crate::session::SessionMetadata;
use crate::view::TranscriptLine;

pub(super) fn markdown(lines: &[TranscriptLine], metadata: Option<&SessionMetadata>) -> String {
    let kept = bleed::kept(lines);
    let dropped = kept.iter().filter(|kept| !**kept).count();
    let shown: Vec<_> = lines.iter().zip(kept).filter_map(|(line, kept)| kept.then_some(line)).collect();
    let mut document = front_matter(&shown, metadata);
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(document, "\n# {}\n", heading(metadata));
    if shown.is_empty() {
        document.push_str("_No speech was transcribed._\n");
    }
    for line in shown {
        let time = times::clock(line.start_ms);
        let _ = match speaker(line) {
            Some(name) => writeln!(document, "**[{time}] {name}** ({})", line.track),
            None => writeln!(document, "**[{time}] {}**", line.track),
        };
        let _ = writeln!(document, "{}\n", on_one_line(&line.text));
    }
    if dropped > 0 {
        let _ = writeln!(document, "---\n_{dropped} room line(s) suppressed as call-track duplicates._");
    }
    document
}

fn heading(metadata: Option<&SessionMetadata>) -> String {
    let name = metadata.and_then(|metadata| metadata.name.as_deref()).map(on_one_line);
    let id = metadata.map(|metadata| on_one_line(&metadata.id));
    let given = |text: &String| !text.is_empty();
    name.filter(given).or(id.filter(given)).unwrap_or_else(|| "Transcript".to_owned())
}

fn front_matter(shown: &[&TranscriptLine], metadata: Option<&SessionMetadata>) -> String {
    let mut matter = String::from("---\n");
    let mut field = |key: &str, value: &str| {
        let _ = writeln!(matter, "{key}: {value}");
    };
    if let Some(metadata) = metadata {
        field("id", &quoted(&metadata.id));
        let texts = [
            ("name", &metadata.name),
            ("started_at", &metadata.started_at),
            ("ended_at", &metadata.ended_at),
        ];
        for (key, text) in texts {
            if let Some(text) = text {
                field(key, &quoted(text));
            }
        }
        if let Some(duration_s) = metadata.duration_s {
            field("duration_s", &format!("{duration_s:.1}"));
        }
        if !metadata.apps.is_empty() {
            field("apps", &list(&metadata.apps));
        }
        field("model", &quoted(&metadata.model));
        for (key, texts) in [("tags", &metadata.tags), ("warnings", &metadata.warnings)] {
            if !texts.is_empty() {
                field(key, &list(texts));
            }
        }
        if !metadata.notes.is_empty() {
            field("notes", &quoted(&metadata.notes));
        }
    }
    field("speakers", &list(&speakers(shown)));
    matter.push_str("---\n");
    matter
}

/// The speakers in the order in which they first spoke.
fn speakers(shown: &[&TranscriptLine]) -> Vec<String> {
    let mut speakers = Vec::new();
    for name in shown.iter().filter_map(|line| speaker(line)) {
        if !speakers.contains(&name) {
            speakers.push(name);
        }
    }
    speakers
}

/// Quoted as JSON, which YAML reads as it is.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn list(texts: &[String]) -> String {
    let quoted: Vec<_> = texts.iter().map(|text| quoted(text)).collect();
    format!("[{}]", quoted.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Track;

    fn line(track: Track, start_ms: u64, speaker: Option<&str>, text: &str) -> TranscriptLine {
        let speaker = speaker.map(str::to_owned);
        TranscriptLine { track, start_ms, end_ms: start_ms + 3000, speaker, text: text.to_owned() }
    }

    fn metadata() -> SessionMetadata {
        SessionMetadata {
            id: "2026-09-05T1412".into(),
            name: Some("Road\"map".into()),
            started_at: Some("2026-09-05T14:12:03+02:00".into()),
            ended_at: Some("2026-09-05T14:31:47+02:00".into()),
            duration_s: Some(1184.04),
            model: "tiny.en".into(),
            ..SessionMetadata::default()
        }
    }

    #[test]
    fn a_whole_document() {
        let lines = [
            line(Track::Room, 0, Some("Ana"), " hello\nall "),
            line(Track::Call, 3_700_000, None, "the deploy went out fine"),
            line(Track::Room, 3_700_100, None, "the deploy went out fine"),
        ];
        let expected = "---\nid: \"2026-09-05T1412\"\nname: \"Road\\\"map\"\n\
            started_at: \"2026-09-05T14:12:03+02:00\"\nended_at: \"2026-09-05T14:31:47+02:00\"\n\
            duration_s: 1184.0\nmodel: \"tiny.en\"\nspeakers: [\"Ana\"]\n---\n\n# Road\"map\n\n\
            **[00:00] Ana** (room)\nhello all\n\n**[01:01:40] call**\nthe deploy went out fine\n\n\
            ---\n_1 room line(s) suppressed as call-track duplicates._\n";
        assert_eq!(markdown(&lines, Some(&metadata())), expected);
    }

    #[test]
    fn what_a_person_added_is_shown_when_there_is_any() {
        let metadata = SessionMetadata {
            apps: vec!["us.zoom.xos".into()],
            tags: vec!["a, b".into(), "c".into()],
            warnings: vec!["the call track is silent".into()],
            notes: "first\nsecond".into(),
            ..metadata()
        };
        let document = markdown(&[], Some(&metadata));
        for field in [
            "apps: [\"us.zoom.xos\"]\n",
            "tags: [\"a, b\", \"c\"]\n",
            "warnings: [\"the call track is silent\"]\n",
            "notes: \"first\\nsecond\"\n",
        ] {
            assert!(document.contains(field), "{field}");
        }
    }

    #[test]
    fn without_lines_and_description_there_is_still_a_document() {
        assert_eq!(
            markdown(&[], None),
            "---\nspeakers: []\n---\n\n# Transcript\n\n_No speech was transcribed._\n"
        );
    }

    #[test]
    fn what_was_said_cannot_pass_for_another_turn() {
        let document =
            markdown(&[line(Track::Room, 0, Some("A\n\n# B"), "x\n\n**[00:09] Bo** (call)\ny")], None);
        assert_eq!(document.lines().filter(|line| line.starts_with("**[")).count(), 1);
        assert_eq!(document.lines().filter(|line| line.starts_with("# ")).count(), 1);
    }
}
