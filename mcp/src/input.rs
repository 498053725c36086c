//! Lines of bytes from the client, none of them held beyond a limit.
//!
//! Bytes and not text, because a line in another encoding costs that line and not the connection.

use std::io::{self, BufRead};

/// The longest line that is read, in bytes without its end; a longer one is refused and passed over.
pub const MAX_LINE_BYTES: usize = 1 << 20;

/// What came up to the next end of line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum InputLine {
    /// The bytes of a line, without its end; the last one needs no end.
    Bytes(Vec<u8>),
    /// A line beyond the limit; all of it has been passed over.
    TooLong,
}

/// The next line of `reader`; `None` at its end.
pub(crate) fn read_line<R: BufRead>(reader: &mut R) -> io::Result<Option<InputLine>> {
    let mut line = Vec::new();
    let mut has_begun = false;
    let mut is_too_long = false;
    loop {
        let available = match reader.fill_buf() {
            Ok(available) => available,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let at_end = available.is_empty();
        let (piece, has_end) = match available.iter().position(|&byte| byte == b'\n') {
            Some(end) => (&available[..end], true),
            None => (available, at_end),
        };
        has_begun |= !at_end;
        if line.len() + piece.len() > MAX_LINE_BYTES {
            is_too_long = true;
            line = Vec::new();
        }
        if !is_too_long {
            line.extend_from_slice(piece);
        }
        let taken = piece.len() + usize::from(has_end && !at_end);
        reader.consume(taken);
        if has_end {
            let whole = if is_too_long { InputLine::TooLong } else { InputLine::Bytes(line) };
            return Ok(has_begun.then_some(whole));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use proptest::prelude::*;

    use super::*;

    fn all_lines(bytes: &[u8], buffer_len: usize) -> Vec<InputLine> {
        let mut reader = BufReader::with_capacity(buffer_len, bytes);
        std::iter::from_fn(|| read_line(&mut reader).unwrap()).collect()
    }

    proptest! {
        #[test]
        fn lines_are_what_stands_between_line_ends(
            bytes in prop::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..200),
            buffer_len in 1usize..40,
        ) {
            let mut expected: Vec<_> =
                bytes.split(|&byte| byte == b'\n').map(|line| InputLine::Bytes(line.to_vec())).collect();
            if bytes.is_empty() || bytes.ends_with(b"\n") {
                expected.pop();
            }
            prop_assert_eq!(all_lines(&bytes, buffer_len), expected);
        }
    }

    #[test]
    fn the_limit_is_exact_and_costs_only_the_line_that_breaks_it() {
        let mut bytes = vec![b'x'; MAX_LINE_BYTES];
        bytes.push(b'\n');
        bytes.extend(vec![b'y'; MAX_LINE_BYTES + 1]);
        bytes.extend(b"\nafter\n");
        bytes.extend(vec![b'z'; 3 * MAX_LINE_BYTES]);
        let lines = all_lines(&bytes, 8192);
        assert_eq!(lines.len(), 4);
        assert_eq!(lines[0], InputLine::Bytes(vec![b'x'; MAX_LINE_BYTES]));
        assert_eq!(lines[1], InputLine::TooLong);
        assert_eq!(lines[2], InputLine::Bytes(b"after".to_vec()));
        assert_eq!(lines[3], InputLine::TooLong);
    }
}
