//! The fixed blocks: offsets, sizes and numbers.

use std::collections::BTreeMap;

use super::super::frame::{FLAG_BATCH_END, FLAG_IGNORABLE, FRAME_HEADER_LEN_BYTES, FrameHeader, seal_frame};
use super::super::head::{
    BELL_WORD, DURABLE_PLACE, DURABLE_WORD, END_PLACE, END_WORD, HEAD_LEN_BYTES, HeadIdentity, IDENTITY_WORD,
    LINES_WORD, NONCE_WORD, STATE_OK, STATE_SYNC_FAILED, STATE_WORD,
};
use super::super::index::{
    INDEX_ENTRY_LEN_BYTES, INDEX_HEADER_LEN_BYTES, IndexHeader, newest_edit_place, position_place,
};
use super::super::sealed_word::{POSITION_MAX, seal};
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
    compare_rows(title, fields(title), 0, block, expected);
}

/// The same for a block that begins at `start`.
fn compare_rows(title: &str, rows: Vec<Field>, start: usize, block: &[u8], expected: &[(&str, &[u8])]) {
    let mut expected: BTreeMap<&str, &[u8]> = expected.iter().copied().collect();
    let mut reached = start;
    for Field { offset, len_bytes, name, meaning } in rows {
        assert_eq!(offset, reached, "{title}: a gap or an overlap before {name:?}");
        reached = offset + len_bytes;
        let found = &block[offset - start..reached - start];
        if name.is_empty() {
            assert_eq!(meaning, "zero", "{title}: a row without a name");
            assert!(found.iter().all(|byte| *byte == 0), "{title}: {offset} is not zero");
        } else {
            let wanted = expected.remove(name.as_str());
            assert_eq!(Some(found), wanted, "{title}: {name} at {offset}, {len_bytes} bytes");
        }
    }
    assert_eq!(reached - start, block.len(), "{title}: the rows end elsewhere than the block");
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
fn the_words_of_the_head_stand_as_their_table_says() {
    let identity = HeadIdentity {
        boot: *b"0123456789ABCDEF",
        device: 0x0102_0304_0506_0708,
        inode: 0x1112_1314_1516_1718,
        birth_ns: 0x2122_2324_2526_2728,
        uuid: *b"ghijklmnopqrstuv",
        index_nonce: 0x3132_3334_3536_3738,
    };
    let block: Vec<u8> = identity.to_words().into_iter().flat_map(u64::to_le_bytes).collect();
    let crc = u64::from(crc32fast::hash(&block[..72])).to_le_bytes();
    let expected: [(&str, &[u8]); 8] = [
        ("magic", b"AMBHEAD\x01"),
        ("boot", &identity.boot),
        ("device", &identity.device.to_le_bytes()),
        ("inode", &identity.inode.to_le_bytes()),
        ("birth", &identity.birth_ns.to_le_bytes()),
        ("uuid", &identity.uuid),
        ("nonce", &identity.index_nonce.to_le_bytes()),
        ("crc", &crc),
    ];
    let (words, rows): (Vec<Field>, Vec<Field>) =
        fields("`head`").into_iter().partition(|field| field.offset < IDENTITY_WORD * 8);
    compare_rows("head", rows, IDENTITY_WORD * 8, &block, &expected);
    assert_eq!(NONCE_WORD * 8, 448);

    let in_code = [
        ("end", END_WORD),
        ("durable", DURABLE_WORD),
        ("lines", LINES_WORD),
        ("state", STATE_WORD),
        ("bell", BELL_WORD),
    ];
    let words: Vec<(&str, usize)> =
        words.iter().map(|field| (field.name.as_str(), field.offset / 8)).collect();
    assert_eq!(words, in_code);
    let section = Page::read().section("`head`").to_owned();
    assert!(section.contains(&format!("{HEAD_LEN_BYTES} bytes, made once")));
    assert!(meaning("`head`", "end").ends_with(&format!("place {END_PLACE}")));
    assert!(meaning("`head`", "durable").ends_with(&format!("place {DURABLE_PLACE}")));
    assert!(meaning("`head`", "state").starts_with(&format!("{STATE_OK} fine")));
    assert_eq!(STATE_SYNC_FAILED, u64::MAX, "all ones");
}

#[test]
fn an_index_stands_as_its_table_says() {
    let header = IndexHeader { uuid: *b"0123456789ABCDEF", nonce: 0x0102_0304_0506_0708 };
    let mut block = header.encode().to_vec();
    let crc = crc32fast::hash(&block[..32]).to_le_bytes();
    block.resize(usize::try_from(INDEX_HEADER_LEN_BYTES).unwrap(), 0);
    compare(
        "`lines.idx`",
        &block,
        &[
            ("magic", b"AMBLIDX\x01"),
            ("uuid", &header.uuid),
            ("nonce", &header.nonce.to_le_bytes()),
            ("crc", &crc),
        ],
    );
    let rows = Page::read().table("`lines.idx`").rows;
    let last = rows.last().unwrap();
    assert_eq!(last[0], INDEX_HEADER_LEN_BYTES.to_string());
    assert_eq!(last[1], format!("{INDEX_ENTRY_LEN_BYTES} each"));
    assert!(last[3].ends_with("places 2 × line and 2 × line + 1"));
    assert_eq!((position_place(7), newest_edit_place(7)), (14, 15));
}

/// The CRC-16 of the page, bit by bit.
#[test]
fn a_sealed_word_is_what_the_page_says() {
    assert!(Page::read().section("Sealed words").contains("low 48 bits"));
    for (position, place) in
        [(0, 8), (256, 16), (0x1234_5678_9ABC, 0x0001_0002_0003_0004), (POSITION_MAX, 15)]
    {
        let parts = [place, place >> 16, place >> 32, place >> 48];
        let mut crc = parts.into_iter().fold(0xFFFF, |start: u64, part| start ^ (part & 0xFFFF));
        for bit in (0..6).flat_map(|byte| (0..8).rev().map(move |bit| byte * 8 + bit)) {
            let carry = (crc >> 15 & 1) ^ (position >> bit & 1);
            crc = (crc << 1 & 0xFFFF) ^ (carry * 0x1021);
        }
        assert_eq!(seal(position, place), position | crc << 48);
    }
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
    assert_eq!(limits["position"], format!("2^{} - 1", POSITION_MAX.trailing_ones()));
    assert_eq!(limits.len(), 5);
}
