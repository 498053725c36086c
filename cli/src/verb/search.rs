//! `ambient search`: where something was said.

use ambient_engine::SystemClock;
use ambient_engine::search::{Beside, Hit, Needle, Page as Found, Search, search};

use crate::arguments::SearchFor;
use crate::exit::Exit;
use crate::output::{self, Colour, Page};
use crate::places;
use crate::time::clock;

/// Columns of a speaker's name; longer ones push what follows.
const SPEAKER_COLUMNS: usize = 12;
/// Columns of a time.
const TIME_COLUMNS: usize = 9;

pub(crate) fn run(wanted: &SearchFor) -> anyhow::Result<Exit> {
    let words = wanted.words.join(" ");
    let needle = if wanted.regex {
        Needle::regex(&words)
    } else if wanted.whole {
        Needle::whole_words(&words)
    } else {
        Needle::words(&words)
    }?;
    let root = places::sessions_dir(&places::settings())?;
    let found = search(
        &root,
        &Search {
            needle,
            session: wanted.session.clone(),
            speaker: wanted.speaker.clone(),
            track: wanted.track,
            since: wanted.since,
            until: wanted.until,
            skip: wanted.skip,
            limit: wanted.limit,
            context: wanted.context,
            is_ranked: wanted.rank,
        },
        &SystemClock,
    )?;
    if wanted.json {
        output::json(&found)?;
    } else {
        table(&found.hits, Page::for_stdout()).print()?;
    }
    tell(wanted, &found);
    Ok(if found.unsearched.is_empty() { Exit::Done } else { Exit::Warnings })
}

fn tell(wanted: &SearchFor, found: &Found) {
    for session in &found.unsearched {
        output::warning(&format!("{} could not be searched: {}", session.session, session.error));
    }
    if found.more {
        output::note(&format!("there is more: --skip {}", wanted.skip + found.hits.len()));
    } else if found.hits.is_empty() {
        output::note("nothing found");
    }
}

/// Session, number, time, speaker and words, one line a hit, with what stands beside it.
fn table(hits: &[Hit], mut page: Page) -> Page {
    let session_columns = hits.iter().map(|hit| hit.session.chars().count()).max().unwrap_or(0) + 2;
    let mut is_first = true;
    for hit in hits {
        let has_context = !(hit.before.is_empty() && hit.behind.is_empty());
        if has_context && !is_first {
            page.end_line();
        }
        is_first = false;
        for line in &hit.before {
            beside(&mut page, session_columns, line);
        }
        page.painted(Colour::Bold, &hit.session).fill(&hit.session, session_columns);
        head(&mut page, hit.line, hit.start_ms, hit.speaker.as_deref());
        marked(&mut page, &hit.text, &hit.places);
        page.end_line();
        for line in &hit.behind {
            beside(&mut page, session_columns, line);
        }
    }
    page
}

fn head(page: &mut Page, line: u64, start_ms: u64, speaker: Option<&str>) {
    let (number, time, speaker) = (line.to_string(), clock(start_ms), speaker.unwrap_or("-"));
    page.painted(Colour::Dim, &number).fill(&number, 6).painted(Colour::Dim, &time).fill(&time, TIME_COLUMNS);
    page.painted(Colour::Cyan, speaker).fill(speaker, SPEAKER_COLUMNS).plain("  ");
}

fn beside(page: &mut Page, session_columns: usize, line: &Beside) {
    page.fill("", session_columns);
    head(page, line.line, line.start_ms, line.speaker.as_deref());
    page.painted(Colour::Dim, &line.text).end_line();
}

/// `text` with its `places` in colour.
fn marked(page: &mut Page, text: &str, places: &[(usize, usize)]) {
    let mut characters = text.chars();
    let mut at = 0;
    for (begin, end) in places {
        page.plain(&characters.by_ref().take(begin.saturating_sub(at)).collect::<String>());
        page.painted(Colour::Red, &characters.by_ref().take(end - begin).collect::<String>());
        at = *end;
    }
    page.plain(characters.as_str());
}
