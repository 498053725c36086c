//! Downloads the published file, going on where an earlier attempt broke off.
//!
//! A thread reads from the network and hands blocks over; the caller's thread writes them and watches for a request to
//! stop and for a connection that has gone silent. So stopping never waits for the network: the
//! reading thread is left behind and ends with its connection.

use super::super::catalogue::Model;
use super::super::placement::{Placement, PlacementError};
use super::{FetchError, Progress, Stage};
use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes handed over at a time.
const BLOCK_BYTES: usize = 64 << 10;
/// Blocks that may wait to be written.
const BLOCKS_WAITING: usize = 8;
/// How often a request to stop is looked for.
const LOOK_UP: Duration = Duration::from_millis(100);
/// After how long without a byte a connection counts as dead.
const SILENCE: Duration = Duration::from_secs(60);
/// How long finding a name and making a connection may each take.
const CONNECT: Duration = Duration::from_secs(15);
/// How often the hub is asked again although the last answer brought nothing new.
const FRUITLESS_ATTEMPTS: u32 = 2;

/// What went wrong with the hub.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// No answer, or the connection broke.
    #[error("{url}: {reason}")]
    Connection {
        /// What was asked for.
        url: String,
        /// What happened.
        reason: String,
    },
    /// An answer, but not the file.
    #[error("{url}: the server answered with status {status}")]
    Status {
        /// What was asked for.
        url: String,
        /// Its answer.
        status: u16,
    },
    /// A file of another length.
    #[error("{url}: the server has {found_bytes} bytes or more, published are {expected_bytes}")]
    Length {
        /// What was asked for.
        url: String,
        /// The published length.
        expected_bytes: u64,
        /// What the server announced or sent.
        found_bytes: u64,
    },
    /// The connection kept breaking.
    #[error("{url}: the connection broke {attempts} times at byte {position} of {total_bytes}")]
    KeepsBreaking {
        /// What was asked for.
        url: String,
        /// How often.
        attempts: u32,
        /// How far it got.
        position: u64,
        /// How far it should have got.
        total_bytes: u64,
    },
}

/// What the reading thread hands over.
enum Message {
    /// The answer begins; its first byte has this position in the file.
    From(u64),
    /// The next bytes.
    Block(Vec<u8>),
    /// The answer has ended or broken off.
    End,
    /// There is no usable answer.
    Failed(HttpError),
}

/// Completes the partial file of `placement`. Its checksum is the caller's to verify.
///
/// # Errors
/// [`FetchError::Hub`], [`FetchError::Placement`] or [`FetchError::Interrupted`]; what came is kept.
pub fn download(
    model: &Model,
    placement: &mut Placement,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(Progress),
) -> Result<(), FetchError> {
    let mut download = Download { model, placement, stop, on_progress, position: 0 };
    download.go_to_end()?;
    let (mut furthest, mut fruitless) = (download.position, 0);
    while download.position < model.size_bytes {
        download.attempt()?;
        if download.position > furthest {
            (furthest, fruitless) = (download.position, 0);
        } else {
            fruitless += 1;
        }
        if fruitless > FRUITLESS_ATTEMPTS {
            return Err(FetchError::Hub(HttpError::KeepsBreaking {
                url: model.url.into(),
                attempts: fruitless,
                position: download.position,
                total_bytes: model.size_bytes,
            }));
        }
    }
    Ok(())
}

/// A download under way.
struct Download<'a> {
    model: &'a Model,
    placement: &'a mut Placement,
    stop: &'a AtomicBool,
    on_progress: &'a mut dyn FnMut(Progress),
    /// How many bytes of the file are there.
    position: u64,
}

