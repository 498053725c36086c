//! What a death can leave.
//!
//! A process that dies leaves every change it made, the last write perhaps in part. A machine that dies
//! leaves what was synced, and of the rest any part: each sector of a write, each length and each name by
//! itself, in any combination, with zeros, noise or old bytes where nothing arrived.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::Seeded;
use crate::storage::memory::{Image, Operation};

/// Hands `see` every image that a process could leave: behind each change, and inside each write at every
/// byte. The number is of the changes that were made whole, and the flag says that the next one was torn.
pub(super) fn process_deaths(
    before: &Image,
    journal: &[Operation],
    mut see: impl FnMut(usize, bool, &Image) -> Result<(), String>,
) -> Result<(), String> {
    let mut image = before.clone();
    see(0, false, &image)?;
    for (number, operation) in journal.iter().enumerate() {
        if let Operation::Write { file, offset, bytes } = operation {
            // A word that is written in one aligned piece is not torn by a death.
            let pieces = if bytes.len() == 8 { 0 } else { bytes.len() };
            for len in 1..pieces {
                let mut torn = image.clone();
                torn.write(*file, *offset, &bytes[..len]);
                see(number, true, &torn)?;
            }
        }
        image.apply(operation);
        let changes_bytes =
            !matches!(operation, Operation::SyncFile { .. } | Operation::SyncNames | Operation::Wake { .. });
        if changes_bytes || number + 1 == journal.len() {
            see(number + 1, false, &image)?;
        }
    }
    Ok(())
}

/// A part of a change that reaches the disk or does not.
#[derive(Clone, Debug)]
enum Part {
    Bytes { file: usize, offset: u64, bytes: Vec<u8> },
    Length { file: usize, len_bytes: u64 },
    Name(Operation),
}

/// What stands where a file was made longer and its bytes did not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filling {
    Zeros,
    Noise,
    /// The beginning of another segment's frames.
    OldBytes,
}

/// How power fails.
pub(super) struct PowerLoss {
    pub(super) sector_len_bytes: u64,
    pub(super) filling: Filling,
    /// Combinations that are tried at each moment beyond the regular ones.
    pub(super) samples: usize,
    /// Up to so many parts, all combinations are tried.
    pub(super) all_up_to: usize,
}

#[derive(Default)]
struct Pending {
    durable: Image,
    parts: Vec<Part>,
}

impl Pending {
    fn note(&mut self, operation: &Operation, sector_len_bytes: u64, seen: &Image) {
        match operation {
            Operation::Write { file, offset, bytes } => {
                self.parts.push(Part::Length { file: *file, len_bytes: offset + bytes.len() as u64 });
                let mut done = 0;
                while done < bytes.len() {
                    let at = offset + done as u64;
                    let left = usize::try_from(sector_len_bytes - at % sector_len_bytes).unwrap();
                    let len = left.min(bytes.len() - done);
                    let piece = bytes[done..done + len].to_vec();
                    self.parts.push(Part::Bytes { file: *file, offset: at, bytes: piece });
                    done += len;
                }
            }
            Operation::Store { file, word, value } => {
                let (offset, bytes) = (*word as u64 * 8, value.to_le_bytes().to_vec());
                self.parts.push(Part::Bytes { file: *file, offset, bytes });
            }
            Operation::Grow { file, len_bytes } => {
                self.parts.push(Part::Length { file: *file, len_bytes: *len_bytes });
            }
            Operation::Create { .. } | Operation::Rename { .. } | Operation::Remove { .. } => {
                self.parts.push(Part::Name(operation.clone()));
            }
            Operation::SyncFile { file } => {
                let is_of_file = |part: &Part| match part {
                    Part::Bytes { file: of, .. } | Part::Length { file: of, .. } => of == file,
                    Part::Name(_) => false,
                };
                self.parts.retain(|part| !is_of_file(part));
                *self.durable.file_mut(*file) = seen.files[*file].clone();
            }
            Operation::SyncNames => {
                self.parts.retain(|part| !matches!(part, Part::Name(_)));
                self.durable.names.clone_from(&seen.names);
            }
            Operation::Wake { .. } => {}
        }
    }

