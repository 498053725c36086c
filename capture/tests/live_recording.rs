//! A whole recording from scripted sources, on a clock that is only a number: the lines are those of the
//! same sound in files, and nothing that happens to devices, recognition or the disk loses any of it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]
#![allow(clippy::print_stdout, reason = "a test that is skipped says so")]
#![allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)]

mod scripted_session;
#[cfg(target_os = "linux")]
#[path = "../../engine/tests/small_disk/mod.rs"]
#[allow(dead_code, reason = "the tests of the engine need more of it")]
mod small_disk;
mod sound;

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use ambient_capture::audio::{NativeReader, NativeWriter};
use ambient_capture::live::{
    Block, Delivery, Phase, Recording, RecordingSummary, SessionClock, Source, Status, Wish, ask_to_stop,
    published_status,
};
use ambient_capture::pipeline::{History, Pipeline, PipelineError, native_path};
use ambient_capture::recognizer::{RecognizeError, RecognizeOptions, Recognizer, ScriptedRecognizer};
use ambient_engine::session::{Directory, SessionDirectory, claim};
use ambient_engine::{DeviceChange, Event, FixedClock, Mapping, Opened, Options, Origin, Track, TrackSource};
use jiff::civil::date;
use scripted_session::{LoudIsSpeech, Speech, Workplace, opened, sound_of, tone_recognizer};
use tempfile::TempDir;

const SECOND_US: u64 = 1_000_000;

/// Time that passes only when the writer rests.
struct ScriptedClock(AtomicU64);

impl SessionClock for ScriptedClock {
    fn now_us(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn rest(&self, time: Duration) {
        self.0.fetch_add(time.as_micros() as u64, Ordering::Relaxed);
        std::thread::sleep(Duration::from_micros(100));
    }
}

/// Delivers what is due.
struct ScriptedSource<'a> {
    script: std::collections::VecDeque<(u64, Delivery)>,
    clock: &'a ScriptedClock,
    rate_hz: u32,
    is_expected: bool,
}

impl Source for ScriptedSource<'static> {
    fn name(&self) -> &'static str {
        "a script"
    }

    fn rate_hz(&self) -> u32 {
        self.rate_hz
    }

    fn channels(&self) -> u16 {
        2
    }

    fn is_expected(&self) -> bool {
        self.is_expected
    }

    fn deliver(&mut self, take: &mut dyn FnMut(Delivery)) {
        while self.script.front().is_some_and(|(due_us, _)| *due_us <= self.clock.now_us()) {
            if let Some((_, delivery)) = self.script.pop_front() {
                take(delivery);
            }
        }
    }
}

struct Studio {
    _root: Option<TempDir>,
    session: SessionDirectory,
    audio: Directory,
    clock: &'static ScriptedClock,
    tracks: Vec<(Track, ScriptedSource<'static>)>,
}

impl Studio {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let studio = Self::below(root.path());
        Self { _root: Some(root), ..studio }
    }

    fn below(root: &Path) -> Self {
        let directory = Directory::open(root).unwrap();
        let session = claim(&directory, date(2026, 11, 30).at(10, 0, 0, 0), None).unwrap();
        let audio = session.directory().open_or_create_subdirectory("audio").unwrap();
        let clock = Box::leak(Box::new(ScriptedClock(AtomicU64::new(0))));
        Self { _root: None, session, audio, clock, tracks: Vec::new() }
    }

    /// A track whose device delivers `sound` in blocks of a tenth of a second, but for `hole_ms`.
    fn add(&mut self, track: Track, rate_hz: u32, sound: &[f64], hole_ms: std::ops::Range<u64>) {
        let samples: Vec<f32> = sound.iter().map(|sample| *sample as f32).collect();
        let blocks = samples.chunks(rate_hz as usize / 10).enumerate().map(|(number, block)| {
            let at_us = number as u64 * 100_000;
            let block = Block { at_us, rate_hz, samples: block.to_vec() };
            (block.end_us(), Delivery::Block(block))
        });
        let is_there = |(_, delivery): &(u64, Delivery)| match delivery {
            Delivery::Block(block) => !hole_ms.contains(&(block.at_us / 1_000)),
            Delivery::Change(_) => true,
        };
        let script = blocks.filter(is_there).collect();
        self.tracks.push((track, ScriptedSource { script, clock: self.clock, rate_hz, is_expected: false }));
    }

