//! A WAV file's header taken for what it is: a claim that the file's length overrides.
//!
//! A recorder that was killed leaves sizes of 0, or those of its last update; a stream converter leaves
//! the largest number there is; a file over 4 GiB is RF64, whose 32-bit sizes mean nothing. In all these
//! cases the samples are there. The view given here is the same file with those few header bytes
//! replaced, so that a decoder reads to where the samples really end.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use symphonia::core::io::MediaSource;

/// What a size field holds when the size is unknown: the decoder then reads to the end of the file.
const UNKNOWN_SIZE: [u8; 4] = [0xff; 4];

/// Chunks that may stand behind the samples.
const CHUNKS_AFTER_SAMPLES: [&[u8; 4]; 18] = [
    b"LIST", b"list", b"id3 ", b"ID3 ", b"bext", b"cue ", b"fact", b"JUNK", b"junk", b"PAD ", b"_PMX",
    b"iXML", b"smpl", b"inst", b"afsp", b"PEAK", b"axml", b"FLLR",
];

/// Chunks looked at before the search for the samples is given up.
const CHUNKS_MAX: usize = 64;

/// A file, read with some of its header bytes replaced.
pub(super) struct RepairedFile {
    file: File,
    position: u64,
    len_bytes: u64,
    replacements: Vec<(u64, [u8; 4])>,
}

impl RepairedFile {
    /// Looks at the header and decides what must be replaced: nothing, for a file that is not WAV or
    /// whose sizes are right.
    pub(super) fn new(mut file: File) -> io::Result<Self> {
        let len_bytes = file.metadata()?.len();
        let replacements = replacements(&mut file, len_bytes)?;
        file.seek(SeekFrom::Start(0))?;
        Ok(Self { file, position: 0, len_bytes, replacements })
    }

    /// Whether the header had to be overridden.
    pub(super) fn is_repaired(&self) -> bool {
        !self.replacements.is_empty()
    }
}

/// The four-byte fields to replace, by their offset in the file.
fn replacements(file: &mut File, len_bytes: u64) -> io::Result<Vec<(u64, [u8; 4])>> {
    let Some(riff) = read_array::<12>(file, 0)? else { return Ok(Vec::new()) };
    let is_rf64 = riff.starts_with(b"RF64") || riff.starts_with(b"BW64");
    if !(is_rf64 || riff.starts_with(b"RIFF")) || !riff.ends_with(b"WAVE") {
        return Ok(Vec::new());
    }
    let mut at = 12;
    for _ in 0..CHUNKS_MAX {
        let Some(chunk) = read_array::<8>(file, at)? else { break };
        let size = u32::from_le_bytes([chunk[4], chunk[5], chunk[6], chunk[7]]);
        let body = at + 8;
        if chunk.starts_with(b"data") {
            let end = body + u64::from(size);
            let is_right = !is_rf64 && end <= len_bytes && is_chunk_boundary(file, end, len_bytes)?;
            let covered = u64::from(u32::from_le_bytes([riff[4], riff[5], riff[6], riff[7]])) + 8;
            if is_right && covered >= end {
                return Ok(Vec::new());
            }
            let data_size = if is_right { size.to_le_bytes() } else { UNKNOWN_SIZE };
            return Ok(vec![(0, *b"RIFF"), (4, UNKNOWN_SIZE), (at + 4, data_size)]);
        }
        at = body + u64::from(size) + u64::from(size % 2);
    }
    Ok(Vec::new())
}

/// Whether the file ends or a chunk of metadata begins at `end`; if not, the size that led here is stale.
fn is_chunk_boundary(file: &mut File, end: u64, len_bytes: u64) -> io::Result<bool> {
    let end = end + end % 2;
    if end >= len_bytes {
        return Ok(true);
    }
    let name = read_array::<4>(file, end)?;
    Ok(name.is_some_and(|name| CHUNKS_AFTER_SAMPLES.contains(&&name)))
}

/// `N` bytes at `at`, or none when the file ends before.
fn read_array<const N: usize>(file: &mut File, at: u64) -> io::Result<Option<[u8; N]>> {
    let mut bytes = [0; N];
    file.seek(SeekFrom::Start(at))?;
    match file.read_exact(&mut bytes) {
        Ok(()) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

impl Read for RepairedFile {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let start = self.position;
        let len = self.file.read(into)?;
        let end = start + len as u64;
        for (offset, bytes) in &self.replacements {
            for (index, byte) in (*offset..).zip(bytes).filter(|(index, _)| (start..end).contains(index)) {
                let place = usize::try_from(index - start).unwrap_or(usize::MAX);
                if let Some(target) = into.get_mut(place) {
                    *target = *byte;
                }
            }
        }
        self.position = end;
        Ok(len)
    }
}

impl Seek for RepairedFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.position = self.file.seek(to)?;
        Ok(self.position)
    }
}

impl MediaSource for RepairedFile {
    fn is_seekable(&self) -> bool {
        true
    }

    fn byte_len(&self) -> Option<u64> {
        Some(self.len_bytes)
    }
}
