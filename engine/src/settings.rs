//! The settings file: a JSON object a person may also edit by hand.
//!
//! Rules. One table ([`KEYS`]) knows every key, its type and its default; nothing else does. What the
//! table does not know is kept when the file is rewritten, so that older and newer versions can share a
//! file. A missing file means the defaults. A file that cannot be understood also means the defaults for
//! a reader, who is told; a writer refuses it, because replacing it would lose what a person wrote.
//! Writers take a lock beside the file, so that two of them setting two keys lose neither.
//!
//! Keys with a dot live in an object: `assistant.name` is `{"assistant": {"name": …}}`.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;
use serde_json::{Map, Value};

use crate::session::{Directory, DirectoryError};

mod assistant;
mod key;

pub use assistant::AssistantSettings;
use key::{ASK_BEFORE_RECORDING, AUDIO_RETENTION_DAYS, LANGUAGE, MODEL, SESSIONS_DIR, key_names};
pub use key::{DEFAULT_WORD, KEYS, SettingKey, SettingKind, find_key};

/// Largest settings file that is read: far above any real one, far below what would hurt.
pub const SETTINGS_LEN_MAX_BYTES: u64 = 1 << 20;

/// What is wrong with the settings file, or with what someone wants to put into it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// Neither the variable nor a home folder says where the file is.
    #[error("the settings file has no place: set HOME, or AMBIENT_CONFIG to a file")]
    NoPlace,
    /// The file, its lock or their folder cannot be used.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// The file is not a JSON object.
    #[error("{} is not a valid settings file: {reason}; correct it, or move it away to start afresh", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is wrong, with line and column where there is one.
        reason: String,
    },
    /// No such key.
    #[error("{0:?} is not a setting; the settings are {names}", names = key_names())]
    UnknownKey(String),
    /// The value is not of the key's kind.
    #[error("{value:?} is not a value for {key}; use {expects}")]
    BadValue {
        /// The key.
        key: &'static str,
        /// The value, as it stands.
        value: String,
        /// What is accepted.
        expects: &'static str,
    },
}

/// Where the settings file is: `AMBIENT_CONFIG`, else the platform's configuration folder in the home
/// folder. `variable` looks up an environment variable; nothing but these two is asked, so that a program
/// started with an almost empty environment finds the same file.
///
/// # Errors
/// Neither `AMBIENT_CONFIG` nor `HOME` is set.
///
/// ```
/// use ambient_engine::settings;
/// let file = settings::file(|name| (name == "AMBIENT_CONFIG").then(|| "/tmp/c.json".into())).unwrap();
/// assert_eq!(file.to_str(), Some("/tmp/c.json"));
/// ```
pub fn file(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, SettingsError> {
    let set = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(path) = set("AMBIENT_CONFIG") {
        return Ok(path);
    }
    let home = set("HOME").ok_or(SettingsError::NoPlace)?;
    Ok(if cfg!(target_os = "macos") {
        home.join("Library/Application Support/Ambient/config.json")
    } else {
        home.join(".config/ambient/config.json")
    })
}

/// The settings as a file gives them, defaults included.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    document: Map<String, Value>,
}

impl Settings {
    /// Reads the file at `path`; a missing one gives the defaults.
    ///
    /// # Errors
    /// The file is there and cannot be read, or is not a JSON object. A single bad value is not an error:
    /// see [`Settings::faults`].
    pub fn read(path: &Path) -> Result<Self, SettingsError> {
        let Some(bytes) = read_bytes(&followed(path))? else { return Ok(Self::default()) };
        let corrupt = |reason: String| SettingsError::Corrupt { path: path.to_owned(), reason };
        // An editor may have put a byte order mark in front; JSON parsers refuse it.
        let json = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
        if json.iter().all(u8::is_ascii_whitespace) {
            return Err(corrupt("it is empty".to_owned()));
        }
        match serde_json::from_slice(json) {
            Ok(Value::Object(document)) => Ok(Self { document }),
            Ok(_) => Err(corrupt("it is not a JSON object".to_owned())),
            Err(error) => Err(corrupt(error.to_string())),
        }
    }

