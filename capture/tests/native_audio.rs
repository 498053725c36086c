//! A track's sound on disk is readable at every moment of its making, whatever its header says.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "test signals are small"
)]

mod sound;

use ambient_capture::audio::{AudioFile, NativeAudioError, NativeReader, NativeWriter};
use sound::{Coding, put, wav};

fn ramp(len: usize) -> Vec<f32> {
    (0..len).map(|n| ((n * 7_919) % 65_536) as f32 / 32_768.0 - 1.0).collect()
}

#[test]
fn samples_come_back_exactly_from_any_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("room.native.wav");
    let samples = ramp(100_000);
    let mut writer = NativeWriter::create(&path, 48_000).unwrap();
    for block in samples.chunks(1_001) {
        writer.write(block).unwrap();
    }
    assert_eq!(writer.finish().unwrap(), 100_000);
    let mut reader = NativeReader::open(&path).unwrap();
    assert_eq!((reader.rate_hz(), reader.samples().unwrap()), (48_000, 100_000));
    let mut read = Vec::new();
    for (from, count) in [(0, 10), (99_990, 50), (12_345, 4_096), (100_000, 5), (u64::from(u32::MAX), 5)] {
        reader.read(from, count, &mut read).unwrap();
        let start = usize::try_from(from).unwrap().min(samples.len());
        assert_eq!(read, samples[start..(start + count).min(samples.len())], "from {from}");
    }
}

#[test]
fn any_program_can_play_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("call.native.wav");
    let mut writer = NativeWriter::create(&path, 44_100).unwrap();
    writer.write(&ramp(5_000)).unwrap();
    writer.finish().unwrap();
    let mut file = AudioFile::open(&path).unwrap();
    let mut samples = Vec::new();
    while let Some(block) = file.next_block().unwrap() {
        samples.extend_from_slice(block);
    }
    assert_eq!(samples, ramp(5_000));
    assert!(!file.damage().header_overridden);
}

#[test]
fn a_killed_writer_leaves_a_readable_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("room.native.wav");
    let mut writer = NativeWriter::create(&path, 8_000).unwrap();
    writer.write(&ramp(100_000)).unwrap();
    writer.write(&ramp(37_000)).unwrap();
    std::mem::forget(writer);
    let on_disk = (std::fs::metadata(&path).unwrap().len() - 80) / 2;
    let reader = NativeReader::open(&path).unwrap();
    assert_eq!(reader.samples().unwrap(), on_disk);
    assert!(on_disk >= 100_000, "the header's update also flushed the samples: {on_disk}");
}

#[test]
fn a_reader_follows_a_writer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("room.native.wav");
    let mut writer = NativeWriter::create(&path, 8_000).unwrap();
    let mut reader = NativeReader::open(&path).unwrap();
    assert_eq!(reader.samples().unwrap(), 0);
    writer.write(&ramp(50_000)).unwrap();
    let seen = reader.samples().unwrap();
    assert!(seen >= 40_000, "{seen}");
    let mut read = Vec::new();
    reader.read(39_000, 1_000, &mut read).unwrap();
    assert_eq!(read, ramp(50_000)[39_000..40_000]);
}

#[test]
fn loud_and_impossible_samples_are_clipped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("room.native.wav");
    let mut writer = NativeWriter::create(&path, 8_000).unwrap();
    writer.write(&[2.0, -2.0, f32::NAN, f32::INFINITY]).unwrap();
    writer.finish().unwrap();
    let mut read = Vec::new();
    NativeReader::open(&path).unwrap().read(0, 4, &mut read).unwrap();
    assert_eq!(read, [32_767.0 / 32_768.0, -1.0, 0.0, 32_767.0 / 32_768.0]);
}

#[test]
fn another_kind_of_file_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    for bytes in [
        Vec::new(),
        b"RIFF".to_vec(),
        b"not a wav file at all, but long enough".to_vec(),
        wav(Coding::Signed16, 16_000, 2, &[0.0; 8]),
        wav(Coding::Float32, 16_000, 1, &[0.0; 8]),
        wav(Coding::Signed16, 16, 1, &[0.0; 8]),
        wav(Coding::Signed16, 16_000, 1, &[0.0; 8])[..30].to_vec(),
    ] {
        let path = put(folder.path(), "other.wav", &bytes);
        assert!(matches!(NativeReader::open(&path), Err(NativeAudioError::NotNative { .. })), "{bytes:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_planted_link_is_replaced_and_never_followed() {
    let folder = tempfile::tempdir().unwrap();
    let precious = put(folder.path(), "precious", b"keep me");
    let path = folder.path().join("room.native.wav");
    std::os::unix::fs::symlink(&precious, &path).unwrap();
    assert!(matches!(NativeReader::open(&path), Err(NativeAudioError::NotNative { .. })));
    NativeWriter::create(&path, 8_000).unwrap().finish().unwrap();
    assert_eq!(std::fs::read(&precious).unwrap(), b"keep me");
}
