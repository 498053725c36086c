//! A CTranslate2 Whisper folder becomes a ggml file.
//!
//! CTranslate2 fuses the query, key and value weights of attention into one variable; ggml has three tensors, each a
//! run of rows of it. So every tensor of [`ggml::tensors`] is a contiguous piece of one variable, and a
//! conversion is a list of pieces, checked for shape before the first byte is written, then copied through one
//! small buffer: memory does not grow with the model.

use super::super::cursor::ReadError;
use super::super::ggml::{self, Hyperparameters, Tensor};
use super::super::parts::Parts;
use super::correspondence::{Origin, origin_of};
use super::read::{Checkpoint, Element, Variable};
use super::vocabulary::{self, VocabularyError};
use super::{half, mel};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes copied at a time.
const BUFFER_BYTES: usize = 64 << 10;
/// Parts a model file may lie in.
const MOST_PARTS: u32 = 1000;
/// Layers that are counted; more than the most a shape may have.
const MOST_LAYERS: u32 = 1000;

/// Why a model was not converted.
#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    /// The folder is no CTranslate2 model.
    #[error("{}: {what}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What is missing or cannot be read.
        what: String,
    },
    /// The model file is cut or damaged.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The vocabulary is.
    #[error(transparent)]
    Vocabulary(#[from] VocabularyError),
    /// The model is not of a shape that whisper.cpp runs.
    #[error("{}: {what}", path.display())]
    Shape {
        /// The model file.
        path: PathBuf,
        /// Which variable, what it is and what it should be.
        what: String,
    },
    /// The data could not be copied.
    #[error("{}: reading {tensor}: {source}", path.display())]
    Data {
        /// The model file.
        path: PathBuf,
        /// The tensor whose data they are.
        tensor: String,
        /// What the system said.
        source: io::Error,
    },
    /// The ggml file could not be written.
    #[error("writing the converted model: {0}")]
    Write(io::Error),
    /// Someone asked to stop.
    #[error("stopped before the model was converted")]
    Interrupted,
}

/// The files of a CTranslate2 model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    /// `model.bin`, or its parts in order.
    pub model: Vec<PathBuf>,
    /// `vocabulary.txt` or `vocabulary.json`.
    pub vocabulary: PathBuf,
}

impl Folder {
    /// Finds the files in a folder: `model.bin`, or `model.bin.part1`, `model.bin.part2` and so on; a vocabulary.
    ///
    /// # Errors
    /// [`ConvertError::Folder`], which says what is missing.
    pub fn find(path: &Path) -> Result<Self, ConvertError> {
        let whole = path.join("model.bin");
        let model = if whole.is_file() {
            vec![whole]
        } else {
            (1..=MOST_PARTS)
                .map(|n| path.join(format!("model.bin.part{n}")))
                .take_while(|p| p.is_file())
                .collect()
        };
        let vocabulary = ["vocabulary.txt", "vocabulary.json"]
            .map(|name| path.join(name))
            .into_iter()
            .find(|p| p.is_file());
        let missing = |what: &str| ConvertError::Folder { path: path.to_owned(), what: what.to_owned() };
        if model.is_empty() {
            return Err(missing("no model.bin in this folder, so it is no CTranslate2 model"));
        }
        let vocabulary = vocabulary
            .ok_or_else(|| missing("model.bin is here, but no vocabulary.txt or vocabulary.json"))?;
        Ok(Self { model, vocabulary })
    }
}

/// One tensor of the target and where its data lie in the source.
struct Piece<'a> {
    tensor: Tensor,
    element: Element,
    position: u64,
    source: &'a str,
}

/// A conversion, planned and checked, with nothing written yet.
pub struct Conversion {
    checkpoint: Checkpoint,
    shape: Hyperparameters,
    tokens: Vec<Vec<u8>>,
}

impl Conversion {
    /// Reads the directory of the model and its vocabulary, and checks that they fit each other.
    ///
    /// # Errors
    /// [`ConvertError`], before anything is written.
    pub fn plan(folder: &Folder) -> Result<Self, ConvertError> {
        let parts = Parts::open(&folder.model).map_err(|e| ConvertError::Folder {
            path: folder.model.first().cloned().unwrap_or_default(),
            what: e.to_string(),
        })?;
        let checkpoint = Checkpoint::read(parts)?;
        let shape = shape_of(&checkpoint)?;
        let spelled = vocabulary::read(&folder.vocabulary)?;
        let invalid = |what| VocabularyError::Invalid { path: folder.vocabulary.clone(), what };
        if spelled.len() != shape.vocabulary as usize {
            let what = format!(
                "{} tokens for a model that has {}; not of this model",
                spelled.len(),
                shape.vocabulary
            );
            return Err(invalid(what).into());
        }
        let tokens = vocabulary::bytes_of(&spelled, ggml::SPELLED_TOKENS as usize).map_err(invalid)?;
        let conversion = Self { checkpoint, shape, tokens };
        conversion.pieces().map(drop)?;
        Ok(conversion)
    }