impl Download<'_> {
    fn go_to_end(&mut self) -> Result<(), PlacementError> {
        let end = self.placement.partial().seek(SeekFrom::End(0));
        self.position = end.map_err(|e| PlacementError::io(self.placement.partial_path(), e))?;
        if self.position > self.model.size_bytes {
            self.cut_to(0)?;
        }
        Ok(())
    }

    fn cut_to(&mut self, position: u64) -> Result<(), PlacementError> {
        let partial = self.placement.partial();
        let cut = partial.set_len(position).and_then(|()| partial.seek(SeekFrom::Start(position)));
        self.position = cut.map_err(|e| PlacementError::io(self.placement.partial_path(), e))?;
        Ok(())
    }

    /// One request: writes what comes until it ends, which need not be the end of the file.
    fn attempt(&mut self) -> Result<(), FetchError> {
        self.tell();
        let (sender, messages) = sync_channel(BLOCKS_WAITING);
        let (url, position) = (self.model.url.to_owned(), self.position);
        let reader = thread::Builder::new().name("model download".into());
        reader
            .spawn(move || read_answer(&url, position, &sender))
            .map_err(|e| self.broken(&e.to_string()))?;
        loop {
            match self.next(&messages)? {
                Message::From(start) if start == self.position => {}
                Message::From(0) => self.cut_to(0)?,
                Message::From(start) => {
                    let asked = self.position;
                    return Err(self.broken(&format!("asked for byte {asked}, the server sent {start}")));
                }
                Message::Block(bytes) => self.write(&bytes)?,
                Message::End => return Ok(()),
                // The server has fewer bytes than are here: what is here is not its file.
                Message::Failed(HttpError::Status { status: 416, .. }) if self.position > 0 => {
                    self.cut_to(0)?;
                    return Ok(());
                }
                Message::Failed(error) => return Err(error.into()),
            }
        }
    }

    fn next(&self, messages: &Receiver<Message>) -> Result<Message, FetchError> {
        let since = Instant::now();
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Err(FetchError::Interrupted);
            }
            match messages.recv_timeout(LOOK_UP) {
                Ok(message) => return Ok(message),
                Err(RecvTimeoutError::Timeout) if since.elapsed() < SILENCE => {}
                Err(RecvTimeoutError::Timeout) => {
                    return Err(self.broken(&format!("no byte for {} s", SILENCE.as_secs())));
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(Message::End),
            }
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), FetchError> {
        let reached = self.position + bytes.len() as u64;
        if reached > self.model.size_bytes {
            self.cut_to(0)?;
            return Err(FetchError::Hub(HttpError::Length {
                url: self.model.url.into(),
                expected_bytes: self.model.size_bytes,
                found_bytes: reached,
            }));
        }
        let written = self.placement.partial().write_all(bytes);
        written.map_err(|e| PlacementError::io(self.placement.partial_path(), e))?;
        self.position = reached;
        self.tell();
        Ok(())
    }

    fn tell(&mut self) {
        (self.on_progress)(Progress {
            stage: Stage::Downloading,
            done_bytes: self.position,
            total_bytes: self.model.size_bytes,
        });
    }

    fn broken(&self, reason: &str) -> FetchError {
        FetchError::Hub(HttpError::Connection { url: self.model.url.into(), reason: reason.into() })
    }
}

/// Asks for the file from `position` on and hands over what comes. Ends early when nobody listens any more.
fn read_answer(url: &str, position: u64, sender: &SyncSender<Message>) {
    let failed = |error| {
        let _ = sender.send(Message::Failed(error));
    };
    let config = ureq::Agent::config_builder()
        .timeout_resolve(Some(CONNECT))
        .timeout_connect(Some(CONNECT))
        .timeout_recv_response(Some(SILENCE))
        .http_status_as_error(false)
        .user_agent(concat!("ambient/", env!("CARGO_PKG_VERSION")));
    let mut request = ureq::Agent::from(config.build()).get(url).header("Accept-Encoding", "identity");
    if position > 0 {
        request = request.header("Range", format!("bytes={position}-"));
    }
    let answer = match request.call() {
        Ok(answer) => answer,
        Err(e) => return failed(HttpError::Connection { url: url.into(), reason: e.to_string() }),
    };
    let start = match answer.status().as_u16() {
        200 => Some(0),
        206 => answer.headers().get("Content-Range").and_then(|r| first_byte(r.to_str().ok()?)),
        status => return failed(HttpError::Status { url: url.into(), status }),
    };
    let Some(start) = start else {
        let reason = "a part of the file, without saying which".to_owned();
        return failed(HttpError::Connection { url: url.into(), reason });
    };
    if sender.send(Message::From(start)).is_err() {
        return;
    }
    let mut body = answer.into_body().into_reader();
    loop {
        let mut block = vec![0; BLOCK_BYTES];
        // A broken body ends the answer; the caller asks for the rest.
        let len = body.read(&mut block).unwrap_or(0);
        block.truncate(len);
        let message = if len == 0 { Message::End } else { Message::Block(block) };
        if sender.send(message).is_err() || len == 0 {
            return;
        }
    }
}

/// The first position in a `Content-Range` such as `bytes 5-9/10`.
fn first_byte(content_range: &str) -> Option<u64> {
    content_range.strip_prefix("bytes ")?.split_once('-')?.0.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::first_byte;

    #[test]
    fn content_ranges() {
        assert_eq!(first_byte("bytes 5-9/10"), Some(5));
        assert_eq!(first_byte("bytes 0-9/*"), Some(0));
        for nonsense in
            ["", "bytes", "bytes */10", "bytes -5/10", "items 1-2/3", "bytes 99999999999999999999-"]
        {
            assert_eq!(first_byte(nonsense), None, "{nonsense}");
        }
    }
}
