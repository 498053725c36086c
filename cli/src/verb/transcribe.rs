//! `ambient transcribe`: audio files to new sessions.
//!
//! One file, or one for each track, is one session. Several files are one session each, and a folder stands for
//! the files in it: then one that cannot be used costs itself, the others are gone on with, and the end says so.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ambient_capture::audio::AudioFileError;
use ambient_capture::pipeline::AudioSource;
use ambient_engine::session::{Directory, Work, WorkLock, claim};
use ambient_engine::{Log, LogDirectory, Opened, Options, Origin, Track};
use anyhow::Context as _;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::arguments::Transcribe;
use crate::exit::{self, Exit, Refusal};
use crate::piped_audio::{BareSamples, PipedAudio};
use crate::transcription::Listener;
use crate::{interrupt, output, places};

/// The word for what comes on stdin.
const STDIN: &str = "-";
/// How the names of files end that a folder is searched for.
const ENDINGS: [&str; 20] = [
    "wav", "wave", "w64", "rf64", "flac", "mp3", "mp2", "m4a", "m4b", "mp4", "aac", "ogg", "oga", "opus",
    "mka", "mkv", "webm", "mov", "aif", "aiff",
];

pub(crate) fn run(transcribe: &Transcribe) -> anyhow::Result<Exit> {
    let stop = interrupt::flag()?;
    let is_stdin = transcribe.files.iter().any(|file| file == Path::new(STDIN));
    if is_stdin && transcribe.files.len() > 1 {
        let text = "`-` stands alone: what comes on stdin is one session";
        return Err(Refusal::new(Exit::Usage, text).into());
    }
    if transcribe.rate.is_some() && !is_stdin {
        let text = "--rate is for bare samples on stdin; a file says itself what it holds";
        return Err(Refusal::new(Exit::Usage, text).into());
    }
    if is_stdin {
        return from_stdin(transcribe, &stop);
    }
    let is_batch = transcribe.files.len() > 1 || transcribe.files.iter().any(|file| file.is_dir());
    if is_batch {
        return batch(transcribe, &stop);
    }
    let sources = sources(transcribe)?;
    let mut listener = Listener::load(&transcribe.recognition, None, stop)?;
    session(&mut listener, transcribe.name.as_deref(), &sources)
}

/// One session of what comes on stdin.
fn from_stdin(transcribe: &Transcribe, stop: &Arc<AtomicBool>) -> anyhow::Result<Exit> {
    PipedAudio::require_pipe()?;
    // First, so that nobody's sound is gone for want of a model.
    let mut listener = Listener::load(&transcribe.recognition, None, Arc::clone(stop))?;
    let root = Directory::open_or_create(&places::sessions_dir(&places::settings())?)?;
    let bare = transcribe.rate.map(|rate_hz| BareSamples { rate_hz, channels: transcribe.channels });
    let audio = PipedAudio::receive(&root, bare, stop)?;
    let sources = sources_of(audio.path(), transcribe.split_channels).context("what came on stdin")?;
    let outcome = session(&mut listener, transcribe.name.as_deref(), &sources);
    if outcome.is_err() {
        audio.keep();
    }
    outcome
}

/// A session of each file.
fn batch(transcribe: &Transcribe, stop: &Arc<AtomicBool>) -> anyhow::Result<Exit> {
    if transcribe.name.is_some() {
        let text = "--name is for one session; of several, each gets the name of its file";
        return Err(Refusal::new(Exit::Usage, text).into());
    }
    let files = files(&transcribe.files)?;
    let mut listener = Listener::load(&transcribe.recognition, None, Arc::clone(stop))?;
    let (mut failed, mut has_warnings) = (0, false);
    for (number, file) in files.iter().enumerate() {
        output::note(&format!("{} of {}: {}", number + 1, files.len(), file.display()));
        let name = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let outcome = sources_of(file, transcribe.split_channels)
            .map_err(anyhow::Error::from)
            .and_then(|sources| session(&mut listener, name.as_deref(), &sources));
        match outcome {
            Ok(exit) => has_warnings |= exit == Exit::Warnings,
            Err(error) if exit::of(&error) == Exit::Interrupted || stop.load(Ordering::Relaxed) => {
                let left = files.len() - number - 1;
                return Err(error.context(format!("{left} file(s) were not begun")));
            }
            Err(error) => {
                output::error(&exit::explanation(&error));
                failed += 1;
            }
        }
    }
    if failed > 0 {
        let text = format!("{failed} of {} files could not be transcribed; the others are done", files.len());
        return Err(Refusal::new(Exit::Failed, text).into());
    }
    Ok(if has_warnings { Exit::Warnings } else { Exit::Done })
}

/// The files that `named` stands for: itself, or of a folder what looks like sound in it, by name.
fn files(named: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in named {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let cannot_list = || format!("cannot list {}", path.display());
        let mut found = Vec::new();
        for entry in std::fs::read_dir(path).with_context(cannot_list)? {
            let file = entry.with_context(cannot_list)?.path();
            let ending = file.extension().and_then(|ending| ending.to_str()).map(str::to_lowercase);
            if file.is_file() && ending.is_some_and(|ending| ENDINGS.contains(&ending.as_str())) {
                found.push(file);
            }
        }
        if found.is_empty() {
            let text = format!("no audio file in {}; looked for {}", path.display(), ENDINGS.join(", "));
            return Err(Refusal::new(Exit::NotFound, text).into());
        }
        found.sort();
        files.append(&mut found);
    }
    Ok(files)
}

/// Makes a session of `sources`.
fn session(listener: &mut Listener, name: Option<&str>, sources: &[AudioSource]) -> anyhow::Result<Exit> {
    let root = Directory::open_or_create(&places::sessions_dir(&places::settings())?)?;
    let now = Timestamp::now().to_zoned_datetime(TimeZone::system());
    let session = claim(&root, now.datetime(), name)?;
    let _lock = WorkLock::hold(&session, Work::Transcribing)?;
    let directory = session.directory();
    let log = Log::create_in(LogDirectory::create_at(directory, directory.path())?, Options::default())?;
    let opened = Opened {
        id: session.id().to_string(),
        name: name.map(str::to_owned),
        started_at: now.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        origin: Origin::Transcribed,
        program: concat!("ambient ", env!("CARGO_PKG_VERSION")).to_owned(),
        tracks: Vec::new(),
    };
    listener.work(&session, log, |pipeline, sink| pipeline.transcribe(opened, sources, sink))
}

/// The files of one session, each opened once, so that an unusable one is an error before anything is made.
fn sources(transcribe: &Transcribe) -> anyhow::Result<Vec<AudioSource>> {
    if let Some(file) = transcribe.files.first() {
        return Ok(sources_of(file, transcribe.split_channels)?);
    }
    if transcribe.room == transcribe.call {
        let text = "--room and --call name the same file; for the channels of one file: --split-channels";
        return Err(Refusal::new(Exit::Usage, text).into());
    }
    let room = transcribe.room.as_ref().map(|path| (Track::Room, path));
    let call = transcribe.call.as_ref().map(|path| (Track::Call, path));
    room.into_iter().chain(call).map(|(track, path)| Ok(AudioSource::new(track, path)?)).collect()
}

/// What one file is a session of.
fn sources_of(file: &Path, has_split_channels: bool) -> Result<Vec<AudioSource>, AudioFileError> {
    if has_split_channels {
        return Ok(AudioSource::channels_of(file)?.into());
    }
    Ok(vec![AudioSource::new(Track::Room, file)?])
}
