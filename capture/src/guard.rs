//! The first guard: what a recogniser makes up when nobody spoke is kept out of the lines.
//!
//! A recogniser trained on films answers silence with thanks for watching, noise with stage directions,
//! and now and then repeats itself without end. What is refused goes into the log as `dropped`, words
//! and reason, so that nothing is lost without a trace. Words that could well have been said are kept
//! when the sound bears them out: a real "thank you" stays.

use std::fmt;

use crate::recognizer::Recognition;

/// From this probability of "no speech" on, doubtful words are refused.
const NO_SPEECH_AT: f32 = 0.6;

/// Words under this mean probability are doubtful.
const DOUBTFUL_BELOW: f32 = 0.5;

/// Stock phrases need voices as likely as this to be believed.
const VOICED_AT: f32 = 0.6;

/// Words a second nobody exceeds, and what a short turn may have beyond them.
const WORDS_PER_SECOND: u64 = 7;
const WORDS_SPARE: u64 = 4;

/// The same for letters, for languages that write no spaces.
const LETTERS_PER_SECOND: u64 = 35;
const LETTERS_SPARE: u64 = 30;

/// Longest phrase looked at for repetition, in words; and in letters, where there are no spaces.
const PHRASE_MAX_WORDS: usize = 12;
const PHRASE_MAX_LETTERS: usize = 20;

/// Phrases that recognisers know from the ends of films, in lower case without punctuation.
const STOCK_PHRASES: &[&str] = &[
    "thank you",
    "thank you very much",
    "thank you so much",
    "thank you for watching",
    "thanks for watching",
    "thank you for listening",
    "thank you thank you",
    "please subscribe",
    "please subscribe to my channel",
    "like and subscribe",
    "see you next time",
    "see you in the next video",
    "bye",
    "bye bye",
    "you",
    "so",
    "the end",
    "subtitles by the amara org community",
    "sous titres realises par la communaute d amara org",
    "untertitel der amara org community",
    "ご視聴ありがとうございました",
    "시청해주셔서 감사합니다",
    "谢谢观看",
];

/// What the sound itself says about a turn.
#[derive(Clone, Copy, Debug)]
pub struct Evidence {
    /// How long the speech lasted.
    pub speech_ms: u64,
    /// Mean probability of speech by the voice activity detector.
    pub speech_probability: f32,
}

/// Why words were refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There are none.
    NoWords,
    /// A sound is described, nothing is said: `[music]`.
    NotSpeech,
    /// The recogniser itself thinks it heard nothing, and is unsure of the words.
    LikelySilence,
    /// The same phrase over and over.
    Repetition,
    /// More words than anyone can say in that time.
    TooFast,
    /// A phrase that is made up often, with little voice behind it.
    StockPhrase,
}

impl Refusal {
    /// Whether the recogniser went astray, rather than there being nothing to hear: a thorough second
    /// hearing may bring out what was said.
    pub fn is_worth_another_hearing(self) -> bool {
        matches!(self, Self::NoWords | Self::Repetition | Self::TooFast)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NoWords => "no words",
            Self::NotSpeech => "a sound, not speech",
            Self::LikelySilence => "likely silence",
            Self::Repetition => "the same words over and over",
            Self::TooFast => "more words than can be said in the time",
            Self::StockPhrase => "a phrase often made up, with little voice behind it",
        })
    }
}

/// The words to keep.
///
/// # Errors
/// The reason, when they are to be refused.
pub fn judge(recognition: &Recognition, evidence: Evidence) -> Result<String, Refusal> {
    let text = recognition.text();
    let words: Vec<String> = plain_words(&text);
    if words.is_empty() {
        return Err(if text.is_empty() { Refusal::NoWords } else { Refusal::NotSpeech });
    }
    if is_only_described(&text) {
        return Err(Refusal::NotSpeech);
    }
    let doubtful = recognition.confidence() < DOUBTFUL_BELOW;
    let silent = recognition.no_speech_probability() >= NO_SPEECH_AT;
    if doubtful && silent {
        return Err(Refusal::LikelySilence);
    }
    if is_looping(&words) {
        return Err(Refusal::Repetition);
    }
    if is_too_fast(&words, evidence.speech_ms) {
        return Err(Refusal::TooFast);
    }
    let is_borne_out = evidence.speech_probability >= VOICED_AT && !doubtful && !silent;
    if !is_borne_out && STOCK_PHRASES.contains(&words.join(" ").as_str()) {
        return Err(Refusal::StockPhrase);
    }
    Ok(text)
}

/// The words in lower case without punctuation.
fn plain_words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let is_between = |letter: char| !(letter.is_alphanumeric() || letter == '\'');
    lower.split(is_between).filter(|word| word.contains(char::is_alphanumeric)).map(str::to_owned).collect()
}

/// Whether everything stands in brackets, between stars or beside notes.
fn is_only_described(text: &str) -> bool {
    let mut closing = None;
    for letter in text.chars() {
        if let Some(end) = closing {
            closing = Some(end).filter(|end| letter != *end);
            continue;
        }
        closing = match letter {
            '[' => Some(']'),
            '(' => Some(')'),
            '*' | '♪' => Some(letter),
            letter if letter.is_alphanumeric() => return false,
            _ => None,
        };
    }
    true
}

