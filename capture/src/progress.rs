//! How far the work is, for whoever shows it.

use std::time::{Duration, Instant};

use ambient_engine::Track;

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// A file becomes native audio.
    Decoding,
    /// Native audio becomes lines.
    Transcribing,
}

/// How far one track is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrackProgress {
    /// The track.
    pub track: Track,
    /// Milliseconds of its sound that are dealt with.
    pub done_ms: u64,
    /// Milliseconds of its sound in all, when known.
    pub total_ms: Option<u64>,
}

/// How far the work is.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgressReport<'a> {
    /// What is being done.
    pub phase: Phase,
    /// Each track, in the order they are listed everywhere.
    pub tracks: &'a [TrackProgress],
    /// Seconds of sound dealt with in a second, in this phase and run; 0 before there is a figure.
    pub speed: f64,
    /// How long the rest of the phase will take at that speed, when it can be told.
    pub remaining: Option<Duration>,
    /// The line that was recognised last, in this run.
    pub last_line: Option<(Track, &'a str)>,
}

/// How far the decoding of a session's files is.
pub(crate) struct DecodingProgress {
    tracks: Vec<TrackProgress>,
    meter: SpeedMeter,
}

impl DecodingProgress {
    /// Nothing of `tracks` is decoded yet.
    pub(crate) fn start(tracks: impl Iterator<Item = Track>) -> Self {
        let tracks: Vec<_> =
            tracks.map(|track| TrackProgress { track, done_ms: 0, total_ms: None }).collect();
        Self { meter: SpeedMeter::start(&tracks), tracks }
    }

    /// `track` is as far as this. What a file promised and exceeded is forgotten.
    pub(crate) fn note(&mut self, track: Track, done_ms: u64, total_ms: Option<u64>) {
        let total_ms = total_ms.filter(|total_ms| *total_ms >= done_ms);
        if let Some(known) = self.tracks.iter_mut().find(|known| known.track == track) {
            *known = TrackProgress { track, done_ms, total_ms };
        }
    }

    /// Tells `on_progress` where things stand.
    pub(crate) fn report(&self, on_progress: &mut dyn FnMut(&ProgressReport<'_>)) {
        let (speed, remaining) = self.meter.measure(&self.tracks);
        let tracks = &self.tracks;
        on_progress(&ProgressReport { phase: Phase::Decoding, tracks, speed, remaining, last_line: None });
    }
}

/// Measures a phase's speed.
pub(crate) struct SpeedMeter {
    began: Instant,
    done_before_ms: u64,
}

impl SpeedMeter {
    /// Starts to measure when the tracks are as far as `tracks` says.
    pub(crate) fn start(tracks: &[TrackProgress]) -> Self {
        Self { began: Instant::now(), done_before_ms: sum_done_ms(tracks) }
    }

    /// Speed, and the time that remains.
    #[allow(clippy::cast_precision_loss, reason = "a figure for people")]
    pub(crate) fn measure(&self, tracks: &[TrackProgress]) -> (f64, Option<Duration>) {
        let elapsed_ms = self.began.elapsed().as_secs_f64() * 1_000.0;
        let done_ms = sum_done_ms(tracks).saturating_sub(self.done_before_ms);
        let speed = if elapsed_ms > 0.0 { done_ms as f64 / elapsed_ms } else { 0.0 };
        let left_ms: Option<u64> =
            tracks.iter().map(|track| Some(track.total_ms?.saturating_sub(track.done_ms))).sum();
        let seconds = left_ms.filter(|_| speed > 0.0).map(|left_ms| left_ms as f64 / 1_000.0 / speed);
        (speed, seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()))
    }
}

fn sum_done_ms(tracks: &[TrackProgress]) -> u64 {
    tracks.iter().map(|track| track.done_ms).sum()
}
