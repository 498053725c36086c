//! The transcript as a document: front matter, a heading, and a paragraph a turn.
//!
//! This is also what `transcript.md` holds. Room lines that are the call heard by the microphone are left
//! out and counted at the end; every format that is no document keeps both copies. Lines that overlap in time
//! are looked at together, and no others are held.

use std::io::{self, Write};

use serde_json::Value;

use super::{ExportError, LinesByClock, SpokenLine, Title, bleed, on_one_line, speaker, times};
use crate::session::SessionMetadata;
use crate::view::TranscriptLine;

pub(super) fn markdown(
    metadata: Option<&SessionMetadata>,
    lines: &mut LinesByClock<'_>,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let mut speakers = Vec::new();
    each_kept(lines, &mut |line| {
        if let Some(name) = speaker(&line).filter(|name| !speakers.iter().any(|known| known == name)) {
            speakers.push(name.into_owned());
        }
        Ok(())
    })?;
    front_matter(&speakers, metadata, out)?;
    write!(out, "\n# {}\n\n", heading(metadata))?;
    body(lines, out)?;
    Ok(())
}

/// The document without its front matter under a heading that says when and how long, and where an assistant
/// can read on.
pub(super) fn assistant(
    title: Title<'_>,
    lines: &mut LinesByClock<'_>,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let id = on_one_line(title.id);
    let name = if title.metadata.is_some() { heading(title.metadata) } else { id.to_string() };
    let started = title.metadata.and_then(|metadata| metadata.started_at.as_deref().map(on_one_line));
    let length = title.metadata.and_then(|metadata| Some(times::clock(whole_ms(metadata.duration_s?))));
    let facts: Vec<_> = started.into_iter().map(|text| text.to_string()).chain(length).collect();
    let facts = if facts.is_empty() { String::new() } else { format!(" ({})", facts.join(", ")) };
    write!(out, "# {name}{facts}\n\n")?;
    if !body(lines, out)? {
        out.write_all(b"\n")?;
    }
    Ok(writeln!(out, "Read live with the ambient MCP server: session id {id}")?)
}

