//! Text for people, built piece by piece.
//!
//! Every piece is made safe when it is added and colour is put around it afterwards, so the only escape
//! sequences on a page are our own.

use std::fmt::Write as _;

use ambient_engine::rows::width;

use super::{StdoutError, has_colour, one_line, pager, write_stdout};

/// A colour of the terminal's palette.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    Bold = 1,
    Dim = 2,
    Red = 31,
    Green = 32,
    Yellow = 33,
    Blue = 34,
    Magenta = 35,
    Cyan = 36,
}

/// Text for people.
#[derive(Debug)]
pub(crate) struct Page {
    text: String,
    colour: bool,
}

impl Page {
    /// An empty page, with or without colour.
    pub(crate) fn new(colour: bool) -> Self {
        Self { text: String::new(), colour }
    }

    /// An empty page for stdout.
    pub(crate) fn for_stdout() -> Self {
        Self::new(has_colour(&std::io::stdout()))
    }

    /// Adds `text`.
    pub(crate) fn plain(&mut self, text: &str) -> &mut Self {
        self.text.push_str(&one_line(text));
        self
    }

    /// Adds `text` in `colour`.
    pub(crate) fn painted(&mut self, colour: Colour, text: &str) -> &mut Self {
        if self.colour && !text.is_empty() {
            let _ = write!(self.text, "\x1b[{}m{}\x1b[0m", colour as u8, one_line(text));
            self
        } else {
            self.plain(text)
        }
    }

    /// Adds blanks until what was added as `text` fills `columns`.
    pub(crate) fn fill(&mut self, text: &str, columns: usize) -> &mut Self {
        let blanks = columns.saturating_sub(width(&one_line(text)));
        self.text.extend(std::iter::repeat_n(' ', blanks));
        self
    }

    /// Adds a tab.
    pub(crate) fn tab(&mut self) -> &mut Self {
        self.text.push('\t');
        self
    }

    /// Ends the line; blanks at its end are dropped.
    pub(crate) fn end_line(&mut self) -> &mut Self {
        self.text.truncate(self.text.trim_end_matches(' ').len());
        self.text.push('\n');
        self
    }

    /// What is on the page.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Prints it to stdout.
    pub(crate) fn print(&self) -> Result<(), StdoutError> {
        write_stdout(self.text.as_bytes())
    }

    /// Prints it to stdout; one that is longer than the terminal goes through a pager.
    pub(crate) fn print_or_page(&self) -> Result<(), StdoutError> {
        if pager::show(&self.text) { Ok(()) } else { self.print() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_only_escapes_on_a_page_are_its_own() {
        let mut page = Page::new(true);
        page.painted(Colour::Red, "a\x1b[2Jb").plain("c\x07").end_line();
        assert_eq!(page.as_str(), "\x1b[31ma\\u{1b}[2Jb\x1b[0mc\\u{7}\n");
    }

    #[test]
    fn without_colour_there_is_no_escape_at_all() {
        let mut page = Page::new(false);
        page.painted(Colour::Cyan, "room").fill("room", 6).plain("hi").end_line();
        assert_eq!(page.as_str(), "room  hi\n");
    }

    #[test]
    fn blanks_fill_by_what_is_seen() {
        let mut page = Page::new(false);
        page.plain("会議").fill("会議", 6).plain("|");
        assert_eq!(page.as_str(), "会議  |");
    }
}
