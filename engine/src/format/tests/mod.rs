//! The page `docs/design/FORMAT.md` is normative, so its tables are read and held against the code: in both
//! directions, so that neither can say more than the other.

mod blocks;
mod payloads;

use std::fs;
use std::path::Path;

/// The page, as sections of tables.
struct Page {
    text: String,
}

/// One table: the names of its columns, and its rows without the backquotes.
#[derive(Debug)]
struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Page {
    fn read() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/design/FORMAT.md");
        Self { text: fs::read_to_string(path).unwrap() }
    }

    /// What stands under a heading, up to the next one of any level.
    fn section(&self, title: &str) -> &str {
        let heading = ["## ", "### "].into_iter().find_map(|level| {
            let heading = format!("\n{level}{title}\n");
            self.text.find(&heading).map(|at| at + heading.len())
        });
        let rest = &self.text[heading.unwrap_or_else(|| panic!("the page has no section {title}"))..];
        let end = ["\n## ", "\n### "].into_iter().filter_map(|heading| rest.find(heading)).min();
        &rest[..end.unwrap_or(rest.len())]
    }

    /// The titles of the sections one level below the section `title`.
    fn titles_below(&self, title: &str) -> Vec<&str> {
        let heading = format!("\n## {title}\n");
        let rest = &self.text[self.text.find(&heading).unwrap() + heading.len()..];
        let rest = &rest[..rest.find("\n## ").unwrap_or(rest.len())];
        rest.lines().filter_map(|line| line.strip_prefix("### ")).collect()
    }

    /// The only table of a section.
    fn table(&self, title: &str) -> Table {
        let mut rows = self
            .section(title)
            .lines()
            .filter_map(|line| line.strip_prefix('|')?.strip_suffix('|'))
            .map(|line| line.split('|').map(|cell| cell.trim().replace('`', "")).collect::<Vec<_>>());
        let columns = rows.next().unwrap_or_else(|| panic!("section {title} has no table"));
        let is_rule = rows.next().is_some_and(|row| row.iter().all(|cell| cell.starts_with("---")));
        assert!(is_rule, "section {title} has no table");
        Table { columns, rows: rows.collect() }
    }
}
