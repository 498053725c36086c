//! The tokens of a model as bytes.
//!
//! A vocabulary file spells each byte of a token as one printable character (the scheme of GPT-2: printable bytes
//! stand for themselves, the others are moved up to U+0100 and on, in order). Undoing that gives the bytes ggml
//! wants. CTranslate2 writes `vocabulary.txt`, a token a line, or `vocabulary.json`, a list.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// The longest vocabulary file that is read: the real ones have 0.5 MB to 1.1 MB.
const CEILING_BYTES: u64 = 16 << 20;

/// What can be wrong with a vocabulary file.
#[derive(Debug, thiserror::Error)]
pub enum VocabularyError {
    /// It cannot be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is no vocabulary.
    #[error("{}: {what}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong and on which line.
        what: String,
    },
}

/// Reads a vocabulary file: the spelling of every token, in order of their numbers.
///
/// # Errors
/// When the file cannot be read, is over 16 MiB, or is not text (`.txt`) or a JSON list of strings (`.json`).
pub fn read(path: &Path) -> Result<Vec<String>, VocabularyError> {
    let io = |source| VocabularyError::Io { path: path.to_owned(), source };
    let invalid = |what| VocabularyError::Invalid { path: path.to_owned(), what };
    let metadata = fs::metadata(path).map_err(io)?;
    if !metadata.is_file() || metadata.len() > CEILING_BYTES {
        return Err(invalid(format!("not a file of at most {CEILING_BYTES} bytes")));
    }
    let text = fs::read_to_string(path).map_err(io)?;
    if path.extension().is_some_and(|e| e == "json") {
        return serde_json::from_str(&text).map_err(|e| invalid(format!("not a JSON list of tokens: {e}")));
    }
    Ok(text.strip_suffix('\n').unwrap_or(&text).split('\n').map(str::to_owned).collect())
}

/// The bytes of the first `count` tokens.
///
/// # Errors
/// A sentence that names the first token which is missing or holds a character outside the byte alphabet.
///
/// ```
/// let spelled = ["Ġthe".to_owned()];
/// let bytes = ambient_capture::models::ct2::vocabulary::bytes_of(&spelled, 1).unwrap();
/// assert_eq!(bytes, [b" the"]);
/// ```
pub fn bytes_of(spelled: &[String], count: usize) -> Result<Vec<Vec<u8>>, String> {
    let Some(wanted) = spelled.get(..count) else {
        return Err(format!("only {} tokens, where {count} are needed", spelled.len()));
    };
    let alphabet = alphabet();
    let byte_of = |c: char| alphabet.iter().position(|a| *a == c).and_then(|at| u8::try_from(at).ok());
    let bytes = wanted.iter().enumerate().map(|(number, token)| {
        token.chars().map(|c| byte_of(c).ok_or((number, c))).collect::<Result<Vec<u8>, _>>()
    });
    bytes
        .collect::<Result<_, _>>()
        .map_err(|(number, c)| format!("token {number} holds {c:?}, which spells no byte"))
}

/// The character each byte is spelled as.
fn alphabet() -> [char; 256] {
    let mut alphabet = ['\0'; 256];
    let mut moved = 256_u32;
    for byte in 0..=u8::MAX {
        let own = matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
        alphabet[usize::from(byte)] = if own {
            char::from(byte)
        } else {
            moved += 1;
            char::from_u32(moved - 1).unwrap_or('\0')
        };
    }
    alphabet
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_a_character_of_its_own() {
        let mut letters = alphabet().to_vec();
        letters.sort_unstable();
        letters.dedup();
        assert_eq!(letters.len(), 256);
        assert!(letters.iter().all(|c| !c.is_whitespace() && !c.is_control()));
    }

    #[test]
    fn a_newline_and_a_space_come_out_of_their_stand_ins() {
        let spelled = ["Ċ".to_owned(), "aĠb".to_owned(), String::new()];
        assert_eq!(bytes_of(&spelled, 3).unwrap(), [b"\n".to_vec(), b"a b".to_vec(), Vec::new()]);
    }

    #[test]
    fn a_foreign_character_is_named_with_its_token() {
        let message = bytes_of(&["a".to_owned(), "b\r".to_owned()], 2).unwrap_err();
        assert!(message.contains("token 1") && message.contains("\\r"), "{message}");
    }

    #[test]
    fn text_and_json_read_alike_and_the_empty_token_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let (text, json) = (dir.path().join("vocabulary.txt"), dir.path().join("vocabulary.json"));
        fs::write(&text, "a\n\nb\n").unwrap();
        fs::write(&json, r#"["a", "", "b"]"#).unwrap();
        assert_eq!(read(&text).unwrap(), ["a", "", "b"]);
        assert_eq!(read(&json).unwrap(), read(&text).unwrap());
    }

    #[test]
    fn what_is_no_vocabulary_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("vocabulary.json");
        assert!(matches!(read(&path), Err(VocabularyError::Io { .. })));
        fs::write(&path, "{}").unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("list of tokens"));
        assert!(read(dir.path()).is_err());
    }
}
