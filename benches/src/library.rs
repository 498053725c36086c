//! What a person waits for: the built program, from its start to its end, over a library of sessions.
//!
//! Half a million words in five hundred sessions are searched, five thousand sessions are listed, one of a million
//! lines is imported, read at its end and written as subtitles. Each is a process of its own, as in a terminal, and
//! the page cache is warm. `grep -i` over the same texts, one file a session, stands beside the search.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ambient_engine::{Event, Finished, Line, Log, Opened, Options, Origin, Track};
use anyhow::{Context, Result, bail};

use crate::machine::Machine;

/// Runs of each command that are timed, behind one that is not.
const RUNS: usize = 7;
const SEARCHED_SESSIONS: u64 = 500;
const LISTED_SESSIONS: u64 = 5_000;
const LINES: u64 = 1_000_000;
/// Words that lines are made of; the rarest is looked for.
const WORDS: [&str; 16] = [
    "the", "schema", "change", "went", "out", "on", "Friday", "and", "we", "should", "look", "at", "budget",
    "again", "before", "release",
];

/// One row of the page.
struct Row {
    what: &'static str,
    took_ms: f64,
    lowest_ms: f64,
    highest_ms: f64,
    goal: &'static str,
}

/// Measures everything and gives a page of Markdown.
pub(crate) fn measure(directory: &Path, program: &Path, say: &mut dyn FnMut(&str)) -> Result<String> {
    let machine = Machine::look(directory)?;
    machine.require_disk()?;
    let folder = tempfile::tempdir_in(directory)?;
    let path = program.canonicalize().with_context(|| format!("no program {}", program.display()))?;
    let program = Program { path, home: folder.path().to_owned() };
    let mut rows = Vec::new();
    say("making 500 sessions");
    let (searched, texts) = (folder.path().join("searched"), folder.path().join("texts"));
    make_searched(&searched, &texts)?;
    rows.push(program.time(
        "search of 1e6 lines in 500 sessions, a rare word",
        &searched,
        &["search", "zeppelin"],
        "≤ 150 ms",
    )?);
    rows.push(program.time(
        "the same, a word that is in no line",
        &searched,
        &["search", "quagmire"],
        "≤ 150 ms",
    )?);
    let grep = |word: &str| {
        let mut command = Command::new("grep");
        command.args(["-ri", word]).arg(&texts);
        command
    };
    rows.push(timed("grep -ri over the same texts, a rare word", "", || run(grep("zeppelin")))?);
    if Command::new("rg").arg("--version").stdout(Stdio::null()).status().is_ok() {
        rows.push(timed("rg -i over the same texts, a rare word", "", || {
            let mut command = Command::new("rg");
            command.args(["-i", "zeppelin"]).arg(&texts);
            run(command)
        })?);
    }
    say("making 5,000 sessions");
    let listed = folder.path().join("listed");
    for number in 0..LISTED_SESSIONS {
        make_session(&listed, number, 3, 0)?;
    }
    rows.push(program.time("sessions, 5,000 of them", &listed, &["sessions"], "≤ 50 ms")?);
    say("importing a million lines");
    rows.extend(long_session(&program, folder.path())?);
    Ok(page(&machine, &rows))
}

/// What is measured on one session of a million lines.
fn long_session(program: &Program, folder: &Path) -> Result<Vec<Row>> {
    let source = folder.join("older").join("2026-09-05T1412");
    make_older(&source)?;
    let root = folder.join("imported");
    let source = source.display().to_string();
    let import = timed("import of a JSONL session of 1e6 lines", "≤ 2 s", || {
        if root.exists() {
            fs::remove_dir_all(&root)?;
        }
        let started = Instant::now();
        program.run(&root, &["import", &source])?;
        Ok(started.elapsed())
    })?;
    let since = (LINES - 20).to_string();
    let show = ["show", "2026-09-05T1412", "--plain", "--since", &since];
    let show = program.time("show --since at the end of 1e6 lines", &root, &show, "≤ 15 ms")?;
    let out = folder.join("out.srt").display().to_string();
    let srt = ["export", "2026-09-05T1412", "--format", "srt", "--force", "--out", &out];
    let srt = program.time("export of 1e6 lines as srt", &root, &srt, "≤ 1 s")?;
    Ok(vec![import, show, srt])
}

struct Program {
    path: PathBuf,
    home: PathBuf,
}

impl Program {
    /// Runs it over the sessions below `root`, with nothing of the outer environment.
    fn run(&self, root: &Path, arguments: &[&str]) -> Result<Duration> {
        let mut command = Command::new(&self.path);
        command.args(arguments).env_clear().env("HOME", &self.home).env("AMBIENT_HOME", root);
        run(command)
    }

    fn time(&self, what: &'static str, root: &Path, arguments: &[&str], goal: &'static str) -> Result<Row> {
        timed(what, goal, || self.run(root, arguments))
    }
}

