//! The ggml file of a Whisper model: its header, its tensors, and the order they stand in.
//!
//! One table, [`tensors`], says which tensors a model of given [`Hyperparameters`] has, in which shape and
//! element type. The converter writes by it and the inspector checks by it, so the two cannot disagree.
//! The order is that of the published files: a conversion of the same weights gives the same bytes, and one
//! checksum vouches for a downloaded and for a converted file alike.
//!
//! ```text
//! u32 magic | 11 x i32 hyperparameters | i32 mels, i32 bins, mels*bins f32 | i32 tokens, each i32 length, bytes
//! then to the end of the file, per tensor: i32 rank, i32 name length, i32 element type, rank x i32, name, data
//! ```
//! Everything is little endian; dimensions stand innermost first.

use std::io::{self, Write};

/// First four bytes of every ggml file, read as a little-endian number.
pub const MAGIC: u32 = 0x6767_6d6c;

/// Frequency bins of a mel filter: half of whisper's 400-sample window, and one.
pub const FREQUENCY_BINS: u32 = 201;

/// How many tokens a Whisper file spells out; whisper.cpp names the special ones behind them itself.
pub const SPELLED_TOKENS: u32 = 50_257;

/// Element type of a tensor: number, block length, block size in bytes. Quantised types come in blocks.
const ELEMENT_TYPES: [(u32, u64, u64); 14] = [
    (0, 1, 4),     // f32
    (1, 1, 2),     // f16
    (2, 32, 18),   // q4_0
    (3, 32, 20),   // q4_1
    (6, 32, 22),   // q5_0
    (7, 32, 24),   // q5_1
    (8, 32, 34),   // q8_0
    (9, 32, 36),   // q8_1
    (10, 256, 84), // q2_k
    (11, 256, 110),
    (12, 256, 144),
    (13, 256, 176),
    (14, 256, 210),
    (15, 256, 292),
];

/// Number of the element type f32.
pub const F32: u32 = 0;
/// Number of the element type f16.
pub const F16: u32 = 1;

/// Size in bytes of `elements` elements of type number `element_type`; `None` for a type that is not known,
/// elements that do not fill whole blocks, or a size no file has.
///
/// ```
/// use ambient_capture::models::ggml;
/// assert_eq!(ggml::size_bytes(ggml::F16, 10), Some(20));
/// assert_eq!(ggml::size_bytes(99, 10), None);
/// ```
pub fn size_bytes(element_type: u32, elements: u64) -> Option<u64> {
    let (_, block, bytes) = ELEMENT_TYPES.iter().find(|(number, ..)| *number == element_type)?;
    if elements.is_multiple_of(*block) { (elements / block).checked_mul(*bytes) } else { None }
}

/// Element type of the weights in a file whose header says `file_type`; `None` when that has no meaning. The thousands
/// tell the version of the quantisation, which makes no difference here.
///
/// ```
/// use ambient_capture::models::ggml;
/// assert_eq!(ggml::element_type_of_file(1), Some(ggml::F16));
/// assert_eq!(ggml::element_type_of_file(2007), Some(8), "q8_0, version 2");
/// ```
pub fn element_type_of_file(file_type: u32) -> Option<u32> {
    match file_type % 1000 {
        same @ (0..=3 | 10..=14) => Some(same),
        7 => Some(8),
        8 => Some(6),
        9 => Some(7),
        _ => None,
    }
}

/// The numbers that give a Whisper model its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hyperparameters {
    /// Tokens, special ones included: 51864 (English only), 51865 or 51866.
    pub vocabulary: u32,
    /// Frames of sound the encoder looks at: 1500 for 30 s.
    pub audio_context: u32,
    /// Width of the model.
    pub state: u32,
    /// Attention heads of a layer.
    pub heads: u32,
    /// Layers of the encoder.
    pub audio_layers: u32,
    /// Tokens the decoder looks back on.
    pub text_context: u32,
    /// Layers of the decoder.
    pub text_layers: u32,
    /// Mel bands: 80, or 128 from large-v3 on.
    pub mels: u32,
}

