//! A track's sound on disk: `<track>.native.wav`, mono, 16 bit, at the rate it came in.
//!
//! This file is the source everything else is made from again after an interruption. So its samples are
//! written in order and only once, its header is brought up to date every few seconds so that any
//! program can play what is there, and the reader believes the file's length and not the header: it can
//! read behind a writer that is still at work, or behind one that was killed. Beyond 4 GiB the header
//! becomes RF64, for which room is kept from the beginning.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::RATE_RANGE_HZ;

/// Bytes before the first sample: RIFF, a reserved chunk the size of `ds64`, `fmt ` and `data`.
const HEADER_LEN_BYTES: u64 = 80;

/// Body of the reserved chunk.
const RESERVED_LEN_BYTES: u32 = 28;

const SAMPLE_LEN_BYTES: u64 = 2;

/// Seconds of sound after which the header is written again.
const HEADER_EVERY_S: u64 = 5;

/// Chunks looked at before the search for the samples is given up.
const CHUNKS_MAX: usize = 64;

/// A native audio file that could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NativeAudioError {
    /// The system refused.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is not a mono 16-bit WAV file of a usable rate.
    #[error("{path} is not a track's native audio: {reason}", path = path.display())]
    NotNative {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
}

/// Writes a track's native audio.
pub struct NativeWriter {
    path: PathBuf,
    file: File,
    rate_hz: u32,
    samples: u64,
    samples_in_header: u64,
    bytes: Vec<u8>,
}

impl NativeWriter {
    /// Starts the file at `path`. One that is there already is replaced, never followed if it is a link.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn create(path: &Path, rate_hz: u32) -> Result<Self, NativeAudioError> {
        let io_error = |source| NativeAudioError::Io { path: path.to_owned(), source };
        if !RATE_RANGE_HZ.contains(&rate_hz) {
            return Err(NativeAudioError::NotNative {
                path: path.to_owned(),
                reason: "its rate is out of range",
            });
        }
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(io_error(error)),
            _ => {}
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path).map_err(io_error)?;
        file.write_all(&header(rate_hz, 0)).map_err(io_error)?;
        let path = path.to_owned();
        Ok(Self { path, file, rate_hz, samples: 0, samples_in_header: 0, bytes: Vec::new() })
    }

    /// Samples written so far.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Samples a second.
    pub fn rate_hz(&self) -> u32 {
        self.rate_hz
    }

    /// Appends `block`, clipped to what 16 bits hold. Once this returns, a reader sees it.
    ///
    /// # Errors
    /// When the disk refuses. What was written before stays readable, and so does what part of the block
    /// there was room for.
    pub fn write(&mut self, block: &[f32]) -> Result<(), NativeAudioError> {
        self.bytes.clear();
        self.bytes.extend(block.iter().flat_map(|sample| to_i16(*sample).to_le_bytes()));
        if let Err(source) = self.file.write_all(&self.bytes) {
            self.count_what_is_there();
            return Err(self.io_error(source));
        }
        self.samples += block.len() as u64;
        self.write_header_when_due()
    }

    /// Appends that many samples of silence. They take no room on a disk that knows files with holes.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn write_silence(&mut self, samples: u64) -> Result<(), NativeAudioError> {
        let end = HEADER_LEN_BYTES + (self.samples + samples) * SAMPLE_LEN_BYTES;
        let extended = self.file.set_len(end).and_then(|()| self.file.seek(SeekFrom::End(0)));
        extended.map_err(|source| self.io_error(source))?;
        self.samples += samples;
        self.write_header_when_due()
    }

    /// Waits until what was written is on the disk.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn sync(&self) -> Result<(), NativeAudioError> {
        self.file.sync_data().map_err(|source| self.io_error(source))
    }

    /// Completes the header and waits until all is on the disk. Gives the number of samples. That needs no
    /// room, so it works on a full disk too.
    ///
    /// # Errors
    /// When the disk refuses; the audio may then be lost when the machine loses power.
    pub fn finish(mut self) -> Result<u64, NativeAudioError> {
        self.write_header()?;
        self.file.sync_all().map_err(|source| self.io_error(source))?;
        Ok(self.samples)
    }

    fn write_header_when_due(&mut self) -> Result<(), NativeAudioError> {
        let is_due = self.samples - self.samples_in_header >= HEADER_EVERY_S * u64::from(self.rate_hz);
        if is_due { self.write_header() } else { Ok(()) }
    }

    fn write_header(&mut self) -> Result<(), NativeAudioError> {
        let header = header(self.rate_hz, self.samples);
        let written = self.file.seek(SeekFrom::Start(0)).and_then(|_| {
            self.file.write_all(&header)?;
            self.file.seek(SeekFrom::End(0))
        });
        written.map_err(|source| self.io_error(source))?;
        self.samples_in_header = self.samples;
        Ok(())
    }

    /// After a block of which only a part found room.
    fn count_what_is_there(&mut self) {
        if let Ok(metadata) = self.file.metadata() {
            self.samples = metadata.len().saturating_sub(HEADER_LEN_BYTES) / SAMPLE_LEN_BYTES;
        }
    }

    fn io_error(&self, source: io::Error) -> NativeAudioError {
        NativeAudioError::Io { path: self.path.clone(), source }
    }
}

