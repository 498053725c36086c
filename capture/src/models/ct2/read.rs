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

use super::super::cursor::{Cursor, ReadError};
use super::super::parts::Parts;
use std::collections::HashMap;

/// Version of the file layout that is read.
const VERSION: u32 = 6;
/// More variables or aliases than this no Whisper model has; large-v3 has under 3000.
const MOST_VARIABLES: u32 = 32_768;
/// Dimensions a variable may have.
const MOST_DIMENSIONS: u8 = 8;

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
        let mut cursor = Cursor::new(&parts);
        let version = cursor.u32("the version")?;
        if version != VERSION {
            let what = format!("layout version {version}; only version {VERSION} is understood");
            return Err(cursor.invalid(0, what));
        }
        let specification = text(&mut cursor, "the specification")?;
        if specification != "WhisperSpec" {
            return Err(cursor.invalid(4, format!("a {specification:?} model, not a WhisperSpec one")));
        }
        cursor.u32("the revision")?;
        let mut variables = HashMap::new();
        for _ in 0..count(&mut cursor, "the number of variables")? {
            let at = cursor.position();
            let (name, variable) = variable(&mut cursor)?;
            if variables.insert(name.clone(), variable).is_some() {
                return Err(cursor.invalid(at, format!("variable {name} stands here a second time")));
            }
        }
        for _ in 0..count(&mut cursor, "the number of aliases")? {
            let at = cursor.position();
            let (alias, target) =
                (text(&mut cursor, "an alias")?, text(&mut cursor, "what an alias stands for")?);
            let Some(variable) = variables.get(&target).cloned() else {
                return Err(cursor.invalid(at, format!("{alias} stands for {target}, which is not there")));
            };
            variables.insert(alias, variable);
        }
        Ok(Self { parts, variables })
    }
}

fn count(cursor: &mut Cursor<'_>, what: &'static str) -> Result<u32, ReadError> {
    let at = cursor.position();
    let count = cursor.u32(what)?;
    if count > MOST_VARIABLES {
        return Err(cursor.invalid(at, format!("{what} is {count}, over {MOST_VARIABLES}")));
    }
    Ok(count)
}

fn text(cursor: &mut Cursor<'_>, what: &'static str) -> Result<String, ReadError> {
    let at = cursor.position();
    let len = cursor.u16(what)?;
    let mut bytes = cursor.bytes(usize::from(len), what)?;
    if bytes.pop() != Some(0) {
        return Err(cursor.invalid(at, format!("{what} does not end in a NUL")));
    }
    String::from_utf8(bytes).map_err(|_| cursor.invalid(at, format!("{what} is not UTF-8")))
}

/// One entry; its data are stepped over.
fn variable(cursor: &mut Cursor<'_>) -> Result<(String, Variable), ReadError> {
    let at = cursor.position();
    let name = text(cursor, "a variable's name")?;
    let rank = cursor.u8("a variable's rank")?;
    if rank > MOST_DIMENSIONS {
        return Err(cursor.invalid(at, format!("{name} has {rank} dimensions, over {MOST_DIMENSIONS}")));
    }
    let dimensions =
        (0..rank).map(|_| cursor.u32("a variable's dimensions")).collect::<Result<Vec<_>, _>>()?;
    let number = cursor.u8("a variable's element type")?;
    let Some(element) = Element::numbered(number) else {
        return Err(cursor.invalid(at, format!("{name} has the unknown element type {number}")));
    };
    let len_bytes = u64::from(cursor.u32("a variable's length")?);
    let shaped = dimensions.iter().try_fold(element.size_bytes(), |size, d| size.checked_mul(u64::from(*d)));
    if shaped != Some(len_bytes) {
        let what = format!("{name} is {dimensions:?} of {element:?} but {len_bytes} bytes long");
        return Err(cursor.invalid(at, what));
    }
    let position = cursor.position();
    cursor.step_over(len_bytes, &name)?;
    Ok((name, Variable { dimensions, element, position, len_bytes }))
}
