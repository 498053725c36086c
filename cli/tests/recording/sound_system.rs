//! A sound system without hardware: a PulseAudio server of its own, with a sink whose monitor is what the
//! other side says, and a microphone that hears what is played into another sink.

use std::cell::RefCell;
use std::fs;
use std::io::Write as _;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::sandbox::{Run, Sandbox};

/// Longer than any machine takes for what is waited for here.
pub(crate) const DEADLINE: Duration = Duration::from_secs(180);

/// One at a time: sound takes its time, and so does recognition beside it.
static ALONE: Mutex<()> = Mutex::new(());

/// A machine with sound and models.
pub(crate) struct Studio {
    pub(crate) sandbox: Sandbox,
    runtime: PathBuf,
    server: Child,
    recorders: RefCell<Vec<OwnedFd>>,
    _alone: MutexGuard<'static, ()>,
}

impl Studio {
    /// A studio; none, said aloud, where there is no PulseAudio or no model, unless `AMBIENT_REQUIRE_AUDIO=1`.
    pub(crate) fn open() -> Option<Self> {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let missing = ["pulseaudio", "pactl", "paplay"].into_iter().find(|tool| !is_there(tool));
        let Some(models) = models().filter(|_| missing.is_none()) else {
            let reason =
                missing.map_or("there is no model tiny.en".to_owned(), |tool| format!("there is no {tool}"));
            assert!(std::env::var_os("AMBIENT_REQUIRE_AUDIO").is_none_or(|value| value != "1"), "{reason}");
            println!("nothing was tested: {reason}");
            return None;
        };
        let mut sandbox = Sandbox::new();
        sandbox.use_models(&models);
        let runtime = sandbox.folder().join("runtime");
        fs::create_dir(&runtime).unwrap();
        let server = serve(&runtime, &sandbox);
        let recorders = RefCell::default();
        let studio = Self { sandbox, runtime, server, recorders, _alone: alone };
        wait_until("the sound server answers", || studio.control(&["info"]).status.success());
        studio.expect(&["set-default-sink", "call_out"]);
        studio.expect(&["set-default-source", "room_mic"]);
        Some(studio)
    }

    /// The program, with sound.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.sandbox.command(arguments);
        command.env("XDG_RUNTIME_DIR", &self.runtime);
        command
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        self.command(arguments).output().unwrap().into()
    }

    /// Starts the program. It does not outlive the studio.
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        let recorder = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let handle = pidfd_open(Pid::from_child(&recorder), PidfdFlags::empty()).unwrap();
        self.recorders.borrow_mut().push(handle);
        recorder
    }

    /// Begins to play the sample of `track` into `sink`.
    pub(crate) fn play(&self, track: &str, sink: &str) -> Child {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../samples/meeting/{track}.flac"));
        let mut player = self.client("paplay");
        player.arg("-d").arg(sink).arg(file);
        player.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Tells the sound server something that it must do.
    pub(crate) fn expect(&self, arguments: &[&str]) -> String {
        let output = self.control(arguments);
        assert!(output.status.success(), "pactl {arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn control(&self, arguments: &[&str]) -> std::process::Output {
        self.client("pactl").args(arguments).output().unwrap()
    }

    /// A program that finds this server and no other.
    fn client(&self, program: &str) -> Command {
        let mut client = Command::new(program);
        client.env("XDG_RUNTIME_DIR", &self.runtime).env("HOME", self.sandbox.folder().join("home"));
        client.env_remove("PULSE_SERVER").env_remove("PULSE_RUNTIME_PATH");
        client
    }
}

/// Runs a test that depends on how a busy machine shares its time out, a second time when it failed, which is said
/// aloud.
pub(crate) fn with_one_retry(test: impl Fn()) {
    if let Err(panic) = std::panic::catch_unwind(AssertUnwindSafe(&test)) {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let why = said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason was given");
        // Not by `println`, which is kept from whoever reads the outcome of a test that passed.
        let _ = writeln!(std::io::stderr(), "retried: a test of recording failed at its first try: {why}");
        test();
    }
}

/// Waits for what must come.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < DEADLINE, "it never came that {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

impl Drop for Studio {
    fn drop(&mut self) {
        for recorder in self.recorders.get_mut() {
            // One that ended is not there any more, which is what is wanted.
            let _ = pidfd_send_signal(recorder, Signal::KILL);
        }
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }
}

fn serve(runtime: &Path, sandbox: &Sandbox) -> Child {
    let socket = runtime.join("pulse/native");
    let load = |module: &str| format!("--load={module}");
    let mut server = Command::new("pulseaudio");
    server.args(["-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no", "--disable-shm=yes"]);
    server.arg(load(&format!("module-native-protocol-unix auth-anonymous=1 socket={}", socket.display())));
    server
        .arg(load("module-null-sink norewinds=1 sink_name=call_out rate=48000 channels=2 format=float32le"));
    server.arg(load("module-null-sink norewinds=1 sink_name=room_feed rate=48000 channels=1"));
    server.arg(load("module-remap-source master=room_feed.monitor source_name=room_mic"));
    server.env("XDG_RUNTIME_DIR", runtime).env("HOME", sandbox.folder().join("home"));
    server.env_remove("PULSE_RUNTIME_PATH").env_remove("DBUS_SESSION_BUS_ADDRESS");
    server.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn is_there(tool: &str) -> bool {
    Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Where this machine keeps its models, when the small recogniser is among them.
fn models() -> Option<PathBuf> {
    let found =
        Command::new(env!("CARGO_BIN_EXE_ambient")).args(["models", "path", "tiny.en"]).output().unwrap();
    let path = PathBuf::from(String::from_utf8(found.stdout).unwrap().trim_end());
    path.parent().filter(|_| found.status.success()).map(Path::to_owned)
}
