//! Turns of speech from probabilities: one rule for files and for live sound.
//!
//! A turn opens at a frame that is clearly speech, goes on through frames that may be, and closes after
//! a pause that is long enough; shorter pauses belong to it. What is too short to be a word is no turn.
//! A turn that grows to the longest a recogniser takes is cut at the least voiced moment of its last
//! quarter, and its rest goes on as the next turn.
//!
//! The finder can be taken up again behind any turn it gave: one that [starts](TurnFinder::resume) there
//! gives the same turns as the one that went on. That is the whole of what a resumed run must remember.

use std::collections::VecDeque;

use crate::voice_activity::{FRAME_MS, sound_probability};

/// From this probability on a frame is speech.
const OPEN_AT: f32 = 0.5;

/// Below this probability a frame is a pause.
const CLOSE_BELOW: f32 = 0.35;

/// Frames of pause that end a turn: 608 ms. Whisper's cost is by the turn, so short pauses are kept in.
const PAUSE_FRAMES: u64 = 19;

/// Frames of speech without which there is no turn: 256 ms.
const SPEECH_MIN_FRAMES: u64 = 8;

/// Frames that the recogniser is given on either side of a turn: 288 ms, less than half a pause, so that
/// turns stay apart. With less around them it mistakes more words.
const PADDING_FRAMES: u64 = 9;

/// Frames in the longest turn, such that it stays under 30 s with its padding.
pub const TURN_MAX_FRAMES: u64 = 30_000 / FRAME_MS - 2 * PADDING_FRAMES;

/// Frames of the last quarter of the longest turn, where it may be cut.
const CUT_WITHIN_FRAMES: u64 = TURN_MAX_FRAMES / 4;

/// Frames on either side that count when the least voiced moment is looked for.
const CUT_SMOOTHING_FRAMES: usize = 2;

/// A stretch of speech, in frames of [`FRAME_MS`] from the start of the track.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turn {
    /// First frame of speech.
    pub start: u64,
    /// One past the last frame of speech.
    pub end: u64,
    /// First frame for the recogniser: some before the speech, none before an earlier turn's last.
    pub padded_start: u64,
    /// One past the last frame for the recogniser.
    pub padded_end: u64,
    /// Frames before this one need not be looked at again.
    pub done: u64,
    /// Mean probability of speech from `start` to `end`.
    pub speech_probability: f32,
}

impl Turn {
    /// Whether the speech goes on behind this turn, which was cut because of its length.
    pub fn is_cut(&self) -> bool {
        self.done == self.end
    }
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// No speech.
    Silent,
    /// The rest of a turn that was cut at this frame is expected.
    Continuing { since: u64 },
    /// Within a turn.
    Open {
        start: u64,
        /// The pause that is going on, by its first frame.
        pause_since: Option<u64>,
        speech_frames: u64,
        is_continuation: bool,
    },
}

/// Finds turns in a stream of probabilities.
///
/// ```
/// use ambient_capture::turns::TurnFinder;
/// let mut finder = TurnFinder::new();
/// for frame in 0..100 {
///     finder.push(if (20..60).contains(&frame) { 0.9 } else { 0.1 });
/// }
/// finder.finish();
/// let turn = finder.next_turn().unwrap();
/// assert_eq!((turn.start, turn.end), (20, 60));
/// assert_eq!(finder.next_turn(), None);
/// ```
#[derive(Debug)]
pub struct TurnFinder {
    state: State,
    /// Number of the frame that comes next.
    position: u64,
    /// No turn is padded to before this frame.
    floor: u64,
    /// Probabilities from the open turn's start on.
    heard: Vec<f32>,
    found: VecDeque<Turn>,
}

impl Default for TurnFinder {
    fn default() -> Self {
        Self::new()
    }
}

impl TurnFinder {
    /// A finder at the start of a track.
    pub fn new() -> Self {
        Self { state: State::Silent, position: 0, floor: 0, heard: Vec::new(), found: VecDeque::new() }
    }

