//! What the helper does about what happens. It says one utterance at a time and never fails as a whole
//! because of one: its error is told under its id, and the next may come.

use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;

use anyhow::Context as _;
use tempfile::TempDir;

use crate::exit::explanation;
use crate::output;

use super::happening::Happening;
use super::message::{Emotion, Fault, Request};
use super::player::Player;
use super::program::{Ended, Program};
use super::system_voice::SystemVoice;
use super::utterance::{Clip, Utterance};

/// The voice, the players, and what is being said.
pub(super) struct Helper {
    voice: SystemVoice,
    /// Empty when nothing is to be heard. The first one is used; one that fails is given up.
    players: Vec<Player>,
    save_dir: Option<PathBuf>,
    clips: TempDir,
    happens: Sender<Happening>,
    programs_started: u64,
    utterance: Option<Utterance>,
    has_quit: bool,
}

impl Helper {
    pub(super) fn new(
        voice: SystemVoice,
        players: Vec<Player>,
        save_dir: Option<PathBuf>,
        happens: Sender<Happening>,
    ) -> anyhow::Result<Self> {
        if let Some(folder) = &save_dir {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("cannot keep audio in {}", folder.display()))?;
        }
        let clips = tempfile::Builder::new()
            .prefix("ambient-voice-")
            .tempdir()
            .context("there is no room for temporary files")?;
        Ok(Self {
            voice,
            players,
            save_dir,
            clips,
            happens,
            programs_started: 0,
            utterance: None,
            has_quit: false,
        })
    }

    /// Whether it was told to end.
    pub(super) fn has_quit(&self) -> bool {
        self.has_quit
    }

    /// Does what was asked.
    ///
    /// # Errors
    /// Nobody can be told about it any more.
    pub(super) fn obey(&mut self, request: Request) -> anyhow::Result<()> {
        match request {
            Request::Say { id, text, emotion } => self.say(id, &text, emotion),
            Request::Stop => self.stop(),
            Request::Quit => {
                self.has_quit = true;
                self.stop()
            }
        }
    }

    fn say(&mut self, id: u64, text: &str, emotion: Emotion) -> anyhow::Result<()> {
        if let Some(utterance) = &self.utterance {
            let text = format!("still saying {}; wait for its end, or stop it", utterance.id());
            return Ok(Fault::new(Some(id), text).tell()?);
        }
        let save_path = self.save_dir.as_deref().map(free_name);
        self.utterance = Some(Utterance::new(id, text, emotion, save_path));
        self.go_on(Ok(()))
    }

    fn stop(&mut self) -> anyhow::Result<()> {
        let Some(utterance) = self.utterance.take() else { return Ok(()) };
        close(utterance, false)
    }

    /// Goes on with what a program that has ended leads to. One that is no longer wanted leads to nothing.
    ///
    /// # Errors
    /// Nobody can be told about it any more.
    pub(super) fn go_on_after(&mut self, ended: &Ended) -> anyhow::Result<()> {
        let Some(utterance) = &mut self.utterance else { return Ok(()) };
        if let Some((program, path)) = utterance.making.take_if(|(program, _)| program.is(ended)) {
            let made = program.outcome(ended).and_then(|()| Clip::open(path));
            let made = made.map(|clip| utterance.made = Some(clip).filter(|clip| !clip.is_empty()));
            return self.go_on(made);
        }
        if let Some((program, clip)) = utterance.playing.take_if(|(program, _)| program.is(ended)) {
            let played = program.outcome(ended).or_else(|error| self.play_otherwise(clip, error));
            return self.go_on(played);
        }
        Ok(())
    }

    /// The utterance's next step, or its end.
    fn go_on(&mut self, so_far: anyhow::Result<()>) -> anyhow::Result<()> {
        let stepped = so_far.and_then(|()| self.step());
        let is_over = stepped.is_err() || self.utterance.as_ref().is_some_and(Utterance::is_over);
        let Some(utterance) = self.utterance.take_if(|_| is_over) else { return Ok(()) };
        match stepped {
            Ok(()) => close(utterance, true),
            Err(error) if error.downcast_ref::<output::StdoutError>().is_some() => Err(error),
            Err(error) => {
                let fault = Fault::new(Some(utterance.id()), explanation(&error));
                // What was said before is kept; the first error is the one to tell.
                let _ = utterance.close(false);
                Ok(fault.tell()?)
            }
        }
    }

    /// Lets the sentence that is made be heard when nothing else is, and has the next one made.
    fn step(&mut self) -> anyhow::Result<()> {
        let Some(utterance) = &mut self.utterance else { return Ok(()) };
        if utterance.playing.is_none()
            && let Some(clip) = utterance.made.take()
        {
            if let Some(event) = utterance.begin(&clip)? {
                output::json_line(&event)?;
            }
            self.play(clip)?;
        }
        self.make_next()
    }

    fn play(&mut self, clip: Clip) -> anyhow::Result<()> {
        let Some(player) = self.players.first() else { return Ok(()) };
        let program = self.start(player.command(clip.path()), String::new())?;
        if let Some(utterance) = &mut self.utterance {
            utterance.playing = Some((program, clip));
        }
        Ok(())
    }

    /// Has another player try, for as long as there is one: a sound system that is installed need not run.
    fn play_otherwise(&mut self, clip: Clip, error: anyhow::Error) -> anyhow::Result<()> {
        if self.players.len() < 2 {
            return Err(error.context("what was to be said could not be played"));
        }
        self.players.remove(0);
        self.play(clip)
    }

    fn make_next(&mut self) -> anyhow::Result<()> {
        let Some(utterance) = &mut self.utterance else { return Ok(()) };
        let (emotion, Some(sentence)) = (utterance.emotion(), utterance.next_sentence()) else {
            return Ok(());
        };
        let path = self.clips.path().join(format!("{}.wav", self.programs_started));
        let program = self.start(self.voice.command(emotion, &path), SystemVoice::input(&sentence))?;
        if let Some(utterance) = &mut self.utterance {
            utterance.making = Some((program, path));
        }
        Ok(())
    }

    fn start(&mut self, command: std::process::Command, input: String) -> anyhow::Result<Program> {
        self.programs_started += 1;
        Program::start(command, input, self.programs_started, &self.happens)
    }
}

/// Ends `utterance` and tells how, or why not.
fn close(utterance: Utterance, is_whole: bool) -> anyhow::Result<()> {
    let id = utterance.id();
    match utterance.close(is_whole) {
        Ok(event) => Ok(output::json_line(&event)?),
        Err(error) => Ok(Fault::new(Some(id), explanation(&error)).tell()?),
    }
}

/// The first of `reply-1.wav`, `reply-2.wav`, … in `folder` that is not there: earlier audio is kept.
fn free_name(folder: &Path) -> PathBuf {
    let mut names = (1_u64..).map(|number| folder.join(format!("reply-{number}.wav")));
    names.find(|path| path.symlink_metadata().is_err()).unwrap_or_else(|| folder.join("reply.wav"))
}
