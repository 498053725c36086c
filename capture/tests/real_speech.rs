//! Real people's words come out of the real models, on their track and at their time.
//!
//! Without models these tests say so and do nothing, unless `AMBIENT_REQUIRE_MODELS=1`.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::cast_precision_loss, reason = "counts of words are small")]
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test shows what it heard, and says when it heard nothing"
)]

mod scripted_session;
mod sound;
mod word_errors;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ambient_capture::audio::AudioFile;
use ambient_capture::models::directory::ModelDirectory;
use ambient_capture::pipeline::{AudioSource, History, Pipeline, PipelineError, Sink};
use ambient_capture::recognizer::{
    RecognizeError, RecognizeOptions, Recognizer, WhisperRecognizer, WhisperSettings,
};
use ambient_capture::voice_activity::{EarshotActivity, SileroActivity, VoiceActivity};
use ambient_engine::{Event, FixedClock, Line, ModelReference, Track};
use scripted_session::{Start, Workplace, opened, sound_of};
use sound::{noise, silence, tone};
use word_errors::{word_errors, words};

/// Measured with tiny.en on 211 s of speech: 5.8 %; and 3 points.
const WORD_ERROR_RATE_MAX: f64 = 0.088;

/// The built-in detector is no better than a fallback: its turns begin and end less well.
const FALLBACK_WORD_ERROR_RATE_MAX: f64 = 0.13;

/// How far a line's times may be from the speech.
const TOLERANCE_MS: u64 = 200;

struct Models {
    recognition: PathBuf,
    voice_activity: PathBuf,
}

impl Models {
    /// The models, or none where this test has to do without.
    fn find() -> Option<Self> {
        let variable = |name| std::env::var_os(name);
        let found = ModelDirectory::from_environment(variable("AMBIENT_MODELS"), variable("HOME")).and_then(
            |models| {
                Ok(Self {
                    recognition: models.find("tiny.en")?,
                    voice_activity: models.find("silero-v6.2.0")?,
                })
            },
        );
        match found {
            Ok(models) => Some(models),
            Err(reason) => {
                assert!(variable("AMBIENT_REQUIRE_MODELS").is_none_or(|value| value != "1"), "{reason}");
                eprintln!("nothing was tested: {reason}");
                None
            }
        }
    }

    fn recognizer(&self, settings: WhisperSettings) -> WhisperRecognizer {
        let model = ModelReference { name: "tiny.en".to_owned(), sha256: String::new() };
        WhisperRecognizer::load(&self.recognition, model, settings).unwrap()
    }

    fn silero(&self) -> SileroActivity {
        SileroActivity::load(&self.voice_activity).unwrap()
    }
}

#[derive(Debug)]
struct SaidTurn {
    track: Track,
    start_ms: u64,
    end_ms: u64,
    words: Vec<String>,
}

fn meeting() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/meeting")
}

/// What was said in the sample.
fn said() -> Vec<SaidTurn> {
    let text = std::fs::read_to_string(meeting().join("reference.json")).unwrap();
    let reference: serde_json::Value = serde_json::from_str(&text).unwrap();
    let turn = |turn: &serde_json::Value| SaidTurn {
        track: turn["track"].as_str().unwrap().parse().unwrap(),
        start_ms: turn["start_ms"].as_u64().unwrap(),
        end_ms: turn["end_ms"].as_u64().unwrap(),
        words: words(turn["words"].as_str().unwrap()),
    };
    reference["turns"].as_array().unwrap().iter().map(turn).collect()
}

fn sample_sources() -> [AudioSource; 2] {
    Track::ALL.map(|track| AudioSource::new(track, &meeting().join(format!("{track}.flac"))).unwrap())
}

fn transcribe(models: &Models, voice_activity: &mut dyn VoiceActivity, sources: &[AudioSource]) -> Workplace {
    let mut place = Workplace::new();
    let mut recognizer = models.recognizer(WhisperSettings::default());
    place.run(&mut recognizer, voice_activity, Start::New(sources)).unwrap();
    place
}

