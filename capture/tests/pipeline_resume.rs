//! However often a run is interrupted, the log ends as if it never was.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod scripted_session;
mod sound;

use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};

use ambient_capture::pipeline::{AudioSource, History, Pipeline, PipelineError, Sink, native_path};
use ambient_capture::recognizer::{RecognizeOptions, ScriptedRecognizer};
use ambient_capture::voice_activity::EarshotActivity;
use ambient_engine::{Event, FixedClock, Log, Mapping, Options, Reader, Track};
use proptest::prelude::*;
use scripted_session::{
    LoudIsSpeech, Speech, Start, Workplace, len_bytes, opened, sound_of, tone_recognizer,
};
use sound::noise;

/// Some speech on a track: pauses and lengths in milliseconds, and words.
fn speech() -> impl Strategy<Value = Vec<Speech>> {
    let pause = prop_oneof![100_u64..700, 700_u64..4_000, Just(8_000)];
    let len = prop_oneof![100_u64..3_000, 100_u64..3_000, 25_000_u64..45_000];
    prop::collection::vec((pause, len, 0_u64..20), 0..6).prop_map(|parts| {
        let mut end_ms = 0;
        let place = |(pause_ms, len_ms, word)| {
            let start_ms = end_ms + pause_ms;
            end_ms = start_ms + len_ms;
            Speech { start_ms, len_ms, word }
        };
        parts.into_iter().map(place).collect()
    })
}

fn rate_hz() -> impl Strategy<Value = u32> {
    prop::sample::select(vec![8_000_u32, 16_000, 22_050, 44_100, 48_000])
}

fn sources(place: &Workplace, tracks: &[(Track, Vec<Speech>, u32)]) -> Vec<AudioSource> {
    let source = |(track, speech, rate_hz): &(Track, Vec<Speech>, u32)| {
        let len_ms = speech.last().map_or(500, |last| last.start_ms + last.len_ms + 500);
        place.source(*track, *rate_hz, 1, &sound_of(speech, *rate_hz, len_ms))
    };
    tracks.iter().map(source).collect()
}

/// Runs to the end, interrupted after every `batches` batches.
fn in_pieces(place: &mut Workplace, sources: &[AudioSource], batches: usize) -> usize {
    place.log.batches_left = Some(batches);
    let mut outcome = place.transcribe(sources);
    let mut interruptions = 0;
    while let Err(error) = outcome {
        assert!(matches!(error, PipelineError::Interrupted), "{error}");
        interruptions += 1;
        assert!(interruptions < 1_000);
        place.log.batches_left = Some(batches);
        outcome = place.resume();
    }
    interruptions
}

/// What a log says, without the path of the test's own folder.
fn events(place: &Workplace) -> Vec<Event> {
    let mut events = place.log.events.clone();
    if let Some(Event::Opened(opened)) = events.first_mut() {
        opened.tracks.clear();
    }
    events
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn interrupted_after_every_batch_it_writes_what_an_undisturbed_run_writes(
        room in speech(),
        call in speech(),
        room_rate_hz in rate_hz(),
        call_rate_hz in rate_hz(),
        batches in 1_usize..4,
    ) {
        let tracks = [(Track::Room, room, room_rate_hz), (Track::Call, call, call_rate_hz)];
        let mut undisturbed = Workplace::new();
        let given = sources(&undisturbed, &tracks);
        undisturbed.transcribe(&given).unwrap();
        let mut disturbed = Workplace::new();
        let given = sources(&disturbed, &tracks);
        in_pieces(&mut disturbed, &given, batches);
        prop_assert_eq!(events(&disturbed), events(&undisturbed));
        let starts: Vec<u64> = undisturbed.lines().iter().map(|line| line.start_ms).collect();
        prop_assert!(starts.is_sorted());
    }
}

#[test]
fn a_speech_cut_at_half_a_minute_goes_on_where_it_was_cut() {
    let tracks = [(Track::Room, vec![Speech { start_ms: 1_234, len_ms: 95_000, word: 7 }], 44_100)];
    let mut undisturbed = Workplace::new();
    let given = sources(&undisturbed, &tracks);
    undisturbed.transcribe(&given).unwrap();
    let mut disturbed = Workplace::new();
    let given = sources(&disturbed, &tracks);
    let interruptions = in_pieces(&mut disturbed, &given, 1);
    assert!(interruptions >= 4, "{interruptions}");
    assert_eq!(events(&disturbed), events(&undisturbed));
    assert!(undisturbed.lines().len() >= 4);
}