/// `sample` as 16 bits; what is not a number is silence.
#[allow(clippy::cast_possible_truncation, reason = "the value is clamped to the range first")]
pub(crate) fn to_i16(sample: f32) -> i16 {
    (sample * 32_768.0).round().clamp(-32_768.0, 32_767.0) as i16
}

/// The 80 bytes in front of `samples` samples.
fn header(rate_hz: u32, samples: u64) -> [u8; 80] {
    let data_len_bytes = samples * SAMPLE_LEN_BYTES;
    let riff_len_bytes = data_len_bytes + HEADER_LEN_BYTES - 8;
    let small = u32::try_from(data_len_bytes).ok().zip(u32::try_from(riff_len_bytes).ok());
    let (data_size, riff_size) = small.unwrap_or((u32::MAX, u32::MAX));
    let mut header = [0; 80];
    let mut place = |at: usize, bytes: &[u8]| header[at..at + bytes.len()].copy_from_slice(bytes);
    place(0, if small.is_some() { b"RIFF" } else { b"RF64" });
    place(4, &riff_size.to_le_bytes());
    place(8, b"WAVE");
    place(12, if small.is_some() { b"JUNK" } else { b"ds64" });
    place(16, &RESERVED_LEN_BYTES.to_le_bytes());
    if small.is_none() {
        place(20, &riff_len_bytes.to_le_bytes());
        place(28, &data_len_bytes.to_le_bytes());
        place(36, &samples.to_le_bytes());
    }
    place(48, b"fmt ");
    place(52, &16_u32.to_le_bytes());
    place(56, &1_u16.to_le_bytes());
    place(58, &1_u16.to_le_bytes());
    place(60, &rate_hz.to_le_bytes());
    place(64, &(rate_hz * 2).to_le_bytes());
    place(68, &2_u16.to_le_bytes());
    place(70, &16_u16.to_le_bytes());
    place(72, b"data");
    place(76, &data_size.to_le_bytes());
    header
}

/// Reads a track's native audio, also while it grows.
pub struct NativeReader {
    path: PathBuf,
    file: File,
    rate_hz: u32,
    data_start: u64,
    bytes: Vec<u8>,
}

impl NativeReader {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// When it cannot be read or is not mono 16-bit WAV.
    pub fn open(path: &Path) -> Result<Self, NativeAudioError> {
        let io_error = |source| NativeAudioError::Io { path: path.to_owned(), source };
        let not_native = |reason| NativeAudioError::NotNative { path: path.to_owned(), reason };
        let metadata = std::fs::symlink_metadata(path).map_err(io_error)?;
        if !metadata.is_file() {
            return Err(not_native("it is not a file"));
        }
        let mut file = File::open(path).map_err(io_error)?;
        let mut start = Vec::new();
        (&mut file).take(64 * 1024).read_to_end(&mut start).map_err(io_error)?;
        let (rate_hz, data_start) = parse_header(&start).map_err(not_native)?;
        Ok(Self { path: path.to_owned(), file, rate_hz, data_start, bytes: Vec::new() })
    }

    /// Samples a second.
    pub fn rate_hz(&self) -> u32 {
        self.rate_hz
    }

