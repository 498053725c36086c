//! `ambient completions`: made from the definition that parses the command line, so they cannot differ.

use clap_complete::Shell;

use crate::exit::Exit;
use crate::{arguments, output};

pub(crate) fn run(shell: Shell) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut arguments::command(), "ambient", &mut script);
    output::document(&String::from_utf8(script)?)?;
    Ok(Exit::Done)
}
