//! The directory of a CTranslate2 model file: which variables it holds, and where.
//!
//! Nothing of a variable's data is read here, and no length is believed before it is compared with the file:
//! a hostile file costs a named error, not memory.
//!
//! ```text
//! u32 version (6) | text specification | u32 revision | u32 variables
//! per variable: text name | u8 rank | rank x u32 | u8 element type | u32 length in bytes | data
//! u32 aliases, each: text alias | text variable
//! ```
//! A text is a u16 length, the bytes, and a NUL that the length counts. All is little endian.

use super::parts::Parts;
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;

/// Version of the file layout that is read.
const VERSION: u32 = 6;
/// More variables or aliases than this no Whisper model has; large-v3 has under 3000.
const MOST_VARIABLES: u32 = 32_768;
/// Dimensions a variable may have.
const MOST_DIMENSIONS: u8 = 8;

/// What can be wrong with a model file.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be read, or ends in the middle of something.
    #[error("{}: cannot read {what} at byte {position}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What stands there.
        what: &'static str,
        /// Where.
        position: u64,
        /// What the system said.
        source: io::Error,
    },
    /// The bytes make no sense.
    #[error("{}: at byte {position}: {what}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Where.
        position: u64,
        /// What is wrong.
        what: String,
    },
}

/// How the numbers of a variable are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// 32-bit floats.
    F32,
    /// 8-bit integers.
    I8,
    /// 16-bit integers.
    I16,
    /// 32-bit integers.
    I32,
    /// 16-bit floats.
    F16,
    /// Brain floats, 16 bits.
    Bf16,
}

impl Element {
    fn numbered(number: u8) -> Option<Self> {
        [Self::F32, Self::I8, Self::I16, Self::I32, Self::F16, Self::Bf16].get(usize::from(number)).copied()
    }

    /// Size of one number in bytes.
    pub fn size_bytes(self) -> u64 {
        match self {
            Self::F32 | Self::I32 => 4,
            Self::I16 | Self::F16 | Self::Bf16 => 2,
            Self::I8 => 1,
        }
    }
}

/// One variable of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Dimensions, outermost first; none for a single number.
    pub dimensions: Vec<u32>,
    /// How its numbers are stored.
    pub element: Element,
    /// Where its data begin in the file.
    pub position: u64,
    /// How long they are.
    pub len_bytes: u64,
}

/// A model file, opened, with its directory.
#[derive(Debug)]
pub struct Checkpoint {
    /// The file.
    pub parts: Parts,
    /// What it holds, by name; an alias is a second name for the same place.
    pub variables: HashMap<String, Variable>,
}

impl Checkpoint {
    /// Reads the directory of a Whisper model.
    ///
    /// # Errors
    /// [`ReadError`], when the file is cut, damaged, of another version, or no Whisper model.
    pub fn read(parts: Parts) -> Result<Self, ReadError> {
        let mut cursor = Cursor { parts: &parts, position: 0 };
        let version = cursor.u32("the version")?;
        if version != VERSION {
            let what = format!("layout version {version}; only version {VERSION} is understood");
            return Err(cursor.invalid(0, what));
        }
        let specification = cursor.text("the specification")?;
        if specification != "WhisperSpec" {
            return Err(cursor.invalid(4, format!("a {specification:?} model, not a WhisperSpec one")));
        }
        cursor.u32("the revision")?;
        let mut variables = HashMap::new();
        for _ in 0..cursor.count("the number of variables")? {
            let at = cursor.position;
            let (name, variable) = cursor.variable()?;
            if variables.insert(name.clone(), variable).is_some() {
                return Err(cursor.invalid(at, format!("variable {name} stands here a second time")));
            }
        }
        for _ in 0..cursor.count("the number of aliases")? {
            let at = cursor.position;
            let (alias, target) = (cursor.text("an alias")?, cursor.text("what an alias stands for")?);
            let Some(variable) = variables.get(&target).cloned() else {
                return Err(cursor.invalid(at, format!("{alias} stands for {target}, which is not there")));
            };
            variables.insert(alias, variable);
        }
        Ok(Self { parts, variables })
    }
}

/// Reads the directory front to back.
struct Cursor<'a> {
    parts: &'a Parts,
    position: u64,
}

impl Cursor<'_> {
    fn invalid(&self, position: u64, what: String) -> ReadError {
        ReadError::Invalid { path: self.parts.name().to_owned(), position, what }
    }

    fn fill(&mut self, buffer: &mut [u8], what: &'static str) -> Result<(), ReadError> {
        let position = self.position;
        self.parts.read_exact_at(buffer, position).map_err(|source| ReadError::Io {
            path: self.parts.name().to_owned(),
            what,
            position,
            source,
        })?;
        self.position += buffer.len() as u64;
        Ok(())
    }

    fn u8(&mut self, what: &'static str) -> Result<u8, ReadError> {
        let mut bytes = [0];
        self.fill(&mut bytes, what)?;
        Ok(bytes[0])
    }

    fn u32(&mut self, what: &'static str) -> Result<u32, ReadError> {
        let mut bytes = [0; 4];
        self.fill(&mut bytes, what)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn count(&mut self, what: &'static str) -> Result<u32, ReadError> {
        let at = self.position;
        let count = self.u32(what)?;
        if count > MOST_VARIABLES {
            return Err(self.invalid(at, format!("{what} is {count}, over {MOST_VARIABLES}")));
        }
        Ok(count)
    }

    fn text(&mut self, what: &'static str) -> Result<String, ReadError> {
        let at = self.position;
        let mut len = [0; 2];
        self.fill(&mut len, what)?;
        let mut bytes = vec![0; usize::from(u16::from_le_bytes(len))];
        self.fill(&mut bytes, what)?;
        if bytes.pop() != Some(0) {
            return Err(self.invalid(at, format!("{what} does not end in a NUL")));
        }
        String::from_utf8(bytes).map_err(|_| self.invalid(at, format!("{what} is not UTF-8")))
    }

    /// One entry; its data are stepped over.
    fn variable(&mut self) -> Result<(String, Variable), ReadError> {
        let at = self.position;
        let name = self.text("a variable's name")?;
        let rank = self.u8("a variable's rank")?;
        if rank > MOST_DIMENSIONS {
            return Err(self.invalid(at, format!("{name} has {rank} dimensions, over {MOST_DIMENSIONS}")));
        }
        let dimensions =
            (0..rank).map(|_| self.u32("a variable's dimensions")).collect::<Result<Vec<_>, _>>()?;
        let number = self.u8("a variable's element type")?;
        let Some(element) = Element::numbered(number) else {
            return Err(self.invalid(at, format!("{name} has the unknown element type {number}")));
        };
        let len_bytes = u64::from(self.u32("a variable's length")?);
        let shaped =
            dimensions.iter().try_fold(element.size_bytes(), |size, d| size.checked_mul(u64::from(*d)));
        if shaped != Some(len_bytes) {
            let what = format!("{name} is {dimensions:?} of {element:?} but {len_bytes} bytes long");
            return Err(self.invalid(at, what));
        }
        let position = self.position;
        let left = self.parts.len_bytes().saturating_sub(position);
        if len_bytes > left {
            let what = format!("{name} is {len_bytes} bytes long, the file ends after {left}");
            return Err(self.invalid(position, what));
        }
        self.position += len_bytes;
        Ok((name, Variable { dimensions, element, position, len_bytes }))
    }
}
