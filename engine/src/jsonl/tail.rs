//! A growing file of lines, read from where the last reading stopped.
//!
//! Only what ends in a newline counts: what comes after the last one is still being written, or was torn
//! by a death, and is looked at again next time. A line too long to be one is dropped without being held
//! in memory. Reading costs what is new, and one look at the last of what was read: a file that was cut
//! and has grown again is another one, though its name and inode are the same.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};

/// A longer line is damage: no turn of speech has 16 MiB.
pub(crate) const LINE_LEN_MAX_BYTES: usize = 16 << 20;
/// Bytes asked for at once.
const CHUNK_LEN_BYTES: usize = 256 << 10;
/// By so many bytes a file is recognised, or by its whole last line when that is longer, but by no more
/// than the maximum.
const MARK_LEN_MIN_BYTES: usize = 4 << 10;
const MARK_LEN_MAX_BYTES: usize = 64 << 10;

/// Where reading stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tail {
    /// Device and inode of the file; another file under the same name is read from its start.
    identity: Option<(u64, u64)>,
    /// Byte after the last newline that was read.
    offset: u64,
    /// Newlines that were read.
    lines: u64,
    /// The bytes before the offset as they were read: at least the last line, unless it is very long.
    mark: Vec<u8>,
}

/// One line, without its newline.
pub(crate) enum RawLine<'a> {
    /// Its bytes.
    Whole(&'a [u8]),
    /// More than [`LINE_LEN_MAX_BYTES`], not kept: where it begins, and its length with the newline.
    TooLong { offset: u64, len_bytes: u64 },
}

/// A line of which the end has not been met yet.
#[derive(Default)]
struct Begun {
    bytes: Vec<u8>,
    is_too_long: bool,
}

impl Begun {
    fn add(&mut self, part: &[u8]) {
        self.is_too_long |= self.bytes.len() + part.len() > LINE_LEN_MAX_BYTES;
        if self.is_too_long {
            self.bytes = Vec::new();
        } else {
            self.bytes.extend_from_slice(part);
        }
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.is_too_long = false;
    }
}

