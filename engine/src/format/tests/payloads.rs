//! The payloads: a decoder that knows nothing but the tables of the page reads what the code writes.

use std::collections::BTreeSet;

use bincode::error::DecodeError;
use serde_json::{Map, Value, json};

use super::Page;
use crate::event::{PAYLOAD_SCHEMA, PayloadError, decode, encode};
use crate::{
    AssistantAct, AudioSpan, Captured, CapturedTrack, Change, DeviceChange, DeviceNote, Dropped, Edit,
    EditTarget, Event, Finished, Generation, Kept, KeptFile, Kind, Line, MetaChange, ModelReference, Opened,
    Origin, Progress, Track, TrackSource,
};

/// Reads a payload by the tables alone.
struct ByTheTables<'a> {
    page: &'a Page,
    bytes: &'a [u8],
    at: usize,
    /// Every row that was used: section and number of the row.
    used: &'a mut BTreeSet<(String, usize)>,
    /// Where the number of a variant stood, and how many variants there are.
    variants: Vec<(usize, usize)>,
}

impl ByTheTables<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let bytes = self.bytes[self.at..self.at + N].try_into().unwrap();
        self.at += N;
        bytes
    }

    fn number(&mut self) -> u64 {
        match self.take::<1>()[0] {
            251 => u16::from_le_bytes(self.take()).into(),
            252 => u32::from_le_bytes(self.take()).into(),
            253 => u64::from_le_bytes(self.take()),
            small @ 0..=250 => small.into(),
            other => panic!("{other} begins no number"),
        }
    }

    fn len(&mut self) -> usize {
        usize::try_from(self.number()).unwrap()
    }

    fn value(&mut self, kind: &str) -> Value {
        if let Some(inner) = kind.strip_suffix('?') {
            return match self.take() {
                [0] => Value::Null,
                [1] => self.value(inner),
                [other] => panic!("{other} for {kind}"),
            };
        }
        if let Some(inner) = kind.strip_prefix('[').and_then(|kind| kind.strip_suffix(']')) {
            return (0..self.len()).map(|_| self.value(inner)).collect();
        }
        match kind {
            "u16" | "u32" | "u64" => self.number().into(),
            "plain u64" => u64::from_le_bytes(self.take()).into(),
            "u8" => self.take::<1>()[0].into(),
            "bool" => [false, true][usize::from(self.take::<1>()[0])].into(),
            "f32" => f64::from(f32::from_le_bytes(self.take())).into(),
            "string" => {
                let len_bytes = self.len();
                let text = &self.bytes[self.at..self.at + len_bytes];
                self.at += len_bytes;
                std::str::from_utf8(text).unwrap().into()
            }
            name => self.section(name),
        }
    }

    /// A structure or an enumeration that has a section of its own.
    fn section(&mut self, title: &str) -> Value {
        let table = self.page.table(title);
        if table.columns == ["field", "type"] {
            self.used.extend((0..table.rows.len()).map(|row| (title.to_owned(), row)));
            let fields = table.rows.iter().map(|row| (row[0].clone(), self.value(&row[1])));
            return Value::Object(fields.collect());
        }
        assert_eq!(table.columns, ["number", "variant", "holds"], "{title}");
        self.variants.push((self.at, table.rows.len()));
        let number = self.len();
        let row = table.rows.get(number).unwrap_or_else(|| panic!("{title} has no variant {number}"));
        assert_eq!(row[0], number.to_string(), "{title}");
        self.used.insert((title.to_owned(), number));
        let (name, holds) = (&row[1], row[2].as_str());
        if holds.is_empty() {
            return name.as_str().into();
        }
        let held = if holds.contains(": ") {
            let fields = holds.split(", ").map(|field| {
                let (name, kind) = field.split_once(": ").unwrap();
                (name.to_owned(), self.value(kind))
            });
            Value::Object(fields.collect())
        } else {
            self.value(holds)
        };
        Value::Object(Map::from_iter([(name.clone(), held)]))
    }
}

fn section_of(kind: Kind) -> String {
    if kind.is_edit() { "edit".to_owned() } else { format!("{kind:?}").to_lowercase() }
}

const PREVIOUS_EDIT: u64 = 0x0102_0304_0506_0708;

