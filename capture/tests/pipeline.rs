//! Audio files become the events of a session: every turn on its track, at its time, in order.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod scripted_session;
mod sound;

use std::cell::RefCell;
use std::error::Error;
use std::sync::atomic::AtomicBool;

use ambient_capture::audio::AudioFileError;
use ambient_capture::pipeline::{AudioSource, Pipeline, PipelineError, Sink};
use ambient_capture::progress::Phase;
use ambient_capture::recognizer::{RecognizeError, RecognizeOptions, ScriptedRecognizer};
use ambient_capture::voice_activity::EarshotActivity;
use ambient_engine::{Event, FixedClock, Kind, Track};
use scripted_session::{LoudIsSpeech, Speech, Start, Workplace, opened, sound_of, tone_recognizer};
use sound::{Coding, fixture, noise, put, silence, wav};

const CONVERSATION_ROOM: [Speech; 3] = [
    Speech { start_ms: 1_000, len_ms: 2_000, word: 1 },
    Speech { start_ms: 9_000, len_ms: 1_500, word: 3 },
    Speech { start_ms: 17_200, len_ms: 600, word: 5 },
];
const CONVERSATION_CALL: [Speech; 3] = [
    Speech { start_ms: 4_000, len_ms: 3_000, word: 2 },
    Speech { start_ms: 10_000, len_ms: 2_000, word: 4 },
    Speech { start_ms: 19_000, len_ms: 900, word: 6 },
];

/// How far a line's times may be from the sound: a frame.
const TOLERANCE_MS: u64 = 33;

#[test]
fn a_conversation_comes_out_in_order_on_its_tracks_at_its_times() {
    for (rate_hz, channels) in [(8_000, 1), (16_000, 1), (44_100, 2), (48_000, 2), (11_025, 1)] {
        let mut place = Workplace::new();
        let room =
            place.source(Track::Room, rate_hz, channels, &sound_of(&CONVERSATION_ROOM, rate_hz, 21_000));
        let call = place.source(Track::Call, 48_000, 2, &sound_of(&CONVERSATION_CALL, 48_000, 20_500));
        let summary = place.transcribe(&[room, call]).unwrap();
        let lines = place.lines();
        let words: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(words, ["word 1", "word 2", "word 3", "word 4", "word 5", "word 6"], "{rate_hz}");
        let mut speech = [CONVERSATION_ROOM, CONVERSATION_CALL].concat();
        speech.sort_by_key(|speech| speech.start_ms);
        for (line, speech) in lines.iter().zip(speech) {
            assert!(line.start_ms.abs_diff(speech.start_ms) <= TOLERANCE_MS, "{line:?}");
            assert!(line.end_ms.abs_diff(speech.start_ms + speech.len_ms) <= TOLERANCE_MS, "{line:?}");
            let audio = line.audio.unwrap();
            assert!((audio.start_sample * 1_000 / u64::from(audio.rate_hz)).abs_diff(line.start_ms) <= 1);
            assert_eq!(line.track, if speech.word % 2 == 1 { Track::Room } else { Track::Call });
        }
        let overlaps: Vec<bool> = lines.iter().map(|line| line.overlap).collect();
        assert_eq!(overlaps, [false, false, true, true, false, false]);
        assert_eq!(summary.lines.iter().map(|track| track.lines).sum::<u64>(), 6);
        assert!(summary.warnings.is_empty(), "{:?}", summary.warnings);
    }
}

#[test]
fn the_log_tells_how_the_session_was_made() {
    let mut place = Workplace::new();
    let room = place.source(Track::Room, 16_000, 1, &sound_of(&CONVERSATION_ROOM, 16_000, 18_000));
    place.transcribe(std::slice::from_ref(&room)).unwrap();
    let kinds: Vec<Kind> = place.log.events.iter().map(Event::kind).collect();
    let [turn, progress] = [Kind::Line, Kind::Progress];
    assert_eq!(
        kinds,
        [
            Kind::Opened,
            Kind::Captured,
            Kind::Generation,
            turn,
            progress,
            turn,
            progress,
            turn,
            progress,
            progress,
            Kind::Finished
        ]
    );
    let Event::Opened(opened) = &place.log.events[0] else { panic!() };
    assert_eq!(opened.tracks, [room.to_track_source()]);
    let Event::Captured(captured) = &place.log.events[1] else { panic!() };
    assert_eq!((captured.tracks[0].samples, captured.tracks[0].rate_hz), (18 * 16_000, 16_000));
    let speech_ms: u64 = CONVERSATION_ROOM.iter().map(|speech| speech.len_ms).sum();
    assert!(captured.tracks[0].silent_ms.abs_diff(18_000 - speech_ms) <= 40, "{captured:?}");
    let Event::Generation(generation) = &place.log.events[2] else { panic!() };
    assert_eq!((generation.recognizer.as_str(), generation.model.name.as_str()), ("scripted", "script"));
    let Event::Progress(last) = &place.log.events[9] else { panic!() };
    assert!(last.complete && last.done_samples == 18 * 16_000);
}