/// Milliseconds of a length in seconds; what is none has none.
fn whole_ms(duration_s: f64) -> u64 {
    std::time::Duration::try_from_secs_f64(duration_s)
        .map_or(0, |duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}

/// A paragraph a turn, and how many were left out. Whether it ends with a blank line.
fn body(lines: &mut LinesByClock<'_>, out: &mut dyn Write) -> Result<bool, ExportError> {
    let mut shown: u64 = 0;
    let dropped = each_kept(lines, &mut |line| {
        shown += 1;
        paragraph(&line, out)
    })?;
    if shown == 0 {
        out.write_all(b"_No speech was transcribed._\n")?;
    }
    if dropped > 0 {
        write!(out, "---\n_{dropped} room line(s) suppressed as call-track duplicates._\n")?;
    }
    Ok(shown > 0 && dropped == 0)
}

fn paragraph(line: &SpokenLine<'_>, out: &mut dyn Write) -> io::Result<()> {
    let time = times::clock(line.start_ms);
    match speaker(line) {
        Some(name) => writeln!(out, "**[{time}] {name}** ({})", line.track)?,
        None => writeln!(out, "**[{time}] {}**", line.track)?,
    }
    let text = on_one_line(line.text);
    let mark = if is_structure(&text) { "\\" } else { "" };
    write!(out, "{mark}{text}\n\n")
}

/// Whether a paragraph that reads so would be a heading, or a line that makes one of what is above it.
fn is_structure(text: &str) -> bool {
    text.starts_with('#')
        || (!text.is_empty() && ['-', '=', '*', '_'].iter().any(|mark| text.chars().all(|c| c == *mark)))
}

/// Hands each line to `see` that is no copy of another one. How many were.
fn each_kept(
    lines: &mut LinesByClock<'_>,
    see: &mut dyn FnMut(SpokenLine<'_>) -> io::Result<()>,
) -> Result<u64, ExportError> {
    let mut together: Vec<TranscriptLine> = Vec::new();
    let mut latest_end_ms = 0;
    let mut dropped = 0;
    lines.each(&mut |line| {
        // What begins when all before has ended overlaps none of it.
        if line.start_ms >= latest_end_ms {
            dropped += see_kept(&mut together, see)?;
            latest_end_ms = 0;
        }
        latest_end_ms = latest_end_ms.max(line.end_ms);
        together.push(line.into());
        Ok(())
    })?;
    dropped += see_kept(&mut together, see)?;
    Ok(dropped)
}

fn see_kept(
    together: &mut Vec<TranscriptLine>,
    see: &mut dyn FnMut(SpokenLine<'_>) -> io::Result<()>,
) -> io::Result<u64> {
    let mut dropped = 0;
    let kept = if together.len() > 1 { bleed::kept(together) } else { vec![true; together.len()] };
    for (line, is_kept) in together.drain(..).zip(kept) {
        if is_kept { see((&line).into())? } else { dropped += 1 }
    }
    Ok(dropped)
}

fn heading(metadata: Option<&SessionMetadata>) -> String {
    let name = metadata.and_then(|metadata| metadata.name.as_deref()).map(on_one_line);
    let id = metadata.map(|metadata| on_one_line(&metadata.id));
    let given = |text: &std::borrow::Cow<'_, str>| !text.is_empty();
    name.filter(given)
        .or(id.filter(given))
        .map_or_else(|| "Transcript".to_owned(), std::borrow::Cow::into_owned)
}

fn front_matter(
    speakers: &[String],
    metadata: Option<&SessionMetadata>,
    out: &mut dyn Write,
) -> io::Result<()> {
    out.write_all(b"---\n")?;
    let mut field = |key: &str, value: &str| writeln!(out, "{key}: {value}");
    if let Some(metadata) = metadata {
        field("id", &quoted(&metadata.id))?;
        let texts = [
            ("name", &metadata.name),
            ("started_at", &metadata.started_at),
            ("ended_at", &metadata.ended_at),
        ];
        for (key, text) in texts {
            if let Some(text) = text {
                field(key, &quoted(text))?;
            }
        }
        if let Some(duration_s) = metadata.duration_s {
            field("duration_s", &format!("{duration_s:.1}"))?;
        }
        if !metadata.apps.is_empty() {
            field("apps", &list(&metadata.apps))?;
        }
        field("model", &quoted(&metadata.model))?;
        for (key, texts) in [("tags", &metadata.tags), ("warnings", &metadata.warnings)] {
            if !texts.is_empty() {
                field(key, &list(texts))?;
            }
        }
        if !metadata.notes.is_empty() {
            field("notes", &quoted(&metadata.notes))?;
        }
    }
    field("speakers", &list(speakers))?;
    out.write_all(b"---\n")
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
    use super::super::{ExportFormat, written};
    use super::*;
    use crate::Track;

    fn markdown(lines: &[TranscriptLine], metadata: Option<&SessionMetadata>) -> String {
        written(ExportFormat::Markdown, lines, metadata)
    }

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

    #[test]
    fn what_was_said_is_no_heading() {
        for said in ["# not a title", "---", "===", "-"] {
            let document = markdown(&[line(Track::Room, 0, None, said)], None);
            assert!(document.contains(&format!("\n\\{said}\n")), "{document}");
        }
        assert!(markdown(&[line(Track::Room, 0, None, "- Yes. _So_")], None).contains("\n- Yes. _So_\n"));
    }

    #[test]
    fn an_assistant_gets_when_how_long_and_where_to_read_on() {
        let lines = [line(Track::Room, 0, Some("Ana"), "hello")];
        assert_eq!(
            written(ExportFormat::Assistant, &lines, Some(&metadata())),
            "# Road\"map (2026-09-05T14:12:03+02:00, 19:44)\n\n**[00:00] Ana** (room)\nhello\n\n\
             Read live with the ambient MCP server: session id 2026-09-05T1412\n"
        );
        assert_eq!(
            written(ExportFormat::Assistant, &[], None),
            "# 2026-09-05T1412\n\n_No speech was transcribed._\n\n\
             Read live with the ambient MCP server: session id 2026-09-05T1412\n"
        );
    }

    #[test]
    fn copies_are_found_whatever_is_around_them() {
        let mut lines = Vec::new();
        for start_ms in (0..200_000).step_by(4_000) {
            lines.push(line(Track::Call, start_ms, None, "one two three four"));
            lines.push(line(Track::Room, start_ms + 50, None, "one two three four"));
        }
        let document = markdown(&lines, None);
        assert!(document.ends_with("_50 room line(s) suppressed as call-track duplicates._\n"), "{document}");
    }
}
