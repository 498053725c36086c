//! The fixed blocks: offsets, sizes and numbers.

use std::collections::BTreeMap;

use super::super::frame::{FLAG_BATCH_END, FLAG_IGNORABLE, FRAME_HEADER_LEN_BYTES, FrameHeader, seal_frame};
use super::super::segment::{
    CHECKSUM_CRC32, CODEC_BINCODE_2, FORMAT_MAJOR, FORMAT_MINOR, Reason, SEGMENT_HEADER_LEN_BYTES,
    SEGMENT_MAGIC, SegmentHeader,
};
use super::super::{PAYLOAD_LEN_MAX_BYTES, SEGMENT_LEN_MAX_BYTES};
use super::Page;
use crate::event::{Closed, Kind, PAYLOAD_SCHEMA};
use crate::fold::TEXT_LEN_MAX_BYTES;

/// A row of a table of bytes.
struct Field {
    offset: usize,
    len_bytes: usize,
    name: String,
    meaning: String,
}

fn fields(title: &str) -> Vec<Field> {
    let table = Page::read().table(title);
    assert_eq!(table.columns, ["offset", "size", "field", "meaning"], "{title}");
    let rows = table.rows.into_iter().filter_map(|row| {
        // `len` and `16 each`: what repeats or varies stands behind the block.
        let len_bytes = row[1].parse().ok()?;
        let [offset, name, meaning] = [&row[0], &row[2], &row[3]].map(Clone::clone);
        Some(Field { offset: offset.parse().unwrap(), len_bytes, name, meaning })
    });
    rows.collect()
}

/// Every row of the table holds what `expected` says under its name, unnamed rows hold zeros, and nothing of
/// `block` is left without a row.
fn compare(title: &str, block: &[u8], expected: &[(&str, &[u8])]) {
    let mut expected: BTreeMap<&str, &[u8]> = expected.iter().copied().collect();
    let mut reached = 0;
    for Field { offset, len_bytes, name, meaning } in fields(title) {
        assert_eq!(offset, reached, "{title}: a gap or an overlap before {name:?}");
        reached = offset + len_bytes;
        let found = &block[offset..reached];
        if name.is_empty() {
            assert_eq!(meaning, "zero", "{title}: a row without a name");
            assert!(found.iter().all(|byte| *byte == 0), "{title}: {offset} is not zero");
        } else {
            let wanted = expected.remove(name.as_str());
            assert_eq!(Some(found), wanted, "{title}: {name} at {offset}, {len_bytes} bytes");
        }
    }
    assert_eq!(reached, block.len(), "{title}: the rows end elsewhere than the block");
    assert!(expected.is_empty(), "{title}: the table lacks {:?}", expected.keys());
}

/// The constants of a source file that name offsets: `const FIRST_SEQ: usize = 48;`.
fn offsets_in(source: &str) -> BTreeMap<String, usize> {
    let constants = source.lines().filter_map(|line| {
        let (name, number) = line.strip_prefix("const ")?.split_once(": usize = ")?;
        Some((name.to_lowercase().replace('_', " "), number.strip_suffix(';')?.parse().ok()?))
    });
    constants.collect()
}

fn offsets_on_the_page(title: &str) -> BTreeMap<String, usize> {
    let named = fields(title).into_iter().filter(|field| !field.name.is_empty());
    named.map(|field| (field.name.replace('-', " "), field.offset)).collect()
}

fn meaning(title: &str, name: &str) -> String {
    fields(title).into_iter().find(|field| field.name == name).unwrap().meaning
}

const CRC_PLACES: std::ops::Range<usize> = 252..256;

#[test]
fn the_page_has_every_offset_of_the_code_and_no_other() {
    for (title, source) in
        [("Segment", include_str!("../segment.rs")), ("Frame", include_str!("../frame.rs"))]
    {
        let in_code = offsets_in(source);
        assert!(in_code.len() > 8, "the constants of {title} were found");
        assert_eq!(offsets_on_the_page(title), in_code, "{title}: page (left) and code (right)");
    }
}

#[test]
fn a_segment_header_stands_as_its_table_says() {
    let header = SegmentHeader {
        uuid: *b"0123456789ABCDEF",
        ordinal: 0x0101_0202_0303_0404,
        first_seq: 0x1111_2222_3333_4444,
        first_line: 0x1212_3434_5656_7878,
        base: 0x2222_3333_4444_5555,
        salt: 0x3333_4444,
        previous_proved_end: 0x2222_3333_4444_0000,
        discarded_len_bytes: 0x5555,
        reason: Reason::TornTail,
        created_us: -0x6666_7777_8888,
        writable: true,
    };
    let block = header.encode();
    assert_eq!(block.len(), SEGMENT_HEADER_LEN_BYTES);
    let crc = crc32fast::hash(&block[..CRC_PLACES.start]).to_le_bytes();
    compare(
        "Segment",
        &block,
        &[
            ("magic", &SEGMENT_MAGIC),
            ("major", &FORMAT_MAJOR.to_le_bytes()),
            ("minor", &FORMAT_MINOR.to_le_bytes()),
            ("compat", &[0; 4]),
            ("ro-compat", &[0; 4]),
            ("incompat", &[0; 4]),
            ("uuid", &header.uuid),
            ("ordinal", &header.ordinal.to_le_bytes()),
            ("first seq", &header.first_seq.to_le_bytes()),
            ("first line", &header.first_line.to_le_bytes()),
            ("base", &header.base.to_le_bytes()),
            ("salt", &header.salt.to_le_bytes()),
            ("codec", &CODEC_BINCODE_2.to_le_bytes()),
            ("checksum", &CHECKSUM_CRC32.to_le_bytes()),
            ("previous end", &header.previous_proved_end.to_le_bytes()),
            ("discarded", &header.discarded_len_bytes.to_le_bytes()),
            ("reason", &[Reason::TornTail as u8]),
            ("created us", &header.created_us.to_le_bytes()),
            ("crc", &crc),
        ],
    );
}