    /// The shape of the model.
    pub fn shape(&self) -> &Hyperparameters {
        &self.shape
    }

    /// Length of the ggml file this makes, in bytes.
    pub fn size_bytes(&self) -> u64 {
        let tensors = ggml::tensors(&self.shape).into_iter().map(|t| {
            let header = 12 + 4 * t.dimensions.len() + t.name.len();
            header as u64 + t.elements() * if t.full_precision { 4 } else { 2 }
        });
        let tokens = self.tokens.iter().map(|t| 4 + t.len() as u64);
        let filters = u64::from(self.shape.mels) * u64::from(ggml::FREQUENCY_BINS) * 4;
        48 + 8 + filters + 4 + tokens.sum::<u64>() + tensors.sum::<u64>()
    }

    /// Writes the ggml file. `on_progress` is told the bytes written so far; a set `stop` ends it.
    ///
    /// # Errors
    /// [`ConvertError`]; what was written until then is of no use.
    pub fn write(
        &self,
        out: &mut impl Write,
        stop: &AtomicBool,
        on_progress: &mut dyn FnMut(u64),
    ) -> Result<(), ConvertError> {
        let mut out = Counted { out, written_bytes: 0 };
        self.write_head(&mut out).map_err(ConvertError::Write)?;
        let mut buffer = vec![0; BUFFER_BYTES];
        for piece in self.pieces()? {
            piece.tensor.write_header(&mut out).map_err(ConvertError::Write)?;
            self.copy(&piece, &mut buffer, &mut out, stop, on_progress)?;
        }
        out.flush().map_err(ConvertError::Write)
    }

    /// Everything before the tensors.
    fn write_head(&self, out: &mut impl Write) -> io::Result<()> {
        let head = [ggml::MAGIC].into_iter().chain(self.shape.header());
        for number in head.chain([self.shape.mels, ggml::FREQUENCY_BINS]) {
            out.write_all(&number.to_le_bytes())?;
        }
        let filters: Vec<u8> = mel::filters(self.shape.mels).into_iter().flat_map(f32::to_le_bytes).collect();
        out.write_all(&filters)?;
        out.write_all(&ggml::SPELLED_TOKENS.to_le_bytes())?;
        for token in &self.tokens {
            out.write_all(&u32::try_from(token.len()).map_err(io::Error::other)?.to_le_bytes())?;
            out.write_all(token)?;
        }
        Ok(())
    }

    /// Every tensor with its place in the source.
    fn pieces(&self) -> Result<Vec<Piece<'_>>, ConvertError> {
        ggml::tensors(&self.shape).into_iter().map(|tensor| self.piece(tensor)).collect()
    }

    fn piece(&self, tensor: Tensor) -> Result<Piece<'_>, ConvertError> {
        let Origin { variable: name, run, runs } = origin_of(&tensor.name);
        let Some((source, variable)) = self.checkpoint.variables.get_key_value(&name) else {
            return Err(self.misshapen(format!("no variable {name}, from which {} is made", tensor.name)));
        };
        let expected = source_dimensions(&tensor, runs);
        if variable.dimensions != expected {
            let what = format!("{name} is {:?}, where {expected:?} is needed", variable.dimensions);
            return Err(self.misshapen(what));
        }
        if !matches!(variable.element, Element::F16 | Element::F32) {
            let what = format!(
                "{name} is stored as {:?}; convert from a float16 or float32 copy of the model",
                variable.element
            );
            return Err(self.misshapen(what));
        }
        let position = variable.position + run * (variable.len_bytes / runs);
        Ok(Piece { element: variable.element, position, source, tensor })
    }

    fn misshapen(&self, what: String) -> ConvertError {
        ConvertError::Shape { path: self.checkpoint.parts.name().to_owned(), what }
    }

    /// Copies a tensor's data, buffer by buffer, in the precision of the target.
    fn copy(
        &self,
        piece: &Piece<'_>,
        buffer: &mut [u8],
        out: &mut Counted<'_, impl Write>,
        stop: &AtomicBool,
        on_progress: &mut dyn FnMut(u64),
    ) -> Result<(), ConvertError> {
        let mut position = piece.position;
        let mut left_bytes = piece.tensor.elements() * piece.element.size_bytes();
        while left_bytes > 0 {
            if stop.load(Ordering::Relaxed) {
                return Err(ConvertError::Interrupted);
            }
            let here = usize::try_from(left_bytes).unwrap_or(usize::MAX).min(buffer.len());
            let chunk = &mut buffer[..here];
            self.checkpoint.parts.read_exact_at(chunk, position).map_err(|source| ConvertError::Data {
                path: self.checkpoint.parts.name().to_owned(),
                tensor: piece.source.to_owned(),
                source,
            })?;
            match (piece.element, piece.tensor.full_precision) {
                (Element::F16, true) => out.write_all(&widened(chunk)).map_err(ConvertError::Write)?,
                (Element::F32, false) => {
                    let halves = narrowed(chunk).ok_or_else(|| {
                        self.misshapen(format!("{} holds a number too large for 16 bits", piece.source))
                    })?;
                    out.write_all(&halves).map_err(ConvertError::Write)?;
                }
                _ => out.write_all(chunk).map_err(ConvertError::Write)?,
            }
            position += here as u64;
            left_bytes -= here as u64;
            on_progress(out.written_bytes);
        }
        Ok(())
    }
}

