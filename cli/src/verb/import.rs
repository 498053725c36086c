//! `ambient import`: sessions of the older layout become ones with a log, archives become sessions again, and
//! transcripts of other programs become sessions.

use std::fs::File;
use std::io::{self, IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

use ambient_engine::SystemClock;
use ambient_engine::archive::{ARCHIVE_EXTENSION, restore};
use ambient_engine::jsonl::{Imported, JsonlImport, sessions_below};
use ambient_engine::session::{Directory, SessionDirectory, SessionPlace};
use ambient_engine::transcripts::{TRANSCRIPT_LEN_MAX_BYTES, TranscriptFile};
use anyhow::Context as _;
use serde_json::{Value, json};

use crate::arguments::ImportSession;
use crate::exit::{self, Exit, Refusal};
use crate::progress::{Progress, Unit};
use crate::{output, places, session_name};

pub(crate) fn run(import: &ImportSession) -> anyhow::Result<Exit> {
    let root_path = places::sessions_dir(&places::settings())?;
    match Named::of(&import.session)? {
        Named::Session(place) => {
            let session = session_name::open(&place)?;
            let imported = one(&session, &place.root, &root_path, import.dry_run)?;
            tell(import, &imported)
        }
        Named::Sessions(path) => all(import, &path, &root_path),
        Named::Archive(path) => archive(import, &path, &root_path),
        Named::Transcript(path) => tell(import, &transcript(&path, &root_path, import.dry_run)?),
    }
}

/// What was named.
enum Named {
    Session(SessionPlace),
    /// A directory of sessions.
    Sessions(PathBuf),
    Archive(PathBuf),
    /// A transcript of another program.
    Transcript(PathBuf),
}

impl Named {
    /// The session that is named as everywhere, or a file or directory here, which needs no `./`.
    fn of(word: &str) -> anyhow::Result<Self> {
        let path = Path::new(word);
        let error = match session_name::find(word) {
            Ok(place) => return Ok(Self::Session(place)),
            Err(error) if exit::of(&error) == Exit::NotFound => error,
            Err(error) => return Err(error),
        };
        if path.is_dir() {
            if let Ok(place) = session_name::find(&format!("./{word}")) {
                return Ok(Self::Session(place));
            }
            if !sessions_below(&Directory::open(path)?)?.is_empty() {
                return Ok(Self::Sessions(path.to_owned()));
            }
        }
        if path.is_file() {
            if word.ends_with(ARCHIVE_EXTENSION) || path.extension().is_some_and(|ending| ending == "tar") {
                return Ok(Self::Archive(path.to_owned()));
            }
            return Ok(Self::Transcript(path.to_owned()));
        }
        Err(error)
    }
}

/// Imports `session`, which lies below `below`.
fn one(session: &SessionDirectory, below: &Path, root: &Path, is_dry_run: bool) -> anyhow::Result<Imported> {
    let mut progress = Progress::new(Unit::Bytes, !io::stderr().is_terminal());
    let importing = JsonlImport {
        program: concat!("ambient ", env!("CARGO_PKG_VERSION")),
        clock: &SystemClock,
        on_progress: &mut |done_bytes, all_bytes| progress.set("importing", done_bytes, all_bytes),
    };
    let is_in_place = is_same(below, root);
    let imported = if is_dry_run {
        // What is not there yet holds nothing that was imported before.
        let root = if is_in_place { None } else { Directory::open(root).ok() };
        importing.preview(session, root.as_ref())
    } else if is_in_place {
        importing.in_place(session)
    } else {
        importing.into_root(session, Directory::open_or_create(root)?)
    }?;
    progress.end();
    Ok(imported)
}

/// Imports every session below `path`. One that cannot be imported keeps no other from it.
fn all(import: &ImportSession, path: &Path, root: &Path) -> anyhow::Result<Exit> {
    let sessions = sessions_below(&Directory::open(path)?)?;
    let mut rows = Vec::new();
    let (mut done, mut there, mut failed, mut has_warnings) = (0_u64, 0_u64, 0_u64, false);
    for session in &sessions {
        match one(session, path, root, import.dry_run) {
            Ok(imported) => {
                *(if imported.was_native { &mut there } else { &mut done }) += 1;
                has_warnings |= !imported.warnings.is_empty();
                if import.json { rows.push(object(&imported)) } else { describe(import, &imported)? }
            }
            Err(error) => {
                failed += 1;
                let why = exit::explanation(&error);
                output::error(&format!("{}: {why}", session.id()));
                rows.push(json!({"id": session.id().to_string(), "error": why}));
            }
        }
    }
    if import.json {
        output::json(&rows)?;
    }
    let would = if import.dry_run { "would be " } else { "" };
    output::note(&format!("{done} {would}imported, {there} there already, {failed} could not be"));
    Ok(match (failed, has_warnings) {
        (0, false) => Exit::Done,
        (0, true) => Exit::Warnings,
        _ => Exit::Failed,
    })
}

fn archive(import: &ImportSession, path: &Path, root: &Path) -> anyhow::Result<Exit> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let root = if import.dry_run {
        Directory::open(root).context("there are no sessions yet to compare with")?
    } else {
        Directory::open_or_create(root)?
    };
    let restored = restore(file, root, import.dry_run).with_context(|| path.display().to_string())?;
    let directory = restored.directory.display().to_string();
    if import.json {
        output::json(&json!({"id": restored.id, "dir": directory, "already_there": restored.was_there,
            "files": restored.files, "bytes": restored.len_bytes}))?;
        return Ok(Exit::Done);
    }
    let id = &restored.id;
    output::note(&match (restored.was_there, import.dry_run) {
        (true, _) => format!("{id} is there already; nothing was done"),
        (false, true) => {
            format!("{} files are as they were written; {id} would be made of them", restored.files)
        }
        (false, false) => format!("{} files; to read them: ambient show {id}", restored.files),
    });
    output::line(&directory)?;
    Ok(Exit::Done)
}

