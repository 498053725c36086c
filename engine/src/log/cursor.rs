//! Where a reader stopped, in a form it can keep.
//!
//! A cursor names a frame by its position and its checksum. It is valid exactly when that frame is there;
//! anything else is a lost cursor, never another line.

use std::fmt;
use std::str::FromStr;

use super::error::ReadError;
use crate::format::SessionUuid;

/// The place behind the last frame that was read.
///
/// Its text form is 56 hexadecimal digits and means nothing to anyone but the log it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    pub(crate) uuid: SessionUuid,
    pub(crate) position: u64,
    pub(crate) crc: u32,
}

const TEXT_LEN: usize = 56;

impl fmt::Display for Cursor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:032x}{:016x}{:08x}", u128::from_be_bytes(self.uuid), self.position, self.crc)
    }
}

impl FromStr for Cursor {
    type Err = ReadError;

    fn from_str(text: &str) -> Result<Self, ReadError> {
        let malformed = || ReadError::CursorLost("it is not a cursor");
        if text.len() != TEXT_LEN || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(malformed());
        }
        let number =
            |from: usize, to: usize| u128::from_str_radix(&text[from..to], 16).map_err(|_| malformed());
        Ok(Self {
            uuid: number(0, 32)?.to_be_bytes(),
            position: u64::try_from(number(32, 48)?).map_err(|_| malformed())?,
            crc: u32::try_from(number(48, TEXT_LEN)?).map_err(|_| malformed())?,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_cursor_survives_its_text_form(uuid: [u8; 16], position: u64, crc: u32) {
            let cursor = Cursor { uuid, position, crc };
            prop_assert_eq!(cursor.to_string().parse::<Cursor>().unwrap(), cursor);
        }

        #[test]
        fn any_text_is_judged_without_a_panic(text: String) {
            let _ = text.parse::<Cursor>();
        }
    }
}
