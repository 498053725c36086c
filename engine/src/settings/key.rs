//! The table of settings: every key with its type, its default and a sentence of help.
//!
//! A key stands here when something reads it, or when the predecessor's file has it and a person may
//! have chosen its value. Checking, listing and help all work from this table.

use std::path::Path;

use serde_json::{Number, Value, json};

use super::SettingsError;

/// The word that stands for a key's default in [`set`](super::set).
pub const DEFAULT_WORD: &str = "default";

/// What a key's value may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingKind {
    /// An absolute path, or nothing.
    Directory,
    /// A word or a name that is not blank, or nothing.
    Text,
    /// Yes or no.
    Switch,
    /// A number from 0 to 1.
    Fraction,
    /// A whole number of seconds, days or times.
    Count,
    /// A whole number of days, or nothing for `forever`.
    Days,
}

impl SettingKind {
    /// What to write for a value of this kind, for messages and help.
    pub const fn expects(self) -> &'static str {
        match self {
            Self::Directory => "an absolute path",
            Self::Text => "a text that is not blank",
            Self::Switch => "true or false",
            Self::Fraction => "a number from 0 to 1",
            Self::Count => "a whole number from 0 to 4294967295",
            Self::Days => "a whole number of days, or forever",
        }
    }

    /// Turns what a person typed into the value that is stored.
    pub(super) fn parse(self, text: &str) -> Option<Value> {
        let text = text.trim();
        match self {
            Self::Directory | Self::Text => self.accept(json!(text)),
            Self::Switch => match text.to_ascii_lowercase().as_str() {
                "true" | "yes" | "on" | "1" => Some(json!(true)),
                "false" | "no" | "off" | "0" => Some(json!(false)),
                _ => None,
            },
            Self::Fraction => self.accept(Value::Number(Number::from_f64(text.parse().ok()?)?)),
            Self::Days if matches!(text, "forever" | "never") => Some(Value::Null),
            Self::Count | Self::Days => self.accept(json!(text.parse::<u32>().ok()?)),
        }
    }

    /// Gives the value back when it is of this kind.
    pub(super) fn accept(self, value: Value) -> Option<Value> {
        let good = match self {
            Self::Directory => value.as_str().is_some_and(|path| Path::new(path).is_absolute()),
            Self::Text => value.as_str().is_some_and(|text| !text.trim().is_empty()),
            Self::Switch => value.is_boolean(),
            Self::Fraction => value.as_f64().is_some_and(|number| (0.0..=1.0).contains(&number)),
            Self::Count | Self::Days => value.as_u64().is_some_and(|number| u32::try_from(number).is_ok()),
        };
        let nothing = value.is_null() && matches!(self, Self::Directory | Self::Text | Self::Days);
        (good || nothing).then_some(value)
    }
}

/// A key's value while the file does not set it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Preset {
    Nothing,
    Text(&'static str),
    Switch(bool),
    Fraction(f64),
    Count(u32),
}

impl Preset {
    fn to_value(self) -> Value {
        match self {
            Self::Nothing => Value::Null,
            Self::Text(text) => json!(text),
            Self::Switch(on) => json!(on),
            Self::Fraction(number) => json!(number),
            Self::Count(number) => json!(number),
        }
    }
}

/// One row of the table of settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SettingKey {
    /// The name, as `config set` takes it.
    pub name: &'static str,
    /// What its value may be.
    pub kind: SettingKind,
    /// One sentence on what it does.
    pub help: &'static str,
    preset: Preset,
}

impl SettingKey {
    /// The value that counts while the file says nothing.
    pub fn default_value(&self) -> Value {
        self.preset.to_value()
    }

    /// A value of this key as a person reads and types it.
    ///
    /// ```
    /// use ambient_engine::settings::find_key;
    /// let key = find_key("audio_retention_days").unwrap();
    /// assert_eq!(key.show(&serde_json::json!(7)), "7");
    /// assert_eq!(key.show(&serde_json::Value::Null), "forever");
    /// ```
    pub fn show(&self, value: &Value) -> String {
        match value {
            Value::Null if self.kind == SettingKind::Days => "forever".to_owned(),
            Value::Null => DEFAULT_WORD.to_owned(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }
}

const fn key(name: &'static str, kind: SettingKind, preset: Preset, help: &'static str) -> SettingKey {
    SettingKey { name, kind, help, preset }
}

pub(super) const SESSIONS_DIR: SettingKey =
    key("sessions_dir", SettingKind::Directory, Preset::Nothing, "Folder that holds the sessions.");
pub(super) const MODEL: SettingKey =
    key("model", SettingKind::Text, Preset::Nothing, "Model that turns speech into text.");
pub(super) const LANGUAGE: SettingKey = key(
    "language",
    SettingKind::Text,
    Preset::Nothing,
    "Language that is spoken, such as en; by default it is detected.",
);

pub(super) const ASSISTANT_ENABLED: SettingKey = key(
    "assistant.enabled",
    SettingKind::Switch,
    Preset::Switch(false),
    "Let an assistant listen and speak in a meeting.",
);
pub(super) const ASSISTANT_NAME: SettingKey =
    key("assistant.name", SettingKind::Text, Preset::Text("Claude"), "Name the assistant answers to.");
pub(super) const ASSISTANT_COOLDOWN_S: SettingKey =
    key("assistant.cooldown_s", SettingKind::Count, Preset::Count(60), "Seconds between two things it says.");
pub(super) const ASSISTANT_MAX_PER_MEETING: SettingKey = key(
    "assistant.max_per_meeting",
    SettingKind::Count,
    Preset::Count(10),
    "How often it may speak in one meeting.",
);
pub(super) const VOICE_COMMAND: SettingKey = key(
    "voice.command",
    SettingKind::Text,
    Preset::Nothing,
    "Command that speaks for the assistant; by default Ambient's own voice.",
);

pub(super) const ASK_BEFORE_RECORDING: SettingKey = key(
    "ask_before_recording",
    SettingKind::Switch,
    Preset::Switch(true),
    "Ask before each recording whether everybody agreed to it.",
);

pub(super) const AUDIO_RETENTION_DAYS: SettingKey = key(
    "audio_retention_days",
    SettingKind::Days,
    Preset::Count(7),
    "Days to keep audio once its transcript is complete.",
);

/// Every key there is, in the order in which they are listed.
pub const KEYS: &[SettingKey] = &[
    SESSIONS_DIR,
    MODEL,
    LANGUAGE,
    ASK_BEFORE_RECORDING,
    AUDIO_RETENTION_DAYS,
    key(
        "diarize",
        SettingKind::Switch,
        Preset::Switch(true),
        "Tell voices apart after transcribing; not applied by this version.",
    ),
    key(
        "threshold",
        SettingKind::Fraction,
        Preset::Fraction(0.5),
        "How different two voices must be; not applied by this version.",
    ),
    ASSISTANT_ENABLED,
    ASSISTANT_NAME,
    ASSISTANT_COOLDOWN_S,
    ASSISTANT_MAX_PER_MEETING,
    VOICE_COMMAND,
];

/// The row of the table with this name.
///
/// # Errors
/// There is none; the message names all that exist.
pub fn find_key(name: &str) -> Result<&'static SettingKey, SettingsError> {
    KEYS.iter()
        .find(|key| key.name == name)
        .ok_or_else(|| SettingsError::UnknownKey(name.chars().take(80).collect()))
}

/// The names of all keys, comma-separated.
pub(super) fn key_names() -> String {
    KEYS.iter().map(|key| key.name).collect::<Vec<_>>().join(", ")
}
