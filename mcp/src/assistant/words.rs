//! Words as they are compared: without case, and split wherever there is neither letter nor digit, because
//! recognised speech and written text agree on nothing else.

/// The words of `text`.
pub(super) fn words(text: &str) -> Vec<String> {
    let parts = text.split(|character: char| !character.is_alphanumeric());
    parts.filter(|part| !part.is_empty()).map(str::to_lowercase).collect()
}

/// Whether `text` says `name`: all its words, one after the other, each of them whole.
pub(super) fn says_name(text: &str, name: &str) -> bool {
    let name = words(name);
    !name.is_empty() && words(text).windows(name.len()).any(|found| found == name)
}

/// Whether `text` is `name` and nothing else: someone calls it.
pub(super) fn is_name(text: &str, name: &str) -> bool {
    let name = words(name);
    !name.is_empty() && words(text) == name
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_is_heard_as_whole_words_in_their_order() {
        for text in ["Claude, what do you think?", "so CLAUDE", "Claude's idea", "claude"] {
            assert!(says_name(text, "Claude"), "{text}");
        }
        for text in ["Claudette called", "the cloud", ""] {
            assert!(!says_name(text, "Claude"), "{text}");
        }
        assert!(says_name("is ambient-bot there", "Ambient Bot"));
        assert!(!says_name("Ambient Bots", "Ambient Bot"));
        assert!(!says_name("bot, ambient", "Ambient Bot"));
        assert!(!says_name("!?", "!?"), "a name without a word is never heard");
        assert!(
            is_name("Ambient-bot?", "ambient bot") && !is_name("Hey Claude", "Claude") && !is_name("", "")
        );
    }

    proptest! {
        #[test]
        fn a_name_is_heard_wherever_it_stands(
            name in "[a-z]{1,8}( [a-z]{1,8}){0,2}",
            before in "([a-z]{1,8} ){0,4}",
            after in "( [a-z]{1,8}){0,4}",
        ) {
            let text = format!("{}{}?{}", before, name.to_uppercase(), after);
            prop_assert!(says_name(&text, &name));
            // Grown together with its neighbours it is another word.
            let grown = format!("1{}1", name.replace(' ', "1 1"));
            prop_assert!(!says_name(&grown, &name));
        }

        #[test]
        fn any_text_is_split_without_a_panic(text: String, name: String) {
            let _ = says_name(&text, &name);
        }
    }
}
