//! Audio files, read block by block as mono samples.
//!
//! Whatever can be read of a file is read: a header that lies is overridden, a packet that cannot be
//! decoded becomes silence of its length, an end that is missing ends the track where it is. All of it
//! is counted in [`Damage`], so that a person can be told. A file that holds no sound at all is an error
//! that says what it is instead. Times stay true: silence stands where sound was lost.

use std::fs::File;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use symphonia::core::audio::GenericAudioBufferRef;
use symphonia::core::codecs::CodecParameters;
use symphonia::core::codecs::audio::well_known::CODEC_ID_OPUS;
use symphonia::core::codecs::audio::{AudioCodecId, AudioDecoder, AudioDecoderOptions};
use symphonia::core::errors::Error as SymphoniaError;
use symphonia::core::formats::probe::Hint;
use symphonia::core::formats::{FormatOptions, FormatReader, TrackType};
use symphonia::core::io::{MediaSourceStream, MediaSourceStreamOptions};
use symphonia::core::meta::MetadataOptions;
use symphonia::core::packet::Packet;
use symphonia::core::units::{TimeBase, Timestamp};

use super::riff_repair::RepairedFile;
use super::{RATE_RANGE_HZ, mix_to_mono, scaled};

/// Samples of silence handed out at a time where packets are missing.
const SILENCE_BLOCK_SAMPLES: usize = 16_384;

/// A jump of the packets' own times that counts as sound lost; less is rounding.
const GAP_MIN_MS: u64 = 100;

/// The longest jump that is filled with silence. A longer one is not believed.
const GAP_MAX_MS: u64 = 60_000;

/// Silence beyond what was decoded that a file may ask for, so that a hostile one cannot fill the disk.
const FILL_ALLOWANCE_MS: u64 = 600_000;

/// What was found wrong with a file that could be read all the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Damage {
    /// The sizes in the header were wrong and the file's length was used instead.
    pub header_overridden: bool,
    /// Packets that could not be decoded; silence stands in their place.
    pub packets_skipped: u64,
    /// Samples of silence put where sound is missing.
    pub samples_filled: u64,
    /// The file ends in the middle, or became unreadable there.
    pub ends_early: bool,
    /// The file goes on at another sample rate or with another codec, which was not read.
    pub format_changed: bool,
}

/// A file that gives no sound.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AudioFileError {
    /// The file could not be opened or read.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is a directory, a pipe or a device.
    #[error("{path} is not a file; give an audio file", path = path.display())]
    NotAFile {
        /// What was given.
        path: PathBuf,
    },
    /// It holds no byte.
    #[error("{path} is empty: there is no sound in it", path = path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// It is in no format that is known.
    #[error(
        "{path} is not an audio file of a known kind ({reason}); wav, flac, mp3, m4a, ogg, mka, aiff and caf are read",
        path = path.display()
    )]
    NotAudio {
        /// The file.
        path: PathBuf,
        /// What the reader missed.
        reason: String,
    },
    /// A known container without sound, such as a film without a sound track.
    #[error("{path} has no audio track", path = path.display())]
    NoTrack {
        /// The file.
        path: PathBuf,
    },
    /// The sound is coded in a way this program does not decode.
    #[error(
        "{path} is coded as {codec}, which is not decoded here; convert it first: ffmpeg -i {path:?} -ac 1 converted.flac",
        path = path.display()
    )]
    UnsupportedCodec {
        /// The file.
        path: PathBuf,
        /// The codec's name, or its number when it has none here.
        codec: String,
    },
    /// The sample rate is missing or outside [`RATE_RANGE_HZ`].
    #[error("{path} has a sample rate of {rate_hz} Hz; rates from 2000 to 768000 Hz are read", path = path.display())]
    UnsupportedRate {
        /// The file.
        path: PathBuf,
        /// The rate the file names; 0 when it names none.
        rate_hz: u32,
    },
    /// A channel was asked for that it does not have.
    #[error("{path} has {channels} channel(s), and {wanted} are needed to take them apart", path = path.display())]
    NoSuchChannel {
        /// The file.
        path: PathBuf,
        /// How many it has.
        channels: u16,
        /// How many are needed.
        wanted: u16,
    },
    /// Nothing in the file could be decoded.
    #[error("{path} is damaged from its beginning ({reason}): nothing could be read", path = path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What the decoder said.
        reason: String,
    },
}