#[test]
fn the_numbers_in_a_segment_header_mean_what_the_page_says() {
    let magic: Vec<String> = SEGMENT_MAGIC.iter().map(|byte| format!("{byte:02X}")).collect();
    assert!(meaning("Segment", "magic").starts_with(&format!("{}:", magic.join(" "))));
    assert!(meaning("Segment", "major").starts_with(&format!("{FORMAT_MAJOR};")));
    assert!(meaning("Segment", "minor").starts_with(&format!("{FORMAT_MINOR};")));
    assert!(meaning("Segment", "codec").starts_with(&format!("{CODEC_BINCODE_2} = bincode 2.0.1")));
    assert!(meaning("Segment", "checksum").starts_with(&format!("{CHECKSUM_CRC32} = crc32")));
    let reasons: Vec<String> = Reason::ALL
        .into_iter()
        .map(|reason| format!("{} {}", reason as u8, spaced(&format!("{reason:?}"))))
        .collect();
    assert_eq!(meaning("Segment", "reason"), reasons.join(", "));
}

/// `TornTail` as `torn tail`.
fn spaced(name: &str) -> String {
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(letter.to_lowercase());
    }
    words
}

#[test]
fn a_frame_header_stands_as_its_table_says() {
    let header = FrameHeader {
        payload_len_bytes: 8,
        crc: 0,
        seq: 0x0102_0304_0506_0708,
        line: 0x1112_1314_1516_1718,
        ts_us: -0x2122_2324_2526,
        kind: 0x31,
        flags: 0x42,
        schema: 0x5354,
        unsynced: 0x6162_6364,
    };
    let mut frame = [0; FRAME_HEADER_LEN_BYTES + 8];
    let crc = seal_frame(&mut frame, &header, 7, 256);
    compare(
        "Frame",
        &frame[..FRAME_HEADER_LEN_BYTES],
        &[
            ("len", &header.payload_len_bytes.to_le_bytes()),
            ("crc", &crc.to_le_bytes()),
            ("seq", &header.seq.to_le_bytes()),
            ("line", &header.line.to_le_bytes()),
            ("ts us", &header.ts_us.to_le_bytes()),
            ("kind", &[header.kind]),
            ("flags", &[header.flags]),
            ("schema", &header.schema.to_le_bytes()),
            ("unsynced", &header.unsynced.to_le_bytes()),
        ],
    );
    let flags = meaning("Frame", "flags");
    assert!(flags.contains(&format!("bit {}: last frame of its batch", FLAG_BATCH_END.trailing_zeros())));
    assert!(flags.contains(&format!("bit {}: may be skipped", FLAG_IGNORABLE.trailing_zeros())));
    assert!(meaning("Frame", "schema").ends_with(&format!(": {PAYLOAD_SCHEMA}")));
}

#[test]
fn a_closing_payload_stands_as_its_table_says() {
    let closed = Closed { lines: 0x0102_0304_0506_0708, end: 0x1112_1314_1516_1718, index_crc: 0x2122_2324 };
    let block = closed.to_bytes();
    compare(
        "closed",
        &block,
        &[
            ("lines", &closed.lines.to_le_bytes()),
            ("end", &closed.end.to_le_bytes()),
            ("index crc", &closed.index_crc.to_le_bytes()),
        ],
    );
}

#[test]
fn the_page_has_every_kind_and_no_other() {
    let rows = Page::read().table("Event kinds").rows;
    let in_code = Kind::ALL.map(|kind| {
        let name = format!("{kind:?}").to_lowercase();
        let name = if kind.is_edit() { format!("edit: {name}") } else { name };
        let skipped = if kind.is_ignorable() { "yes" } else { "no" };
        [kind.number().to_string(), name, skipped.to_owned()]
    });
    assert_eq!(rows, in_code);
}

#[test]
fn the_limits_are_those_of_the_code() {
    let limits: BTreeMap<String, String> =
        Page::read().table("Limits").rows.into_iter().map(|row| (row[0].clone(), row[1].clone())).collect();
    let mib = |len_bytes: u64| format!("{} MiB", len_bytes >> 20);
    assert_eq!(limits["payload of a frame"], mib(PAYLOAD_LEN_MAX_BYTES.into()));
    assert_eq!(limits["segment"], mib(SEGMENT_LEN_MAX_BYTES));
    assert!(limits["text of a line after repairs"].starts_with(&mib(TEXT_LEN_MAX_BYTES as u64)));
    assert_eq!(limits["batch"], "one segment");
    assert_eq!(limits.len(), 4);
}
