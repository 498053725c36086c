//! The segments of a log, in order, and reading bytes by logical position.
//!
//! Opening checks what the headers promise: ordinals without a gap, one log, each base where the file
//! before it ends (case L of `docs/design/RECOVERY.md`). Left-over temporary files are ignored.

use std::path::Path;

use super::disk::{DiskError, LogDirectory, LogFile};
use super::error::{OpenError, ReadError};
use crate::format::HeaderError;
use crate::format::SessionUuid;
use crate::format::segment::{FIRST_FRAME_OFFSET, SEGMENT_HEADER_LEN_BYTES, SegmentHeader};
use crate::storage::OpenMode;

const SUFFIX: &str = ".seg";
const TEMPORARY_NAME: &str = "next.seg.new";

/// Name of the segment with `ordinal`.
pub(crate) fn segment_name(ordinal: u64) -> String {
    format!("{ordinal:010}{SUFFIX}")
}

/// One open segment.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) header: SegmentHeader,
    pub(crate) file: LogFile,
}

impl Segment {
    fn open(directory: &LogDirectory, ordinal: u64, writable: bool) -> Result<Self, OpenError> {
        let name = segment_name(ordinal);
        let file = directory.open_file(&name, if writable { OpenMode::Write } else { OpenMode::Read })?;
        let mut block = [0; SEGMENT_HEADER_LEN_BYTES];
        let filled = file.read_at(&mut block, 0)?;
        let decoded = if filled < block.len() {
            Err(HeaderError::Short(filled as u64))
        } else {
            SegmentHeader::decode(&block)
        };
        match decoded {
            Ok(header) if header.ordinal == ordinal => Ok(Self { header, file }),
            Ok(header) => Err(hole(
                file.path(),
                format!("its name says segment {ordinal}, its header {}", header.ordinal),
            )),
            Err(source) => Err(OpenError::Header { path: file.path().to_owned(), source }),
        }
    }

    pub(crate) fn base(&self) -> u64 {
        self.header.base
    }

    /// Position of the first frame.
    pub(crate) fn first_frame(&self) -> u64 {
        self.header.base + FIRST_FRAME_OFFSET
    }

    /// Position behind the last byte of the file.
    pub(crate) fn file_end(&self) -> Result<u64, DiskError> {
        Ok(self.header.base + self.file.len_bytes()?)
    }

    /// Whether nothing but the header is in it.
    pub(crate) fn is_empty(&self) -> Result<bool, DiskError> {
        Ok(self.file_end()? == self.first_frame())
    }
}

fn hole(path: &Path, what: String) -> OpenError {
    OpenError::Hole { path: path.to_owned(), what }
}

/// The segments of a log, at least one.
#[derive(Debug)]
pub(crate) struct Segments {
    directory: LogDirectory,
    list: Vec<Segment>,
    writable: bool,
}

impl Segments {
    /// Opens every segment. With `writable` the last one may be appended to.
    pub(crate) fn open(directory: &LogDirectory, writable: bool) -> Result<Self, OpenError> {
        let mut ordinals: Vec<u64> = directory
            .names()?
            .iter()
            .filter_map(|name| {
                let digits = name.strip_suffix(SUFFIX).filter(|digits| digits.len() == 10)?;
                digits.parse().ok()
            })
            .collect();
        ordinals.sort_unstable();
        if ordinals.is_empty() {
            return Err(OpenError::Empty(directory.path().to_owned()));
        }
        let mut segments = Self { directory: directory.clone(), list: Vec::new(), writable };
        for (expected, ordinal) in (0_u64..).zip(ordinals) {
            if ordinal != expected {
                let path = directory.path().join(segment_name(expected));
                return Err(hole(&path, format!("it is missing, but segment {ordinal} is there")));
            }
            segments.open_next()?;
        }
        Ok(segments)
    }

    /// Makes the log's first segment.
    pub(crate) fn create(directory: &LogDirectory, header: &SegmentHeader) -> Result<Self, OpenError> {
        if !make_segment(directory, header)? {
            return Err(OpenError::Exists(directory.path().to_owned()));
        }
        Self::open(directory, true)
    }

