//! Audio that comes on stdin, put into a file, because sound is read more than once and a pipe gives it once.
//!
//! The file lies beside the sessions, on a disk that is made to hold sound, and goes away with this value. It stays
//! where it is [kept](PipedAudio::keep), for a session that is to be taken up again.

use std::io::{self, IsTerminal as _, Read, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use ambient_engine::session::Directory;
use anyhow::Context as _;
use tempfile::NamedTempFile;

use crate::exit::{Exit, Refusal};
use crate::output;

/// The folder for what can be deleted at any time when nothing is at work.
const CACHE: &str = ".cache";
/// Bytes of the header of a WAV file.
const HEADER_LEN_BYTES: u64 = 44;
const SAMPLE_LEN_BYTES: u16 = 2;

/// What bare samples are: 16 bit, little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BareSamples {
    pub(crate) rate_hz: u32,
    pub(crate) channels: u16,
}

/// A file with the sound that came.
pub(crate) struct PipedAudio(NamedTempFile);

impl PipedAudio {
    /// Makes sure that something is piped in.
    pub(crate) fn require_pipe() -> anyhow::Result<()> {
        if io::stdin().is_terminal() {
            let text = "`-` reads sound from stdin, and stdin is a terminal; name a file, or pipe sound in";
            return Err(Refusal::new(Exit::Usage, text).into());
        }
        Ok(())
    }

    /// Reads stdin to its end: a file of any kind, or `bare` samples.
    pub(crate) fn receive(
        root: &Directory,
        bare: Option<BareSamples>,
        stop: &AtomicBool,
    ) -> anyhow::Result<Self> {
        let cache = root.open_or_create_subdirectory(CACHE)?;
        let mut file = tempfile::Builder::new()
            .prefix("stdin-")
            .suffix(".wav")
            .tempfile_in(cache.path())
            .with_context(|| format!("cannot put what comes on stdin into {}", cache.path().display()))?;
        store(&mut io::stdin().lock(), &mut file, bare, stop)
            .with_context(|| format!("cannot put what comes on stdin into {}", cache.path().display()))?;
        if stop.load(Ordering::Relaxed) {
            return Err(
                Refusal::new(Exit::Interrupted, "interrupted before stdin ended; nothing was begun").into()
            );
        }
        Ok(Self(file))
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Leaves the file where it is.
    pub(crate) fn keep(self) {
        match self.0.keep() {
            Ok((_, path)) => output::note(&format!("what came on stdin is kept in {}", path.display())),
            Err(error) => output::warning(&format!("what came on stdin could not be kept: {error}")),
        }
    }
}

fn store(
    input: &mut dyn Read,
    file: &mut NamedTempFile,
    bare: Option<BareSamples>,
    stop: &AtomicBool,
) -> io::Result<()> {
    if let Some(bare) = bare {
        file.write_all(&header(bare, 0))?;
    }
    let mut block = vec![0; 1 << 16];
    while !stop.load(Ordering::Relaxed) {
        let len = match input.read(&mut block) {
            Ok(0) => break,
            Ok(len) => len,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        file.write_all(&block[..len])?;
    }
    if let Some(bare) = bare {
        let len_bytes = file.stream_position()?.saturating_sub(HEADER_LEN_BYTES);
        file.seek(SeekFrom::Start(0))?;
        file.write_all(&header(bare, len_bytes))?;
    }
    file.flush()
}

/// The header of a WAV file with `len_bytes` of samples. Where they are too many for its 32 bits it says the
/// most it can, and readers go by the length of the file.
fn header(BareSamples { rate_hz, channels }: BareSamples, len_bytes: u64) -> Vec<u8> {
    let frame_len_bytes = channels.saturating_mul(SAMPLE_LEN_BYTES);
    let len = u32::try_from(len_bytes).unwrap_or(u32::MAX);
    let mut header = Vec::new();
    header.extend_from_slice(b"RIFF");
    header.extend_from_slice(&len.saturating_add(36).to_le_bytes());
    header.extend_from_slice(b"WAVEfmt ");
    header.extend_from_slice(&16_u32.to_le_bytes());
    header.extend_from_slice(&1_u16.to_le_bytes());
    header.extend_from_slice(&channels.to_le_bytes());
    header.extend_from_slice(&rate_hz.to_le_bytes());
    header.extend_from_slice(&rate_hz.saturating_mul(u32::from(frame_len_bytes)).to_le_bytes());
    header.extend_from_slice(&frame_len_bytes.to_le_bytes());
    header.extend_from_slice(&(8 * SAMPLE_LEN_BYTES).to_le_bytes());
    header.extend_from_slice(b"data");
    header.extend_from_slice(&len.to_le_bytes());
    header
}

#[cfg(test)]
mod tests {
    use ambient_capture::audio::AudioFile;

    use super::*;

    fn stored(bytes: &[u8], bare: Option<BareSamples>) -> NamedTempFile {
        let mut file = tempfile::Builder::new().suffix(".wav").tempfile().unwrap();
        store(&mut &*bytes, &mut file, bare, &AtomicBool::new(false)).unwrap();
        file
    }

    #[test]
    fn bare_samples_become_a_file_that_every_reader_knows() {
        // Two channels: the left rests, the right one does not.
        let samples: Vec<u8> =
            (0..16_000_i16).flat_map(|at| [0, at % 1_000]).flat_map(i16::to_le_bytes).collect();
        let file = stored(&samples, Some(BareSamples { rate_hz: 16_000, channels: 2 }));
        let mut audio = AudioFile::open(file.path()).unwrap();
        assert_eq!((audio.rate_hz(), audio.channels()), (16_000, 2));
        assert!(!audio.damage().header_overridden);
        let mut count = 0;
        while let Some(block) = audio.next_block().unwrap() {
            count += block.len();
        }
        assert_eq!(count, 16_000);
        let mut left = AudioFile::open_channel(file.path(), 0).unwrap();
        assert!(left.next_block().unwrap().unwrap().iter().all(|sample| *sample == 0.0));
    }

    #[test]
    fn what_has_a_header_of_its_own_is_stored_as_it_came() {
        let file = stored(b"RIFF and so on", None);
        assert_eq!(std::fs::read(file.path()).unwrap(), b"RIFF and so on");
    }
}