    fn record(&mut self, ends_at_s: Option<u64>) -> Result<RecordingSummary, PipelineError> {
        self.record_with(&mut tone_recognizer(), ends_at_s, &mut |_| Wish::GoOn)
    }

    fn record_with(
        &mut self,
        recognizer: &mut dyn Recognizer,
        ends_at_s: Option<u64>,
        watch: &mut (dyn FnMut(&Status) -> Wish + Send),
    ) -> Result<RecordingSummary, PipelineError> {
        let mut log = self.session.create_log(Options::default()).unwrap();
        let recording = Recording {
            session: &self.session,
            audio: &self.audio,
            recognizer,
            voice_activity: &mut LoudIsSpeech,
            options: RecognizeOptions::default(),
            clock: &FixedClock::at_us(1_000_000_000_000_000),
            session_clock: self.clock,
            ends_at_us: ends_at_s.map(|end_s| end_s * SECOND_US),
            interrupted: &AtomicBool::new(false),
            watch,
        };
        let sources =
            self.tracks.drain(..).map(|(track, source)| (track, Box::new(source) as Box<dyn Source>));
        let opened = Opened { origin: Origin::Recorded, ..opened() };
        let outcome = recording.run(opened, sources.collect(), &mut log);
        log.close().unwrap();
        outcome
    }

    fn resume(&self) {
        let history = History::from_events(self.events());
        let mut log = self.session.open_log(Options::default()).unwrap();
        let mut pipeline = Pipeline {
            audio_folder: self.audio.path(),
            recognizer: &mut tone_recognizer(),
            voice_activity: &mut LoudIsSpeech,
            options: RecognizeOptions::default(),
            clock: &FixedClock::at_us(1_000_000_000_000_000),
            interrupted: &AtomicBool::new(false),
            on_progress: &mut |_| {},
        };
        pipeline.resume(history, &mut log).unwrap();
        log.close().unwrap();
    }

    fn events(&self) -> Vec<Event> {
        let mut reader = self.session.read_log(Mapping::On).unwrap();
        reader.snapshot().unwrap().events().unwrap().into_iter().map(|recorded| recorded.event).collect()
    }

    /// Each line as `track start-end words`, by the clock.
    fn transcript(&self) -> Vec<String> {
        let mut lines: Vec<_> = self.events().into_iter().filter_map(line_of).collect();
        lines.sort_by_key(|line| line.start_ms);
        let show = |line: &ambient_engine::Line| {
            format!("{} {}-{} {}", line.track, line.start_ms, line.end_ms, line.text)
        };
        lines.iter().map(show).collect()
    }

    fn samples(&self, track: Track) -> u64 {
        NativeReader::open(&native_path(self.audio.path(), track)).unwrap().samples().unwrap()
    }
}

fn line_of(event: Event) -> Option<ambient_engine::Line> {
    if let Event::Line(line) = event { Some(line) } else { None }
}

fn speech(start_ms: u64, len_ms: u64, word: u64) -> Speech {
    Speech { start_ms, len_ms, word }
}

fn room() -> Vec<f64> {
    sound_of(&[speech(1_000, 1_500, 1), speech(6_000, 2_000, 2), speech(21_000, 1_000, 3)], 16_000, 30_000)
}

fn call() -> Vec<f64> {
    // The last word ends with the recording.
    sound_of(&[speech(3_500, 1_500, 4), speech(6_500, 1_000, 5), speech(28_000, 2_000, 6)], 48_000, 30_000)
}

