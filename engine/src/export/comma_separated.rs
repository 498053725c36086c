//! A table for spreadsheets and scripts: RFC 4180 with LF.

use std::io::Write;

use super::{ExportError, LinesByClock, on_one_line, speaker};

/// A heading, then a row a turn.
pub(super) fn csv(lines: &mut LinesByClock<'_>, out: &mut dyn Write) -> Result<(), ExportError> {
    let mut table = csv::Writer::from_writer(out);
    let failed = std::io::Error::from;
    table.write_record(["track", "start_ms", "end_ms", "speaker", "text"]).map_err(failed)?;
    lines.each(&mut |line| {
        let (start, end) = (line.start_ms.to_string(), line.end_ms.to_string());
        let (name, text) = (speaker(&line).unwrap_or_default(), on_one_line(line.text));
        table.write_record([line.track.as_str(), &start, &end, &name, &text]).map_err(failed)
    })?;
    Ok(table.flush()?)
}

#[cfg(test)]
mod tests {
    use super::super::{ExportFormat, written};
    use crate::Track;
    use crate::view::TranscriptLine;

    #[test]
    fn commas_quotes_and_line_breaks_do_not_leave_their_field() {
        let line = |speaker: Option<&str>, text: &str| TranscriptLine {
            track: Track::Call,
            start_ms: 1,
            end_ms: 20,
            speaker: speaker.map(str::to_owned),
            text: text.to_owned(),
        };
        let lines = [line(Some("N., Ana"), "so \"he\"\nsaid"), line(None, "")];
        assert_eq!(
            written(ExportFormat::Csv, &lines, None),
            "track,start_ms,end_ms,speaker,text\ncall,1,20,\"N., Ana\",\"so \"\"he\"\" said\"\ncall,1,20,,\n"
        );
        assert_eq!(written(ExportFormat::Csv, &[], None).lines().count(), 1);
    }
}