/// How long `command` takes; what it prints is read and dropped.
fn run(mut command: Command) -> Result<Duration> {
    let started = Instant::now();
    let output = command.stdin(Stdio::null()).stderr(Stdio::piped()).output()?;
    let took = started.elapsed();
    if !output.status.success() {
        bail!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(took)
}

fn timed(what: &'static str, goal: &'static str, mut run: impl FnMut() -> Result<Duration>) -> Result<Row> {
    run()?;
    let mut took = (0..RUNS).map(|_| run()).collect::<Result<Vec<_>>>()?;
    took.sort_unstable();
    let ms = |at: usize| took.get(at).map_or(0.0, |took| took.as_secs_f64() * 1e3);
    Ok(Row { what, took_ms: ms(RUNS / 2), lowest_ms: ms(0), highest_ms: ms(RUNS - 1), goal })
}

fn text(number: u64) -> String {
    let mut words = Vec::new();
    let mut state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    for _ in 0..18 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        words.push(usize::try_from(state % 16).ok().and_then(|at| WORDS.get(at)).copied().unwrap_or("and"));
    }
    if number % 40_009 == 7 {
        words.push("Zeppelin");
    }
    words.join(" ")
}

fn make_session(root: &Path, number: u64, lines: u64, first: u64) -> Result<PathBuf> {
    let (day, minute) = (1 + number / 1440 % 28, number % 1440);
    let id = format!("2026-09-{day:02}T{:02}{:02}-{number}", minute / 60, minute % 60);
    let folder = root.join(&id);
    fs::create_dir_all(&folder)?;
    let mut log =
        Log::create(&folder, Options { durability: ambient_engine::Durability::Os, ..Options::default() })?;
    let started_at = format!("2026-09-{day:02}T{:02}:{:02}:00Z", minute / 60, minute % 60);
    let opened = Opened {
        id: id.clone(),
        name: Some(format!("Talk {number}")),
        started_at: started_at.clone(),
        origin: Origin::Recorded,
        program: "benchmark".to_owned(),
        tracks: Vec::new(),
    };
    log.append(&[Event::Opened(opened)])?;
    let line = |at: u64| {
        Event::Line(Line {
            track: if at.is_multiple_of(3) { Track::Call } else { Track::Room },
            start_ms: at * 4_000,
            end_ms: at * 4_000 + 3_500,
            text: text(first + at),
            confidence: 0.9,
            language: None,
            generation: 0,
            audio: None,
            overlap: false,
        })
    };
    for from in (0..lines).step_by(1_000) {
        let batch: Vec<_> = (from..lines.min(from + 1_000)).map(line).collect();
        log.append(&batch)?;
    }
    log.append(&[Event::Finished(Finished { at: started_at, warnings: Vec::new() })])?;
    log.close()?;
    let root = ambient_engine::session::Directory::open(root)?;
    let id = ambient_engine::session::SessionId::new(&id)?;
    let session =
        ambient_engine::session::SessionDirectory::open(&root, &id)?.context("it was made just now")?;
    ambient_engine::session::write_derived_files(&session)?;
    Ok(folder)
}

fn make_searched(root: &Path, texts: &Path) -> Result<()> {
    fs::create_dir_all(texts)?;
    let each = LINES / SEARCHED_SESSIONS;
    for number in 0..SEARCHED_SESSIONS {
        make_session(root, number, each, number * each)?;
        let said: String = (0..each).map(|at| text(number * each + at) + "\n").collect();
        fs::write(texts.join(format!("{number}.txt")), said)?;
    }
    Ok(())
}

/// A session of the older layout.
fn make_older(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(
        folder.join("session.json"),
        r#"{"id":"2026-09-05T1412","name":"Long","started_at":"2026-09-05T14:12:00Z","ended_at":"2026-09-05T15:12:00Z","duration_s":4000000.0,"device_hz":48000,"mic_hz":48000,"channels":2,"mic_channels":1,"apps":[],"model":"tiny.en"}"#,
    )?;
    let mut raw = std::io::BufWriter::new(fs::File::create(folder.join("raw.jsonl"))?);
    for at in 0..LINES {
        let (start_ms, text) = (at * 4_000, text(at));
        let end_ms = start_ms + 3_500;
        writeln!(
            raw,
            r#"{{"track":"room","start_ms":{start_ms},"end_ms":{end_ms},"text":"{text}","confidence":0.9}}"#
        )?;
    }
    raw.flush()?;
    fs::write(folder.join("edits.jsonl"), "")?;
    Ok(fs::write(folder.join("transcript.md"), "")?)
}

fn page(machine: &Machine, rows: &[Row]) -> String {
    let mut page = format!(
        "{}, commit {}. {}, {} cores, {}, {}; {}; load {:?} before. {RUNS} runs of each, behind one that is not counted.\n\n\
         | the whole process | median | lowest .. highest | goal |\n|---|---:|---:|---:|\n",
        machine.date,
        machine.commit,
        machine.cpu,
        machine.cores,
        machine.kernel,
        machine.file_system,
        machine.rustc,
        machine.load_before.unwrap_or(0.0),
    );
    for Row { what, took_ms, lowest_ms, highest_ms, goal } in rows {
        // Writing to a string cannot fail.
        let _ = writeln!(page, "| {what} | {took_ms:.1} ms | {lowest_ms:.1} .. {highest_ms:.1} | {goal} |");
    }
    page
}
