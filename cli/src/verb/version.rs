//! `ambient version`.

use crate::exit::Exit;
use crate::output;

pub(crate) fn run() -> anyhow::Result<Exit> {
    output::line(concat!("ambient ", env!("CARGO_PKG_VERSION")))?;
    Ok(Exit::Done)
}
