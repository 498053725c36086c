//! A session made without models: bursts of tone are speech, and their pitch is the word.
#![allow(dead_code, unreachable_pub, reason = "each test program uses its own part")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss)]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use ambient_capture::pipeline::{AudioSource, History, Pipeline, PipelineError, Sink, Summary};
use ambient_capture::recognizer::{RecognizeOptions, Recognizer, ScriptedRecognizer};
use ambient_capture::voice_activity::{FRAME_SAMPLES, VoiceActivity, VoiceActivityError};
use ambient_engine::{Dropped, Event, FixedClock, Line, Opened, Origin, Track};
use tempfile::TempDir;

use crate::sound::{Coding, put, silence, tone, wav};

/// A stretch of speech: when it begins, how long it lasts, which word it is.
#[derive(Clone, Copy, Debug)]
pub struct Speech {
    pub start_ms: u64,
    pub len_ms: u64,
    pub word: u64,
}

/// Pitch of a word.
pub fn pitch_hz(word: u64) -> f64 {
    200.0 + 100.0 * word as f64
}

/// The sound of a track of `len_ms` on which `speech` is heard.
pub fn sound_of(speech: &[Speech], rate_hz: u32, len_ms: u64) -> Vec<f64> {
    let mut sound = silence(rate_hz, len_ms);
    for Speech { start_ms, len_ms, word } in speech {
        let start = (u64::from(rate_hz) * start_ms / 1_000) as usize;
        for (place, sample) in sound[start..].iter_mut().zip(tone(pitch_hz(*word), rate_hz, *len_ms)) {
            *place = sample;
        }
    }
    sound
}

/// Takes what is loud for speech.
pub struct LoudIsSpeech;

impl VoiceActivity for LoudIsSpeech {
    fn name(&self) -> &'static str {
        "loud is speech"
    }

    fn probabilities(&mut self, _: &[f32], chunk: &[f32]) -> Result<Vec<f32>, VoiceActivityError> {
        let loud =
            |frame: &[f32]| frame.iter().map(|sample| sample.abs()).sum::<f32>() / frame.len() as f32 > 0.1;
        Ok(chunk.chunks(FRAME_SAMPLES).map(|frame| if loud(frame) { 0.95 } else { 0.02 }).collect())
    }
}

/// Hears which word a tone is: `word 3`.
pub fn tone_recognizer() -> ScriptedRecognizer<'static> {
    ScriptedRecognizer::saying(|samples| {
        let loud = |at: &usize| samples[*at].abs() > 0.3;
        let first = (0..samples.len()).find(loud).unwrap_or(0);
        let last = (0..samples.len()).rfind(loud).unwrap_or(0);
        let quarter = (last - first) / 4;
        let middle = first + quarter..last - quarter;
        let rises: Vec<usize> = middle.filter(|at| samples[at - 1] < 0.0 && samples[*at] >= 0.0).collect();
        let span = rises.last().unwrap_or(&0) - rises.first().unwrap_or(&0);
        let hz = rises.len().saturating_sub(1) as f64 * 16_000.0 / span.max(1) as f64;
        format!("word {:.0}", (hz - 200.0) / 100.0)
    })
}

/// The log of a session, as far as a test looks at it.
#[derive(Default)]
pub struct MemoryLog {
    pub events: Vec<Event>,
    /// Batches that are still taken; then the flag is raised, or the log fails.
    pub batches_left: Option<usize>,
    pub fails: bool,
}

struct LogSink<'a> {
    log: &'a mut MemoryLog,
    interrupted: &'a AtomicBool,
}

impl Sink for LogSink<'_> {
    fn append(&mut self, events: &[Event]) -> Result<(), Box<dyn Error + Send + Sync>> {
        if self.log.fails && self.log.batches_left == Some(0) {
            return Err("no space left on device".into());
        }
        self.log.events.extend_from_slice(events);
        if let Some(left) = &mut self.log.batches_left {
            *left = left.saturating_sub(1);
            self.interrupted.store(*left == 0 && !self.log.fails, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// A folder with a session's audio folder and its sources.
pub struct Workplace {
    pub folder: TempDir,
    pub log: MemoryLog,
}

impl Workplace {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("audio")).unwrap();
        Self { folder, log: MemoryLog::default() }
    }

    pub fn audio_folder(&self) -> PathBuf {
        self.folder.path().join("audio")
    }

    /// Puts a source file with this sound in place.
    pub fn source(&self, track: Track, rate_hz: u32, channels: u16, sound: &[f64]) -> AudioSource {
        let path = put(
            self.folder.path(),
            &format!("{track}.wav"),
            &wav(Coding::Signed16, rate_hz, channels, sound),
        );
        AudioSource::new(track, &path).unwrap()
    }

    /// Runs with the scripted recogniser.
    pub fn transcribe(&mut self, sources: &[AudioSource]) -> Result<Summary, PipelineError> {
        self.run(&mut tone_recognizer(), &mut LoudIsSpeech, Start::New(sources))
    }

    pub fn resume(&mut self) -> Result<Summary, PipelineError> {
        self.run(&mut tone_recognizer(), &mut LoudIsSpeech, Start::Again)
    }

    pub fn run(
        &mut self,
        recognizer: &mut dyn Recognizer,
        voice_activity: &mut dyn VoiceActivity,
        start: Start<'_>,
    ) -> Result<Summary, PipelineError> {
        let interrupted = AtomicBool::new(false);
        let audio_folder = self.audio_folder();
        let mut pipeline = Pipeline {
            audio_folder: &audio_folder,
            recognizer,
            voice_activity,
            options: RecognizeOptions::default(),
            clock: &FixedClock::at_us(1_000_000_000_000_000),
            interrupted: &interrupted,
            on_progress: &mut |_| {},
        };
        let history = History::from_events(&self.log.events);
        let mut sink = LogSink { log: &mut self.log, interrupted: &interrupted };
        match start {
            Start::New(sources) => pipeline.transcribe(opened(), sources, &mut sink),
            Start::Again => pipeline.resume(history, &mut sink),
        }
    }

    pub fn lines(&self) -> Vec<&Line> {
        let events = self.log.events.iter();
        events.filter_map(|event| if let Event::Line(line) = event { Some(line) } else { None }).collect()
    }

    pub fn dropped(&self) -> Vec<&Dropped> {
        let events = self.log.events.iter();
        events
            .filter_map(|event| if let Event::Dropped(dropped) = event { Some(dropped) } else { None })
            .collect()
    }

    /// Each line as `track start-end words`.
    pub fn transcript(&self) -> Vec<String> {
        let show = |line: &Line| format!("{} {}-{} {}", line.track, line.start_ms, line.end_ms, line.text);
        self.lines().into_iter().map(show).collect()
    }
}

/// How a run begins.
#[derive(Clone, Copy)]
pub enum Start<'a> {
    New(&'a [AudioSource]),
    Again,
}

pub fn opened() -> Opened {
    Opened {
        id: "2026-11-30T1000-test".to_owned(),
        name: None,
        started_at: "2026-11-30T10:00:00+00:00".to_owned(),
        origin: Origin::Transcribed,
        program: "test".to_owned(),
        tracks: Vec::new(),
    }
}

/// The length of a file in bytes.
pub fn len_bytes(path: &Path) -> u64 {
    std::fs::metadata(path).unwrap().len()
}
