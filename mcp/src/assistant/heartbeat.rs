//! The sign that an assistant listens, for whoever shows it to people: one small file for each process.
//!
//! It lies in `assistant/` beside the settings, named by the process, and is written anew every other
//! second. A reader believes it while the process lives and [`FRESH_S`](self) has not passed. So two
//! servers never write or remove each other's, and one that was killed leaves a sign that goes stale.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;

/// Seconds for which a sign is believed.
const FRESH_S: u64 = 10;

/// What the assistant is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Activity {
    /// It reads along.
    Listening,
    /// It can be heard, or is about to be.
    Speaking,
}

#[derive(Serialize)]
struct Sign<'a> {
    pid: u32,
    session: &'a str,
    state: Activity,
    updated_at: u64,
}

/// Where this process gives its sign.
#[derive(Clone, Debug)]
pub(super) struct Heartbeat {
    folder: PathBuf,
    pid: u32,
}

impl Heartbeat {
    /// Below the folder of the settings.
    pub(super) fn new(settings_folder: &Path) -> Self {
        Self { folder: settings_folder.join("assistant"), pid: std::process::id() }
    }

    fn path(&self) -> PathBuf {
        self.folder.join(format!("{}.json", self.pid))
    }

    /// Gives the sign. A sign that cannot be given keeps nobody from listening.
    pub(super) fn beat(&self, session: &str, state: Activity) {
        let updated_at = unix_s(SystemTime::now());
        let sign = Sign { pid: self.pid, session, state, updated_at };
        // There is nobody to tell: the log says that an assistant joined, this file is for lookers-on.
        let _ = self.replace(&sign);
    }

    fn replace(&self, sign: &Sign<'_>) -> io::Result<()> {
        let staged = self.folder.join(format!(".{}.json.tmp", self.pid));
        fs::create_dir_all(&self.folder)?;
        fs::write(&staged, serde_json::to_vec(sign)?)?;
        fs::rename(&staged, self.path())
    }

    /// Takes the sign back, and clears away those that killed processes left long ago.
    pub(super) fn stop(&self) {
        // What is not there need not be removed.
        let _ = fs::remove_file(self.path());
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let modified = entry.metadata().and_then(|metadata| metadata.modified());
            let is_stale = modified.is_ok_and(|modified| {
                unix_s(SystemTime::now()) > unix_s(modified).saturating_add(60 * FRESH_S)
            });
            if is_stale {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

fn unix_s(moment: SystemTime) -> u64 {
    moment.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(path: &Path) -> Option<Value> {
        serde_json::from_slice(&fs::read(path).ok()?).ok()
    }

    #[test]
    fn each_process_has_a_sign_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let mine = Heartbeat::new(folder.path());
        let other = Heartbeat { pid: 1, ..mine.clone() };
        mine.beat("here", Activity::Listening);
        other.beat("there", Activity::Speaking);
        let sign = read(&mine.path()).unwrap();
        let expected = json!({"pid": std::process::id(), "session": "here", "state": "listening",
            "updated_at": sign["updated_at"]});
        assert_eq!(sign, expected);
        assert!(sign["updated_at"].is_u64());
        mine.stop();
        assert_eq!(read(&mine.path()), None);
        assert_eq!(read(&other.path()).unwrap()["session"], "there");
    }

    #[test]
    fn what_a_killed_process_left_goes_away_in_time() {
        let folder = tempfile::tempdir().unwrap();
        let mine = Heartbeat::new(folder.path());
        let dead = Heartbeat { pid: 1, ..mine.clone() };
        dead.beat("there", Activity::Speaking);
        let file = fs::File::options().write(true).open(dead.path()).unwrap();
        file.set_modified(UNIX_EPOCH).unwrap();
        mine.stop();
        assert!(!dead.path().exists());
    }
}