#[test]
fn the_built_in_detector_hears_the_same_when_taken_up_again() {
    let rate_hz = 22_050;
    let mut sound = noise(0.002, 5, rate_hz, 40_000);
    let speech = [
        Speech { start_ms: 3_000, len_ms: 2_500, word: 1 },
        Speech { start_ms: 14_000, len_ms: 2_000, word: 1 },
        Speech { start_ms: 30_000, len_ms: 3_000, word: 1 },
    ];
    for (place, sample) in sound.iter_mut().zip(sound_of(&speech, rate_hz, 40_000)) {
        *place += sample;
    }
    let run = |batches: Option<usize>| {
        let mut place = Workplace::new();
        let given = [place.source(Track::Room, rate_hz, 1, &sound)];
        let mut detector = EarshotActivity::new();
        place.log.batches_left = batches;
        let mut outcome = place.run(&mut tone_recognizer(), &mut detector, Start::New(&given));
        while outcome.is_err() {
            place.log.batches_left = batches;
            outcome = place.run(&mut tone_recognizer(), &mut EarshotActivity::new(), Start::Again);
        }
        events(&place)
    };
    let undisturbed = run(None);
    assert!(undisturbed.iter().any(|event| matches!(event, Event::Line(_))));
    assert_eq!(run(Some(1)), undisturbed);
}

fn two_words() -> Vec<(Track, Vec<Speech>, u32)> {
    let speech = vec![
        Speech { start_ms: 1_000, len_ms: 1_000, word: 2 },
        Speech { start_ms: 4_000, len_ms: 1_000, word: 3 },
    ];
    vec![(Track::Room, speech, 16_000)]
}

/// A session interrupted while its file was being decoded.
fn interrupted_while_decoding() -> (Workplace, AudioSource) {
    let mut place = Workplace::new();
    let source = sources(&place, &two_words()).remove(0);
    place.log.batches_left = Some(1);
    assert!(matches!(place.transcribe(std::slice::from_ref(&source)), Err(PipelineError::Interrupted)));
    assert!(matches!(place.log.events[..], [Event::Opened(_)]));
    place.log.batches_left = None;
    (place, source)
}

#[test]
fn audio_that_was_not_complete_is_decoded_again() {
    let (mut place, _) = interrupted_while_decoding();
    let summary = place.resume().unwrap();
    assert_eq!(place.lines().len(), 2);
    assert!(summary.warnings.is_empty());
}

#[test]
fn without_its_source_what_is_there_is_finished_with_a_warning() {
    let (mut place, source) = interrupted_while_decoding();
    std::fs::remove_file(&source.path).unwrap();
    let summary = place.resume().unwrap();
    assert!(
        summary.warnings.iter().any(|warning| warning.contains("only the first")),
        "{:?}",
        summary.warnings
    );
    assert!(matches!(place.log.events.last(), Some(Event::Finished(_))));
}

#[test]
fn another_file_in_the_sources_place_is_not_taken_for_it() {
    let (mut place, source) = interrupted_while_decoding();
    std::fs::write(&source.path, b"something else").unwrap();
    let summary = place.resume().unwrap();
    assert!(
        summary.warnings.iter().any(|warning| warning.contains("and now has 14")),
        "{:?}",
        summary.warnings
    );
}

#[test]
fn with_nothing_left_it_says_what_is_gone() {
    let (mut place, source) = interrupted_while_decoding();
    std::fs::remove_file(&source.path).unwrap();
    std::fs::remove_file(native_path(&place.audio_folder(), Track::Room)).unwrap();
    let error = place.resume().unwrap_err();
    assert!(matches!(error, PipelineError::AudioGone { track: Track::Room, .. }), "{error}");
    assert!(error.to_string().contains("room.native.wav"), "{error}");
}

#[test]
fn native_audio_lost_in_the_middle_is_made_again() {
    let mut place = Workplace::new();
    let given = sources(&place, &two_words());
    place.log.batches_left = Some(4);
    assert!(place.transcribe(&given).is_err());
    assert_eq!(place.lines().len(), 1);
    std::fs::remove_file(native_path(&place.audio_folder(), Track::Room)).unwrap();
    place.log.batches_left = None;
    place.resume().unwrap();
    let mut undisturbed = Workplace::new();
    let given = sources(&undisturbed, &two_words());
    undisturbed.transcribe(&given).unwrap();
    assert_eq!(events(&place), events(&undisturbed));
}

