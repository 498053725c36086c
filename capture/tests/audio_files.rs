//! What can be read of an audio file is read, at its true times, and what cannot is said.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "test signals are small"
)]

mod sound;

use std::path::Path;

use ambient_capture::audio::{AudioFile, AudioFileError, Damage, Resampler, SPEECH_RATE_HZ};
use proptest::prelude::*;
use sound::{Coding, DATA_SIZE_AT, fixture, noise, put, silence, tone, wav};

fn decode(path: &Path) -> Result<(u32, u16, Vec<f32>, Damage), AudioFileError> {
    let mut file = AudioFile::open(path)?;
    let (rate_hz, channels) = (file.rate_hz(), file.channels());
    let mut samples = Vec::new();
    while let Some(block) = file.next_block()? {
        samples.extend_from_slice(block);
    }
    Ok((rate_hz, channels, samples, file.damage()))
}

fn root_mean_square(samples: &[f32]) -> f64 {
    (samples.iter().map(|sample| f64::from(*sample).powi(2)).sum::<f64>() / samples.len().max(1) as f64)
        .sqrt()
}

/// Where a 440 Hz tone behind silence begins, in milliseconds.
fn onset_ms(samples: &[f32], rate_hz: u32) -> u64 {
    let onset = samples.iter().position(|sample| sample.abs() > 0.1).expect("a tone");
    onset as u64 * 1_000 / u64::from(rate_hz)
}

#[test]
fn every_sample_coding_rate_and_channel_count_comes_out_as_the_same_sound() {
    let folder = tempfile::tempdir().unwrap();
    for coding in Coding::ALL {
        for (rate_hz, channels) in
            [(8_000, 1), (11_025, 2), (16_000, 1), (44_100, 2), (48_000, 6), (96_000, 1)]
        {
            let mono = tone(440.0, rate_hz, 250);
            let path = put(folder.path(), "tone.wav", &wav(coding, rate_hz, channels, &mono));
            let (read_rate_hz, read_channels, samples, damage) = decode(&path).unwrap();
            assert_eq!((read_rate_hz, read_channels), (rate_hz, channels), "{coding:?}");
            assert_eq!(samples.len(), mono.len(), "{coding:?} {rate_hz} {channels}");
            let worst = samples
                .iter()
                .zip(&mono)
                .map(|(read, made)| (f64::from(*read) - made).abs())
                .fold(0.0, f64::max);
            assert!(worst < 0.02, "{coding:?} {rate_hz} {channels}: off by {worst}");
            assert_eq!(damage, Damage::default());
        }
    }
}

#[test]
fn every_container_keeps_its_times() {
    for name in ["tone.flac", "tone.mp3", "tone.m4a", "tone.ogg"] {
        let (rate_hz, _, samples, damage) = decode(&fixture(name)).unwrap();
        let onset = onset_ms(&samples, rate_hz);
        assert!((450..=560).contains(&onset), "{name}: the tone begins at {onset} ms");
        assert_eq!(damage.packets_skipped, 0, "{name}");
        assert!(!damage.ends_early, "{name}");
    }
}

#[test]
fn what_holds_no_sound_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let text = put(folder.path(), "notes.wav", &b"Dear diary, today we met again.\n".repeat(40));
    let empty = put(folder.path(), "empty.wav", b"");
    assert!(matches!(AudioFile::open(&text), Err(AudioFileError::NotAudio { .. })));
    assert!(matches!(AudioFile::open(&empty), Err(AudioFileError::Empty { .. })));
    assert!(matches!(AudioFile::open(folder.path()), Err(AudioFileError::NotAFile { .. })));
    assert!(matches!(AudioFile::open(&folder.path().join("absent.wav")), Err(AudioFileError::Io { .. })));
    assert!(matches!(AudioFile::open(&fixture("silent-film.mp4")), Err(AudioFileError::NoTrack { .. })));
}