impl Hyperparameters {
    /// Whether whisper.cpp can be given a model of this shape.
    ///
    /// # Errors
    /// A sentence that names the number and what it should be. The bounds are several times those of the largest
    /// published model; without them a damaged header would ask for any amount of memory.
    pub fn check(&self) -> Result<(), String> {
        let bounds = [
            ("vocabulary", self.vocabulary, 51_864, 51_866),
            ("audio context", self.audio_context, 1, 15_000),
            ("width", self.state, 2, 8_192),
            ("heads", self.heads, 1, 128),
            ("encoder layers", self.audio_layers, 1, 128),
            ("text context", self.text_context, 1, 4_480),
            ("decoder layers", self.text_layers, 1, 128),
            ("mel bands", self.mels, 1, 512),
        ];
        for (what, found, least, most) in bounds {
            if !(least..=most).contains(&found) {
                return Err(format!("{what} is {found}, where a Whisper model has {least} to {most}"));
            }
        }
        if self.state.is_multiple_of(self.heads) {
            Ok(())
        } else {
            Err(format!("a width of {} cannot be shared out to {} heads", self.state, self.heads))
        }
    }

    /// The eleven numbers of the header, in the order of the file, for a file of element type `f16`.
    pub fn header(&self) -> [u32; 11] {
        [
            self.vocabulary,
            self.audio_context,
            self.state,
            self.heads,
            self.audio_layers,
            self.text_context,
            self.state,
            self.heads,
            self.text_layers,
            self.mels,
            F16,
        ]
    }

    /// The shape that the eleven numbers of a header describe.
    ///
    /// # Errors
    /// As [`Hyperparameters::check`], and when encoder and decoder are not of one width.
    pub fn from_header(header: &[u32; 11]) -> Result<Self, String> {
        let [vocabulary, audio_context, state, heads, audio_layers, text_context, ..] = *header;
        let [.., text_state, text_heads, text_layers, mels, _] = *header;
        if (state, heads) != (text_state, text_heads) {
            return Err(format!(
                "the encoder is {state} wide with {heads} heads, the decoder {text_state} with {text_heads}"
            ));
        }
        let shape =
            Self { vocabulary, audio_context, state, heads, audio_layers, text_context, text_layers, mels };
        shape.check().map(|()| shape)
    }
}

/// One tensor of a Whisper model as the file names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// Name in the file.
    pub name: String,
    /// Dimensions, outermost first (the file has them the other way round).
    pub dimensions: Vec<u32>,
    /// Whether it stays f32 in an f16 file: norms, biases and positions do.
    pub full_precision: bool,
}

impl Tensor {
    /// Number of elements.
    pub fn elements(&self) -> u64 {
        self.dimensions.iter().map(|d| u64::from(*d)).product()
    }

    /// The element type it has in a file whose weights are of type `weights`: convolutions are never quantised.
    pub fn element_type(&self, weights: u32) -> u32 {
        let convolution = self.dimensions.len() == 3;
        match weights {
            _ if self.full_precision => F32,
            F32 => F32,
            _ if convolution => F16,
            weights => weights,
        }
    }

    /// Writes what stands before the tensor's data in an f16 file.
    ///
    /// # Errors
    /// What `out` reports.
    pub fn write_header(&self, out: &mut impl Write) -> io::Result<()> {
        let element_type = self.element_type(F16);
        let name_len = u32::try_from(self.name.len()).map_err(io::Error::other)?;
        let rank = u32::try_from(self.dimensions.len()).map_err(io::Error::other)?;
        for number in [rank, name_len, element_type].into_iter().chain(self.dimensions.iter().rev().copied())
        {
            out.write_all(&number.to_le_bytes())?;
        }
        out.write_all(self.name.as_bytes())
    }
}

/// Collects tensors in the order of the file.
struct Table {
    tensors: Vec<Tensor>,
}

impl Table {
    fn add(&mut self, name: String, dimensions: &[u32], full_precision: bool) {
        self.tensors.push(Tensor { name, dimensions: dimensions.to_vec(), full_precision });
    }