    /// A finder that goes on behind a turn: from its `done`, told whether it was cut there.
    pub fn resume(done: u64, was_cut: bool) -> Self {
        let state = if was_cut { State::Continuing { since: done } } else { State::Silent };
        let floor = if was_cut { done } else { done.saturating_sub(PADDING_FRAMES) };
        Self { state, position: done, floor, heard: Vec::new(), found: VecDeque::new() }
    }

    /// Number of the frame whose probability is wanted next.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The first frame that a turn yet to come may need: sound before it can be let go.
    pub fn needed_from(&self) -> u64 {
        let start = match self.state {
            State::Open { start, .. } => start,
            State::Silent | State::Continuing { .. } => self.position,
        };
        start.saturating_sub(PADDING_FRAMES)
    }

    /// First frame of the turn that is going on, if one is.
    pub fn speaking_since(&self) -> Option<u64> {
        match self.state {
            State::Open { start, .. } => Some(start),
            State::Silent | State::Continuing { .. } => None,
        }
    }

    /// The oldest turn that was found and not yet given.
    pub fn next_turn(&mut self) -> Option<Turn> {
        self.found.pop_front()
    }

    /// Takes the next frame's probability. What is not a number is no speech.
    pub fn push(&mut self, probability: f32) {
        let probability = sound_probability(probability);
        let frame = self.position;
        self.position += 1;
        match self.state {
            State::Silent if probability >= OPEN_AT => self.open(frame, probability, false),
            State::Silent => {}
            State::Continuing { .. } if probability >= CLOSE_BELOW => self.open(frame, probability, true),
            State::Continuing { since } => {
                if frame + 1 - since >= PAUSE_FRAMES {
                    self.state = State::Silent;
                }
            }
            State::Open { .. } => self.go_on(frame, probability),
        }
    }

    /// The track ends here: an open turn ends with it.
    pub fn finish(&mut self) {
        if let State::Open { pause_since, .. } = self.state {
            let end = pause_since.unwrap_or(self.position);
            self.close(end, self.position);
        }
        self.state = State::Silent;
    }

    fn open(&mut self, frame: u64, probability: f32, is_continuation: bool) {
        self.heard.clear();
        self.heard.push(probability);
        self.state = State::Open { start: frame, pause_since: None, speech_frames: 1, is_continuation };
    }

    fn go_on(&mut self, frame: u64, probability: f32) {
        let State::Open { start, pause_since, speech_frames, .. } = &mut self.state else { return };
        self.heard.push(probability);
        *pause_since = match *pause_since {
            Some(since) if probability < OPEN_AT => Some(since),
            None if probability < CLOSE_BELOW => Some(frame),
            _ => None,
        };
        let (start, pause_since) = (*start, *pause_since);
        if pause_since.is_none() {
            *speech_frames += 1;
        }
        match pause_since {
            Some(since) if frame + 1 - since >= PAUSE_FRAMES => self.close(since, frame + 1),
            _ if frame + 1 - start >= TURN_MAX_FRAMES => self.cut(start),
            _ => {}
        }
    }

    /// Ends the open turn at `end`, with everything before `done` heard.
    fn close(&mut self, end: u64, done: u64) {
        let State::Open { start, speech_frames, is_continuation, .. } = self.state else { return };
        self.state = State::Silent;
        if is_continuation || speech_frames >= SPEECH_MIN_FRAMES {
            let padded_end = (end + PADDING_FRAMES).min(done);
            self.give(Turn {
                start,
                end,
                padded_start: self.padded(start),
                padded_end,
                done,
                speech_probability: 0.0,
            });
            self.floor = padded_end;
        }
    }