#[test]
fn an_undecodable_codec_comes_with_the_way_out() {
    let error = AudioFile::open(&fixture("tone.opus")).err().expect("opus is not decoded");
    assert!(matches!(&error, AudioFileError::UnsupportedCodec { codec, .. } if codec == "opus"), "{error}");
    assert!(error.to_string().contains("ffmpeg -i"), "{error}");
}

#[test]
fn a_wav_file_without_a_sample_is_an_empty_track() {
    let folder = tempfile::tempdir().unwrap();
    let path = put(folder.path(), "none.wav", &wav(Coding::Signed16, 44_100, 2, &[]));
    assert_eq!(decode(&path).unwrap(), (44_100, 2, Vec::new(), Damage::default()));
    let path = put(folder.path(), "two.wav", &wav(Coding::Signed16, 44_100, 1, &[0.5, -0.5]));
    assert_eq!(decode(&path).unwrap().2.len(), 2);
}

#[test]
fn sizes_that_lie_are_overridden_by_the_length_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let mono = tone(440.0, 16_000, 1_000);
    let right = wav(Coding::Signed16, 16_000, 1, &mono);
    for (case, riff_size, data_size) in [
        ("never completed", 0, 0),
        ("stale", 36 + 1_000, 1_000),
        ("stream", u32::MAX, u32::MAX),
        ("longer than the file", 36 + 900_000, 900_000),
        ("only the outer size is right", 36 + 32_000, 0),
    ] {
        let mut broken = right.clone();
        broken[4..8].copy_from_slice(&u32::to_le_bytes(riff_size));
        broken[DATA_SIZE_AT..DATA_SIZE_AT + 4].copy_from_slice(&u32::to_le_bytes(data_size));
        let (_, _, samples, damage) = decode(&put(folder.path(), "broken.wav", &broken)).unwrap();
        assert_eq!(samples.len(), mono.len(), "{case}");
        assert!(damage.header_overridden, "{case}");
    }
}

#[test]
fn a_file_of_the_large_kind_is_read_by_its_length() {
    let folder = tempfile::tempdir().unwrap();
    let mono = tone(440.0, 16_000, 1_000);
    let mut large = wav(Coding::Signed16, 16_000, 1, &mono);
    large[0..4].copy_from_slice(b"RF64");
    large[4..8].fill(0xff);
    large[DATA_SIZE_AT..DATA_SIZE_AT + 4].fill(0xff);
    assert_eq!(decode(&put(folder.path(), "large.wav", &large)).unwrap().2.len(), mono.len());
}

#[test]
fn metadata_behind_the_samples_is_not_heard() {
    let folder = tempfile::tempdir().unwrap();
    let mono = tone(440.0, 16_000, 100);
    let mut tagged = wav(Coding::Signed16, 16_000, 1, &mono);
    tagged.extend(b"LIST\x08\x00\x00\x00INFOabcd");
    assert_eq!(decode(&put(folder.path(), "tagged.wav", &tagged)).unwrap().2.len(), mono.len());
}

#[test]
fn a_truncated_file_gives_what_is_there_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read(fixture("tone.flac")).unwrap();
    let cut = put(folder.path(), "cut.flac", &whole[..whole.len() * 4 / 5]);
    let (rate_hz, _, samples, damage) = decode(&cut).unwrap();
    assert!(damage.ends_early);
    assert!(samples.len() > rate_hz as usize / 2 && samples.len() < rate_hz as usize, "{}", samples.len());
}

#[test]
fn a_damaged_packet_becomes_silence_of_its_length() {
    let folder = tempfile::tempdir().unwrap();
    let (rate_hz, _, whole, _) = decode(&fixture("tone.mp3")).unwrap();
    let mut bytes = std::fs::read(fixture("tone.mp3")).unwrap();
    for byte in &mut bytes[3_000..3_300] {
        *byte = 0x55;
    }
    let (_, _, damaged, _) = decode(&put(folder.path(), "damaged.mp3", &bytes)).unwrap();
    let difference = whole.len().abs_diff(damaged.len());
    assert!(difference < rate_hz as usize / 5, "the rest is {difference} samples off");
}

