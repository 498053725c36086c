//! Whether somebody talks into what the assistant says, so that it stops.
//!
//! Two signs: the level of a track on which its own voice does not come back, at once; and a line that was
//! begun while it spoke, when that has become text. A line counts only if it is nothing like what is being
//! said, for a badly recognised echo must not silence it.

use ambient_engine::{FoldedLine, Mapping, ReadError, Reader};

use super::echo::{is_echo, resembles};
use super::loudness::{Levels, Talking};
use super::meeting::Meeting;
use super::readable_lines;

/// Listens while the assistant says something.
pub(super) struct BargeIn<'a> {
    meeting: &'a Meeting,
    text: &'a str,
    /// None where the log cannot be followed.
    reader: Option<Reader>,
    /// The first line that was not looked at.
    next: u64,
    talking: Talking,
    /// When the voice could be heard first, in microseconds since 1970.
    audible_from_us: Option<i64>,
}

impl<'a> BargeIn<'a> {
    /// Listens in `meeting` while `text` is said.
    pub(super) fn new(meeting: &'a Meeting, text: &'a str) -> Self {
        let opened = meeting.session.read_log(Mapping::On).and_then(|mut reader| {
            let lines = reader.snapshot()?.lines();
            Ok((reader, lines))
        });
        // Who cannot follow the log still has the levels.
        let (reader, next) = opened.map_or((None, 0), |(reader, lines)| (Some(reader), lines));
        Self { meeting, text, reader, next, talking: Talking::default(), audible_from_us: None }
    }

    /// Whether somebody does at `now_us`; `is_audible` says whether there is anything to talk into yet.
    pub(super) fn is_heard(&mut self, is_audible: bool, now_us: i64) -> bool {
        if !is_audible {
            return false;
        }
        self.audible_from_us.get_or_insert(now_us);
        let levels = Levels::read(&self.meeting.session);
        let is_talking =
            levels.is_some_and(|levels| self.talking.is_heard(&mut self.meeting.loudness(), &levels));
        // A log that cannot be read is noticed by who must read it.
        is_talking || self.has_line().unwrap_or(false)
    }

    fn has_line(&mut self) -> Result<bool, ReadError> {
        let Some(reader) = &mut self.reader else { return Ok(false) };
        let until = reader.snapshot()?.lines();
        if until == self.next {
            return Ok(false);
        }
        let lines = readable_lines(reader, self.next, until)?;
        self.next = until;
        for line in lines {
            if self.is_said_into_it(&line)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_said_into_it(&self, line: &FoldedLine) -> Result<bool, ReadError> {
        let mut minutes = self.meeting.minutes();
        let Some(spoken) = minutes.span(line.heard.start_ms, line.heard.end_ms) else { return Ok(false) };
        let is_meanwhile = self.audible_from_us.is_some_and(|from_us| spoken.from_us >= from_us);
        let may_be_its_own =
            !self.talking.is_free_of_it(line.heard.track) && resembles(line.text(), self.text);
        Ok(is_meanwhile && !may_be_its_own && !is_echo(line.text(), spoken, &minutes.follow()?.said()))
    }
}
