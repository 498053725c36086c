//! `ambient doctor`: whether everything needed is there, check by check.
//!
//! It only looks. A check that fails says what to do about it.

use std::path::Path;

use ambient_capture::devices::{self, DeviceKind};
use ambient_capture::models::catalogue::{self, Purpose};
use ambient_capture::models::directory::{ModelDirectory, State};
use ambient_engine::session::{PersonState, SessionRow};
use ambient_engine::settings::Settings;
use ambient_engine::{SystemClock, view};
use rustix::fs::{Access, access};
use serde::Serialize;

use crate::arguments::Reading;
use crate::exit::Exit;
use crate::output::{self, Colour, Page};
use crate::{model_choice, places};

/// What one check found.
#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    ok: bool,
    detail: String,
}

impl Check {
    fn good(name: &'static str, detail: impl Into<String>) -> Self {
        Self { name, ok: true, detail: detail.into() }
    }

    fn bad(name: &'static str, detail: impl Into<String>) -> Self {
        Self { name, ok: false, detail: detail.into() }
    }
}

pub(crate) fn run(reading: &Reading) -> anyhow::Result<Exit> {
    let checks = checks();
    if reading.json {
        output::json(&checks)?;
    } else {
        table(&checks).print()?;
    }
    match checks.iter().filter(|check| !check.ok).count() {
        0 => Ok(Exit::Done),
        1 => {
            output::note("1 check failed");
            Ok(Exit::Failed)
        }
        failed => {
            output::note(&format!("{failed} checks failed"));
            Ok(Exit::Failed)
        }
    }
}

fn table(checks: &[Check]) -> Page {
    let columns = checks.iter().map(|check| check.name.len()).max().unwrap_or(0) + 2;
    let mut page = Page::for_stdout();
    for check in checks {
        let (colour, word) = if check.ok { (Colour::Green, "ok") } else { (Colour::Red, "FAIL") };
        page.painted(colour, word).fill(word, 6);
        page.plain(check.name).fill(check.name, columns).plain(&check.detail).end_line();
    }
    page
}

fn checks() -> Vec<Check> {
    let (config, settings) = config();
    let mut checks = match places::models() {
        Ok(directory) => vec![recogniser(&directory, &settings), voice_activity(&directory)],
        Err(error) => vec![Check::bad("models/recogniser", error.to_string())],
    };
    checks.push(devices());
    checks.push(config);
    match places::sessions_dir(&settings) {
        Ok(root) => checks.extend(sessions(&root)),
        Err(error) => checks.push(Check::bad("sessions/writable", error.to_string())),
    }
    checks
}

fn config() -> (Check, Settings) {
    let name = "config";
    let path = match places::settings_file() {
        Ok(path) => path,
        Err(error) => return (Check::bad(name, error.to_string()), Settings::default()),
    };
    let (settings, faults) = Settings::read_or_default(&path);
    let check = match faults.first() {
        Some(fault) => Check::bad(name, fault.to_string()),
        None if path.exists() => Check::good(name, path.display().to_string()),
        None => Check::good(name, format!("defaults; there is no {}", path.display())),
    };
    (check, settings)
}

fn recogniser(directory: &ModelDirectory, settings: &Settings) -> Check {
    let name = "models/recogniser";
    match model_choice::recogniser(directory, settings.model().as_deref(), settings.language().as_deref()) {
        Ok(model) if is_as_published(directory, &model) => Check::good(name, model),
        Ok(model) => {
            let advice = format!("ambient models remove {model} --yes && ambient models fetch {model}");
            Check::bad(name, format!("{model} has not the published length; to fetch it anew: {advice}"))
        }
        Err(error) => Check::bad(name, format!("{error:#}")),
    }
}

/// Whether the file has the published length. An imported one has nothing to be compared with.
fn is_as_published(directory: &ModelDirectory, name: &str) -> bool {
    let installed = directory.installed().unwrap_or_default();
    installed.iter().find(|model| model.name == name).is_none_or(|model| model.state != State::Differs)
}

