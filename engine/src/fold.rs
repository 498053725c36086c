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

use std::borrow::{Borrow, Cow};

use crate::event::{Change, Edit, EditTarget, Line, LineView};

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
    /// What was heard; its `text` is not always the text to show.
    pub heard: Line,
    /// The text to show, where edits made it another one than was heard.
    pub repaired: Option<String>,
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
        Self { index, heard, repaired: None, speaker: None, hidden: None, voices: Vec::new() }
    }

    /// The text to show.
    pub fn text(&self) -> &str {
        self.repaired.as_deref().unwrap_or(&self.heard.text)
    }

    /// Whether the folded view leaves it out.
    pub fn is_hidden(&self) -> bool {
        self.hidden.is_some()
    }
}

/// A [`FoldedLine`] whose texts lie in someone else's memory, as long as no edit made new ones.
#[derive(Clone, Debug, PartialEq)]
pub struct FoldedView<'text> {
    /// Number of the line, from 0 in log order.
    pub index: u64,
    /// What was heard; its `text` is not always the text to show.
    pub heard: LineView<'text>,
    /// The text to show.
    pub text: Cow<'text, str>,
    /// Who spoke.
    pub speaker: Option<&'text str>,
    /// Why the line is not shown, when it is not.
    pub hidden: Option<&'text str>,
    /// Other voices within the line, in the order of the edits.
    pub voices: Vec<VoiceChange>,
}

impl FoldedView<'_> {
    /// Whether the folded view leaves it out.
    pub fn is_hidden(&self) -> bool {
        self.hidden.is_some()
    }

    /// The line with texts of its own.
    pub fn into_line(self) -> FoldedLine {
        let heard = self.heard;
        let repaired = match self.text {
            Cow::Owned(text) if text != heard.text => Some(text),
            _ => None,
        };
        FoldedLine {
            index: self.index,
            heard: heard.to_line(),
            repaired,
            speaker: self.speaker.map(str::to_owned),
            hidden: self.hidden.map(str::to_owned),
            voices: self.voices,
        }
    }
}

/// Whether an edit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It counts. A later edit of the same kind, or one by a person, may still have the last word.
    Live,
    /// A later revert has taken it back.
    Reverted,
    /// A machine hid a line again that a person had shown again.
    Barred,
    /// A revert that takes nothing back: it names no earlier edit of its line, or another revert, or it is a
    /// machine's and names what a person did.
    Void,
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
/// assert_eq!(folded.text(), "ask Priya");
/// ```
pub fn fold(index: u64, heard: Line, edits: &[PlacedEdit]) -> FoldedLine {
    if edits.is_empty() {
        return FoldedLine::unedited(index, heard);
    }
    fold_view(index, (&heard).into(), edits).into_line()
}

/// Applies `edits`, oldest first, to the line with number `index`, and copies no text that stays as it is.
pub fn fold_view<'text>(index: u64, heard: LineView<'text>, edits: &'text [PlacedEdit]) -> FoldedView<'text> {
    let mut line = FoldedView {
        index,
        heard,
        text: Cow::Borrowed(heard.text),
        speaker: None,
        hidden: None,
        voices: Vec::new(),
    };
    if edits.is_empty() {
        return line;
    }
    let mut speaker = Choice::default();
    let mut hide = Choice::default();
    for (edit, standing) in edits.iter().zip(standings(edits)) {
        if standing != Standing::Live {
            continue;
        }
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

/// Whether each of a line's `edits` counts. They are given, and answered, oldest first, and all of them:
/// what a revert does is seen only beside what it names.
pub fn standings<E: Borrow<PlacedEdit>>(edits: &[E]) -> Vec<Standing> {
    let mut standings = vec![Standing::Live; edits.len()];
    let mut hides_barred_from = None;
    for (at, revert) in edits.iter().enumerate() {
        let revert = &revert.borrow().edit;
        let Change::Revert { target } = revert.change else { continue };
        let is_by_person = revert.is_by_person();
        let is_allowed = |named: &usize| is_by_person || !edits[*named].borrow().edit.is_by_person();
        let named = find(&edits[..at], target).filter(is_allowed);
        let Some(named) = named else {
            standings[at] = Standing::Void;
            continue;
        };
        standings[named] = Standing::Reverted;
        if is_by_person && is_machine_hide(edits[named].borrow()) {
            hides_barred_from.get_or_insert(at);
        }
    }
    let barred_from = hides_barred_from.unwrap_or(edits.len());
    for (edit, standing) in edits.iter().zip(&mut standings).skip(barred_from) {
        if is_machine_hide(edit.borrow()) && *standing == Standing::Live {
            *standing = Standing::Barred;
        }
    }
    standings
}

fn is_machine_hide(edit: &PlacedEdit) -> bool {
    !edit.edit.is_by_person() && matches!(edit.edit.change, Change::Hide { .. })
}

/// Which of the `earlier` edits a revert names, if it may be taken back.
fn find<E: Borrow<PlacedEdit>>(earlier: &[E], target: EditTarget) -> Option<usize> {
    let at = earlier.binary_search_by_key(&target.position, |edit| edit.borrow().position).ok()?;
    let named = earlier[at].borrow();
    let is_revert = matches!(named.edit.change, Change::Revert { .. });
    (named.seq == target.seq && !is_revert).then_some(at)
}

/// Replaces each occurrence of `from`, unless that means nothing or makes the text too long.
fn repair(text: &mut Cow<'_, str>, from: &str, to: &str) {
    if from.is_empty() {
        return;
    }
    let occurrences = text.matches(from).count();
    let len_bytes =
        (text.len() - occurrences * from.len()).saturating_add(occurrences.saturating_mul(to.len()));
    if occurrences > 0 && len_bytes <= TEXT_LEN_MAX_BYTES {
        *text = Cow::Owned(text.replace(from, to));
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

    fn taken(self) -> Option<&'edit str> {
        self.by_person.or(self.by_machine)
    }
}
