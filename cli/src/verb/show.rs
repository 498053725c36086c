//! `ambient show`: what was said, by the clock.

use std::collections::HashMap;

use ambient_engine::rows::{cut, width, wrap};
use ambient_engine::view::{self, NumberedLine, ReadingQuery, TranscriptLine};
use ambient_engine::{SystemClock, Track};

use crate::arguments::Show;
use crate::exit::Exit;
use crate::output::{self, Colour, Page, one_line};
use crate::session_name;
use crate::time::clock;

/// Columns for a speaker's name; longer ones push their own text.
const SPEAKER_COLUMNS_MAX: usize = 16;
/// Where fewer are left beside time and names, the text gets rows of its own.
const TEXT_COLUMNS_MIN: usize = 24;
/// Columns before a text that has rows of its own.
const INDENT_COLUMNS: usize = 2;
/// Columns of `room` and `call`.
const TRACK_COLUMNS: usize = 4;

/// Colours of speakers: each keeps one throughout, neighbours in order of appearance differ.
const SPEAKER_COLOURS: [Colour; 5] = [Colour::Green, Colour::Yellow, Colour::Blue, Colour::Red, Colour::Bold];

pub(crate) fn run(show: &Show) -> anyhow::Result<Exit> {
    let place = session_name::find(&show.session)?;
    let query = ReadingQuery {
        since: show.since,
        selection: show.which.selection(),
        is_verbatim: show.verbatim,
        at: show.at,
    };
    let reading = view::reading(&place.root, &place.id, &query, &SystemClock)?;
    if show.json {
        let lines: Vec<_> = reading.lines.iter().map(|numbered| &numbered.line).collect();
        output::json(&lines)?;
    } else {
        if reading.lines.is_empty() {
            output::note(&format!("no lines to show in {} ({})", reading.id, reading.state));
        }
        let page = if show.plain { tabbed(&reading.lines) } else { laid_out(&reading.lines) };
        if show.no_pager { page.print()? } else { page.print_or_page()? }
    }
    // Of the recording first, as a track that was dead; then of the reading, which alone makes it less than whole.
    for warning in reading.metadata.iter().flat_map(|metadata| &metadata.warnings).chain(&reading.warnings) {
        output::warning(warning);
    }
    Ok(if reading.warnings.is_empty() { Exit::Done } else { Exit::Warnings })
}

/// One line a turn, for other programs: time, track, speaker, text.
fn tabbed(lines: &[NumberedLine]) -> Page {
    let mut page = Page::new(false);
    for NumberedLine { line, .. } in lines {
        page.plain(&clock(line.start_ms)).tab().plain(line.track.as_str()).tab();
        page.plain(line.speaker.as_deref().unwrap_or_default()).tab().plain(line.text.trim()).end_line();
    }
    page
}

/// Columns for people; on a terminal the text is wrapped in its own column, or below on a narrow one.
fn laid_out(lines: &[NumberedLine]) -> Page {
    let lines = || lines.iter().map(|numbered| &numbered.line);
    let speakers = speaker_colours(lines());
    let time_columns = lines().map(|line| clock(line.start_ms).len()).max().unwrap_or(0) + 2;
    let speaker_columns = match speakers.keys().map(|speaker| width(&one_line(speaker))).max() {
        Some(longest) => longest.min(SPEAKER_COLUMNS_MAX) + 2,
        None => 0,
    };
    let indent = time_columns + 1 + TRACK_COLUMNS + 2 + speaker_columns;
    let columns = output::stdout_columns().unwrap_or(usize::MAX);
    let is_narrow = columns < indent + TEXT_COLUMNS_MIN;
    let indent = if is_narrow { INDENT_COLUMNS.min(columns / 4) } else { indent };
    let mut page = Page::for_stdout();
    for line in lines() {
        let time = format!("[{}]", clock(line.start_ms));
        let (track, speaker) = (line.track.as_str(), line.speaker.as_deref().unwrap_or_default());
        page.painted(Colour::Dim, &time).fill(&time, time_columns + 1);
        page.painted(track_colour(line.track), track).plain("  ");
        let colour = speakers.get(speaker).copied().unwrap_or(Colour::Bold);
        if is_narrow {
            let left = columns.saturating_sub(time_columns + 1 + TRACK_COLUMNS + 2);
            page.painted(colour, &cut(&one_line(speaker), left)).end_line().fill("", indent);
        } else {
            page.painted(colour, speaker).fill(speaker, speaker_columns);
        }
        // A name that is longer than its column has taken of the first row what it needed.
        let over = if is_narrow { 0 } else { width(&one_line(speaker)).saturating_sub(speaker_columns) };
        let text = one_line(&line.text);
        for (row, text) in wrap(&text, columns.saturating_sub(indent + over)).iter().enumerate() {
            if row > 0 {
                page.fill("", indent);
            }
            page.plain(text).end_line();
        }
    }
    page
}

/// A colour for everyone who speaks, given out in order of appearance.
fn speaker_colours<'a>(lines: impl Iterator<Item = &'a TranscriptLine>) -> HashMap<&'a str, Colour> {
    let mut colours = HashMap::new();
    for speaker in lines.filter_map(|line| line.speaker.as_deref()) {
        let next = SPEAKER_COLOURS[colours.len() % SPEAKER_COLOURS.len()];
        colours.entry(speaker).or_insert(next);
    }
    colours
}

fn track_colour(track: Track) -> Colour {
    match track {
        Track::Room => Colour::Cyan,
        Track::Call => Colour::Magenta,
    }
}