/// Halves as f32.
fn widened(halves: &[u8]) -> Vec<u8> {
    let values = halves.as_chunks::<2>().0.iter().map(|half| half::to_f32(u16::from_le_bytes(*half)));
    values.flat_map(f32::to_le_bytes).collect()
}

/// f32 as halves; `None` when a finite one is out of range.
fn narrowed(floats: &[u8]) -> Option<Vec<u8>> {
    let mut halves = Vec::with_capacity(floats.len() / 2);
    for float in floats.as_chunks::<4>().0 {
        let value = f32::from_le_bytes(*float);
        let half = half::from_f32(value);
        if value.is_finite() && !half::to_f32(half).is_finite() {
            return None;
        }
        halves.extend_from_slice(&half.to_le_bytes());
    }
    Some(halves)
}

/// Counts what goes through it.
struct Counted<'a, W> {
    out: &'a mut W,
    written_bytes: u64,
}

impl<W: Write> Write for Counted<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.written_bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The numbers of the model, from the shapes of its variables.
fn shape_of(checkpoint: &Checkpoint) -> Result<Hyperparameters, ConvertError> {
    let path = || checkpoint.parts.name().to_owned();
    let misshapen = |what: String| ConvertError::Shape { path: path(), what };
    let dimension = |name: &str, index: usize| {
        let variable =
            checkpoint.variables.get(name).ok_or_else(|| misshapen(format!("no variable {name}")))?;
        variable
            .dimensions
            .get(index)
            .copied()
            .ok_or_else(|| misshapen(format!("{name} has {} dimensions", variable.dimensions.len())))
    };
    let layers = |side: &str| {
        let there =
            |n: &u32| checkpoint.variables.contains_key(&format!("{side}/layer_{n}/ffn/linear_0/weight"));
        (0..MOST_LAYERS).find(|n| !there(n)).unwrap_or(MOST_LAYERS)
    };
    let heads = checkpoint
        .variables
        .get("encoder/num_heads")
        .ok_or_else(|| misshapen("no variable encoder/num_heads".into()))
        .and_then(|variable| single_number(checkpoint, variable))?;
    let shape = Hyperparameters {
        vocabulary: dimension("decoder/embeddings/weight", 0)?,
        audio_context: dimension("encoder/position_encodings/encodings", 0)?,
        state: dimension("decoder/embeddings/weight", 1)?,
        heads,
        audio_layers: layers("encoder"),
        text_context: dimension("decoder/position_encodings/encodings", 0)?,
        text_layers: layers("decoder"),
        mels: dimension("encoder/conv1/weight", 1)?,
    };
    shape.check().map_err(misshapen)?;
    Ok(shape)
}

/// The value of a variable that holds one small whole number.
fn single_number(checkpoint: &Checkpoint, variable: &Variable) -> Result<u32, ConvertError> {
    let path = checkpoint.parts.name().to_owned();
    let mut bytes = [0; 4];
    let integer = matches!(variable.element, Element::I8 | Element::I16 | Element::I32);
    let len = variable.element.size_bytes();
    if !integer || variable.len_bytes != len {
        let what = format!("encoder/num_heads is {:?} of {:?}", variable.dimensions, variable.element);
        return Err(ConvertError::Shape { path, what });
    }
    let slot = &mut bytes[..usize::try_from(len).unwrap_or(4)];
    checkpoint.parts.read_exact_at(slot, variable.position).map_err(|source| ConvertError::Data {
        path,
        tensor: "encoder/num_heads".into(),
        source,
    })?;
    Ok(u32::from_le_bytes(bytes))
}

/// What the source variable's dimensions must be for a tensor that is one of its `runs` equal runs of rows.
fn source_dimensions(tensor: &Tensor, runs: u64) -> Vec<u32> {
    let mut dimensions = tensor.dimensions.clone();
    // ggml keeps a convolution's bias as a column, CTranslate2 as a plain row of numbers.
    if dimensions.last() == Some(&1) {
        dimensions.pop();
    }
    if let Some(first) = dimensions.first_mut() {
        *first = first.saturating_mul(u32::try_from(runs).unwrap_or(u32::MAX));
    }
    dimensions
}