impl Tail {
    /// Byte after the last newline that was read.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Whether `file` is not the one read before, or has lost or changed what was read last.
    pub(crate) fn is_other(&self, file: &File) -> io::Result<bool> {
        let metadata = file.metadata()?;
        let identity = (metadata.dev(), metadata.ino());
        if self.identity.is_some_and(|known| known != identity) || metadata.len() < self.offset {
            return Ok(true);
        }
        let mut found = vec![0; self.mark.len()];
        match file.read_exact_at(&mut found, self.offset - self.mark.len() as u64) {
            Ok(()) => Ok(found != self.mark),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Hands every line that has been completed since last time to `each`, with its number from 1.
    /// After an error of either this says nothing any more.
    pub(crate) fn read<E: From<io::Error>>(
        &mut self,
        file: &File,
        mut each: impl FnMut(u64, RawLine<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let metadata = file.metadata()?;
        self.identity = Some((metadata.dev(), metadata.ino()));
        // What is appended while this runs is for the next time, so that a fast writer cannot keep us here.
        let end = metadata.len();
        let mut chunk = vec![0; CHUNK_LEN_BYTES];
        let mut begun = Begun::default();
        let mut mark_len_bytes = self.mark.len();
        let mut position = self.offset;
        while position < end {
            let wanted = usize::try_from(end - position).unwrap_or(usize::MAX).min(chunk.len());
            let len_bytes = match file.read_at(&mut chunk[..wanted], position) {
                Ok(0) => break,
                Ok(len_bytes) => len_bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.into()),
            };
            let mut rest = &chunk[..len_bytes];
            while let Some(at) = rest.iter().position(|byte| *byte == b'\n') {
                let last_part = &rest[..at];
                mark_len_bytes = self.mark_line(&begun, &rest[..=at]);
                rest = &rest[at + 1..];
                let offset = self.offset;
                self.offset = position + (len_bytes - rest.len()) as u64;
                self.lines += 1;
                if begun.bytes.is_empty() && !begun.is_too_long {
                    each(self.lines, RawLine::Whole(last_part))?;
                } else {
                    begun.add(last_part);
                    let line = if begun.is_too_long {
                        RawLine::TooLong { offset, len_bytes: self.offset - offset }
                    } else {
                        RawLine::Whole(&begun.bytes)
                    };
                    each(self.lines, line)?;
                }
                begun.clear();
            }
            begun.add(rest);
            position += len_bytes as u64;
        }
        self.mark.drain(..self.mark.len().saturating_sub(mark_len_bytes));
        Ok(())
    }

    /// Adds a line to the mark: what was kept of its beginning, and its last part with the newline. Gives
    /// how much of the mark counts; more is cut off now and then, so that each line costs its own length.
    fn mark_line(&mut self, begun: &Begun, last_part: &[u8]) -> usize {
        if begun.is_too_long {
            // There is a hole before the last part.
            self.mark.clear();
        }
        let last_of = |bytes: &[u8]| bytes.len().saturating_sub(MARK_LEN_MAX_BYTES);
        self.mark.extend_from_slice(&begun.bytes[last_of(&begun.bytes)..]);
        self.mark.extend_from_slice(&last_part[last_of(last_part)..]);
        let line_len_bytes = begun.bytes.len() + last_part.len();
        let counts = line_len_bytes.clamp(MARK_LEN_MIN_BYTES, MARK_LEN_MAX_BYTES).min(self.mark.len());
        if self.mark.len() > 4 * MARK_LEN_MAX_BYTES {
            self.mark.drain(..self.mark.len() - counts);
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;

    fn lines_of(tail: &mut Tail, file: &File) -> Vec<(u64, Option<Vec<u8>>)> {
        let mut lines = Vec::new();
        tail.read::<io::Error>(file, |number, line| {
            lines.push((
                number,
                match line {
                    RawLine::Whole(bytes) => Some(bytes.to_vec()),
                    RawLine::TooLong { .. } => None,
                },
            ));
            Ok(())
        })
        .unwrap();
        lines
    }

    #[test]
    fn a_line_counts_once_its_newline_is_there() {
        let mut file = tempfile::tempfile().unwrap();
        let mut tail = Tail::default();
        file.write_all(b"one\ntw").unwrap();
        assert_eq!(lines_of(&mut tail, &file), [(1, Some(b"one".to_vec()))]);
        assert_eq!(lines_of(&mut tail, &file), []);
        file.write_all(b"o\n").unwrap();
        assert_eq!(lines_of(&mut tail, &file), [(2, Some(b"two".to_vec()))]);
    }

    #[test]
    fn a_line_too_long_costs_itself_only() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"a\n").unwrap();
        let chunk = vec![b'x'; 1 << 20];
        for _ in 0..17 {
            file.write_all(&chunk).unwrap();
        }
        file.write_all(b"\nb\n").unwrap();
        let lines = lines_of(&mut Tail::default(), &file);
        assert_eq!(lines, [(1, Some(b"a".to_vec())), (2, None), (3, Some(b"b".to_vec()))]);
    }

    #[test]
    fn a_shortened_file_is_another_one() {
        let mut file = tempfile::tempfile().unwrap();
        let mut tail = Tail::default();
        file.write_all(b"one\ntwo\n").unwrap();
        lines_of(&mut tail, &file);
        assert!(!tail.is_other(&file).unwrap());
        file.set_len(4).unwrap();
        assert!(tail.is_other(&file).unwrap());
    }

    proptest! {
        #[test]
        fn reading_in_steps_gives_what_reading_at_once_gives(
            steps in proptest::collection::vec(proptest::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..40), 0..12)
        ) {
            let mut file = tempfile::tempfile().unwrap();
            let mut tail = Tail::default();
            let mut stepwise = Vec::new();
            for step in &steps {
                file.write_all(step).unwrap();
                stepwise.extend(lines_of(&mut tail, &file));
            }
            let whole = steps.concat();
            let complete = whole.iter().rposition(|byte| *byte == b'\n').map_or(&[][..], |at| &whole[..at]);
            let expected: Vec<_> = if whole.contains(&b'\n') {
                complete.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
            } else {
                Vec::new()
            };
            let got: Vec<_> = stepwise.into_iter().filter_map(|(_, line)| line).collect();
            prop_assert_eq!(got, expected);
        }
    }
}
