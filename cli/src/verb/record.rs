//! `ambient record`: devices to a new session, with lines while people speak.
//!
//! Asked and looked for in this order: consent, the model, the devices, room on the disk. Until all are
//! there nothing is heard and nothing is made.

use std::io::{self, BufRead as _, IsTerminal as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ambient_capture::devices::{Choice, DeviceError, DeviceKind, DeviceSource, Start};
use ambient_capture::live::{Recording, RecordingSummary, Source, Status, Wish, free_bytes, hours_left};
use ambient_capture::pipeline::PipelineError;
use ambient_engine::session::{
    Directory, SessionDirectory, SessionMetadata, Work, WorkLock, claim, write_derived_files,
};
use ambient_engine::{Opened, Options, Origin, SystemClock, Track};
use anyhow::Context as _;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ZonedDateTime};

use crate::arguments::Record;
use crate::exit::{Exit, Refusal};
use crate::interrupt::{self, Asked};
use crate::live_view::LiveView;
use crate::transcription::{Listener, LogSink};
use crate::{output, places, recording, retention};

/// Less room than for this many hours is told before the start.
const HOURS_TOLD: u64 = 3;

/// Quieter than this is no sound for `--stop-after-silence`.
const SOUND_DB: f32 = -50.0;

pub(crate) fn run(record: &Record) -> anyhow::Result<Exit> {
    if record.mic == "none" && record.system == "none" {
        return Err(Refusal::new(Exit::Usage, "--mic none and --system none leave nothing to record").into());
    }
    agree(record)?;
    let asked = interrupt::steps()?;
    let mut listener = Listener::load(&record.recognition, None, asked.give_up.clone())?;
    let start = Start::default();
    let sources = sources(record, &start)?;
    let root = Directory::open_or_create(&places::sessions_dir(&places::settings())?)?;
    tell_room_left(&root, &sources);
    recording::tell_of_others()?;
    let now = Timestamp::now().to_zoned_datetime(TimeZone::system());
    let session = claim(&root, now.datetime(), record.name.as_deref())?;
    let _lock = WorkLock::hold(&session, Work::Recording)?;
    let audio = session.directory().open_or_create_subdirectory("audio")?;
    let mut sink = LogSink { log: session.create_log(Options::default())? };
    let mut view = LiveView::new(record.recognition.quiet);
    let mut watch = watch(record, &asked, &mut view);
    let recording = Recording {
        session: &session,
        audio: &audio,
        recognizer: &mut listener.recognizer,
        voice_activity: listener.voice_activity.as_mut(),
        options: listener.options.clone(),
        clock: &SystemClock,
        session_clock: &start.now(),
        ends_at_us: ends_at_us(record, &now),
        interrupted: &asked.give_up,
        watch: &mut watch,
    };
    if !record.recognition.quiet {
        output::note(&format!("recording {}; to end it: Ctrl-C, or ambient stop", session.id()));
    }
    let outcome = recording.run(opened(record, &session, &now), sources, &mut sink);
    drop(watch);
    view.end();
    // A log that could not be closed is whole all the same; what went wrong in the run says more.
    let closed = sink.log.close();
    let summary = outcome.map_err(|error| explained(error, &session))?;
    closed?;
    write_derived_files(&session)?;
    conclude(&session, &summary)
}

/// Asks whether everybody agreed, once a run. Where nobody can be asked, the answer must have been given.
fn agree(record: &Record) -> anyhow::Result<()> {
    if record.yes || !places::settings().asks_before_recording() {
        return Ok(());
    }
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        let text = "nobody can be asked here whether everybody agreed to be recorded; if so, say --yes, or once and \
                    for all: ambient config set ask_before_recording false";
        return Err(Refusal::new(Exit::Usage, text).into());
    }
    output::note("This records what the microphone hears and what this machine plays, and keeps it here.");
    output::note("Has everybody who will be heard agreed? [y/N]");
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).context("could not read the answer")?;
    if matches!(answer.trim(), "y" | "Y" | "yes") {
        return Ok(());
    }
    Err(Refusal::new(Exit::Failed, "not recorded").into())
}

