//! Which CTranslate2 variable each ggml tensor comes from.

/// Where a tensor's data lie: a run of rows of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Name of the variable.
    pub variable: String,
    /// Which of its equal runs of rows, from 0.
    pub run: u64,
    /// How many runs it is made of: three where query, key and value are fused, two for key and value.
    pub runs: u64,
}

/// Where the data of the ggml tensor of this name lie.
///
/// ```
/// use ambient_capture::models::ct2::correspondence::origin_of;
/// let key = origin_of("encoder.blocks.3.attn.key.weight");
/// assert_eq!(key.variable, "encoder/layer_3/self_attention/linear_0/weight");
/// assert_eq!((key.run, key.runs), (1, 3));
/// ```
pub fn origin_of(tensor: &str) -> Origin {
    let (module, part) = tensor.rsplit_once('.').unwrap_or((tensor, ""));
    let norm_part = if part == "weight" { "gamma" } else { "beta" };
    let whole = |variable: String| Origin { variable, run: 0, runs: 1 };
    match (tensor, module) {
        ("decoder.positional_embedding", _) => whole("decoder/position_encodings/encodings".into()),
        ("encoder.positional_embedding", _) => whole("encoder/position_encodings/encodings".into()),
        (_, "decoder.token_embedding") => whole(format!("decoder/embeddings/{part}")),
        (_, "decoder.ln") => whole(format!("decoder/layer_norm/{norm_part}")),
        (_, "encoder.ln_post") => whole(format!("encoder/layer_norm/{norm_part}")),
        _ => match block(module) {
            Some((layer, inner)) => {
                let (inside, run, runs) = inside_block(inner);
                let part = if inner.ends_with("_ln") { norm_part } else { part };
                Origin { variable: format!("{layer}/{inside}/{part}"), run, runs }
            }
            None => whole(tensor.replace('.', "/")),
        },
    }
}

/// Splits `encoder.blocks.3.attn.key` into the variable's layer and what is inside.
fn block(module: &str) -> Option<(String, &str)> {
    let (side, rest) = module.split_once(".blocks.")?;
    let (layer, inner) = rest.split_once('.')?;
    Some((format!("{side}/layer_{layer}"), inner))
}

/// The module inside a layer, the run, and the number of runs.
fn inside_block(inner: &str) -> (&'static str, u64, u64) {
    match inner {
        "attn_ln" => ("self_attention/layer_norm", 0, 1),
        "attn.query" => ("self_attention/linear_0", 0, 3),
        "attn.key" => ("self_attention/linear_0", 1, 3),
        "attn.value" => ("self_attention/linear_0", 2, 3),
        "attn.out" => ("self_attention/linear_1", 0, 1),
        "cross_attn_ln" => ("attention/layer_norm", 0, 1),
        "cross_attn.query" => ("attention/linear_0", 0, 1),
        "cross_attn.key" => ("attention/linear_1", 0, 2),
        "cross_attn.value" => ("attention/linear_1", 1, 2),
        "cross_attn.out" => ("attention/linear_2", 0, 1),
        "mlp_ln" => ("ffn/layer_norm", 0, 1),
        "mlp.0" => ("ffn/linear_0", 0, 1),
        _ => ("ffn/linear_1", 0, 1),
    }
}