    /// A linear layer from `inputs` to `outputs`; only the keys of attention have no bias.
    fn linear(&mut self, name: &str, outputs: u32, inputs: u32, bias: bool) {
        self.add(format!("{name}.weight"), &[outputs, inputs], false);
        if bias {
            self.add(format!("{name}.bias"), &[outputs], true);
        }
    }

    fn norm(&mut self, name: &str, width: u32) {
        self.add(format!("{name}.weight"), &[width], true);
        self.add(format!("{name}.bias"), &[width], true);
    }

    fn attention(&mut self, block: &str, kind: &str, width: u32) {
        self.norm(&format!("{block}.{kind}_ln"), width);
        for (part, bias) in [("query", true), ("key", false), ("value", true), ("out", true)] {
            self.linear(&format!("{block}.{kind}.{part}"), width, width, bias);
        }
    }

    fn blocks(&mut self, side: &str, count: u32, width: u32, crossed: bool) {
        for index in 0..count {
            let block = format!("{side}.blocks.{index}");
            self.norm(&format!("{block}.mlp_ln"), width);
            self.linear(&format!("{block}.mlp.0"), 4 * width, width, true);
            self.linear(&format!("{block}.mlp.2"), width, 4 * width, true);
            self.attention(&block, "attn", width);
            if crossed {
                self.attention(&block, "cross_attn", width);
            }
        }
    }
}

/// The tensors of a Whisper model of this shape, in the order of the published files.
///
/// ```
/// use ambient_capture::models::ggml::{Hyperparameters, tensors};
/// let tiny_en = Hyperparameters {
///     vocabulary: 51_864, audio_context: 1500, state: 384, heads: 6,
///     audio_layers: 4, text_context: 448, text_layers: 4, mels: 80,
/// };
/// assert_eq!(tensors(&tiny_en).len(), 167);
/// ```
pub fn tensors(shape: &Hyperparameters) -> Vec<Tensor> {
    let width = shape.state;
    let mut table = Table { tensors: Vec::new() };
    table.add("decoder.positional_embedding".into(), &[shape.text_context, width], true);
    table.add("encoder.positional_embedding".into(), &[shape.audio_context, width], true);
    table.add("decoder.token_embedding.weight".into(), &[shape.vocabulary, width], false);
    table.blocks("decoder", shape.text_layers, width, true);
    table.norm("decoder.ln", width);
    for (name, inputs) in [("encoder.conv1", shape.mels), ("encoder.conv2", width)] {
        table.add(format!("{name}.weight"), &[width, inputs, 3], false);
        table.add(format!("{name}.bias"), &[width, 1], true);
    }
    table.blocks("encoder", shape.audio_layers, width, false);
    table.norm("encoder.ln_post", width);
    table.tensors
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: Hyperparameters = Hyperparameters {
        vocabulary: 51_865,
        audio_context: 1500,
        state: 512,
        heads: 8,
        audio_layers: 6,
        text_context: 448,
        text_layers: 6,
        mels: 80,
    };

    #[test]
    fn a_header_gives_back_the_shape_it_was_made_of() {
        assert_eq!(Hyperparameters::from_header(&BASE.header()), Ok(BASE));
    }

    #[test]
    fn every_number_of_the_shape_is_bounded_both_ways() {
        for index in 0..10 {
            for hostile in [0, u32::MAX] {
                let mut header = BASE.header();
                header[index] = hostile;
                assert!(Hyperparameters::from_header(&header).is_err(), "number {index} = {hostile}");
            }
        }
    }

    #[test]
    fn heads_must_share_the_width_out_evenly() {
        let uneven = Hyperparameters { heads: 7, ..BASE };
        assert!(uneven.check().unwrap_err().contains("7 heads"));
    }

    #[test]
    fn the_table_has_every_tensor_once() {
        let names: std::collections::HashSet<_> = tensors(&BASE).into_iter().map(|t| t.name).collect();
        assert_eq!(names.len(), 11 + 6 * 15 + 6 * 24);
    }

    #[test]
    fn a_quantised_tensor_must_fill_whole_blocks() {
        assert_eq!(size_bytes(8, 64), Some(68));
        assert_eq!(size_bytes(8, 33), None);
        assert_eq!(size_bytes(F32, u64::MAX), None);
    }
}
