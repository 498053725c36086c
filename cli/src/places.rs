//! Where things are: the settings file and the sessions.
//!
//! Only `AMBIENT_*` and `HOME` are asked, so that a program which starts Ambient with an almost empty
//! environment finds what the terminal finds.

use std::env;
use std::path::PathBuf;

use ambient_capture::models::directory::ModelDirectory;
use ambient_engine::session::sessions_root;
use ambient_engine::settings::{self, Settings, SettingsError};

use crate::output;

/// The settings file.
pub(crate) fn settings_file() -> Result<PathBuf, SettingsError> {
    settings::file(|name| env::var_os(name))
}

/// The settings; what is wrong with them is told on stderr, and the defaults take its place.
pub(crate) fn settings() -> Settings {
    // Without a place for the file there is none, which is no fault of a reader.
    let Ok(path) = settings_file() else { return Settings::default() };
    let (settings, faults) = Settings::read_or_default(&path);
    for fault in faults {
        output::warning(&format!("{fault}; going on with the default"));
    }
    settings
}

/// The folder that holds the sessions.
pub(crate) fn sessions_dir(settings: &Settings) -> anyhow::Result<PathBuf> {
    let variable = |name| env::var_os(name);
    let setting = settings.sessions_dir();
    Ok(sessions_root(variable("AMBIENT_HOME").as_deref(), setting.as_deref(), variable("HOME").as_deref())?)
}

/// The folder that holds the models.
pub(crate) fn models() -> anyhow::Result<ModelDirectory> {
    Ok(ModelDirectory::from_environment(env::var_os("AMBIENT_MODELS"), env::var_os("HOME"))?)
}
