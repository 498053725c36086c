//! A line as it is shown to the assistant: `[MM:SS] who: text`.

use ambient_engine::export::bleed;
use ambient_engine::view::TranscriptLine;
use ambient_engine::{FoldedLine, Track};

/// The reason for which what the loudspeaker said is taken out of the room's lines.
const BLEED: &str = "bleed";

/// The `lines` from the one numbered `from` on, without those of the room that are a copy of one of the call.
pub(super) fn rendered_once(lines: &[FoldedLine], from: usize) -> Vec<String> {
    let compared: Vec<TranscriptLine> = lines.iter().map(|line| line.clone().into()).collect();
    let kept = lines.iter().zip(bleed::kept(&compared)).skip(from);
    kept.filter(|(_, is_kept)| *is_kept).map(|(line, _)| rendered(line)).collect()
}

/// What `line` reads now that it was changed; none where it was taken out as a copy, which was not shown.
pub(super) fn rendered_anew(line: &FoldedLine) -> Option<String> {
    match line.hidden.as_deref() {
        None => Some(rendered(line)),
        Some(reason) if reason == BLEED => None,
        // What was taken out is not said again.
        Some(_) => Some(format!("{} taken out", clock(line))),
    }
}

/// The line as text. Minutes go on beyond 59.
pub(super) fn rendered(line: &FoldedLine) -> String {
    let who = match (line.speaker.as_deref().map(str::trim), line.heard.track) {
        (Some(name), _) if !name.is_empty() => name,
        (_, Track::Call) => "someone on the call",
        (_, Track::Room) => "someone in the room",
    };
    format!("{} {who}: {}", clock(line), line.text().trim())
}

fn clock(line: &FoldedLine) -> String {
    let seconds = line.heard.start_ms / 1000;
    format!("[{:02}:{:02}]", seconds / 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use ambient_engine::Line;

    use super::*;

    fn line(track: Track, start_ms: u64, speaker: Option<&str>, text: &str) -> FoldedLine {
        let heard = Line {
            track,
            start_ms,
            end_ms: start_ms,
            text: text.to_owned(),
            confidence: 0.0,
            language: None,
            generation: 0,
            audio: None,
            overlap: false,
        };
        FoldedLine { speaker: speaker.map(str::to_owned), ..FoldedLine::unedited(0, heard) }
    }

    #[test]
    fn a_line_says_when_who_and_what() {
        assert_eq!(
            rendered(&line(Track::Room, 1999, None, " Hello. ")),
            "[00:01] someone in the room: Hello."
        );
        assert_eq!(
            rendered(&line(Track::Call, 3_725_000, Some(" "), "Yes")),
            "[62:05] someone on the call: Yes"
        );
        assert_eq!(rendered(&line(Track::Call, 60_000, Some("Priya"), "Yes")), "[01:00] Priya: Yes");
    }

    #[test]
    fn what_was_taken_out_is_not_said_again() {
        let named = line(Track::Room, 5000, Some("Priya"), "Yes");
        assert_eq!(rendered_anew(&named).as_deref(), Some("[00:05] Priya: Yes"));
        let hidden = |reason: &str| FoldedLine { hidden: Some(reason.to_owned()), ..named.clone() };
        assert_eq!(rendered_anew(&hidden("on request")).as_deref(), Some("[00:05] taken out"));
        assert_eq!(rendered_anew(&hidden(BLEED)), None);
    }
}
