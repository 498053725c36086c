//! A line's payload written and read by hand: the same bytes that the codec writes and reads, in a fifth of
//! the time.
//!
//! Nearly every frame is a line, so this is what writers and readers spend their time on. The codec stays the
//! judge: what is not plainly a line here is given to it, for its answer or its error.

use super::{AudioSpan, Line, LineView};
use crate::Track;

/// More than the numbers and flags of a line take.
const NUMBERS_LEN_MAX_BYTES: usize = 96;

/// Appends the payload of `line` to `into`.
pub(super) fn write_plain(line: &Line, into: &mut Vec<u8>) {
    let language = line.language.as_deref().unwrap_or_default();
    into.reserve(NUMBERS_LEN_MAX_BYTES + line.text.len() + language.len());
    into.push(match line.track {
        Track::Room => 0,
        Track::Call => 1,
    });
    write_number(line.start_ms, into);
    write_number(line.end_ms, into);
    write_text(&line.text, into);
    into.extend_from_slice(&line.confidence.to_le_bytes());
    into.push(line.language.is_some().into());
    if line.language.is_some() {
        write_text(language, into);
    }
    write_number(line.generation.into(), into);
    into.push(line.audio.is_some().into());
    if let Some(AudioSpan { start_sample, end_sample, rate_hz }) = line.audio {
        write_number(start_sample, into);
        write_number(end_sample, into);
        write_number(rate_hz.into(), into);
    }
    into.push(line.overlap.into());
}

fn write_text(text: &str, into: &mut Vec<u8>) {
    write_number(text.len() as u64, into);
    into.extend_from_slice(text.as_bytes());
}

/// An integer of variable length: one byte up to 250, else a byte that says how many follow.
fn write_number(number: u64, into: &mut Vec<u8>) {
    let bytes = number.to_le_bytes();
    match number {
        0..=250 => into.push(bytes[0]),
        251..=0xFFFF => into.extend_from_slice(&[251, bytes[0], bytes[1]]),
        0x1_0000..=0xFFFF_FFFF => into.extend_from_slice(&[252, bytes[0], bytes[1], bytes[2], bytes[3]]),
        _ => {
            into.push(253);
            into.extend_from_slice(&bytes);
        }
    }
}

/// The line in `payload`; none when the codec has to be asked.
pub(super) fn read_plain(payload: &[u8]) -> Option<LineView<'_>> {
    let mut bytes = Bytes(payload);
    let line = LineView {
        track: match bytes.number()? {
            0 => Track::Room,
            1 => Track::Call,
            _ => return None,
        },
        start_ms: bytes.number()?,
        end_ms: bytes.number()?,
        text: bytes.text()?,
        confidence: f32::from_le_bytes(bytes.array()?),
        language: if bytes.flag()? { Some(bytes.text()?) } else { None },
        generation: bytes.number()?.try_into().ok()?,
        audio: if bytes.flag()? { Some(bytes.span()?) } else { None },
        overlap: bytes.flag()?,
    };
    bytes.0.is_empty().then_some(line)
}

/// What is left to be read.
struct Bytes<'payload>(&'payload [u8]);

impl<'payload> Bytes<'payload> {
    fn take(&mut self, count: usize) -> Option<&'payload [u8]> {
        let (taken, left) = self.0.split_at_checked(count)?;
        self.0 = left;
        Some(taken)
    }

    fn array<const LEN: usize>(&mut self) -> Option<[u8; LEN]> {
        let (taken, left) = self.0.split_first_chunk()?;
        self.0 = left;
        Some(*taken)
    }

    /// What [`write_number`] wrote.
    fn number(&mut self) -> Option<u64> {
        let [first] = self.array()?;
        Some(match first {
            0..=250 => first.into(),
            251 => u16::from_le_bytes(self.array()?).into(),
            252 => u32::from_le_bytes(self.array()?).into(),
            253 => u64::from_le_bytes(self.array()?),
            _ => return None,
        })
    }

    fn flag(&mut self) -> Option<bool> {
        let [byte] = self.array()?;
        (byte <= 1).then_some(byte == 1)
    }

    fn text(&mut self) -> Option<&'payload str> {
        let len_bytes = usize::try_from(self.number()?).ok()?;
        std::str::from_utf8(self.take(len_bytes)?).ok()
    }

    fn span(&mut self) -> Option<AudioSpan> {
        Some(AudioSpan {
            start_sample: self.number()?,
            end_sample: self.number()?,
            rate_hz: self.number()?.try_into().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Event, payload};
    use super::*;

    fn lines() -> impl Strategy<Value = Line> {
        let number = || prop_oneof![0..300_u64, 65_000..66_000_u64, any::<u64>()];
        let rate = prop_oneof![Just(48_000_u32), any::<u32>()];
        let span = (number(), number(), rate).prop_map(|(start_sample, end_sample, rate_hz)| AudioSpan {
            start_sample,
            end_sample,
            rate_hz,
        });
        let language = prop::option::of("[a-z]{2}");
        let times = (number(), number(), any::<u32>(), any::<bool>(), any::<bool>());
        (times, ".{0,300}", -9_f32..9.0, language, prop::option::of(span)).prop_map(
            |((start_ms, end_ms, generation, is_room, overlap), text, confidence, language, audio)| Line {
                track: if is_room { Track::Room } else { Track::Call },
                start_ms,
                end_ms,
                text,
                confidence,
                language,
                generation,
                audio,
                overlap,
            },
        )
    }

    proptest! {
        /// What is written here is what the codec writes.
        #[test]
        fn a_line_is_written_as_the_codec_writes_it(line in lines()) {
            let (mut by_hand, mut by_codec) = (Vec::new(), Vec::new());
            write_plain(&line, &mut by_hand);
            payload::write(&line, &mut by_codec).unwrap();
            prop_assert_eq!(by_hand, by_codec);
        }

        /// Every line that is written is read here, and as the codec reads it.
        #[test]
        fn every_written_line_is_plain(line in lines()) {
            let mut bytes = Vec::new();
            payload::encode(&Event::Line(line.clone()), 0, &mut bytes).unwrap();
            prop_assert_eq!(read_plain(&bytes).map(|view| view.to_line()), Some(line));
        }

        /// Whatever bytes are read here, the codec reads the same; with a byte changed, cut off or added too.
        #[test]
        fn nothing_is_read_that_the_codec_reads_otherwise(
            line in lines(),
            at: prop::sample::Index,
            byte: u8,
            cut: prop::sample::Index,
            noise in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            let mut bytes = Vec::new();
            payload::encode(&Event::Line(line), 0, &mut bytes).unwrap();
            let mut changed = bytes.clone();
            changed[at.index(bytes.len())] = byte;
            let longer = [&bytes[..], &[byte]].concat();
            for bytes in [&changed[..], &bytes[..cut.index(bytes.len())], &longer, &noise] {
                if let Some(view) = read_plain(bytes) {
                    let by_codec: LineView<'_> = payload::read(bytes).unwrap();
                    prop_assert_eq!(format!("{view:?}"), format!("{by_codec:?}"));
                }
            }
        }
    }
}