#[test]
fn resampled_sound_has_its_true_length_pitch_and_place() {
    for rate_hz in [8_000, 11_025, 16_000, 22_050, 44_100, 44_101, 48_000, 96_000] {
        let mut native = silence(rate_hz, 500);
        native.extend(tone(440.0, rate_hz, 500));
        let native: Vec<f32> = native.iter().map(|sample| *sample as f32).collect();
        let mut resampler = Resampler::new(rate_hz, SPEECH_RATE_HZ).unwrap();
        let mut speech = Vec::new();
        for block in native.chunks(777) {
            resampler.push(block, &mut speech).unwrap();
        }
        resampler.finish(&mut speech).unwrap();
        let due = (native.len() as u64 * 16_000).div_ceil(u64::from(rate_hz));
        assert_eq!(speech.len() as u64, due, "{rate_hz}");
        let onset = onset_ms(&speech, 16_000);
        assert!((498..=503).contains(&onset), "{rate_hz}: the tone begins at {onset} ms");
        let level = root_mean_square(&speech[9_000..15_000]);
        assert!((level - 0.3535).abs() < 0.01, "{rate_hz}: level {level}");
        let crossings =
            speech[9_000..15_000].windows(2).filter(|pair| pair[0] < 0.0 && pair[1] >= 0.0).count();
        assert!((163..=167).contains(&crossings), "{rate_hz}: {crossings} periods");
    }
}

fn resample(native: &[f32], rate_hz: u32, block_len: usize) -> Vec<f32> {
    let mut resampler = Resampler::new(rate_hz, SPEECH_RATE_HZ).unwrap();
    let mut speech = Vec::new();
    for block in native.chunks(block_len) {
        resampler.push(block, &mut speech).unwrap();
    }
    resampler.finish(&mut speech).unwrap();
    speech
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn how_sound_is_sliced_does_not_change_it(
        rate_hz in prop::sample::select(vec![8_000_u32, 22_050, 44_100, 48_000, 44_101]),
        len in 0_usize..30_000,
        first in 1_usize..5_000,
        second in 1_usize..5_000,
    ) {
        let native: Vec<f32> = noise(0.5, 7, 30_000, 1_000)[..len].iter().map(|sample| *sample as f32).collect();
        prop_assert_eq!(resample(&native, rate_hz, first), resample(&native, rate_hz, second));
    }

    #[test]
    fn begun_anew_at_a_whole_second_it_soon_gives_the_very_same_samples(
        rate_hz in prop::sample::select(vec![8_000_u32, 11_025, 22_050, 32_000, 44_100, 48_000, 44_101]),
    ) {
        let native: Vec<f32> = noise(0.5, 3, rate_hz, 5_000).iter().map(|sample| *sample as f32).collect();
        let whole = resample(&native, rate_hz, 4_096);
        let later = resample(&native[rate_hz as usize..], rate_hz, 4_096);
        prop_assert_eq!(&whole[3 * 16_000..], &later[2 * 16_000..]);
    }

    #[test]
    fn no_bytes_make_it_panic_or_invent_endless_sound(
        name in prop::sample::select(vec!["tone.flac", "tone.mp3", "tone.m4a", "tone.ogg", "silent-film.mp4"]),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..40),
        keep in 0.0_f64..1.2,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut bytes = std::fs::read(fixture(name)).unwrap();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate((bytes.len() as f64 * keep) as usize);
        if let Ok((_, _, samples, _)) = decode(&put(folder.path(), name, &bytes)) {
            prop_assert!(samples.iter().all(|sample| sample.is_finite()));
            prop_assert!(samples.len() < 700 * 768_000, "{} samples", samples.len());
        }
    }
}