    /// Samples that are in the file at this moment, whatever its header says.
    ///
    /// # Errors
    /// When the system cannot tell the file's length.
    pub fn samples(&self) -> Result<u64, NativeAudioError> {
        let len_bytes = self.file.metadata().map_err(|source| self.io_error(source))?.len();
        Ok(len_bytes.saturating_sub(self.data_start) / SAMPLE_LEN_BYTES)
    }

    /// Reads up to `count` samples from number `from` on into `into`, which is emptied first. Fewer come
    /// only where the file ends.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(&mut self, from: u64, count: usize, into: &mut Vec<f32>) -> Result<(), NativeAudioError> {
        into.clear();
        let present = usize::try_from(self.samples()?.saturating_sub(from)).unwrap_or(usize::MAX);
        self.bytes.resize(count.min(present) * 2, 0);
        let at = SeekFrom::Start(self.data_start + from * SAMPLE_LEN_BYTES);
        let read = self.file.seek(at).and_then(|_| self.file.read_exact(&mut self.bytes));
        read.map_err(|source| NativeAudioError::Io { path: self.path.clone(), source })?;
        into.extend(
            self.bytes
                .chunks_exact(2)
                .map(|pair| f32::from(i16::from_le_bytes([pair[0], pair[1]])) / 32_768.0),
        );
        Ok(())
    }

    fn io_error(&self, source: io::Error) -> NativeAudioError {
        NativeAudioError::Io { path: self.path.clone(), source }
    }
}

/// The rate, and where the samples begin.
fn parse_header(start: &[u8]) -> Result<(u32, u64), &'static str> {
    let is_wave = start.get(8..12) == Some(b"WAVE");
    if !is_wave || !(start.starts_with(b"RIFF") || start.starts_with(b"RF64")) {
        return Err("it does not begin like a WAV file");
    }
    let mut rate_hz = None;
    let mut at = 12_usize;
    for _ in 0..CHUNKS_MAX {
        let Some([n0, n1, n2, n3, s0, s1, s2, s3]) = start.get(at..).and_then(<[u8]>::first_chunk) else {
            break;
        };
        let body = at + 8;
        let len = u32::from_le_bytes([*s0, *s1, *s2, *s3]);
        match &[*n0, *n1, *n2, *n3] {
            b"data" => {
                let rate_hz = rate_hz.ok_or("it names no format before its samples")?;
                return Ok((rate_hz, body as u64));
            }
            b"fmt " => {
                let format: &[u8; 16] =
                    start.get(body..).and_then(<[u8]>::first_chunk).ok_or("its format is cut off")?;
                rate_hz = Some(parse_format(format)?);
            }
            _ => {}
        }
        at = body + usize::try_from(len).unwrap_or(usize::MAX).min(start.len()) + (len % 2) as usize;
    }
    Err("it holds no samples")
}

fn parse_format(format: &[u8; 16]) -> Result<u32, &'static str> {
    let [k0, k1, c0, c1, r0, r1, r2, r3, .., b0, b1] = *format;
    let [kind, channels, bits] = [[k0, k1], [c0, c1], [b0, b1]].map(u16::from_le_bytes);
    let rate_hz = u32::from_le_bytes([r0, r1, r2, r3]);
    if (kind, channels, bits) != (1, 1, 16) {
        return Err("it is not 16-bit PCM with one channel");
    }
    if !RATE_RANGE_HZ.contains(&rate_hz) {
        return Err("its rate is out of range");
    }
    Ok(rate_hz)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_four_gibibytes_the_sizes_stand_in_the_reserved_chunk() {
        let samples = 3_000_000_000;
        let large = header(48_000, samples);
        assert!(large.starts_with(b"RF64\xff\xff\xff\xffWAVEds64"));
        assert_eq!(large[20..28], (samples * 2 + 72).to_le_bytes());
        assert_eq!(large[28..36], (samples * 2).to_le_bytes());
        assert_eq!(large[36..44], samples.to_le_bytes());
        assert_eq!(parse_header(&large), Ok((48_000, HEADER_LEN_BYTES)));
        let small = header(48_000, 1_000);
        assert!(small.starts_with(b"RIFF") && &small[12..16] == b"JUNK");
        assert_eq!(parse_header(&small), Ok((48_000, HEADER_LEN_BYTES)));
    }
}
