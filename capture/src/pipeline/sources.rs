//! The files a session is made from, and the native audio they become.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use ambient_engine::{Captured, CapturedTrack, Opened, Track, TrackSource};
use jiff::{SignedDuration, Timestamp};

use super::{History, PipelineError, local};
use crate::audio::{
    AudioFile, AudioFileError, Damage, NativeAudioError, NativeReader, NativeWriter, SilenceCount, millis,
};

/// Of a file whose channels are taken apart, the one that is the room: left.
const ROOM_CHANNEL: u16 = 0;
/// The one that is the call: right.
const CALL_CHANNEL: u16 = 1;

/// A file for a track.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AudioSource {
    /// The track it becomes.
    pub track: Track,
    /// The file.
    pub path: PathBuf,
    /// Its length when the session began, in bytes; none when that was not noted.
    pub len_bytes: Option<u64>,
    /// The channel of it that is the track, counted from 0; none for the mean of all.
    pub channel: Option<u16>,
}

impl AudioSource {
    /// The file at `path` for `track`, opened once to see that it holds sound that can be decoded.
    ///
    /// # Errors
    /// When it does not, or cannot be read.
    pub fn new(track: Track, path: &Path) -> Result<Self, AudioFileError> {
        Self::checked(track, path, None)
    }

    /// The file at `path` for both tracks: its first channel is the room, its second the call.
    ///
    /// # Errors
    /// As [`new`](Self::new); also when it has one channel alone.
    pub fn channels_of(path: &Path) -> Result<[Self; 2], AudioFileError> {
        // The second first: whoever has it has the other.
        let call = Self::checked(Track::Call, path, Some(CALL_CHANNEL))?;
        Ok([Self { track: Track::Room, channel: Some(ROOM_CHANNEL), ..call.clone() }, call])
    }

    fn checked(track: Track, path: &Path, channel: Option<u16>) -> Result<Self, AudioFileError> {
        open(path, channel)?;
        let io_error = |source| AudioFileError::Io { path: path.to_owned(), source };
        let path = std::path::absolute(path).map_err(io_error)?;
        let len_bytes = Some(std::fs::metadata(&path).map_err(io_error)?.len());
        Ok(Self { track, path, len_bytes, channel })
    }

    /// How the log names this source.
    pub fn to_track_source(&self) -> TrackSource {
        TrackSource {
            track: self.track,
            name: self.path.to_string_lossy().into_owned(),
            len_bytes: self.len_bytes,
        }
    }

    /// The sources a log names. Two tracks of one file are two of its channels.
    pub fn from_opened(opened: &Opened) -> Vec<Self> {
        let is_shared = |name: &str| opened.tracks.iter().filter(|source| source.name == name).count() > 1;
        let source = |source: &TrackSource| Self {
            track: source.track,
            path: PathBuf::from(&source.name),
            len_bytes: source.len_bytes,
            channel: is_shared(&source.name).then_some(match source.track {
                Track::Room => ROOM_CHANNEL,
                Track::Call => CALL_CHANNEL,
            }),
        };
        opened.tracks.iter().map(source).collect()
    }

    /// Why the file is no longer what it was, or none when it is.
    pub(super) fn change(&self) -> Option<String> {
        match (std::fs::metadata(&self.path), self.len_bytes) {
            (Err(error), _) => Some(format!("{}: {error}", self.path.display())),
            (Ok(metadata), Some(len)) if metadata.len() != len => {
                Some(format!("{} had {len} bytes and now has {}", self.path.display(), metadata.len()))
            }
            _ => None,
        }
    }
}

fn open(path: &Path, channel: Option<u16>) -> Result<AudioFile, AudioFileError> {
    channel.map_or_else(|| AudioFile::open(path), |channel| AudioFile::open_channel(path, channel))
}

/// Where a track's native audio lies in the audio folder of a session.
pub fn native_path(audio_folder: &Path, track: Track) -> PathBuf {
    audio_folder.join(format!("{track}.native.wav"))
}

/// A track's native audio, and what is to be said about it.
pub(super) struct Ingested {
    pub(super) track: CapturedTrack,
    pub(super) warnings: Vec<String>,
}

