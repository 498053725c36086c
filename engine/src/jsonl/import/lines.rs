//! `raw.jsonl` as events.

use std::collections::HashMap;

use super::JsonlImportError;
use super::builder::LogBuilder;
use super::source::Source;
use super::text::{Text, is_same, len_bytes};
use crate::jsonl::reader::{RAW_FILE, parsed};
use crate::jsonl::record::{Place, parse_line};
use crate::jsonl::written::line_record;
use crate::jsonl::{Damage, SkippedLine};
use crate::{Event, KeptFile};

/// So many lines are one batch, which has one time: the end of the last of them.
const LINES_A_BATCH: u64 = 100;
/// How many lines go by between two reports of progress.
const LINES_A_REPORT: u64 = 1_000;

/// Which lines there are.
#[derive(Default)]
pub(super) struct Lines {
    /// How many.
    pub(super) count: u64,
    /// The first line that begins at a place: the one that edits mean.
    pub(super) first: HashMap<Place, u64>,
    /// What could not be read.
    pub(super) damage: Damage,
}

/// Writes every line, and keeps the bytes of what is no line or would be written in another way.
pub(super) fn write(
    source: &Source<'_>,
    log: &mut LogBuilder,
    progress: &mut dyn FnMut(u64),
) -> Result<Lines, JsonlImportError> {
    let mut lines = Lines::default();
    let Some(file) = &source.raw else { return Ok(lines) };
    let path = source.directory().path().join(RAW_FILE);
    let text = Text { file, path: path.clone(), kind: KeptFile::Lines };
    let mut done_bytes = 0;
    text.each_line(log, |log, number, raw| {
        match parsed(&raw, parse_line) {
            Some(Ok(line)) => {
                if !is_same(&raw, &line_record(&line)) {
                    text.keep(log, &raw, true)?;
                }
                let place = Place { track: line.track, start_ms: line.start_ms };
                lines.first.entry(place).or_insert(lines.count);
                lines.count += 1;
                log.reach(line.end_ms);
                let len_bytes = line.text.len();
                log.push(Event::Line(line), len_bytes)?;
                if lines.count % LINES_A_BATCH == 0 {
                    log.flush()?;
                }
            }
            other => {
                text.keep(log, &raw, false)?;
                if let Some(Err(reason)) = other {
                    lines.damage.add(SkippedLine { path: path.clone(), number, reason });
                }
            }
        }
        done_bytes += len_bytes(&raw);
        if number % LINES_A_REPORT == 0 {
            progress(done_bytes);
        }
        Ok(())
    })?;
    log.flush()?;
    Ok(lines)
}
