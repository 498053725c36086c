//! Converting a CTranslate2 model, on a small one made here: right bytes for a sound model, a named error for any
//! other, and never a panic.

use crate::ct2_model::{Synthetic, VOCABULARY, VOCABULARY_TEXT, WIDTH, lay, values};
use ambient_capture::models::ct2::convert::{Conversion, ConvertError, Folder};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

static GO_ON: AtomicBool = AtomicBool::new(false);

fn convert(folder: &Path) -> Result<Vec<u8>, ConvertError> {
    let conversion = Conversion::plan(&Folder::find(folder)?)?;
    let (mut out, mut last) = (Vec::new(), 0);
    conversion.write(&mut out, &GO_ON, &mut |done| last = done)?;
    assert_eq!(out.len() as u64, conversion.size_bytes(), "the announced size is the size");
    assert_eq!(last, conversion.size_bytes(), "progress ends at the end");
    Ok(out)
}

fn converted(model: &[u8]) -> Result<Vec<u8>, ConvertError> {
    let folder = tempfile::tempdir().unwrap();
    lay(folder.path(), model);
    convert(folder.path())
}

/// A ggml file taken apart by the letter of its layout: header, tokens, and tensors as dimensions, type, data.
struct Taken {
    header: Vec<u32>,
    tokens: Vec<Vec<u8>>,
    tensors: BTreeMap<String, (Vec<u32>, u32, Vec<u8>)>,
}

fn take_apart(file: &[u8]) -> Taken {
    let mut rest = file;
    let mut take = |len: usize| {
        let (now, later) = rest.split_at(len);
        rest = later;
        (now.to_vec(), later.is_empty())
    };
    let number = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
    let header: Vec<u32> = take(56).0.as_chunks::<4>().0.iter().map(|b| u32::from_le_bytes(*b)).collect();
    take(header[12] as usize * header[13] as usize * 4);
    let mut tokens = Vec::new();
    for _ in 0..number(&take(4).0) {
        let len = number(&take(4).0) as usize;
        tokens.push(take(len).0);
    }
    let mut tensors = BTreeMap::new();
    loop {
        let (rank, name_len, kind) = (number(&take(4).0), number(&take(4).0), number(&take(4).0));
        let mut dimensions: Vec<u32> = (0..rank).map(|_| number(&take(4).0)).collect();
        dimensions.reverse();
        let name = String::from_utf8(take(name_len as usize).0).unwrap();
        let elements: u32 = dimensions.iter().product();
        let (data, end) = take(elements as usize * if kind == 0 { 4 } else { 2 });
        assert!(tensors.insert(name, (dimensions, kind, data)).is_none());
        if end {
            return Taken { header, tokens, tensors };
        }
    }
}

#[test]
fn every_tensor_holds_the_rows_it_is_named_for() {
    let model = Synthetic::whisper(true);
    let file = take_apart(&converted(&model.bytes()).unwrap());
    assert_eq!(file.header, [0x6767_6d6c, VOCABULARY, 6, 4, 2, 1, 5, 4, 2, 2, 3, 1, 3, 201]);
    assert_eq!(file.tokens.len(), 50_257);
    assert_eq!((&file.tokens[7][..], &file.tokens[50_256][..]), (&b" 7"[..], &b"<|endoftext|>"[..]));
    assert_eq!(file.tensors.len(), 11 + 15 + 2 * 24);
    let is = |tensor: &str, variable: &str, rows: std::ops::Range<usize>| {
        let (dimensions, kind, data) = &file.tensors[tensor];
        let row: usize = dimensions[1..].iter().map(|d| *d as usize).product();
        let expected = &model.values(variable)[rows.start * row..rows.end * row];
        assert_eq!(values(*kind, data), expected, "{tensor}");
    };
    let w = WIDTH as usize;
    for (layer, block) in [("encoder/layer_0", "encoder.blocks.0"), ("decoder/layer_1", "decoder.blocks.1")] {
        for (n, part) in ["query", "key", "value"].into_iter().enumerate() {
            let rows = n * w..(n + 1) * w;
            is(
                &format!("{block}.attn.{part}.weight"),
                &format!("{layer}/self_attention/linear_0/weight"),
                rows,
            );
        }
        is(
            &format!("{block}.attn.value.bias"),
            &format!("{layer}/self_attention/linear_0/bias"),
            2 * w..3 * w,
        );
        is(&format!("{block}.mlp.0.weight"), &format!("{layer}/ffn/linear_0/weight"), 0..4 * w);
        is(&format!("{block}.mlp_ln.bias"), &format!("{layer}/ffn/layer_norm/beta"), 0..w);
    }
    is("decoder.blocks.0.cross_attn.query.weight", "decoder/layer_0/attention/linear_0/weight", 0..w);
    is("decoder.blocks.0.cross_attn.value.weight", "decoder/layer_0/attention/linear_1/weight", w..2 * w);
    is("decoder.blocks.0.cross_attn_ln.weight", "decoder/layer_0/attention/layer_norm/gamma", 0..w);
    is("encoder.conv2.bias", "encoder/conv2/bias", 0..w);
    is("encoder.ln_post.weight", "encoder/layer_norm/gamma", 0..w);
    is("decoder.positional_embedding", "decoder/position_encodings/encodings", 0..5);
    assert!(!file.tensors.contains_key("encoder.blocks.0.attn.key.bias"), "keys have no bias");
}

