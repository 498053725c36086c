//! The switch that turns the assistant on, and the limits beside it: read anew each time they are needed.
//!
//! Off is what cannot be read. But an editor that is just writing the file makes nobody leave a meeting, so
//! a file that cannot be understood is looked at again for a moment.

use std::fmt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use ambient_engine::settings::{AssistantSettings, Settings};

/// How often a file that cannot be understood is looked at.
const LOOKS: u32 = 5;
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(40);

/// Where the switch is.
#[derive(Clone, Debug)]
pub(super) struct Switch(PathBuf);

/// The assistant is off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Off(Option<String>);

impl fmt::Display for Off {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            None => formatter.write_str(
                "The live assistant is turned off. Only the user can turn it on, with `ambient config set \
                 assistant.enabled true`; tell them, and do not try again until they have.",
            ),
            Some(fault) => write!(
                formatter,
                "The live assistant counts as turned off, because its settings cannot be read: {fault}"
            ),
        }
    }
}

impl Switch {
    /// The settings file at `path`.
    pub(super) fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// The folder of the settings file.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.0.parent()
    }

    /// What is set.
    ///
    /// # Errors
    /// The assistant is off.
    pub(super) fn look(&self) -> Result<AssistantSettings, Off> {
        let settings = self.read().map_err(|fault| Off(Some(fault)))?.assistant();
        if settings.enabled { Ok(settings) } else { Err(Off(None)) }
    }

    /// The settings, whether the assistant is on or off.
    pub(super) fn settings(&self) -> AssistantSettings {
        self.read().unwrap_or_default().assistant()
    }

    fn read(&self) -> Result<Settings, String> {
        let mut looks = 1;
        loop {
            match Settings::read(&self.0) {
                Ok(settings) => return Ok(settings),
                Err(error) if looks == LOOKS => return Err(error.to_string()),
                Err(_) => thread::sleep(PAUSE),
            }
            looks += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn it_is_off_until_someone_turns_it_on() {
        let folder = tempfile::tempdir().unwrap();
        let switch = Switch::new(folder.path().join("config.json"));
        assert_eq!(switch.look(), Err(Off(None)));
        for (content, is_on) in [
            (r#"{"assistant": {"enabled": true}}"#, true),
            (r#"{"assistant": {"enabled": false}}"#, false),
            (r#"{"assistant": {"enabled": "true"}}"#, false),
            (r#"{"assistant": {"enab"#, false),
        ] {
            fs::write(folder.path().join("config.json"), content).unwrap();
            assert_eq!(switch.look().is_ok(), is_on, "{content}");
        }
        let off = switch.look().unwrap_err().to_string();
        assert!(off.contains("turned off") && off.contains("config.json"), "{off}");
    }

    #[test]
    fn a_file_that_is_being_written_turns_nothing_off() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.json");
        let switch = Switch::new(path.clone());
        // Whenever it is found half written, it is whole before the looks are over.
        fs::write(&path, r#"{"assistant": {"ena"#).unwrap();
        let writing = thread::spawn(move || fs::write(&path, r#"{"assistant": {"enabled": true}}"#).unwrap());
        assert!(switch.look().is_ok());
        writing.join().unwrap();
    }
}