fn word_error_rate(said: &[SaidTurn], lines: &[&Line]) -> f64 {
    let (mut errors, mut count) = (0, 0);
    for track in Track::ALL {
        let said: Vec<String> =
            said.iter().filter(|turn| turn.track == track).flat_map(|turn| turn.words.clone()).collect();
        let heard: Vec<String> =
            lines.iter().filter(|line| line.track == track).flat_map(|line| words(&line.text)).collect();
        errors += word_errors(&said, &heard);
        count += said.len();
    }
    errors as f64 / count as f64
}

fn assert_heard(place: &Workplace, said: &[SaidTurn]) {
    let lines = place.lines();
    let shown = place.transcript();
    println!("{shown:#?} refused: {:#?}", place.dropped());
    let rate = word_error_rate(said, &lines);
    assert!(rate <= WORD_ERROR_RATE_MAX, "{:.1} % of the words are wrong: {shown:#?}", rate * 100.0);
    assert_eq!(lines.len(), said.len(), "{shown:#?}");
    for (line, turn) in lines.iter().zip(said) {
        assert_eq!(line.track, turn.track, "{shown:#?}");
        assert!(line.start_ms.abs_diff(turn.start_ms) <= TOLERANCE_MS, "{line:?} {turn:?}");
        assert!(line.end_ms.abs_diff(turn.end_ms) <= TOLERANCE_MS, "{line:?} {turn:?}");
        assert!(line.confidence > 0.5 && line.language.as_deref() == Some("en"), "{line:?}");
    }
}

#[test]
fn the_sample_comes_out_word_for_word_on_its_tracks_at_its_times() {
    let Some(models) = Models::find() else { return };
    let place = transcribe(&models, &mut models.silero(), &sample_sources());
    assert_heard(&place, &said());
    assert!(place.dropped().is_empty(), "{:?}", place.dropped());
}

#[test]
fn the_built_in_detector_does_without_its_model() {
    let Some(models) = Models::find() else { return };
    let place = transcribe(&models, &mut EarshotActivity::new(), &sample_sources());
    let rate = word_error_rate(&said(), &place.lines());
    assert!(rate <= FALLBACK_WORD_ERROR_RATE_MAX, "{:.1} %: {:#?}", rate * 100.0, place.transcript());
}

/// The sample's sound for a track, on two channels at another rate.
fn converted(place: &Workplace, track: Track, times: u32) -> AudioSource {
    let mut file = AudioFile::open(&meeting().join(format!("{track}.flac"))).unwrap();
    let rate_hz = file.rate_hz() * times;
    let mut sound = Vec::new();
    while let Some(block) = file.next_block().unwrap() {
        sound.extend(block.iter().flat_map(|sample| std::iter::repeat_n(f64::from(*sample), times as usize)));
    }
    place.source(track, rate_hz, 2, &sound)
}

#[test]
fn another_rate_and_two_channels_cost_no_words() {
    let Some(models) = Models::find() else { return };
    let place = Workplace::new();
    let sources = Track::ALL.map(|track| converted(&place, track, 3));
    assert_heard(&transcribe(&models, &mut models.silero(), &sources), &said());
}

#[test]
fn nobody_speaks_in_silence_noise_or_music() {
    let Some(models) = Models::find() else { return };
    let mut chord = tone(440.0, 16_000, 20_000);
    for (place, sample) in chord.iter_mut().zip(tone(554.4, 16_000, 20_000)) {
        *place = f64::midpoint(*place, sample);
    }
    let sounds =
        [silence(16_000, 20_000), noise(0.5, 9, 16_000, 20_000), noise(0.01, 4, 16_000, 20_000), chord];
    for (index, sound) in sounds.iter().enumerate() {
        let place = Workplace::new();
        let source = place.source(Track::Room, 16_000, 1, sound);
        let heard = transcribe(&models, &mut models.silero(), &[source]);
        assert_eq!(heard.transcript(), [""; 0], "sound {index}");
    }
}

struct Collected<'a>(&'a mut Vec<Event>);

impl Sink for Collected<'_> {
    fn append(&mut self, events: &[Event]) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        self.0.extend_from_slice(events);
        Ok(())
    }
}