    /// Ends the open turn where its last quarter is least voiced, and takes up its rest as the next turn.
    fn cut(&mut self, start: u64) {
        let quiet = least_voiced(&self.heard);
        let rest = self.heard.split_off(quiet);
        let end = start + quiet as u64;
        let padded_start = self.padded(start);
        self.give(Turn { start, end, padded_start, padded_end: end, done: end, speech_probability: 0.0 });
        self.floor = end;
        self.position = end;
        self.state = State::Continuing { since: end };
        for probability in rest {
            self.push(probability);
        }
    }

    fn padded(&self, start: u64) -> u64 {
        start.saturating_sub(PADDING_FRAMES).max(self.floor)
    }

    #[allow(clippy::cast_precision_loss, reason = "a turn has at most a few hundred frames")]
    fn give(&mut self, turn: Turn) {
        let len = usize::try_from(turn.end - turn.start).unwrap_or(usize::MAX).min(self.heard.len());
        let speech_probability = self.heard[..len].iter().sum::<f32>() / len.max(1) as f32;
        self.found.push_back(Turn { speech_probability, ..turn });
    }
}

/// Where in the last quarter of `heard` the voice is weakest: the later one of equals.
fn least_voiced(heard: &[f32]) -> usize {
    let within = usize::try_from(CUT_WITHIN_FRAMES).unwrap_or(usize::MAX).min(heard.len() / 4);
    let mut quiet = (heard.len(), f32::INFINITY);
    for at in heard.len() - within..heard.len() {
        let around = &heard[at - CUT_SMOOTHING_FRAMES..heard.len().min(at + CUT_SMOOTHING_FRAMES + 1)];
        let voiced = around.iter().copied().fold(0.0, f32::max);
        if voiced <= quiet.1 {
            quiet = (at, voiced);
        }
    }
    quiet.0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn find(probabilities: &[f32]) -> Vec<Turn> {
        find_from(TurnFinder::new(), probabilities)
    }

    fn find_from(mut finder: TurnFinder, probabilities: &[f32]) -> Vec<Turn> {
        for probability in probabilities {
            finder.push(*probability);
        }
        finder.finish();
        std::iter::from_fn(|| finder.next_turn()).collect()
    }

    fn runs(runs: &[(usize, f32)]) -> Vec<f32> {
        runs.iter().flat_map(|(len, probability)| std::iter::repeat_n(*probability, *len)).collect()
    }

    fn spans(probabilities: &[f32]) -> Vec<(u64, u64)> {
        find(probabilities).iter().map(|turn| (turn.start, turn.end)).collect()
    }

    #[test]
    fn a_pause_ends_a_turn_only_when_it_is_long_enough() {
        assert_eq!(spans(&runs(&[(30, 0.0), (20, 0.9), (18, 0.0), (20, 0.9), (30, 0.0)])), [(30, 88)]);
        assert_eq!(
            spans(&runs(&[(30, 0.0), (20, 0.9), (19, 0.0), (20, 0.9), (30, 0.0)])),
            [(30, 50), (69, 89)]
        );
    }

    #[test]
    fn a_turn_opens_at_certainty_and_goes_on_through_doubt() {
        assert_eq!(spans(&runs(&[(30, 0.4), (20, 0.9), (30, 0.4), (40, 0.1)])), [(30, 80)]);
        assert_eq!(spans(&runs(&[(300, 0.49)])), []);
        assert_eq!(
            spans(&runs(&[(20, 0.9), (10, 0.1), (30, 0.45), (40, 0.1)])),
            [(0, 20)],
            "doubt ends no pause"
        );
    }

    #[test]
    fn a_click_is_no_turn_and_nonsense_is_silence() {
        assert_eq!(spans(&runs(&[(30, 0.0), (7, 0.9), (30, 0.0), (8, 0.9), (30, 0.0)])), [(67, 75)]);
        assert_eq!(spans(&runs(&[(30, f32::NAN), (30, f32::NEG_INFINITY), (30, f32::INFINITY)])), []);
    }

    #[test]
    fn speech_that_meets_the_end_of_the_track_ends_with_it() {
        let turn = find(&runs(&[(3, 0.0), (20, 0.9)]))[0];
        assert_eq!((turn.start, turn.end, turn.padded_start, turn.padded_end), (3, 23, 0, 23));
    }

    #[test]
    fn long_speech_is_cut_at_its_least_voiced_moment() {
        let turns = find(&runs(&[(800, 0.95), (7, 0.4), (600, 0.95), (30, 0.0)]));
        assert_eq!(turns.len(), 2);
        assert!((800..807).contains(&turns[0].end), "{turns:?}");
        assert!(turns[0].is_cut() && !turns[1].is_cut());
        assert_eq!((turns[0].padded_end, turns[1].padded_start), (turns[0].end, turns[1].start));
        assert_eq!(turns[1].end, 1_407);
        let remainder = find(&runs(&[(usize::try_from(TURN_MAX_FRAMES).unwrap() + 3, 0.95), (30, 0.0)]));
        assert_eq!(remainder[1].end, TURN_MAX_FRAMES + 3, "the rest of a cut turn is kept, however short");
    }

    fn probabilities() -> impl Strategy<Value = Vec<f32>> {
        let level = prop_oneof![Just(0.0_f32), Just(0.3), Just(0.4), Just(0.6), Just(0.95), 0.0_f32..1.0];
        let run = (prop_oneof![1_usize..40, 1_usize..40, 200_usize..1_500], level);
        prop::collection::vec(run, 0..30).prop_map(|list| runs(&list))
    }

    proptest! {
        #[test]
        fn turns_are_in_order_apart_within_the_track_and_short_enough(probabilities in probabilities()) {
            let turns = find(&probabilities);
            let mut before = 0;
            for turn in &turns {
                prop_assert!(before <= turn.padded_start, "{turns:?}");
                prop_assert!(turn.padded_start <= turn.start && turn.start < turn.end && turn.end <= turn.padded_end);
                prop_assert!((turn.padded_end - turn.padded_start) * FRAME_MS <= 30_000);
                prop_assert!(turn.end <= turn.done && turn.done <= probabilities.len() as u64);
                prop_assert!((0.0..=1.0).contains(&turn.speech_probability));
                before = turn.padded_end;
            }
        }

        #[test]
        fn all_speech_that_could_be_a_word_is_in_a_turn(probabilities in probabilities()) {
            let turns = find(&probabilities);
            let covered = |frame: u64| turns.iter().any(|turn| (turn.start..turn.end).contains(&frame));
            let mut speech_since = None;
            for (frame, probability) in (0_u64..).zip(probabilities.iter().chain([&0.0])) {
                if *probability >= OPEN_AT {
                    speech_since.get_or_insert(frame);
                } else if let Some(since) = speech_since.take().filter(|since| frame - since >= SPEECH_MIN_FRAMES) {
                    prop_assert!((since..frame).all(covered), "{since}..{frame} of {turns:?}");
                }
            }
        }

        #[test]
        fn taken_up_behind_any_turn_the_rest_comes_out_the_same(probabilities in probabilities()) {
            let turns = find(&probabilities);
            for (index, turn) in turns.iter().enumerate() {
                let finder = TurnFinder::resume(turn.done, turn.is_cut());
                let rest = find_from(finder, &probabilities[usize::try_from(turn.done).unwrap()..]);
                prop_assert_eq!(&rest, &turns[index + 1..]);
            }
        }

        #[test]
        fn what_may_still_be_needed_is_never_behind_a_later_turn(probabilities in probabilities()) {
            let mut finder = TurnFinder::new();
            let mut needed_from = 0;
            for probability in probabilities {
                finder.push(probability);
                while let Some(turn) = finder.next_turn() {
                    prop_assert!(turn.padded_start >= needed_from);
                }
                prop_assert!(finder.needed_from() >= needed_from);
                needed_from = finder.needed_from();
            }
        }
    }
}