    /// Makes the next segment, durably, and opens it. An empty one that a dead writer left is used.
    pub(crate) fn begin_next(&mut self, header: &SegmentHeader) -> Result<(), OpenError> {
        make_segment(&self.directory, header)?;
        self.open_next()
    }

    fn open_next(&mut self) -> Result<(), OpenError> {
        let segment = Segment::open(&self.directory, self.list.len() as u64, self.writable)?;
        if let Some(before) = self.list.last() {
            let end = before.file_end()?;
            if segment.header.uuid != before.header.uuid {
                return Err(hole(segment.file.path(), "it belongs to another log".to_owned()));
            }
            if segment.base() != end {
                let what =
                    format!("it begins at position {}, the segment before it ends at {end}", segment.base());
                return Err(hole(segment.file.path(), what));
            }
        } else if segment.base() != 0 {
            return Err(hole(
                segment.file.path(),
                "the first segment does not begin at position 0".to_owned(),
            ));
        }
        self.list.push(segment);
        Ok(())
    }

    /// Opens segments that were begun since. True: there were some.
    pub(crate) fn follow(&mut self) -> Result<bool, OpenError> {
        let before = self.list.len();
        while self.has_next()? {
            self.open_next()?;
        }
        Ok(self.list.len() > before)
    }

    /// Whether someone has begun a segment behind the last one known here.
    pub(crate) fn has_next(&self) -> Result<bool, DiskError> {
        self.directory.exists(&segment_name(self.list.len() as u64))
    }

    pub(crate) fn uuid(&self) -> SessionUuid {
        self.last().header.uuid
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &Segment> {
        self.list.iter()
    }

    pub(crate) fn last(&self) -> &Segment {
        // `open` refuses an empty list and nothing shortens it.
        &self.list[self.list.len() - 1]
    }

    pub(crate) fn get(&self, index: usize) -> Option<&Segment> {
        self.list.get(index)
    }

    /// Number of the segment in which `position` lies, by its header.
    pub(crate) fn find(&self, position: u64) -> Result<usize, ReadError> {
        self.list
            .partition_point(|segment| segment.base() <= position)
            .checked_sub(1)
            .ok_or_else(|| ReadError::NoSuchPosition { path: self.path().to_owned(), position })
    }

    /// The same for a position that is the border of two frames. Where one segment ends the next one's header
    /// begins, and no frame is there: such a border belongs to the former.
    pub(crate) fn find_border(&self, position: u64) -> Result<usize, ReadError> {
        let found = self.find(position)?;
        let is_header = self.get(found).is_some_and(|segment| segment.base() == position);
        Ok(if is_header { found.saturating_sub(1) } else { found })
    }

    /// Whether a segment begun since does not count what lies before `position`.
    pub(crate) fn discard(&self, position: u64) -> Result<bool, ReadError> {
        let segment = self.find_border(position)?;
        Ok(self.proved_end(segment).is_some_and(|proved_end| proved_end < position))
    }

    /// Where the proved bytes of segment `index` end; none for the last one.
    pub(crate) fn proved_end(&self, index: usize) -> Option<u64> {
        self.list.get(index + 1).map(|next| next.header.previous_proved_end)
    }
}

/// Writes a segment's header into a temporary file, syncs it, and gives it its name durably. False: there
/// is a segment of that name already, which stays.
fn make_segment(directory: &LogDirectory, header: &SegmentHeader) -> Result<bool, OpenError> {
    directory.remove(TEMPORARY_NAME)?;
    let file = directory.open_file(TEMPORARY_NAME, OpenMode::CreateNew)?;
    file.write_all_at(&header.encode(), 0)?;
    file.sync()?;
    let made = directory.rename_without_replacing(TEMPORARY_NAME, &segment_name(header.ordinal))?;
    if !made {
        directory.remove(TEMPORARY_NAME)?;
    }
    Ok(made)
}