fn voice_activity(directory: &ModelDirectory) -> Check {
    let name = "models/voice-activity";
    let known = catalogue::MODELS.iter().filter(|model| model.purpose == Purpose::VoiceActivity);
    let mut here = known.clone().filter(|model| directory.find(model.name).is_ok());
    match (here.next(), known.map(|model| model.name).next()) {
        (Some(model), _) => Check::good(name, model.name),
        (None, Some(missing)) => {
            let text = format!("the built-in one; a better one is had by: ambient models fetch {missing}");
            Check::good(name, text)
        }
        (None, None) => Check::good(name, "the built-in one"),
    }
}

/// What a recording would hear. A machine without sound is no fault: it can transcribe.
fn devices() -> Check {
    let name = "devices";
    let devices = match devices::list() {
        Ok(devices) => devices,
        Err(error) => return Check::good(name, format!("nothing can be recorded here: {error}")),
    };
    let default = |kind| {
        let device = devices.iter().find(|device| device.kind == kind && device.is_default);
        device.map_or("none", |device| device.name.as_str())
    };
    let (mic, system) = (default(DeviceKind::Input), default(DeviceKind::Loopback));
    Check::good(name, format!("microphone: {mic}; the system's sound: {system}"))
}

fn sessions(root: &Path) -> Vec<Check> {
    let mut checks = vec![writable(root)];
    let rows = match view::rows(root, &SystemClock) {
        Ok(rows) => rows,
        Err(error) => {
            checks.push(Check::bad("sessions/readable", error.to_string()));
            return checks;
        }
    };
    let ids = |state| ids(&rows, state);
    let awaiting = count(&ids(PersonState::Pending));
    checks.push(Check::good("sessions/awaiting-transcript", awaiting));
    let interrupted = ids(PersonState::Interrupted);
    checks.push(match interrupted.len() {
        0 => Check::good("sessions/interrupted", "none"),
        _ => Check::bad(
            "sessions/interrupted",
            format!("{}; finished by: ambient resume", count(&interrupted)),
        ),
    });
    let broken = ids(PersonState::Broken);
    checks.push(Check { name: "sessions/broken", ok: broken.is_empty(), detail: count(&broken) });
    checks.push(leftovers(root));
    checks
}

fn ids(rows: &[SessionRow], state: PersonState) -> Vec<&str> {
    rows.iter().filter(|row| row.state == state).map(|row| row.summary.id.as_str()).collect()
}

/// How many, and which of them come first.
fn count(ids: &[&str]) -> String {
    match ids {
        [] => "none".to_owned(),
        [id] => (*id).to_owned(),
        several => format!("{} sessions: {}", several.len(), several[..several.len().min(3)].join(", ")),
    }
}

/// Whether sessions can be made: the folder, or the nearest one above it that exists, can be written.
fn writable(root: &Path) -> Check {
    let name = "sessions/writable";
    match root.ancestors().find(|folder| folder.exists()) {
        Some(folder) if folder.is_dir() && access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok() => {
            Check::good(name, root.display().to_string())
        }
        Some(folder) => Check::bad(name, format!("{} is not a folder that can be written", folder.display())),
        None => Check::bad(name, format!("no folder above {} exists", root.display())),
    }
}

/// Hidden files and folders in which something was being made when it was ended from outside.
fn leftovers(root: &Path) -> Check {
    let name = "sessions/leftovers";
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let left: Vec<String> = names
        .filter(|name| name.starts_with('.') && [".partial", ".tmp"].iter().any(|end| name.ends_with(end)))
        .collect();
    match left.first() {
        None => Check::good(name, "none"),
        Some(first) => {
            let text = format!("{} unfinished, such as {}", left.len(), root.join(first).display());
            Check::bad(name, format!("{text}; unless something is being imported, they can be deleted"))
        }
    }
}
