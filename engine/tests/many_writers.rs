//! Many processes write one log, others read it, and some are killed: no batch is lost, torn, doubled or seen
//! half.
//!
//! Every event names its writer, its batch and its part of it, so that whatever a reader is shown can be
//! judged alone. A child is this test program started again with a role in its environment.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // a test that cannot go on should stop

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ambient_engine::{
    Change, Cursor, Durability, Edit, Event, Line, Log, Mapping, Options, ReadError, Reader, Snapshot, Track,
};

const ROLE: &str = "AMBIENT_TEST_ROLE";
const SESSION: &str = "AMBIENT_TEST_SESSION";
const NAME: &str = "AMBIENT_TEST_NAME";
const BATCHES: &str = "AMBIENT_TEST_BATCHES";
/// Generous: only a hang reaches it.
const DEADLINE: Duration = Duration::from_secs(300);

/// Lines at the start, which the edits are about: batch n edits lines 2n and 2n + 1, counted round.
const FIRST_LINES: u64 = 2_000;
const EDITS_OF_A_BATCH: u64 = 2;
const LINES_OF_A_BATCH: u64 = 3;
const FIRST: &str = "first";
/// The name of the line with which a test tells its readers that nothing more comes.
const LAST: &str = "last";

fn line(name: &str, batch: u64, part: u64) -> Event {
    Event::Line(Line {
        track: Track::Room,
        start_ms: batch * 1_000,
        end_ms: batch * 1_000 + 900,
        text: format!("{name} {batch} {part}"),
        confidence: 0.9,
        language: None,
        generation: 0,
        audio: None,
        overlap: false,
    })
}

fn edits(name: &str, batch: u64) -> Vec<Event> {
    let edit = |part| {
        let line = (batch * EDITS_OF_A_BATCH + part) % FIRST_LINES;
        let change = Change::Speaker { name: format!("{name} {batch} {part}") };
        Event::Edit(Edit { line, by: Edit::PERSON.to_owned(), change })
    };
    (0..EDITS_OF_A_BATCH).map(edit).collect()
}

/// Patience for as long as a killed test machine may take: a writer that gives up is not what is tested.
fn options() -> Options {
    Options { lock_timeout: DEADLINE, ..Options::with_durability(Durability::Os) }
}

fn new_log(session: &Path) {
    let mut log = Log::create(session, options()).unwrap();
    let first: Vec<Event> = (0..FIRST_LINES).map(|part| line(FIRST, 0, part)).collect();
    log.append(&first).unwrap();
}

/// Not a test of its own: what a child process does.
#[test]
fn child() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let (session, name) = (std::env::var(SESSION).unwrap(), std::env::var(NAME).unwrap());
    let batches = std::env::var(BATCHES).unwrap().parse().unwrap();
    // The test runner has begun a line of its own.
    println!();
    match role.as_str() {
        "read" => read_to_the_last(Path::new(&session)),
        role => write(Path::new(&session), role, &name, batches),
    }
}

fn write(session: &Path, role: &str, name: &str, batches: u64) {
    let mut log = Log::open(session, options()).unwrap();
    for batch in 0..batches {
        let events = match role {
            "edit" => edits(name, batch),
            _ => (0..LINES_OF_A_BATCH).map(|part| line(name, batch, part)).collect(),
        };
        log.append(&events).unwrap();
        println!("acknowledged {}", batch + 1);
    }
}

/// Follows the log and judges every snapshot, until the last line is there.
fn read_to_the_last(session: &Path) {
    let mut reader = Reader::open(session, Mapping::On).unwrap();
    let started = Instant::now();
    let (mut cursor, mut lines, mut snapshots) = (None, 0, 0_u64);
    loop {
        assert!(started.elapsed() < DEADLINE, "only {lines} lines came");
        if snapshots > 0 && !reader.has_news().unwrap() {
            std::thread::yield_now();
            continue;
        }
        snapshots += 1;
        let mut snapshot = reader.snapshot().unwrap();
        if see(&mut snapshot, &mut cursor, &mut lines).unwrap() {
            println!("judged {snapshots} snapshots");
            return;
        }
    }
}

/// Judges what came since the cursor. True: the last line is there.
fn see(snapshot: &mut Snapshot<'_>, cursor: &mut Option<Cursor>, lines: &mut u64) -> Result<bool, ReadError> {
    let changes = snapshot.changes(cursor.as_ref())?;
    let mut heard = Vec::new();
    for folded in &changes.new {
        assert_eq!(folded.index, *lines, "lines come in order, each once");
        *lines += 1;
        heard.push(Part::of(&folded.heard.text));
    }
    assert_whole(heard.iter());
    for folded in &changes.changed {
        // Its neighbour was edited by the same batches, so a half one would show here.
        let names = |snapshot: &mut Snapshot<'_>, line| -> Result<Vec<(String, u64)>, ReadError> {
            let edits = snapshot.edits_of(line)?;
            Ok(edits.iter().filter_map(|placed| Part::of_edit(&placed.edit)).map(Part::batch).collect())
        };
        let neighbour = folded.index ^ 1;
        assert_eq!(names(snapshot, folded.index)?, names(snapshot, neighbour)?, "a batch was seen half");
    }
    *cursor = changes.cursor;
    Ok(heard.last().is_some_and(|part| part.name == LAST))
}