/// Makes a session of a transcript that another program wrote.
fn transcript(path: &Path, root: &Path, is_dry_run: bool) -> anyhow::Result<Imported> {
    let shown = path.display();
    let mut file = File::open(path).with_context(|| format!("cannot read {shown}"))?;
    let found = file.metadata()?;
    if found.len() > TRANSCRIPT_LEN_MAX_BYTES {
        let text = format!("{shown} has {} bytes, more than any transcript", found.len());
        return Err(Refusal::new(Exit::Failed, text).into());
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).with_context(|| format!("cannot read {shown}"))?;
    let said = TranscriptFile::parse(&bytes).with_context(|| shown.to_string())?;
    let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let mut imported = if is_dry_run {
        Imported {
            id: name,
            directory: root.to_owned(),
            was_native: false,
            lines: said.lines.len() as u64,
            edits: 0,
            warnings: said.skipped,
        }
    } else {
        let program = concat!("ambient ", env!("CARGO_PKG_VERSION"));
        said.import(Directory::open_or_create(root)?, &name, found.modified()?, program)
            .with_context(|| shown.to_string())?
    };
    for warning in &mut imported.warnings {
        *warning = format!("{shown}, {warning}");
    }
    Ok(imported)
}

fn is_same(first: &Path, second: &Path) -> bool {
    match (first.canonicalize(), second.canonicalize()) {
        (Ok(first), Ok(second)) => first == second,
        _ => false,
    }
}

fn object(imported: &Imported) -> Value {
    let Imported { id, directory, was_native, lines, edits, warnings } = imported;
    json!({"id": id, "dir": directory.display().to_string(), "already_native": was_native, "lines": lines,
        "edits": edits, "warnings": warnings})
}

fn tell(import: &ImportSession, imported: &Imported) -> anyhow::Result<Exit> {
    if import.json {
        for warning in &imported.warnings {
            output::warning(warning);
        }
        output::json(&object(imported))?;
    } else {
        describe(import, imported)?;
    }
    Ok(if imported.warnings.is_empty() { Exit::Done } else { Exit::Warnings })
}

fn describe(import: &ImportSession, imported: &Imported) -> anyhow::Result<()> {
    let Imported { id, directory, was_native, lines, edits, warnings } = imported;
    for warning in warnings {
        output::warning(warning);
    }
    output::note(&match (*was_native, import.dry_run) {
        (true, _) => format!("{id} has a log already; nothing was done"),
        (false, true) => format!("{id}: {lines} lines and {edits} edits, if it were not for --dry-run"),
        (false, false) => format!("{lines} lines and {edits} edits; to read them: ambient show {id}"),
    });
    Ok(output::line(&directory.display().to_string())?)
}
