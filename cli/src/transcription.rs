//! Turning sound into a session: what `transcribe` and `resume` share.
//!
//! Everything that can be missing is looked for before anything is made. From then on the log holds
//! whatever has been done, so every way to end early ends with the command that goes on.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ambient_capture::models::catalogue::{MODELS, Purpose};
use ambient_capture::models::checksum;
use ambient_capture::models::directory::ModelDirectory;
use ambient_capture::pipeline::{Pipeline, PipelineError, Sink, Summary};
use ambient_capture::progress::{Phase, ProgressReport};
use ambient_capture::recognizer::{RecognizeOptions, Recognizer, WhisperRecognizer, WhisperSettings};
use ambient_capture::voice_activity::{EarshotActivity, SileroActivity, VoiceActivity};
use ambient_engine::session::{SessionDirectory, write_derived_files};
use ambient_engine::{Event, Log, ModelReference, SystemClock};
use anyhow::Context as _;

use crate::arguments::Recognition;
use crate::exit::{Exit, Refusal};
use crate::progress::{Progress, Unit};
use crate::time::clock;
use crate::{model_choice, output, places, retention};

/// What listens: the models, loaded.
pub(crate) struct Listener {
    pub(crate) recognizer: WhisperRecognizer,
    pub(crate) voice_activity: Box<dyn VoiceActivity>,
    pub(crate) options: RecognizeOptions,
    stop: Arc<AtomicBool>,
    quiet: bool,
}

impl Listener {
    /// Chooses and loads the models. `begun_with` is the model of a session that is taken up again.
    pub(crate) fn load(
        wish: &Recognition,
        begun_with: Option<&str>,
        stop: Arc<AtomicBool>,
    ) -> anyhow::Result<Self> {
        let settings = places::settings();
        let directory = places::models()?;
        let language = wish.language.clone().or_else(|| settings.language());
        let wanted = wish.model.clone().or(begun_with.map(str::to_owned)).or_else(|| settings.model());
        let name = model_choice::recogniser(&directory, wanted.as_deref(), language.as_deref())?;
        let options = RecognizeOptions { language, ..RecognizeOptions::default() };
        let settings = WhisperSettings { interrupted: Arc::clone(&stop), ..WhisperSettings::default() };
        let model = reference(&directory, name, &stop)?;
        let path = directory.find(&model.name)?;
        let recognizer = WhisperRecognizer::load(&path, model, settings)?;
        recognizer.check(&options)?;
        let voice_activity = voice_activity(&directory)?;
        Ok(Self { recognizer, voice_activity, options, stop, quiet: wish.quiet })
    }

    /// Works on `session`: `run` is what the pipeline does, and `log` takes its events.
    pub(crate) fn work(
        &mut self,
        session: &SessionDirectory,
        log: Log,
        run: impl FnOnce(&mut Pipeline<'_>, &mut dyn Sink) -> Result<Summary, PipelineError>,
    ) -> anyhow::Result<Exit> {
        let audio = session.directory().open_or_create_subdirectory("audio")?;
        let mut progress = Progress::new(Unit::SoundMs, self.quiet);
        let mut on_progress = |report: &ProgressReport<'_>| show(&mut progress, report);
        let mut pipeline = Pipeline {
            audio_folder: audio.path(),
            recognizer: &mut self.recognizer,
            voice_activity: self.voice_activity.as_mut(),
            options: self.options.clone(),
            clock: &SystemClock,
            interrupted: &self.stop,
            on_progress: &mut on_progress,
        };
        let mut sink = LogSink { log };
        let outcome = run(&mut pipeline, &mut sink);
        progress.end();
        // A log that could not be closed is whole all the same; what went wrong in the run says more.
        let closed = sink.log.close();
        let id = session.id();
        let summary = match outcome {
            Ok(summary) => summary,
            Err(PipelineError::Interrupted) => {
                let text = format!("interrupted; what was done is kept. To finish it: ambient resume {id}");
                return Err(Refusal::new(Exit::Interrupted, text).into());
            }
            Err(error) => {
                return Err(error).with_context(|| {
                    format!("stopped; what was done is kept. Once mended, go on with: ambient resume {id}")
                });
            }
        };
        closed?;
        write_derived_files(session)?;
        conclude(session, &summary)
    }
}

/// Names the model beyond doubt.
fn reference(directory: &ModelDirectory, name: String, stop: &AtomicBool) -> anyhow::Result<ModelReference> {
    let path = directory.find(&name)?;
    let mut file =
        std::fs::File::open(&path).with_context(|| format!("could not open {}", path.display()))?;
    let sha256 = checksum::sha256(&mut file, stop, &mut |_| ())
        .with_context(|| format!("could not read {}", path.display()))?;
    Ok(ModelReference { name, sha256 })
}

/// The best detector that is here.
fn voice_activity(directory: &ModelDirectory) -> anyhow::Result<Box<dyn VoiceActivity>> {
    let mut known = MODELS.iter().filter(|model| model.purpose == Purpose::VoiceActivity);
    match known.find_map(|model| directory.find(model.name).ok()) {
        Some(path) => Ok(Box::new(SileroActivity::load(&path)?)),
        None => Ok(Box::new(EarshotActivity::new())),
    }
}

fn show(progress: &mut Progress, report: &ProgressReport<'_>) {
    let stage = match report.phase {
        Phase::Decoding => "reading audio",
        Phase::Transcribing => "transcribing",
    };
    let done_ms = report.tracks.iter().map(|track| track.done_ms).sum();
    let total_ms: Option<u64> = report.tracks.iter().map(|track| track.total_ms).sum();
    progress.set(stage, done_ms, total_ms.unwrap_or(0));
}

/// Says where the result is, and what a person should look at.
fn conclude(session: &SessionDirectory, summary: &Summary) -> anyhow::Result<Exit> {
    output::line(&session.directory().path().display().to_string())?;
    for warning in &summary.warnings {
        output::warning(warning);
    }
    let mut parts = Vec::new();
    for (track, history) in summary.tracks.iter().zip(&summary.lines) {
        let len_ms = track.samples.saturating_mul(1000) / u64::from(track.rate_hz.max(1));
        parts.push(format!("{}: {} lines in {}", track.track, history.lines, clock(len_ms)));
    }
    retention::apply_quietly();
    output::note(&format!("{}; to read them: ambient show {}", parts.join(", "), session.id()));
    Ok(if summary.warnings.is_empty() { Exit::Done } else { Exit::Warnings })
}

/// The session's log as the place the pipeline's events go to.
pub(crate) struct LogSink {
    pub(crate) log: Log,
}

impl Sink for LogSink {
    fn append(&mut self, events: &[Event]) -> Result<(), Box<dyn Error + Send + Sync>> {
        self.log.append(events)?;
        Ok(())
    }
}