    /// Reads the file at `path` as well as it goes: whatever is wrong becomes a message and a default.
    pub fn read_or_default(path: &Path) -> (Self, Vec<SettingsError>) {
        match Self::read(path) {
            Ok(settings) => {
                let faults = settings.faults();
                (settings, faults)
            }
            Err(error) => (Self::default(), vec![error]),
        }
    }

    /// The value of `key`: the file's when it is of the right kind, else the default.
    pub fn get(&self, key: &SettingKey) -> Value {
        self.stored(key)
            .cloned()
            .and_then(|value| key.kind.accept(value))
            .unwrap_or_else(|| key.default_value())
    }

    /// Every known key whose value in the file cannot be used.
    pub fn faults(&self) -> Vec<SettingsError> {
        let bad = |key: &SettingKey| {
            let value = self.stored(key)?;
            key.kind.accept(value.clone()).is_none().then(|| bad_value(key, &value.to_string()))
        };
        KEYS.iter().filter_map(bad).collect()
    }

    /// The folder that holds the sessions, when one is set.
    pub fn sessions_dir(&self) -> Option<PathBuf> {
        self.text(&SESSIONS_DIR).map(PathBuf::from)
    }

    /// The name of the model that turns speech into text, when one is set.
    pub fn model(&self) -> Option<String> {
        self.text(&MODEL)
    }

    /// The language that is spoken, when one is set.
    pub fn language(&self) -> Option<String> {
        self.text(&LANGUAGE)
    }

    /// Whether a person is asked before each recording.
    pub fn asks_before_recording(&self) -> bool {
        self.get(&ASK_BEFORE_RECORDING).as_bool().unwrap_or(true)
    }

    /// Days for which audio is kept once its text is complete; none keeps it for ever.
    pub fn audio_retention_days(&self) -> Option<u32> {
        self.get(&AUDIO_RETENTION_DAYS).as_u64().and_then(|days| u32::try_from(days).ok())
    }

    fn text(&self, key: &SettingKey) -> Option<String> {
        self.get(key).as_str().map(str::to_owned)
    }

    /// What the file holds under the key, whatever it is.
    fn stored(&self, key: &SettingKey) -> Option<&Value> {
        match key.name.split_once('.') {
            None => self.document.get(key.name),
            Some((group, name)) => self.document.get(group)?.as_object()?.get(name),
        }
    }

    /// Puts a value in its place, or takes it out. False: the group's place is taken by something else.
    fn store(&mut self, key: &SettingKey, value: Option<Value>) -> bool {
        let (object, name) = match key.name.split_once('.') {
            None => (&mut self.document, key.name),
            Some((group, name)) => {
                let place = self.document.entry(group).or_insert_with(|| Value::Object(Map::new()));
                let Some(object) = place.as_object_mut() else { return false };
                (object, name)
            }
        };
        match value {
            Some(value) => object.insert(name.to_owned(), value),
            None => object.remove(name),
        };
        true
    }
}

/// Sets one key in the file at `path` to what a person typed, and returns the value that now counts. The
/// word `default` (or nothing at all) takes the key out of the file.
///
/// All other content stays. The file is replaced in one step and is on disk when this returns.
///
/// # Errors
/// Unknown key or unusable value (nothing is touched); a file that is not a valid settings file (it is
/// left as it is); any failure to write.
pub fn set(path: &Path, name: &str, text: &str) -> Result<Value, SettingsError> {
    let key = find_key(name)?;
    let value = match text.trim() {
        "" | DEFAULT_WORD => None,
        _ => Some(key.kind.parse(text).ok_or_else(|| bad_value(key, text))?),
    };
    let path = followed(path);
    let (folder, name_of_file) = split(&path)?;
    let folder = Directory::open_or_create(folder)?;
    let _lock = lock_beside(&folder, name_of_file)?;
    let mut settings = Settings::read(&path)?;
    if !settings.store(key, value) {
        let reason = format!("there is no room for {name}: its group is not an object");
        return Err(SettingsError::Corrupt { path, reason });
    }
    let json = format!("{:#}\n", Value::Object(settings.document.clone()));
    folder.replace(name_of_file, json.as_bytes())?;
    Ok(settings.get(key))
}

