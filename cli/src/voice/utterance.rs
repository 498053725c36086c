//! One text on its way: sentences that wait, one being made, one made, one being heard.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::Instant;

use ambient_capture::audio::{NativeReader, NativeWriter};
use anyhow::Context as _;

use super::message::{Emotion, Event};
use super::program::Program;
use super::sentence::sentences;

/// Samples that are copied at once.
const BLOCK_SAMPLES: usize = 65_536;

/// A sentence as sound, in a file that goes with it.
#[derive(Debug)]
pub(super) struct Clip {
    path: PathBuf,
    rate_hz: u32,
    samples: u64,
}

impl Clip {
    /// What a voice has put at `path`.
    pub(super) fn open(path: PathBuf) -> anyhow::Result<Self> {
        let reader = NativeReader::open(&path).context("the voice made no sound that can be read")?;
        Ok(Self { rate_hz: reader.rate_hz(), samples: reader.samples()?, path })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether there is nothing to hear, as for a sentence of dots.
    pub(super) fn is_empty(&self) -> bool {
        self.samples == 0
    }
}

impl Drop for Clip {
    fn drop(&mut self) {
        // If it stays, it goes with the folder it is in.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// A text that is being said.
pub(super) struct Utterance {
    id: u64,
    emotion: Emotion,
    asked: Instant,
    waiting: VecDeque<String>,
    pub(super) making: Option<(Program, PathBuf)>,
    pub(super) made: Option<Clip>,
    pub(super) playing: Option<(Program, Clip)>,
    has_begun: bool,
    audio_s: f64,
    save_path: Option<PathBuf>,
    saved: Option<NativeWriter>,
}

impl Utterance {
    /// `text`, to be said, and kept at `save_path` if there is one.
    pub(super) fn new(id: u64, text: &str, emotion: Emotion, save_path: Option<PathBuf>) -> Self {
        Self {
            id,
            emotion,
            asked: Instant::now(),
            waiting: sentences(text).into_iter().map(str::to_owned).collect(),
            making: None,
            made: None,
            playing: None,
            has_begun: false,
            audio_s: 0.0,
            save_path,
            saved: None,
        }
    }

    pub(super) fn id(&self) -> u64 {
        self.id
    }

    pub(super) fn emotion(&self) -> Emotion {
        self.emotion
    }

    /// The sentence that is to be made now: one is made ahead, no more.
    pub(super) fn next_sentence(&mut self) -> Option<String> {
        if self.making.is_some() || self.made.is_some() {
            return None;
        }
        self.waiting.pop_front()
    }

    /// Whether all of it has been said.
    pub(super) fn is_over(&self) -> bool {
        self.waiting.is_empty() && self.making.is_none() && self.made.is_none() && self.playing.is_none()
    }

    /// Counts and keeps what is about to be heard. The first time there is something to tell.
    #[allow(clippy::cast_precision_loss, reason = "seconds of sound, far below what an f64 counts exactly")]
    pub(super) fn begin(&mut self, clip: &Clip) -> anyhow::Result<Option<Event<'static>>> {
        self.audio_s += clip.samples as f64 / f64::from(clip.rate_hz);
        self.keep(clip)?;
        if self.has_begun {
            return Ok(None);
        }
        self.has_begun = true;
        Ok(Some(Event::Speaking { id: self.id, first_audio_ms: self.elapsed_ms() }))
    }

    fn keep(&mut self, clip: &Clip) -> anyhow::Result<()> {
        let Some(path) = &self.save_path else { return Ok(()) };
        let writer = match &mut self.saved {
            Some(writer) => writer,
            None => self.saved.insert(NativeWriter::create(path, clip.rate_hz)?),
        };
        let mut reader = NativeReader::open(&clip.path)?;
        let (mut at, mut block) = (0, Vec::new());
        while at < clip.samples {
            reader.read(at, BLOCK_SAMPLES, &mut block)?;
            writer.write(&block)?;
            at += block.len() as u64;
        }
        Ok(())
    }

    /// Ends it: silent from here on, what was kept of it complete.
    pub(super) fn close(mut self, is_whole: bool) -> anyhow::Result<Event<'static>> {
        self.playing = None;
        self.making = None;
        if let Some(writer) = self.saved.take() {
            writer.finish()?;
        }
        let (id, total_ms) = (self.id, self.elapsed_ms());
        let audio_s = (self.audio_s * 1_000.0).round() / 1_000.0;
        Ok(if is_whole {
            Event::Done { id, audio_s, total_ms }
        } else {
            Event::Stopped { id, audio_s, total_ms }
        })
    }

    fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.asked.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
