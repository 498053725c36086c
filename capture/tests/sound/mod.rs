//! Sound made for tests: tones, noise, and WAV files of every shape, right and wrong.
#![allow(dead_code, unreachable_pub, reason = "each test program uses its own part")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss)]

use std::f64::consts::TAU;
use std::path::{Path, PathBuf};

/// How samples are stored in a WAV file.
#[derive(Clone, Copy, Debug)]
pub enum Coding {
    Unsigned8,
    Signed16,
    Signed24,
    Signed32,
    Float32,
    Float64,
}

impl Coding {
    pub const ALL: [Self; 6] =
        [Self::Unsigned8, Self::Signed16, Self::Signed24, Self::Signed32, Self::Float32, Self::Float64];

    fn bits(self) -> u16 {
        match self {
            Self::Unsigned8 => 8,
            Self::Signed16 => 16,
            Self::Signed24 => 24,
            Self::Signed32 | Self::Float32 => 32,
            Self::Float64 => 64,
        }
    }

    fn put(self, sample: f64, into: &mut Vec<u8>) {
        match self {
            Self::Unsigned8 => into.push((sample * 127.0 + 128.0) as u8),
            Self::Signed16 => into.extend(((sample * 32_767.0) as i16).to_le_bytes()),
            Self::Signed24 => into.extend(&((sample * 8_388_607.0) as i32).to_le_bytes()[..3]),
            Self::Signed32 => into.extend(((sample * 2_147_483_647.0) as i32).to_le_bytes()),
            Self::Float32 => into.extend((sample as f32).to_le_bytes()),
            Self::Float64 => into.extend(sample.to_le_bytes()),
        }
    }
}

/// A WAV file in memory: each sample of `mono` on each of `channels` channels.
pub fn wav(coding: Coding, rate_hz: u32, channels: u16, mono: &[f64]) -> Vec<u8> {
    let mut data = Vec::new();
    for sample in mono {
        for _ in 0..channels {
            coding.put(*sample, &mut data);
        }
    }
    let kind: u16 = if matches!(coding, Coding::Float32 | Coding::Float64) { 3 } else { 1 };
    let frame_len = coding.bits() / 8 * channels;
    let mut file = Vec::new();
    file.extend(b"RIFF");
    file.extend((36 + data.len() as u32).to_le_bytes());
    file.extend(b"WAVEfmt ");
    file.extend(16_u32.to_le_bytes());
    file.extend(kind.to_le_bytes());
    file.extend(channels.to_le_bytes());
    file.extend(rate_hz.to_le_bytes());
    file.extend((rate_hz * u32::from(frame_len)).to_le_bytes());
    file.extend(frame_len.to_le_bytes());
    file.extend(coding.bits().to_le_bytes());
    file.extend(b"data");
    file.extend((data.len() as u32).to_le_bytes());
    file.extend(data);
    file
}

/// Where the size of the samples stands in what [`wav`] makes.
pub const DATA_SIZE_AT: usize = 40;

/// Half-amplitude tone of `hz` for `len_ms`.
pub fn tone(hz: f64, rate_hz: u32, len_ms: u64) -> Vec<f64> {
    let len = u64::from(rate_hz) * len_ms / 1_000;
    (0..len).map(|n| 0.5 * (TAU * hz * n as f64 / f64::from(rate_hz)).sin()).collect()
}

/// Digital silence for `len_ms`.
pub fn silence(rate_hz: u32, len_ms: u64) -> Vec<f64> {
    vec![0.0; (u64::from(rate_hz) * len_ms / 1_000) as usize]
}

/// White noise between `-level` and `level`, the same for the same seed.
pub fn noise(level: f64, seed: u64, rate_hz: u32, len_ms: u64) -> Vec<f64> {
    let mut state = seed | 1;
    (0..u64::from(rate_hz) * len_ms / 1_000)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) as f64 / f64::from(1_u32 << 30) - 1.0) * level
        })
        .collect()
}

/// Writes `bytes` into `folder` under `name`.
pub fn put(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// A file that stands beside the tests.
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}
