//! What plays a WAV file here. A program of the sound system does, because it knows which device the user
//! has chosen, follows when that changes, and can be silenced by ending it.

use std::path::Path;
use std::process::Command;

use crate::exit::{Exit, Refusal};

use super::system_voice::find_program;

/// A program that plays a file, from the one that knows most about the user's devices to the plainest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Player {
    Afplay,
    PwPlay,
    Paplay,
    Aplay,
}

impl Player {
    const ALL: [Self; 4] = [Self::Afplay, Self::PwPlay, Self::Paplay, Self::Aplay];

    /// Those that are here, the first to be tried first.
    ///
    /// # Errors
    /// There is none; the error says what to install.
    pub(super) fn find_all() -> Result<Vec<Self>, Refusal> {
        let found: Vec<_> =
            Self::ALL.into_iter().filter(|player| find_program(player.name()).is_some()).collect();
        if found.is_empty() {
            let text = "nothing here plays sound: none of pw-play, paplay and aplay is on PATH. Install one \
                        (Debian: apt-get install pulseaudio-utils), or ask for no playing with --no-play";
            return Err(Refusal::new(Exit::NotFound, text));
        }
        Ok(found)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Afplay => "afplay",
            Self::PwPlay => "pw-play",
            Self::Paplay => "paplay",
            Self::Aplay => "aplay",
        }
    }

    /// How to have it play the file at `path`.
    pub(super) fn command(self, path: &Path) -> Command {
        let mut command = Command::new(self.name());
        if self == Self::Aplay {
            command.arg("--quiet");
        }
        command.arg(path);
        command
    }
}