/// Whether at least half of the words are one phrase, repeated on end.
fn is_looping(words: &[String]) -> bool {
    if words.len() >= 10 {
        return longest_loop(words, PHRASE_MAX_WORDS, 10) * 2 >= words.len();
    }
    let letters: Vec<char> = words.iter().flat_map(|word| word.chars()).collect();
    let is_unspaced = letters.len() >= 10 * words.len();
    is_unspaced && longest_loop(&letters, PHRASE_MAX_LETTERS, 24) * 2 >= letters.len()
}

/// Length of the longest stretch that is one phrase at least four times over and at least `min` long; 0
/// when there is none.
fn longest_loop<T: PartialEq>(items: &[T], phrase_max: usize, min: usize) -> usize {
    let mut longest = 0;
    for phrase in 1..=phrase_max.min(items.len() / 4) {
        let mut matching = 0;
        for at in phrase..items.len() {
            matching = if items[at] == items[at - phrase] { matching + 1 } else { 0 };
            let len = matching + phrase;
            if matching > 0 && len >= min && len >= 4 * phrase {
                longest = longest.max(len);
            }
        }
    }
    longest
}

fn is_too_fast(words: &[String], speech_ms: u64) -> bool {
    let letters: usize = words.iter().map(|word| word.chars().count()).sum();
    words.len() as u64 > WORDS_SPARE + WORDS_PER_SECOND * speech_ms / 1_000
        || letters as u64 > LETTERS_SPARE + LETTERS_PER_SECOND * speech_ms / 1_000
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recognizer::RecognizedSegment;

    const CLEAR: Evidence = Evidence { speech_ms: 2_000, speech_probability: 0.9 };
    const FAINT: Evidence = Evidence { speech_ms: 2_000, speech_probability: 0.45 };

    fn heard(text: &str, probability: f32, no_speech_probability: f32) -> Recognition {
        let text = text.to_owned();
        let segment = RecognizedSegment {
            start_ms: 0,
            end_ms: 2_000,
            text,
            tokens: 5,
            probability,
            no_speech_probability,
        };
        Recognition { segments: vec![segment], language: None }
    }

    #[test]
    fn what_describes_a_sound_is_not_speech() {
        for text in [
            "[BLANK_AUDIO]",
            " (wind howling) ",
            "[Music] (applause)",
            "*sighs*",
            "♪ la la ♪",
            "...",
            "- [Laughter]",
        ] {
            assert_eq!(judge(&heard(text, 0.9, 0.0), CLEAR), Err(Refusal::NotSpeech), "{text}");
        }
        for text in ["", "  "] {
            assert_eq!(judge(&heard(text, 0.9, 0.0), CLEAR), Err(Refusal::NoWords));
        }
        for text in ["(laughs) That is right.", "We meet [sic] today.", "It costs 3*4."] {
            assert_eq!(judge(&heard(text, 0.9, 0.0), CLEAR), Ok(text.to_owned()));
        }
    }

    #[test]
    fn a_thank_you_stays_when_someone_said_it() {
        assert_eq!(judge(&heard(" Thank you.", 0.9, 0.1), CLEAR), Ok("Thank you.".to_owned()));
        for (recognition, evidence) in [
            (heard("Thank you.", 0.9, 0.1), FAINT),
            (heard("Thank you.", 0.4, 0.1), CLEAR),
            (heard("Thanks for watching!", 0.9, 0.7), CLEAR),
        ] {
            assert_eq!(judge(&recognition, evidence), Err(Refusal::StockPhrase), "{recognition:?}");
        }
        let sentence = "Thank you for sending the figures.";
        assert_eq!(judge(&heard(sentence, 0.9, 0.1), FAINT), Ok(sentence.to_owned()));
    }

    #[test]
    fn doubt_and_silence_together_refuse_and_neither_does_alone() {
        assert_eq!(judge(&heard("He went there.", 0.3, 0.9), CLEAR), Err(Refusal::LikelySilence));
        assert!(judge(&heard("He went there.", 0.3, 0.1), CLEAR).is_ok());
        assert!(judge(&heard("He went there.", 0.9, 0.9), CLEAR).is_ok());
    }

    #[test]
    fn loops_are_refused_and_emphasis_is_not() {
        let long = Evidence { speech_ms: 30_000, speech_probability: 0.9 };
        let phrase = "I'm going to the store. ".repeat(10);
        let unspaced = "ありがとう".repeat(12);
        for text in [phrase.as_str(), &"no ".repeat(20), &unspaced] {
            assert_eq!(judge(&heard(text, 0.9, 0.0), long), Err(Refusal::Repetition), "{text}");
        }
        for text in [
            "No, no, no, no, no!",
            "Five five five five.",
            "The more the better, the more the merrier, and so on.",
        ] {
            assert!(judge(&heard(text, 0.9, 0.0), long).is_ok(), "{text}");
        }
        let mostly_real = format!(
            "{} and then and then and then and then we left",
            "one two three four five six seven ".repeat(2)
        );
        assert!(judge(&heard(&mostly_real, 0.9, 0.0), long).is_ok());
    }

    #[test]
    fn nobody_says_that_much_in_that_time() {
        let short = Evidence { speech_ms: 500, speech_probability: 0.9 };
        let text = "we then went over all of the figures of last year";
        assert_eq!(judge(&heard(text, 0.9, 0.0), short), Err(Refusal::TooFast));
        assert!(judge(&heard(text, 0.9, 0.0), CLEAR).is_ok());
        assert!(judge(&heard("Yes, go on then.", 0.9, 0.0), short).is_ok());
    }
}