#[test]
fn the_lines_are_those_of_the_same_sound_in_files() {
    let mut files = Workplace::new();
    let sources =
        [files.source(Track::Room, 16_000, 1, &room()), files.source(Track::Call, 48_000, 1, &call())];
    files.transcribe(&sources).unwrap();
    let mut expected = files.transcript();
    expected.sort_by_key(|line| line.split([' ', '-']).nth(1).unwrap().parse::<u64>().unwrap());
    assert_eq!(expected.len(), 6);

    let mut studio = Studio::new();
    studio.add(Track::Room, 16_000, &room(), 0..0);
    studio.add(Track::Call, 48_000, &call(), 0..0);
    let summary = studio.record(Some(30)).unwrap();
    assert_eq!(studio.transcript(), expected);
    assert!(summary.warnings.is_empty(), "{:?}", summary.warnings);
    assert_eq!((studio.samples(Track::Room), studio.samples(Track::Call)), (480_000, 1_440_000));
    assert_eq!(summary.status.lines(), 6);
    let events = studio.events();
    assert!(matches!(events.last(), Some(Event::Finished(_))));
    let captured = events.iter().filter(|event| matches!(event, Event::Captured(_))).count();
    assert_eq!(captured, 1);
    assert_eq!(published_status(&studio.session), None, "nothing is being recorded any more");
}

#[test]
fn what_comes_after_the_end_changes_nothing() {
    let mut studio = Studio::new();
    studio.add(Track::Room, 16_000, &room(), 0..0);
    studio.record(Some(7)).unwrap();
    assert_eq!(studio.samples(Track::Room), 7 * 16_000);
    assert_eq!(studio.transcript(), ["room 992-2496 word 1", "room 5984-7000 word 2"]);
}

#[test]
fn a_hole_is_an_event_and_what_follows_stays_in_its_place() {
    let mut studio = Studio::new();
    studio.add(Track::Room, 16_000, &room(), 10_000..18_000);
    studio.add(Track::Call, 48_000, &call(), 0..0);
    studio.record(Some(30)).unwrap();
    let gaps: Vec<_> = studio
        .events()
        .into_iter()
        .filter_map(|event| if let Event::Device(note) = event { Some(note) } else { None })
        .collect();
    assert_eq!(gaps.len(), 1, "{gaps:?}");
    assert_eq!((gaps[0].track, gaps[0].at_ms), (Track::Room, 10_000));
    assert_eq!(gaps[0].change, DeviceChange::Gap { len_ms: 8_000 });
    assert!(studio.transcript().contains(&"room 20992-22016 word 3".to_owned()), "{:?}", studio.transcript());
}

#[test]
fn recognition_that_fails_costs_no_sound_and_is_made_up_for_later() {
    let mut undisturbed = Studio::new();
    undisturbed.add(Track::Room, 16_000, &room(), 0..0);
    undisturbed.record(Some(30)).unwrap();

    let mut studio = Studio::new();
    studio.add(Track::Room, 16_000, &room(), 0..0);
    let mut heard = 0;
    let mut inner = tone_recognizer();
    let mut failing = ScriptedRecognizer::new(move |samples| {
        heard += 1;
        if heard == 2 {
            return Err(RecognizeError::Failed("out of memory".to_owned()));
        }
        inner.recognize(samples, &RecognizeOptions::default())
    });
    let outcome = studio.record_with(&mut failing, Some(30), &mut |_| Wish::GoOn);
    assert!(matches!(outcome, Err(PipelineError::Recognize(RecognizeError::Failed(_)))), "{outcome:?}");
    assert_eq!(studio.samples(Track::Room), 480_000, "it recorded to its end");
    assert_eq!(studio.transcript().len(), 1);
    studio.resume();
    assert_eq!(studio.transcript(), undisturbed.transcript());
    assert!(matches!(studio.events().last(), Some(Event::Finished(_))));
}

