//! The voice that the system has: espeak-ng, or `say` on macOS. A program each, given the text on stdin
//! (where no list of processes shows it) and a WAV file to make.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::exit::{Exit, Refusal};

use super::message::Emotion;

/// A program that speaks into a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SystemVoice {
    EspeakNg,
    Say,
}

impl SystemVoice {
    /// Those that are looked for. Elsewhere than on macOS a program called `say` is something else.
    const KNOWN: &[Self] =
        if cfg!(target_os = "macos") { &[Self::Say, Self::EspeakNg] } else { &[Self::EspeakNg] };

    /// The voice that is here.
    ///
    /// # Errors
    /// There is none; the error says what to install.
    pub(super) fn find() -> Result<Self, Refusal> {
        Self::KNOWN.iter().copied().find(|voice| find_program(voice.name()).is_some()).ok_or_else(|| {
            let text = "there is no voice here: espeak-ng is not on PATH. Install it (Debian: apt-get install \
                        espeak-ng), or set voice.command to another one";
            Refusal::new(Exit::NotFound, text)
        })
    }

    /// The program's name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::EspeakNg => "espeak-ng",
            Self::Say => "say",
        }
    }

    /// How to have it say something into `path`.
    pub(super) fn command(self, emotion: Emotion, path: &Path) -> Command {
        let mut command = Command::new(self.name());
        let (words_per_minute, pitch) = delivery(emotion);
        match self {
            Self::EspeakNg => {
                command.args(["--stdin", "-b", "1", "-s", words_per_minute, "-p", pitch, "-w"]).arg(path);
            }
            Self::Say => {
                command
                    .args(["-f", "-", "-r", words_per_minute, "--data-format=LEI16@22050", "-o"])
                    .arg(path);
            }
        }
        command
    }

    /// `sentence` as either program takes it: to both, two brackets begin a command, and to espeak-ng control
    /// characters do. Neither is ever spoken.
    pub(super) fn input(sentence: &str) -> String {
        let speakable = |letter: char| if letter.is_control() || letter == '[' { ' ' } else { letter };
        sentence.chars().map(speakable).collect()
    }
}

/// Words a minute and, from 0 to 99, pitch. It is all that a plain voice has to tell tones apart.
fn delivery(emotion: Emotion) -> (&'static str, &'static str) {
    match emotion {
        Emotion::Neutral => ("170", "50"),
        Emotion::Warm => ("160", "45"),
        Emotion::Amused => ("175", "60"),
        Emotion::Excited => ("190", "65"),
        Emotion::Apologetic => ("150", "40"),
        Emotion::Concerned => ("155", "42"),
    }
}

/// Where a program of this name lies, if PATH leads to one.
pub(super) fn find_program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(name)).find(|program| is_executable(program))
}

fn is_executable(program: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    program.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_a_command_to_the_voice() {
        for text in ["a [[ b ]]", "a [[[ b", "a [\0[ b", "a \u{1}200A b", "a\tb"] {
            let input = SystemVoice::input(text);
            assert!(!input.contains("[[") && !input.chars().any(char::is_control), "{input:?}");
            assert_eq!(input.chars().count(), text.chars().count());
        }
    }
}