/// The devices, open and waiting for the start.
fn sources(record: &Record, start: &Start) -> anyhow::Result<Vec<(Track, Box<dyn Source>)>> {
    let mut sources: Vec<(Track, Box<dyn Source>)> = Vec::new();
    let say = |text: String| {
        if !record.recognition.quiet {
            output::note(&text);
        }
    };
    let choice = |word: &str| match word {
        "default" | "auto" => Choice::Default,
        name => Choice::Named(name.to_owned()),
    };
    if record.mic != "none" {
        let mic = DeviceSource::open(DeviceKind::Input, choice(&record.mic), true, start.clone())
            .context("choose a microphone with --mic, or do without: --mic none")?;
        say(format!("room: {}", mic.name()));
        sources.push((Track::Room, Box::new(mic)));
    }
    if record.system != "none" {
        let is_expected = record.system != "auto";
        let opened =
            DeviceSource::open(DeviceKind::Loopback, choice(&record.system), is_expected, start.clone());
        match opened {
            Ok(system) => {
                say(format!("call: {}", system.name()));
                sources.push((Track::Call, Box::new(system)));
            }
            Err(DeviceError::NoDefault { .. } | DeviceError::NoHost { .. })
                if !is_expected && !sources.is_empty() =>
            {
                output::note("call: this machine's own sound cannot be recorded here; only the room is");
            }
            Err(error) => {
                return Err(error).context("choose a source with --system, or do without: --system none");
            }
        }
    }
    Ok(sources)
}

fn tell_room_left(root: &Directory, sources: &[(Track, Box<dyn Source>)]) {
    let rates: Vec<u32> = sources.iter().map(|(_, source)| source.rate_hz()).collect();
    if let Some(free) = free_bytes(root.path()) {
        let hours = hours_left(free, &rates);
        if hours < HOURS_TOLD {
            let folder = root.path().display();
            output::warning(&format!("there is room for less than {} hours of sound in {folder}", hours + 1));
        }
    }
}

fn opened(record: &Record, session: &SessionDirectory, now: &ZonedDateTime) -> Opened {
    Opened {
        id: session.id().to_string(),
        name: record.name.clone(),
        started_at: now.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        origin: Origin::Recorded,
        program: concat!("ambient ", env!("CARGO_PKG_VERSION")).to_owned(),
        tracks: Vec::new(),
    }
}

/// Shows how it goes, and says when to end.
fn watch<'a>(
    record: &Record,
    asked: &'a Asked,
    view: &'a mut LiveView,
) -> impl FnMut(&Status) -> Wish + Send + 'a {
    let silence_ms = record.stop_after_silence.map(millis);
    let mut heard_ms = 0;
    move |status| {
        view.show(status);
        if status.tracks.iter().any(|track| track.peak_db >= SOUND_DB) {
            heard_ms = status.elapsed_ms;
        }
        let is_silent = silence_ms.is_some_and(|silence_ms| status.elapsed_ms >= heard_ms + silence_ms);
        if is_silent || is_set(&asked.stop) { Wish::Stop } else { Wish::GoOn }
    }
}

fn is_set(flag: &AtomicBool) -> bool {
    flag.load(Ordering::Relaxed)
}

/// The earlier of `--for` and `--until`, on the recording's clock. A time of day that has passed is tomorrow's.
fn ends_at_us(record: &Record, now: &ZonedDateTime) -> Option<u64> {
    let length = record.length;
    let until = record.until.and_then(|time| {
        let today = now.with().time(time).build().ok()?;
        let due = if today > *now { today } else { now.tomorrow().ok()?.with().time(time).build().ok()? };
        Duration::try_from(due.duration_since(now)).ok()
    });
    let earlier = length.into_iter().chain(until).min()?;
    Some(u64::try_from(earlier.as_micros()).unwrap_or(u64::MAX))
}

fn millis(length: Duration) -> u64 {
    u64::try_from(length.as_millis()).unwrap_or(u64::MAX)
}

/// The error, and how to go on.
fn explained(error: PipelineError, session: &SessionDirectory) -> anyhow::Error {
    let id = session.id();
    match error {
        PipelineError::Interrupted => {
            let text = format!("given up; the sound is kept. To turn it into text: ambient resume {id}");
            Refusal::new(Exit::Interrupted, text).into()
        }
        error => anyhow::Error::new(error)
            .context(format!("the sound is kept; once mended, turn it into text with: ambient resume {id}")),
    }
}

/// Says what is there, what a person should look at, and where it is.
fn conclude(session: &SessionDirectory, summary: &RecordingSummary) -> anyhow::Result<Exit> {
    output::line(&session.directory().path().display().to_string())?;
    for warning in &summary.warnings {
        output::warning(warning);
    }
    if let Some(metadata) = SessionMetadata::read(session.directory())? {
        recording::prove(&metadata);
    }
    retention::apply_quietly();
    output::note(&format!("to read it: ambient show {}", session.id()));
    Ok(if summary.warnings.is_empty() { Exit::Done } else { Exit::Warnings })
}
