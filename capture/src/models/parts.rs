//! A file that may lie in several parts, read by position as if it were one.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// The parts of one file, in order.
#[derive(Debug)]
pub struct Parts {
    /// Each with the position of its first byte in the whole.
    files: Vec<(u64, File)>,
    len_bytes: u64,
    name: PathBuf,
}

impl Parts {
    /// Opens every part.
    ///
    /// # Errors
    /// When one cannot be opened or is no regular file; the error names it.
    pub fn open<P: AsRef<Path>>(paths: &[P]) -> io::Result<Self> {
        let mut files = Vec::new();
        let mut len_bytes = 0_u64;
        for path in paths.iter().map(AsRef::as_ref) {
            let named = |e: io::Error| io::Error::new(e.kind(), format!("{}: {e}", path.display()));
            // Asked before opening: opening a FIFO would wait for a writer.
            if !std::fs::metadata(path).map_err(named)?.is_file() {
                return Err(named(io::Error::other("not a regular file")));
            }
            let file = File::open(path).map_err(named)?;
            let len = file.metadata().map_err(named)?.len();
            files.push((len_bytes, file));
            len_bytes = len_bytes.saturating_add(len);
        }
        let name = paths.first().map(|p| p.as_ref().to_owned()).unwrap_or_default();
        Ok(Self { files, len_bytes, name })
    }

    /// The first part's path: what errors call the file.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// Length of the whole when it was opened, in bytes.
    pub fn len_bytes(&self) -> u64 {
        self.len_bytes
    }

    /// Fills `buffer` with the bytes from `position` on.
    ///
    /// # Errors
    /// `UnexpectedEof` where the file ends first; otherwise what the system reports.
    pub fn read_exact_at(&self, mut buffer: &mut [u8], mut position: u64) -> io::Result<()> {
        while !buffer.is_empty() {
            let after = self.files.partition_point(|(start, _)| *start <= position);
            let Some((start, file)) = after.checked_sub(1).and_then(|i| self.files.get(i)) else {
                return Err(io::ErrorKind::UnexpectedEof.into());
            };
            let end = self.files.get(after).map_or(self.len_bytes, |(next, _)| *next);
            let here = usize::try_from(end.saturating_sub(position)).unwrap_or(usize::MAX).min(buffer.len());
            if here == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let (now, later) = std::mem::take(&mut buffer).split_at_mut(here);
            file.read_exact_at(now, position - start)?;
            position += here as u64;
            buffer = later;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_goes_across_the_seams_and_past_empty_parts() {
        let dir = tempfile::tempdir().unwrap();
        let paths: Vec<_> = [&b"abc"[..], b"", b"defg"]
            .iter()
            .enumerate()
            .map(|(i, bytes)| {
                let path = dir.path().join(i.to_string());
                std::fs::write(&path, bytes).unwrap();
                path
            })
            .collect();
        let parts = Parts::open(&paths).unwrap();
        assert_eq!(parts.len_bytes(), 7);
        for from in 0..=7_usize {
            for to in from..=7 {
                let mut buffer = vec![0; to - from];
                parts.read_exact_at(&mut buffer, from as u64).unwrap();
                assert_eq!(buffer, b"abcdefg"[from..to]);
            }
        }
        assert!(parts.read_exact_at(&mut [0; 2], 6).is_err());
        assert!(parts.read_exact_at(&mut [0; 1], u64::MAX).is_err());
    }

    #[test]
    fn a_missing_part_is_named() {
        let error = Parts::open(&["/nonexistent/model.bin.part2"]).unwrap_err();
        assert!(error.to_string().contains("part2"));
    }
}
