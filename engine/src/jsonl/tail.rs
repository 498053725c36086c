//! A growing file of lines, read from where the last reading stopped.
//!
//! Only what ends in a newline counts: what comes after the last one is still being written, or was torn
//! by a death, and is looked at again next time. A line too long to be one is dropped without being held
//! in memory. Reading costs what is new.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};

/// A longer line is damage: no turn of speech has 16 MiB.
pub(crate) const LINE_LEN_MAX_BYTES: usize = 16 << 20;
/// Bytes asked for at once.
const CHUNK_LEN_BYTES: usize = 256 << 10;

/// Where reading stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tail {
    /// Device and inode of the file; another file under the same name is read from its start.
    identity: Option<(u64, u64)>,
    /// Byte after the last newline that was read.
    offset: u64,
    /// Newlines that were read.
    lines: u64,
}

/// One line, without its newline.
pub(crate) enum RawLine<'a> {
    /// Its bytes.
    Whole(&'a [u8]),
    /// More than [`LINE_LEN_MAX_BYTES`], not kept.
    TooLong,
}

impl Tail {
    /// Whether `file` is not the one read before, or has lost bytes that were read.
    pub(crate) fn is_other(&self, file: &File) -> io::Result<bool> {
        let metadata = file.metadata()?;
        let identity = (metadata.dev(), metadata.ino());
        Ok(self.identity.is_some_and(|known| known != identity) || metadata.len() < self.offset)
    }

    /// Hands every line that has been completed since last time to `each`, with its number from 1.
    pub(crate) fn read(&mut self, file: &File, mut each: impl FnMut(u64, RawLine<'_>)) -> io::Result<()> {
        let metadata = file.metadata()?;
        self.identity = Some((metadata.dev(), metadata.ino()));
        // What is appended while this runs is for the next time, so that a fast writer cannot keep us here.
        let end = metadata.len();
        let mut chunk = vec![0; CHUNK_LEN_BYTES];
        let mut begun = Vec::new();
        let mut is_too_long = false;
        let mut position = self.offset;
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
                let (last_part, after) = (&rest[..at], &rest[at + 1..]);
                is_too_long |= begun.len() + last_part.len() > LINE_LEN_MAX_BYTES;
                self.lines += 1;
                if is_too_long {
                    each(self.lines, RawLine::TooLong);
                } else if begun.is_empty() {
                    each(self.lines, RawLine::Whole(last_part));
                } else {
                    begun.extend_from_slice(last_part);
                    each(self.lines, RawLine::Whole(&begun));
                }
                begun.clear();
                is_too_long = false;
                rest = after;
                self.offset = position + (len_bytes - rest.len()) as u64;
            }
            is_too_long |= begun.len() + rest.len() > LINE_LEN_MAX_BYTES;
            if is_too_long {
                begun = Vec::new();
            } else {
                begun.extend_from_slice(rest);
            }
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
