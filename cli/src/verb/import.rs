//! `ambient import`: a session of the older layout becomes one with a log.

use std::io::{self, IsTerminal as _};
use std::path::Path;

use ambient_engine::SystemClock;
use ambient_engine::jsonl::{Imported, JsonlImport};
use ambient_engine::session::{Directory, SessionPlace};
use serde_json::json;

use crate::arguments::ImportSession;
use crate::exit::{self, Exit};
use crate::progress::{Progress, Unit};
use crate::{output, places, session_name};

pub(crate) fn run(import: &ImportSession) -> anyhow::Result<Exit> {
    let place = find(&import.session)?;
    let source = session_name::open(&place)?;
    let root = Directory::open_or_create(&places::sessions_dir(&places::settings())?)?;
    let mut progress = Progress::new(Unit::Bytes, !io::stderr().is_terminal());
    let importing = JsonlImport {
        program: concat!("ambient ", env!("CARGO_PKG_VERSION")),
        clock: &SystemClock,
        on_progress: &mut |done_bytes, all_bytes| progress.set("importing", done_bytes, all_bytes),
    };
    let imported = if is_same(&place.root, root.path()) {
        importing.in_place(&source)
    } else {
        importing.into_root(&source, root)
    }?;
    progress.end();
    tell(import.json, &imported)
}

/// The session that is named as everywhere, or a directory here, which needs no `./`.
fn find(word: &str) -> anyhow::Result<SessionPlace> {
    match session_name::find(word) {
        Err(error) if exit::of(&error) == Exit::NotFound && Path::new(word).is_dir() => {
            session_name::find(&format!("./{word}")).map_err(|_| error)
        }
        found => found,
    }
}

fn is_same(first: &Path, second: &Path) -> bool {
    match (first.canonicalize(), second.canonicalize()) {
        (Ok(first), Ok(second)) => first == second,
        _ => false,
    }
}

fn tell(as_json: bool, imported: &Imported) -> anyhow::Result<Exit> {
    let Imported { id, directory, was_native, lines, edits, warnings } = imported;
    for warning in warnings {
        output::warning(warning);
    }
    let directory = directory.display().to_string();
    if as_json {
        output::json(&json!({"id": id, "dir": directory, "already_native": was_native, "lines": lines,
            "edits": edits, "warnings": warnings}))?;
    } else {
        let done = if *was_native {
            format!("{id} has a log already; nothing was done")
        } else {
            format!("{lines} lines and {edits} edits; to read them: ambient show {id}")
        };
        output::note(&done);
        output::line(&directory)?;
    }
    Ok(if warnings.is_empty() { Exit::Done } else { Exit::Warnings })
}