#[test]
fn a_log_that_takes_no_more_ends_the_run_and_loses_nothing() {
    let mut place = Workplace::new();
    let given = sources(&place, &two_words());
    place.log = scripted_session::MemoryLog { batches_left: Some(4), fails: true, ..Default::default() };
    let error = place.transcribe(&given).unwrap_err();
    assert!(error.to_string().contains("no space left on device"), "{error}");
    place.log.fails = false;
    place.log.batches_left = None;
    place.resume().unwrap();
    assert_eq!(place.lines().len(), 2);
}

#[test]
fn lines_of_two_models_are_not_mixed() {
    let mut place = Workplace::new();
    let given = sources(&place, &two_words());
    place.log.batches_left = Some(4);
    assert!(place.transcribe(&given).is_err());
    for event in &mut place.log.events {
        if let Event::Generation(generation) = event {
            generation.model.name = "base".to_owned();
        }
    }
    place.log.batches_left = None;
    let error = place.resume().unwrap_err();
    assert_eq!(
        error.to_string(),
        "the session was begun with the model base; take it up with the same one, not script"
    );
}

#[test]
fn a_finished_session_stays_as_it_is() {
    let mut place = Workplace::new();
    let given = sources(&place, &two_words());
    let first = place.transcribe(&given).unwrap();
    let before = place.log.events.clone();
    let native = native_path(&place.audio_folder(), Track::Room);
    let native_len = len_bytes(&native);
    let mut silent = ScriptedRecognizer::saying(|_| panic!("nothing is left to recognise"));
    let again = place.run(&mut silent, &mut LoudIsSpeech, Start::Again).unwrap();
    assert_eq!(again, first);
    assert_eq!(place.log.events, before);
    assert_eq!(len_bytes(&native), native_len);
}

#[test]
fn an_empty_log_cannot_be_taken_up() {
    assert!(matches!(Workplace::new().resume(), Err(PipelineError::NotOpened)));
}

/// A log on disk that asks for an end after each batch that holds a line.
struct OneLineAtATime<'a> {
    log: Log,
    interrupted: &'a AtomicBool,
}

impl Sink for OneLineAtATime<'_> {
    fn append(&mut self, events: &[Event]) -> Result<(), Box<dyn Error + Send + Sync>> {
        Sink::append(&mut self.log, events)?;
        let has_line = events.iter().any(|event| matches!(event, Event::Line(_)));
        self.interrupted.store(has_line, Ordering::Relaxed);
        Ok(())
    }
}

#[test]
fn a_log_on_disk_is_journal_enough() {
    let mut undisturbed = Workplace::new();
    let given = sources(&undisturbed, &two_words());
    undisturbed.transcribe(&given).unwrap();

    let place = Workplace::new();
    let given = sources(&place, &two_words());
    let session = place.folder.path();
    drop(Log::create(session, Options::default()).unwrap());
    let read = || -> Vec<Event> {
        let mut reader = Reader::open(session, Mapping::On).unwrap();
        let recorded = reader.snapshot().unwrap().events().unwrap();
        recorded.into_iter().map(|recorded| recorded.event).collect()
    };
    let mut runs = 0;
    loop {
        let interrupted = AtomicBool::new(false);
        let log = Log::open(session, Options::default()).unwrap();
        let mut sink = OneLineAtATime { log, interrupted: &interrupted };
        let mut pipeline = Pipeline {
            audio_folder: &place.audio_folder(),
            recognizer: &mut tone_recognizer(),
            voice_activity: &mut LoudIsSpeech,
            options: RecognizeOptions::default(),
            clock: &FixedClock::at_us(1_000_000_000_000_000),
            interrupted: &interrupted,
            on_progress: &mut |_| {},
        };
        let outcome = match runs {
            0 => pipeline.transcribe(opened(), &given, &mut sink),
            _ => pipeline.resume(History::from_events(read()), &mut sink),
        };
        runs += 1;
        match outcome {
            Ok(_) => break,
            Err(error) => assert!(matches!(error, PipelineError::Interrupted), "{error}"),
        }
    }
    assert_eq!(runs, 3);
    let made = |events: &[Event]| events[1..].to_vec();
    assert_eq!(made(&read()), made(&undisturbed.log.events));
}
