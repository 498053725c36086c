//! What a session says about itself, as events.

use super::builder::LogBuilder;
use super::source::Source;
use crate::jsonl::written::moment;
use crate::session::{SessionDirectory, SessionMetadata};
use crate::{
    AppendError, Captured, CapturedTrack, Event, Finished, Generation, KeptFile, MetaChange, ModelReference,
    Opened, Origin, Track, micros_since_1970,
};

/// Writes what `session.json` says, and the file itself: the events do not say all of it.
pub(super) fn write(
    source: &Source<'_>,
    session: &SessionDirectory,
    program: &str,
    log: &mut LogBuilder,
    warnings: &mut Vec<String>,
) -> Result<(), AppendError> {
    warnings.extend(source.unreadable_description.clone());
    let metadata = &source.metadata;
    let opened = Opened {
        id: session.id().to_string(),
        name: metadata.name.clone(),
        started_at: metadata.started_at.clone().unwrap_or_else(|| moment(log.moment_us(), source.offset())),
        origin: Origin::Imported,
        program: program.to_owned(),
        tracks: Vec::new(),
    };
    log.push(Event::Opened(opened), 0)?;
    if !metadata.model.is_empty() {
        log.push(Event::Generation(generation(metadata)), 0)?;
    }
    if let Some(bytes) = &source.description {
        if source.unreadable_description.is_none() {
            log.push(Event::Captured(captured(metadata)), 0)?;
        }
        log.keep(KeptFile::Description, bytes, false)?;
    }
    for tag in &metadata.tags {
        log.push(Event::Meta(MetaChange::Tag(tag.clone())), tag.len())?;
    }
    if !metadata.notes.is_empty() {
        log.push(Event::Meta(MetaChange::Notes(metadata.notes.clone())), metadata.notes.len())?;
    }
    if metadata.pinned {
        log.push(Event::Meta(MetaChange::Pin(true)), 0)?;
    }
    Ok(())
}

/// Says that the session is complete, when it is.
pub(super) fn write_end(source: &Source<'_>, log: &mut LogBuilder) -> Result<(), AppendError> {
    let Some(finished_at) = source.finished_at else { return Ok(()) };
    let at_us = micros_since_1970(finished_at);
    log.move_to(at_us.max(log.moment_us()))?;
    log.push(Event::Finished(Finished { at: moment(at_us, source.offset()), warnings: Vec::new() }), 0)
}

fn generation(metadata: &SessionMetadata) -> Generation {
    Generation {
        number: 0,
        recognizer: String::new(),
        model: ModelReference { name: metadata.model.clone(), sha256: String::new() },
        voice_activity: String::new(),
        language: None,
    }
}

/// The file is written when capture has ended, so there was one.
fn captured(metadata: &SessionMetadata) -> Captured {
    let tracks = [
        (Track::Room, metadata.mic_hz, metadata.mic_channels),
        (Track::Call, metadata.device_hz, metadata.channels),
    ];
    let duration_s = metadata.duration_s.unwrap_or(0.0);
    let captured = |(track, rate_hz, channels): (Track, u32, u32)| CapturedTrack {
        track,
        rate_hz,
        channels: u16::try_from(channels).unwrap_or(u16::MAX),
        samples: samples(duration_s, rate_hz),
        silent_ms: 0,
        padded_ms: 0,
    };
    Captured {
        ended_at: metadata.ended_at.clone().or_else(|| metadata.started_at.clone()).unwrap_or_default(),
        tracks: tracks.into_iter().filter(|(_, rate_hz, _)| *rate_hz > 0).map(captured).collect(),
        warnings: metadata.warnings.clone(),
    }
}

fn samples(duration_s: f64, rate_hz: u32) -> u64 {
    let samples = (duration_s * f64::from(rate_hz)).round();
    // A cast of what is out of range stops at the ends of the range, and what is no number is 0.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let samples = samples as u64;
    samples
}
