//! As much of Markdown as following a link takes: headings become anchors the way repository hosts make
//! them, and links are found outside of code.

/// A link in a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The line it stands on, from 1.
    pub line_number: usize,
    /// What it points at, as written: `../log.md#frames`.
    pub target: String,
}

/// The anchors of a page's headings, in order: lower case, punctuation dropped, spaces to hyphens, and
/// `-1`, `-2`, ... for headings that repeat.
///
/// ```
/// let page = "# The log\n## Cost & size\n## Cost & size\n";
/// assert_eq!(ambient_tidy::markdown::anchors(page), ["the-log", "cost--size", "cost--size-1"]);
/// ```
pub fn anchors(page: &str) -> Vec<String> {
    let mut plain_anchors: Vec<String> = Vec::new();
    let mut anchors = Vec::new();
    for (_, line) in prose_lines(page) {
        let text = line.trim_start_matches('#');
        if text.len() == line.len() || !text.starts_with(' ') {
            continue;
        }
        let anchor = anchor_of(text.trim());
        let earlier = plain_anchors.iter().filter(|plain| **plain == anchor).count();
        anchors.push(if earlier == 0 { anchor.clone() } else { format!("{anchor}-{earlier}") });
        plain_anchors.push(anchor);
    }
    anchors
}

/// The links of a page, without those in code.
///
/// ```
/// let page = "See [the log](log.md#frames), not `[this](one.md)`.\n";
/// let links = ambient_tidy::markdown::links(page);
/// assert_eq!(links.len(), 1);
/// assert_eq!(links[0].target, "log.md#frames");
/// ```
pub fn links(page: &str) -> Vec<Link> {
    let mut links = Vec::new();
    for (line_number, line) in prose_lines(page) {
        let prose = without_code(line);
        for (_, after) in prose.match_indices("](").map(|(at, found)| (at, &prose[at + found.len()..])) {
            if let Some((target, _)) = after.split_once(')') {
                links.push(Link { line_number, target: target.trim().to_owned() });
            }
        }
    }
    links
}

/// The lines outside of fenced code, numbered from 1.
fn prose_lines(page: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    page.lines().enumerate().filter_map(move |(index, line)| {
        let fence = line.trim_start().starts_with("```");
        in_code ^= fence;
        (!in_code && !fence).then_some((index + 1, line))
    })
}

fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

fn anchor_of(heading: &str) -> String {
    heading
        .chars()
        .filter_map(|letter| match letter {
            ' ' => Some('-'),
            '-' | '_' => Some(letter),
            _ if letter.is_alphanumeric() => Some(letter.to_ascii_lowercase()),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_inside_code_are_no_anchors() {
        assert_eq!(anchors("# One\n```sh\n# two\n```\n## Three\n"), ["one", "three"]);
    }

    #[test]
    fn two_links_on_one_line_are_both_found() {
        let found = links("first\n[a](a.md) and [b](b.md#c)\n");
        assert_eq!(found[0], Link { line_number: 2, target: "a.md".to_owned() });
        assert_eq!(found[1], Link { line_number: 2, target: "b.md#c".to_owned() });
    }
}
