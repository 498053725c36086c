//! How far a transcript is from what was said, in words.

/// The words of `text` that count: lower case, letters, digits and apostrophes; a hyphen parts two words, as
/// the references are written.
pub(crate) fn words(text: &str) -> Vec<String> {
    let plain = text.to_lowercase().replace('\u{2019}', "'");
    let is_between = |letter: char| !(letter.is_alphanumeric() || letter == '\'');
    plain.split(is_between).filter(|word| !word.is_empty()).map(|word| spelled_out(word).to_owned()).collect()
}

/// Words that are written in two ways and said in one.
fn spelled_out(word: &str) -> &str {
    match word {
        "mr" => "mister",
        other => other,
    }
}

/// Words to change, leave out and put in until `heard` is `said`.
pub(crate) fn word_errors(said: &[String], heard: &[String]) -> usize {
    let mut row: Vec<usize> = (0..=heard.len()).collect();
    for (line, word) in said.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, other) in heard.iter().enumerate() {
            let changed = diagonal + usize::from(word != other);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[heard.len()]
}

#[test]
fn errors_are_counted_by_word() {
    let count = |said: &str, heard: &str| word_errors(&words(said), &words(heard));
    assert_eq!(count("he was not an ill disposed young man", "He was not an ill-disposed young man."), 0);
    assert_eq!(count("one two three", "one too three"), 1);
    assert_eq!(count("one two three", "one three"), 1);
    assert_eq!(count("", "one two"), 2);
    assert_eq!(count("Mr. Smith\u{2019}s", "mister smith's"), 0);
}
