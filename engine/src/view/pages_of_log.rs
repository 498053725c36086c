//! Pages of a session with a log.
//!
//! By lines, only those are handed out that a power failure cannot take any more, so that a count of lines
//! never names others afterwards. A cursor is checked against the log itself and goes as far as there is
//! anything; what it costs depends on what happened behind it and not on how long the session is.

use std::ops::Range;

use super::page::{Offered, Page, ReadFrom, Transcript, TranscriptQuery};
use super::{SessionState, ViewError};
use crate::{Cursor, FoldedLine, FoldedView, HeardLine, NewsItem, Reader, Snapshot};

/// How much of what happened is looked at at once.
const NEWS_AT_ONCE: usize = 1024;

pub(super) fn page(
    reader: &mut Reader,
    query: TranscriptQuery<'_>,
    session: String,
    state: SessionState,
) -> Result<Transcript, ViewError> {
    let page = Page::new(query);
    let snapshot = reader.snapshot()?;
    match query.from {
        ReadFrom::Line(since) => by_lines(snapshot, page, since, session, state),
        ReadFrom::Cursor(text) => behind_cursor(snapshot, page, text, session, state),
    }
}

fn by_lines(
    mut snapshot: Snapshot<'_>,
    mut page: Page<'_>,
    since: u64,
    session: String,
    state: SessionState,
) -> Result<Transcript, ViewError> {
    let total = snapshot.durable_lines()?;
    let mut next = since.min(total);
    while next < total {
        let end = next.saturating_add(page.lines_at_once()).min(total);
        next = take_lines(&mut snapshot, &mut page, next..end)?;
        if next < end {
            break;
        }
    }
    Ok(page.finish(session, state, next, next < total, None))
}

fn behind_cursor(
    mut snapshot: Snapshot<'_>,
    mut page: Page<'_>,
    text: &str,
    session: String,
    state: SessionState,
) -> Result<Transcript, ViewError> {
    let mut cursor: Option<Cursor> = if text.is_empty() { None } else { Some(text.parse()?) };
    // Lines from here on are new to this reader, whatever is done to them.
    let mut first_new = None;
    let (next, has_more) = loop {
        let news = snapshot.news(cursor.as_ref(), NEWS_AT_ONCE)?;
        let first_new = *first_new.get_or_insert(news.lines_before);
        let taken = take_news(&mut snapshot, &mut page, &news.items, first_new)?;
        let new_lines = news.items[..taken].iter().filter(|item| item.is_new).count();
        let next = news.lines_before + new_lines as u64;
        if taken < news.items.len() {
            cursor = news.items[..taken].last().map(|item| item.cursor).or(cursor);
            break (next, true);
        }
        cursor = news.cursor.or(cursor);
        if !news.has_more {
            break (next, false);
        }
    };
    let next = next.min(snapshot.durable_lines()?);
    let cursor = cursor.map(|cursor| cursor.to_string()).unwrap_or_default();
    Ok(page.finish(session, state, next, has_more, Some(cursor)))
}

/// Has `page` take what happened, in its order; gives how much of it.
fn take_news(
    snapshot: &mut Snapshot<'_>,
    page: &mut Page<'_>,
    items: &[NewsItem],
    first_new: u64,
) -> Result<usize, ViewError> {
    let mut taken = 0;
    while let Some(item) = items.get(taken) {
        if item.is_new {
            // New lines have consecutive numbers; neighbours are read together.
            let run = items[taken..].iter().take_while(|item| item.is_new).count() as u64;
            let end = item.line + run.min(page.lines_at_once());
            let reached = take_lines(snapshot, page, item.line..end)?;
            taken += usize::try_from(reached - item.line).unwrap_or(usize::MAX);
            if reached < end {
                break;
            }
        } else {
            let is_told = item.line < first_new && page.heeds_edits();
            if is_told && !page.take_changed(reading(snapshot.folded(item.line)?, page.is_verbatim())) {
                break;
            }
            taken += 1;
        }
    }
    Ok(taken)
}

/// Has `page` take lines one after the other; gives the index of the first it did not take.
fn take_lines(snapshot: &mut Snapshot<'_>, page: &mut Page<'_>, lines: Range<u64>) -> Result<u64, ViewError> {
    let mut reached = lines.start;
    if page.heeds_edits() {
        let is_verbatim = page.is_verbatim();
        snapshot.each(lines, |line| {
            if line.index != reached {
                return;
            }
            let offered = if is_verbatim { reading(line.into_line(), true) } else { line.into() };
            if page.take(offered) {
                reached += 1;
            }
        })?;
    } else {
        for heard in snapshot.verbatim(lines)? {
            if !page.take(heard.into()) {
                break;
            }
            reached += 1;
        }
    }
    Ok(reached)
}

/// A line as it reads now, or as it was heard; hidden if it is hidden now.
fn reading(line: FoldedLine, is_verbatim: bool) -> Offered {
    let is_hidden = line.is_hidden();
    if is_verbatim {
        let heard = HeardLine { index: line.index, line: line.heard };
        Offered { is_hidden, ..heard.into() }
    } else {
        line.into()
    }
}

impl From<FoldedView<'_>> for Offered {
    fn from(line: FoldedView<'_>) -> Self {
        let (index, confidence, is_hidden) = (line.index, line.heard.confidence, line.is_hidden());
        Self { index, line: line.into(), confidence, is_hidden }
    }
}

impl From<FoldedLine> for Offered {
    fn from(line: FoldedLine) -> Self {
        let (index, confidence, is_hidden) = (line.index, line.heard.confidence, line.is_hidden());
        Self { index, line: line.into(), confidence, is_hidden }
    }
}

impl From<HeardLine> for Offered {
    fn from(heard: HeardLine) -> Self {
        let HeardLine { index, line } = heard;
        Self { index, confidence: line.confidence, line: line.into(), is_hidden: false }
    }
}