/// Which channels of a file become the one that is handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mix {
    /// The mean of all.
    Mean,
    /// One of them, counted from 0; silence where a part of the file has fewer.
    One(u16),
}

/// An audio file, open at some sample.
///
/// ```no_run
/// # fn main() -> Result<(), ambient_capture::audio::AudioFileError> {
/// let mut file = ambient_capture::audio::AudioFile::open("interview.mp3".as_ref())?;
/// while let Some(block) = file.next_block()? {
///     assert!(block.iter().all(|sample| sample.is_finite()));
/// }
/// # Ok(())
/// # }
/// ```
pub struct AudioFile {
    path: PathBuf,
    reader: Box<dyn FormatReader>,
    decoder: Box<dyn AudioDecoder>,
    track_id: u32,
    time_base: Option<TimeBase>,
    /// Time of the first packet, from which the others are counted.
    first_pts: Option<Timestamp>,
    rate_hz: u32,
    channels: u16,
    expected_samples: Option<u64>,
    /// Samples decoded and filled in so far.
    samples: u64,
    /// Samples of silence to hand out before `block`.
    silence_due: u64,
    silence: Vec<f32>,
    block: Vec<f32>,
    is_block_ready: bool,
    is_at_end: bool,
    interleaved: Vec<f32>,
    mix: Mix,
    damage: Damage,
}

impl AudioFile {
    /// Opens the file at `path` and decodes its first block, so that its rate is known for sure.
    ///
    /// # Errors
    /// When it cannot be read, is no audio file, has no audio track, is coded in an unknown way, or
    /// nothing in it can be decoded. A file whose track has no sample at all is not an error.
    pub fn open(path: &Path) -> Result<Self, AudioFileError> {
        Self::open_mixed(path, Mix::Mean)
    }

    /// Opens the file at `path` to hand out its channel `channel`, counted from 0, alone.
    ///
    /// # Errors
    /// As [`open`](Self::open); also when the file has no such channel.
    pub fn open_channel(path: &Path, channel: u16) -> Result<Self, AudioFileError> {
        let opened = Self::open_mixed(path, Mix::One(channel))?;
        if opened.channels <= channel {
            let (path, channels) = (path.to_owned(), opened.channels);
            return Err(AudioFileError::NoSuchChannel { path, channels, wanted: channel + 1 });
        }
        Ok(opened)
    }

    fn open_mixed(path: &Path, mix: Mix) -> Result<Self, AudioFileError> {
        let file = open_source(path)?;
        let damage = Damage { header_overridden: file.is_repaired(), ..Damage::default() };
        let reader = probe(path, file)?;
        let no_track = || AudioFileError::NoTrack { path: path.to_owned() };
        let track = reader
            .default_track(TrackType::Audio)
            .or_else(|| reader.first_track(TrackType::Audio))
            .ok_or_else(no_track)?;
        let parameters = track.codec_params.as_ref().and_then(CodecParameters::audio).ok_or_else(no_track)?;
        let decoder = symphonia::default::get_codecs()
            .make_audio_decoder(parameters, &AudioDecoderOptions::default())
            .map_err(|_| AudioFileError::UnsupportedCodec {
                path: path.to_owned(),
                codec: codec_name(parameters.codec),
            })?;
        let mut opened = Self {
            path: path.to_owned(),
            track_id: track.id,
            time_base: track.time_base,
            first_pts: None,
            rate_hz: parameters.sample_rate.unwrap_or(0),
            channels: parameters.channels.as_ref().map_or(0, |channels| channel_count(channels.count())),
            expected_samples: track.num_frames,
            samples: 0,
            silence_due: 0,
            silence: Vec::new(),
            block: Vec::new(),
            is_block_ready: false,
            is_at_end: false,
            interleaved: Vec::new(),
            mix,
            damage,
            decoder,
            reader,
        };
        opened.decode_first_block()?;
        Ok(opened)
    }

    /// Samples a second.
    pub fn rate_hz(&self) -> u32 {
        self.rate_hz
    }

    /// Channels of the file; the blocks are their mean, or one of them.
    pub fn channels(&self) -> u16 {
        self.channels
    }

    /// Samples the file says it has, when it says so. A damaged or hostile file may be wrong.
    pub fn expected_samples(&self) -> Option<u64> {
        self.expected_samples
    }