#[test]
fn it_ends_when_asked_by_the_one_who_watches_or_by_a_sign() {
    let mut by_watcher = Studio::new();
    by_watcher.add(Track::Room, 16_000, &room(), 0..0);
    let mut phases = Vec::new();
    let mut watch = |status: &Status| {
        phases.push(status.phase);
        if status.elapsed_ms > 2_000 { Wish::Stop } else { Wish::GoOn }
    };
    by_watcher.record_with(&mut tone_recognizer(), None, &mut watch).unwrap();
    assert_eq!((phases.first(), phases.last()), (Some(&Phase::Recording), Some(&Phase::Finishing)));

    let mut by_sign = Studio::new();
    by_sign.add(Track::Room, 16_000, &room(), 0..0);
    ask_to_stop(&by_sign.session).unwrap();
    by_sign.record(None).unwrap();
    assert!(!by_sign.session.directory().holds("STOP").unwrap(), "the sign is taken away");
}

#[test]
fn a_dead_microphone_is_told_and_a_silent_call_is_not() {
    let mut studio = Studio::new();
    studio.add(Track::Room, 16_000, &vec![0.0; 480_000], 0..0);
    studio.add(Track::Call, 48_000, &call(), 0..0);
    let warnings = studio.record(Some(30)).unwrap().warnings;
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].starts_with("room: nothing but zeros from the start"), "{warnings:?}");

    let mut in_one_room = Studio::new();
    in_one_room.add(Track::Room, 16_000, &room(), 0..0);
    in_one_room.add(Track::Call, 48_000, &vec![0.0; 1_440_000], 0..0);
    let warnings = in_one_room.record(Some(30)).unwrap().warnings;
    assert!(!warnings.iter().any(|warning| warning.starts_with("call")), "{warnings:?}");
}

#[test]
fn a_killed_recording_of_a_meeting_in_one_room_is_finished_without_a_warning() {
    let studio = Studio::new();
    let mut log = studio.session.create_log(Options::default()).unwrap();
    let source = |track| TrackSource { track, name: "a script".to_owned(), len_bytes: None };
    let tracks = vec![source(Track::Room), source(Track::Call)];
    log.append(&[Event::Opened(Opened { origin: Origin::Recorded, tracks, ..opened() })]).unwrap();
    drop(log);
    for (track, rate_hz, sound) in
        [(Track::Room, 16_000, room()), (Track::Call, 48_000, vec![0.0; 1_440_000])]
    {
        let samples: Vec<f32> = sound.iter().map(|sample| *sample as f32).collect();
        let mut native = NativeWriter::create(&native_path(studio.audio.path(), track), rate_hz).unwrap();
        native.write(&samples).unwrap();
    }
    studio.resume();
    assert_eq!(studio.transcript().len(), 3, "{:?}", studio.transcript());
    let events = studio.events();
    let captured = events
        .iter()
        .find_map(|event| if let Event::Captured(captured) = event { Some(captured) } else { None });
    assert_eq!(captured.unwrap().warnings, Vec::<String>::new());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_ends_it_with_everything_before_readable_and_its_text_complete() {
    let Some(disk) = small_disk::SmallDisk::mount(10 * 1_024) else { return };
    let mut studio = Studio::below(disk.path());
    let minutes = |part: Vec<f64>| part.iter().copied().cycle().take(part.len() * 20).collect::<Vec<_>>();
    // A hiss, so that every block takes room.
    let hiss = |sound: Vec<f64>| {
        sound.iter().enumerate().map(|(n, sample)| sample + (n % 7) as f64 * 1e-3).collect::<Vec<_>>()
    };
    studio.add(Track::Room, 16_000, &hiss(minutes(room())), 0..0);
    studio.add(Track::Call, 48_000, &hiss(minutes(call())), 0..0);
    let summary = studio.record(Some(600)).unwrap();
    assert!(
        summary.warnings.iter().any(|warning| warning.contains("ended by itself")),
        "{:?}",
        summary.warnings
    );
    for captured in &summary.tracks {
        let len_s = captured.samples / u64::from(captured.rate_hz);
        assert!((20..120).contains(&len_s), "{captured:?}");
        assert_eq!(studio.samples(captured.track), captured.samples);
    }
    assert!(studio.transcript().len() >= 4, "{:?}", studio.transcript());
    assert!(matches!(studio.events().last(), Some(Event::Finished(_))));
}