/// Decodes `source` into the native audio at `native`, telling `on_block` how many milliseconds there are
/// and how many are expected.
pub(super) fn decode_to_native(
    source: &AudioSource,
    native: &Path,
    interrupted: &AtomicBool,
    on_block: &mut dyn FnMut(u64, Option<u64>),
) -> Result<Ingested, PipelineError> {
    let mut file = open(&source.path, source.channel)?;
    let rate_hz = file.rate_hz();
    let expected_ms = file.expected_samples().map(|samples| millis(samples, rate_hz));
    let mut writer = NativeWriter::create(native, rate_hz)?;
    let mut silence = SilenceCount::new(rate_hz);
    while let Some(block) = file.next_block()? {
        silence.take(block);
        writer.write(block)?;
        on_block(millis(writer.samples(), rate_hz), expected_ms);
        if interrupted.load(Ordering::Relaxed) {
            writer.finish()?;
            return Err(PipelineError::Interrupted);
        }
    }
    let (channels, damage) = (file.channels(), file.damage());
    let samples = writer.finish()?;
    let silent_ms = silence.millis();
    let track = CapturedTrack { track: source.track, rate_hz, channels, samples, silent_ms, padded_ms: 0 };
    let warnings = warnings(&track, damage);
    Ok(Ingested { track, warnings })
}

/// Takes the native audio that is there for what was captured.
pub(super) fn take_native(track: Track, native: &Path) -> Result<Ingested, PipelineError> {
    let mut reader = NativeReader::open(native)?;
    let (rate_hz, samples) = (reader.rate_hz(), reader.samples()?);
    let mut silence = SilenceCount::new(rate_hz);
    let mut block = Vec::new();
    let mut position = 0;
    while position < samples {
        reader.read(position, rate_hz as usize, &mut block)?;
        if block.is_empty() {
            break;
        }
        silence.take(&block);
        position += block.len() as u64;
    }
    let silent_ms = silence.millis();
    let track = CapturedTrack { track, rate_hz, channels: 1, samples, silent_ms, padded_ms: 0 };
    Ok(Ingested { warnings: warnings(&track, Damage::default()), track })
}

/// What is there of a recording whose recorder was ended: it lasts as long as its sound does. A track without
/// a file is told and left out.
pub(super) fn take_recording(
    audio_folder: &Path,
    sources: &[AudioSource],
    history: &History,
) -> Result<Captured, PipelineError> {
    let mut captured = Captured { ended_at: String::new(), tracks: Vec::new(), warnings: Vec::new() };
    for source in sources {
        let native = native_path(audio_folder, source.track);
        if matches!(NativeReader::open(&native), Err(NativeAudioError::Io { source, .. }) if source.kind() == ErrorKind::NotFound)
        {
            captured.warnings.push(format!(
                "{}: its sound is gone: there is no {}",
                source.track,
                native.display()
            ));
            continue;
        }
        let mut ingested = take_native(source.track, &native)?;
        ingested.track.padded_ms = history.padded_ms(source.track);
        captured.tracks.push(ingested.track);
        // A meeting in one room has a silent call, and that is right.
        if source.track == Track::Room {
            captured.warnings.append(&mut ingested.warnings);
        }
    }
    let len_ms = captured.tracks.iter().map(|track| millis(track.samples, track.rate_hz)).max().unwrap_or(0);
    captured.ended_at =
        history.opened.as_ref().map_or_else(String::new, |opened| later(&opened.started_at, len_ms));
    Ok(captured)
}

/// The moment `len_ms` after `started_at`, written alike; what is no moment stays as it is.
fn later(started_at: &str, len_ms: u64) -> String {
    let len = SignedDuration::from_millis(i64::try_from(len_ms).unwrap_or(i64::MAX));
    let ended = started_at.parse::<Timestamp>().ok().and_then(|started| started.checked_add(len).ok());
    ended.map_or_else(|| started_at.to_owned(), local)
}

fn warnings(track: &CapturedTrack, damage: Damage) -> Vec<String> {
    let name = track.track;
    let len_ms = millis(track.samples, track.rate_hz);
    let mut warnings = Vec::new();
    if track.samples == 0 {
        warnings.push(format!("{name}: the file holds no sound"));
    } else if track.silent_ms >= len_ms {
        warnings.push(format!("{name}: nothing but silence for {} s", len_ms.div_ceil(1_000)));
    }
    if damage.header_overridden {
        warnings.push(format!("{name}: the file's header was wrong; its length was used instead"));
    }
    if damage.packets_skipped > 0 || damage.samples_filled > 0 {
        let filled_ms = millis(damage.samples_filled, track.rate_hz);
        let skipped = damage.packets_skipped;
        warnings
            .push(format!("{name}: {skipped} damaged packets skipped, {filled_ms} ms filled with silence"));
    }
    if damage.ends_early {
        warnings.push(format!("{name}: the file breaks off after {} s", len_ms / 1_000));
    }
    if damage.format_changed {
        let seconds = len_ms / 1_000;
        warnings.push(format!(
            "{name}: the file changes to another format after {seconds} s; the rest was not read"
        ));
    }
    warnings
}