#[test]
fn a_speech_of_minutes_is_heard_whole_in_turns_of_under_half_a_minute() {
    let mut place = Workplace::new();
    let speech = [Speech { start_ms: 2_000, len_ms: 100_000, word: 4 }];
    let room = place.source(Track::Room, 16_000, 1, &sound_of(&speech, 16_000, 104_000));
    place.transcribe(&[room]).unwrap();
    let lines = place.lines();
    assert!(lines.len() >= 4);
    assert!(lines.iter().all(|line| line.end_ms - line.start_ms <= 30_000 && line.text == "word 4"));
    assert!(lines.windows(2).all(|pair| pair[0].end_ms == pair[1].start_ms), "{:?}", place.transcript());
    assert!(lines[0].start_ms.abs_diff(2_000) <= TOLERANCE_MS);
    assert!(lines[lines.len() - 1].end_ms.abs_diff(102_000) <= TOLERANCE_MS);
}

#[test]
fn what_the_guard_refuses_is_in_the_log_with_its_reason() {
    let mut place = Workplace::new();
    let room = place.source(Track::Room, 16_000, 1, &sound_of(&CONVERSATION_ROOM, 16_000, 18_000));
    let answers = RefCell::new(vec!["Real words.", "[BLANK_AUDIO]", "", ""]);
    let mut recognizer = ScriptedRecognizer::saying(|_| answers.borrow_mut().pop().unwrap().to_owned());
    let summary = place.run(&mut recognizer, &mut LoudIsSpeech, Start::New(&[room])).unwrap();
    let dropped: Vec<_> = place.dropped().iter().map(|one| (one.text.clone(), one.reason.clone())).collect();
    assert_eq!(
        dropped,
        [
            (String::new(), "no words".to_owned()),
            ("[BLANK_AUDIO]".to_owned(), "a sound, not speech".to_owned())
        ]
    );
    assert_eq!(place.lines().len(), 1);
    assert_eq!((summary.lines[0].lines, summary.lines[0].dropped), (1, 2));
}

#[test]
fn a_recogniser_that_went_astray_is_asked_once_more() {
    let loop_of_words = "and then ".repeat(40);
    for (second, lines) in [("What was said.", 1), (loop_of_words.as_str(), 0)] {
        let mut place = Workplace::new();
        let room = place.source(Track::Room, 16_000, 1, &sound_of(&CONVERSATION_ROOM[..1], 16_000, 5_000));
        let answers = RefCell::new(vec![second, loop_of_words.as_str()]);
        let mut recognizer = ScriptedRecognizer::saying(|_| answers.borrow_mut().pop().unwrap().to_owned());
        place.run(&mut recognizer, &mut LoudIsSpeech, Start::New(&[room])).unwrap();
        assert_eq!((place.lines().len(), place.dropped().len()), (lines, 1 - lines));
        assert!(answers.borrow().is_empty());
    }
}

#[test]
fn silence_gives_no_line_and_a_warning() {
    let mut place = Workplace::new();
    let room = place.source(Track::Room, 44_100, 1, &sound_of(&CONVERSATION_ROOM, 44_100, 20_000));
    let call = place.source(Track::Call, 44_100, 1, &silence(44_100, 20_000));
    let summary = place.transcribe(&[room, call]).unwrap();
    assert_eq!(summary.warnings, ["call: nothing but silence for 20 s"]);
    assert!(place.lines().iter().all(|line| line.track == Track::Room));
    assert_eq!(summary.tracks[1].silent_ms, 20_000);
}

#[test]
fn noise_is_not_speech_to_the_built_in_detector() {
    for level in [0.01, 0.5] {
        let mut place = Workplace::new();
        let room = place.source(Track::Room, 16_000, 1, &noise(level, 11, 16_000, 20_000));
        place.run(&mut tone_recognizer(), &mut EarshotActivity::new(), Start::New(&[room])).unwrap();
        assert_eq!(place.transcript(), [""; 0], "{level}");
    }
}

#[test]
fn the_shortest_files_are_sessions_too() {
    for (sound, warned) in [(vec![], true), (vec![0.5, -0.5], false), (silence(44_100, 1), true)] {
        let mut place = Workplace::new();
        let room = place.source(Track::Room, 44_100, 1, &sound);
        let summary = place.transcribe(&[room]).unwrap();
        assert_eq!(summary.tracks[0].samples, sound.len() as u64);
        assert_eq!(!summary.warnings.is_empty(), warned, "{:?}", summary.warnings);
        assert!(matches!(place.log.events.last(), Some(Event::Finished(_))));
    }
}