/// The event as its own field names tell it.
fn expected(event: &Event) -> Value {
    let value = match event {
        Event::Opened(value) => serde_json::to_value(value),
        Event::Line(value) => serde_json::to_value(value),
        Event::Edit(Edit { by, change, .. }) => {
            Ok(json!({ "previous_edit": PREVIOUS_EDIT, "by": by, "change": change }))
        }
        Event::Meta(value) => serde_json::to_value(value),
        Event::Progress(value) => serde_json::to_value(value),
        Event::Captured(value) => serde_json::to_value(value),
        Event::Finished(value) => serde_json::to_value(value),
        Event::Device(value) => serde_json::to_value(value),
        Event::Generation(value) => serde_json::to_value(value),
        Event::Assistant(value) => serde_json::to_value(value),
        Event::Dropped(value) => serde_json::to_value(value),
        Event::Kept(value) => serde_json::to_value(value),
    };
    value.unwrap()
}

fn text(words: &str) -> String {
    words.to_owned()
}

const SPAN: AudioSpan = AudioSpan { start_sample: 3, end_sample: 251, rate_hz: 48_000 };

/// Lines and what was refused: with everything, and with nothing.
fn heard() -> Vec<Event> {
    let full = Line {
        track: Track::Call,
        start_ms: 250,
        end_ms: 65_536,
        text: "naïve 会議 ".repeat(20),
        confidence: 0.75,
        language: Some(text("de")),
        generation: 5,
        audio: Some(SPAN),
        overlap: true,
    };
    let bare = Line {
        track: Track::Room,
        language: None,
        audio: None,
        overlap: false,
        generation: 0,
        ..full.clone()
    };
    let dropped = Dropped {
        track: Track::Room,
        start_ms: u64::MAX,
        end_ms: 7,
        text: text("[music]"),
        reason: text("not speech"),
        generation: 9,
        audio: Some(SPAN),
    };
    let quiet = Dropped { audio: None, ..dropped.clone() };
    vec![Event::Line(full), Event::Line(bare), Event::Dropped(dropped), Event::Dropped(quiet)]
}

fn edits() -> Vec<Event> {
    let changes = [
        Change::Repair { from: text("from"), to: text("to") },
        Change::Speaker { name: text("Ana") },
        Change::Hide { reason: text("bleed") },
        Change::Split { at_ms: 70_000, at_character: 4, name: Some(text("Bo")) },
        Change::Split { at_ms: 1, at_character: 70_000, name: None },
        Change::Revert { target: EditTarget { position: 256, seq: 1 << 40 } },
    ];
    changes.into_iter().map(|change| Event::Edit(Edit { line: 3, by: text("diarize"), change })).collect()
}

fn description() -> Vec<Event> {
    let opened = |origin, name: Option<&str>, len_bytes| {
        let source = |track, name: &str| TrackSource { track, name: text(name), len_bytes };
        Event::Opened(Opened {
            id: text("2026-11-30T1200"),
            name: name.map(text),
            started_at: text("2026-11-30T12:00:00+01:00"),
            origin,
            program: text("ambient"),
            tracks: vec![source(Track::Room, "microphone"), source(Track::Call, "monitor")],
        })
    };
    let meta = [
        MetaChange::Name(Some(text("Budget"))),
        MetaChange::Name(None),
        MetaChange::Notes(text("notes")),
        MetaChange::Tag(text("tag")),
        MetaChange::Untag(text("untag")),
        MetaChange::Pin(true),
        MetaChange::Pin(false),
    ];
    let opened = [
        opened(Origin::Recorded, Some("Budget"), None),
        opened(Origin::Transcribed, None, Some(1 << 33)),
        opened(Origin::Imported, None, None),
    ];
    opened.into_iter().chain(meta.map(Event::Meta)).collect()
}

fn capture() -> Vec<Event> {
    let device = |change| Event::Device(DeviceNote { track: Track::Call, at_ms: 70, change });
    let track = CapturedTrack {
        track: Track::Call,
        rate_hz: 44_100,
        channels: 300,
        samples: 1 << 34,
        silent_ms: 5,
        padded_ms: 6,
    };
    let captured =
        Captured { ended_at: text("ended"), tracks: vec![track], warnings: vec![text("one"), text("two")] };
    let generation = |language: Option<&str>| {
        Event::Generation(Generation {
            number: 2,
            recognizer: text("whisper.cpp"),
            model: ModelReference { name: text("tiny.en"), sha256: text("abc") },
            voice_activity: text("silero"),
            language: language.map(text),
        })
    };
    vec![
        Event::Progress(Progress { track: Track::Room, generation: 1, done_samples: 480, complete: true }),
        Event::Captured(captured),
        Event::Finished(Finished { at: text("at"), warnings: vec![text("warning")] }),
        device(DeviceChange::Gap { len_ms: 30 }),
        device(DeviceChange::Lost),
        device(DeviceChange::Back),
        device(DeviceChange::Rate { rate_hz: 16_000 }),
        device(DeviceChange::Source { name: text("headset") }),
        generation(None),
        generation(Some("fr")),
    ]
}