/// What an event says of itself.
#[derive(Debug, PartialEq, Eq)]
struct Part {
    name: String,
    batch: u64,
    number: u64,
}

impl Part {
    fn of(text: &str) -> Self {
        let mut words = text.split(' ');
        let name = words.next().unwrap().to_owned();
        let mut number = || words.next().unwrap().parse().unwrap();
        Self { name, batch: number(), number: number() }
    }

    fn of_edit(edit: &Edit) -> Option<Self> {
        let Change::Speaker { name } = &edit.change else { return None };
        Some(Self::of(name))
    }

    fn of_event(event: &Event) -> Option<Self> {
        match event {
            Event::Line(line) => Some(Self::of(&line.text)),
            Event::Edit(edit) => Self::of_edit(edit),
            _ => None,
        }
    }

    fn batch(self) -> (String, u64) {
        (self.name, self.batch)
    }

    /// How many parts its batch has.
    fn count(&self) -> u64 {
        match self.name.as_str() {
            FIRST => FIRST_LINES,
            LAST => 1,
            name if name.starts_with("edit") => EDITS_OF_A_BATCH,
            _ => LINES_OF_A_BATCH,
        }
    }
}

/// Every batch among `parts` is there whole, its parts in a row.
fn assert_whole<'a>(parts: impl Iterator<Item = &'a Part>) {
    let mut open: Option<&Part> = None;
    for part in parts {
        match open {
            None => assert_eq!(part.number, 0, "{part:?} begins a batch"),
            Some(before) => {
                let is_next =
                    (&part.name, part.batch, part.number) == (&before.name, before.batch, before.number + 1);
                assert!(is_next, "{part:?} stands behind {before:?}");
            }
        }
        open = (part.number + 1 < part.count()).then_some(part);
    }
    assert_eq!(open, None, "the last batch is whole");
}

/// Looks at all of the log: whole batches, each writer's in order, none missing, none twice. Gives how many
/// batches each writer has in it.
fn audit(session: &Path) -> BTreeMap<String, u64> {
    let mut reader = Reader::open(session, Mapping::On).unwrap();
    let mut snapshot = reader.snapshot().unwrap();
    let events = snapshot.events().unwrap();
    let parts: Vec<Part> = events.iter().filter_map(|recorded| Part::of_event(&recorded.event)).collect();
    assert_whole(parts.iter());
    let mut batches: BTreeMap<String, u64> = BTreeMap::new();
    for part in parts.into_iter().filter(|part| part.number == 0) {
        let count = batches.entry(part.name).or_default();
        assert_eq!(part.batch, *count, "each writer's batches in order, each once");
        *count += 1;
    }
    // The index and the chains of edits tell the same as the walk.
    let lines = snapshot.verbatim(..).unwrap();
    let heard = events.iter().filter_map(|recorded| match &recorded.event {
        Event::Line(line) => Some(line),
        _ => None,
    });
    assert!(lines.iter().map(|heard| &heard.line).eq(heard), "the index names other lines");
    let by_chain: usize = (0..snapshot.lines()).map(|line| snapshot.edits_of(line).unwrap().len()).sum();
    let edits = events.iter().filter(|recorded| matches!(recorded.event, Event::Edit(_))).count();
    assert_eq!(by_chain, edits, "an edit is on no chain, or on two");
    batches
}

/// A child process, and what it has said.
struct Process {
    name: String,
    child: Child,
    acknowledged: Arc<AtomicU64>,
    listener: JoinHandle<Vec<String>>,
}

impl Process {
    fn start(session: &Path, role: &str, name: &str, batches: u64) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child", "--nocapture", "--test-threads=1"])
            .env(ROLE, role)
            .env(SESSION, session)
            .env(NAME, name)
            .env(BATCHES, batches.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let acknowledged = Arc::new(AtomicU64::new(0));
        let (output, counter) = (child.stdout.take().unwrap(), Arc::clone(&acknowledged));
        let listener = std::thread::spawn(move || {
            let mut other = Vec::new();
            for word in BufReader::new(output).lines().map_while(Result::ok) {
                match word.strip_prefix("acknowledged ").and_then(|number| number.parse().ok()) {
                    Some(number) => counter.store(number, Ordering::Relaxed),
                    None => other.push(word),
                }
            }
            other
        });
        Self { name: name.to_owned(), child, acknowledged, listener }
    }

    fn acknowledged(&self) -> u64 {
        self.acknowledged.load(Ordering::Relaxed)
    }

