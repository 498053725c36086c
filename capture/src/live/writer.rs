//! The thread that puts sound on disk. It waits for nothing else.
//!
//! It asks the sources what came, places it on the clock and appends it to the tracks' files, and tells
//! the others how far it is. Recognition reads behind it and can be as slow as it likes. When the disk
//! refuses, the recording ends there, with everything up to it readable.

use std::time::Duration;

use ambient_engine::{CapturedTrack, Track};

use super::board::{Board, Ended};
use super::clock::SessionClock;
use super::health::TrackHealth;
use super::level::LevelMeter;
use super::placement::{Piece, Placement};
use super::source::{Delivery, Source};
use super::status::{Phase, TrackStatus};
use crate::audio::{NativeAudioError, NativeWriter, SilenceCount, millis};

/// Between two looks at the sources.
const TICK: Duration = Duration::from_millis(40);

/// How long sound that was taken before the end may take to arrive.
const LINGER_US: u64 = 600_000;

/// Time after which what was written is forced to the disk: what a machine that dies can take.
const SYNC_EVERY_US: u64 = 2_000_000;

/// One track on its way to the disk.
pub(super) struct TrackWriter {
    track: Track,
    source: Box<dyn Source>,
    placement: Placement,
    native: NativeWriter,
    silence: SilenceCount,
    health: TrackHealth,
    level: LevelMeter,
}

impl TrackWriter {
    /// A writer of what `source` delivers to `native`, which has its rate.
    pub(super) fn new(track: Track, source: Box<dyn Source>, native: NativeWriter) -> Self {
        let rate_hz = native.rate_hz();
        let health = TrackHealth::new(track, rate_hz, source.is_expected());
        Self {
            track,
            source,
            placement: Placement::new(track, rate_hz),
            native,
            silence: SilenceCount::new(rate_hz),
            health,
            level: LevelMeter::new(rate_hz),
        }
    }

    /// The track.
    pub(super) fn track(&self) -> Track {
        self.track
    }

    /// How the track stands before anything came.
    pub(super) fn first_status(&self) -> TrackStatus {
        TrackStatus {
            track: self.track,
            source: self.source.name().to_owned(),
            rate_hz: self.native.rate_hz(),
            captured_ms: 0,
            padded_ms: 0,
            silent_ms: 0,
            level_db: super::level::SILENCE_DB,
            peak_db: super::level::SILENCE_DB,
            done_ms: 0,
            lines: 0,
            dropped: Vec::new(),
            worst_lag_ms: 0,
        }
    }

    /// Takes in what came, up to `end_us` if the recording ended there. What comes during a pause is not
    /// looked at: there is silence, as where nothing comes.
    fn take_in(&mut self, now_us: u64, end_us: Option<u64>, is_paused: bool) -> Result<(), NativeAudioError> {
        let placement = &mut self.placement;
        self.source.deliver(&mut |delivery| match delivery {
            Delivery::Block(_) if is_paused => {}
            Delivery::Block(mut block) => {
                if let Some(end_us) = end_us {
                    block.cut_at(end_us);
                }
                placement.take(block);
            }
            Delivery::Change(change) => placement.note(change),
        });
        self.placement.pass(end_us.map_or(now_us, |end_us| end_us.min(now_us)));
        self.write(is_paused)
    }

    fn write(&mut self, is_paused: bool) -> Result<(), NativeAudioError> {
        for piece in self.placement.take_pieces() {
            match piece {
                Piece::Sound(samples) => {
                    self.silence.take(&samples);
                    self.health.take(&samples);
                    self.level.take(&samples);
                    self.native.write(&samples)?;
                }
                Piece::Silence(samples) => {
                    self.silence.skip(samples);
                    self.health.skip(samples, is_paused);
                    self.level.pass(samples);
                    self.native.write_silence(samples)?;
                }
            }
        }
        Ok(())
    }

