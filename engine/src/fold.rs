//! The fold: how a line reads once its edits are applied. A pure function; `replay` is its naive twin.
//!
//! Rules, in this order:
//! 1. A revert takes back an earlier edit of the same line that it names by position and number. A revert
//!    cannot be taken back, and a machine cannot take back what a person did.
//! 2. Once a person has taken back a machine's `hide`, later machine hides of that line do not count.
//! 3. Repairs are applied oldest first, each replacing every occurrence in the text as it then is.
//! 4. Among the speaker edits that stand, the newest by a person wins, else the newest by a machine; the
//!    same holds for the reason of a hide.
//!
//! So a person beats a machine in whatever order the edits came.

use std::collections::HashSet;

use crate::event::{Change, Edit, EditTarget, Line};

/// A repair that would make a text longer than this is not applied: a chain of repairs can double a text
/// each time.
pub(crate) const TEXT_LEN_MAX_BYTES: usize = 1 << 20;

/// An edit where it stands in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedEdit {
    /// Logical position of its frame, by which a revert names it.
    pub position: u64,
    /// Its event number.
    pub seq: u64,
    /// When it was appended, in microseconds since 1970.
    pub ts_us: i64,
    /// The edit.
    pub edit: Edit,
}

/// A second voice within a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VoiceChange {
    /// When it begins, in milliseconds from the start of the session.
    pub at_ms: u64,
    /// Where in the heard text it begins, counted in characters.
    pub at_character: u32,
    /// Who it is, when known.
    pub name: Option<String>,
}

/// A line as it reads after its edits.
#[derive(Clone, Debug, PartialEq)]
pub struct FoldedLine {
    /// Number of the line, from 0 in log order.
    pub index: u64,
    /// What was heard; its `text` is not the text to show.
    pub heard: Line,
    /// The text to show.
    pub text: String,
    /// Who spoke.
    pub speaker: Option<String>,
    /// Why the line is not shown, when it is not.
    pub hidden: Option<String>,
    /// Other voices within the line, in the order of the edits.
    pub voices: Vec<VoiceChange>,
}

impl FoldedLine {
    /// A line without edits.
    pub fn unedited(index: u64, heard: Line) -> Self {
        let text = heard.text.clone();
        Self { index, heard, text, speaker: None, hidden: None, voices: Vec::new() }
    }

    /// Whether the folded view leaves it out.
    pub fn is_hidden(&self) -> bool {
        self.hidden.is_some()
    }
}

/// Applies `edits`, oldest first, to the line with number `index`.
///
/// ```
/// use ambient_engine::{Change, Edit, Line, PlacedEdit, Track, fold};
///
/// let heard = Line {
///     track: Track::Room, start_ms: 0, end_ms: 900, text: "ask Crea".into(), confidence: 0.9,
///     language: None, generation: 0, audio: None, overlap: false,
/// };
/// let change = Change::Repair { from: "Crea".into(), to: "Priya".into() };
/// let edit = Edit { line: 0, by: Edit::PERSON.into(), change };
/// let folded = fold(0, heard, &[PlacedEdit { position: 400, seq: 1, ts_us: 0, edit }]);
/// assert_eq!(folded.text, "ask Priya");
/// ```
pub fn fold(index: u64, heard: Line, edits: &[PlacedEdit]) -> FoldedLine {
    let mut line = FoldedLine::unedited(index, heard);
    let standing = standing(edits);
    let mut speaker = Choice::default();
    let mut hide = Choice::default();
    for edit in standing {
        match &edit.edit.change {
            Change::Repair { from, to } => repair(&mut line.text, from, to),
            Change::Speaker { name } => speaker.offer(&edit.edit, name),
            Change::Hide { reason } => hide.offer(&edit.edit, reason),
            Change::Split { at_ms, at_character, name } => line.voices.push(VoiceChange {
                at_ms: *at_ms,
                at_character: *at_character,
                name: name.clone(),
            }),
            Change::Revert { .. } => {}
        }
    }
    line.speaker = speaker.taken();
    line.hidden = hide.taken();
    line
}

/// The edits that are neither taken back nor barred, oldest first.
fn standing(edits: &[PlacedEdit]) -> impl Iterator<Item = &PlacedEdit> {
    let mut reverted: HashSet<EditTarget> = HashSet::new();
    let mut hides_barred_from = u64::MAX;
    for revert in edits {
        let Change::Revert { target } = revert.edit.change else { continue };
        let Some(named) = find(edits, target, revert.position) else { continue };
        if named.edit.is_by_person() && !revert.edit.is_by_person() {
            continue;
        }
        reverted.insert(target);
        let bars = revert.edit.is_by_person()
            && !named.edit.is_by_person()
            && matches!(named.edit.change, Change::Hide { .. });
        if bars {
            hides_barred_from = hides_barred_from.min(revert.position);
        }
    }
    edits.iter().filter(move |edit| {
        let is_barred = edit.position > hides_barred_from
            && !edit.edit.is_by_person()
            && matches!(edit.edit.change, Change::Hide { .. });
        let place = EditTarget { position: edit.position, seq: edit.seq };
        !is_barred && !reverted.contains(&place)
    })
}

/// The edit that a revert at `before` names, if it may be taken back.
fn find(edits: &[PlacedEdit], target: EditTarget, before: u64) -> Option<&PlacedEdit> {
    let at = edits.binary_search_by_key(&target.position, |edit| edit.position).ok()?;
    let named = &edits[at];
    let is_revert = matches!(named.edit.change, Change::Revert { .. });
    (named.seq == target.seq && named.position < before && !is_revert).then_some(named)
}

/// Replaces each occurrence of `from`, unless that means nothing or makes the text too long.
fn repair(text: &mut String, from: &str, to: &str) {
    if from.is_empty() {
        return;
    }
    let occurrences = text.matches(from).count();
    let len_bytes =
        (text.len() - occurrences * from.len()).saturating_add(occurrences.saturating_mul(to.len()));
    if occurrences > 0 && len_bytes <= TEXT_LEN_MAX_BYTES {
        *text = text.replace(from, to);
    }
}

/// The newest value by a person, else the newest by a machine. Values are offered oldest first.
#[derive(Default)]
struct Choice<'edit> {
    by_person: Option<&'edit str>,
    by_machine: Option<&'edit str>,
}

impl<'edit> Choice<'edit> {
    fn offer(&mut self, edit: &Edit, value: &'edit str) {
        if edit.is_by_person() {
            self.by_person = Some(value);
        } else {
            self.by_machine = Some(value);
        }
    }

    fn taken(self) -> Option<String> {
        self.by_person.or(self.by_machine).map(str::to_owned)
    }
}
