//! `ambient transcribe`: audio files to a new session.

use ambient_capture::pipeline::AudioSource;
use ambient_engine::session::{Directory, Work, WorkLock, claim};
use ambient_engine::{Log, LogDirectory, Opened, Options, Origin, Track};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::arguments::Transcribe;
use crate::exit::Exit;
use crate::transcription::Listener;
use crate::{interrupt, places};

pub(crate) fn run(transcribe: &Transcribe) -> anyhow::Result<Exit> {
    let stop = interrupt::flag()?;
    let sources = sources(transcribe)?;
    let mut listener = Listener::load(&transcribe.recognition, None, stop)?;
    let root = Directory::open_or_create(&places::sessions_dir(&places::settings())?)?;
    let now = Timestamp::now().to_zoned_datetime(TimeZone::system());
    let session = claim(&root, now.datetime(), transcribe.name.as_deref())?;
    let _lock = WorkLock::hold(&session, Work::Transcribing)?;
    let directory = session.directory();
    let log = Log::create_in(LogDirectory::create_at(directory, directory.path())?, Options::default())?;
    let opened = Opened {
        id: session.id().to_string(),
        name: transcribe.name.clone(),
        started_at: now.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        origin: Origin::Transcribed,
        program: concat!("ambient ", env!("CARGO_PKG_VERSION")).to_owned(),
        tracks: Vec::new(),
    };
    listener.work(&session, log, |pipeline, sink| pipeline.transcribe(opened, &sources, sink))
}

/// The files, each opened once, so that an unusable one is an error before anything is made.
fn sources(transcribe: &Transcribe) -> anyhow::Result<Vec<AudioSource>> {
    let room = transcribe.room.as_ref().or(transcribe.file.as_ref()).map(|path| (Track::Room, path));
    let call = transcribe.call.as_ref().map(|path| (Track::Call, path));
    room.into_iter().chain(call).map(|(track, path)| Ok(AudioSource::new(track, path)?)).collect()
}