    /// What was found wrong so far.
    pub fn damage(&self) -> Damage {
        self.damage
    }

    /// The next mono samples, between -1 and 1 for a well-made file and always finite; none at the end.
    ///
    /// # Errors
    /// When the system cannot read the file any further.
    pub fn next_block(&mut self) -> Result<Option<&[f32]>, AudioFileError> {
        loop {
            if self.silence_due > 0 {
                let len = usize::try_from(self.silence_due).unwrap_or(usize::MAX).min(SILENCE_BLOCK_SAMPLES);
                self.silence_due -= len as u64;
                self.silence.resize(len, 0.0);
                return Ok(Some(&self.silence));
            }
            if self.is_block_ready {
                self.is_block_ready = false;
                return Ok(Some(&self.block));
            }
            if self.is_at_end {
                return Ok(None);
            }
            self.step()?;
        }
    }

    fn decode_first_block(&mut self) -> Result<(), AudioFileError> {
        while !self.is_block_ready && !self.is_at_end {
            self.step()?;
        }
        if !self.is_block_ready && (self.damage.packets_skipped > 0 || self.damage.ends_early) {
            let reason = match self.damage.packets_skipped {
                0 => "it ends within its header".to_owned(),
                skipped => format!("{skipped} packets could not be decoded"),
            };
            return Err(AudioFileError::Damaged { path: self.path.clone(), reason });
        }
        if !RATE_RANGE_HZ.contains(&self.rate_hz) {
            return Err(AudioFileError::UnsupportedRate { path: self.path.clone(), rate_hz: self.rate_hz });
        }
        Ok(())
    }

    /// Reads one packet: leaves a block ready, silence due, the end noted, or nothing.
    fn step(&mut self) -> Result<(), AudioFileError> {
        let reader = &mut self.reader;
        let packet = match guarded(|| reader.next_packet()) {
            Some(Ok(Some(packet))) => packet,
            Some(Ok(None)) => {
                self.is_at_end = true;
                self.damage.ends_early |= self.is_short();
                return Ok(());
            }
            Some(Err(SymphoniaError::IoError(source))) if source.kind() != io::ErrorKind::UnexpectedEof => {
                return Err(AudioFileError::Io { path: self.path.clone(), source });
            }
            Some(Err(SymphoniaError::ResetRequired)) => {
                self.is_at_end = true;
                self.damage.format_changed = true;
                return Ok(());
            }
            Some(Err(_)) | None => {
                self.is_at_end = true;
                self.damage.ends_early = true;
                return Ok(());
            }
        };
        if packet.track_id == self.track_id {
            self.fill_gap_before(&packet);
            self.decode(&packet);
        }
        Ok(())
    }

    /// Whether noticeably fewer samples came than the file promised.
    fn is_short(&self) -> bool {
        let missing = self.expected_samples.unwrap_or(0).saturating_sub(self.samples);
        missing > self.samples_in(GAP_MIN_MS)
    }

    fn decode(&mut self, packet: &Packet) {
        let mix = self.mix;
        let (decoder, block, interleaved) = (&mut self.decoder, &mut self.block, &mut self.interleaved);
        let outcome = guarded(|| {
            decoder.decode(packet).map(|buffer| {
                mix_block(mix, &buffer, interleaved, block);
                (buffer.spec().rate(), channel_count(buffer.spec().channels().count()))
            })
        });
        match outcome {
            Some(Ok((rate_hz, channels))) => self.accept_block(rate_hz, channels),
            Some(Err(SymphoniaError::ResetRequired)) => {
                self.is_at_end = true;
                self.damage.format_changed = true;
            }
            Some(Err(_)) | None => {
                self.damage.packets_skipped += 1;
                let len = self.samples_in_ticks(packet.dur.get());
                self.fill(len.min(u64::from(self.rate_hz)));
            }
        }
    }

    fn accept_block(&mut self, rate_hz: u32, channels: u16) {
        if self.block.is_empty() {
            return;
        }
        if self.samples == self.damage.samples_filled {
            self.rate_hz = rate_hz;
            self.channels = channels;
        } else if rate_hz != self.rate_hz {
            self.is_at_end = true;
            self.damage.format_changed = true;
            return;
        }
        self.samples += self.block.len() as u64;
        self.is_block_ready = true;
    }