#[test]
fn interrupted_in_the_middle_of_a_recognition_it_finishes_later_as_if_nothing_happened() {
    let Some(models) = Models::find() else { return };
    let place = Workplace::new();
    let interrupted = Arc::new(AtomicBool::new(false));
    let settings = WhisperSettings { threads: None, interrupted: Arc::clone(&interrupted) };
    let mut events = Vec::new();
    for run in 0_usize.. {
        interrupted.store(false, Ordering::Relaxed);
        let raise_at = run + 1;
        let mut reports = 0;
        let outcome = {
            let history = History::from_events(&events);
            let mut pipeline = Pipeline {
                audio_folder: &place.audio_folder(),
                recognizer: &mut models.recognizer(settings.clone()),
                voice_activity: &mut models.silero(),
                options: RecognizeOptions::default(),
                clock: &FixedClock::at_us(1),
                interrupted: &AtomicBool::new(false),
                on_progress: &mut |report| {
                    reports += usize::from(report.last_line.is_some());
                    if reports == raise_at {
                        interrupted.store(true, Ordering::Relaxed);
                    }
                },
            };
            let mut sink = Collected(&mut events);
            if run == 0 {
                pipeline.transcribe(opened(), &sample_sources(), &mut sink)
            } else {
                pipeline.resume(history, &mut sink)
            }
        };
        match outcome {
            Ok(_) => break,
            Err(error) => assert!(matches!(error, PipelineError::Interrupted), "{error}"),
        }
    }
    let disturbed: Vec<&Line> = events
        .iter()
        .filter_map(|event| if let Event::Line(line) = event { Some(line) } else { None })
        .collect();
    let undisturbed = transcribe(&models, &mut models.silero(), &sample_sources());
    assert_eq!(disturbed, undisturbed.lines());
}

#[test]
fn a_language_the_model_does_not_speak_is_refused_before_any_work() {
    let Some(models) = Models::find() else { return };
    let recognizer = models.recognizer(WhisperSettings::default());
    let check = |language: &str| {
        recognizer
            .check(&RecognizeOptions { language: Some(language.to_owned()), ..RecognizeOptions::default() })
    };
    assert!(check("en").is_ok() && check("auto").is_ok());
    for language in ["de", "klingon", "", "e\0n"] {
        assert!(matches!(check(language), Err(RecognizeError::Language { .. })), "{language:?}");
    }
}

#[test]
fn a_file_that_is_no_model_is_an_error_and_not_the_end() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in [
        ("short.bin", &b"lmgg"[..]),
        ("text.bin", b"this is no model at all, only words"),
        ("empty.bin", b""),
    ] {
        let path = sound::put(folder.path(), name, bytes);
        let model = ModelReference { name: "tiny.en".to_owned(), sha256: String::new() };
        let loaded = WhisperRecognizer::load(&path, model, WhisperSettings::default());
        assert!(matches!(loaded.err(), Some(RecognizeError::Model { .. })), "{name}");
        assert!(SileroActivity::load(&path).is_err(), "{name}");
    }
    assert!(SileroActivity::load(&folder.path().join("absent.bin")).is_err());
}

#[test]
fn a_tone_is_no_word_to_silero_however_long() {
    let Some(models) = Models::find() else { return };
    let speech = [scripted_session::Speech { start_ms: 1_000, len_ms: 60_000, word: 3 }];
    let place = Workplace::new();
    let source = place.source(Track::Call, 8_000, 1, &sound_of(&speech, 8_000, 62_000));
    assert!(transcribe(&models, &mut models.silero(), &[source]).lines().is_empty());
}

/// Set for the test that is run again in a process of its own.
const AGAIN: &str = "AMBIENT_TEST_AGAIN";

#[test]
fn whisper_writes_nothing_to_the_terminal() {
    if Models::find().is_none() || std::env::var_os(AGAIN).is_some() {
        return;
    }
    let name = "the_sample_comes_out_word_for_word_on_its_tracks_at_its_times";
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(AGAIN, "1")
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}");
    for word in ["whisper", "ggml", "vad"] {
        assert!(!printed.contains(word), "{printed}");
    }
}