    /// The image in which those parts arrived that `arrived` says.
    fn image(&self, filling: Filling, arrived: impl Fn(usize) -> bool) -> Image {
        let mut image = self.durable.clone();
        let arrived = || self.parts.iter().enumerate().filter(|(index, _)| arrived(*index));
        for (_, part) in arrived() {
            if let Part::Length { file, len_bytes } = part {
                lengthen(&mut image, *file, *len_bytes, filling);
            }
        }
        for (_, part) in arrived() {
            match part {
                Part::Bytes { file, offset, bytes } => {
                    let content = image.file_mut(*file);
                    let from = usize::try_from(*offset).unwrap().min(content.len());
                    let to = (from + bytes.len()).min(content.len());
                    content[from..to].copy_from_slice(&bytes[..to - from]);
                }
                Part::Name(operation) => image.apply(operation),
                Part::Length { .. } => {}
            }
        }
        // A name may arrive before anything of its file does.
        for file in image.names.values().copied().collect::<Vec<_>>() {
            image.file_mut(file);
        }
        image
    }
}

fn lengthen(image: &mut Image, file: usize, len_bytes: u64, filling: Filling) {
    let old = match filling {
        Filling::OldBytes => image.bytes("0000000000.seg").cloned().unwrap_or_default(),
        Filling::Zeros | Filling::Noise => Vec::new(),
    };
    let content = image.file_mut(file);
    for index in content.len()..usize::try_from(len_bytes).unwrap() {
        content.push(match filling {
            Filling::Zeros => 0,
            Filling::Noise => (index.wrapping_mul(167) ^ (index >> 3)).to_le_bytes()[0],
            Filling::OldBytes => old.get(index).copied().unwrap_or_default(),
        });
    }
}

/// Hands `see` images that a machine could leave when it died behind so many changes, `from` or more. Each
/// image is handed out once.
pub(super) fn power_losses(
    before: &Image,
    journal: &[Operation],
    how: &PowerLoss,
    from: usize,
    mut see: impl FnMut(usize, &Image) -> Result<(), String>,
) -> Result<(), String> {
    let mut pending = Pending { durable: before.clone(), parts: Vec::new() };
    let mut seen = before.clone();
    let mut known = HashSet::new();
    let mut random = Seeded(0x00A3_B1E7);
    for number in 0..=journal.len() {
        let mut show = |image: Image| {
            if number < from {
                return Ok(());
            }
            let mut hasher = DefaultHasher::new();
            (number, &image.names).hash(&mut hasher);
            image.names.values().for_each(|file| image.files.get(*file).hash(&mut hasher));
            if known.insert(hasher.finish()) { see(number, &image) } else { Ok(()) }
        };
        let count = pending.parts.len();
        if count <= how.all_up_to {
            for subset in 0..1_u64 << count {
                show(pending.image(how.filling, |index| subset >> index & 1 == 1))?;
            }
        } else {
            show(pending.image(how.filling, |_| true))?;
            show(pending.image(how.filling, |_| false))?;
            // The newest parts are the interesting ones: alone, missing alone, and in any combination.
            for chosen in count.saturating_sub(12)..count {
                show(pending.image(how.filling, |index| index == chosen))?;
                show(pending.image(how.filling, |index| index != chosen))?;
                show(pending.image(how.filling, |index| index < chosen))?;
            }
            for _ in 0..how.samples {
                let bits: Vec<bool> = (0..count).map(|_| random.once_in(2)).collect();
                show(pending.image(how.filling, |index| bits[index]))?;
            }
        }
        if let Some(operation) = journal.get(number) {
            seen.apply(operation);
            pending.note(operation, how.sector_len_bytes, &seen);
        }
    }
    Ok(())
}
