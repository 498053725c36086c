//! A growing file of lines, read from where the last reading stopped.
//!
//! Only what ends in a newline counts: what comes after the last one is still being written, or was torn
//! by a death, and is looked at again next time. A line too long to be one is dropped without being held
//! in memory. Reading costs what is new, and one look at the last line that was read: a file that was cut
//! and has grown again is another one, though its name and inode are the same.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};

/// A longer line is damage: no turn of speech has 16 MiB.
pub(crate) const LINE_LEN_MAX_BYTES: usize = 16 << 20;
/// Bytes asked for at once.
const CHUNK_LEN_BYTES: usize = 256 << 10;
/// Of a line that is recognised again this much is looked at, from its beginning.
const MARK_LEN_MAX_BYTES: usize = 64 << 10;

/// Where reading stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tail {
    /// Device and inode of the file; another file under the same name is read from its start.
    identity: Option<(u64, u64)>,
    /// Byte after the last newline that was read.
    offset: u64,
    /// Newlines that were read.
    lines: u64,
    /// The last line that was read; none before the first.
    last_line: Option<LineMark>,
}

/// By what a line is recognised where it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LineMark {
    offset: u64,
    len_bytes: usize,
    crc: u32,
}

/// One line, without its newline.
pub(crate) enum RawLine<'a> {
    /// Its bytes.
    Whole(&'a [u8]),
    /// More than [`LINE_LEN_MAX_BYTES`], not kept.
    TooLong,
}

/// A line of which the end has not been met yet.
struct Begun {
    offset: u64,
    bytes: Vec<u8>,
    is_too_long: bool,
    marked_len_bytes: usize,
    mark: crc32fast::Hasher,
}

impl Begun {
    fn at(offset: u64) -> Self {
        let mark = crc32fast::Hasher::new();
        Self { offset, bytes: Vec::new(), is_too_long: false, marked_len_bytes: 0, mark }
    }

    /// Looks at the next part of the line; its bytes are kept unless it is the whole line, or too long.
    fn note(&mut self, part: &[u8]) {
        let to_mark = &part[..part.len().min(MARK_LEN_MAX_BYTES - self.marked_len_bytes)];
        self.mark.update(to_mark);
        self.marked_len_bytes += to_mark.len();
        self.is_too_long |= self.bytes.len() + part.len() > LINE_LEN_MAX_BYTES;
        if self.is_too_long {
            self.bytes = Vec::new();
        }
    }

    fn keep(&mut self, part: &[u8]) {
        self.note(part);
        if !self.is_too_long {
            self.bytes.extend_from_slice(part);
        }
    }

    /// The line, of which `part` is the last.
    fn whole<'a>(&'a mut self, part: &'a [u8]) -> RawLine<'a> {
        self.note(part);
        if self.is_too_long {
            RawLine::TooLong
        } else if self.bytes.is_empty() {
            RawLine::Whole(part)
        } else {
            self.bytes.extend_from_slice(part);
            RawLine::Whole(&self.bytes)
        }
    }

    fn into_mark(self) -> LineMark {
        LineMark { offset: self.offset, len_bytes: self.marked_len_bytes, crc: self.mark.finalize() }
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
        let Some(mark) = self.last_line else { return Ok(false) };
        let mut bytes = vec![0; mark.len_bytes + 1];
        // With the newline behind it, where all of it is looked at.
        let ends_here = mark.offset + mark.len_bytes as u64 + 1 == self.offset;
        let wanted = mark.len_bytes + usize::from(ends_here);
        match file.read_exact_at(&mut bytes[..wanted], mark.offset) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(true),
            Err(error) => return Err(error),
        }
        let is_changed = crc32fast::hash(&bytes[..mark.len_bytes]) != mark.crc;
        Ok(is_changed || (ends_here && bytes[mark.len_bytes] != b'\n'))
    }

    /// Hands every line that has been completed since last time to `each`, with its number from 1.
    pub(crate) fn read(&mut self, file: &File, mut each: impl FnMut(u64, RawLine<'_>)) -> io::Result<()> {
        let metadata = file.metadata()?;
        self.identity = Some((metadata.dev(), metadata.ino()));
        // What is appended while this runs is for the next time, so that a fast writer cannot keep us here.
        let end = metadata.len();
        let mut chunk = vec![0; CHUNK_LEN_BYTES];
        let mut position = self.offset;
        let mut begun = Begun::at(position);
        while position < end {
            let wanted = usize::try_from(end - position).unwrap_or(usize::MAX).min(chunk.len());
            let len_bytes = match file.read_at(&mut chunk[..wanted], position) {
                Ok(0) => break,
                Ok(len_bytes) => len_bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let mut rest = &chunk[..len_bytes];
            while let Some(at) = rest.iter().position(|byte| *byte == b'\n') {
                let last_part = &rest[..at];
                rest = &rest[at + 1..];
                self.offset = position + (len_bytes - rest.len()) as u64;
                self.lines += 1;
                each(self.lines, begun.whole(last_part));
                let line = std::mem::replace(&mut begun, Begun::at(self.offset));
                self.last_line = Some(line.into_mark());
            }
            begun.keep(rest);
            position += len_bytes as u64;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;

    fn lines_of(tail: &mut Tail, file: &File) -> Vec<(u64, Option<Vec<u8>>)> {
        let mut lines = Vec::new();
        tail.read(file, |number, line| {
            lines.push((
                number,
                match line {
                    RawLine::Whole(bytes) => Some(bytes.to_vec()),
                    RawLine::TooLong => None,
                },
            ));
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
