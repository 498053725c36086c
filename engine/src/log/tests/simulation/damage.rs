//! Every bit of small logs, flipped: the exact data, or an exact prefix and a word about it, or an error
//! with a name.

use std::sync::Arc;

use super::super::super::disk::LogDirectory;
use super::super::super::{Durability, Log, Mapping, Options};
use super::super::{finished, line, speaker};
use super::history::{Player, repair};
use super::verdict::read;
use super::{Seeded, is_exhaustive};
use crate::Event;
use crate::storage::memory::{Boot, Image, MemoryDirectory};

/// A small log as it lies there, and what damage to it may take.
struct Specimen {
    what: &'static str,
    image: Image,
    boot: Boot,
    issued: Vec<Vec<Event>>,
    /// With the head gone and nothing behind it, the last batch cannot be told from a torn one.
    may_lose_last_batch: bool,
}

fn specimens() -> Vec<Specimen> {
    let mut player = Player::start(Durability::Each, Mapping::On);
    player.create().unwrap();
    player.append(&[finished(), line("one")]).unwrap();
    player.append(&[speaker(0, "Ana"), line("two")]).unwrap();
    player.rotate();
    player.append(&[repair(0, "one", "1"), line("three"), speaker(0, "Bo")]).unwrap();
    player.append(&[line("four"), speaker(3, "Cy")]).unwrap();
    let issued = player.issued().to_vec();
    let live = player.disk.image();
    player.close().unwrap();
    let closed = player.disk.image();
    let specimen = |what, image: &Image, boot, may_lose_last_batch| Specimen {
        what,
        image: image.clone(),
        boot,
        issued: issued.clone(),
        may_lose_last_batch,
    };
    vec![
        specimen("live, the same start of the machine", &live, 0, false),
        specimen("not closed, another start of the machine", &live, 1, true),
        specimen("closed, another start of the machine", &closed, 1, false),
        specimen("closed, the same start of the machine", &closed, 0, false),
    ]
}

impl Specimen {
    /// Judges what is read and what is written on after `image` was damaged.
    fn judge(&self, image: &Image) -> Result<(), String> {
        let total = self.issued.len();
        let at_least = total - usize::from(self.may_lose_last_batch);
        let directory = LogDirectory::stored_in(Arc::new(MemoryDirectory::holding(image.clone(), self.boot)));
        if let Ok(seen) = read(directory.clone(), Mapping::On, &self.issued)? {
            if seen.batches < total && !seen.says_damage {
                return Err(format!("{} of {total} batches are read without a word", seen.batches));
            }
        }
        let Ok(log) = Log::open_in(directory.clone(), Options::default()) else { return Ok(()) };
        // Old lines are not looked at when a log is opened that was closed, or is being written.
        let Ok(seen) = read(directory.clone(), Mapping::On, &self.issued)? else { return Ok(()) };
        if seen.batches < at_least {
            return Err(format!("{} of {total} batches are left, and it is written on", seen.batches));
        }
        let told = log.recovery();
        if seen.batches < total && told.discarded_len_bytes == 0 {
            return Err("a batch is lost without a word".to_owned());
        }
        Ok(())
    }
}

/// One bit of every byte of every segment, flipped.
pub(super) fn every_byte_of_the_segments() -> Result<(), String> {
    for specimen in specimens() {
        for name in specimen.image.names.keys().filter(|name| Image::is_segment(name)) {
            for byte in 0..specimen.image.bytes(name).map_or(0, Vec::len) {
                let mut image = specimen.image.clone();
                image.bytes_mut(name).unwrap()[byte] ^= 1 << (byte % 8);
                specimen.judge(&image).map_err(|why| format!("{}: {name}: {why}", specimen.what))?;
            }
        }
    }
    Ok(())
}

#[test]
fn no_flipped_bit_makes_a_wrong_line() {
    let mut random = Seeded(3);
    for specimen in specimens() {
        specimen.judge(&specimen.image).unwrap();
        let mut judged = 0;
        for name in specimen.image.names.keys() {
            let len_bytes = specimen.image.bytes(name).unwrap().len();
            for bit in 0..len_bytes * 8 {
                // Long stretches of zeros are the same everywhere.
                let is_dull = specimen.image.bytes(name).unwrap()[bit / 8] == 0;
                let one_in = match (is_exhaustive(), is_dull) {
                    (true, _) => 1,
                    (false, true) => 40,
                    (false, false) => 4,
                };
                if !random.once_in(one_in) {
                    continue;
                }
                let mut image = specimen.image.clone();
                image.bytes_mut(name).unwrap()[bit / 8] ^= 1 << (bit % 8);
                judged += 1;
                if let Err(why) = specimen.judge(&image) {
                    panic!("{}: bit {} of byte {} of {name}: {why}", specimen.what, bit % 8, bit / 8);
                }
            }
        }
        println!("{}: {judged} bits", specimen.what);
    }
}
