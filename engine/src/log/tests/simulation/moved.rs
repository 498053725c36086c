//! Frames that were written elsewhere, put where their numbers fit: old blocks of a deleted session, and
//! what an abandoned batch left.

use super::super::super::{Durability, Mapping};
use super::super::line;
use super::history::Player;
use super::verdict::read;
use crate::Event;
use crate::storage::memory::Image;

/// A log of two lines of which nothing was closed, the second one as given; and where its second batch begins.
fn two_lines(second: &str) -> (Image, Vec<Vec<Event>>, usize) {
    let mut player = Player::start(Durability::Each, Mapping::On);
    player.create().unwrap();
    player.append(&[line("one")]).unwrap();
    let begins = player.disk.image().bytes("0000000000.seg").unwrap().len();
    player.append(&[line(second)]).unwrap();
    player.die();
    (player.disk.image(), player.issued().to_vec(), begins)
}

/// Another log's second batch lies where this log's second batch should be: same place, same number, same
/// length. And shifted by every multiple of a frame's alignment. It is never read.
pub(super) fn frames_count_only_where_they_were_written() -> Result<(), String> {
    let (image, issued, begins) = two_lines("two");
    let (foreign, _, _) = two_lines("odd");
    let foreign = &foreign.bytes("0000000000.seg").unwrap()[begins..];
    for shift in (0..foreign.len()).step_by(8) {
        let mut moved = image.clone();
        let segment = moved.bytes_mut("0000000000.seg").unwrap();
        segment.truncate(begins);
        segment.resize(begins + shift, 0);
        segment.extend_from_slice(foreign);
        // On another start of the machine nothing but the bytes themselves can tell.
        let player = Player::go_on(moved, 1, Durability::Each, Mapping::On);
        if let Ok(seen) = read(player.directory(), Mapping::On, &issued)? {
            if seen.batches > 1 {
                return Err(format!("{} batches are read from another log's frames", seen.batches));
            }
        }
    }
    Ok(())
}

#[test]
fn a_frame_counts_only_where_it_was_written() {
    frames_count_only_where_they_were_written().unwrap();
}
