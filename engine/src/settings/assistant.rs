//! What is set about the live assistant.

use super::Settings;
use super::key::{
    ASSISTANT_COOLDOWN_S, ASSISTANT_ENABLED, ASSISTANT_MAX_PER_MEETING, ASSISTANT_NAME, SettingKey,
    VOICE_COMMAND,
};

/// What is set about the live assistant, defaults included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssistantSettings {
    /// Whether it may listen and speak at all.
    pub enabled: bool,
    /// The name it answers to.
    pub name: String,
    /// Seconds between two things it says.
    pub cooldown_s: u32,
    /// How often it may speak in one meeting.
    pub max_per_meeting: u32,
    /// The command that speaks, when one is set.
    pub voice_command: Option<String>,
}

impl Settings {
    /// What is set about the live assistant.
    ///
    /// ```
    /// let assistant = ambient_engine::settings::Settings::default().assistant();
    /// assert!(!assistant.enabled);
    /// assert_eq!((assistant.name.as_str(), assistant.cooldown_s), ("Claude", 60));
    /// ```
    pub fn assistant(&self) -> AssistantSettings {
        AssistantSettings {
            enabled: self.get(&ASSISTANT_ENABLED) == true,
            name: self.text(&ASSISTANT_NAME).unwrap_or_else(|| default_text(&ASSISTANT_NAME)),
            cooldown_s: self.count(&ASSISTANT_COOLDOWN_S),
            max_per_meeting: self.count(&ASSISTANT_MAX_PER_MEETING),
            voice_command: self.text(&VOICE_COMMAND),
        }
    }

    fn count(&self, key: &SettingKey) -> u32 {
        self.get(key).as_u64().and_then(|count| u32::try_from(count).ok()).unwrap_or(0)
    }
}

fn default_text(key: &SettingKey) -> String {
    key.default_value().as_str().unwrap_or_default().to_owned()
}