    /// Waits for its own end.
    fn finish(self) -> Vec<String> {
        let output = self.child.wait_with_output().unwrap();
        let said = self.listener.join().unwrap();
        assert!(
            output.status.success(),
            "{}: {said:?} {}",
            self.name,
            String::from_utf8_lossy(&output.stderr)
        );
        said
    }

    /// Kills it, and gives how many batches had been acknowledged to it.
    fn kill(mut self) -> (String, u64) {
        assert!(self.child.try_wait().unwrap().is_none(), "{} ended by itself", self.name);
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.listener.join().unwrap();
        (self.name, self.acknowledged.load(Ordering::Relaxed))
    }
}

#[test]
fn four_processes_edit_while_a_fifth_appends_lines_and_three_read() {
    const EDIT_BATCHES: u64 = 1_000;
    const LINE_BATCHES: u64 = 500;
    let session = tempfile::tempdir().unwrap();
    new_log(session.path());
    let readers: Vec<Process> =
        (0..3).map(|number| Process::start(session.path(), "read", &format!("read{number}"), 0)).collect();
    let mut writers: Vec<Process> = (0..4)
        .map(|number| Process::start(session.path(), "edit", &format!("edit{number}"), EDIT_BATCHES))
        .collect();
    writers.push(Process::start(session.path(), "lines", "lines", LINE_BATCHES));
    for writer in writers {
        writer.finish();
    }
    Log::open(session.path(), options()).unwrap().append(&[line(LAST, 0, 0)]).unwrap();
    for reader in readers {
        let said = reader.finish();
        assert!(said.iter().any(|word| word.starts_with("judged")), "{said:?}");
    }
    let mut expected: BTreeMap<String, u64> =
        (0..4).map(|number| (format!("edit{number}"), EDIT_BATCHES)).collect();
    expected.extend([(FIRST.to_owned(), 1), ("lines".to_owned(), LINE_BATCHES), (LAST.to_owned(), 1)]);
    assert_eq!(audit(session.path()), expected);
}

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

/// Rounds of the killing test: all that were asked for, or a sample.
fn kill_rounds() -> u64 {
    if std::env::var_os("AMBIENT_EXHAUSTIVE").is_some() { 200 } else { 50 }
}

/// One round: three writers at work, one of them killed, the others seen to go on, then killed too.
fn kill_round(session: &Path, round: u64, dice: &mut Dice) -> Vec<(String, u64)> {
    let start = |role: &str| Process::start(session, role, &format!("{role}{round}"), u64::MAX);
    let mut writers = vec![start("edit"), start("lines")];
    writers.push(Process::start(session, "edit", &format!("edit{round}b"), u64::MAX));
    let started = Instant::now();
    let wait_for = |writers: &[Process], more: u64| {
        let goals: Vec<u64> = writers.iter().map(|writer| writer.acknowledged() + more).collect();
        while writers.iter().zip(&goals).any(|(writer, goal)| writer.acknowledged() < *goal) {
            assert!(started.elapsed() < DEADLINE, "round {round}: a writer does not go on");
            std::thread::yield_now();
        }
    };
    wait_for(&writers, 1 + dice.roll(12));
    std::thread::sleep(Duration::from_micros(dice.roll(3_000)));
    let victim = usize::try_from(dice.roll(3)).unwrap();
    let mut acknowledged = vec![writers.swap_remove(victim).kill()];
    wait_for(&writers, 1 + dice.roll(6));
    std::thread::sleep(Duration::from_micros(dice.roll(3_000)));
    acknowledged.extend(writers.into_iter().map(Process::kill));
    acknowledged
}

#[test]
fn random_writers_killed_lose_nothing_that_was_acknowledged() {
    const ROUNDS_OF_A_LOG: u64 = 10;
    let mut dice = Dice(0x5EED_D1CE);
    for first in (0..kill_rounds()).step_by(usize::try_from(ROUNDS_OF_A_LOG).unwrap()) {
        let session = tempfile::tempdir().unwrap();
        new_log(session.path());
        let reader = Process::start(session.path(), "read", "read", 0);
        let mut acknowledged = vec![(FIRST.to_owned(), 1)];
        for round in first..first + ROUNDS_OF_A_LOG {
            acknowledged.extend(kill_round(session.path(), round, &mut dice));
            // Whoever opens it next mends it; a batch that was not acknowledged may be there or not.
            drop(Log::open(session.path(), options()).unwrap());
            let found = audit(session.path());
            for (name, batches) in &acknowledged {
                let there = found.get(name).copied().unwrap_or_default();
                assert!(
                    (*batches..=batches + 1).contains(&there),
                    "round {round}: {name} has {there} of {batches}"
                );
            }
            assert!(found.len() <= acknowledged.len(), "round {round}: {found:?}");
        }
        Log::open(session.path(), options()).unwrap().append(&[line(LAST, 0, 0)]).unwrap();
        reader.finish();
    }
}