    fn tell(&mut self, board: &Board) {
        board.add_notes(self.placement.take_notes());
        let rate_hz = self.native.rate_hz();
        let (level_db, peak_db) = self.level.read();
        board.update(self.track, |status| {
            status.captured_ms = millis(self.native.samples(), rate_hz);
            status.padded_ms = millis(self.placement.padded(), rate_hz);
            status.silent_ms = self.silence.millis();
            (status.level_db, status.peak_db) = (level_db, peak_db);
        });
    }

    fn finish(self) -> (CapturedTrack, Option<NativeAudioError>) {
        let rate_hz = self.native.rate_hz();
        let mut captured = CapturedTrack {
            track: self.track,
            rate_hz,
            channels: self.source.channels(),
            samples: self.native.samples(),
            silent_ms: self.silence.millis(),
            padded_ms: millis(self.placement.padded(), rate_hz),
        };
        match self.native.finish() {
            Ok(samples) => {
                captured.samples = samples;
                (captured, None)
            }
            Err(error) => (captured, Some(error)),
        }
    }
}

/// Writes until the end is asked for or the clock reaches `ends_at_us`.
pub(super) fn run(
    mut tracks: Vec<TrackWriter>,
    clock: &dyn SessionClock,
    ends_at_us: Option<u64>,
    board: &Board,
) {
    let mut end_us = None;
    let mut synced_us = 0;
    let mut failure = None;
    while failure.is_none() {
        let now_us = clock.now_us();
        if end_us.is_none() {
            let is_due = ends_at_us.is_some_and(|ends_at_us| ends_at_us <= now_us);
            end_us = if is_due { ends_at_us } else { board.is_stop_requested().then_some(now_us) };
        }
        let is_paused = board.is_pause_asked();
        failure = tracks.iter_mut().find_map(|track| track.take_in(now_us, end_us, is_paused).err());
        if failure.is_none() && now_us - synced_us >= SYNC_EVERY_US {
            failure = tracks.iter().find_map(|track| track.native.sync().err());
            synced_us = now_us;
        }
        let phase = if is_paused { Phase::Paused } else { Phase::Recording };
        tell(&mut tracks, phase, now_us, board);
        if end_us.is_some_and(|end_us| has_all(&tracks, now_us, end_us)) {
            break;
        }
        clock.rest(TICK);
    }
    if let (None, Some(end_us)) = (&failure, end_us) {
        failure = tracks.iter_mut().find_map(|track| {
            track.placement.end(end_us);
            track.write(false).err()
        });
    }
    tell(&mut tracks, Phase::Finishing, end_us.unwrap_or_else(|| clock.now_us()), board);
    board.note_ended(end(tracks, failure));
}

/// Whether everything that sounded before `end_us` has come, or had the time to.
fn has_all(tracks: &[TrackWriter], now_us: u64, end_us: u64) -> bool {
    let is_late = now_us >= end_us.saturating_add(LINGER_US);
    is_late || tracks.iter().all(|track| track.placement.placed_us() >= end_us)
}

fn tell(tracks: &mut [TrackWriter], phase: Phase, now_us: u64, board: &Board) {
    for track in &mut *tracks {
        track.tell(board);
    }
    board.note_time(phase, now_us / 1_000, warnings(tracks, false));
}

/// What is wrong with the tracks as they stand.
fn warnings(tracks: &[TrackWriter], is_over: bool) -> Vec<String> {
    let heard_beside =
        |one: &TrackWriter| tracks.iter().any(|other| other.track != one.track && other.health.was_heard());
    let ailment = |track: &TrackWriter| {
        let ailment = track.health.ailment(heard_beside(track), is_over)?;
        Some(ailment.describe(track.track))
    };
    tracks.iter().filter_map(ailment).collect()
}

fn end(tracks: Vec<TrackWriter>, mut failure: Option<NativeAudioError>) -> Ended {
    let mut warnings = warnings(&tracks, true);
    let mut captured = Vec::new();
    for track in tracks {
        let (track, error) = track.finish();
        captured.push(track);
        failure = failure.or(error);
    }
    if let Some(failure) = &failure {
        warnings.push(format!("the recording ended by itself: {failure}"));
    }
    Ended { tracks: captured, warnings }
}