#[test]
fn full_and_half_precision_sources_give_the_same_file() {
    let halves = converted(&Synthetic::whisper(true).bytes()).unwrap();
    assert!(halves == converted(&Synthetic::whisper(false).bytes()).unwrap());
}

#[test]
fn a_model_in_parts_and_a_json_vocabulary_give_the_same_file() {
    let bytes = Synthetic::whisper(true).bytes();
    let folder = tempfile::tempdir().unwrap();
    for (n, part) in bytes.chunks(bytes.len() / 3 + 1).enumerate() {
        std::fs::write(folder.path().join(format!("model.bin.part{}", n + 1)), part).unwrap();
    }
    let tokens: Vec<_> = VOCABULARY_TEXT.lines().collect();
    std::fs::write(folder.path().join("vocabulary.json"), serde_json::to_vec(&tokens).unwrap()).unwrap();
    assert!(convert(folder.path()).unwrap() == converted(&bytes).unwrap());
}

#[test]
fn what_is_missing_or_wrong_is_named() {
    type Damage = fn(&mut Synthetic);
    let cases: [(Damage, &str); 7] = [
        (|m| m.variable("encoder/conv1/bias").0 = "x".into(), "no variable encoder/conv1/bias"),
        (|m| m.variable("decoder/embeddings/weight").1 = vec![WIDTH, VOCABULARY], "vocabulary is 4"),
        (|m| m.variable("encoder/num_heads").3 = vec![3, 0], "3 heads"),
        (|m| m.variable("encoder/num_heads").3 = vec![255, 255], "heads is 65535"),
        (
            |m| m.variable("decoder/layer_0/ffn/linear_0/weight").1 = vec![WIDTH, 4 * WIDTH],
            "[16, 4] is needed",
        ),
        (
            |m| {
                let ffn = m.variable("encoder/layer_0/ffn/linear_1/weight");
                ffn.2 = 1;
                ffn.3.truncate(64);
            },
            "stored as I8",
        ),
        (|m| m.variables[3].0 = m.variables[2].0.clone(), "a second time"),
    ];
    for (damage, expected) in cases {
        let mut model = Synthetic::whisper(true);
        damage(&mut model);
        let message = converted(&model.bytes()).unwrap_err().to_string();
        assert!(message.contains(expected) && message.contains("model.bin"), "{message}");
    }
}

#[test]
fn a_number_too_large_for_a_half_is_refused_not_made_infinite() {
    let mut model = Synthetic::whisper(false);
    model.variable("encoder/conv1/weight").3[..4].copy_from_slice(&1e6_f32.to_le_bytes());
    assert!(converted(&model.bytes()).unwrap_err().to_string().contains("too large for 16 bits"));
}

#[test]
fn a_vocabulary_of_another_model_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    lay(folder.path(), &Synthetic::whisper(true).bytes());
    std::fs::write(folder.path().join("vocabulary.txt"), "a\nb\n").unwrap();
    assert!(convert(folder.path()).unwrap_err().to_string().contains("2 tokens"));
    std::fs::remove_file(folder.path().join("vocabulary.txt")).unwrap();
    assert!(convert(folder.path()).unwrap_err().to_string().contains("vocabulary"));
}

#[test]
fn a_request_to_stop_is_heard() {
    let folder = tempfile::tempdir().unwrap();
    lay(folder.path(), &Synthetic::whisper(true).bytes());
    let conversion = Conversion::plan(&Folder::find(folder.path()).unwrap()).unwrap();
    let result = conversion.write(&mut Vec::new(), &AtomicBool::new(true), &mut |_| ());
    assert!(matches!(result, Err(ConvertError::Interrupted)));
}

static SOUND: LazyLock<Vec<u8>> = LazyLock::new(|| Synthetic::whisper(true).bytes());

/// Positions of everything that is not a weight: the embedding, most of the file, begins at byte 72.
fn a_telling_position() -> impl Strategy<Value = usize> {
    let after_embedding = 72 + VOCABULARY as usize * WIDTH as usize * 2;
    prop_oneof![0..80_usize, after_embedding..SOUND.len()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_cut_file_is_an_error_with_a_position(at in a_telling_position()) {
        let message = converted(&SOUND[..at]).unwrap_err().to_string();
        prop_assert!(message.contains("at byte"), "{}", message);
    }

    #[test]
    fn damaged_bytes_give_a_file_or_an_error(
        damage in prop::collection::vec((a_telling_position(), any::<u8>()), 1..4)
    ) {
        let mut bytes = SOUND.clone();
        for (at, byte) in damage {
            bytes[at] = byte;
        }
        if let Ok(file) = converted(&bytes) {
            take_apart(&file);
        }
    }

    #[test]
    fn noise_is_an_error(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(converted(&bytes).is_err());
    }
}
