//! Every link from one page of the repository to another leads somewhere, its anchor included. Links to
//! the outside are left alone: a test must not need a network.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use ambient_tidy::{markdown, tree};

#[test]
fn every_relative_link_and_anchor_resolves() {
    let pages: HashMap<PathBuf, String> = tree::files_with_extension("md")
        .unwrap()
        .into_iter()
        .map(|page| (PathBuf::from(page.path), page.text))
        .collect();
    let mut broken = Vec::new();
    let mut followed = 0;
    for (page, text) in &pages {
        for link in markdown::links(text) {
            if link.target.contains("://") || link.target.starts_with("mailto:") {
                continue;
            }
            followed += 1;
            let (target, anchor) = link.target.split_once('#').unwrap_or((&link.target, ""));
            let file = if target.is_empty() { page.clone() } else { resolved(page, target) };
            let place = format!("{}:{}: {}", page.display(), link.line_number, link.target);
            if !tree::root().join(&file).exists() {
                broken.push(format!("{place}: no such file"));
            } else if !anchor.is_empty()
                && !pages.get(&file).is_some_and(|text| markdown::anchors(text).contains(&anchor.to_owned()))
            {
                broken.push(format!("{place}: no such heading"));
            }
        }
    }
    assert!(followed > 0, "no link was found: the check itself is broken");
    assert!(broken.is_empty(), "broken links:\n{}", broken.join("\n"));
}

/// `target` as seen from the folder of `page`, without `.` and `..`.
fn resolved(page: &Path, target: &str) -> PathBuf {
    let mut path = page.parent().unwrap_or(Path::new("")).to_path_buf();
    for part in Path::new(target).components() {
        match part {
            Component::ParentDir => {
                path.pop();
            }
            Component::Normal(name) => path.push(name),
            _ => {}
        }
    }
    path
}
