//! What a figure was measured on. Without it the figure says nothing.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Serialize;

use crate::peer::sqlite_version;

/// File systems that keep their files in memory.
const MEMORY_FILE_SYSTEMS: [&str; 3] = ["tmpfs", "ramfs", "devtmpfs"];
const UNKNOWN: &str = "unknown";

/// The machine, the versions, and how busy it was.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Machine {
    pub(crate) date: String,
    /// Which state of the sources was measured, where the version control tells.
    pub(crate) commit: String,
    pub(crate) cpu: String,
    pub(crate) cores: usize,
    pub(crate) kernel: String,
    pub(crate) file_system: String,
    pub(crate) rustc: &'static str,
    pub(crate) sqlite: &'static str,
    /// Processes that wanted to run, on average of a minute, before the first and after the last round.
    pub(crate) load_before: Option<f64>,
    pub(crate) load_after: Option<f64>,
}

impl Machine {
    /// Looks at this machine and at the file system that holds `directory`, an existing directory.
    pub(crate) fn look(directory: &Path) -> Result<Self> {
        let directory =
            directory.canonicalize().with_context(|| format!("no directory {}", directory.display()))?;
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let file_system = file_system_of(&directory, &mounts).unwrap_or_else(|| UNKNOWN.to_owned());
        Ok(Self {
            date: jiff::Timestamp::now().to_string().chars().take_while(|letter| *letter != 'T').collect(),
            commit: commit().unwrap_or_else(|| UNKNOWN.to_owned()),
            cpu: cpu_model().unwrap_or_else(|| UNKNOWN.to_owned()),
            cores: std::thread::available_parallelism()?.get(),
            kernel: kernel(),
            file_system,
            rustc: env!("AMBIENT_BENCHES_RUSTC"),
            sqlite: sqlite_version(),
            load_before: load(),
            load_after: None,
        })
    }

    /// Refuses to measure in memory, where nothing that is about a disk can be learnt.
    pub(crate) fn require_disk(&self) -> Result<()> {
        if MEMORY_FILE_SYSTEMS.contains(&self.file_system.as_str()) {
            bail!("that directory lies in memory ({}); name one on a disk with --dir", self.file_system);
        }
        Ok(())
    }

    /// Whether nobody could tell that the directory is on a disk.
    pub(crate) fn is_file_system_unknown(&self) -> bool {
        self.file_system == UNKNOWN
    }

    /// Notes how busy the machine was in the end.
    pub(crate) fn finish(&mut self) {
        self.load_after = load();
    }
}

/// The type of the file system with the longest mount point that `directory` lies below, from the text of
/// Linux' `mountinfo`.
fn file_system_of(directory: &Path, mounts: &str) -> Option<String> {
    let mounted = mounts.lines().filter_map(|mount| {
        let (place, source) = mount.split_once(" - ")?;
        let point = place.split(' ').nth(4)?;
        directory.starts_with(point).then_some((point.len(), source.split(' ').next()?))
    });
    // Of two mounts on one point the later one is on top.
    mounted.max_by_key(|(len, _)| *len).map(|(_, kind)| kind.to_owned())
}

fn cpu_model() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn kernel() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{} {}", std::env::consts::OS, release.trim()).trim().to_owned()
}

fn commit() -> Option<String> {
    let sources = env!("CARGO_MANIFEST_DIR");
    let output =
        Command::new("git").args(["-C", sources, "describe", "--always", "--dirty"]).output().ok()?;
    let commit = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (!commit.is_empty()).then_some(commit)
}

fn load() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
23 22 0:20 / /dev rw,nosuid - devtmpfs udev rw,size=10k
24 23 0:21 / /dev/shm rw,nosuid shared:4 - tmpfs tmpfs rw
25 22 254:1 / /srv/data rw shared:5 master:1 - xfs /dev/vdb rw
";

    #[test]
    fn the_nearest_mount_says_what_a_directory_lies_on() {
        let on = |path: &str| file_system_of(Path::new(path), MOUNTS);
        assert_eq!(on("/home/someone").as_deref(), Some("ext4"));
        assert_eq!(on("/dev/shm/x").as_deref(), Some("tmpfs"));
        assert_eq!(on("/srv/data").as_deref(), Some("xfs"));
        assert_eq!(on("/srv/database").as_deref(), Some("ext4"), "a name that only begins alike");
        assert_eq!(file_system_of(Path::new("/x"), "nonsense\n\n - \n"), None);
    }

    #[test]
    fn memory_is_refused_and_a_disk_is_not() {
        let mut machine = Machine::look(&std::env::temp_dir()).unwrap();
        for (file_system, is_fit) in [("tmpfs", false), ("ramfs", false), ("ext4", true), (UNKNOWN, true)] {
            machine.file_system = file_system.to_owned();
            assert_eq!(machine.require_disk().is_ok(), is_fit, "{file_system}");
        }
    }

    #[test]
    fn a_directory_that_is_not_there_is_named() {
        let error = Machine::look(Path::new("/no/such/place")).unwrap_err().to_string();
        assert!(error.contains("/no/such/place"), "{error}");
    }
}