fn bad_value(key: &SettingKey, value: &str) -> SettingsError {
    let value = value.chars().take(80).collect();
    SettingsError::BadValue { key: key.name, value, expects: key.kind.expects() }
}

/// Where the file really is. People keep their settings elsewhere and link to them: such a file is read
/// and replaced where it is, so that the link stays one.
fn followed(path: &Path) -> PathBuf {
    path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}

/// The folder a file lies in, and its name.
fn split(path: &Path) -> Result<(&Path, &OsStr), SettingsError> {
    path.parent().zip(path.file_name()).ok_or(SettingsError::NoPlace)
}

/// The file's bytes, or none when there is no file.
fn read_bytes(path: &Path) -> Result<Option<Vec<u8>>, SettingsError> {
    let (folder, name) = split(path)?;
    match Directory::open(folder) {
        Ok(folder) => Ok(folder.read(name, SETTINGS_LEN_MAX_BYTES)?),
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Takes the lock beside the settings file, waiting for another writer.
fn lock_beside(folder: &Directory, name_of_file: &OsStr) -> Result<File, DirectoryError> {
    let mut name = name_of_file.to_owned();
    name.push(".lock");
    let failed = |errno: Errno| DirectoryError::Io {
        action: "lock",
        path: folder.path().join(&name),
        source: errno.into(),
    };
    let file = folder.open_file_with(&name, OFlags::WRONLY | OFlags::CREATE)?.ok_or(failed(Errno::NOENT))?;
    flock(&file, FlockOperation::LockExclusive).map_err(failed)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    fn in_temp() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("folder/config.json");
        (dir, path)
    }

    fn put(path: &Path, content: impl AsRef<[u8]>) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn value_of(settings: &Settings, name: &str) -> Value {
        settings.get(find_key(name).unwrap())
    }

    #[test]
    fn every_default_is_a_value_its_key_accepts() {
        for key in KEYS {
            assert!(key.kind.accept(key.default_value()).is_some(), "{}", key.name);
        }
    }

    #[test]
    fn a_shown_value_can_be_typed_back() {
        let (_dir, path) = in_temp();
        for key in KEYS {
            let shown = key.show(&key.default_value());
            assert_eq!(set(&path, key.name, &shown).unwrap(), key.default_value(), "{}", key.name);
        }
    }

    #[test]
    fn a_missing_file_gives_the_defaults_and_is_not_made() {
        let (_dir, path) = in_temp();
        let (settings, faults) = Settings::read_or_default(&path);
        assert_eq!(value_of(&settings, "audio_retention_days"), json!(7));
        assert!(faults.is_empty() && !path.exists());
    }

    #[test]
    fn what_the_table_does_not_know_survives_a_rewrite() {
        let (_dir, path) = in_temp();
        put(
            &path,
            r#"{"apps":["zoom"],"voice":{"engine":"kokoro"},"assistant":{"accent":"calm","enabled":true}}"#,
        );
        set(&path, "assistant.name", "Iris").unwrap();
        set(&path, "model", "tiny.en").unwrap();
        let document: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let expected = json!({"apps": ["zoom"], "voice": {"engine": "kokoro"}, "model": "tiny.en",
            "assistant": {"accent": "calm", "enabled": true, "name": "Iris"}});
        assert_eq!(document, expected);
    }

    #[test]
    fn default_takes_a_key_out_and_forever_is_stored_as_null() {
        let (_dir, path) = in_temp();
        assert_eq!(set(&path, "audio_retention_days", "forever").unwrap(), Value::Null);
        assert_eq!(value_of(&Settings::read(&path).unwrap(), "audio_retention_days"), Value::Null);
        assert_eq!(set(&path, "audio_retention_days", "default").unwrap(), json!(7));
        assert_eq!(fs::read_to_string(&path).unwrap(), "{}\n");
    }

    #[test]
    fn a_refused_value_touches_nothing() {
        let (_dir, path) = in_temp();
        let refused = [
            ("diarize", "maybe"),
            ("threshold", "1.5"),
            ("threshold", "NaN"),
            ("audio_retention_days", "-1"),
            ("audio_retention_days", "4294967296"),
            ("sessions_dir", "relative/path"),
            ("assistant.max_per_meeting", "2.5"),
        ];
        for (name, value) in refused {
            let error = set(&path, name, value).unwrap_err();
            assert!(matches!(error, SettingsError::BadValue { .. }), "{name} {value}: {error}");
        }
        let error = set(&path, "langauge", "en").unwrap_err().to_string();
        assert!(error.contains("language"), "{error}");
        assert!(!path.parent().unwrap().exists());
    }

    #[test]
    fn a_file_that_cannot_be_understood_is_never_replaced() {
        for content in ["{\"model\": ", "[]", "", "\u{feff} ", "{\"assistant\": 5}", "{} trailing"] {
            let (_dir, path) = in_temp();
            put(&path, content);
            let error = set(&path, "assistant.name", "Iris").unwrap_err();
            assert!(matches!(error, SettingsError::Corrupt { .. }), "{content:?}: {error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), content);
        }
        let (_dir, path) = in_temp();
        put(&path, b"{\"model\": \"\xff\"}");
        assert!(matches!(Settings::read(&path), Err(SettingsError::Corrupt { .. })));
    }

    #[test]
    fn one_bad_value_costs_that_value_only() {
        let (_dir, path) = in_temp();
        put(&path, r#"{"model": 5, "diarize": false, "language": "en"}"#);
        let (settings, faults) = Settings::read_or_default(&path);
        assert_eq!(settings.model(), None);
        assert_eq!(settings.language().as_deref(), Some("en"));
        assert_eq!(value_of(&settings, "diarize"), json!(false));
        assert_eq!(faults.len(), 1);
        assert!(faults[0].to_string().contains("model"), "{}", faults[0]);
    }

    #[test]
    fn a_byte_order_mark_is_not_a_fault() {
        let (_dir, path) = in_temp();
        put(&path, "\u{feff}{\"language\": \"de\"}");
        assert_eq!(Settings::read(&path).unwrap().language().as_deref(), Some("de"));
    }

    #[test]
    fn a_folder_a_pipe_and_a_huge_file_are_refused_without_waiting() {
        let (_dir, path) = in_temp();
        fs::create_dir_all(&path).unwrap();
        assert!(Settings::read(&path).is_err());
        let pipe = path.join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
        let refused = Settings::read(&pipe).unwrap_err();
        assert!(matches!(refused, SettingsError::Directory(DirectoryError::NotAFile { .. })), "{refused}");
        let huge = path.join("huge");
        File::create(&huge).unwrap().set_len(SETTINGS_LEN_MAX_BYTES + 1).unwrap();
        assert!(matches!(
            Settings::read(&huge),
            Err(SettingsError::Directory(DirectoryError::TooLong { .. }))
        ));
    }

    #[test]
    fn a_link_to_the_file_stays_a_link() {
        let (dir, path) = in_temp();
        put(&path, "{}");
        let link = dir.path().join("link.json");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        set(&link, "language", "fr").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(Settings::read(&path).unwrap().language().as_deref(), Some("fr"));
    }

    #[test]
    fn writers_at_the_same_time_lose_no_key() {
        let (_dir, path) = in_temp();
        let writes =
            [("model", "base"), ("language", "en"), ("assistant.name", "Iris"), ("threshold", "0.25")];
        std::thread::scope(|scope| {
            for (name, value) in writes {
                let path = &path;
                scope.spawn(move || set(path, name, value).unwrap());
            }
        });
        let settings = Settings::read(&path).unwrap();
        for (name, value) in writes {
            let key = find_key(name).unwrap();
            assert_eq!(key.show(&settings.get(key)), value);
        }
    }

    #[test]
    fn the_place_follows_two_variables_and_nothing_else() {
        let only_home = |name: &str| (name == "HOME").then(|| "/home/ana".into());
        assert!(file(only_home).unwrap().starts_with("/home/ana"));
        let both = |name: &str| (name == "HOME" || name == "AMBIENT_CONFIG").then(|| "/elsewhere".into());
        assert_eq!(file(both).unwrap(), Path::new("/elsewhere"));
        let blank = |name: &str| Some(if name == "HOME" { "/home/ana" } else { "" }.into());
        assert!(file(blank).unwrap().starts_with("/home/ana"));
        assert!(matches!(file(|_| None), Err(SettingsError::NoPlace)));
    }
}