#[test]
fn a_truncated_file_is_transcribed_as_far_as_it_goes() {
    let mut place = Workplace::new();
    let whole = std::fs::read(fixture("tone.flac")).unwrap();
    let path = put(place.folder.path(), "cut.flac", &whole[..whole.len() * 4 / 5]);
    let room = AudioSource::new(Track::Room, &path).unwrap();
    let summary = place.transcribe(&[room]).unwrap();
    assert_eq!(summary.warnings.len(), 1);
    assert!(summary.warnings[0].starts_with("room: the file breaks off"), "{:?}", summary.warnings);
    assert!(matches!(place.log.events.last(), Some(Event::Finished(_))));
}

#[test]
fn what_is_no_audio_never_becomes_a_session() {
    let mut place = Workplace::new();
    let folder = place.folder.path().to_owned();
    for (name, bytes) in [("empty.wav", &b""[..]), ("notes.wav", b"just some notes\n")] {
        let path = put(&folder, name, bytes);
        assert!(AudioSource::new(Track::Room, &path).is_err(), "{name}");
    }
    assert!(matches!(place.transcribe(&[]), Err(PipelineError::NoSources)));
    let path = put(&folder, "ok.wav", &wav(Coding::Signed16, 8_000, 1, &[0.1; 800]));
    let room = AudioSource::new(Track::Room, &path).unwrap();
    let twice = place.transcribe(&[room.clone(), room.clone()]);
    assert!(matches!(twice, Err(PipelineError::TrackTwice(Track::Room))));
    assert!(place.log.events.is_empty(), "nothing is written before everything is known to be usable");
    std::fs::remove_file(&path).unwrap();
    let gone = place.transcribe(&[room]);
    assert!(matches!(gone, Err(PipelineError::AudioGone { .. })), "{gone:?}");
}

#[test]
fn a_recogniser_that_fails_ends_the_run_with_its_words() {
    let mut place = Workplace::new();
    let room = place.source(Track::Room, 16_000, 1, &sound_of(&CONVERSATION_ROOM, 16_000, 18_000));
    let mut recognizer = ScriptedRecognizer::new(|_| Err(RecognizeError::Failed("out of memory".to_owned())));
    let error = place.run(&mut recognizer, &mut LoudIsSpeech, Start::New(&[room])).unwrap_err();
    assert_eq!(error.to_string(), "recognition failed: out of memory");
    place.resume().unwrap();
    assert_eq!(place.lines().len(), 3);
}

struct Forget;

impl Sink for Forget {
    fn append(&mut self, _: &[Event]) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(())
    }
}

#[test]
fn progress_only_grows_and_reaches_the_end() {
    let place = Workplace::new();
    let room = place.source(Track::Room, 16_000, 1, &sound_of(&CONVERSATION_ROOM, 16_000, 30_000));
    let call = place.source(Track::Call, 16_000, 1, &sound_of(&CONVERSATION_CALL, 16_000, 24_000));
    let mut reports: Vec<(Phase, Vec<u64>)> = Vec::new();
    let mut last_words = String::new();
    let mut pipeline = Pipeline {
        audio_folder: &place.audio_folder(),
        recognizer: &mut tone_recognizer(),
        voice_activity: &mut LoudIsSpeech,
        options: RecognizeOptions::default(),
        clock: &FixedClock::at_us(1),
        interrupted: &AtomicBool::new(false),
        on_progress: &mut |report| {
            reports.push((report.phase, report.tracks.iter().map(|track| track.done_ms).collect()));
            for track in report.tracks {
                assert!(track.total_ms.is_none_or(|total_ms| track.done_ms <= total_ms), "{report:?}");
            }
            last_words = report.last_line.map(|(_, words)| words.to_owned()).unwrap_or_default();
        },
    };
    pipeline.transcribe(opened(), &[room, call], &mut Forget).unwrap();
    for phase in [Phase::Decoding, Phase::Transcribing] {
        let of_phase: Vec<_> = reports.iter().filter(|(of, _)| *of == phase).map(|(_, done)| done).collect();
        assert!(!of_phase.is_empty());
        assert!(
            of_phase
                .windows(2)
                .all(|pair| pair[0].iter().zip(pair[1]).all(|(before, after)| before <= after))
        );
    }
    assert_eq!(last_words, "word 6");
}

#[test]
fn a_source_is_remembered_by_its_whole_path() {
    let place = Workplace::new();
    let source = place.source(Track::Room, 8_000, 1, &[0.0; 80]);
    assert!(source.path.is_absolute());
    assert!(matches!(
        AudioSource::new(Track::Room, &place.folder.path().join("absent.wav")),
        Err(AudioFileError::Io { .. })
    ));
}
