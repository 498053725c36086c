//! `ambient config`: the settings, read and changed.

use ambient_engine::settings::{self, KEYS, SettingKey, Settings};
use serde_json::{Value, json};

use crate::arguments::{Config, ConfigAction, Reading};
use crate::exit::Exit;
use crate::output::{self, Colour, Page};
use crate::places;

pub(crate) fn run(config: Config) -> anyhow::Result<Exit> {
    match config.action.unwrap_or(ConfigAction::List(config.reading)) {
        ConfigAction::Get { key, reading } => get(&key, &reading),
        ConfigAction::Set { key, value } => set(&key, &value),
        ConfigAction::List(reading) => list(&reading),
    }
}

fn get(name: &str, reading: &Reading) -> anyhow::Result<Exit> {
    let key = settings::find_key(name)?;
    let value = places::settings().get(key);
    if reading.json {
        output::json(&value)?;
    } else {
        output::line(&key.show(&value))?;
    }
    Ok(Exit::Done)
}

fn set(name: &str, text: &str) -> anyhow::Result<Exit> {
    let path = places::settings_file()?;
    let value = settings::set(&path, name, text)?;
    let shown = settings::find_key(name)?.show(&value);
    output::line(&format!("{name} = {shown}"))?;
    output::note(&format!("written to {}", path.display()));
    Ok(Exit::Done)
}

fn list(reading: &Reading) -> anyhow::Result<Exit> {
    let path = places::settings_file()?;
    let settings = places::settings();
    if reading.json {
        let rows: Vec<Value> = KEYS.iter().map(|key| row(key, &settings)).collect();
        output::json(&rows)?;
        return Ok(Exit::Done);
    }
    let shown: Vec<String> = KEYS.iter().map(|key| key.show(&settings.get(key))).collect();
    let name_columns = KEYS.iter().map(|key| key.name.len()).max().unwrap_or(0) + 2;
    let value_columns = shown.iter().map(String::len).max().unwrap_or(0) + 2;
    let mut page = Page::for_stdout();
    for (key, value) in KEYS.iter().zip(&shown) {
        page.painted(Colour::Bold, key.name).fill(key.name, name_columns);
        page.plain(value).fill(value, value_columns);
        page.painted(Colour::Dim, key.help).end_line();
    }
    page.print()?;
    let state = if path.exists() { "" } else { " (not there yet: all defaults)" };
    output::note(&format!("settings file: {}{state}", path.display()));
    Ok(Exit::Done)
}

fn row(key: &SettingKey, settings: &Settings) -> Value {
    json!({
        "key": key.name,
        "value": settings.get(key),
        "default": key.default_value(),
        "expects": key.kind.expects(),
        "help": key.help,
    })
}
