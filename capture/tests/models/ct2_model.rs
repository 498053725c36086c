//! A small CTranslate2 Whisper model, made here.

use ambient_capture::models::ct2::half;
use ambient_capture::models::ggml;
use std::path::Path;
use std::sync::LazyLock;

pub(crate) const WIDTH: u32 = 4;
pub(crate) const VOCABULARY: u32 = 51_864;

/// A model file under construction.
#[derive(Clone)]
pub(crate) struct Synthetic {
    half: bool,
    /// Name, dimensions, element type, data.
    pub(crate) variables: Vec<(String, Vec<u32>, u8, Vec<u8>)>,
}

impl Synthetic {
    /// One encoder layer, two decoder layers; every weight has a value of its own that a half can hold.
    pub(crate) fn whisper(half: bool) -> Self {
        let mut model = Self { half, variables: Vec::new() };
        let w = WIDTH;
        model.add("decoder/embeddings/weight", &[VOCABULARY, w]);
        model.add("decoder/position_encodings/encodings", &[5, w]);
        model.add("encoder/position_encodings/encodings", &[6, w]);
        for (name, inputs) in [("encoder/conv1", 3), ("encoder/conv2", w)] {
            model.add(&format!("{name}/weight"), &[w, inputs, 3]);
            model.add(&format!("{name}/bias"), &[w]);
        }
        model.norm("encoder");
        model.norm("decoder");
        for layer in ["encoder/layer_0", "decoder/layer_0", "decoder/layer_1"] {
            model.norm(&format!("{layer}/self_attention"));
            model.linear(&format!("{layer}/self_attention/linear_0"), 3 * w, w);
            model.linear(&format!("{layer}/self_attention/linear_1"), w, w);
            if layer.starts_with("decoder") {
                model.norm(&format!("{layer}/attention"));
                model.linear(&format!("{layer}/attention/linear_0"), w, w);
                model.linear(&format!("{layer}/attention/linear_1"), 2 * w, w);
                model.linear(&format!("{layer}/attention/linear_2"), w, w);
            }
            model.norm(&format!("{layer}/ffn"));
            model.linear(&format!("{layer}/ffn/linear_0"), 4 * w, w);
            model.linear(&format!("{layer}/ffn/linear_1"), w, 4 * w);
        }
        model.variables.push(("encoder/num_heads".into(), vec![], 2, vec![2, 0]));
        model
    }

    fn add(&mut self, name: &str, dimensions: &[u32]) {
        let elements: u32 = dimensions.iter().product();
        let salt = u32::try_from(self.variables.len()).unwrap() * 37;
        let values = (0..elements).map(|i| half::to_f32(u16::try_from((salt + i) % 0x7000).unwrap()));
        let data = if self.half {
            values.flat_map(|v| half::from_f32(v).to_le_bytes()).collect()
        } else {
            values.flat_map(f32::to_le_bytes).collect()
        };
        let element = if self.half { 4 } else { 0 };
        self.variables.push((name.into(), dimensions.to_vec(), element, data));
    }

    fn linear(&mut self, name: &str, outputs: u32, inputs: u32) {
        self.add(&format!("{name}/weight"), &[outputs, inputs]);
        self.add(&format!("{name}/bias"), &[outputs]);
    }

    fn norm(&mut self, name: &str) {
        self.add(&format!("{name}/layer_norm/gamma"), &[WIDTH]);
        self.add(&format!("{name}/layer_norm/beta"), &[WIDTH]);
    }

    pub(crate) fn variable(&mut self, name: &str) -> &mut (String, Vec<u32>, u8, Vec<u8>) {
        self.variables.iter_mut().find(|v| v.0 == name).unwrap()
    }

    /// The values of a variable.
    pub(crate) fn values(&self, name: &str) -> Vec<f32> {
        let (_, _, element, data) = self.variables.iter().find(|v| v.0 == name).unwrap();
        values(if *element == 4 { ggml::F16 } else { ggml::F32 }, data)
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let text = |text: &str| {
            let len = u16::try_from(text.len() + 1).unwrap().to_le_bytes();
            [&len[..], text.as_bytes(), &[0]].concat()
        };
        let number = |n: usize| u32::try_from(n).unwrap().to_le_bytes();
        let mut out =
            [&number(6)[..], &text("WhisperSpec"), &number(3), &number(self.variables.len())].concat();
        for (name, dimensions, element, data) in &self.variables {
            out.extend(text(name));
            out.push(u8::try_from(dimensions.len()).unwrap());
            out.extend(dimensions.iter().flat_map(|d| d.to_le_bytes()));
            out.push(*element);
            out.extend(number(data.len()));
            out.extend(data);
        }
        out.extend(number(1));
        out.extend(text("decoder/projection/weight"));
        out.extend(text("decoder/embeddings/weight"));
        out
    }
}

/// The values in a tensor's data.
pub(crate) fn values(element_type: u32, data: &[u8]) -> Vec<f32> {
    if element_type == ggml::F16 {
        data.as_chunks::<2>().0.iter().map(|b| half::to_f32(u16::from_le_bytes(*b))).collect()
    } else {
        data.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect()
    }
}

/// Its vocabulary, a token a line.
pub(crate) static VOCABULARY_TEXT: LazyLock<String> = LazyLock::new(|| {
    (0..VOCABULARY).map(|i| if i == 50_256 { "<|endoftext|>\n".into() } else { format!("Ġ{i}\n") }).collect()
});

/// Lays a model's folder.
pub(crate) fn lay(folder: &Path, model: &[u8]) {
    std::fs::write(folder.join("model.bin"), model).unwrap();
    std::fs::write(folder.join("vocabulary.txt"), &*VOCABULARY_TEXT).unwrap();
}
