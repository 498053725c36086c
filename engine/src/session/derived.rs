//! `session.json` and `transcript.md` beside a log: derived from it, deletable at any time.
//!
//! `session.json` names the last event it was computed from, so that whoever reads it can tell whether it
//! still holds. It saves a listing from reading every log; it is never believed against the log.

use std::io::Write;

use super::metadata::METADATA_FILE;
use super::proof::Proofs;
use super::{Existing, SessionDirectory, SessionMetadata};
use crate::export::{self, ExportError, ExportFormat, LinesByClock, Title};
use crate::jsonl::state::TRANSCRIPT_FILE;
use crate::view::ViewError;
use crate::{
    Captured, CapturedTrack, Event, Kept, KeptFile, Mapping, MetaChange, Opened, Origin, ReadError, Reader,
    Track,
};

/// Rises whenever more is derived, so that what an older version derived is computed again.
const DERIVATION: u32 = 3;

/// Computes both files from the log of `session` and puts them in place, each whole or not at all. To be
/// called once the log was closed: the files hold until its next event.
///
/// # Errors
/// The session has no log, the log cannot be read, or a file cannot be written.
pub fn write_derived_files(session: &SessionDirectory) -> Result<(), ExportError> {
    let mut reader = session.read_log(Mapping::On)?;
    let metadata = compute(session, &mut reader)?;
    session.directory().replace_with(TRANSCRIPT_FILE, Existing::Replaced, |out| {
        write_document(&mut reader, &metadata, out)
    })?;
    Ok(session.directory().replace(METADATA_FILE, metadata.to_json().as_bytes())?)
}

/// Writes what `transcript.md` holds. Damage costs the line it is in.
pub(crate) fn write_document(
    reader: &mut Reader,
    metadata: &SessionMetadata,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    // What is wrong with the log is told by whoever shows it.
    let mut lines = LinesByClock::of_log(reader.snapshot()?, &mut Vec::new())?;
    let title = Title { id: &metadata.id, metadata: Some(metadata) };
    export::write(ExportFormat::Markdown, title, &mut lines, out)
}

/// What the log says about its session: from `session.json` while that holds, else from the events.
pub(crate) fn describe(
    session: &SessionDirectory,
    reader: &mut Reader,
) -> Result<SessionMetadata, ViewError> {
    let stamp = stamp(reader)?;
    // Whatever is wrong with the file, the log has the answer.
    let derived = SessionMetadata::read(session.directory()).ok().flatten();
    match derived.filter(|metadata| metadata.log.is_some() && metadata.log == stamp) {
        Some(metadata) => Ok(metadata),
        None => compute(session, reader),
    }
}

/// Names the derivation and the last event of the log; none while it is empty.
fn stamp(reader: &mut Reader) -> Result<Option<String>, ReadError> {
    let cursor = reader.snapshot()?.cursor()?;
    Ok(cursor.map(|cursor| format!("{DERIVATION}-{cursor}")))
}

fn compute(session: &SessionDirectory, reader: &mut Reader) -> Result<SessionMetadata, ViewError> {
    // The stamp first: an event that comes in between makes it name too little, never too much.
    let log = stamp(reader)?;
    let mut metadata = SessionMetadata { log, lines: Some(0), ..SessionMetadata::default() };
    let mut proofs = Proofs::default();
    reader.snapshot()?.each_event(|recorded| {
        metadata.note(&recorded.event);
        proofs.note(&recorded);
    })?;
    if metadata.origin.as_deref() == Some(origin_word(Origin::Recorded)) {
        metadata.proof = proofs.finish();
    }
    // The directory may have been renamed or copied since.
    metadata.id = session.id().to_string();
    Ok(metadata)
}

