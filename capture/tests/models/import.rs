//! Taking in files and folders: what is no model is named as such before whisper.cpp sees it.

use crate::ct2_model::{Synthetic, VOCABULARY, WIDTH, lay};
use ambient_capture::models::ct2::convert::{Conversion, Folder};
use ambient_capture::models::directory::{ModelDirectory, State};
use ambient_capture::models::ggml;
use ambient_capture::models::import::{ImportError, Imported, Importer};
use ambient_capture::models::inspect::{Kind, inspect};
use proptest::prelude::*;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

static GO_ON: AtomicBool = AtomicBool::new(false);

/// A small Whisper model as a ggml file.
static GGML: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    lay(folder.path(), &Synthetic::whisper(true).bytes());
    let mut out = Vec::new();
    let conversion = Conversion::plan(&Folder::find(folder.path()).unwrap()).unwrap();
    conversion.write(&mut out, &GO_ON, &mut |_| ()).unwrap();
    out
});

fn import(directory: &ModelDirectory, from: &Path, name: Option<&str>) -> Result<Imported, ImportError> {
    Importer { directory, sentence: None, stop: &GO_ON }.import(from, name, &mut |_| ())
}

#[test]
fn a_folder_and_a_file_become_models_and_the_sources_stay() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = ModelDirectory::at(temporary.path().join("models"));
    let folder = temporary.path().join("faster-whisper-mine");
    fs::create_dir(&folder).unwrap();
    lay(&folder, &Synthetic::whisper(true).bytes());
    let file = temporary.path().join("downloaded");
    fs::write(&file, &*GGML).unwrap();
    let converted = import(&directory, &folder, None).unwrap();
    assert_eq!((converted.name.as_str(), converted.heard), ("mine", None));
    assert!(matches!(converted.kind, Kind::Whisper(shape) if shape.state == 4));
    assert!(fs::read(&converted.path).unwrap() == *GGML);
    let copied = import(&directory, &file, Some("base")).unwrap();
    assert!(fs::read(&copied.path).unwrap() == *GGML && file.exists());
    let states: Vec<_> = directory.installed().unwrap().into_iter().map(|m| (m.name, m.state)).collect();
    assert_eq!(states, [("base".to_owned(), State::Differs), ("mine".to_owned(), State::Unlisted)]);
    let again = import(&directory, &file, Some("mine")).unwrap_err();
    assert!(again.to_string().contains("ambient models remove mine"), "{again}");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2, "nothing else is left behind");
}

#[test]
fn what_is_no_model_is_not_taken_in() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = ModelDirectory::at(temporary.path().join("models"));
    let path = temporary.path().join("ggml-x.bin");
    let mut second = GGML.clone();
    second.extend_from_slice(&GGML[GGML.len() - 100..]);
    let cases: [(&[u8], &str); 6] = [
        (b"", "cannot read"),
        (b"RIFF....WAVE", "no ggml file"),
        (&GGML[..40], "cannot read the header"),
        (&GGML[..GGML.len() - 1], "the file ends after"),
        (&second, "at byte"),
        (b"lmgg\x0a\0\0\0silero-17k", "neither a Whisper nor a Silero"),
    ];
    for (bytes, expected) in cases {
        fs::write(&path, bytes).unwrap();
        let message = import(&directory, &path, None).unwrap_err().to_string();
        assert!(message.contains(expected) && message.contains("ggml-x.bin"), "{message}");
    }
    assert!(
        import(&directory, temporary.path(), Some("x")).unwrap_err().to_string().contains("no model.bin")
    );
    assert!(matches!(import(&directory, Path::new("/nonexistent"), None), Err(ImportError::Source { .. })));
    assert!(import(&directory, &path, Some("../x")).is_err());
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn a_model_without_weights_is_refused() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("empty.bin");
    let weights_begin = GGML.windows(28).position(|w| w == b"decoder.positional_embedding").unwrap() - 20;
    fs::write(&path, &GGML[..weights_begin]).unwrap();
    let message = inspect(&path).unwrap_err().to_string();
    assert!(message.contains("tensors are missing"), "{message}");
}

#[test]
fn a_request_to_stop_takes_nothing_in() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = ModelDirectory::at(temporary.path().join("models"));
    let path = temporary.path().join("ggml-x.bin");
    fs::write(&path, &*GGML).unwrap();
    let importer = Importer { directory: &directory, sentence: None, stop: &AtomicBool::new(true) };
    assert!(matches!(importer.import(&path, None, &mut |_| ()), Err(ImportError::Interrupted)));
    assert_eq!(directory.installed().unwrap(), []);
}

/// Positions outside the weights of the embedding, which are most of the file.
fn a_telling_position() -> impl Strategy<Value = usize> {
    let embedding = VOCABULARY as usize * WIDTH as usize * 2;
    prop_oneof![0..60_usize, 2500..3000_usize, GGML.len() - 9000..GGML.len(), 0..GGML.len() - embedding]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_cut_file_is_never_taken_for_a_model(at in a_telling_position()) {
        let temporary = tempfile::tempdir().unwrap();
        let path = temporary.path().join("cut.bin");
        fs::write(&path, &GGML[..at]).unwrap();
        prop_assert!(inspect(&path).is_err());
    }

    #[test]
    fn damaged_bytes_are_an_error_or_leave_the_shape_as_it_was(
        damage in prop::collection::vec((a_telling_position(), any::<u8>()), 1..4)
    ) {
        let temporary = tempfile::tempdir().unwrap();
        let path = temporary.path().join("damaged.bin");
        let mut bytes = GGML.clone();
        for (at, byte) in damage {
            bytes[at] = byte;
        }
        fs::write(&path, &bytes).unwrap();
        if let Ok(Kind::Whisper(shape)) = inspect(&path) {
            let weights: u64 = ggml::tensors(&shape).iter().map(ggml::Tensor::elements).sum();
            prop_assert!(weights * 2 <= bytes.len() as u64, "no more is asked for than is there");
        }
    }
}