fn assistant() -> Vec<Event> {
    let failed = |words: Option<&str>| AssistantAct::Failed {
        stage: text("voice"),
        message: text("no voice"),
        text: words.map(text),
    };
    let spoke = AssistantAct::Spoke {
        text: text("Yes."),
        emotion: text("warm"),
        first_audio_ms: 1,
        audio_ms: 2,
        took_ms: 3,
    };
    let acts = [
        AssistantAct::Joined { notice: text("I listen") },
        spoke,
        failed(None),
        failed(Some("words")),
        AssistantAct::Left { why: text("asked"), spoke: 4 },
        AssistantAct::Began { text: text("Yes."), emotion: text("warm") },
    ];
    acts.into_iter().map(Event::Assistant).collect()
}

fn kept() -> Vec<Event> {
    let files = [KeptFile::Description, KeptFile::Lines, KeptFile::Edits];
    let of =
        |file| Event::Kept(Kept { file, bytes: vec![0, 255, 10], stands_for_next: file == KeptFile::Lines });
    files.map(of).to_vec()
}

fn samples() -> Vec<Event> {
    [heard(), edits(), description(), capture(), assistant(), kept()].concat()
}

fn payload_of(event: &Event) -> Vec<u8> {
    let mut payload = Vec::new();
    encode(event, PREVIOUS_EDIT, &mut payload).unwrap();
    payload
}

#[test]
fn every_payload_reads_by_the_tables_alone_as_it_was_meant() {
    let page = Page::read();
    let mut used = BTreeSet::new();
    for event in samples() {
        let payload = payload_of(&event);
        let mut reading =
            ByTheTables { page: &page, bytes: &payload, at: 0, used: &mut used, variants: Vec::new() };
        let read = reading.section(&section_of(event.kind()));
        assert_eq!(reading.at, payload.len(), "{event:?}: the tables lack its last fields");
        assert_eq!(read, expected(&event));
        // What the tables do not have, the code does not know either.
        for (at, count) in reading.variants {
            let mut unknown = payload.clone();
            unknown[at] = u8::try_from(count).unwrap();
            let decoded = decode(event.kind(), PAYLOAD_SCHEMA, 3, &unknown);
            assert!(decoded.is_err(), "variant {count} is not on the page: {decoded:?}");
        }
    }
    let mut rows = BTreeSet::new();
    for title in page.titles_below("Payloads") {
        if title != "closed" {
            rows.extend((0..page.table(title).rows.len()).map(|row| (title.to_owned(), row)));
        }
    }
    assert_eq!(used, rows, "rows that were used (left) and rows that there are (right)");
}

#[test]
fn a_payload_cut_anywhere_is_an_error() {
    for event in samples() {
        let payload = payload_of(&event);
        for len_bytes in 0..payload.len() {
            let cut = decode(event.kind(), PAYLOAD_SCHEMA, 3, &payload[..len_bytes]);
            assert!(cut.is_err(), "{event:?} cut to {len_bytes} bytes: {cut:?}");
        }
    }
}

#[test]
fn a_length_that_the_payload_does_not_have_is_refused_before_anything_is_made_for_it() {
    // Room for 2^60 of anything does not exist: a decoder that believed the number would end the process.
    for claim in [1_u64 << 60, u64::MAX, 1 << 40, 20 << 20] {
        let mut claimed = vec![253];
        claimed.extend_from_slice(&claim.to_le_bytes());
        for event in samples() {
            let payload = payload_of(&event);
            // In the place of every byte, so in the place of every length there is.
            for at in 0..payload.len().min(80) {
                let mut lying = payload[..at].to_vec();
                lying.extend_from_slice(&claimed);
                lying.extend_from_slice(&payload[at + 1..]);
                if let Ok(other) = decode(event.kind(), PAYLOAD_SCHEMA, 3, &lying) {
                    // It stood in the place of a number that may be large, or within a text.
                    assert!(payload_of(&other).len() <= lying.len());
                }
            }
        }
    }
}

#[test]
fn a_short_payload_cannot_claim_a_long_text() {
    for (len_bytes, claim) in [(40, 16 << 10), (1_000, 1 << 20), (100_000, 4 << 20), (1 << 20, 64 << 20)] {
        let mut lying = vec![252];
        lying.extend_from_slice(&u32::to_le_bytes(claim));
        lying.resize(len_bytes, b'x');
        let decoded = decode(Kind::Finished, PAYLOAD_SCHEMA, 0, &lying);
        let is_refused = matches!(decoded, Err(PayloadError::Decode(DecodeError::LimitExceeded)));
        assert!(is_refused, "{len_bytes} bytes that claim {claim}: {decoded:?}");
    }
}