    /// Puts silence where the packets' own times say that sound is missing.
    fn fill_gap_before(&mut self, packet: &Packet) {
        let first_pts = *self.first_pts.get_or_insert(packet.pts);
        let Ok(since_first) = u64::try_from(packet.pts.get().saturating_sub(first_pts.get())) else { return };
        let missing = self.samples_in_ticks(since_first).saturating_sub(self.samples);
        if missing >= self.samples_in(GAP_MIN_MS) && missing <= self.samples_in(GAP_MAX_MS) {
            self.fill(missing);
        }
    }

    fn fill(&mut self, samples: u64) {
        let decoded = self.samples - self.damage.samples_filled;
        let allowed =
            (decoded + self.samples_in(FILL_ALLOWANCE_MS)).saturating_sub(self.damage.samples_filled);
        let filled = samples.min(allowed);
        self.silence_due += filled;
        self.samples += filled;
        self.damage.samples_filled += filled;
    }

    fn samples_in(&self, len_ms: u64) -> u64 {
        scaled(len_ms, self.rate_hz, 1_000)
    }

    /// `ticks` of the track's time base as samples; 0 when the track has none.
    fn samples_in_ticks(&self, ticks: u64) -> u64 {
        let Some(base) = self.time_base else { return 0 };
        let rate_hz = u128::from(self.rate_hz);
        let samples =
            u128::from(ticks) * u128::from(base.numer.get()) * rate_hz / u128::from(base.denom.get());
        u64::try_from(samples).unwrap_or(u64::MAX)
    }
}

fn open_source(path: &Path) -> Result<RepairedFile, AudioFileError> {
    let io_error = |source| AudioFileError::Io { path: path.to_owned(), source };
    let metadata = std::fs::metadata(path).map_err(io_error)?;
    if !metadata.is_file() {
        return Err(AudioFileError::NotAFile { path: path.to_owned() });
    }
    if metadata.len() == 0 {
        return Err(AudioFileError::Empty { path: path.to_owned() });
    }
    let file = File::open(path).map_err(io_error)?;
    RepairedFile::new(file).map_err(io_error)
}

fn probe(path: &Path, file: RepairedFile) -> Result<Box<dyn FormatReader>, AudioFileError> {
    let mut hint = Hint::new();
    if let Some(extension) = path.extension().and_then(|extension| extension.to_str()) {
        hint.with_extension(extension);
    }
    let stream = MediaSourceStream::new(Box::new(file), MediaSourceStreamOptions::default());
    let not_audio = |reason: String| AudioFileError::NotAudio { path: path.to_owned(), reason };
    guarded(|| {
        symphonia::default::get_probe().probe(
            &hint,
            stream,
            FormatOptions::default(),
            MetadataOptions::default(),
        )
    })
    .ok_or_else(|| not_audio("its header is damaged".to_owned()))?
    .map_err(|error| match error {
        SymphoniaError::IoError(source) if source.kind() != io::ErrorKind::UnexpectedEof => {
            AudioFileError::Io { path: path.to_owned(), source }
        }
        SymphoniaError::IoError(_) => not_audio("it ends too soon".to_owned()),
        other => not_audio(other.to_string()),
    })
}

/// The buffer's samples in one channel.
fn mix_block(mix: Mix, buffer: &GenericAudioBufferRef<'_>, interleaved: &mut Vec<f32>, block: &mut Vec<f32>) {
    block.clear();
    let channels = buffer.spec().channels().count();
    if channels == 0 || buffer.frames() == 0 {
        return;
    }
    buffer.copy_to_vec_interleaved(interleaved);
    match mix {
        Mix::Mean => mix_to_mono(interleaved, channels, block),
        Mix::One(channel) => block.extend(interleaved.chunks_exact(channels).map(|frame| {
            let sample = frame.get(usize::from(channel)).copied().unwrap_or(0.0);
            if sample.is_finite() { sample } else { 0.0 }
        })),
    }
}

/// Runs a decoder, which reads bytes anybody may have made. Its panic is a damaged packet, not our end.
fn guarded<T>(decode: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(decode)).ok()
}

fn codec_name(codec: AudioCodecId) -> String {
    if codec == CODEC_ID_OPUS { "opus".to_owned() } else { format!("codec {codec}") }
}

fn channel_count(channels: usize) -> u16 {
    u16::try_from(channels).unwrap_or(u16::MAX)
}
