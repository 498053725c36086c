//! The command that starts a voice, as a person writes it in the settings.
//!
//! Split into program and arguments as a shell would, but run without one: nothing in it is expanded, and
//! what is wrong with it is said before it runs.

use std::ffi::OsString;
use std::fmt;
use std::process::Command;

/// A program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::assistant) struct VoiceCommand {
    program: OsString,
    arguments: Vec<OsString>,
}

impl VoiceCommand {
    /// A program and the arguments it is started with.
    pub(in crate::assistant) fn new(program: OsString, arguments: Vec<OsString>) -> Self {
        Self { program, arguments }
    }

    /// What a person wrote: words between white space; quotes hold white space together, and a backslash
    /// takes the meaning from what follows it, within single quotes excepted.
    ///
    /// # Errors
    /// A quote is not closed, or there is no word.
    pub(in crate::assistant) fn parse(text: &str) -> Result<Self, String> {
        let mut words = Vec::new();
        let mut word: Option<String> = None;
        let mut quote = None;
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            match (quote, character) {
                (Some(open), _) if open == character => quote = None,
                (None | Some('"'), '\\') => {
                    let Some(meant) = characters.next() else { return Err(wrong("it ends in a backslash")) };
                    word.get_or_insert_default().push(meant);
                }
                (None, '"' | '\'') => {
                    quote = Some(character);
                    word.get_or_insert_default();
                }
                (None, _) if character.is_whitespace() => words.extend(word.take()),
                (Some(_) | None, _) => word.get_or_insert_default().push(character),
            }
        }
        if quote.is_some() {
            return Err(wrong("a quote is not closed"));
        }
        words.extend(word);
        let mut words = words.into_iter().map(OsString::from);
        let program = words.next().ok_or_else(|| wrong("it is empty"))?;
        Ok(Self { program, arguments: words.collect() })
    }

    /// The same command with more arguments.
    pub(in crate::assistant) fn with_arguments(mut self, more: &[OsString]) -> Self {
        self.arguments.extend_from_slice(more);
        self
    }

    pub(super) fn to_command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        command
    }
}

impl fmt::Display for VoiceCommand {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.program.to_string_lossy())
    }
}

fn wrong(why: &str) -> String {
    format!("the setting voice.command is not a command: {why}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parsed(text: &str) -> Vec<String> {
        let command = VoiceCommand::parse(text).unwrap();
        let words = std::iter::once(command.program).chain(command.arguments);
        words.map(|word| word.into_string().unwrap()).collect()
    }

    #[test]
    fn words_are_split_as_a_shell_would() {
        assert_eq!(
            parsed(" uv run  ambient-voice\t--engine kokoro "),
            ["uv", "run", "ambient-voice", "--engine", "kokoro"]
        );
        assert_eq!(
            parsed(r#""/my voice/say" 'a "b"' c\ d "e\"f" '' g"h"i"#),
            ["/my voice/say", "a \"b\"", "c d", "e\"f", "", "ghi"]
        );
        assert_eq!(parsed("say $HOME `x` ~"), ["say", "$HOME", "`x`", "~"]);
    }

    #[test]
    fn what_is_no_command_is_said_to_be_none() {
        for text in ["", "  ", "say \"hello", "say 'hello", "say \\"] {
            assert!(VoiceCommand::parse(text).unwrap_err().contains("voice.command"), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn words_in_quotes_come_back_as_they_were(words in prop::collection::vec("[a-z \"$\\\\]{0,8}", 1..6)) {
            let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
            prop_assert_eq!(parsed(&quoted.join(" ")), words);
        }

        #[test]
        fn any_text_is_judged_without_a_panic(text: String) {
            let _ = VoiceCommand::parse(&text);
        }
    }
}
