//! Looks a ggml file over before whisper.cpp is given it.
//!
//! whisper.cpp trusts a model file: it asks for what memory the header says, reads past the end without noticing, and
//! ends the whole process where a number has no meaning. So every number is compared here with what a model can
//! have, every tensor with the table, and the last one must end where the file does.

use super::catalogue::Purpose;
use super::cursor::{Cursor, ReadError};
use super::ggml::{self, Hyperparameters, Tensor};
use super::parts::Parts;
use std::collections::HashMap;
use std::path::Path;

/// The longest token or tensor name, in bytes.
const TEXT_CEILING_BYTES: u32 = 4096;
/// What a Silero file says of itself.
const SILERO: &[u8] = b"silero-16k";
/// Layers, their channels and kernels, and the recurrent part: the one shape whisper.cpp's code can run.
const SILERO_SHAPE: [u32; 17] = [4, 129, 128, 3, 128, 64, 3, 64, 64, 3, 64, 128, 3, 128, 128, 128, 1];
/// Tensors of a Silero model.
const SILERO_TENSORS: usize = 15;

/// What a ggml file turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A Whisper model of this shape.
    Whisper(Hyperparameters),
    /// A Silero voice activity model.
    Silero,
}

impl Kind {
    /// What it is for.
    pub fn purpose(&self) -> Purpose {
        match self {
            Self::Whisper(_) => Purpose::Recognition,
            Self::Silero => Purpose::VoiceActivity,
        }
    }
}

/// Reads everything of a ggml file but the weights.
///
/// # Errors
/// [`ReadError`], which says where the file stops being a model that can be loaded.
pub fn inspect(path: &Path) -> Result<Kind, ReadError> {
    let parts = Parts::open(&[path]).map_err(|source| ReadError::Io {
        path: path.to_owned(),
        what: "the file",
        position: 0,
        source,
    })?;
    let mut cursor = Cursor::new(&parts);
    if cursor.u32("the first four bytes")? != ggml::MAGIC {
        return Err(cursor.invalid(0, "this is no ggml file: it does not begin with the letters lmgg".into()));
    }
    let first = cursor.u32("the header")?;
    if first as usize == SILERO.len() { silero(cursor) } else { whisper(cursor, first) }
}

fn whisper(mut cursor: Cursor<'_>, first: u32) -> Result<Kind, ReadError> {
    let mut header = [first; 11];
    for number in header.iter_mut().skip(1) {
        *number = cursor.u32("the header")?;
    }
    let [.., mels, file_type] = header;
    let shape = Hyperparameters::from_header(&header).map_err(|what| cursor.invalid(4, what))?;
    let Some(element_type) = ggml::element_type_of_file(file_type) else {
        return Err(cursor.invalid(44, format!("file type {file_type} is not known")));
    };
    let filters = [cursor.u32("the filters")?, cursor.u32("the filters")?];
    if filters != [mels, ggml::FREQUENCY_BINS] {
        return Err(cursor.invalid(48, format!("filters of {filters:?} for {mels} mel bands")));
    }
    cursor.step_over(u64::from(mels) * u64::from(ggml::FREQUENCY_BINS) * 4, "the filters")?;
    let at = cursor.position();
    let tokens = cursor.u32("the number of tokens")?;
    if tokens == 0 || tokens > shape.vocabulary {
        let what = format!("{tokens} tokens are spelled out, the model has {}", shape.vocabulary);
        return Err(cursor.invalid(at, what));
    }
    for _ in 0..tokens {
        let len = bounded_len(&mut cursor, "a token")?;
        cursor.step_over(u64::from(len), "a token")?;
    }
    let mut expected: HashMap<String, Tensor> =
        ggml::tensors(&shape).into_iter().map(|tensor| (tensor.name.clone(), tensor)).collect();
    while cursor.left_bytes() > 0 {
        let at = cursor.position();
        let found = tensor(&mut cursor)?;
        let Some(known) = expected.remove(&found.name) else {
            return Err(
                cursor.invalid(at, format!("{} is no tensor of this model, or a second one", found.name))
            );
        };
        if found.dimensions != known.dimensions || found.element_type != known.element_type(element_type) {
            let FoundTensor { name, dimensions, element_type } = found;
            let what = format!("{name} is {dimensions:?} of type {element_type}, not as the header says");
            return Err(cursor.invalid(at, what));
        }
    }
    if let Some(missing) = expected.keys().min() {
        let what = format!("the file ends, and {} tensors are missing, {missing} among them", expected.len());
        return Err(cursor.invalid(cursor.position(), what));
    }
    Ok(Kind::Whisper(shape))
}

fn silero(mut cursor: Cursor<'_>) -> Result<Kind, ReadError> {
    let name = cursor.bytes(SILERO.len(), "the kind of model")?;
    if name != SILERO {
        return Err(cursor.invalid(8, "neither a Whisper nor a Silero model".into()));
    }
    for _ in 0..5 {
        cursor.u32("the version and window")?;
    }
    let at = cursor.position();
    for expected in SILERO_SHAPE {
        let found = cursor.u32("the shape of the model")?;
        if found != expected {
            return Err(cursor.invalid(at, format!("{found} where a Silero model has {expected}")));
        }
    }
    let mut tensors = 0;
    while cursor.left_bytes() > 0 {
        tensor(&mut cursor)?;
        tensors += 1;
    }
    if tensors != SILERO_TENSORS {
        let what = format!("{tensors} tensors, where a Silero model has {SILERO_TENSORS}");
        return Err(cursor.invalid(cursor.position(), what));
    }
    Ok(Kind::Silero)
}

/// What stands before a tensor's data.
struct FoundTensor {
    name: String,
    /// Outermost first.
    dimensions: Vec<u32>,
    element_type: u32,
}

/// Reads a tensor's header and steps over its data.
fn tensor(cursor: &mut Cursor<'_>) -> Result<FoundTensor, ReadError> {
    let at = cursor.position();
    let rank = cursor.u32("a tensor's rank")?;
    if rank > 4 {
        return Err(cursor.invalid(at, format!("a tensor of {rank} dimensions")));
    }
    let name_len = bounded_len(cursor, "a tensor's name")?;
    let element_type = cursor.u32("a tensor's element type")?;
    let mut dimensions =
        (0..rank).map(|_| cursor.u32("a tensor's dimensions")).collect::<Result<Vec<_>, _>>()?;
    dimensions.reverse();
    let name = String::from_utf8_lossy(&cursor.bytes(name_len as usize, "a tensor's name")?).into_owned();
    let elements = dimensions.iter().try_fold(1_u64, |n, d| n.checked_mul(u64::from(*d)));
    let Some(len_bytes) = elements.and_then(|n| ggml::size_bytes(element_type, n)) else {
        let what = format!("{name} is {dimensions:?} of element type {element_type}, which cannot be");
        return Err(cursor.invalid(at, what));
    };
    cursor.step_over(len_bytes, &name)?;
    Ok(FoundTensor { name, dimensions, element_type })
}

fn bounded_len(cursor: &mut Cursor<'_>, what: &'static str) -> Result<u32, ReadError> {
    let at = cursor.position();
    let len = cursor.u32(what)?;
    if len > TEXT_CEILING_BYTES {
        return Err(cursor.invalid(at, format!("{what} of {len} bytes, over {TEXT_CEILING_BYTES}")));
    }
    Ok(len)
}