impl SessionMetadata {
    /// Takes in the next event of the log.
    fn note(&mut self, event: &Event) {
        match event {
            Event::Opened(opened) => self.note_opened(opened),
            Event::Captured(captured) => self.note_captured(captured),
            Event::Meta(change) => self.note_change(change),
            Event::Line(_) => self.lines = self.lines.map(|lines| lines + 1),
            Event::Generation(generation) => {
                self.model.clone_from(&generation.model.name);
                // A later run of recognition will add lines again.
                self.finished_at = None;
            }
            Event::Finished(finished) => {
                self.finished_at = Some(finished.at.clone());
                self.warnings.extend_from_slice(&finished.warnings);
            }
            Event::Edit(_)
            | Event::Progress(_)
            | Event::Device(_)
            | Event::Assistant(_)
            | Event::Dropped(_) => {}
            Event::Kept(kept) => self.note_kept(kept),
        }
    }

    fn note_opened(&mut self, opened: &Opened) {
        self.name.clone_from(&opened.name);
        self.started_at = Some(opened.started_at.clone());
        self.program = Some(opened.program.clone());
        self.origin = Some(origin_word(opened.origin).to_owned());
    }

    fn note_captured(&mut self, captured: &Captured) {
        self.ended_at = Some(captured.ended_at.clone());
        self.duration_s = captured.tracks.iter().map(seconds).reduce(f64::max);
        for track in &captured.tracks {
            let (rate_hz, channels) = match track.track {
                Track::Room => (&mut self.mic_hz, &mut self.mic_channels),
                Track::Call => (&mut self.device_hz, &mut self.channels),
            };
            *rate_hz = track.rate_hz;
            *channels = u32::from(track.channels);
        }
        self.warnings.extend_from_slice(&captured.warnings);
    }

    /// What the description of an imported session says and no event has a place for.
    fn note_kept(&mut self, kept: &Kept) {
        if kept.file != KeptFile::Description {
            return;
        }
        if let Ok(said) = serde_json::from_slice::<Self>(&kept.bytes) {
            self.apps = said.apps;
            self.ended_at = said.ended_at;
            self.duration_s = said.duration_s;
        }
    }

    fn note_change(&mut self, change: &MetaChange) {
        match change {
            MetaChange::Name(name) => self.name.clone_from(name),
            MetaChange::Notes(notes) => self.notes.clone_from(notes),
            MetaChange::Tag(tag) if self.tags.contains(tag) => {}
            MetaChange::Tag(tag) => self.tags.push(tag.clone()),
            MetaChange::Untag(tag) => self.tags.retain(|known| known != tag),
            MetaChange::Pin(pinned) => self.pinned = *pinned,
        }
    }

    /// Whether someone began to record or to transcribe. When nobody is at work and it is not finished,
    /// they were interrupted. Audio files are taken in and transcribed in one go, so once such a session is
    /// there, so is the work on its text. What another program began is not ours to finish.
    pub(crate) fn was_begun(&self) -> bool {
        if self.origin.as_deref() == Some(origin_word(Origin::Imported)) {
            return false;
        }
        self.ended_at.is_none()
            || self.lines.is_some_and(|lines| lines > 0)
            || !self.model.is_empty()
            || self.origin.as_deref() == Some(origin_word(Origin::Transcribed))
    }
}

/// How a summary spells where a session comes from.
fn origin_word(origin: Origin) -> &'static str {
    match origin {
        Origin::Recorded => "recorded",
        Origin::Transcribed => "transcribed",
        Origin::Imported => "imported",
    }
}

/// Length of a track in seconds. A track without a rate has none.
fn seconds(track: &CapturedTrack) -> f64 {
    if track.rate_hz == 0 {
        return 0.0;
    }
    // Whole seconds and the rest apart, so that no count of samples is too large to be exact.
    let rate = u64::from(track.rate_hz);
    let rest = u32::try_from(track.samples % rate).unwrap_or(0);
    let whole = u32::try_from(track.samples / rate).unwrap_or(u32::MAX);
    f64::from(whole) + f64::from(rest) / f64::from(track.rate_hz)
}
